// SPDX-License-Identifier: MIT
#include "time.h"

#include "../state.h"

/* isa.rst, "Time" */
#define TENSOR_DEPTH	  192 /* cycles */
#define DEPTH		  64
#define TRANSFER_START_PS 1300000
#define SHORTEST_RUN	  512 /* bytes */

#define PS_PER_CYCLE_MHZ  1000000 /* 1 MHz: that many ps */

static uint64_t clock_mhz(const struct trn_core *core, const struct trn_engine *engine)
{
	const struct trn_generation *generation = core->chip->config.generation;

	switch (engine - core->engine) {
	case TRN_ENGINE_TENSOR:
		return generation->tensor_mhz;
	case TRN_ENGINE_VECTOR:
		return generation->vector_mhz;
	default:
		return generation->scalar_mhz;
	}
}

uint64_t trn_cycles_ps(const struct trn_core *core, const struct trn_engine *engine,
		       uint64_t cycles)
{
	return cycles * PS_PER_CYCLE_MHZ / clock_mhz(core, engine);
}

uint64_t trn_reference_cycles(const struct trn_core *core)
{
	return core->now_ps * clock_mhz(core, &core->engine[TRN_ENGINE_TENSOR]) / PS_PER_CYCLE_MHZ;
}

uint64_t trn_depth_ps(const struct trn_core *core, const struct trn_engine *engine,
		      const struct trn_instruction *instruction)
{
	bool array =
		instruction->opcode == TRN_OP_MATMUL || instruction->opcode == TRN_OP_TRANSPOSE;

	return trn_cycles_ps(core, engine, array ? TENSOR_DEPTH : DEPTH);
}

uint64_t trn_transfer_ps(const struct trn_core *core, uint64_t runs, uint64_t bytes_of_run)
{
	const struct trn_generation *generation = core->chip->config.generation;
	uint64_t bytes = runs * (bytes_of_run < SHORTEST_RUN ? SHORTEST_RUN : bytes_of_run);
	uint64_t mb_per_s = generation->hbm_mb_per_s / generation->cores / TRN_ISA_DMA_RINGS;

	/* 1 MB/s is a byte in a µs. */
	return bytes * 1000000 / mb_per_s;
}

static bool is_transfer(const struct trn_instruction *instruction)
{
	return instruction->opcode == TRN_OP_DMA_LOAD || instruction->opcode == TRN_OP_DMA_STORE;
}

uint64_t trn_ring_room_ps(const struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct trn_ring *ring;

	if (!is_transfer(instruction))
		return 0;
	ring = &core->ring[instruction->dma.ring];
	return ring->count < TRN_RING_TRANSFERS ? 0
						: ring->end_ps[ring->count % TRN_RING_TRANSFERS];
}

uint64_t trn_ring_add(struct trn_core *core, const struct trn_instruction *instruction,
		      uint64_t transfer_ps)
{
	struct trn_ring *ring = &core->ring[instruction->dma.ring];
	uint64_t start = core->now_ps + TRANSFER_START_PS, last;

	if (ring->count) {
		last = ring->end_ps[(ring->count - 1) % TRN_RING_TRANSFERS];
		if (start < last)
			start = last;
	}
	ring->end_ps[ring->count++ % TRN_RING_TRANSFERS] = start + transfer_ps;
	return start + transfer_ps;
}
