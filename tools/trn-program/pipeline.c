/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include <stdio.h>
#include <string.h>

/* A ring has a sixteenth of the bandwidth: larger transfers are cut into pieces for several. */
#define PIECE_SIZE 8192

void pipeline_begin(struct pipeline *pipeline, struct trn_builder *builder)
{
	char name[16];

	memset(pipeline, 0, sizeof(*pipeline));
	pipeline->builder = builder;
	for (unsigned int i = 0; i < TRN_ISA_DMA_RINGS; i++) {
		snprintf(name, sizeof(name), "data%u", i);
		pipeline->ring[i] = trn_builder_ring(builder, name, TRN_NEFF_DATA);
	}
}

static uint32_t handed(struct pipeline *pipeline, unsigned int from, unsigned int to)
{
	uint32_t *semaphore = &pipeline->handed[from][to];

	if (!*semaphore)
		*semaphore = trn_builder_semaphore(pipeline->builder) + 1;
	return *semaphore - 1;
}

void hand(struct pipeline *pipeline, unsigned int from, unsigned int to)
{
	trn_builder_release(pipeline->builder, from, handed(pipeline, from, to), 1);
}

void take(struct pipeline *pipeline, unsigned int from, unsigned int to)
{
	trn_builder_acquire(pipeline->builder, to, handed(pipeline, from, to), 1);
}

void hand_over(struct pipeline *pipeline, unsigned int from, unsigned int to)
{
	hand(pipeline, from, to);
	take(pipeline, from, to);
}

void banks_create(struct pipeline *pipeline, uint32_t banks)
{
	pipeline->banks = banks;
	for (uint32_t i = 0; i < banks; i++)
		pipeline->emptied[i] = trn_builder_semaphore(pipeline->builder);
}

uint32_t bank_fill(struct pipeline *pipeline)
{
	uint32_t bank = pipeline->units % pipeline->banks;

	if (pipeline->units++ >= pipeline->banks)
		trn_builder_acquire(pipeline->builder, TRN_ENGINE_TENSOR, pipeline->emptied[bank],
				    1);
	return bank * TRN_PSUM_BANK_SIZE;
}

void bank_pass(struct pipeline *pipeline, unsigned int engine)
{
	hand_over(pipeline, TRN_ENGINE_TENSOR, engine);
}

void bank_end(struct pipeline *pipeline, unsigned int engine)
{
	uint32_t bank = (pipeline->units - 1) % pipeline->banks;

	trn_builder_release(pipeline->builder, engine, pipeline->emptied[bank], 1);
}

void pool_create(struct pool *pool, struct pipeline *pipeline, uint32_t slots, uint32_t slot_size)
{
	memset(pool, 0, sizeof(*pool));
	pool->pipeline = pipeline;
	pool->slots = slots;
	pool->slot_size = (slot_size + 63) & ~63U;
	pool->offset = trn_builder_sbuf(pipeline->builder, slots * pool->slot_size);
	for (uint32_t i = 0; i < slots; i++)
		pool->moved[i] = trn_builder_semaphore(pipeline->builder);
	pool->freed = trn_builder_semaphore(pipeline->builder);
}

uint32_t pool_offset(const struct pool *pool, uint32_t turn)
{
	return pool->offset + turn % pool->slots * pool->slot_size;
}

uint32_t pool_fill(struct pool *pool)
{
	if (pool->turns >= pool->slots)
		trn_builder_acquire(pool->pipeline->builder, LOADER, pool->freed, 1);
	pool->pieces[pool->turns % pool->slots] = 0;
	return pool->turns++;
}

static unsigned int count_pieces(const struct trn_tile *extent, uint32_t dtype)
{
	uint32_t elements = extent->size[0] * extent->size[1] * extent->size[2];
	uint32_t pieces = divide_up(extent->partitions * elements * bytes_of(dtype), PIECE_SIZE);

	return smaller(smaller(pieces, TRN_ISA_DMA_RINGS), extent->partitions);
}

/* Cuts a transfer by partitions; each piece releases the slot's semaphore. */
static void transfer(struct pool *pool, unsigned int engine, uint32_t turn, bool load,
		     const struct trn_tile *extent, struct trn_operand local,
		     struct trn_slice memory)
{
	struct pipeline *pipeline = pool->pipeline;
	unsigned int pieces = count_pieces(extent, memory.dtype);
	uint32_t slot = turn % pool->slots, first = local.partition;
	int64_t offset = memory.offset;

	for (unsigned int i = 0; i < pieces; i++) {
		uint32_t from = extent->partitions * i / pieces;
		uint32_t ring = pipeline->ring[pipeline->next_ring++ % TRN_ISA_DMA_RINGS];
		struct trn_tile part = *extent;

		part.partitions = extent->partitions * (i + 1) / pieces - from;
		local.partition = first + from;
		memory.offset = offset + (int64_t)memory.stride[0] * from;
		if (load)
			trn_emit_load(pipeline->builder, engine, ring, part, local, memory);
		else
			trn_emit_store(pipeline->builder, engine, ring, part, local, memory);
		trn_builder_release(pipeline->builder, engine, pool->moved[slot], 1);
	}
	pool->pieces[slot] += pieces;
}

void pool_load(struct pool *pool, struct trn_tile extent, struct trn_operand to,
	       struct trn_slice from)
{
	transfer(pool, LOADER, pool->turns - 1, true, &extent, to, from);
}

void pool_wait(struct pool *pool, uint32_t turn, unsigned int engine)
{
	uint32_t slot = turn % pool->slots;

	trn_builder_acquire(pool->pipeline->builder, engine, pool->moved[slot], pool->pieces[slot]);
}

void pool_free(struct pool *pool, unsigned int engine)
{
	trn_builder_release(pool->pipeline->builder, engine, pool->freed, 1);
}

uint32_t pool_reuse(struct pool *pool, unsigned int engine)
{
	uint32_t turn = pool->turns++;

	if (turn >= pool->slots)
		pool_wait(pool, turn, engine);
	pool->pieces[turn % pool->slots] = 0;
	return turn;
}

void pool_store(struct pool *pool, unsigned int engine, unsigned int storer, uint32_t turn,
		struct trn_tile extent, struct trn_operand from, struct trn_slice to)
{
	hand_over(pool->pipeline, engine, storer);
	transfer(pool, storer, turn, false, &extent, from, to);
}

uint32_t bytes_of(uint32_t dtype)
{
	switch (dtype) {
	case TRN_DTYPE_FP32:
	case TRN_DTYPE_INT32:
		return 4;
	case TRN_DTYPE_BF16:
	case TRN_DTYPE_FP16:
	case TRN_DTYPE_INT16:
		return 2;
	default:
		return 1;
	}
}
