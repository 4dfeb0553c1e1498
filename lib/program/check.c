/* SPDX-License-Identifier: MIT */
/* Whether a chip can execute a program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hw/trn_isa.h>
#include <hw/trn_regs.h>

#include "../neff/neff.h"
#include "program.h"

/* What is checked, for texts. */
struct chip {
	const char *program;
	const char *node;
	const struct trn_device_info *info;
};

static bool has_dtype(const struct chip *chip, uint32_t dtype)
{
	return dtype < 32 && chip->info->dtypes & UINT32_C(1) << dtype;
}

static const char *dtype_name(uint32_t dtype)
{
	const char *name = trn_neff_dtype_name(dtype);

	return name ? name : "a data type that does not exist";
}

static int check_variable(const struct chip *chip, const struct trn_neff_variable *variable)
{
	if (has_dtype(chip, variable->dtype))
		return 0;
	return trn_fail(-EOPNOTSUPP,
			"%.64s: tensor \"%.64s\" is %s, which %s, a %s, does not have: use a chip "
			"that has it, or compile the program for %s",
			chip->program, variable->name, dtype_name(variable->dtype), chip->node,
			chip->info->generation, chip->info->generation);
}

/* Most operands of an instruction. */
#define OPERANDS 3

/* The data types of an instruction's operands; those that it does not have are 0, FP32. */
static void operand_dtypes(const struct trn_instruction *instruction, uint8_t dtype[OPERANDS])
{
	memset(dtype, TRN_DTYPE_FP32, OPERANDS);
	switch (instruction->opcode) {
	case TRN_OP_DMA_LOAD:
	case TRN_OP_DMA_STORE:
		dtype[0] = instruction->dma.local.dtype;
		dtype[1] = instruction->dma.dtype;
		break;
	case TRN_OP_LOAD_STATIONARY:
	case TRN_OP_MATMUL:
	case TRN_OP_TRANSPOSE:
		dtype[0] = instruction->tensor.out.dtype;
		dtype[1] = instruction->tensor.in.dtype;
		dtype[2] = instruction->tensor.scale.dtype;
		break;
	case TRN_OP_IOTA:
	case TRN_OP_MASK:
		dtype[0] = instruction->affine.out.dtype;
		dtype[1] = instruction->affine.in.dtype;
		break;
	case TRN_OP_COPY ... TRN_OP_BN_AGGREGATE:
	case TRN_OP_ACTIVATE:
	case TRN_OP_GATHER ... TRN_OP_TOP_K:
		dtype[0] = instruction->element.out.dtype;
		dtype[1] = instruction->element.in[0].dtype;
		dtype[2] = instruction->element.in[1].dtype;
		break;
	}
}

/* Whether it is for an array that adds several FP8 terms in a cell; MX types are dtypes of their
 * own. */
static bool lacks_pack(const struct chip *chip, const struct trn_instruction *instruction)
{
	return (instruction->opcode == TRN_OP_LOAD_STATIONARY ||
		instruction->opcode == TRN_OP_MATMUL) &&
	       instruction->tensor.pack == 2 && !(chip->info->tensor_pack & UINT32_C(1) << 2);
}

static int check_instruction(const struct chip *chip, uint32_t core, uint32_t engine,
			     uint32_t index, const struct trn_instruction *instruction)
{
	uint8_t dtype[OPERANDS];
	uint32_t i;

	if (lacks_pack(chip, instruction))
		return trn_fail(
			-EOPNOTSUPP,
			"%.64s: core %u, engine %s, instruction %u packs 2 fp8 terms, which "
			"%s, a %s, cannot: use a chip that can, or compile the program for "
			"%s",
			chip->program, core, neff_engine_names[engine], index, chip->node,
			chip->info->generation, chip->info->generation);
	operand_dtypes(instruction, dtype);
	for (i = 0; i < OPERANDS; i++)
		if (!has_dtype(chip, dtype[i]))
			return trn_fail(-EOPNOTSUPP,
					"%.64s: core %u, engine %s, instruction %u uses %s, which "
					"%s, a %s, does not have: use a chip that has it, or "
					"compile the program for %s",
					chip->program, core, neff_engine_names[engine], index,
					dtype_name(dtype[i]), chip->node, chip->info->generation,
					chip->info->generation);
	return 0;
}

static int check_core(const struct chip *chip, uint32_t number, const struct trn_neff_core *core)
{
	struct trn_instruction instruction;
	uint32_t engine, i;
	int error = 0;

	for (i = 0; i < core->num_variables && !error; i++)
		error = check_variable(chip, &core->variables[i]);
	for (engine = 0; engine < TRN_ENGINES && !error; engine++) {
		const uint8_t *next = core->streams[engine].instructions;

		for (i = 0; i < core->streams[engine].count && !error; i++) {
			/* Of any alignment. */
			memcpy(&instruction, next, sizeof(instruction));
			next += sizeof(instruction);
			error = check_instruction(chip, number, engine, i, &instruction);
		}
	}
	return error;
}

int trn_program_check_chip(const char *name, const struct trn_neff *neff, const char *node,
			   const struct trn_device_info *info)
{
	const struct chip chip = { name, node, info };
	uint32_t i;
	int error = 0;

	if (neff->num_cores > info->cores)
		return trn_fail(-EOPNOTSUPP,
				"%.64s: it needs %u cores, but %s, a %s, has %u: use a chip with "
				"more cores, or compile the program for fewer",
				name, neff->num_cores, node, info->generation, info->cores);
	for (i = 0; i < neff->num_cores && !error; i++)
		error = check_core(&chip, i, &neff->cores[i]);
	return error;
}
