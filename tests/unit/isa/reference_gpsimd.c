// SPDX-License-Identifier: MIT
/* IOTA, MASK, GATHER, SCATTER, PARTITION_SHUFFLE, PARTITION_BROADCAST and TOP_K */
#include <endian.h>
#include <math.h>

#include "operand.h"
#include "tests/unit/model/numerics.h"

void reference_affine(struct reference *reference, const struct trn_instruction *instruction)
{
	const struct trn_access_pattern *out = &instruction->affine.out;
	struct shape shape = shape_of(instruction->affine.partitions, instruction->affine.size);
	uint32_t fill = le32toh(instruction->affine.fill), step[4];

	for (int axis = 0; axis < 4; axis++)
		step[axis] = le32toh(instruction->affine.step[axis]);
	FOR_EACH_INDEX(x, shape)
	{
		struct number_random random =
			operand_random(reference, instruction, index_number(x, shape));
		uint32_t number = le32toh(instruction->affine.base) + x.p * step[0] +
				  x.i * step[1] + x.j * step[2] + x.k * step[3];
		unsigned int fill_dtype =
			number_is_integer(out->dtype) ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32;
		uint32_t bits;

		if (instruction->opcode == TRN_OP_IOTA)
			bits = number_convert(out->dtype, TRN_DTYPE_INT32, number, random);
		else if ((int32_t)number >= 0)
			bits = operand_get(reference, &instruction->affine.in, x);
		else if (number_is_integer(out->dtype))
			bits = number_convert(out->dtype, fill_dtype, fill, random);
		else
			bits = number_encode(out->dtype, number_decode(fill_dtype, fill), random);
		operand_set(reference, out, x, bits);
	}
}

void reference_move(struct reference *reference, const struct trn_instruction *instruction)
{
	const struct trn_access_pattern *out = &instruction->element.out;
	const struct trn_access_pattern *in = instruction->element.in;
	struct shape shape = shape_of(instruction->element.partitions, instruction->element.size);

	FOR_EACH_INDEX(x, shape)
	{
		struct index from = x, to = x;
		uint32_t bits;

		switch (instruction->opcode) {
		case TRN_OP_GATHER:
			from = (struct index){ x.p, operand_get(reference, &in[1], x), 0, 0 };
			break;
		case TRN_OP_SCATTER:
			to = (struct index){ x.p, operand_get(reference, &in[1], x), 0, 0 };
			break;
		case TRN_OP_PARTITION_SHUFFLE:
			from.p = operand_get(reference, &in[1], (struct index){ .p = x.p });
			break;
		case TRN_OP_PARTITION_BROADCAST:
			from.p = 0;
			break;
		}
		bits = operand_get(reference, &in[0], from);
		operand_set(reference, out, to, bits);
	}
}

/* In the order of TOP_K */
static bool larger(float a, float b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && !isnan(b);
	if (a == 0 && b == 0)
		return !signbit(a) && signbit(b);
	return a > b;
}

static bool is_larger(unsigned int dtype, uint32_t a, uint32_t b)
{
	if (number_is_integer(dtype))
		return number_decode_int(dtype, a) > number_decode_int(dtype, b);
	return larger(number_decode(dtype, a), number_decode(dtype, b));
}

void reference_top_k(struct reference *reference, const struct trn_instruction *instruction)
{
	const struct trn_access_pattern *out = &instruction->element.out;
	const struct trn_access_pattern *in = instruction->element.in;
	struct shape shape = shape_of(instruction->element.partitions, instruction->element.size);
	uint32_t wanted = le32toh(instruction->element.scalar[0]);
	static uint32_t bits[TRN_ELEMENTS_MAX];
	static bool taken[TRN_ELEMENTS_MAX];
	struct shape row = shape;

	row.partitions = 1;
	for (struct index to = { 0 }; to.p < shape.partitions; to.p++) {
		uint32_t count = 0;

		FOR_EACH_INDEX(x, row)
		{
			taken[count] = false;
			bits[count++] = operand_get(reference, &in[0],
						    (struct index){ to.p, x.i, x.j, x.k });
		}
		for (to.i = 0; to.i < wanted; to.i++) {
			uint32_t best = count;

			for (uint32_t n = 0; n < count; n++)
				if (!taken[n] &&
				    (best == count || is_larger(in[0].dtype, bits[n], bits[best])))
					best = n;
			taken[best] = true;
			operand_set(reference, out, to, bits[best]);
			operand_set(reference, &in[1], to, best);
		}
	}
}
