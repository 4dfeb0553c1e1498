/* SPDX-License-Identifier: MIT */
/* The tensors of a program, and where in memory everything of it goes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_isa.h>

#include "program.h"

/* Of images, and of what the host and the device write in a table. */
#define LINE 64

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) & -alignment;
}

/* Takes room for @size bytes, and returns their offset. */
static uint64_t take(struct program_room *room, uint64_t size, uint64_t alignment)
{
	uint64_t offset = round_up(room->size, alignment);

	if (alignment > room->alignment)
		room->alignment = alignment;
	room->size = offset + size;
	return offset;
}

static uint32_t find(const struct program_layout *layout, const char *name)
{
	uint32_t i;

	for (i = 0; i < layout->num_tensors; i++)
		if (!strcmp(layout->tensors[i].info.name, name))
			break;
	return i;
}

const struct program_tensor *trn_program_find(const struct program_layout *layout, const char *name)
{
	uint32_t i = find(layout, name);

	return i < layout->num_tensors ? &layout->tensors[i] : NULL;
}

static bool is_alike(const struct trn_tensor_info *info, const struct trn_neff_variable *variable)
{
	return info->kind == variable->kind && info->dtype == variable->dtype &&
	       info->dimensions == variable->dimensions &&
	       !memcmp(info->shape, variable->shape,
		       variable->dimensions * sizeof(variable->shape[0]));
}

/* The tensor of a variable, which is another core's too or is made. */
static int add_tensor(const char *name, const struct trn_neff_variable *variable,
		      struct program_layout *layout, uint32_t *number)
{
	struct trn_tensor_info *info;

	*number = find(layout, variable->name);
	info = &layout->tensors[*number].info;
	if (*number < layout->num_tensors) {
		if (!is_alike(info, variable))
			return trn_fail(-EBADMSG,
					"%.64s: tensor \"%.64s\" has another kind, data type or "
					"shape on one core than on another: give them two names",
					name, variable->name);
		if (variable->alignment > info->alignment)
			info->alignment = variable->alignment;
		return 0;
	}
	*info = (struct trn_tensor_info){
		.name = strdup(variable->name),
		.kind = variable->kind,
		.dtype = variable->dtype,
		.dimensions = variable->dimensions,
		.size = variable->size,
		.alignment = variable->alignment,
	};
	if (!info->name)
		return trn_fail(-ENOMEM, "%.64s: no host memory", name);
	memcpy(info->shape, variable->shape, variable->dimensions * sizeof(info->shape[0]));
	layout->num_tensors++;
	return 0;
}

static int make_part(const char *name, const struct trn_neff_core *core,
		     struct program_layout *layout, struct program_part *part)
{
	uint32_t i;
	int error = 0;

	part->variables = calloc(core->num_variables + 1, sizeof(part->variables[0]));
	if (!part->variables)
		return trn_fail(-ENOMEM, "%.64s: no host memory", name);
	part->num_variables = core->num_variables;
	part->image = take(&layout->constant, trn_program_image_size(core), LINE);
	for (i = 0; i < core->num_variables && !error; i++) {
		const struct trn_neff_variable *variable = &core->variables[i];

		error = add_tensor(name, variable, layout, &part->variables[i].tensor);
		if (variable->kind == TRN_NEFF_FILE)
			part->variables[i].offset =
				take(&layout->constant, variable->size, variable->alignment);
	}
	part->table = round_up(layout->table_size, LINE);
	part->result =
		round_up(part->table + part->num_variables * sizeof(struct trn_binding), LINE);
	layout->table_size = part->result + sizeof(struct trn_exec_result);
	return error;
}

/* When alignments are known, which any core may have raised. */
static void place_tensors(struct program_layout *layout)
{
	uint32_t i;

	for (i = 0; i < layout->num_tensors; i++) {
		struct program_tensor *tensor = &layout->tensors[i];
		const struct trn_tensor_info *info = &tensor->info;

		if (info->kind == TRN_NEFF_STATE_BUFFER)
			tensor->offset = take(&layout->state, info->size, info->alignment);
		else if (info->kind == TRN_NEFF_TMP_BUF)
			tensor->offset = take(&layout->temporary, info->size, info->alignment);
	}
}

int trn_program_layout(const char *name, const struct trn_neff *neff, struct program_layout *layout)
{
	uint32_t variables = 0, i;
	int error = 0;

	*layout = (struct program_layout){ .num_parts = neff->num_cores };
	for (i = 0; i < neff->num_cores; i++)
		variables += neff->cores[i].num_variables;
	layout->tensors = calloc(variables + 1, sizeof(layout->tensors[0]));
	layout->parts = calloc(layout->num_parts, sizeof(layout->parts[0]));
	if (!layout->tensors || !layout->parts)
		error = trn_fail(-ENOMEM, "%.64s: no host memory", name);
	for (i = 0; i < neff->num_cores && !error; i++)
		error = make_part(name, &neff->cores[i], layout, &layout->parts[i]);
	if (!error)
		place_tensors(layout);
	return error;
}

void trn_program_layout_free(struct program_layout *layout)
{
	uint32_t i;

	for (i = 0; i < layout->num_tensors; i++)
		free((char *)layout->tensors[i].info.name);
	for (i = 0; layout->parts && i < layout->num_parts; i++)
		free(layout->parts[i].variables);
	free(layout->tensors);
	free(layout->parts);
}
