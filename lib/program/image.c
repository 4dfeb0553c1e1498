/* SPDX-License-Identifier: MIT */
/* Images of programs, as a device reads them (Documentation/isa.rst, "Programs"). */
#include <endian.h>
#include <string.h>

#include <hw/trn_isa.h>

#include "program.h"

uint64_t trn_program_image_size(const struct trn_neff_core *core)
{
	uint64_t size = sizeof(struct trn_program_header);
	uint32_t i;

	for (i = 0; i < TRN_ENGINES; i++)
		size += core->streams[i].count * sizeof(struct trn_instruction);
	return size;
}

void trn_program_image(const struct trn_neff_core *core, uint8_t *image)
{
	struct trn_program_header header = {
		.magic = htole32(TRN_PROGRAM_MAGIC),
		.version = htole32(TRN_PROGRAM_VERSION),
		.size = htole64(trn_program_image_size(core)),
	};
	uint8_t *next = image + sizeof(header);
	uint32_t i;

	for (i = 0; i < TRN_ENGINES; i++) {
		const struct trn_neff_stream *stream = &core->streams[i];
		size_t size = stream->count * sizeof(struct trn_instruction);

		header.instructions[i] = htole32(stream->count);
		if (size)
			memcpy(next, stream->instructions, size);
		next += size;
	}
	memcpy(image, &header, sizeof(header));
}
