/* SPDX-License-Identifier: MIT */
/* Programs into device memory, and out of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../neff/neff.h"
#include "program.h"

/* ---- memory ---------------------------------------------------------- */

/* With what it takes to align it: buffers begin at a page. */
static uint64_t room_bytes(const struct trn_context *context, const struct program_room *room)
{
	uint64_t page = context->device->info.page_size;

	return room->alignment > page ? room->size + room->alignment - page : room->size;
}

int trn_program_allocate(struct trn_context *context, const char *what,
			 const struct program_room *room, struct trn_buffer **buffer,
			 uint64_t *address)
{
	int error;

	*buffer = NULL;
	if (!room->size)
		return 0;
	error = trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY,
				  room_bytes(context, room), 0, buffer);
	if (error)
		return error;
	*address = (trn_buffer_address(*buffer) + room->alignment - 1) & -room->alignment;
	/* For people; a program runs without. */
	trn_buffer_set_name(*buffer, what);
	return 0;
}

int trn_program_destroy_buffer(struct trn_buffer **buffer)
{
	int error = trn_buffer_destroy(*buffer);

	if (!error)
		*buffer = NULL;
	return error;
}

/* ---- content --------------------------------------------------------- */

static int write_constant(struct trn_queue *queue, struct trn_program *program, uint64_t offset,
			  const void *data, uint64_t size)
{
	uint64_t start = program->constant_address - trn_buffer_address(program->constant);

	return trn_write(queue, program->constant, start + offset, data, size);
}

static int write_image(struct trn_queue *queue, struct trn_program *program,
		       const struct trn_neff_core *core, const struct program_part *part)
{
	uint64_t size = trn_program_image_size(core);
	uint8_t *image = malloc(size);
	int error;

	if (!image)
		return trn_fail(-ENOMEM, "%.64s: no host memory", program->name);
	trn_program_image(core, image);
	error = write_constant(queue, program, part->image, image, size);
	free(image);
	return error;
}

static int write_part(struct trn_queue *queue, struct trn_program *program,
		      const struct trn_neff_core *core, const struct program_part *part)
{
	uint32_t i;
	int error = write_image(queue, program, core, part);

	for (i = 0; i < core->num_variables && !error; i++) {
		const struct trn_neff_variable *variable = &core->variables[i];

		if (variable->kind == TRN_NEFF_FILE)
			error = write_constant(queue, program, part->variables[i].offset,
					       variable->data, variable->size);
	}
	return error;
}

/* Buffers are born zero, so that state needs nothing. */
static int fill_memory(struct trn_queue *queue, struct trn_program *program,
		       const struct trn_neff *neff)
{
	struct program_layout *layout = &program->layout;
	uint32_t i;
	int error;

	error = trn_program_allocate(program->context, "program", &layout->constant,
				     &program->constant, &program->constant_address);
	if (!error)
		error = trn_program_allocate(program->context, "program's state", &layout->state,
					     &program->state, &program->state_address);
	for (i = 0; i < neff->num_cores && !error; i++)
		error = write_part(queue, program, &neff->cores[i], &layout->parts[i]);
	/* A program that goes wrong must not change what other executions use. */
	if (!error)
		error = trn_buffer_protect(program->constant);
	return error;
}

/* ---- programs -------------------------------------------------------- */

static void describe(struct trn_program *program, const struct trn_neff *neff)
{
	const struct program_layout *layout = &program->layout;

	program->info = (struct trn_program_info){
		.name = neff->name && *neff->name ? program->name : "",
		.parts = layout->num_parts,
		.tensors = layout->num_tensors,
		.has_state = layout->state.size,
		.device_size = room_bytes(program->context, &layout->constant) +
			       room_bytes(program->context, &layout->state),
		.set_size = room_bytes(program->context, &layout->temporary),
	};
	memcpy(program->info.uuid, neff->uuid, sizeof(neff->uuid));
}

static int free_program(struct trn_program *program)
{
	int error = trn_program_destroy_buffer(&program->constant);

	if (!error)
		error = trn_program_destroy_buffer(&program->state);
	if (error)
		return error;
	trn_program_layout_free(&program->layout);
	free(program->name);
	free(program);
	return 0;
}

static int load(struct trn_queue *queue, const struct trn_neff *neff, const char *name,
		struct trn_program **result)
{
	struct trn_program *program = calloc(1, sizeof(*program));
	int error = -ENOMEM;

	if (!program)
		return trn_fail(error, "%.64s: no host memory", name);
	program->context = queue->context;
	program->name = strdup(name);
	if (program->name)
		error = trn_program_layout(name, neff, &program->layout);
	else
		trn_fail(error, "%.64s: no host memory", name);
	if (!error)
		error = fill_memory(queue, program, neff);
	if (error) {
		free_program(program);
		return error;
	}
	describe(program, neff);
	*result = program;
	return 0;
}

static int check_queue(const struct trn_queue *queue)
{
	int error = trn_device_check(queue->context->device, "queue");

	if (error)
		return error;
	if (queue->type != TRN_QUEUE_DMA)
		return trn_fail(-EINVAL,
				"queue %u executes programs: load them with a queue of type DMA",
				queue->id);
	return 0;
}

int trn_program_load(struct trn_queue *queue, const struct trn_neff *neff,
		     struct trn_program **program)
{
	const char *name = neff_program_name(neff);
	const struct neff_place place = { name, NULL };
	const struct trn_device *device = queue->context->device;
	int error;

	error = check_queue(queue);
	if (!error)
		error = neff_program_check(&place, neff);
	if (!error)
		error = trn_program_check_chip(name, neff, device->node, &device->info);
	return error ? error : load(queue, neff, name, program);
}

int trn_program_load_file(struct trn_queue *queue, const char *path, struct trn_program **program)
{
	const struct trn_neff *neff;
	int error = check_queue(queue);

	if (!error)
		error = trn_neff_open(path, &neff);
	if (error)
		return error;
	error = trn_program_load(queue, neff, program);
	trn_neff_close(neff);
	return error;
}

int trn_program_unload(struct trn_program *program)
{
	unsigned int sets;
	int error;

	if (!program)
		return 0;
	error = trn_device_check(program->context->device, "program");
	if (error)
		return error;
	sets = __atomic_load_n(&program->sets, __ATOMIC_ACQUIRE);
	if (sets)
		return trn_fail(-EBUSY, "%.64s: it has %u tensor sets: destroy them first",
				program->name, sets);
	return free_program(program);
}

const struct trn_program_info *trn_program_info(const struct trn_program *program)
{
	return &program->info;
}

const struct trn_tensor_info *trn_program_tensor(const struct trn_program *program, uint32_t index)
{
	return index < program->layout.num_tensors ? &program->layout.tensors[index].info : NULL;
}

const struct trn_tensor_info *trn_program_find_tensor(const struct trn_program *program,
						      const char *name)
{
	const struct program_tensor *tensor = trn_program_find(&program->layout, name);

	return tensor ? &tensor->info : NULL;
}
