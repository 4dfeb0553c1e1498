/* SPDX-License-Identifier: MIT */
/* Streams: which engines have which opcodes, and what the order of instructions needs. */
#include <errno.h>
#include <stdlib.h>

#include "../neff/neff.h"
#include "builder.h"

#define ON(engine) (1U << TRN_ENGINE_##engine)
#define ON_ALL	   ((1U << TRN_ENGINES) - 1)
#define ON_COMPUTE (ON(VECTOR) | ON(SCALAR) | ON(GPSIMD))
#define COUNT_MAX  255 /* of an acquire or a release */
#define FIRST_ROOM 64  /* instructions */

static const struct {
	const char *name;
	uint8_t engines;
	bool rounds; /* has the flag STOCHASTIC */
} opcodes[256] = {
	[TRN_OP_NOP] = { "nop", ON_ALL, false },
	[TRN_OP_HALT] = { "halt", ON_ALL, false },
	[TRN_OP_MOVE] = { "move", ON_ALL, false },
	[TRN_OP_ADD] = { "add", ON_ALL, false },
	[TRN_OP_MULTIPLY] = { "multiply", ON_ALL, false },
	[TRN_OP_BRANCH] = { "branch", ON_ALL, false },
	[TRN_OP_DMA_LOAD] = { "dma_load", ON_ALL, false },
	[TRN_OP_DMA_STORE] = { "dma_store", ON_ALL, false },
	[TRN_OP_LOAD_STATIONARY] = { "load_stationary", ON(TENSOR), false },
	[TRN_OP_MATMUL] = { "matmul", ON(TENSOR), false },
	[TRN_OP_TRANSPOSE] = { "transpose", ON(TENSOR), false },
	[TRN_OP_COPY] = { "copy", ON_COMPUTE, true },
	[TRN_OP_TENSOR_SCALAR] = { "tensor_scalar", ON_COMPUTE, true },
	[TRN_OP_TENSOR_TENSOR] = { "tensor_tensor", ON_COMPUTE, true },
	[TRN_OP_FILL] = { "fill", ON_COMPUTE, true },
	[TRN_OP_REDUCE] = { "reduce", ON(VECTOR), true },
	[TRN_OP_SELECT] = { "select", ON(VECTOR), false },
	[TRN_OP_BN_STATS] = { "bn_stats", ON(VECTOR), false },
	[TRN_OP_BN_AGGREGATE] = { "bn_aggregate", ON(VECTOR), false },
	[TRN_OP_ACTIVATE] = { "activate", ON(SCALAR), true },
	[TRN_OP_IOTA] = { "iota", ON(GPSIMD), true },
	[TRN_OP_GATHER] = { "gather", ON(GPSIMD), false },
	[TRN_OP_SCATTER] = { "scatter", ON(GPSIMD), false },
	[TRN_OP_PARTITION_SHUFFLE] = { "partition_shuffle", ON(GPSIMD), false },
	[TRN_OP_PARTITION_BROADCAST] = { "partition_broadcast", ON(GPSIMD), false },
	[TRN_OP_TOP_K] = { "top_k", ON(GPSIMD), false },
	[TRN_OP_MASK] = { "mask", ON(GPSIMD), false },
	[TRN_OP_TIMESTAMP] = { "timestamp", ON(SYNC), false },
};

struct builder_stream *builder_stream(struct trn_builder *builder, unsigned int engine)
{
	if (builder->error)
		return NULL;
	if (engine >= TRN_ENGINES) {
		trn_builder_fail(builder, "there is no engine %u, use TRN_ENGINE_", engine);
		return NULL;
	}
	return &builder_core(builder)->streams[engine];
}

bool builder_begin(struct trn_builder *builder, unsigned int engine, uint8_t opcode)
{
	builder->opcode = NULL;
	if (!builder_stream(builder, engine))
		return false;
	builder->engine = engine;
	builder->opcode = opcodes[opcode].name;
	if (builder->finished)
		trn_builder_fail(builder, "the program is finished, nothing can be added");
	else if (!(opcodes[opcode].engines >> engine & 1))
		trn_builder_fail(builder, "the %s engine has no such instruction",
				 neff_engine_names[engine]);
	return !builder->error;
}

static bool make_room(struct trn_builder *builder, struct builder_stream *stream)
{
	uint32_t room = stream->room ? stream->room * 2 : FIRST_ROOM;
	struct trn_instruction *instructions;

	if (stream->count < stream->room)
		return true;
	if (stream->count == TRN_NEFF_INSTRUCTIONS_MAX) {
		trn_builder_fail(builder, "a stream has at most %u instructions: use a loop",
				 TRN_NEFF_INSTRUCTIONS_MAX);
		return false;
	}
	instructions = reallocarray(stream->instructions, room, sizeof(*instructions));
	if (!instructions) {
		builder->error = -ENOMEM;
		return false;
	}
	stream->instructions = instructions;
	stream->room = room;
	return true;
}

void builder_append(struct trn_builder *builder, struct trn_instruction instruction)
{
	struct builder_stream *stream = builder_stream(builder, builder->engine);

	if (!stream || !make_room(builder, stream))
		return;
	if (stream->acquire_count) {
		instruction.acquire = (uint8_t)stream->acquire;
		instruction.acquire_count = (uint8_t)stream->acquire_count;
		stream->acquire_count = 0;
	}
	stream->instructions[stream->count++] = instruction;
	stream->labelled = false;
}

/* ---- what is said beside an instruction --------------------------------------------------- */

static bool check_semaphore(struct trn_builder *builder, uint32_t semaphore, unsigned int count)
{
	if (semaphore < builder_core(builder)->semaphores && count && count <= COUNT_MAX)
		return true;
	trn_builder_fail(
		builder,
		"semaphore %u by %u: the core has taken %u semaphores, and counts are 1 to %d",
		semaphore, count, builder_core(builder)->semaphores, COUNT_MAX);
	return false;
}

void trn_builder_acquire(struct trn_builder *builder, unsigned int engine, uint32_t semaphore,
			 unsigned int count)
{
	struct builder_stream *stream;

	if (!builder_begin(builder, engine, TRN_OP_NOP) ||
	    !check_semaphore(builder, semaphore, count))
		return;
	stream = builder_stream(builder, engine);
	if (stream->acquire_count)
		builder_append(builder, (struct trn_instruction){ .opcode = TRN_OP_NOP });
	stream->acquire = semaphore;
	stream->acquire_count = count;
}

static bool is_transfer(const struct trn_instruction *instruction)
{
	return instruction->opcode == TRN_OP_DMA_LOAD || instruction->opcode == TRN_OP_DMA_STORE;
}

void trn_builder_release(struct trn_builder *builder, unsigned int engine, uint32_t semaphore,
			 unsigned int count)
{
	struct builder_stream *stream;
	struct trn_instruction *last;

	if (!builder_begin(builder, engine, TRN_OP_NOP) ||
	    !check_semaphore(builder, semaphore, count))
		return;
	stream = builder_stream(builder, engine);
	last = stream->count ? &stream->instructions[stream->count - 1] : NULL;
	if (last && last->release_count && is_transfer(last)) {
		trn_builder_fail(builder, "the transfer before this has a release already: a "
					  "NOP's would not wait for the transfer");
		return;
	}
	if (!last || last->release_count || last->opcode == TRN_OP_BRANCH || stream->labelled) {
		/* What the next instruction waits for, this NOP does not. */
		unsigned int acquire_count = stream->acquire_count;

		stream->acquire_count = 0;
		builder_append(builder, (struct trn_instruction){ .opcode = TRN_OP_NOP });
		if (builder->error)
			return;
		stream->acquire_count = acquire_count;
		last = &stream->instructions[stream->count - 1];
	}
	last->release = (uint8_t)semaphore;
	last->release_count = (uint8_t)count;
}

void trn_builder_stochastic(struct trn_builder *builder, unsigned int engine)
{
	struct builder_stream *stream;
	struct trn_instruction *last;

	if (!builder_begin(builder, engine, TRN_OP_NOP))
		return;
	stream = builder_stream(builder, engine);
	last = stream->count ? &stream->instructions[stream->count - 1] : NULL;
	if (last && opcodes[last->opcode].rounds)
		last->flags |= TRN_FLAG_STOCHASTIC;
	else
		trn_builder_fail(builder, "the instruction before this does not round");
}
