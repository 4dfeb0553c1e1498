/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <endian.h>
#include <string.h>

#include <hw/trn_isa.h>

static void write_image(void *memory, const struct trn_instruction *stream, uint32_t count)
{
	uint64_t bytes = count * sizeof(*stream);
	struct trn_program_header header = {
		.magic = htole32(TRN_PROGRAM_MAGIC),
		.version = htole32(TRN_PROGRAM_VERSION),
		.size = htole64(sizeof(header) + bytes),
	};

	header.instructions[TRN_ENGINE_SYNC] = htole32(count);
	memcpy(memory, &header, sizeof(header));
	memcpy((uint8_t *)memory + sizeof(header), stream, bytes);
}

void program_write_empty(void *memory)
{
	static const struct trn_instruction stream[] = { { .opcode = TRN_OP_HALT } };

	write_image(memory, stream, 1);
}

void program_write_counting(void *memory, uint64_t count)
{
	const struct trn_instruction stream[] = {
		{ .opcode = TRN_OP_ADD,
		  .control = { .destination = 1, .source = { 1, 0 }, .immediate = htole64(1) } },
		{ .opcode = TRN_OP_BRANCH,
		  .op = { TRN_ALU_LESS },
		  .control = { .source = { 1, 0 }, .immediate = htole64(count) } },
		{ .opcode = TRN_OP_HALT },
	};

	write_image(memory, stream, 3);
}
