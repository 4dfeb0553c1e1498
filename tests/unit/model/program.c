// SPDX-License-Identifier: MIT
#include "program.h"

#include <string.h>

#include "tools/vdev/model/core/dtype.h"

#define IMAGE_SIZE    (sizeof(struct trn_program_header) + sizeof(((struct program *)0)->stream))
#define BINDINGS_VA   0x800000ULL
#define BINDINGS_SIZE 4096
#define RESULT_OFFSET 2048 /* in the page of bindings */

static void *map(struct program *program, uint64_t va, size_t size)
{
	uint64_t dma = rig_alloc(program->rig, size);

	rig_map(program->rig, &program->space, va, TRN_PTE_TARGET_HOST, dma,
		(size + 4095) & ~UINT64_C(4095));
	return rig_pointer(program->rig, dma);
}

void program_create(struct program *program, struct rig *rig, uint16_t id)
{
	*program = (struct program){ .rig = rig, .core = 0 };
	rig_space_create(rig, &program->space, id);
	program->image = map(program, PROGRAM_VA, IMAGE_SIZE);
	program->data = map(program, PROGRAM_DATA_VA, PROGRAM_DATA_SIZE);
	program->bindings = map(program, BINDINGS_VA, BINDINGS_SIZE);
	program->bindings[0] = (struct trn_binding){ .address = htole64(PROGRAM_DATA_VA),
						     .size = htole64(PROGRAM_DATA_SIZE) };
	program->result = (struct trn_exec_result *)((uint8_t *)program->bindings + RESULT_OFFSET);
	rig_exec_queue_create(rig, &program->queue, id, &program->space);
}

void program_clear(struct program *program)
{
	memset(program->length, 0, sizeof(program->length));
}

struct trn_instruction *program_add(struct program *program, unsigned int engine,
				    struct trn_instruction instruction)
{
	struct trn_instruction *added = &program->stream[engine][program->length[engine]++];

	ck_assert_uint_lt(program->length[engine], PROGRAM_LENGTH_MAX);
	*added = instruction;
	return added;
}

struct trn_packet program_packet(struct program *program)
{
	struct trn_program_header header = {
		.magic = htole32(TRN_PROGRAM_MAGIC),
		.version = htole32(TRN_PROGRAM_VERSION),
	};
	uint64_t size = sizeof(header);

	for (unsigned int engine = 0; engine < TRN_ENGINES; engine++) {
		size_t bytes;

		if (program->length[engine])
			program_add(program, engine,
				    (struct trn_instruction){ .opcode = TRN_OP_HALT });
		bytes = program->length[engine] * sizeof(struct trn_instruction);
		memcpy(program->image + size, program->stream[engine], bytes);
		header.instructions[engine] = htole32(program->length[engine]);
		size += bytes;
	}
	header.size = htole64(size);
	memcpy(program->image, &header, sizeof(header));
	return (struct trn_packet){
		.opcode = TRN_PACKET_EXEC,
		.exec = {
			.program = htole64(PROGRAM_VA),
			.bindings = htole64(BINDINGS_VA),
			.num_bindings = htole32(1),
			.core = htole16(program->core),
			.seed = htole64(program->seed),
			.result = htole64(BINDINGS_VA + RESULT_OFFSET),
		},
	};
}

void program_run(struct program *program)
{
	rig_execute(program->rig, &program->queue, program_packet(program));
}

void program_runs(struct program *program)
{
	program_run(program);
	if (rig_state(program->rig, &program->queue) != TRN_QUEUE_RUNNING) {
		struct trn_event event = rig_last_event(program->rig);

		ck_abort_msg("stopped with reason %u, exception %u of engine %u, instruction %u",
			     event.reason, event.exception, event.engine,
			     le32toh(event.instruction));
	}
	ck_assert_uint_eq(rig_head(&program->queue), program->queue.tail);
}

void program_fails(struct program *program, uint8_t exception, unsigned int engine,
		   uint32_t instruction)
{
	const struct trn_log_queue *log;
	struct trn_event event;

	program_run(program);
	rig_assert_stopped(program->rig, &program->queue, TRN_STOP_PROGRAM);
	event = rig_last_event(program->rig);
	ck_assert_uint_eq(event.exception, exception);
	ck_assert_uint_eq(event.engine, engine);
	ck_assert_uint_eq(le32toh(event.instruction), instruction);
	log = rig_log(program->rig, TRN_LOG_QUEUE, program->queue.id);
	ck_assert_uint_eq(log->reason, event.reason);
	ck_assert_uint_eq(log->exception, exception);
	ck_assert_uint_eq(log->engine, engine);
	ck_assert_uint_eq(le32toh(log->instruction), instruction);
}

struct trn_access_pattern program_tile(uint32_t place, uint8_t partition, uint8_t dtype,
				       unsigned int i, unsigned int j)
{
	return (struct trn_access_pattern){
		.place = htole32(place),
		.partition = partition,
		.dtype = dtype,
		.step = { htole16(1), htole16((uint16_t)i), htole16((uint16_t)(i * j)) },
	};
}

struct trn_instruction program_element(uint8_t opcode, uint8_t partitions, unsigned int count,
				       struct trn_access_pattern out, struct trn_access_pattern in)
{
	return (struct trn_instruction){
		.opcode = opcode,
		.element = {
			.partitions = partitions,
			.size = { htole16((uint16_t)count), htole16(1), htole16(1) },
			.out = out,
			.in = { in },
		},
	};
}

struct trn_instruction program_transfer(uint8_t opcode, uint8_t partitions, unsigned int count,
					struct trn_access_pattern local, uint64_t offset)
{
	uint32_t size = trn_dtype(local.dtype)->size;

	return (struct trn_instruction){
		.opcode = opcode,
		.dma = {
			.partitions = partitions,
			.size = { htole16((uint16_t)count), htole16(1), htole16(1) },
			.local = local,
			.stride = { htole32(count * size), htole32(size) },
			.dtype = local.dtype,
			.offset = htole64(offset),
		},
	};
}

void program_acquire(struct trn_instruction *instruction, uint8_t semaphore, uint8_t count)
{
	instruction->acquire = semaphore;
	instruction->acquire_count = count;
}

void program_release(struct trn_instruction *instruction, uint8_t semaphore, uint8_t count)
{
	instruction->release = semaphore;
	instruction->release_count = count;
}
