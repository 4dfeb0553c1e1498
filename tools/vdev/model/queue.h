/* SPDX-License-Identifier: MIT */
/* Queues: the protocol on the control page, and the execution of packets. */
#ifndef TRN_VDEV_QUEUE_H
#define TRN_VDEV_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <hw/trn_queue.h>

struct trn_chip;

enum trn_queue_state {
	TRN_QUEUE_RUNNING,
	TRN_QUEUE_SUSPENDED,
	TRN_QUEUE_STOPPED,
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
	uint32_t ring_size; /* packets */
	uint64_t ring_va;
	uint64_t control; /* host DMA address */

	enum trn_queue_state state;
	enum trn_queue_phase phase;
	uint32_t head;	     /* free running, as in the control page */
	uint64_t poll_until; /* device time at which polling gives way to sleep */
	uint64_t look_at;    /* PARKED: device time of the next look */

	bool has_packet; /* the packet at head was fetched and checked */
	struct trn_packet packet;
	uint64_t done; /* bytes of the packet finished */
};

/* Can the queue do something at device time now? */
bool trn_queue_runnable(const struct trn_queue *queue, uint64_t now);

/* Does one phase. */
void trn_queue_step(struct trn_chip *chip, struct trn_queue *queue);

void trn_queue_kick(struct trn_chip *chip, struct trn_queue *queue);

/* Writes the control page of a new queue.  0 or -EFAULT. */
int trn_queue_start(struct trn_chip *chip, struct trn_queue *queue);

/* Brings a running queue to a point between packets, or to the start of one. */
void trn_queue_suspend(struct trn_chip *chip, struct trn_queue *queue);
void trn_queue_resume(struct trn_queue *queue);

#endif /* TRN_VDEV_QUEUE_H */
