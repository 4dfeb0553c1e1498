/* SPDX-License-Identifier: MIT */
/*
 * Faults that a chip makes once, for tests of drivers (Documentation/vdev.rst, "Injected
 * faults").  They wait where they strike: at a queue, a vector, the admin queue.
 */
#ifndef TRN_VDEV_INJECT_H
#define TRN_VDEV_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "registers.h"

struct trn_chip;
struct trn_fault;
struct trn_queue;

enum trn_inject {
	TRN_INJECT_NOTHING,
	/* of a queue */
	TRN_INJECT_HANG,
	TRN_INJECT_SLOW,
	TRN_INJECT_PAGE_FAULT,
	TRN_INJECT_BAD_PACKET,
	TRN_INJECT_DMA_ABORT,
	/* of a vector */
	TRN_INJECT_LOST_INTERRUPT,
	TRN_INJECT_DUPLICATE_INTERRUPT,
	TRN_INJECT_LATE_INTERRUPT,
	/* of the chip */
	TRN_INJECT_LOST_COMPLETION,
	TRN_INJECT_GARBAGE_COMPLETION,
	TRN_INJECT_SLOW_COMPLETION,
	TRN_INJECT_HEARTBEAT_STOP,
	TRN_INJECT_FATAL,
	TRN_INJECT_DEATH,
};

/* What frees an engine in which a packet hangs; each does what those before it do. */
enum trn_cure {
	TRN_CURE_QUEUE,	   /* QUEUE_RESET, QUEUE_SUSPEND, QUEUE_DESTROY */
	TRN_CURE_CONTEXT,  /* CONTEXT_RESET */
	TRN_CURE_CORE,	   /* CORE_RESET */
	TRN_CURE_FUNCTION, /* a reset */
};

struct trn_injection {
	enum trn_inject fault;
	uint16_t queue;	    /* those of a queue */
	uint16_t vector;    /* those of a vector */
	enum trn_cure cure; /* HANG */
	uint32_t ms;	    /* SLOW, LATE_INTERRUPT, SLOW_COMPLETION */
};

/* Faults that wait for the next command or interrupt; those of a queue are in the queue. */
struct trn_faults {
	bool lost_completion;
	bool garbage_completion;
	bool slow_completion;
	uint64_t slow_completion_ns;
	struct {
		enum trn_inject fault;
		uint64_t late_ns;
	} vector[TRN_VECTORS];
};

/*
 * Any thread; waits for the step that is under way.  0, or -ENODEV: the chip is dead,
 * -ENOENT: there is no such queue or vector, -ESHUTDOWN: the queue is stopped,
 * -EINVAL: the queue has no programs that could hang in a core,
 * -EALREADY: such a fault still waits there, -EAGAIN: the device is not READY (FATAL),
 * -ETIMEDOUT: the step does not end.
 */
int trn_chip_inject(struct trn_chip *chip, const struct trn_injection *injection);

/* Where queues are struck. */

/* A packet has been copied from the ring. */
void trn_inject_fetched(struct trn_queue *queue);
/* It is to begin: true if it is made to wait (TRN_PHASE_HELD). */
bool trn_inject_slow(struct trn_chip *chip, struct trn_queue *queue);
/* It is to go on: true if it hangs (TRN_PHASE_HELD). */
bool trn_inject_hang(struct trn_chip *chip, struct trn_queue *queue);
/* It is to access operands: true if that fails, with *fault set. */
bool trn_inject_operand_fault(struct trn_queue *queue, struct trn_fault *fault);

#endif /* TRN_VDEV_INJECT_H */
