// SPDX-License-Identifier: MIT
/* REDUCE, BN_STATS and BN_AGGREGATE */
#include <endian.h>
#include <math.h>

#include "operand.h"
#include "tests/unit/model/alu_reference.h"
#include "tests/unit/model/numerics.h"

/* The elements of a result: the rest of the shape along the axes that are reduced */
static struct shape reduced(struct shape shape, uint8_t flags)
{
	static const uint8_t axes[3] = { TRN_FLAG_AXIS_I, TRN_FLAG_AXIS_J, TRN_FLAG_AXIS_K };

	for (int axis = 0; axis < 3; axis++)
		if (flags & axes[axis])
			shape.size[axis] = 1;
	return shape;
}

static void reduce_one(struct reference *reference, const struct trn_instruction *instruction,
		       struct index to, struct shape along, uint32_t number)
{
	const struct trn_access_pattern *out = &instruction->element.out;
	const struct trn_access_pattern *in = &instruction->element.in[0];
	unsigned int op = instruction->op[0];
	bool integers = number_is_integer(in->dtype) && number_is_integer(out->dtype);
	bool first = true;
	struct sum sum = { 0 };
	int32_t integer = 0;
	float x = 0;

	FOR_EACH_INDEX(from, along)
	{
		struct index at = { to.p, to.i + from.i, to.j + from.j, to.k + from.k };
		uint32_t bits = operand_get(reference, in, at);

		if (integers)
			integer = first ? number_decode_int(in->dtype, bits)
					: alu_int_reference(op, integer,
							    number_decode_int(in->dtype, bits));
		else
			x = first ? number_decode(in->dtype, bits)
				  : alu_float_reference(op, x, number_decode(in->dtype, bits));
		sum_add(&sum, number_decode(in->dtype, bits));
		first = false;
	}
	if (!integers && op == TRN_ALU_ADD && sum.terms > 1)
		operand_sum(reference, out, to, &sum);
	else if (integers)
		operand_set(reference, out, to, number_saturate(out->dtype, integer));
	else
		operand_set(reference, out, to,
			    number_encode(out->dtype, x,
					  operand_random(reference, instruction, number)));
}

void reference_reduce(struct reference *reference, const struct trn_instruction *instruction)
{
	struct shape shape = shape_of(instruction->element.partitions, instruction->element.size);
	struct shape results = reduced(shape, instruction->flags), along = { .partitions = 1 };

	for (int axis = 0; axis < 3; axis++)
		along.size[axis] = results.size[axis] == shape.size[axis] ? 1 : shape.size[axis];
	FOR_EACH_INDEX(to, results)
	reduce_one(reference, instruction, to, along, index_number(to, results));
}

static void stats(struct reference *reference, const struct trn_instruction *instruction,
		  struct shape shape, unsigned int partition)
{
	const struct trn_access_pattern *out = &instruction->element.out;
	const struct trn_access_pattern *in = &instruction->element.in[0];
	struct index to = { .p = partition };
	long double count = 0, sum = 0, magnitudes = 0, squares = 0, differences = 0, mean;

	shape.partitions = 1;
	FOR_EACH_INDEX(x, shape)
	{
		struct index from = { partition, x.i, x.j, x.k };
		long double number = number_decode(in->dtype, operand_get(reference, in, from));

		count++;
		sum += number;
		magnitudes += fabsl(number);
		squares += number * number;
	}
	mean = sum / count;
	FOR_EACH_INDEX(x, shape)
	{
		struct index from = { partition, x.i, x.j, x.k };
		long double number = number_decode(in->dtype, operand_get(reference, in, from));

		differences += (number - mean) * (number - mean);
	}
	operand_set(reference, out, to, bits_of((float)count));
	to.i = 1;
	operand_bound(reference, out, to, mean, 0x1p-21L * magnitudes / count);
	to.i = 2;
	operand_bound(reference, out, to, differences, 0x1p-21L * squares);
}

/* Mean and variance of the union of sets, of which counts, means and sums are known. */
static void aggregate(struct reference *reference, const struct trn_instruction *instruction,
		      struct shape shape, unsigned int partition)
{
	const struct trn_access_pattern *out = &instruction->element.out;
	const struct trn_access_pattern *in = &instruction->element.in[0];
	struct index to = { .p = partition };
	long double count = 0, sum = 0, magnitudes = 0, squares = 0, differences = 0, mean;

	for (int pass = 0; pass < 2; pass++) {
		mean = sum / count;
		for (unsigned int t = 0; t < shape.size[0]; t++) {
			long double triple[3];

			for (unsigned int j = 0; j < 3; j++)
				triple[j] = number_decode(
					in->dtype,
					operand_get(reference, in,
						    (struct index){ partition, t, j, 0 }));
			if (pass) {
				differences += triple[2] +
					       triple[0] * (triple[1] - mean) * (triple[1] - mean);
			} else {
				count += triple[0];
				sum += triple[0] * triple[1];
				magnitudes += triple[0] * fabsl(triple[1]);
				squares += triple[2] + triple[0] * triple[1] * triple[1];
			}
		}
	}
	operand_bound(reference, out, to, mean, 0x1p-21L * magnitudes / count);
	to.i = 1;
	operand_bound(reference, out, to, differences / count, 0x1p-21L * squares / count);
}

void reference_statistics(struct reference *reference, const struct trn_instruction *instruction)
{
	struct shape shape = shape_of(instruction->element.partitions, instruction->element.size);

	for (unsigned int partition = 0; partition < shape.partitions; partition++)
		if (instruction->opcode == TRN_OP_BN_STATS)
			stats(reference, instruction, shape, partition);
		else
			aggregate(reference, instruction, shape, partition);
}
