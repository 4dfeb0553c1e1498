/* SPDX-License-Identifier: MIT */
/* One program, as libtrn's structures and as the members of its file, written by hand. */
#ifndef TRN_TESTS_NEFF_PROGRAM_H
#define TRN_TESTS_NEFF_PROGRAM_H

#include <trn/trn_neff.h>

#include "craft.h"

extern const struct trn_neff program;

/* Members of the program's file, in the order in which a writer has them. */
struct program_member {
	const char *name;
	const void *data;
	size_t size;
};

#define PROGRAM_MEMBERS 6
extern const struct program_member program_members[PROGRAM_MEMBERS];

/* The file; @replaced: this member has another content, NULL = is left out. */
void program_craft(struct craft_file *file, const char *replaced, const void *data, size_t size);

/* Parses @file, which must fail with @error and a text that has @name and @text. */
void assert_refused(const struct craft_file *file, int error, const char *name, const char *text);

/* The same of a file that the program's would be with another sg00/def.json. */
void assert_definition_refused(const char *definition, int error, const char *name,
			       const char *text);

#endif /* TRN_TESTS_NEFF_PROGRAM_H */
