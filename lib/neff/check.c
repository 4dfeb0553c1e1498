/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include <hw/trn_isa.h>
#include <hw/trn_regs.h>

#include "neff.h"

#define LLU(value) ((unsigned long long)(value))

_Static_assert(TRN_NEFF_ENGINES == TRN_ENGINES, "engines of a core");
_Static_assert(TRN_NEFF_QUEUES_MAX == TRN_ISA_DMA_RINGS, "a name for each ring");
_Static_assert(TRN_NEFF_VARIABLES_MAX == TRN_BINDINGS_MAX, "a binding for each variable");
_Static_assert(NEFF_INSTRUCTION == sizeof(struct trn_instruction), "size of an instruction");

static int check_name(const struct neff_place *place, const char *what, const char *name)
{
	size_t length = name ? strnlen(name, NEFF_NAME_MAX + 1) : 0;

	if (length && length <= NEFF_NAME_MAX && neff_is_text(name))
		return 0;
	return neff_fail(
		place, NEFF_FIELD,
		"%s \"%.64s\": a name has 1 to %d bytes of UTF-8 and no control characters", what,
		name ? name : "", NEFF_NAME_MAX);
}

/* Bytes of all elements, or 0 if they are more than TRN_NEFF_SIZE_MAX. */
static uint64_t shape_size(const struct trn_neff_variable *variable)
{
	/* Neither FP4's elements nor the product of two of these exceed 64 bits. */
	uint64_t elements = 1, limit = TRN_NEFF_SIZE_MAX * 2;
	uint32_t i;

	for (i = 0; i < variable->dimensions; i++) {
		if (variable->shape[i] > limit / elements)
			return 0;
		elements *= variable->shape[i];
	}
	elements = elements * neff_dtype(variable->dtype)->bits / 8;
	return elements <= TRN_NEFF_SIZE_MAX ? elements : 0;
}

static int check_shape(const struct neff_place *place, const struct trn_neff_variable *variable)
{
	uint32_t dimensions = variable->dimensions, i;
	uint64_t size;

	if (dimensions > TRN_NEFF_DIMENSIONS_MAX)
		return neff_fail(place, NEFF_LIMIT,
				 "%.64s: \"shape\" has %u dimensions, at most %d are possible",
				 variable->name, dimensions, TRN_NEFF_DIMENSIONS_MAX);
	for (i = 0; i < dimensions; i++)
		if (!variable->shape[i] || variable->shape[i] > TRN_NEFF_SIZE_MAX)
			return neff_fail(
				place, NEFF_FIELD,
				"%.64s: \"shape\": dimension %u is %llu, must be 1 to %llu",
				variable->name, i, LLU(variable->shape[i]), LLU(TRN_NEFF_SIZE_MAX));
	if (variable->dtype == TRN_DTYPE_FP4 &&
	    (!dimensions || variable->shape[dimensions - 1] % 2))
		return neff_fail(place, NEFF_FIELD,
				 "%.64s: \"shape\": of fp4 the last dimension must be even",
				 variable->name);
	size = shape_size(variable);
	if (!size)
		return neff_fail(place, NEFF_LIMIT,
				 "%.64s: \"shape\" makes more than %llu bytes: split the tensor",
				 variable->name, LLU(TRN_NEFF_SIZE_MAX));
	if (size != variable->size)
		return neff_fail(place, NEFF_SIZE,
				 "%.64s: \"size\" is %llu, the shape makes %llu bytes",
				 variable->name, LLU(variable->size), LLU(size));
	return 0;
}

static int check_variable(const struct neff_place *place, const struct trn_neff_variable *variable)
{
	uint64_t alignment = variable->alignment;
	int error = check_name(place, "variable", variable->name);

	if (error)
		return error;
	if (!trn_neff_kind_name(variable->kind))
		return neff_fail(place, NEFF_KIND, "%.64s: there is no kind %d of variables",
				 variable->name, variable->kind);
	if (!neff_dtype(variable->dtype))
		return neff_fail(place, NEFF_DTYPE, "%.64s: there is no data type %u",
				 variable->name, variable->dtype);
	if (!alignment || alignment > TRN_NEFF_ALIGNMENT_MAX || (alignment & (alignment - 1)))
		return neff_fail(place, NEFF_FIELD,
				 "%.64s: \"alignment\" is %llu, must be a power of two, 1 to %llu",
				 variable->name, LLU(alignment), LLU(TRN_NEFF_ALIGNMENT_MAX));
	return check_shape(place, variable);
}

static int check_variables(const struct neff_place *place, const struct trn_neff_core *core)
{
	const struct trn_neff_variable *variables = core->variables;
	uint32_t i, j;
	int error;

	for (i = 0; i < core->num_variables; i++) {
		error = check_variable(place, &variables[i]);
		if (error)
			return error;
		for (j = 0; j < i; j++) {
			if (!strcmp(variables[i].name, variables[j].name))
				return neff_fail(
					place, NEFF_DUPLICATE,
					"bindings %u and %u both have the variable \"%.64s\"", j, i,
					variables[i].name);
			if (variables[i].id == variables[j].id)
				return neff_fail(place, NEFF_BINDING,
						 "%.64s: \"var_id\" %u is that of %.64s too",
						 variables[i].name, variables[i].id,
						 variables[j].name);
		}
	}
	return 0;
}

static int check_queues(const struct neff_place *place, const struct trn_neff_core *core)
{
	const struct trn_neff_queue *queues = core->queues;
	uint32_t i, j;
	int error;

	for (i = 0; i < core->num_queues; i++) {
		error = check_name(place, "queue", queues[i].name);
		if (error)
			return error;
		if (queues[i].ring >= TRN_ISA_DMA_RINGS)
			return neff_fail(place, NEFF_FIELD,
					 "%.64s: \"ring\" is %u, must be 0 to %d", queues[i].name,
					 queues[i].ring, TRN_ISA_DMA_RINGS - 1);
		if (!neff_direction_name(queues[i].direction))
			return neff_fail(place, NEFF_KIND,
					 "%.64s: there is no direction %d of queues",
					 queues[i].name, queues[i].direction);
		for (j = 0; j < i; j++) {
			if (queues[j].ring == queues[i].ring)
				return neff_fail(place, NEFF_BINDING,
						 "%.64s: \"ring\" %u is that of %.64s too",
						 queues[i].name, queues[i].ring, queues[j].name);
			if (!strcmp(queues[j].name, queues[i].name))
				return neff_fail(place, NEFF_DUPLICATE,
						 "rings %u and %u both have the name \"%.64s\"",
						 queues[j].ring, queues[i].ring, queues[i].name);
		}
	}
	return 0;
}

int neff_core_check(const struct neff_place *place, const struct trn_neff_core *core)
{
	int error = 0;

	if (core->num_variables > TRN_NEFF_VARIABLES_MAX)
		return neff_fail(place, NEFF_LIMIT,
				 "there are %u variables, at most %d are possible",
				 core->num_variables, TRN_NEFF_VARIABLES_MAX);
	if (core->num_queues > TRN_NEFF_QUEUES_MAX)
		return neff_fail(place, NEFF_LIMIT, "there are %u queues, at most %d are possible",
				 core->num_queues, TRN_NEFF_QUEUES_MAX);
	error = check_variables(place, core);
	if (!error)
		error = check_queues(place, core);
	return error;
}

static int check_content(const struct neff_place *place, const struct trn_neff_core *core)
{
	uint32_t i;

	for (i = 0; i < TRN_NEFF_ENGINES; i++) {
		const struct trn_neff_stream *stream = &core->streams[i];

		if (stream->count &&
		    (!stream->instructions || stream->count > TRN_NEFF_INSTRUCTIONS_MAX))
			return neff_fail(
				place, NEFF_FIELD,
				"the stream of engine %s has %u instructions%s; at most %u "
				"are possible",
				neff_engine_names[i], stream->count,
				stream->instructions ? "" : " at NULL", TRN_NEFF_INSTRUCTIONS_MAX);
	}
	for (i = 0; i < core->num_variables; i++)
		if (core->variables[i].kind == TRN_NEFF_FILE && !core->variables[i].data)
			return neff_fail(place, NEFF_FIELD,
					 "%.64s: variables of kind file have data, but it is NULL",
					 core->variables[i].name);
	return 0;
}

const char *neff_program_name(const struct trn_neff *neff)
{
	return neff->name && *neff->name && neff_is_text(neff->name) ? neff->name : "program";
}

int neff_program_check(const struct neff_place *place, const struct trn_neff *neff)
{
	uint32_t i;
	int error = 0;

	if (!neff->num_cores || neff->num_cores > TRN_NEFF_CORES_MAX)
		error = neff_fail(place, NEFF_FIELD, "num_cores is %u, must be 1 to %d",
				  neff->num_cores, TRN_NEFF_CORES_MAX);
	for (i = 0; i < neff->num_cores && !error; i++) {
		error = neff_core_check(place, &neff->cores[i]);
		if (!error)
			error = check_content(place, &neff->cores[i]);
	}
	/* Whoever calls with what would be a bad file has made a mistake. */
	return error && error != -EFBIG ? -EINVAL : error;
}
