// SPDX-License-Identifier: MIT
/* The opcodes: on which engines they are, and which fields they have. */
#include "execute.h"

#include "../shared.h"

#define ON(engine)	   (1U << TRN_ENGINE_##engine)
#define ON_ALL		   ((1U << TRN_ENGINES) - 1)
#define ON_COMPUTE	   (ON(VECTOR) | ON(SCALAR) | ON(GPSIMD))

#define CONTROL_CYCLES	   4
#define INSTRUCTION_CYCLES 16

enum kind {
	KIND_NONE,
	KIND_CONTROL,
	KIND_DMA,
	KIND_TENSOR,
	KIND_ELEMENT,
	KIND_AFFINE
};

struct operation {
	enum kind kind;
	uint8_t engines;
	uint8_t flags;
	uint8_t ops; /* how many of op[] it has */
	trn_prepare *prepare;
};

#define ROUNDS	TRN_FLAG_STOCHASTIC
#define SCALARS (TRN_FLAG_SCALAR_0 | TRN_FLAG_SCALAR_1)
#define AXES	(TRN_FLAG_AXIS_I | TRN_FLAG_AXIS_J | TRN_FLAG_AXIS_K)

static const struct operation operations[256] = {
	[TRN_OP_NOP] = { KIND_CONTROL, ON_ALL, 0, 0, trn_prepare_nop },
	[TRN_OP_HALT] = { KIND_CONTROL, ON_ALL, 0, 0, trn_prepare_nop },
	[TRN_OP_MOVE] = { KIND_CONTROL, ON_ALL, 0, 0, trn_prepare_move },
	[TRN_OP_ADD] = { KIND_CONTROL, ON_ALL, 0, 0, trn_prepare_add },
	[TRN_OP_MULTIPLY] = { KIND_CONTROL, ON_ALL, 0, 0, trn_prepare_multiply },
	[TRN_OP_BRANCH] = { KIND_CONTROL, ON_ALL, 0, 1, trn_prepare_branch },
	[TRN_OP_DMA_LOAD] = { KIND_DMA, ON_ALL, 0, 0, trn_prepare_transfer },
	[TRN_OP_DMA_STORE] = { KIND_DMA, ON_ALL, 0, 0, trn_prepare_transfer },
	[TRN_OP_TIMESTAMP] = { KIND_DMA, ON(SYNC), 0, 0, trn_prepare_timestamp },
	[TRN_OP_LOAD_STATIONARY] = { KIND_TENSOR, ON(TENSOR), 0, 0, trn_prepare_stationary },
	[TRN_OP_MATMUL] = { KIND_TENSOR, ON(TENSOR), TRN_FLAG_ACCUMULATE, 0, trn_prepare_matmul },
	[TRN_OP_TRANSPOSE] = { KIND_TENSOR, ON(TENSOR), 0, 0, trn_prepare_transpose },
	[TRN_OP_COPY] = { KIND_ELEMENT, ON_COMPUTE, ROUNDS, 0, trn_prepare_copy },
	[TRN_OP_FILL] = { KIND_ELEMENT, ON_COMPUTE, ROUNDS, 0, trn_prepare_fill },
	[TRN_OP_TENSOR_TENSOR] = { KIND_ELEMENT, ON_COMPUTE, ROUNDS, 1, trn_prepare_tensor_tensor },
	[TRN_OP_TENSOR_SCALAR] = { KIND_ELEMENT, ON_COMPUTE, ROUNDS | SCALARS, 2,
				   trn_prepare_tensor_scalar },
	[TRN_OP_REDUCE] = { KIND_ELEMENT, ON(VECTOR), ROUNDS | AXES, 1, trn_prepare_reduce },
	[TRN_OP_SELECT] = { KIND_ELEMENT, ON(VECTOR), 0, 0, trn_prepare_select },
	[TRN_OP_BN_STATS] = { KIND_ELEMENT, ON(VECTOR), 0, 0, trn_prepare_bn_stats },
	[TRN_OP_BN_AGGREGATE] = { KIND_ELEMENT, ON(VECTOR), 0, 0, trn_prepare_bn_aggregate },
	[TRN_OP_ACTIVATE] = { KIND_ELEMENT, ON(SCALAR), ROUNDS | SCALARS, 1, trn_prepare_activate },
	[TRN_OP_IOTA] = { KIND_AFFINE, ON(GPSIMD), ROUNDS, 0, trn_prepare_iota },
	[TRN_OP_MASK] = { KIND_AFFINE, ON(GPSIMD), 0, 0, trn_prepare_mask },
	[TRN_OP_GATHER] = { KIND_ELEMENT, ON(GPSIMD), 0, 0, trn_prepare_gather },
	[TRN_OP_SCATTER] = { KIND_ELEMENT, ON(GPSIMD), 0, 0, trn_prepare_scatter },
	[TRN_OP_PARTITION_SHUFFLE] = { KIND_ELEMENT, ON(GPSIMD), 0, 0, trn_prepare_shuffle },
	[TRN_OP_PARTITION_BROADCAST] = { KIND_ELEMENT, ON(GPSIMD), 0, 0, trn_prepare_broadcast },
	[TRN_OP_TOP_K] = { KIND_ELEMENT, ON(GPSIMD), 0, 0, trn_prepare_top_k },
};

#define ZERO(field) trn_all_zero((const uint8_t *)&(field), sizeof(field))

static bool reserved_are_zero(const struct trn_instruction *instruction, enum kind kind)
{
	switch (kind) {
	case KIND_CONTROL:
		return ZERO(instruction->control.reserved0) && ZERO(instruction->control.reserved1);
	case KIND_DMA:
		return !instruction->dma.reserved0 && ZERO(instruction->dma.reserved1);
	case KIND_TENSOR:
		return ZERO(instruction->tensor.reserved);
	case KIND_ELEMENT:
		return !instruction->element.reserved0 && ZERO(instruction->element.reserved1);
	case KIND_AFFINE:
		return !instruction->affine.reserved;
	default:
		return false;
	}
}

bool trn_instruction_check(struct trn_core *core, const struct trn_engine *engine)
{
	const struct trn_instruction *instruction = &engine->instruction;
	const struct operation *operation = &operations[instruction->opcode];

	if (!(operation->engines >> (engine - core->engine) & 1))
		return trn_core_raise(core, TRN_EXCEPTION_ILLEGAL_OPCODE);
	if (instruction->flags & ~operation->flags ||
	    (instruction->acquire && !instruction->acquire_count) ||
	    (instruction->release && !instruction->release_count) ||
	    !trn_all_zero(instruction->op + operation->ops,
			  sizeof(instruction->op) - operation->ops) ||
	    !reserved_are_zero(instruction, operation->kind) ||
	    (operation->kind == KIND_DMA && instruction->dma.ring >= TRN_ISA_DMA_RINGS))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return true;
}

bool trn_instruction_prepare(struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct operation *operation = &operations[instruction->opcode];

	core->execution = (struct trn_execution){
		.target = core->current->pc + 1,
		.cycles = operation->kind == KIND_CONTROL ? CONTROL_CYCLES : INSTRUCTION_CYCLES,
	};
	return operation->prepare(core, instruction);
}
