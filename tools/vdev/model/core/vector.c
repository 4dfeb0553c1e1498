// SPDX-License-Identifier: MIT
/* REDUCE, SELECT, BN_STATS, BN_AGGREGATE. */
#include <string.h>

#include <hw/trn_regs.h>

#include "alu.h"
#include "element.h"
#include "execute.h"

/* About how long an element takes this host, ns. */
#define ELEMENT_WORK 2

static void count_work(struct trn_core *core)
{
	core->work += trn_shape_elements(&core->execution.shape) * ELEMENT_WORK;
}

/* ---- REDUCE -------------------------------------------------------------------- */

/* A number in one of the arithmetics. */
union number {
	float value;
	int32_t integer;
};

static void load(const struct trn_core *core, const struct trn_chunk *chunk, union number *numbers)
{
	if (core->execution.integer)
		trn_element_load_int(&core->execution.in[0], chunk, &numbers->integer);
	else
		trn_element_load(&core->execution.in[0], chunk, &numbers->value);
}

static void store(const struct trn_core *core, const struct trn_instruction *instruction,
		  const struct trn_chunk *chunk, const union number *numbers)
{
	if (core->execution.integer)
		trn_element_store_int(core, chunk, &numbers->integer);
	else
		trn_element_store(core, instruction, chunk, &numbers->value);
}

static union number fold(const struct trn_core *core, const struct trn_instruction *instruction,
			 union number first, const union number *numbers, unsigned int count)
{
	union number result;

	if (core->execution.integer)
		result.integer = trn_alu_reduce_int(instruction->op[0])(first.integer,
									&numbers->integer, count);
	else
		result.value = trn_alu_reduce_float(instruction->op[0])(first.value,
									&numbers->value, count);
	return result;
}

static void combine(const struct trn_core *core, const struct trn_instruction *instruction,
		    union number *sums, const union number *numbers, unsigned int count)
{
	if (core->execution.integer)
		trn_alu_int(instruction->op[0])(&sums->integer, &sums->integer, &numbers->integer,
						count);
	else
		trn_alu_float(instruction->op[0])(&sums->value, &sums->value, &numbers->value,
						  count);
}

/* What of the input's j and k is combined into one row of the output. */
struct part {
	unsigned int j, j_end, k, k_end;
};

/* All elements of the part to one. */
static void reduce_to_one(struct trn_core *core, const struct trn_instruction *instruction,
			  const struct part *part, const struct trn_chunk *out)
{
	unsigned int size = core->execution.shape.size[0];
	struct trn_chunk chunk = { .p = core->row };
	union number numbers[TRN_CHUNK], sum = { 0 };
	bool first = true;

	for (chunk.k = part->k; chunk.k < part->k_end; chunk.k++) {
		for (chunk.j = part->j; chunk.j < part->j_end; chunk.j++) {
			for (chunk.i = 0; chunk.i < size; chunk.i += chunk.count) {
				chunk.count =
					size - chunk.i < TRN_CHUNK ? size - chunk.i : TRN_CHUNK;
				load(core, &chunk, numbers);
				sum = first ? fold(core, instruction, numbers[0], numbers + 1,
						   chunk.count - 1)
					    : fold(core, instruction, sum, numbers, chunk.count);
				first = false;
			}
		}
	}
	store(core, instruction, out, &sum);
}

/* Rows of the part to a row; so many elements from i on. */
static void reduce_to_row(struct trn_core *core, const struct trn_instruction *instruction,
			  const struct part *part, const struct trn_chunk *out)
{
	struct trn_chunk chunk = *out;
	union number sums[TRN_CHUNK], numbers[TRN_CHUNK];

	for (chunk.k = part->k; chunk.k < part->k_end; chunk.k++) {
		for (chunk.j = part->j; chunk.j < part->j_end; chunk.j++) {
			if (chunk.k == part->k && chunk.j == part->j) {
				load(core, &chunk, sums);
				continue;
			}
			load(core, &chunk, numbers);
			combine(core, instruction, sums, numbers, chunk.count);
		}
	}
	store(core, instruction, out, sums);
}

static void reduce_part(struct trn_core *core, const struct trn_instruction *instruction,
			const struct part *part, struct trn_chunk *out)
{
	unsigned int size = core->execution.shape.size[0];

	if (instruction->flags & TRN_FLAG_AXIS_I) {
		out->i = 0;
		out->count = 1;
		reduce_to_one(core, instruction, part, out);
		out->index++;
		return;
	}
	for (out->i = 0; out->i < size; out->i += out->count) {
		out->count = size - out->i < TRN_CHUNK ? size - out->i : TRN_CHUNK;
		reduce_to_row(core, instruction, part, out);
		out->index += out->count;
	}
}

static struct trn_shape reduced(const struct trn_shape *shape,
				const struct trn_instruction *instruction)
{
	static const uint8_t axes[3] = { TRN_FLAG_AXIS_I, TRN_FLAG_AXIS_J, TRN_FLAG_AXIS_K };
	struct trn_shape out = *shape;

	for (int i = 0; i < 3; i++) {
		if (instruction->flags & axes[i])
			out.size[i] = 1;
	}
	return out;
}

static bool reduce_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct trn_shape *shape = &core->execution.shape;
	struct trn_shape out_shape = reduced(shape, instruction);
	struct trn_chunk out = {
		.p = core->row,
		.index = (uint32_t)(core->row * trn_shape_elements(&out_shape)),
	};

	for (out.k = 0; out.k < out_shape.size[2]; out.k++) {
		for (out.j = 0; out.j < out_shape.size[1]; out.j++) {
			struct part part = { out.j, out.j + 1, out.k, out.k + 1 };

			if (instruction->flags & TRN_FLAG_AXIS_J)
				part.j_end = shape->size[1];
			if (instruction->flags & TRN_FLAG_AXIS_K)
				part.k_end = shape->size[2];
			reduce_part(core, instruction, &part, &out);
		}
	}
	count_work(core);
	return true;
}

bool trn_prepare_reduce(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;
	struct trn_shape out;

	execution->do_row = reduce_row;
	if (!trn_alu_reduce_float(instruction->op[0]) ||
	    !(instruction->flags & (TRN_FLAG_AXIS_I | TRN_FLAG_AXIS_J | TRN_FLAG_AXIS_K)))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	if (!trn_element_shape(core, instruction, 1, 0))
		return false;
	out = reduced(&execution->shape, instruction);
	return trn_element_operand(core, &instruction->element.in[0], &execution->shape,
				   &execution->in[0]) &&
	       trn_element_operand(core, &instruction->element.out, &out, &execution->out) &&
	       trn_element_arithmetic(
		       core, instruction,
		       execution->in[0].dtype->integer && execution->out.dtype->integer, 1);
}

/* ---- SELECT ---------------------------------------------------------------------- */

static bool select_chunk(struct trn_core *core, const struct trn_instruction *instruction,
			 const struct trn_chunk *chunk)
{
	const struct trn_execution *execution = &core->execution;
	struct trn_row out =
		trn_element_chunk(&execution->out, chunk->p, chunk->i, chunk->j, chunk->k);
	struct trn_row in =
		trn_element_chunk(&execution->in[1], chunk->p, chunk->i, chunk->j, chunk->k);
	float condition[TRN_CHUNK];

	(void)instruction;
	trn_element_load(&execution->in[0], chunk, condition);
	for (unsigned int i = 0; i < chunk->count; i++) {
		if (condition[i] != 0)
			memcpy(out.at + (ptrdiff_t)i * out.step, in.at + (ptrdiff_t)i * in.step,
			       out.dtype->size);
	}
	return true;
}

static bool select_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction, select_chunk);
}

bool trn_prepare_select(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->execution.do_row = select_row;
	if (instruction->element.in[1].dtype != instruction->element.out.dtype)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	return trn_element_operands(core, instruction, 2, 0);
}

/* ---- statistics -------------------------------------------------------------------- */

static void store_fp32(const struct trn_core *core, unsigned int i, double number)
{
	const struct trn_pattern *out = &core->execution.out;
	float value = (float)number;

	out->dtype->store(trn_pattern_row(out, core->row, 0, 0).at + (ptrdiff_t)i * out->step[0], 0,
			  &value, NULL, 1);
}

/* Chunks of a pass over the elements. */
static bool add_chunk(struct trn_core *core, const struct trn_instruction *instruction,
		      const struct trn_chunk *chunk)
{
	float values[TRN_CHUNK];

	(void)instruction;
	trn_element_load(&core->execution.in[0], chunk, values);
	for (unsigned int i = 0; i < chunk->count; i++)
		core->execution.sum += values[i];
	return true;
}

static bool add_square_chunk(struct trn_core *core, const struct trn_instruction *instruction,
			     const struct trn_chunk *chunk)
{
	float values[TRN_CHUNK];

	(void)instruction;
	trn_element_load(&core->execution.in[0], chunk, values);
	for (unsigned int i = 0; i < chunk->count; i++) {
		double difference = values[i] - core->execution.mean;

		core->execution.sum += difference * difference;
	}
	return true;
}

static bool bn_stats_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;
	double count = (double)trn_shape_elements(&execution->shape);

	execution->sum = 0;
	trn_element_chunks(core, instruction, add_chunk);
	execution->mean = execution->sum / count;
	execution->sum = 0;
	trn_element_chunks(core, instruction, add_square_chunk);
	store_fp32(core, 0, count);
	store_fp32(core, 1, execution->mean);
	store_fp32(core, 2, execution->sum);
	return true;
}

static bool read_statistics(struct trn_core *core, const struct trn_instruction *instruction,
			    unsigned int results)
{
	struct trn_execution *execution = &core->execution;
	struct trn_shape out = { 0, { results, 1, 1 } };

	if (!trn_element_shape(core, instruction, 1, 0))
		return false;
	out.partitions = execution->shape.partitions;
	if (instruction->element.out.dtype != TRN_DTYPE_FP32)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	return trn_element_operand(core, &instruction->element.in[0], &execution->shape,
				   &execution->in[0]) &&
	       trn_element_operand(core, &instruction->element.out, &out, &execution->out);
}

bool trn_prepare_bn_stats(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->execution.do_row = bn_stats_row;
	return read_statistics(core, instruction, 3);
}

/* Number j of triple t. */
static double of_triple(const struct trn_core *core, unsigned int t, unsigned int j)
{
	const struct trn_pattern *in = &core->execution.in[0];
	float value;

	in->dtype->load(&value,
			trn_pattern_row(in, core->row, j, 0).at + (ptrdiff_t)t * in->step[0], 0, 1);
	return value;
}

static bool bn_aggregate_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	unsigned int triples = core->execution.shape.size[0];
	double count = 0, sum = 0, squares = 0, mean;

	(void)instruction;
	for (unsigned int t = 0; t < triples; t++) {
		count += of_triple(core, t, 0);
		sum += of_triple(core, t, 0) * of_triple(core, t, 1);
	}
	mean = sum / count;
	for (unsigned int t = 0; t < triples; t++) {
		double difference = of_triple(core, t, 1) - mean;

		squares += of_triple(core, t, 2) + of_triple(core, t, 0) * difference * difference;
	}
	store_fp32(core, 0, mean);
	store_fp32(core, 1, squares / count);
	count_work(core);
	return true;
}

bool trn_prepare_bn_aggregate(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->execution.do_row = bn_aggregate_row;
	if (!read_statistics(core, instruction, 2))
		return false;
	if (core->execution.shape.size[1] != 3 || core->execution.shape.size[2] != 1)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return true;
}
