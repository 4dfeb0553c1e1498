// SPDX-License-Identifier: MIT
#include "core.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../shared.h"
#include "../state.h"
#include "execute.h"
#include "memory.h"
#include "time.h"

/* About how long a turn of a program is, ns. */
#define TURN_WORK    100000
/* Instruction and its way through the scheduler, ns. */
#define ISSUE_WORK   200

/* So that the same column of all partitions is not in the same set of the host's caches. */
#define STRIDE_EXTRA 192

/* ---- memories ---------------------------------------------------------- */

static uint8_t *map_memory(size_t stride)
{
	void *memory = mmap(NULL, stride * TRN_PARTITIONS, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int trn_core_init(struct trn_core *core, struct trn_chip *chip, uint16_t number)
{
	const struct trn_generation *generation = chip->config.generation;

	*core = (struct trn_core){
		.chip = chip,
		.number = number,
		.sbuf_size = generation->sbuf_size / TRN_PARTITIONS,
		.psum_size = generation->psum_size / TRN_PARTITIONS,
	};
	core->sbuf_stride = core->sbuf_size + STRIDE_EXTRA;
	core->psum_stride = core->psum_size + STRIDE_EXTRA;
	core->sbuf = map_memory(core->sbuf_stride);
	core->psum = map_memory(core->psum_stride);
	core->stationary.values =
		malloc(sizeof(float) * TRN_PARTITIONS * TRN_PACK_MAX * TRN_STATIONARY_COLUMNS);
	core->moving = malloc(sizeof(float) * TRN_PARTITIONS * TRN_PACK_MAX * TRN_MOVING_COLUMNS);
	core->sums = malloc(sizeof(float) * TRN_STATIONARY_COLUMNS * TRN_MOVING_COLUMNS);
	core->keys = malloc(sizeof(*core->keys) * TRN_ELEMENTS_MAX);
	core->binding = calloc(TRN_BINDINGS_MAX, sizeof(*core->binding));
	if (core->sbuf && core->psum && core->stationary.values && core->moving && core->sums &&
	    core->keys && core->binding)
		return 0;
	trn_core_free(core);
	return -ENOMEM;
}

void trn_core_free(struct trn_core *core)
{
	if (core->sbuf)
		munmap(core->sbuf, core->sbuf_stride * TRN_PARTITIONS);
	if (core->psum)
		munmap(core->psum, core->psum_stride * TRN_PARTITIONS);
	free(core->stationary.values);
	free(core->moving);
	free(core->sums);
	free(core->keys);
	free(core->binding);
	*core = (struct trn_core){ 0 };
}

void trn_core_scrub(struct trn_core *core)
{
	/* Pages that nobody has touched need not be written. */
	madvise(core->sbuf, core->sbuf_stride * TRN_PARTITIONS, MADV_DONTNEED);
	madvise(core->psum, core->psum_stride * TRN_PARTITIONS, MADV_DONTNEED);
	core->owner = 0;
}

void trn_core_reset(struct trn_core *core)
{
	if (core->owner)
		trn_core_scrub(core);
	trn_core_end(core);
	memset(core->engine, 0, sizeof(core->engine));
	memset(core->semaphore, 0, sizeof(core->semaphore));
	core->used = false;
}

/* ---- how a program ends -------------------------------------------------- */

bool trn_core_raise(struct trn_core *core, uint8_t exception)
{
	core->exception = exception;
	return false;
}

bool trn_core_fault(struct trn_core *core, const struct trn_fault *fault)
{
	core->fault = *fault;
	core->faulted = true;
	return false;
}

static enum trn_core_end failed(const struct trn_core *core)
{
	return core->faulted ? TRN_CORE_FAULT : TRN_CORE_EXCEPTION;
}

void trn_core_end(struct trn_core *core)
{
	core->running = false;
	core->current = NULL;
}

/* ---- a program begins ------------------------------------------------------ */

static bool read_program(struct trn_core *core, uint64_t va)
{
	struct trn_program_header program;
	uint64_t size = sizeof(program);

	if (!trn_core_access(core, va, &program, sizeof(program), TRN_ACCESS_FETCH))
		return false;
	for (int i = 0; i < TRN_ENGINES; i++) {
		uint32_t length = le32toh(program.instructions[i]);

		core->engine[i] = (struct trn_engine){
			.state = length ? TRN_ENGINE_READY : TRN_ENGINE_HALTED,
			.stream = va + size,
			.length = length,
		};
		size += (uint64_t)length * sizeof(struct trn_instruction);
	}
	if (le32toh(program.magic) != TRN_PROGRAM_MAGIC ||
	    le32toh(program.version) != TRN_PROGRAM_VERSION || le64toh(program.size) != size ||
	    !trn_all_zero(program.reserved, sizeof(program.reserved)) || va + size < va)
		return trn_core_raise(core, TRN_EXCEPTION_PROGRAM);
	return true;
}

bool trn_core_begin(struct trn_core *core, const struct trn_queue *queue)
{
	const struct trn_packet *packet = &queue->packet;

	if (core->owner && core->owner != queue->asid)
		trn_core_scrub(core);
	core->running = true;
	core->used = true;
	core->queue = queue->id;
	core->packet = queue->head;
	core->asid = queue->asid;
	core->owner = queue->asid;
	core->seed = le64toh(packet->exec.seed);
	core->bindings = le32toh(packet->exec.num_bindings);
	memset(core->engine, 0, sizeof(core->engine));
	memset(core->semaphore, 0, sizeof(core->semaphore));
	memset(core->ring, 0, sizeof(core->ring));
	core->releases = 0;
	core->stationary.loaded = false;
	core->begin_ns = core->chip->now;
	core->now_ps = 0;
	core->dma_bytes = 0;
	core->profile_va = le64toh(packet->exec.profile);
	core->profile_room = le64toh(packet->exec.profile_size) / sizeof(struct trn_profile_record);
	core->profile_records = 0;
	core->current = NULL;
	core->exception = 0;
	core->faulted = false;
	return read_program(core, le64toh(packet->exec.program)) &&
	       trn_core_access(core, le64toh(packet->exec.bindings), core->binding,
			       core->bindings * sizeof(*core->binding), TRN_ACCESS_READ);
}

/* ---- semaphores -------------------------------------------------------------- */

static bool before(const struct trn_release *a, const struct trn_release *b)
{
	return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->order < b->order;
}

static void add_release(struct trn_core *core, const struct trn_instruction *instruction,
			uint64_t at_ps)
{
	const struct trn_release release = {
		.at_ps = at_ps,
		.order = core->release_order++,
		.instruction = core->current->pc,
		.engine = (uint8_t)(core->current - core->engine),
		.semaphore = instruction->release,
		.count = instruction->release_count,
	};
	unsigned int i = core->releases++;

	while (i && before(&release, &core->release[(i - 1) / 2])) {
		core->release[i] = core->release[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	core->release[i] = release;
}

static struct trn_release take_release(struct trn_core *core)
{
	const struct trn_release first = core->release[0];
	const struct trn_release last = core->release[--core->releases];
	unsigned int i = 0, child;

	while ((child = 2 * i + 1) < core->releases) {
		if (child + 1 < core->releases &&
		    before(&core->release[child + 1], &core->release[child]))
			child++;
		if (!before(&core->release[child], &last))
			break;
		core->release[i] = core->release[child];
		i = child;
	}
	core->release[i] = last;
	return first;
}

static bool acquire(struct trn_core *core, const struct trn_instruction *instruction)
{
	uint32_t *semaphore = &core->semaphore[instruction->acquire];

	if (*semaphore < instruction->acquire_count)
		return false;
	*semaphore -= instruction->acquire_count;
	return true;
}

/* Engines that wait for the semaphore try again. */
static void wake(struct trn_core *core, uint8_t semaphore)
{
	for (int i = 0; i < TRN_ENGINES; i++) {
		struct trn_engine *engine = &core->engine[i];

		if (engine->state == TRN_ENGINE_WAITING &&
		    engine->instruction.acquire == semaphore) {
			engine->state = TRN_ENGINE_READY;
			engine->ready_ps = core->now_ps;
		}
	}
}

static bool do_release(struct trn_core *core)
{
	const struct trn_release release = take_release(core);
	uint32_t *semaphore = &core->semaphore[release.semaphore];

	core->now_ps = release.at_ps;
	if (!release.count)
		return true;
	if (*semaphore + release.count > TRN_SEMAPHORE_MAX) {
		/* The engine may have gone on since. */
		core->current = &core->engine[release.engine];
		core->current->pc = release.instruction;
		return trn_core_raise(core, TRN_EXCEPTION_SEMAPHORE_OVERFLOW);
	}
	*semaphore += release.count;
	wake(core, release.semaphore);
	return true;
}

/* ---- what happens next ------------------------------------------------------- */

static struct trn_engine *next_engine(struct trn_core *core)
{
	struct trn_engine *next = NULL;

	for (int i = 0; i < TRN_ENGINES; i++) {
		struct trn_engine *engine = &core->engine[i];

		if (engine->state == TRN_ENGINE_READY &&
		    (!next || engine->ready_ps < next->ready_ps))
			next = engine;
	}
	return next;
}

static bool fetch(struct trn_core *core, struct trn_engine *engine)
{
	if (engine->fetched)
		return true;
	if (engine->pc >= engine->length)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_TARGET);
	engine->fetched = trn_core_access(
		core, engine->stream + (uint64_t)engine->pc * sizeof(engine->instruction),
		&engine->instruction, sizeof(engine->instruction), TRN_ACCESS_FETCH);
	return engine->fetched && trn_instruction_check(core, engine);
}

/* The engine's next instruction, which it may have to wait for. */
static bool issue(struct trn_core *core, struct trn_engine *engine)
{
	uint64_t room_ps;

	core->now_ps = engine->ready_ps;
	core->current = engine;
	core->work += ISSUE_WORK;
	if (!fetch(core, engine))
		return false;
	room_ps = trn_ring_room_ps(core, &engine->instruction);
	if (room_ps > core->now_ps) {
		engine->ready_ps = room_ps;
		core->current = NULL;
		return true;
	}
	if (!acquire(core, &engine->instruction)) {
		engine->state = TRN_ENGINE_WAITING;
		core->current = NULL;
		return true;
	}
	core->row = 0;
	core->issued_ns = core->chip->now;
	return trn_instruction_prepare(core, &engine->instruction);
}

/* Writes the current instruction's record, if there is room for it. */
static bool profile(struct trn_core *core, uint64_t begin_ps, uint64_t end_ps)
{
	const struct trn_engine *engine = core->current;
	struct trn_profile_record record = {
		.instruction = htole32(engine->pc),
		.engine = (uint8_t)(engine - core->engine),
		.opcode = engine->instruction.opcode,
		.ring = core->execution.transfer_ps ? engine->instruction.dma.ring
						    : TRN_PROFILE_NO_RING,
		.begin_ps = htole64(begin_ps),
		.end_ps = htole64(end_ps),
		.begin_ns = htole32((uint32_t)(core->issued_ns - core->begin_ns)),
		.end_ns = htole32((uint32_t)(core->chip->now - core->begin_ns)),
	};
	uint64_t number = core->profile_records++;

	return number >= core->profile_room ||
	       trn_core_access(core, core->profile_va + number * sizeof(record), &record,
			       sizeof(record), TRN_ACCESS_WRITE);
}

/* The current instruction has been executed. */
static bool finish(struct trn_core *core)
{
	const struct trn_execution *execution = &core->execution;
	struct trn_engine *engine = core->current;
	const struct trn_instruction *instruction = &engine->instruction;
	uint64_t busy_ps = trn_cycles_ps(core, engine, execution->cycles);
	uint64_t complete_ps = engine->ready_ps + busy_ps + trn_depth_ps(core, engine, instruction);
	uint64_t begin_ps, end_ps;

	if (engine->complete_ps < complete_ps)
		engine->complete_ps = complete_ps;
	end_ps = engine->complete_ps;
	begin_ps = engine->ready_ps;
	if (execution->transfer_ps) {
		end_ps = trn_ring_add(core, instruction, execution->transfer_ps);
		begin_ps = end_ps - execution->transfer_ps;
	}
	if (!profile(core, begin_ps, end_ps))
		return false;
	add_release(core, instruction, end_ps);
	engine->ready_ps += busy_ps;
	engine->busy_cycles += execution->cycles;
	engine->issued++;
	engine->pc = execution->target;
	engine->fetched = false;
	if (instruction->opcode == TRN_OP_HALT)
		engine->state = TRN_ENGINE_HALTED;
	core->current = NULL;
	return true;
}

static enum trn_core_end nothing_happens(struct trn_core *core)
{
	for (int i = 0; i < TRN_ENGINES; i++) {
		if (core->engine[i].state == TRN_ENGINE_WAITING) {
			core->current = &core->engine[i];
			trn_core_raise(core, TRN_EXCEPTION_DEADLOCK);
			return TRN_CORE_EXCEPTION;
		}
	}
	return TRN_CORE_HALTED;
}

enum trn_core_end trn_core_run(struct trn_core *core)
{
	struct trn_engine *engine;

	for (core->work = 0; core->work < TURN_WORK;) {
		if (core->current) {
			bool ok =
				core->row == core->execution.rows
					? finish(core)
					: core->execution.do_row(core, &core->current->instruction);

			if (!ok)
				return failed(core);
			core->row++;
			continue;
		}
		engine = next_engine(core);
		if (core->releases && (!engine || core->release[0].at_ps <= engine->ready_ps)) {
			if (!do_release(core))
				return failed(core);
		} else if (!engine) {
			return nothing_happens(core);
		} else if (!issue(core, engine)) {
			return failed(core);
		}
	}
	return TRN_CORE_GOES_ON;
}
