/* SPDX-License-Identifier: MIT */
/*
 * Which queue works next, and for how long each packet has.
 *
 * Queues with work are served in rounds, with 2^priority turns for each.  A turn is
 * some steps of one queue: a packet, or of a long one a unit.
 */
#ifndef TRN_VDEV_ROUNDS_H
#define TRN_VDEV_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct trn_chip;
struct trn_queue;

struct trn_rounds {
	uint64_t number;	  /* of this round */
	unsigned int next;	  /* id of the queue that is asked first */
	bool looked;		  /* the last step was looks of parked queues */
	struct trn_queue *turn;	  /* whose turn goes on; NULL: nobody's */
	struct trn_queue *worked; /* whose turn the last step was part of; NULL: nobody's */
	uint64_t since;		  /* device time at which that step began */
};

/* Adds the step before this one to the running time of the packet that it worked on. */
void trn_rounds_account(struct trn_chip *chip);

/* Does one step of the queue that is next, or all looks that are due.  False: there is no work. */
bool trn_rounds_step(struct trn_chip *chip);

/* Time in ns until a queue has work by itself; UINT64_MAX: not before a kick. */
uint64_t trn_rounds_wait(const struct trn_chip *chip);

/* queue is about to vanish. */
void trn_rounds_forget(struct trn_rounds *rounds, const struct trn_queue *queue);

#endif /* TRN_VDEV_ROUNDS_H */
