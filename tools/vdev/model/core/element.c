// SPDX-License-Identifier: MIT
/* Element by element: COPY, FILL, TENSOR_TENSOR, TENSOR_SCALAR, ACTIVATE. */
#include "element.h"

#include <hw/trn_regs.h>

#include "alu.h"
#include "execute.h"
#include "functions.h"

/* About how long an element takes this host, in units of 1/16 ns. */
#define ELEMENT_WORK  32
#define FUNCTION_WORK 320

bool trn_element_operand(struct trn_core *core, const struct trn_access_pattern *access,
			 const struct trn_shape *shape, struct trn_pattern *pattern)
{
	if (access->dtype == TRN_DTYPE_MXFP8 || access->dtype == TRN_DTYPE_FP4)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	return trn_pattern_read(core, access, shape, 1, pattern);
}

bool trn_element_shape(struct trn_core *core, const struct trn_instruction *instruction,
		       unsigned int inputs, unsigned int scalars)
{
	struct trn_execution *execution = &core->execution;

	for (unsigned int i = inputs; i < 2; i++) {
		if (!trn_pattern_absent(&instruction->element.in[i]))
			return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	}
	for (unsigned int i = scalars; i < 2; i++) {
		if (instruction->element.scalar[i])
			return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	}
	if (!trn_shape_read(core, instruction->element.partitions, instruction->element.size,
			    &execution->shape))
		return false;
	execution->rows = execution->shape.partitions;
	execution->cycles += trn_shape_elements(&execution->shape);
	return true;
}

bool trn_element_operands(struct trn_core *core, const struct trn_instruction *instruction,
			  unsigned int inputs, unsigned int scalars)
{
	struct trn_execution *execution = &core->execution;

	if (!trn_element_shape(core, instruction, inputs, scalars) ||
	    !trn_element_operand(core, &instruction->element.out, &execution->shape,
				 &execution->out))
		return false;
	for (unsigned int i = 0; i < inputs; i++) {
		if (!trn_element_operand(core, &instruction->element.in[i], &execution->shape,
					 &execution->in[i]))
			return false;
	}
	return true;
}

bool trn_element_chunks(struct trn_core *core, const struct trn_instruction *instruction,
			bool (*function)(struct trn_core *core,
					 const struct trn_instruction *instruction,
					 const struct trn_chunk *chunk))
{
	const struct trn_shape *shape = &core->execution.shape;
	struct trn_chunk chunk = {
		.p = core->row,
		.index = (uint32_t)(core->row * trn_shape_elements(shape)),
	};

	core->work += trn_shape_elements(shape) * ELEMENT_WORK / 16;
	for (chunk.k = 0; chunk.k < shape->size[2]; chunk.k++) {
		for (chunk.j = 0; chunk.j < shape->size[1]; chunk.j++) {
			for (chunk.i = 0; chunk.i < shape->size[0]; chunk.i += chunk.count) {
				chunk.count = shape->size[0] - chunk.i;
				if (chunk.count > TRN_CHUNK)
					chunk.count = TRN_CHUNK;
				if (!function(core, instruction, &chunk))
					return false;
				chunk.index += chunk.count;
			}
		}
	}
	return true;
}

const uint32_t *trn_element_random(const struct trn_core *core,
				   const struct trn_instruction *instruction,
				   const struct trn_chunk *chunk, uint32_t random[TRN_CHUNK])
{
	const struct trn_random source = {
		.seed = core->seed,
		.instruction = (uint32_t)core->current->issued,
		.engine = (uint32_t)(core->current - core->engine),
	};

	if (!(instruction->flags & TRN_FLAG_STOCHASTIC))
		return NULL;
	trn_random_row(&source, chunk->index, random, chunk->count);
	return random;
}

static struct trn_row chunk_of(const struct trn_pattern *pattern, const struct trn_chunk *chunk)
{
	return trn_element_chunk(pattern, chunk->p, chunk->i, chunk->j, chunk->k);
}

void trn_element_load(const struct trn_pattern *pattern, const struct trn_chunk *chunk,
		      float *values)
{
	struct trn_row row = chunk_of(pattern, chunk);

	row.dtype->load(values, row.at, row.step, chunk->count);
}

void trn_element_load_int(const struct trn_pattern *pattern, const struct trn_chunk *chunk,
			  int32_t *values)
{
	struct trn_row row = chunk_of(pattern, chunk);

	row.dtype->load_int(values, row.at, row.step, chunk->count);
}

void trn_element_store(const struct trn_core *core, const struct trn_instruction *instruction,
		       const struct trn_chunk *chunk, const float *values)
{
	struct trn_row row = chunk_of(&core->execution.out, chunk);
	uint32_t random[TRN_CHUNK];

	row.dtype->store(row.at, row.step, values,
			 trn_element_random(core, instruction, chunk, random), chunk->count);
}

void trn_element_store_int(const struct trn_core *core, const struct trn_chunk *chunk,
			   const int32_t *values)
{
	struct trn_row row = chunk_of(&core->execution.out, chunk);

	row.dtype->store_int(row.at, row.step, values, chunk->count);
}

/* ---- COPY, FILL -------------------------------------------------------------- */

static bool copy_chunk(struct trn_core *core, const struct trn_instruction *instruction,
		       const struct trn_chunk *chunk)
{
	uint32_t random[TRN_CHUNK];

	trn_row_convert(chunk_of(&core->execution.out, chunk),
			chunk_of(&core->execution.in[0], chunk),
			trn_element_random(core, instruction, chunk, random), chunk->count);
	return true;
}

static bool copy_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction, copy_chunk);
}

bool trn_prepare_copy(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;

	if (instruction->element.out.dtype == TRN_DTYPE_MXFP8 ||
	    instruction->element.in[0].dtype == TRN_DTYPE_MXFP8)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	execution->do_row = copy_row;
	return trn_element_shape(core, instruction, 1, 0) &&
	       trn_pattern_read(core, &instruction->element.out, &execution->shape, 1,
				&execution->out) &&
	       trn_pattern_read(core, &instruction->element.in[0], &execution->shape, 1,
				&execution->in[0]);
}

static bool fill_chunk(struct trn_core *core, const struct trn_instruction *instruction,
		       const struct trn_chunk *chunk)
{
	float values[TRN_CHUNK];
	int32_t integers[TRN_CHUNK];

	for (unsigned int i = 0; i < chunk->count; i++) {
		values[i] = trn_scalar_float(instruction, 0);
		integers[i] = trn_scalar_int(instruction, 0);
	}
	if (core->execution.out.dtype->integer)
		trn_element_store_int(core, chunk, integers);
	else
		trn_element_store(core, instruction, chunk, values);
	return true;
}

static bool fill_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction, fill_chunk);
}

bool trn_prepare_fill(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->execution.do_row = fill_row;
	return trn_element_operands(core, instruction, 0, 1);
}

/* ---- arithmetic ---------------------------------------------------------------- */

bool trn_element_arithmetic(struct trn_core *core, const struct trn_instruction *instruction,
			    bool all_integer, unsigned int ops)
{
	bool integer = all_integer, floats = true;

	for (unsigned int i = 0; i < ops; i++) {
		if (!trn_alu_int(instruction->op[i]) && !trn_alu_float(instruction->op[i]))
			return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
		integer &= trn_alu_int(instruction->op[i]) != NULL;
		floats &= trn_alu_float(instruction->op[i]) != NULL;
	}
	core->execution.integer = integer;
	return integer || floats || trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
}

static bool tensor_tensor_chunk(struct trn_core *core, const struct trn_instruction *instruction,
				const struct trn_chunk *chunk)
{
	const struct trn_execution *execution = &core->execution;
	union {
		float value[TRN_CHUNK];
		int32_t integer[TRN_CHUNK];
	} a, b;

	if (execution->integer) {
		trn_element_load_int(&execution->in[0], chunk, a.integer);
		trn_element_load_int(&execution->in[1], chunk, b.integer);
		trn_alu_int(instruction->op[0])(a.integer, a.integer, b.integer, chunk->count);
		trn_element_store_int(core, chunk, a.integer);
	} else {
		trn_element_load(&execution->in[0], chunk, a.value);
		trn_element_load(&execution->in[1], chunk, b.value);
		trn_alu_float(instruction->op[0])(a.value, a.value, b.value, chunk->count);
		trn_element_store(core, instruction, chunk, a.value);
	}
	return true;
}

static bool tensor_tensor_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction, tensor_tensor_chunk);
}

bool trn_prepare_tensor_tensor(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;

	execution->do_row = tensor_tensor_row;
	return trn_element_operands(core, instruction, 2, 0) &&
	       trn_element_arithmetic(core, instruction,
				      execution->out.dtype->integer &&
					      execution->in[0].dtype->integer &&
					      execution->in[1].dtype->integer,
				      1);
}

static bool of_partitions(const struct trn_instruction *instruction, int number)
{
	return instruction->flags & (number ? TRN_FLAG_SCALAR_1 : TRN_FLAG_SCALAR_0);
}

/* The scalars that are of each partition. */
static bool read_scalars(struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct trn_access_pattern *access = &instruction->element.in[1];
	struct trn_execution *execution = &core->execution;
	struct trn_shape shape = { execution->shape.partitions, { 1, 1, 1 } };

	for (int i = 0; i < 2; i++) {
		if (of_partitions(instruction, i) && instruction->element.scalar[i])
			return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	}
	if (!of_partitions(instruction, 0) && !of_partitions(instruction, 1))
		return trn_pattern_absent(access) || trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	if (access->step[1] || access->step[2])
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	shape.size[0] = of_partitions(instruction, 1) ? 2 : 1;
	return trn_element_operand(core, access, &shape, &execution->in[1]);
}

static float scalar_float(const struct trn_core *core, const struct trn_instruction *instruction,
			  int number)
{
	const struct trn_pattern *pattern = &core->execution.in[1];
	float value;

	if (!of_partitions(instruction, number))
		return trn_scalar_float(instruction, number);
	pattern->dtype->load(
		&value, trn_pattern_row(pattern, core->row, 0, 0).at + number * pattern->step[0], 0,
		1);
	return value;
}

static int32_t scalar_int(const struct trn_core *core, const struct trn_instruction *instruction,
			  int number)
{
	const struct trn_pattern *pattern = &core->execution.in[1];
	int32_t value;

	if (!of_partitions(instruction, number))
		return trn_scalar_int(instruction, number);
	pattern->dtype->load_int(
		&value, trn_pattern_row(pattern, core->row, 0, 0).at + number * pattern->step[0], 0,
		1);
	return value;
}

static bool tensor_scalar_float(struct trn_core *core, const struct trn_instruction *instruction,
				const struct trn_chunk *chunk)
{
	float a[TRN_CHUNK], b[TRN_CHUNK];

	trn_element_load(&core->execution.in[0], chunk, a);
	for (int number = 0; number < 2; number++) {
		float scalar = scalar_float(core, instruction, number);

		for (unsigned int i = 0; i < chunk->count; i++)
			b[i] = scalar;
		trn_alu_float(instruction->op[number])(a, a, b, chunk->count);
	}
	trn_element_store(core, instruction, chunk, a);
	return true;
}

static bool tensor_scalar_int(struct trn_core *core, const struct trn_instruction *instruction,
			      const struct trn_chunk *chunk)
{
	int32_t a[TRN_CHUNK], b[TRN_CHUNK];

	trn_element_load_int(&core->execution.in[0], chunk, a);
	for (int number = 0; number < 2; number++) {
		int32_t scalar = scalar_int(core, instruction, number);

		for (unsigned int i = 0; i < chunk->count; i++)
			b[i] = scalar;
		trn_alu_int(instruction->op[number])(a, a, b, chunk->count);
	}
	trn_element_store_int(core, chunk, a);
	return true;
}

static bool tensor_scalar_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction,
				  core->execution.integer ? tensor_scalar_int
							  : tensor_scalar_float);
}

static bool scalar_operands(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;

	return trn_element_shape(core, instruction, 2, 2) && read_scalars(core, instruction) &&
	       trn_element_operand(core, &instruction->element.out, &execution->shape,
				   &execution->out) &&
	       trn_element_operand(core, &instruction->element.in[0], &execution->shape,
				   &execution->in[0]);
}

bool trn_prepare_tensor_scalar(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;
	bool scalars_are_integer;

	if (!scalar_operands(core, instruction))
		return false;
	execution->do_row = tensor_scalar_row;
	scalars_are_integer = !execution->in[1].dtype || execution->in[1].dtype->integer;
	return trn_element_arithmetic(core, instruction,
				      execution->out.dtype->integer &&
					      execution->in[0].dtype->integer &&
					      scalars_are_integer,
				      2);
}

/* ---- ACTIVATE -------------------------------------------------------------------- */

static bool activate_chunk(struct trn_core *core, const struct trn_instruction *instruction,
			   const struct trn_chunk *chunk)
{
	float scale = scalar_float(core, instruction, 0), bias = scalar_float(core, instruction, 1);
	float values[TRN_CHUNK];

	trn_element_load(&core->execution.in[0], chunk, values);
	for (unsigned int i = 0; i < chunk->count; i++)
		values[i] = values[i] * scale + bias;
	trn_function(instruction->op[0])(values, values, chunk->count);
	trn_element_store(core, instruction, chunk, values);
	return true;
}

static bool activate_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->work += trn_shape_elements(&core->execution.shape) * FUNCTION_WORK / 16;
	return trn_element_chunks(core, instruction, activate_chunk);
}

bool trn_prepare_activate(struct trn_core *core, const struct trn_instruction *instruction)
{
	core->execution.do_row = activate_row;
	if (!trn_function(instruction->op[0]))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return scalar_operands(core, instruction);
}
