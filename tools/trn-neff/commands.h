/* SPDX-License-Identifier: MIT */
#ifndef TRN_NEFF_COMMANDS_H
#define TRN_NEFF_COMMANDS_H

#include <stdint.h>

/* All return 0, or negative errno with trn_error_message(). */

/* Makes a file of a text, or writes the text of a file to stdout. */
int neff_assemble(const char *path, const char *to);
/* The same in memory; @path is for errors, @file for free(). */
int neff_assemble_text(const char *path, const char *text, uint64_t size, void **file,
		       uint64_t *file_size);
int neff_disassemble(const char *path);

/* Describes a file's program on stdout. */
int neff_info(const char *path);

/* Writes a file's members below a new directory. */
int neff_unpack(const char *path, const char *directory);

#endif /* TRN_NEFF_COMMANDS_H */
