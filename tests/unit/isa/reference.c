// SPDX-License-Identifier: MIT
#include "reference.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "operand.h"
#include "tests/unit/model/numerics.h"

void reference_create(struct reference *reference)
{
	memset(reference, 0, sizeof(*reference));
	reference->sbuf = calloc(TRN_PARTITIONS, REFERENCE_SBUF_SIZE);
	reference->psum = calloc(TRN_PARTITIONS, REFERENCE_PSUM_SIZE);
	ck_assert_ptr_nonnull(reference->sbuf);
	ck_assert_ptr_nonnull(reference->psum);
}

void reference_destroy(struct reference *reference)
{
	free(reference->sbuf);
	free(reference->psum);
}

static bool holds(unsigned int comparison, int64_t a, int64_t b)
{
	switch (comparison) {
	case TRN_ALU_EQUAL:
		return a == b;
	case TRN_ALU_NOT_EQUAL:
		return a != b;
	case TRN_ALU_LESS:
		return a < b;
	case TRN_ALU_LESS_EQUAL:
		return a <= b;
	case TRN_ALU_GREATER:
		return a > b;
	case TRN_ALU_GREATER_EQUAL:
		return a >= b;
	}
	ck_abort_msg("no comparison %u", comparison);
}

/* Returns the next instruction's index. */
static uint32_t control(struct reference *reference, const struct trn_instruction *instruction,
			uint32_t at)
{
	uint64_t a = (uint64_t)reference->registers[instruction->control.source[0]];
	uint64_t b = (uint64_t)reference->registers[instruction->control.source[1]];
	uint64_t immediate = le64toh(instruction->control.immediate), result;

	switch (instruction->opcode) {
	case TRN_OP_MOVE:
		result = a + immediate;
		break;
	case TRN_OP_ADD:
		result = a + b + immediate;
		break;
	case TRN_OP_MULTIPLY:
		result = a * immediate;
		break;
	default:
		return holds(instruction->op[0], (int64_t)a, (int64_t)(b + immediate))
			       ? le32toh(instruction->control.target)
			       : at + 1;
	}
	reference->registers[instruction->control.destination] = (int64_t)result;
	return at + 1;
}

static void transfer(struct reference *reference, const struct trn_instruction *instruction)
{
	static const struct number_random nearest;
	const struct trn_access_pattern *local = &instruction->dma.local;
	struct shape shape = shape_of(instruction->dma.partitions, instruction->dma.size);
	unsigned int dtype = instruction->dma.dtype;

	FOR_EACH_INDEX(x, shape)
	{
		int64_t offset = (int64_t)le64toh(instruction->dma.offset) +
				 reference->registers[instruction->dma.address_register];
		const unsigned int place[4] = { x.p, x.i, x.j, x.k };

		for (int axis = 0; axis < 4; axis++)
			offset += (int64_t)place[axis] *
				  (int32_t)le32toh(instruction->dma.stride[axis]);
		if (instruction->opcode == TRN_OP_DMA_LOAD)
			operand_set(
				reference, local, x,
				number_convert(local->dtype, dtype,
					       element_get(dtype, reference->memory + offset, 0),
					       nearest));
		else
			element_set(dtype, reference->memory + offset, 0,
				    number_convert(dtype, local->dtype,
						   operand_get(reference, local, x), nearest));
	}
}

static void execute(struct reference *reference, const struct trn_instruction *instruction)
{
	switch (instruction->opcode) {
	case TRN_OP_NOP:
		break;
	case TRN_OP_DMA_LOAD:
	case TRN_OP_DMA_STORE:
		transfer(reference, instruction);
		break;
	case TRN_OP_LOAD_STATIONARY:
	case TRN_OP_MATMUL:
	case TRN_OP_TRANSPOSE:
		reference_tensor(reference, instruction);
		break;
	case TRN_OP_COPY:
	case TRN_OP_TENSOR_SCALAR:
	case TRN_OP_TENSOR_TENSOR:
	case TRN_OP_FILL:
	case TRN_OP_SELECT:
	case TRN_OP_ACTIVATE:
		reference_element(reference, instruction);
		break;
	case TRN_OP_REDUCE:
		reference_reduce(reference, instruction);
		break;
	case TRN_OP_BN_STATS:
	case TRN_OP_BN_AGGREGATE:
		reference_statistics(reference, instruction);
		break;
	case TRN_OP_IOTA:
	case TRN_OP_MASK:
		reference_affine(reference, instruction);
		break;
	case TRN_OP_TOP_K:
		reference_top_k(reference, instruction);
		break;
	case TRN_OP_GATHER:
	case TRN_OP_SCATTER:
	case TRN_OP_PARTITION_SHUFFLE:
	case TRN_OP_PARTITION_BROADCAST:
		reference_move(reference, instruction);
		break;
	default:
		ck_abort_msg("no opcode 0x%x", instruction->opcode);
	}
}

void reference_run(struct reference *reference, const struct trn_instruction *stream,
		   uint32_t begin, uint32_t length)
{
	uint32_t at = begin;

	memset(reference->registers, 0, sizeof(reference->registers));
	reference->num_bounds = 0;
	for (reference->issued = begin; at < length && stream[at].opcode != TRN_OP_HALT;
	     reference->issued++) {
		if (stream[at].opcode >= TRN_OP_MOVE && stream[at].opcode <= TRN_OP_BRANCH) {
			at = control(reference, &stream[at], at);
			continue;
		}
		execute(reference, &stream[at]);
		at++;
	}
}
