/* SPDX-License-Identifier: MIT */
/*
 * The parts of a .neff file (Documentation/neff.rst): header, archive, JSON, constants.  Each
 * part is read from, and written to, memory.
 *
 * All functions that return int return 0, or negative errno with a text.
 */
#ifndef TRN_NEFF_NEFF_H
#define TRN_NEFF_NEFF_H

#include <stdbool.h>
#include <stddef.h>

#include <trn/trn_neff.h>

#define NEFF_ISA	   "trn-isa-1"
#define NEFF_INSTRUCTION   64
#define NEFF_JSON_SIZE_MAX (256 * 1024)
#define NEFF_NAME_MAX	   255 /* bytes of a variable's or queue's name */

/* The names of errors in texts. */
enum neff_error {
	NEFF_TRUNCATED,
	NEFF_TRAILING,
	NEFF_VERSION,
	NEFF_FEATURES,
	NEFF_HEADER,
	NEFF_HASH,
	NEFF_UUID,
	NEFF_TAR,
	NEFF_TYPE,
	NEFF_NAME,
	NEFF_DUPLICATE,
	NEFF_MISSING,
	NEFF_JSON,
	NEFF_FIELD,
	NEFF_ISA_NAME,
	NEFF_KIND,
	NEFF_DTYPE,
	NEFF_SIZE,
	NEFF_BINDING,
	NEFF_NPY,
	NEFF_UNUSED,
	NEFF_LIMIT,
};

/* What a text is about. */
struct neff_place {
	const char *file;
	const char *member; /* or NULL: the file itself */
};

/* Records "FILE: MEMBER: ERROR: text", without control characters; returns negative errno. */
int neff_fail(const struct neff_place *place, enum neff_error error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int neff_fail_memory(const struct neff_place *place);

/* text.c */
bool neff_is_control(char c);
/* Whether a text is UTF-8 and has no control characters. */
bool neff_is_text(const char *text);
bool neff_is_zero(const void *memory, uint64_t size);

/* A member of the archive; data is NULL if it is not there. */
struct neff_member {
	const void *data;
	uint64_t size;
};

/* Members of a core, in the order in which they are written. */
#define NEFF_DEFINITION		  0
#define NEFF_DESCRIPTION(engine)  (1 + 2 * (engine))
#define NEFF_INSTRUCTIONS(engine) (2 + 2 * (engine))
#define NEFF_CONSTANT(binding)	  (1 + 2 * TRN_NEFF_ENGINES + (binding))
#define NEFF_MEMBERS		  NEFF_CONSTANT(TRN_NEFF_VARIABLES_MAX)

struct neff_members {
	struct neff_member member[NEFF_MEMBERS];
};

#define NEFF_MEMBER_NAME 32

extern const char *const neff_engine_names[TRN_NEFF_ENGINES];

/* The name in the archive of a member, NEFF_DEFINITION and so on. */
void neff_member_name(char name[NEFF_MEMBER_NAME], uint32_t core, uint32_t index);

/* types.c */
struct neff_dtype {
	const char *name;
	const char *descr; /* in .npy */
	uint32_t bits;	   /* of an element */
};

/* NULL if there is none. */
const struct neff_dtype *neff_dtype(uint32_t number);
const char *neff_direction_name(enum trn_neff_direction direction);

/* archive.c.  Members found point into @data; @members has @cores elements, all zero. */
int neff_archive_read(const char *file, const uint8_t *data, uint64_t size, uint32_t cores,
		      struct neff_members *members);
/* Writes to @data, of neff_archive_size() bytes. */
uint64_t neff_archive_size(const struct neff_members *members, uint32_t cores);
int neff_archive_write(const struct neff_place *place, const struct neff_members *members,
		       uint32_t cores, uint8_t *data, uint64_t size);

/* header.c */
#define NEFF_HEADER_SIZE 1024

/* Fields that differ between files. */
struct neff_header {
	char build_version[128];
	char name[256];
	uint8_t uuid[16];
	uint32_t cores;
};

/* Checks everything, the hash of what follows the header among it. */
int neff_header_read(const struct neff_place *place, const uint8_t *file, uint64_t size,
		     struct neff_header *header);
/* @file: NEFF_HEADER_SIZE bytes for the header, then the archive, up to @size. */
int neff_header_write(const struct neff_place *place, const struct neff_header *header,
		      uint8_t *file, uint64_t size);

/* read.c: a regular file's bytes, for free(). */
int neff_load(const char *path, uint8_t **bytes, uint64_t *size);

/* check.c: whether a core's variables and queues are as trn_neff.h says, but for data. */
int neff_core_check(const struct neff_place *place, const struct trn_neff_core *core);
/*
 * check.c: whether a program of the caller's making is as trn_neff.h says, but for its name and
 * build_version.  -EINVAL or -EFBIG.
 */
int neff_program_check(const struct neff_place *place, const struct trn_neff *neff);
/* What texts call a program that has no path. */
const char *neff_program_name(const struct trn_neff *neff);

/* definition.c.  What was allocated is in @core also when reading fails. */
int neff_definition_read(const struct neff_place *place, const struct neff_member *member,
			 struct trn_neff_core *core);
void neff_definition_free(struct trn_neff_core *core);
/* @member is for free(). */
int neff_definition_write(const struct neff_place *place, const struct trn_neff_core *core,
			  struct neff_member *member);

/* description.c: an engine's. */
int neff_description_read(const struct neff_place *place, const struct neff_member *member,
			  uint32_t engine, uint32_t *instructions);
int neff_description_write(const struct neff_place *place, uint32_t engine, uint32_t instructions,
			   struct neff_member *member);

#endif /* TRN_NEFF_NEFF_H */
