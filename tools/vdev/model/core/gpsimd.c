// SPDX-License-Identifier: MIT
/* IOTA, MASK, GATHER, SCATTER, PARTITION_SHUFFLE, PARTITION_BROADCAST, TOP_K. */
#include <stdlib.h>
#include <string.h>

#include <hw/trn_regs.h>

#include "../shared.h"
#include "element.h"
#include "execute.h"
#include "float_format.h"

#define SLOW_CYCLES 4  /* for each element */
#define SORT_WORK   30 /* ns for each element, about */

/* ---- IOTA, MASK ------------------------------------------------------------------ */

static bool affine_shape(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;

	if (!trn_shape_read(core, instruction->affine.partitions, instruction->affine.size,
			    &execution->shape))
		return false;
	execution->rows = execution->shape.partitions;
	execution->cycles += (uint32_t)trn_shape_elements(&execution->shape);
	return trn_element_operand(core, &instruction->affine.out, &execution->shape,
				   &execution->out);
}

/* The affine numbers of a chunk; they wrap. */
static void affine(const struct trn_instruction *instruction, const struct trn_chunk *chunk,
		   int32_t *numbers)
{
	uint32_t step = le32toh(instruction->affine.step[1]);
	uint32_t number = le32toh(instruction->affine.base) +
			  chunk->p * le32toh(instruction->affine.step[0]) + chunk->i * step +
			  chunk->j * le32toh(instruction->affine.step[2]) +
			  chunk->k * le32toh(instruction->affine.step[3]);

	for (unsigned int i = 0; i < chunk->count; i++)
		numbers[i] = (int32_t)(number + i * step);
}

static bool iota_chunk(struct trn_core *core, const struct trn_instruction *instruction,
		       const struct trn_chunk *chunk)
{
	int32_t numbers[TRN_CHUNK];
	float values[TRN_CHUNK];

	affine(instruction, chunk, numbers);
	if (core->execution.out.dtype->integer) {
		trn_element_store_int(core, chunk, numbers);
		return true;
	}
	for (unsigned int i = 0; i < chunk->count; i++)
		values[i] = (float)numbers[i];
	trn_element_store(core, instruction, chunk, values);
	return true;
}

static bool iota_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction, iota_chunk);
}

bool trn_prepare_iota(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->execution.do_row = iota_row;
	if (instruction->affine.fill || !trn_pattern_absent(&instruction->affine.in))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return affine_shape(core, instruction);
}

static void encode_fill(const struct trn_instruction *instruction, const struct trn_dtype *dtype,
			uint8_t bytes[4])
{
	uint32_t bits = le32toh(instruction->affine.fill);
	float value = trn_float_of_bits(bits);
	int32_t integer = (int32_t)bits;

	if (dtype->integer)
		dtype->store_int(bytes, 0, &integer, 1);
	else
		dtype->store(bytes, 0, &value, NULL, 1);
}

static bool mask_chunk(struct trn_core *core, const struct trn_instruction *instruction,
		       const struct trn_chunk *chunk)
{
	const struct trn_execution *execution = &core->execution;
	struct trn_row out =
		trn_element_chunk(&execution->out, chunk->p, chunk->i, chunk->j, chunk->k);
	struct trn_row in =
		trn_element_chunk(&execution->in[0], chunk->p, chunk->i, chunk->j, chunk->k);
	int32_t numbers[TRN_CHUNK];
	uint8_t fill[4];

	affine(instruction, chunk, numbers);
	encode_fill(instruction, out.dtype, fill);
	for (unsigned int i = 0; i < chunk->count; i++)
		memcpy(out.at + (ptrdiff_t)i * out.step,
		       numbers[i] >= 0 ? in.at + (ptrdiff_t)i * in.step : fill, out.dtype->size);
	return true;
}

static bool mask_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction, mask_chunk);
}

bool trn_prepare_mask(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;

	execution->do_row = mask_row;
	if (instruction->affine.in.dtype != instruction->affine.out.dtype)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	return affine_shape(core, instruction) &&
	       trn_element_operand(core, &instruction->affine.in, &execution->shape,
				   &execution->in[0]);
}

/* ---- indexes ----------------------------------------------------------------------- */

/* in[0] and out have one type, and in[1] has indexes. */
static bool check_dtypes(struct trn_core *core, const struct trn_instruction *instruction)
{
	uint8_t index = instruction->element.in[1].dtype;

	if (instruction->element.in[0].dtype != instruction->element.out.dtype ||
	    (index != TRN_DTYPE_INT16 && index != TRN_DTYPE_INT32))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	return true;
}

static bool check_indexes(struct trn_core *core, const struct trn_instruction *instruction,
			  const int32_t *indexes, unsigned int count)
{
	int32_t end = trn_scalar_int(instruction, 0);

	for (unsigned int i = 0; i < count; i++) {
		if (indexes[i] < 0 || indexes[i] >= end)
			return trn_core_raise(core, TRN_EXCEPTION_BAD_INDEX);
	}
	return true;
}

/* How many elements, or partitions, an index may name. */
static bool read_end(struct trn_core *core, const struct trn_instruction *instruction, int32_t most)
{
	int32_t end = trn_scalar_int(instruction, 0);

	return (end > 0 && end <= most) || trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
}

static bool move_chunk(struct trn_core *core, const struct trn_instruction *instruction,
		       const struct trn_chunk *chunk)
{
	const struct trn_execution *execution = &core->execution;
	bool gather = instruction->opcode == TRN_OP_GATHER;
	const struct trn_pattern *straight = gather ? &execution->out : &execution->in[0];
	const struct trn_pattern *indexed = gather ? &execution->in[0] : &execution->out;
	struct trn_row row = trn_element_chunk(straight, chunk->p, chunk->i, chunk->j, chunk->k);
	int32_t indexes[TRN_CHUNK];

	trn_element_load_int(&execution->in[1], chunk, indexes);
	if (!check_indexes(core, instruction, indexes, chunk->count))
		return false;
	for (unsigned int i = 0; i < chunk->count; i++) {
		uint8_t *at = row.at + (ptrdiff_t)i * row.step;
		uint8_t *other =
			trn_pattern_row(indexed, chunk->p, 0, 0).at + indexes[i] * indexed->step[0];

		memcpy(gather ? at : other, gather ? other : at, row.dtype->size);
	}
	return true;
}

static bool move_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction, move_chunk);
}

/* One of the operands has as many elements as indexes may name, the others the shape. */
static bool prepare_move(struct trn_core *core, const struct trn_instruction *instruction,
			 const struct trn_access_pattern *straight, struct trn_pattern *to_straight,
			 const struct trn_access_pattern *indexed, struct trn_pattern *to_indexed)
{
	struct trn_execution *execution = &core->execution;
	struct trn_shape shape = { 0, { 1, 1, 1 } };

	execution->do_row = move_row;
	if (!check_dtypes(core, instruction) || !read_end(core, instruction, TRN_ELEMENTS_MAX) ||
	    !trn_element_shape(core, instruction, 2, 1))
		return false;
	if (indexed->step[1] || indexed->step[2])
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	shape.partitions = execution->shape.partitions;
	shape.size[0] = (unsigned int)trn_scalar_int(instruction, 0);
	execution->cycles += (SLOW_CYCLES - 1) * (uint32_t)trn_shape_elements(&execution->shape);
	return trn_element_operand(core, straight, &execution->shape, to_straight) &&
	       trn_element_operand(core, indexed, &shape, to_indexed) &&
	       trn_element_operand(core, &instruction->element.in[1], &execution->shape,
				   &execution->in[1]);
}

bool trn_prepare_gather(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;

	return prepare_move(core, instruction, &instruction->element.out, &execution->out,
			    &instruction->element.in[0], &execution->in[0]);
}

bool trn_prepare_scatter(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;

	return prepare_move(core, instruction, &instruction->element.in[0], &execution->in[0],
			    &instruction->element.out, &execution->out);
}

/* ---- partitions -------------------------------------------------------------------- */

/* The current row of out from a partition of in[0]. */
static bool copy_chunk(struct trn_core *core, const struct trn_instruction *instruction,
		       const struct trn_chunk *chunk)
{
	const struct trn_execution *execution = &core->execution;

	(void)instruction;
	trn_row_convert(trn_element_chunk(&execution->out, chunk->p, chunk->i, chunk->j, chunk->k),
			trn_element_chunk(&execution->in[0], execution->partition, chunk->i,
					  chunk->j, chunk->k),
			NULL, chunk->count);
	return true;
}

static bool shuffle_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct trn_pattern *map = &core->execution.in[1];
	int32_t index;

	map->dtype->load_int(&index, trn_pattern_row(map, core->row, 0, 0).at, 0, 1);
	if (!check_indexes(core, instruction, &index, 1))
		return false;
	core->execution.partition = (unsigned int)index;
	return trn_element_chunks(core, instruction, copy_chunk);
}

static bool prepare_partitions(struct trn_core *core, const struct trn_instruction *instruction,
			       unsigned int partitions)
{
	struct trn_execution *execution = &core->execution;
	struct trn_shape from = execution->shape;

	from.partitions = partitions;
	return trn_element_operand(core, &instruction->element.out, &execution->shape,
				   &execution->out) &&
	       trn_element_operand(core, &instruction->element.in[0], &from, &execution->in[0]);
}

bool trn_prepare_shuffle(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;
	struct trn_shape map = { 0, { 1, 1, 1 } };

	execution->do_row = shuffle_row;
	if (!check_dtypes(core, instruction) || !read_end(core, instruction, TRN_PARTITIONS) ||
	    !trn_element_shape(core, instruction, 2, 1))
		return false;
	map.partitions = execution->shape.partitions;
	return prepare_partitions(core, instruction,
				  (unsigned int)trn_scalar_int(instruction, 0)) &&
	       trn_element_operand(core, &instruction->element.in[1], &map, &execution->in[1]);
}

static bool broadcast_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->execution.partition = 0;
	return trn_element_chunks(core, instruction, copy_chunk);
}

bool trn_prepare_broadcast(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->execution.do_row = broadcast_row;
	if (instruction->element.in[0].dtype != instruction->element.out.dtype)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	return trn_element_shape(core, instruction, 1, 0) &&
	       prepare_partitions(core, instruction, 1);
}

/* ---- TOP_K ------------------------------------------------------------------------- */

/* Rising with the float, NaNs above all. */
static int32_t rank_of(float value)
{
	int32_t bits = (int32_t)trn_float_bits(value);

	if (value != value)
		return INT32_MAX;
	return bits < 0 ? bits ^ INT32_MAX : bits;
}

/* Rank above, and below it the element's number, the first largest. */
static uint64_t sort_key(int32_t rank, uint32_t number)
{
	return (uint64_t)((uint32_t)rank ^ 0x80000000U) << 32 | (UINT32_MAX - number);
}

static int falling(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? 1 : left > right ? -1 : 0;
}

static bool key_chunk(struct trn_core *core, const struct trn_instruction *instruction,
		      const struct trn_chunk *chunk)
{
	const struct trn_shape *shape = &core->execution.shape;
	uint32_t number = chunk->i + shape->size[0] * (chunk->j + shape->size[1] * chunk->k);
	int32_t ranks[TRN_CHUNK];
	float values[TRN_CHUNK];

	(void)instruction;
	if (core->execution.integer) {
		trn_element_load_int(&core->execution.in[0], chunk, ranks);
	} else {
		trn_element_load(&core->execution.in[0], chunk, values);
		for (unsigned int i = 0; i < chunk->count; i++)
			ranks[i] = rank_of(values[i]);
	}
	for (unsigned int i = 0; i < chunk->count; i++)
		core->keys[number + i] = sort_key(ranks[i], number + i);
	return true;
}

static bool top_k_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct trn_execution *execution = &core->execution;
	const struct trn_shape *shape = &execution->shape;
	size_t count = trn_shape_elements(shape);

	trn_element_chunks(core, instruction, key_chunk);
	qsort(core->keys, count, sizeof(*core->keys), falling);
	core->work += count * SORT_WORK;
	for (int32_t n = 0; n < trn_scalar_int(instruction, 0); n++) {
		uint32_t number = UINT32_MAX - (uint32_t)core->keys[n];
		unsigned int i = number % shape->size[0], j = number / shape->size[0];
		struct trn_row from = trn_element_chunk(&execution->in[0], core->row, i,
							j % shape->size[1], j / shape->size[1]);
		int32_t index = (int32_t)number;

		memcpy(trn_pattern_row(&execution->out, core->row, 0, 0).at +
			       n * execution->out.step[0],
		       from.at, from.dtype->size);
		execution->in[1].dtype->store_int(
			trn_pattern_row(&execution->in[1], core->row, 0, 0).at +
				n * execution->in[1].step[0],
			0, &index, 1);
	}
	return true;
}

bool trn_prepare_top_k(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;
	struct trn_shape found = { 0, { 1, 1, 1 } };

	execution->do_row = top_k_row;
	if (instruction->element.in[0].dtype != instruction->element.out.dtype ||
	    instruction->element.in[1].dtype != TRN_DTYPE_INT32)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	if (!trn_element_shape(core, instruction, 2, 1) ||
	    !read_end(core, instruction, (int32_t)trn_shape_elements(&execution->shape)))
		return false;
	found.partitions = execution->shape.partitions;
	found.size[0] = (unsigned int)trn_scalar_int(instruction, 0);
	execution->cycles += (SLOW_CYCLES - 1) * (uint32_t)trn_shape_elements(&execution->shape);
	if (!trn_element_operand(core, &instruction->element.in[0], &execution->shape,
				 &execution->in[0]) ||
	    !trn_element_operand(core, &instruction->element.out, &found, &execution->out) ||
	    !trn_element_operand(core, &instruction->element.in[1], &found, &execution->in[1]))
		return false;
	execution->integer = execution->in[0].dtype->integer;
	return true;
}
