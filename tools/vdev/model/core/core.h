/* SPDX-License-Identifier: MIT */
/*
 * A NeuronCore: memories, semaphores, engines and rings, and the program that it runs
 * (Documentation/isa.rst).
 *
 * A program is simulated event by event on the model clock: of all that can happen next, the
 * earliest happens.  What an instruction does to memory, it does when it is issued; others learn of
 * it by its semaphore, when it completes.  So the same program does the same every time.
 */
#ifndef TRN_VDEV_CORE_H
#define TRN_VDEV_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hw/trn_isa.h>
#include <hw/trn_queue.h>

#include "../translate.h"
#include "pattern.h"

struct trn_chip;
struct trn_queue;

/* Engines' releases under way, each for as long as their depth, and those of transfers. */
#define TRN_CORE_RELEASES (TRN_ISA_DMA_RINGS * TRN_RING_TRANSFERS + TRN_ENGINES * 64)

enum trn_engine_state {
	TRN_ENGINE_HALTED,
	TRN_ENGINE_READY,   /* issues its next instruction at ready_ps */
	TRN_ENGINE_WAITING, /* for its next instruction's semaphore, since ready_ps */
};

struct trn_engine {
	enum trn_engine_state state;
	uint64_t stream; /* VA of its first instruction */
	uint32_t length; /* instructions of the stream */
	uint32_t pc;	 /* of the next instruction, or the one being executed */
	uint64_t issued; /* instructions */
	uint64_t ready_ps;
	uint64_t complete_ps; /* of all instructions so far */
	uint64_t busy_cycles;
	uint64_t reg[TRN_ISA_REGISTERS];
	struct trn_instruction instruction; /* the one at pc, if fetched */
	bool fetched;
};

struct trn_ring {
	uint64_t end_ps[TRN_RING_TRANSFERS]; /* of the last transfers, as a circle */
	uint64_t count;			     /* transfers so far */
};

struct trn_release {
	uint64_t at_ps;
	uint64_t order;	      /* among those of one moment */
	uint32_t instruction; /* whose it is: its index in the engine's stream */
	uint8_t engine;
	uint8_t semaphore;
	uint8_t count;
};

/* What LOAD_STATIONARY has loaded, as FP32. */
struct trn_stationary {
	uint8_t rows, columns, pack, dtype;
	bool loaded;
	float *values; /* [rows × pack][columns] */
};

/* An instruction on its way: row by row, for it may be long. */
struct trn_execution {
	struct trn_shape shape;
	struct trn_pattern out, in[2];
	/* Does row number core->row; false with an exception or a fault. */
	bool (*do_row)(struct trn_core *core, const struct trn_instruction *instruction);
	unsigned int rows;
	bool integer;		/* arithmetic */
	uint32_t target;	/* the engine's next instruction */
	uint32_t cycles;	/* for which it is busy */
	double sum, mean;	/* BN_STATS */
	unsigned int partition; /* PARTITION_*: where the row comes from */
	/* DMA */
	const struct trn_dtype *memory_dtype;
	uint64_t va;	      /* of the first element */
	uint64_t transfer_ps; /* how long it takes; else 0 */
};

struct trn_core {
	struct trn_chip *chip;
	uint16_t number;
	uint8_t *sbuf, *psum;	     /* partition p is at p × its stride */
	size_t sbuf_size, psum_size; /* bytes of a partition */
	size_t sbuf_stride, psum_stride;
	uint16_t owner; /* ASID whose data is in them; 0: all zero */

	/* Of the program that runs, or ran last */
	bool running;
	bool used;	 /* there was one since the last reset */
	uint16_t queue;	 /* whose packet it is */
	uint32_t packet; /* its index */
	uint16_t asid;
	uint64_t seed;
	uint32_t bindings;
	struct trn_binding *binding;
	struct trn_engine engine[TRN_ENGINES];
	uint32_t semaphore[TRN_ISA_SEMAPHORES];
	struct trn_ring ring[TRN_ISA_DMA_RINGS];
	struct trn_release release[TRN_CORE_RELEASES]; /* a heap, the earliest first */
	unsigned int releases;
	uint64_t release_order;
	struct trn_stationary stationary;
	float *moving;	   /* scratch: [rows × pack][columns] */
	float *sums;	   /* scratch: [columns of the stationary][columns] */
	uint64_t *keys;	   /* scratch: TOP_K's, of a partition's elements */
	uint64_t begin_ns; /* device clock */
	uint64_t now_ps;
	uint64_t profile_va;
	uint64_t profile_room, profile_records; /* records */
	uint64_t dma_bytes;

	/* The instruction that is being executed */
	struct trn_engine *current; /* NULL: none */
	struct trn_execution execution;
	unsigned int row;   /* the next */
	uint64_t issued_ns; /* device clock */
	uint64_t work;	    /* done in this turn, about ns */

	/* Why the program ended */
	uint8_t exception; /* TRN_EXCEPTION_*, 0: none */
	struct trn_fault fault;
	bool faulted;
};

/* 0 or -ENOMEM. */
int trn_core_init(struct trn_core *core, struct trn_chip *chip, uint16_t number);
void trn_core_free(struct trn_core *core);
/* Memories are 0 again. */
void trn_core_scrub(struct trn_core *core);
/* No program runs, and nothing is left of the last. */
void trn_core_reset(struct trn_core *core);

/* Starts a queue's EXEC packet, whose fields are checked: false if that fails, as trn_core_run().
 */
bool trn_core_begin(struct trn_core *core, const struct trn_queue *queue);

enum trn_core_end {
	TRN_CORE_GOES_ON,
	TRN_CORE_HALTED,    /* all has ended well */
	TRN_CORE_EXCEPTION, /* core->exception, of core->current */
	TRN_CORE_FAULT,	    /* core->fault, of core->current */
};

/* Does some of the program, as much as one turn may take. */
enum trn_core_end trn_core_run(struct trn_core *core);

/* The program is over, however it ended. */
void trn_core_end(struct trn_core *core);

/* For what executes instructions: give false, so that a caller can return it. */
bool trn_core_raise(struct trn_core *core, uint8_t exception);
bool trn_core_fault(struct trn_core *core, const struct trn_fault *fault);

#endif /* TRN_VDEV_CORE_H */
