/* SPDX-License-Identifier: MIT */
/* Executions: packets of a queue. */
#include <errno.h>
#include <string.h>

#include <hw/trn_isa.h>
#include <hw/trn_queue.h>

#include "../structure.h"
#include "program.h"

#define LLU(value) ((unsigned long long)(value))

/* Of struct trn_execution in its first version. */
#define FIRST_SIZE                                                                                 \
	(offsetof(struct trn_execution, syncs) + sizeof(((struct trn_execution *)0)->syncs))

static int check_queue(const struct trn_queue *queue, const struct trn_program *program)
{
	int error = trn_device_check(queue->context->device, "queue");

	if (error)
		return error;
	if (queue->type != TRN_QUEUE_EXEC)
		return trn_fail(-EINVAL,
				"%.64s: queue %u moves data: execute on a queue of type "
				"TRN_QUEUE_EXEC",
				program->name, queue->id);
	if (queue->context != program->context)
		return trn_fail(-EINVAL, "%.64s: queue %u is of another context than the program",
				program->name, queue->id);
	return 0;
}

/* Checks which parts, and says how many. */
static int check_parts(const struct trn_program *program, struct trn_execution *execution)
{
	const struct trn_device_info *info = &program->context->device->info;
	uint32_t parts = program->layout.num_parts, i;

	if (execution->first_part >= parts || execution->num_parts > parts - execution->first_part)
		return trn_fail(-EINVAL, "%.64s: parts %u to %llu are not all of 0 to %u",
				program->name, execution->first_part,
				LLU(execution->first_part) + execution->num_parts -
					!!execution->num_parts,
				parts - 1);
	if (!execution->num_parts)
		execution->num_parts = parts - execution->first_part;
	for (i = 0; execution->cores && i < execution->num_parts; i++)
		if (execution->cores[i] >= info->cores && execution->cores[i] != TRN_CORE_ANY)
			return trn_fail(-EINVAL, "%.64s: core %u is not 0 to %u or TRN_CORE_ANY",
					program->name, execution->cores[i], info->cores - 1);
	return 0;
}

static int check_profile(const struct trn_program *program, const struct trn_execution *execution)
{
	const struct trn_buffer *buffer = execution->profile;
	uint64_t offset = execution->profile_offset, size = execution->profile_size;

	if (!buffer)
		return 0;
	if (buffer->context != program->context || !buffer->range)
		return trn_fail(-EINVAL,
				"%.64s: profile: the buffer is not of the program's context, or "
				"has no address",
				program->name);
	if (buffer->readonly)
		return trn_fail(-EINVAL, "%.64s: profile: the buffer is TRN_BUFFER_READONLY",
				program->name);
	if (offset % 8 || size % sizeof(struct trn_profile_record))
		return trn_fail(-EINVAL,
				"%.64s: profile: offset %llu is not a multiple of 8, or size %llu "
				"not of %zu",
				program->name, LLU(offset), LLU(size),
				sizeof(struct trn_profile_record));
	if (offset > buffer->size || size > (buffer->size - offset) / execution->num_parts)
		return trn_fail(-EINVAL,
				"%.64s: profile: %u times %llu bytes at offset %llu pass the end "
				"of a buffer of %llu",
				program->name, execution->num_parts, LLU(size), LLU(offset),
				LLU(buffer->size));
	return 0;
}

static void put_part(struct trn_queue *queue, const struct trn_tensor_set *set,
		     const struct trn_execution *execution, uint32_t index)
{
	const struct trn_program *program = set->program;
	const struct program_part *part = &program->layout.parts[execution->first_part + index];
	uint64_t table = trn_buffer_address(set->table);
	struct trn_exec exec = {
		.program = program->constant_address + part->image,
		.bindings = table + part->table,
		.num_bindings = part->num_variables,
		.core = execution->cores ? execution->cores[index] : TRN_CORE_ANY,
		.seed = execution->seed,
		.result = table + part->result,
	};

	if (execution->profile && execution->profile_size) {
		exec.profile = trn_buffer_address(execution->profile) + execution->profile_offset +
			       index * execution->profile_size;
		exec.profile_size = execution->profile_size;
	}
	trn_packet_exec(trn_queue_packet(queue), &exec);
}

int trn_execute_async(struct trn_queue *queue, struct trn_tensor_set *set,
		      const struct trn_execution *given, uint64_t *sequence)
{
	static const struct trn_execution plain = { .size = sizeof(plain) };
	const struct trn_program *program = set->program;
	struct trn_execution execution;
	uint32_t i;
	int error;

	error = check_queue(queue, program);
	if (!error)
		error = trn_structure_read("execution", "struct trn_execution",
					   given ? given : &plain, FIRST_SIZE, &execution,
					   sizeof(execution));
	if (!error)
		error = check_parts(program, &execution);
	if (!error)
		error = check_profile(program, &execution);
	if (!error)
		error = trn_tensor_set_check(set);
	if (!error)
		error = trn_queue_reserve(queue, execution.num_parts, TRN_FOREVER);
	if (error)
		return error;
	for (i = 0; i < execution.num_parts; i++)
		put_part(queue, set, &execution, i);
	if (execution.sync_count)
		return trn_queue_submit_syncs(queue, execution.syncs, execution.sync_count,
					      sequence);
	return trn_queue_submit(queue, sequence);
}

int trn_execute(struct trn_queue *queue, struct trn_tensor_set *set,
		const struct trn_execution *execution)
{
	uint64_t sequence;
	int error = trn_execute_async(queue, set, execution, &sequence);

	return error ? error : trn_queue_wait(queue, sequence, TRN_FOREVER);
}
