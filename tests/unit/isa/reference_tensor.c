// SPDX-License-Identifier: MIT
/* LOAD_STATIONARY, MATMUL and TRANSPOSE */
#include <endian.h>
#include <math.h>

#include "operand.h"
#include "tests/unit/model/numerics.h"

static bool is_mx(unsigned int dtype)
{
	return dtype == TRN_DTYPE_MXFP8 || dtype == TRN_DTYPE_FP4;
}

/* Term t of the contraction, at a column of the operand. */
static long double term(struct reference *reference, const struct trn_instruction *instruction,
			unsigned int t, struct index column)
{
	const struct trn_access_pattern *in = &instruction->tensor.in;
	unsigned int pack = instruction->tensor.pack, q = t % pack;
	uint8_t *group, *scale;
	long double x;

	column.p = t / pack;
	group = operand_at(reference, in, column, pack);
	x = number_decode(in->dtype,
			  element_get(in->dtype, group + q * number_bits(in->dtype) / 8, q % 2));
	if (!is_mx(in->dtype))
		return x;
	column.p = t / TRN_MX_BLOCK;
	scale = operand_at(reference, &instruction->tensor.scale, column, 1);
	if (*scale == 255)
		return NAN;
	x = ldexpl(x, *scale - 127);
	return fabsl(x) >= 0x1p128L ? copysignl(INFINITY, x) : x;
}

static void load_stationary(struct reference *reference, const struct trn_instruction *instruction)
{
	unsigned int terms = instruction->tensor.rows * instruction->tensor.pack;
	struct shape columns = shape_of(1, instruction->tensor.size);

	reference->stationary_columns = 0;
	FOR_EACH_INDEX(column, columns)
	{
		for (unsigned int t = 0; t < terms; t++)
			reference->stationary[t][reference->stationary_columns] =
				term(reference, instruction, t, column);
		reference->stationary_columns++;
	}
}

static void matmul_one(struct reference *reference, const struct trn_instruction *instruction,
		       const long double *moving, unsigned int terms, struct index to)
{
	const struct trn_access_pattern *out = &instruction->tensor.out;
	uint32_t before = operand_get(reference, out, to);
	struct sum sum = { 0 };

	for (unsigned int t = 0; t < terms; t++)
		sum_add(&sum, reference->stationary[t][to.p] * moving[t]);
	if (instruction->flags & TRN_FLAG_ACCUMULATE)
		sum_add(&sum, number_is_integer(out->dtype) ? (long double)(int32_t)before
							    : float_of(before));
	if (out->dtype == TRN_DTYPE_INT32)
		operand_set(reference, out, to,
			    number_saturate(TRN_DTYPE_INT32, (int64_t)sum.exact));
	else
		operand_sum(reference, out, to, &sum);
}

static void matmul(struct reference *reference, const struct trn_instruction *instruction)
{
	unsigned int terms = instruction->tensor.rows * instruction->tensor.pack;
	struct shape columns = shape_of(1, instruction->tensor.size);
	long double moving[TRN_PARTITIONS * TRN_PACK_MAX];

	FOR_EACH_INDEX(column, columns)
	{
		struct index to = column;

		for (unsigned int t = 0; t < terms; t++)
			moving[t] = term(reference, instruction, t, column);
		for (to.p = 0; to.p < reference->stationary_columns; to.p++)
			matmul_one(reference, instruction, moving, terms, to);
	}
}

static void transpose(struct reference *reference, const struct trn_instruction *instruction)
{
	struct shape shape = shape_of(instruction->tensor.rows, instruction->tensor.size);

	FOR_EACH_INDEX(from, shape)
	{
		struct index column = { 0, from.i, from.j, from.k };
		struct index to = { .p = index_number(column, shape), .i = from.p };

		operand_set(reference, &instruction->tensor.out, to,
			    operand_get(reference, &instruction->tensor.in, from));
	}
}

void reference_tensor(struct reference *reference, const struct trn_instruction *instruction)
{
	switch (instruction->opcode) {
	case TRN_OP_LOAD_STATIONARY:
		load_stationary(reference, instruction);
		break;
	case TRN_OP_MATMUL:
		matmul(reference, instruction);
		break;
	default:
		transpose(reference, instruction);
	}
}
