/* SPDX-License-Identifier: MIT */
/* Queues: the protocol on the control page, and the execution of packets. */
#ifndef TRN_VDEV_QUEUE_H
#define TRN_VDEV_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <hw/trn_admin.h>
#include <hw/trn_queue.h>

#include "exec.h"
#include "inject.h"

struct trn_chip;
struct trn_core;

enum trn_queue_state {
	TRN_QUEUE_RUNNING = TRN_QUEUE_STATE_RUNNING,
	TRN_QUEUE_SUSPENDED = TRN_QUEUE_STATE_SUSPENDED,
	TRN_QUEUE_STOPPED = TRN_QUEUE_STATE_STOPPED,
};

/*
 * What a running queue does in its next step.  Every phase makes at most one
 * access to what software watches, so that a test can put software between any two.
 */
enum trn_queue_phase {
	TRN_PHASE_ASLEEP,    /* nothing until a kick */
	TRN_PHASE_WAKE,	     /* store need_kick = 0 */
	TRN_PHASE_POLL,	     /* load tail */
	TRN_PHASE_FETCH,     /* copy and check the packet at head */
	TRN_PHASE_EXECUTE,   /* one unit of the packet */
	TRN_PHASE_PARKED,    /* nothing until look_at, then EXECUTE */
	TRN_PHASE_HELD,	     /* the same, but the packet runs: an injected fault */
	TRN_PHASE_NOTIFY,    /* a fence was stored: barrier, load wake_at */
	TRN_PHASE_INTERRUPT, /* raise the vector */
	TRN_PHASE_RETIRE,    /* store head */
	TRN_PHASE_ARM,	     /* store need_kick = 1 */
	TRN_PHASE_RECHECK,   /* barrier, load tail; sleep if nothing came */
};

struct trn_queue {
	uint16_t id;
	uint16_t ring_asid; /* of ring and fences */
	uint16_t asid;	    /* of operands */
	uint16_t vector;
	uint8_t type; /* TRN_QUEUE_TYPE_* */
	uint8_t priority;
	uint32_t ring_size; /* packets */
	uint64_t ring_va;
	uint64_t control;    /* host DMA address */
	uint64_t time_limit; /* of a packet, ns; UINT64_MAX: none */

	enum trn_queue_state state;
	enum trn_queue_phase phase;
	uint8_t reason;		    /* STOPPED: TRN_STOP_*, 0 if software did it */
	struct trn_culprit culprit; /* in the program that stopped it */
	uint32_t head;		    /* free running, as in the control page */
	uint32_t tail;		    /* as last loaded */
	uint64_t poll_ns;	    /* how long it is polled when idle */
	uint64_t poll_until;	    /* device time at which polling gives way to sleep */
	uint64_t slept_at;	    /* device time of that */
	uint64_t look_at;    /* PARKED, HELD: device time of the next look; UINT64_MAX: none */
	bool masked;	     /* raises no interrupt, */
	bool owes_interrupt; /* but would have raised one */

	bool has_packet; /* packet is the one at head: in progress, or what stopped the queue */
	struct trn_packet packet;
	uint64_t done;	       /* bytes of the packet finished */
	uint64_t packet_ns;    /* its running time */
	uint64_t queue_ns;     /* running time of all packets */
	struct trn_core *core; /* that runs its program, or NULL */

	uint32_t injected;	 /* bit n: TRN_INJECT_n waits */
	uint64_t slow_ns;	 /* of TRN_INJECT_SLOW */
	enum trn_cure hang_cure; /* of TRN_INJECT_HANG */
	uint64_t held_since;	 /* HELD: device time from which on it is not counted yet */
	enum trn_cure cure;	 /* HELD: what frees the engine */

	/* rounds.c's own */
	uint64_t round;		 /* the last in which it had a turn */
	unsigned int turns_left; /* in that round */
};

/* Can the queue do something at device time now? */
bool trn_queue_runnable(const struct trn_queue *queue, uint64_t now);

/* Does one phase.  True while the queue's turn goes on: until a packet, or a unit of it, is done.
 */
bool trn_queue_step(struct trn_chip *chip, struct trn_queue *queue);

void trn_queue_kick(struct trn_queue *queue);

/*
 * The packet stays in the engine for ns, UINT64_MAX for ever, and runs meanwhile.  Its
 * time limit ends it if not for ever.
 */
void trn_queue_hold(struct trn_chip *chip, struct trn_queue *queue, uint64_t ns);

/* Adds to the running time of a packet that is held what has passed until now. */
void trn_queue_count_hold(const struct trn_chip *chip, struct trn_queue *queue);

/* A packet hangs in the engine, and it takes more than this cure. */
bool trn_queue_hangs(const struct trn_queue *queue, enum trn_cure cure);

/* Writes the control page of a new queue.  0 or -EFAULT. */
int trn_queue_start(struct trn_chip *chip, struct trn_queue *queue);

/* Brings a running queue to a point between packets, or to the start of one. */
void trn_queue_suspend(struct trn_chip *chip, struct trn_queue *queue);
void trn_queue_resume(struct trn_queue *queue);

/* Stops the queue for software: no event. */
void trn_queue_reset(const struct trn_chip *chip, struct trn_queue *queue);

/* Masks or unmasks the queue's interrupt; raises it if one is owed. */
void trn_queue_mask(struct trn_chip *chip, struct trn_queue *queue, bool masked);

#endif /* TRN_VDEV_QUEUE_H */
