// SPDX-License-Identifier: MIT
/* Registers and branches. */
#include "execute.h"

#include <endian.h>

#define DESTINATION 1
#define SOURCE_0    2
#define SOURCE_1    4

/* Registers exist, and what the instruction does not use is 0. */
static bool check(struct trn_core *core, const struct trn_instruction *instruction,
		  unsigned int uses)
{
	const uint8_t number[3] = { instruction->control.destination,
				    instruction->control.source[0],
				    instruction->control.source[1] };

	for (unsigned int i = 0; i < 3; i++) {
		if (number[i] >= TRN_ISA_REGISTERS || (number[i] && !(uses >> i & 1)))
			return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	}
	if (uses & DESTINATION && !instruction->control.destination)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	if (instruction->opcode != TRN_OP_BRANCH && instruction->control.target)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return true;
}

static uint64_t source(const struct trn_core *core, const struct trn_instruction *instruction,
		       int number)
{
	return core->current->reg[instruction->control.source[number]];
}

static uint64_t immediate(const struct trn_instruction *instruction)
{
	return le64toh(instruction->control.immediate);
}

bool trn_prepare_nop(struct trn_core *core, const struct trn_instruction *instruction)
{
	return check(core, instruction, 0) &&
	       (!immediate(instruction) || trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD));
}

bool trn_prepare_move(struct trn_core *core, const struct trn_instruction *instruction)
{
	if (!check(core, instruction, DESTINATION | SOURCE_0))
		return false;
	core->current->reg[instruction->control.destination] =
		source(core, instruction, 0) + immediate(instruction);
	return true;
}

bool trn_prepare_add(struct trn_core *core, const struct trn_instruction *instruction)
{
	if (!check(core, instruction, DESTINATION | SOURCE_0 | SOURCE_1))
		return false;
	core->current->reg[instruction->control.destination] = source(core, instruction, 0) +
							       source(core, instruction, 1) +
							       immediate(instruction);
	return true;
}

bool trn_prepare_multiply(struct trn_core *core, const struct trn_instruction *instruction)
{
	if (!check(core, instruction, DESTINATION | SOURCE_0))
		return false;
	core->current->reg[instruction->control.destination] =
		source(core, instruction, 0) * immediate(instruction);
	return true;
}

bool trn_prepare_branch(struct trn_core *core, const struct trn_instruction *instruction)
{
	bool taken;
	int64_t a, b;

	if (!check(core, instruction, SOURCE_0 | SOURCE_1))
		return false;
	a = (int64_t)source(core, instruction, 0);
	b = (int64_t)(source(core, instruction, 1) + immediate(instruction));
	switch (instruction->op[0]) {
	case TRN_ALU_EQUAL:
		taken = a == b;
		break;
	case TRN_ALU_NOT_EQUAL:
		taken = a != b;
		break;
	case TRN_ALU_LESS:
		taken = a < b;
		break;
	case TRN_ALU_LESS_EQUAL:
		taken = a <= b;
		break;
	case TRN_ALU_GREATER:
		taken = a > b;
		break;
	case TRN_ALU_GREATER_EQUAL:
		taken = a >= b;
		break;
	default:
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	}
	if (taken)
		core->execution.target = le32toh(instruction->control.target);
	return true;
}
