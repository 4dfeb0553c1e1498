/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <check.h>
#include <string.h>

struct trn_instruction *image_add(struct image *image, unsigned int engine, uint8_t opcode)
{
	struct trn_instruction *added = &image->stream[engine][image->length[engine]++];

	ck_assert_uint_le(image->length[engine], IMAGE_LENGTH_MAX);
	*added = (struct trn_instruction){ .opcode = opcode };
	return added;
}

struct trn_instruction *image_transfer(struct image *image, unsigned int engine, uint8_t opcode,
				       uint8_t binding, uint64_t offset, uint32_t place,
				       uint8_t partitions, uint16_t bytes)
{
	struct trn_instruction *added = image_add(image, engine, opcode);

	added->dma.partitions = partitions;
	added->dma.size[0] = bytes;
	added->dma.size[1] = 1;
	added->dma.size[2] = 1;
	added->dma.local = (struct trn_access_pattern){
		.place = place,
		.dtype = TRN_DTYPE_INT8,
		.step = { 1 },
	};
	added->dma.stride[0] = bytes;
	added->dma.stride[1] = 1;
	added->dma.binding = binding;
	added->dma.dtype = TRN_DTYPE_INT8;
	added->dma.offset = offset;
	return added;
}

void image_loop(struct image *image, unsigned int engine)
{
	uint32_t begin = image->length[engine];
	struct trn_instruction *branch;

	image_add(image, engine, TRN_OP_NOP);
	branch = image_add(image, engine, TRN_OP_BRANCH);
	branch->op[0] = TRN_ALU_EQUAL;
	branch->control.target = begin;
}

void image_acquire(struct trn_instruction *instruction, uint8_t semaphore, uint8_t count)
{
	instruction->acquire = semaphore;
	instruction->acquire_count = count;
}

void image_release(struct trn_instruction *instruction, uint8_t semaphore, uint8_t count)
{
	instruction->release = semaphore;
	instruction->release_count = count;
}

void image_write(const struct image *image, void *memory)
{
	struct trn_program_header header = {
		.magic = TRN_PROGRAM_MAGIC,
		.version = TRN_PROGRAM_VERSION,
		.size = sizeof(header),
	};
	unsigned int engine;

	for (engine = 0; engine < TRN_ENGINES; engine++) {
		uint64_t bytes = image->length[engine] * sizeof(struct trn_instruction);

		memcpy((uint8_t *)memory + header.size, image->stream[engine], bytes);
		header.instructions[engine] = image->length[engine];
		header.size += bytes;
	}
	memcpy(memory, &header, sizeof(header));
}
