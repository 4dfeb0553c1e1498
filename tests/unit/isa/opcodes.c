// SPDX-License-Identifier: MIT
#include "opcodes.h"

#include <endian.h>
#include <hw/trn_regs.h>
#include <stddef.h>

#define ON(engine) (1U << TRN_ENGINE_##engine)
#define EVERY	   ((1U << TRN_ENGINES) - 1)
#define THREE	   (ON(VECTOR) | ON(SCALAR) | ON(GPSIMD))

#define ROUNDS	   TRN_FLAG_STOCHASTIC
#define SCALARS	   (TRN_FLAG_SCALAR_0 | TRN_FLAG_SCALAR_1)
#define AXES	   (TRN_FLAG_AXIS_I | TRN_FLAG_AXIS_J | TRN_FLAG_AXIS_K)

#define OUT	   1
#define IN	   2
#define IN_1	   4
#define SCALE	   8

const struct opcode opcodes[OPCODES] = {
	{ TRN_OP_NOP, KIND_CONTROL, EVERY, 0, 0, 0 },
	{ TRN_OP_HALT, KIND_CONTROL, EVERY, 0, 0, 0 },
	{ TRN_OP_MOVE, KIND_CONTROL, EVERY, 0, 0, 0 },
	{ TRN_OP_ADD, KIND_CONTROL, EVERY, 0, 0, 0 },
	{ TRN_OP_MULTIPLY, KIND_CONTROL, EVERY, 0, 0, 0 },
	{ TRN_OP_BRANCH, KIND_CONTROL, EVERY, 0, 1, 0 },
	{ TRN_OP_DMA_LOAD, KIND_TRANSFER, EVERY, 0, 0, OUT },
	{ TRN_OP_DMA_STORE, KIND_TRANSFER, EVERY, 0, 0, OUT },
	{ TRN_OP_TIMESTAMP, KIND_TRANSFER, ON(SYNC), 0, 0, 0 },
	{ TRN_OP_LOAD_STATIONARY, KIND_TENSOR, ON(TENSOR), 0, 0, IN },
	{ TRN_OP_MATMUL, KIND_TENSOR, ON(TENSOR), TRN_FLAG_ACCUMULATE, 0, OUT | IN },
	{ TRN_OP_TRANSPOSE, KIND_TENSOR, ON(TENSOR), 0, 0, OUT | IN },
	{ TRN_OP_COPY, KIND_ELEMENT, THREE, ROUNDS, 0, OUT | IN },
	{ TRN_OP_FILL, KIND_ELEMENT, THREE, ROUNDS, 0, OUT },
	{ TRN_OP_TENSOR_TENSOR, KIND_ELEMENT, THREE, ROUNDS, 1, OUT | IN | IN_1 },
	{ TRN_OP_TENSOR_SCALAR, KIND_ELEMENT, THREE, ROUNDS | SCALARS, 2, OUT | IN },
	{ TRN_OP_REDUCE, KIND_ELEMENT, ON(VECTOR), ROUNDS | AXES, 1, OUT | IN },
	{ TRN_OP_SELECT, KIND_ELEMENT, ON(VECTOR), 0, 0, OUT | IN | IN_1 },
	{ TRN_OP_BN_STATS, KIND_ELEMENT, ON(VECTOR), 0, 0, OUT | IN },
	{ TRN_OP_BN_AGGREGATE, KIND_ELEMENT, ON(VECTOR), 0, 0, OUT | IN },
	{ TRN_OP_ACTIVATE, KIND_ELEMENT, ON(SCALAR), ROUNDS | SCALARS, 1, OUT | IN },
	{ TRN_OP_IOTA, KIND_AFFINE, ON(GPSIMD), ROUNDS, 0, OUT },
	{ TRN_OP_MASK, KIND_AFFINE, ON(GPSIMD), 0, 0, OUT | IN },
	{ TRN_OP_GATHER, KIND_ELEMENT, ON(GPSIMD), 0, 0, OUT | IN | IN_1 },
	{ TRN_OP_SCATTER, KIND_ELEMENT, ON(GPSIMD), 0, 0, OUT | IN | IN_1 },
	{ TRN_OP_PARTITION_SHUFFLE, KIND_ELEMENT, ON(GPSIMD), 0, 0, OUT | IN | IN_1 },
	{ TRN_OP_PARTITION_BROADCAST, KIND_ELEMENT, ON(GPSIMD), 0, 0, OUT | IN },
	{ TRN_OP_TOP_K, KIND_ELEMENT, ON(GPSIMD), 0, 0, OUT | IN | IN_1 },
};

const struct opcode *opcode_find(unsigned int number)
{
	for (unsigned int n = 0; n < OPCODES; n++)
		if (opcodes[n].number == number)
			return &opcodes[n];
	return NULL;
}

struct trn_access_pattern *opcode_operand(const struct opcode *opcode,
					  struct trn_instruction *instruction, unsigned int operand)
{
	switch (opcode->kind) {
	case KIND_TRANSFER:
		return operand == 0 ? &instruction->dma.local : NULL;
	case KIND_TENSOR:
		return operand == 0   ? &instruction->tensor.out
		       : operand == 1 ? &instruction->tensor.in
		       : operand == 3 ? &instruction->tensor.scale
				      : NULL;
	case KIND_ELEMENT:
		return operand == 0  ? &instruction->element.out
		       : operand < 3 ? &instruction->element.in[operand - 1]
				     : NULL;
	case KIND_AFFINE:
		return operand == 0   ? &instruction->affine.out
		       : operand == 1 ? &instruction->affine.in
				      : NULL;
	default:
		return NULL;
	}
}

static void set_shape(const struct opcode *opcode, struct trn_instruction *instruction)
{
	/* All kinds but KIND_CONTROL have partitions and sizes at the same bytes. */
	instruction->element.partitions = 1;
	for (int axis = 0; axis < 3; axis++)
		instruction->element.size[axis] = htole16(1);
	if (opcode->kind == KIND_TENSOR)
		instruction->tensor.pack = 1;
	if (opcode->number == TRN_OP_BN_AGGREGATE)
		instruction->element.size[1] = htole16(3);
}

struct trn_instruction opcode_instruction(const struct opcode *opcode)
{
	struct trn_instruction instruction = { .opcode = opcode->number };

	if (opcode->kind == KIND_CONTROL) {
		if (opcode->number >= TRN_OP_MOVE && opcode->number <= TRN_OP_MULTIPLY)
			instruction.control.destination = 1;
		if (opcode->number == TRN_OP_BRANCH)
			instruction.op[0] = TRN_ALU_NOT_EQUAL;
		return instruction;
	}
	if (opcode->number != TRN_OP_TIMESTAMP)
		set_shape(opcode, &instruction);
	for (unsigned int operand = 0; operand < 3; operand++)
		if (opcode->operands >> operand & 1)
			opcode_operand(opcode, &instruction, operand)->place =
				htole32(256 * (operand + 1));
	switch (opcode->number) {
	case TRN_OP_MATMUL:
	case TRN_OP_TRANSPOSE:
		instruction.tensor.out.place = htole32(TRN_PLACE_PSUM);
		break;
	case TRN_OP_REDUCE:
		instruction.op[0] = TRN_ALU_ADD;
		instruction.flags = TRN_FLAG_AXIS_I;
		break;
	case TRN_OP_BN_STATS:
	case TRN_OP_BN_AGGREGATE:
		instruction.element.out.step[0] = htole16(1);
		instruction.element.in[0].step[1] = htole16(1);
		break;
	case TRN_OP_GATHER:
	case TRN_OP_SCATTER:
	case TRN_OP_PARTITION_SHUFFLE:
	case TRN_OP_TOP_K:
		instruction.element.in[1].dtype = TRN_DTYPE_INT32;
		instruction.element.scalar[0] = htole32(1);
		break;
	}
	return instruction;
}
