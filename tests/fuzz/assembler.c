/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: trn-neff's assembler on a text; what it makes can be read; and each instruction, of
 * whatever bytes, is written as a line that the same bytes are read from.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tools/trn-neff/commands.h>
#include <tools/trn-neff/instruction.h>
#include <trn/trn.h>
#include <trn/trn_neff.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the same bytes, the same again. */
static void check_line(const uint8_t *bytes)
{
	struct trn_instruction instruction, read;
	struct text_error error;
	char line[512];
	FILE *to = fmemopen(line, sizeof(line), "w");
	long length;

	memcpy(&instruction, bytes, sizeof(instruction));
	if (!to)
		abort();
	instruction_write(to, &instruction);
	length = ftell(to);
	if (fclose(to) || length <= 0 || length >= (long)sizeof(line))
		abort();
	if (!instruction_read(line, (size_t)length, NULL, NULL, &read, &error) ||
	    memcmp(&read, &instruction, sizeof(read)) != 0)
		abort();
}

static void check_program(const void *file, uint64_t size)
{
	const struct trn_neff *neff;
	uint32_t core, engine, i;

	if (trn_neff_parse("fuzz", file, size, &neff))
		abort();
	for (core = 0; core < neff->num_cores; core++) {
		for (engine = 0; engine < TRN_NEFF_ENGINES; engine++) {
			const struct trn_neff_stream *stream = &neff->cores[core].streams[engine];

			for (i = 0; i < stream->count; i++)
				check_line((const uint8_t *)stream->instructions +
					   i * sizeof(struct trn_instruction));
		}
	}
	trn_neff_close(neff);
}

/* A text without a zero behind it, as a file's is. */
static void assemble(const uint8_t *data, size_t size)
{
	char *text = malloc(size ?: 1);
	uint64_t file_size;
	void *file;
	int error;

	if (!text)
		abort();
	memcpy(text, data, size);
	error = neff_assemble_text("fuzz", text, size, &file, &file_size);
	if (error > 0 || (error && !*trn_error_message()))
		abort();
	if (!error) {
		check_program(file, file_size);
		free(file);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == sizeof(struct trn_instruction))
		check_line(data);
	assemble(data, size);
	return 0;
}
