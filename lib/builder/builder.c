/* SPDX-License-Identifier: MIT */
/* A program that is being made: cores, variables, rings, semaphores; mistakes; the end. */
#include "builder.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "../neff/neff.h"

#define ALIGNMENT  64
#define SEMAPHORES 256
#define BUILD	   "libtrn " LIBTRN_VERSION

/* ---- mistakes --------------------------------------------------------------------- */

static void keep_error(struct trn_builder *builder, int error)
{
	if (!builder->error)
		builder->error = error;
}

void trn_builder_fail(struct trn_builder *builder, const char *format, ...)
{
	va_list arguments;
	char *text = builder->text;
	size_t room = sizeof(builder->text), length;

	if (builder->error)
		return;
	if (builder->opcode)
		length = (size_t)snprintf(
			text, room, "core %u, %s, instruction %u (%s): ", builder->num_cores - 1,
			neff_engine_names[builder->engine],
			builder_core(builder)->streams[builder->engine].count, builder->opcode);
	else
		length = (size_t)snprintf(text, room, "core %u: ", builder->num_cores - 1);
	va_start(arguments, format);
	vsnprintf(text + length, room - length, format, arguments);
	va_end(arguments);
	builder->error = -EINVAL;
}

/* Whether something can be added, outside of instructions. */
static bool is_open(struct trn_builder *builder)
{
	builder->opcode = NULL;
	if (builder->finished)
		trn_builder_fail(builder, "the program is finished, nothing can be added");
	return !builder->error;
}

/* ---- cores ------------------------------------------------------------------------ */

struct builder_core *builder_core(const struct trn_builder *builder)
{
	return builder->cores[builder->num_cores - 1];
}

static int add_core(struct trn_builder *builder)
{
	struct builder_core **cores =
		reallocarray(builder->cores, builder->num_cores + 1, sizeof(*cores));

	if (!cores)
		return -ENOMEM;
	builder->cores = cores;
	cores[builder->num_cores] = calloc(1, sizeof(**cores));
	if (!cores[builder->num_cores])
		return -ENOMEM;
	builder->num_cores++;
	return 0;
}

void trn_builder_core(struct trn_builder *builder)
{
	if (!is_open(builder))
		return;
	if (builder->num_cores == TRN_NEFF_CORES_MAX)
		trn_builder_fail(builder, "a program has at most %d cores", TRN_NEFF_CORES_MAX);
	else
		keep_error(builder, add_core(builder));
}

int trn_builder_create(const char *name, uint32_t sbuf_size, struct trn_builder **builder)
{
	struct trn_builder *made;

	if (!name || sbuf_size > TRN_PLACE_OFFSET_MASK + 1)
		return trn_fail(-EINVAL,
				"a program has a name, and at most %u bytes of SBUF in a partition",
				TRN_PLACE_OFFSET_MASK + 1);
	made = calloc(1, sizeof(*made));
	if (made)
		made->name = strdup(name);
	if (!made || !made->name || add_core(made)) {
		trn_builder_destroy(made);
		return trn_fail(-ENOMEM, "%s: no host memory left: end other programs", name);
	}
	made->sbuf_size = sbuf_size ? sbuf_size : TRN_BUILDER_SBUF_SIZE;
	*builder = made;
	return 0;
}

static void free_core(struct builder_core *core)
{
	uint32_t i;

	for (i = 0; i < core->num_variables; i++) {
		free((void *)core->variables[i].name);
		free((void *)core->variables[i].data);
	}
	for (i = 0; i < core->num_rings; i++)
		free((void *)core->rings[i].name);
	for (i = 0; i < TRN_ENGINES; i++)
		free(core->streams[i].instructions);
	free(core);
}

void trn_builder_destroy(struct trn_builder *builder)
{
	uint32_t i;

	if (!builder)
		return;
	for (i = 0; i < builder->num_cores; i++)
		free_core(builder->cores[i]);
	free(builder->cores);
	free(builder->labels);
	free(builder->neff_cores);
	free(builder->name);
	free(builder);
}

/* ---- resources ----------------------------------------------------------------------- */

static uint32_t add_variable(struct trn_builder *builder, struct trn_neff_variable variable,
			     const uint64_t *shape, const void *data)
{
	const struct neff_dtype *dtype = neff_dtype(variable.dtype);
	struct builder_core *core = builder_core(builder);
	uint64_t elements = 1;
	uint32_t i;

	if (core->num_variables == TRN_NEFF_VARIABLES_MAX || !dtype ||
	    variable.dimensions > TRN_NEFF_DIMENSIONS_MAX) {
		trn_builder_fail(
			builder,
			"variable %.64s, number %u, has %u dimensions and type %u: at most "
			"%d variables, %d dimensions, and a TRN_DTYPE_",
			variable.name, core->num_variables, variable.dimensions, variable.dtype,
			TRN_NEFF_VARIABLES_MAX, TRN_NEFF_DIMENSIONS_MAX);
		return 0;
	}
	for (i = 0; i < variable.dimensions; i++) {
		if (!shape[i] || __builtin_mul_overflow(elements, shape[i], &elements) ||
		    elements > TRN_NEFF_SIZE_MAX) {
			trn_builder_fail(builder,
					 "variable %.64s: dimension %u is %llu: 1 or more, and at "
					 "most %llu bytes in all",
					 variable.name, i, (unsigned long long)shape[i],
					 (unsigned long long)TRN_NEFF_SIZE_MAX);
			return 0;
		}
		variable.shape[i] = shape[i];
	}
	variable.id = core->num_variables;
	variable.size = elements * dtype->bits / 8;
	variable.alignment = ALIGNMENT;
	variable.name = strdup(variable.name);
	if (data)
		variable.data = malloc(variable.size);
	if (!variable.name || (data && !variable.data)) {
		free((void *)variable.name);
		keep_error(builder, -ENOMEM);
		return 0;
	}
	if (data)
		memcpy((void *)variable.data, data, variable.size);
	core->variables[core->num_variables] = variable;
	return core->num_variables++;
}

uint32_t trn_builder_variable(struct trn_builder *builder, enum trn_neff_kind kind,
			      const char *name, uint32_t dtype, uint32_t dimensions,
			      const uint64_t *shape)
{
	if (!is_open(builder))
		return 0;
	if (kind == TRN_NEFF_FILE) {
		trn_builder_fail(builder, "variable %.64s: use trn_builder_constant()", name);
		return 0;
	}
	return add_variable(
		builder,
		(struct trn_neff_variable){
			.name = name, .kind = kind, .dtype = dtype, .dimensions = dimensions },
		shape, NULL);
}

uint32_t trn_builder_constant(struct trn_builder *builder, const char *name, uint32_t dtype,
			      uint32_t dimensions, const uint64_t *shape, const void *data)
{
	if (!is_open(builder))
		return 0;
	return add_variable(builder,
			    (struct trn_neff_variable){ .name = name,
							.kind = TRN_NEFF_FILE,
							.dtype = dtype,
							.dimensions = dimensions },
			    shape, data);
}

uint32_t trn_builder_ring(struct trn_builder *builder, const char *name,
			  enum trn_neff_direction direction)
{
	struct builder_core *core = builder_core(builder);
	char *copy;

	if (!is_open(builder))
		return 0;
	if (core->num_rings == TRN_ISA_DMA_RINGS) {
		trn_builder_fail(builder, "ring %.64s: a core has %d", name, TRN_ISA_DMA_RINGS);
		return 0;
	}
	copy = strdup(name);
	if (!copy) {
		keep_error(builder, -ENOMEM);
		return 0;
	}
	core->rings[core->num_rings] = (struct trn_neff_queue){ copy, core->num_rings, direction };
	return core->num_rings++;
}

uint32_t trn_builder_semaphore(struct trn_builder *builder)
{
	struct builder_core *core = builder_core(builder);

	if (!is_open(builder))
		return 0;
	if (core->semaphores == SEMAPHORES) {
		trn_builder_fail(builder, "a core has %d semaphores", SEMAPHORES);
		return 0;
	}
	return core->semaphores++;
}

uint32_t trn_builder_register(struct trn_builder *builder, unsigned int engine)
{
	struct builder_stream *stream;

	if (!is_open(builder))
		return 0;
	stream = builder_stream(builder, engine);
	if (!stream)
		return 0;
	if (stream->registers == TRN_ISA_REGISTERS - 1) {
		trn_builder_fail(builder, "the %s engine has %d registers beside 0",
				 neff_engine_names[engine], TRN_ISA_REGISTERS - 1);
		return 0;
	}
	return ++stream->registers;
}

uint32_t trn_builder_sbuf(struct trn_builder *builder, uint32_t size)
{
	struct builder_core *core = builder_core(builder);
	uint32_t offset = core->sbuf;

	if (!is_open(builder))
		return 0;
	if (size > builder->sbuf_size - offset) {
		trn_builder_fail(builder,
				 "%u bytes of SBUF in a partition are needed, %u of %u are left",
				 size, builder->sbuf_size - offset, builder->sbuf_size);
		return 0;
	}
	core->sbuf = (offset + size + ALIGNMENT - 1) & ~(ALIGNMENT - 1U);
	if (core->sbuf > builder->sbuf_size)
		core->sbuf = builder->sbuf_size;
	return offset;
}

/* ---- labels ----------------------------------------------------------------------------- */

uint32_t trn_builder_label(struct trn_builder *builder, unsigned int engine)
{
	struct builder_label *labels;

	if (!is_open(builder) || !builder_stream(builder, engine))
		return 0;
	labels = reallocarray(builder->labels, builder->num_labels + 1, sizeof(*labels));
	if (!labels) {
		keep_error(builder, -ENOMEM);
		return 0;
	}
	builder->labels = labels;
	labels[builder->num_labels] =
		(struct builder_label){ .core = builder->num_cores - 1, .engine = engine };
	return builder->num_labels++;
}

void trn_builder_place_label(struct trn_builder *builder, uint32_t number)
{
	struct builder_label *label;
	struct builder_stream *stream;

	if (!is_open(builder))
		return;
	label = number < builder->num_labels ? &builder->labels[number] : NULL;
	if (!label || label->core != builder->num_cores - 1 || label->placed) {
		trn_builder_fail(builder, "label %u is not of this core, or was placed before",
				 number);
		return;
	}
	stream = builder_stream(builder, label->engine);
	if (stream->acquire_count)
		trn_emit_nop(builder, label->engine);
	label->target = stream->count;
	label->placed = true;
	stream->labelled = true;
}

static void resolve_labels(struct trn_builder *builder, struct builder_stream *stream)
{
	uint32_t i;

	for (i = 0; i < stream->count; i++) {
		struct trn_instruction *instruction = &stream->instructions[i];
		const struct builder_label *label;

		if (instruction->opcode != TRN_OP_BRANCH)
			continue;
		label = &builder->labels[le32toh(instruction->control.target)];
		if (!label->placed) {
			trn_builder_fail(builder, "label %u, target of a branch, is nowhere",
					 le32toh(instruction->control.target));
			return;
		}
		instruction->control.target = htole32(label->target);
	}
}

/* ---- the end ------------------------------------------------------------------------------ */

static void finish_core(struct trn_builder *builder, struct builder_core *core,
			struct trn_neff_core *made)
{
	unsigned int engine;

	for (engine = 0; engine < TRN_ENGINES; engine++) {
		struct builder_stream *stream = &core->streams[engine];

		resolve_labels(builder, stream);
		made->streams[engine] =
			(struct trn_neff_stream){ stream->instructions, stream->count };
	}
	made->variables = core->variables;
	made->num_variables = core->num_variables;
	made->queues = core->rings;
	made->num_queues = core->num_rings;
}

/* The cores' streams end; HALT is the last thing that the builder appends to each. */
static void halt_all(struct trn_builder *builder)
{
	uint32_t cores = builder->num_cores;
	unsigned int engine;

	for (builder->num_cores = 1; builder->num_cores <= cores; builder->num_cores++) {
		struct builder_core *core = builder_core(builder);

		for (engine = 0; engine < TRN_ENGINES; engine++)
			if (core->streams[engine].count || core->streams[engine].acquire_count ||
			    core->streams[engine].labelled)
				trn_emit_halt(builder, engine);
	}
	builder->num_cores = cores;
}

int trn_builder_finish(struct trn_builder *builder, const struct trn_neff **neff)
{
	uint32_t i;

	if (is_open(builder))
		halt_all(builder);
	builder->opcode = NULL;
	if (!builder->error) {
		builder->neff_cores = calloc(builder->num_cores, sizeof(*builder->neff_cores));
		if (!builder->neff_cores)
			builder->error = -ENOMEM;
	}
	for (i = 0; i < builder->num_cores && !builder->error; i++)
		finish_core(builder, builder->cores[i], &builder->neff_cores[i]);
	if (builder->error == -ENOMEM)
		return trn_fail(-ENOMEM, "%.64s: no host memory left: end other programs",
				builder->name);
	if (builder->error)
		return trn_fail(builder->error, "%.64s: %s", builder->name, builder->text);
	builder->finished = true;
	builder->neff = (struct trn_neff){
		.name = builder->name,
		.build_version = BUILD,
		.cores = builder->neff_cores,
		.num_cores = builder->num_cores,
	};
	*neff = &builder->neff;
	return 0;
}
