/* SPDX-License-Identifier: MIT */
/*
 * .neff files made by hand from Documentation/neff.rst, good ones and bad ones, without the
 * library and without libarchive.
 */
#ifndef TRN_TESTS_NEFF_CRAFT_H
#define TRN_TESTS_NEFF_CRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRAFT_HEADER 1024
#define CRAFT_BLOCK  512

/* Fields of the header, by offset. */
enum craft_offset {
	CRAFT_PKG_VERSION = 0,
	CRAFT_HEADER_SIZE = 8,
	CRAFT_DATA_SIZE = 16,
	CRAFT_VERSION_MAJOR = 24,
	CRAFT_VERSION_MINOR = 32,
	CRAFT_BUILD_VERSION = 40,
	CRAFT_NUM_TPB = 168,
	CRAFT_HASH = 172,
	CRAFT_UUID = 204,
	CRAFT_NAME = 220,
	CRAFT_REQUESTED = 476,
	CRAFT_PER_NODE = 480,
	CRAFT_FEATURES = 544,
	CRAFT_LNC_SIZE = 552,
	CRAFT_PAD = 556,
};

struct craft_file {
	uint8_t *bytes;
	size_t size;
};

/* Begins with a header for a program of @cores cores with empty texts. */
void craft_begin(struct craft_file *file, uint32_t cores);

/* Adds a regular file. */
void craft_add(struct craft_file *file, const char *name, const void *data, size_t size);

/* Adds a header of tar alone, of any type, that claims a size. */
void craft_add_header(struct craft_file *file, const char *name, char type, const char *link,
		      uint64_t claimed);

/* Adds bytes as they are. */
void craft_add_bytes(struct craft_file *file, const void *data, size_t size);

/* Adds the archive's end, and seals. */
void craft_end(struct craft_file *file);

/* Makes data_size, hash and uuid fit the content. */
void craft_seal(struct craft_file *file);

/* Makes the checksum of a tar header right. */
void craft_checksum(uint8_t *block);

void craft_free(struct craft_file *file);

#endif /* TRN_TESTS_NEFF_CRAFT_H */
