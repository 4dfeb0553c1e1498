/* SPDX-License-Identifier: MIT */
/* Tensor sets: the tables of bindings that executions of a program use. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_isa.h>

#include "program.h"

#define LLU(value) ((unsigned long long)(value))

/* ---- the table ------------------------------------------------------- */

/* Writes all bindings that a tensor has, on any core. */
static void write_bindings(struct trn_tensor_set *set, uint32_t tensor, uint64_t address,
			   uint64_t size)
{
	const struct program_layout *layout = &set->program->layout;
	const struct trn_binding binding = { htole64(address), htole64(size) };
	uint32_t p, v;

	for (p = 0; p < layout->num_parts; p++) {
		const struct program_part *part = &layout->parts[p];
		struct trn_binding *table =
			(struct trn_binding *)(set->table_pointer + part->table);

		for (v = 0; v < part->num_variables; v++)
			if (part->variables[v].tensor == tensor)
				table[v] = binding;
	}
}

/* Each core has the constants of its own. */
static void write_constants(struct trn_tensor_set *set)
{
	const struct program_layout *layout = &set->program->layout;
	uint32_t p, v;

	for (p = 0; p < layout->num_parts; p++) {
		const struct program_part *part = &layout->parts[p];
		struct trn_binding *table =
			(struct trn_binding *)(set->table_pointer + part->table);

		for (v = 0; v < part->num_variables; v++) {
			const struct program_variable *variable = &part->variables[v];
			const struct trn_tensor_info *info =
				&layout->tensors[variable->tensor].info;

			if (info->kind == TRN_NEFF_FILE)
				table[v] = (struct trn_binding){
					htole64(set->program->constant_address + variable->offset),
					htole64(info->size),
				};
		}
	}
}

static void write_table(struct trn_tensor_set *set, uint64_t temporary_address)
{
	const struct program_layout *layout = &set->program->layout;
	uint32_t i;

	write_constants(set);
	for (i = 0; i < layout->num_tensors; i++) {
		const struct program_tensor *tensor = &layout->tensors[i];
		const struct trn_tensor_info *info = &tensor->info;

		if (trn_tensor_is_bound_by_caller(info))
			set->missing++;
		else if (info->kind == TRN_NEFF_STATE_BUFFER)
			write_bindings(set, i, set->program->state_address + tensor->offset,
				       info->size);
		else if (info->kind == TRN_NEFF_TMP_BUF)
			write_bindings(set, i, temporary_address + tensor->offset, info->size);
	}
}

/* ---- making and unmaking --------------------------------------------- */

static int allocate(struct trn_tensor_set *set)
{
	struct trn_program *program = set->program;
	uint64_t address = 0;
	void *pointer = NULL;
	int error;

	error = trn_buffer_create(program->context, TRN_PLACEMENT_HOST, TRN_STACK_ANY,
				  program->layout.table_size, 0, &set->table);
	if (!error)
		error = trn_buffer_map(set->table, &pointer);
	if (!error)
		error = trn_program_allocate(program->context, "program's temporary memory",
					     &program->layout.temporary, &set->temporary, &address);
	if (error)
		return error;
	set->table_pointer = pointer;
	write_table(set, address);
	return 0;
}

static int free_set(struct trn_tensor_set *set)
{
	int error = trn_program_destroy_buffer(&set->table);
	uint32_t i;

	if (!error)
		error = trn_program_destroy_buffer(&set->temporary);
	if (error)
		return error;
	for (i = 0; i < set->program->layout.num_tensors; i++)
		if (set->bound[i])
			trn_buffer_release(set->bound[i]);
	free(set);
	return 0;
}

int trn_tensor_set_create(struct trn_program *program, struct trn_tensor_set **result)
{
	size_t bound = program->layout.num_tensors * sizeof(struct trn_buffer *);
	struct trn_tensor_set *set;
	int error = trn_device_check(program->context->device, "program");

	if (error)
		return error;
	set = calloc(1, sizeof(*set) + bound);
	if (!set)
		return trn_fail(-ENOMEM, "%.64s: no host memory", program->name);
	set->program = program;
	error = allocate(set);
	if (error) {
		free_set(set);
		return error;
	}
	__atomic_add_fetch(&program->sets, 1, __ATOMIC_RELAXED);
	*result = set;
	return 0;
}

int trn_tensor_set_destroy(struct trn_tensor_set *set)
{
	struct trn_program *program;
	int error;

	if (!set)
		return 0;
	program = set->program;
	error = trn_device_check(program->context->device, "tensor set");
	if (error)
		return error;
	error = free_set(set);
	if (!error)
		__atomic_sub_fetch(&program->sets, 1, __ATOMIC_RELEASE);
	return error;
}

/* ---- binding --------------------------------------------------------- */

static int find_tensor(const struct trn_program *program, const char *name,
		       const struct program_tensor **tensor)
{
	*tensor = trn_program_find(&program->layout, name);
	if (!*tensor)
		return trn_fail(-ENOENT,
				"%.64s: there is no tensor \"%.64s\": trn-neff info lists them",
				program->name, name);
	if (!trn_tensor_is_bound_by_caller(&(*tensor)->info))
		return trn_fail(-ENOENT,
				"%.64s: tensor \"%.64s\" is of kind %s, which the library gives "
				"memory: inputs and outputs can be bound",
				program->name, name, trn_neff_kind_name((*tensor)->info.kind));
	return 0;
}

static int check_buffer(const struct trn_program *program, const struct trn_tensor_info *info,
			const struct trn_buffer *buffer)
{
	const struct trn_device *device = program->context->device;

	if (!buffer)
		return trn_fail(-EINVAL, "%.64s: tensor \"%.64s\": buffer is NULL", program->name,
				info->name);
	if (buffer->context->device != device)
		return trn_fail(-EINVAL,
				"%.64s: tensor \"%.64s\": the buffer is of %s, but the program was "
				"loaded on %s: copy the data, or load the program there",
				program->name, info->name, buffer->context->device->node,
				device->node);
	if (buffer->context != program->context)
		return trn_fail(-EINVAL,
				"%.64s: tensor \"%.64s\": the buffer is of another context than "
				"the program: create it in the program's",
				program->name, info->name);
	if (!buffer->range)
		return trn_fail(-EINVAL,
				"%.64s: tensor \"%.64s\": the buffer has no address: create it "
				"without TRN_BUFFER_UNBOUND",
				program->name, info->name);
	if (info->kind == TRN_NEFF_OUTPUT && buffer->readonly)
		return trn_fail(-EACCES,
				"%.64s: tensor \"%.64s\" is an output, but the buffer is "
				"TRN_BUFFER_READONLY",
				program->name, info->name);
	return 0;
}

static int check_tensor(const struct trn_program *program, const struct trn_tensor_info *info,
			const struct trn_tensor *tensor)
{
	int error = check_buffer(program, info, tensor->buffer);

	if (error)
		return error;
	if (tensor->dtype != info->dtype) {
		const char *name = trn_neff_dtype_name(tensor->dtype);

		return trn_fail(-EINVAL, "%.64s: tensor \"%.64s\" is %s, not %s", program->name,
				info->name, trn_neff_dtype_name(info->dtype),
				name ? name : "a data type that does not exist");
	}
	if (tensor->size != info->size)
		return trn_fail(-EINVAL, "%.64s: tensor \"%.64s\" has %llu bytes, not %llu",
				program->name, info->name, LLU(info->size), LLU(tensor->size));
	if (tensor->offset > tensor->buffer->size ||
	    tensor->size > tensor->buffer->size - tensor->offset)
		return trn_fail(-EINVAL,
				"%.64s: tensor \"%.64s\": %llu bytes at offset %llu pass the end "
				"of a buffer of %llu",
				program->name, info->name, LLU(tensor->size), LLU(tensor->offset),
				LLU(tensor->buffer->size));
	if ((trn_buffer_address(tensor->buffer) + tensor->offset) & (info->alignment - 1))
		return trn_fail(-EINVAL,
				"%.64s: tensor \"%.64s\": its address, 0x%llx, must be a multiple "
				"of %llu: use another offset",
				program->name, info->name,
				LLU(trn_buffer_address(tensor->buffer) + tensor->offset),
				LLU(info->alignment));
	return 0;
}

int trn_tensor_set_bind(struct trn_tensor_set *set, const char *name,
			const struct trn_tensor *tensor)
{
	const struct trn_program *program = set->program;
	struct trn_buffer *buffer = tensor ? tensor->buffer : NULL, **bound;
	const struct program_tensor *found;
	uint64_t address = 0;
	uint32_t number;
	int error;

	error = trn_device_check(program->context->device, "tensor set");
	if (!error)
		error = find_tensor(program, name, &found);
	if (!error && tensor)
		error = check_tensor(program, &found->info, tensor);
	if (error)
		return error;
	number = (uint32_t)(found - program->layout.tensors);
	bound = &set->bound[number];
	if (tensor) {
		trn_buffer_hold(buffer);
		address = trn_buffer_address(buffer) + tensor->offset;
	}
	set->missing += !buffer - !*bound;
	if (*bound)
		trn_buffer_release(*bound);
	*bound = buffer;
	write_bindings(set, number, address, buffer ? found->info.size : 0);
	return 0;
}

/* ---- executions ------------------------------------------------------ */

static int fail_missing(const struct trn_tensor_set *set)
{
	const struct program_layout *layout = &set->program->layout;
	uint32_t i;

	for (i = 0; !trn_tensor_is_bound_by_caller(&layout->tensors[i].info) || set->bound[i]; i++)
		;
	return trn_fail(-EINVAL, "%.64s: %s \"%.64s\" has no memory: trn_tensor_set_bind() it",
			set->program->name, trn_neff_kind_name(layout->tensors[i].info.kind),
			layout->tensors[i].info.name);
}

int trn_tensor_set_check(const struct trn_tensor_set *set)
{
	const struct program_layout *layout = &set->program->layout;
	uint32_t i;

	if (set->missing)
		return fail_missing(set);
	for (i = 0; i < layout->num_tensors; i++)
		if (set->bound[i] && __atomic_load_n(&set->bound[i]->destroyed, __ATOMIC_ACQUIRE))
			return trn_fail(-EINVAL,
					"%.64s: the buffer of tensor \"%.64s\" was destroyed: bind "
					"another",
					set->program->name, layout->tensors[i].info.name);
	return 0;
}

int trn_tensor_set_result(struct trn_tensor_set *set, uint32_t part,
			  struct trn_execution_result *result)
{
	const struct trn_program *program = set->program;
	struct trn_exec_result written;
	int error = trn_device_check(program->context->device, "tensor set");
	uint32_t i;

	if (error)
		return error;
	if (part >= program->layout.num_parts)
		return trn_fail(-EINVAL, "%.64s: part %u is not 0 to %u", program->name, part,
				program->layout.num_parts - 1);
	memcpy(&written, set->table_pointer + program->layout.parts[part].result, sizeof(written));
	/* Zero until the device writes it. */
	if (!written.end_ns)
		return trn_fail(-ENODATA, "%.64s: no execution of part %u has ended", program->name,
				part);
	*result = (struct trn_execution_result){
		.begin_ns = le64toh(written.begin_ns),
		.end_ns = le64toh(written.end_ns),
		.picoseconds = le64toh(written.picoseconds),
		.cycles = le64toh(written.cycles),
		.dma_bytes = le64toh(written.dma_bytes),
		.instructions = le64toh(written.instructions),
		.profile_records = le64toh(written.profile_records),
		.core = le16toh(written.core),
	};
	for (i = 0; i < TRN_ENGINES; i++)
		result->busy_cycles[i] = le64toh(written.busy_cycles[i]);
	return 0;
}
