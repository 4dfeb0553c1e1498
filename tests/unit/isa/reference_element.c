// SPDX-License-Identifier: MIT
/* COPY, FILL, TENSOR_TENSOR, TENSOR_SCALAR, SELECT and ACTIVATE */
#include <endian.h>

#include "operand.h"
#include "tests/unit/model/alu_reference.h"
#include "tests/unit/model/function_formulas.h"
#include "tests/unit/model/numerics.h"

/* A number while an instruction computes with it */
struct value {
	float x;
	int32_t integer;
};

static struct value value_of(unsigned int dtype, uint32_t bits)
{
	return (struct value){ number_decode(dtype, bits),
			       number_is_integer(dtype) ? number_decode_int(dtype, bits) : 0 };
}

static bool has_scalar_operand(const struct trn_instruction *instruction)
{
	return instruction->flags & (TRN_FLAG_SCALAR_0 | TRN_FLAG_SCALAR_1);
}

/* "If all inputs and the output of an instruction have integer types, and it has no operation for
 * floats alone"
 */
static bool computes_with_integers(const struct trn_instruction *instruction)
{
	bool two_inputs =
		instruction->opcode == TRN_OP_TENSOR_TENSOR ||
		(instruction->opcode == TRN_OP_TENSOR_SCALAR && has_scalar_operand(instruction));

	return instruction->opcode != TRN_OP_ACTIVATE &&
	       number_is_integer(instruction->element.out.dtype) &&
	       number_is_integer(instruction->element.in[0].dtype) &&
	       (!two_inputs || number_is_integer(instruction->element.in[1].dtype)) &&
	       !alu_is_of_floats(instruction->op[0]) &&
	       (instruction->opcode != TRN_OP_TENSOR_SCALAR ||
		!alu_is_of_floats(instruction->op[1]));
}

static struct value apply(unsigned int op, struct value a, struct value b, bool integers)
{
	if (integers)
		return (struct value){ .integer = alu_int_reference(op, a.integer, b.integer) };
	return (struct value){ .x = alu_float_reference(op, a.x, b.x) };
}

static struct value scalar(struct reference *reference, const struct trn_instruction *instruction,
			   unsigned int which, unsigned int partition, bool integers)
{
	const struct trn_access_pattern *pattern = &instruction->element.in[1];
	uint32_t bits = le32toh(instruction->element.scalar[which]);

	if (instruction->flags & (which ? TRN_FLAG_SCALAR_1 : TRN_FLAG_SCALAR_0))
		return value_of(pattern->dtype,
				operand_get(reference, pattern,
					    (struct index){ .p = partition, .i = which }));
	return value_of(integers ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32, bits);
}

static struct value activate(unsigned int function, struct value in, struct value scale,
			     struct value bias)
{
	struct value scaled = apply(TRN_ALU_MULTIPLY, in, scale, false);
	struct value x = apply(TRN_ALU_ADD, scaled, bias, false);

	return (struct value){ .x = (float)function_formula((int)function, x.x) };
}

static struct value compute(struct reference *reference, const struct trn_instruction *instruction,
			    struct index x, bool integers)
{
	const struct trn_access_pattern *in = instruction->element.in;
	struct value a = value_of(in[0].dtype, operand_get(reference, &in[0], x));
	struct value b, c;

	if (instruction->opcode == TRN_OP_TENSOR_TENSOR) {
		b = value_of(in[1].dtype, operand_get(reference, &in[1], x));
		return apply(instruction->op[0], a, b, integers);
	}
	b = scalar(reference, instruction, 0, x.p, integers);
	c = scalar(reference, instruction, 1, x.p, integers);
	if (instruction->opcode == TRN_OP_ACTIVATE)
		return activate(instruction->op[0], a, b, c);
	return apply(instruction->op[1], apply(instruction->op[0], a, b, integers), c, integers);
}

static uint32_t fill(const struct trn_instruction *instruction, struct number_random random)
{
	uint32_t bits = le32toh(instruction->element.scalar[0]);
	unsigned int dtype = instruction->element.out.dtype;

	if (number_is_integer(dtype))
		return number_saturate(dtype, (int32_t)bits);
	return number_encode(dtype, number_decode(TRN_DTYPE_FP32, bits), random);
}

void reference_element(struct reference *reference, const struct trn_instruction *instruction)
{
	const struct trn_access_pattern *out = &instruction->element.out,
					*in = instruction->element.in;
	struct shape shape = shape_of(instruction->element.partitions, instruction->element.size);
	bool integers = computes_with_integers(instruction);

	FOR_EACH_INDEX(x, shape)
	{
		struct number_random random =
			operand_random(reference, instruction, index_number(x, shape));
		struct value value;
		uint32_t bits;

		switch (instruction->opcode) {
		case TRN_OP_COPY:
			bits = number_convert(out->dtype, in[0].dtype,
					      operand_get(reference, &in[0], x), random);
			break;
		case TRN_OP_FILL:
			bits = fill(instruction, random);
			break;
		case TRN_OP_SELECT:
			if (number_decode(in[0].dtype, operand_get(reference, &in[0], x)) == 0)
				continue;
			bits = operand_get(reference, &in[1], x);
			break;
		default:
			value = compute(reference, instruction, x, integers);
			bits = integers ? number_saturate(out->dtype, value.integer)
					: number_encode(out->dtype, value.x, random);
		}
		operand_set(reference, out, x, bits);
	}
}
