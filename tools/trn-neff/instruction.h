/* SPDX-License-Identifier: MIT */
/* Instructions as text (Documentation/assembler.rst): one line, and back. */
#ifndef TRN_NEFF_INSTRUCTION_H
#define TRN_NEFF_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <hw/trn_isa.h>

/* Why and where a text is wrong. */
struct text_error {
	unsigned int column; /* 1 … */
	char what[128];
};

/* A label that an instruction's target names: its number, if the text has it. */
typedef bool label_finder(void *data, const char *name, size_t length, uint32_t *target);

/* Reads a line of text; false with *error.  line[length] ends it. */
bool instruction_read(const char *line, size_t length, label_finder *find, void *data,
		      struct trn_instruction *instruction, struct text_error *error);

/* Writes a line without its end, such that instruction_read() gives the same bytes. */
void instruction_write(FILE *to, const struct trn_instruction *instruction);

/* A data type by name; -1: there is none. */
int dtype_number(const char *name, size_t length);

#endif /* TRN_NEFF_INSTRUCTION_H */
