/* SPDX-License-Identifier: MIT */
/*
 * What the examples have in common: engines that hand work to each other, and SBUF that is filled
 * by DMA while what was filled before is in use.
 */
#ifndef TRN_EXAMPLES_PIPELINE_H
#define TRN_EXAMPLES_PIPELINE_H

#include <trn/trn_builder.h>

/* Engines that only put transfers on rings. */
#define LOADER	       TRN_ENGINE_SYNC

#define POOL_SLOTS_MAX 96
#define PSUM_BANKS     8

struct pipeline {
	struct trn_builder *builder;
	uint32_t ring[TRN_ISA_DMA_RINGS];
	unsigned int next_ring;
	uint32_t handed[TRN_ENGINES][TRN_ENGINES]; /* semaphores + 1; 0: none yet */
	uint32_t banks, units;			   /* that take turns; units that had one */
	uint32_t emptied[PSUM_BANKS];		   /* semaphores */
};

/* Slots of SBUF that transfers fill, or empty, in turn. */
struct pool {
	struct pipeline *pipeline;
	uint32_t offset, slot_size, slots;
	uint32_t moved[POOL_SLOTS_MAX];	     /* semaphores: transfers that have ended */
	unsigned int pieces[POOL_SLOTS_MAX]; /* transfers under way, of one turn */
	uint32_t freed;			     /* semaphore: slots that can be filled again */
	uint32_t turns;			     /* so far */
};

/* Takes the rings of the core that was begun last. */
void pipeline_begin(struct pipeline *pipeline, struct trn_builder *builder);

/* What @to emits next comes after what @from has emitted so far, transfers excepted. */
void hand_over(struct pipeline *pipeline, unsigned int from, unsigned int to);
/* The two halves of it, in equal numbers. */
void hand(struct pipeline *pipeline, unsigned int from, unsigned int to);
void take(struct pipeline *pipeline, unsigned int from, unsigned int to);

/* That many banks of PSUM take turns. */
void banks_create(struct pipeline *pipeline, uint32_t banks);
/* The tensor engine waits for the next bank, whose offset is returned. */
uint32_t bank_fill(struct pipeline *pipeline);
/* It has written the bank, and the engine goes on; bank_end(): that has read it. */
void bank_pass(struct pipeline *pipeline, unsigned int engine);
void bank_end(struct pipeline *pipeline, unsigned int engine);

void pool_create(struct pool *pool, struct pipeline *pipeline, uint32_t slots, uint32_t slot_size);

/* A pool for loads: the loader fills the next slot, whose number is returned, when it is free. */
uint32_t pool_fill(struct pool *pool);
/* Where a slot begins, by the number of its turn. */
uint32_t pool_offset(const struct pool *pool, uint32_t turn);
/* Loads into the slot that is being filled. */
void pool_load(struct pool *pool, struct trn_tile extent, struct trn_operand to,
	       struct trn_slice from);
/* The engine waits until the slot is filled.  Once a turn. */
void pool_wait(struct pool *pool, uint32_t turn, unsigned int engine);
/* The engine does not need the oldest slot any more.  Once a turn, by one engine. */
void pool_free(struct pool *pool, unsigned int engine);

/* A pool for stores: the engine waits until the next slot has been stored, and writes to it. */
uint32_t pool_reuse(struct pool *pool, unsigned int engine);
/* @storer stores what the other engine has written to the slot. */
void pool_store(struct pool *pool, unsigned int engine, unsigned int storer, uint32_t turn,
		struct trn_tile extent, struct trn_operand from, struct trn_slice to);

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t divide_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

/* Bytes of an element of a whole number of bytes. */
uint32_t bytes_of(uint32_t dtype);

#endif /* TRN_EXAMPLES_PIPELINE_H */
