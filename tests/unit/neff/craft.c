/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <endian.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "craft.h"

static void put64(struct craft_file *file, size_t offset, uint64_t value)
{
	value = htole64(value);
	memcpy(file->bytes + offset, &value, sizeof(value));
}

static void put32(struct craft_file *file, size_t offset, uint32_t value)
{
	value = htole32(value);
	memcpy(file->bytes + offset, &value, sizeof(value));
}

void craft_add_bytes(struct craft_file *file, const void *data, size_t size)
{
	file->bytes = realloc(file->bytes, file->size + size + 1);
	ck_assert_ptr_nonnull(file->bytes);
	memcpy(file->bytes + file->size, data, size);
	file->size += size;
}

static void add_zeros(struct craft_file *file, size_t size)
{
	void *zeros = calloc(1, size + 1);

	craft_add_bytes(file, zeros, size);
	free(zeros);
}

void craft_begin(struct craft_file *file, uint32_t cores)
{
	file->bytes = NULL;
	file->size = 0;
	add_zeros(file, CRAFT_HEADER);
	put64(file, CRAFT_PKG_VERSION, 2);
	put64(file, CRAFT_HEADER_SIZE, CRAFT_HEADER);
	put64(file, CRAFT_VERSION_MAJOR, 1);
	put32(file, CRAFT_NUM_TPB, cores);
	put32(file, CRAFT_REQUESTED, cores);
	file->bytes[CRAFT_PER_NODE] = cores;
	put64(file, CRAFT_FEATURES, UINT64_C(1) << 63);
	put32(file, CRAFT_LNC_SIZE, 1);
}

void craft_checksum(uint8_t *block)
{
	unsigned int sum = 0, i;

	memset(block + 148, ' ', 8);
	for (i = 0; i < CRAFT_BLOCK; i++)
		sum += block[i];
	snprintf((char *)block + 148, 8, "%06o", sum);
	block[155] = ' ';
}

void craft_add_header(struct craft_file *file, const char *name, char type, const char *link,
		      uint64_t claimed)
{
	uint8_t block[CRAFT_BLOCK] = { 0 };
	char digits[24];

	memcpy(block, name, strlen(name));
	memcpy(block + 100, "000644 ", 7);
	memcpy(block + 108, "000000 ", 7);
	memcpy(block + 116, "000000 ", 7);
	snprintf(digits, sizeof(digits), "%011llo ", (unsigned long long)claimed);
	memcpy(block + 124, digits, 12);
	memcpy(block + 136, "00000000000 ", 12);
	block[156] = type;
	memcpy(block + 157, link, strlen(link));
	memcpy(block + 257, "ustar\00000", 8);
	memcpy(block + 329, "000000 ", 7);
	memcpy(block + 337, "000000 ", 7);
	craft_checksum(block);
	craft_add_bytes(file, block, sizeof(block));
}

void craft_add(struct craft_file *file, const char *name, const void *data, size_t size)
{
	craft_add_header(file, name, '0', "", size);
	craft_add_bytes(file, data, size);
	add_zeros(file, -size % CRAFT_BLOCK);
}

void craft_end(struct craft_file *file)
{
	add_zeros(file, 2 * CRAFT_BLOCK);
	craft_seal(file);
}

void craft_seal(struct craft_file *file)
{
	uint8_t *hash = file->bytes + CRAFT_HASH, *uuid = file->bytes + CRAFT_UUID;

	put64(file, CRAFT_DATA_SIZE, file->size - CRAFT_HEADER);
	ck_assert(EVP_Digest(file->bytes + CRAFT_HEADER, file->size - CRAFT_HEADER, hash, NULL,
			     EVP_sha256(), NULL));
	memcpy(uuid, hash, 16);
	uuid[6] = (uuid[6] & 0x0f) | 0x80;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

void craft_free(struct craft_file *file)
{
	free(file->bytes);
}
