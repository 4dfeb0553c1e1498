// SPDX-License-Identifier: MIT
#include "rounds.h"

#include <stddef.h>

#include "state.h"

void trn_rounds_account(struct trn_chip *chip)
{
	struct trn_rounds *rounds = &chip->rounds;
	struct trn_queue *queue = rounds->worked;
	uint64_t ns = chip->now - rounds->since;

	rounds->worked = NULL;
	/* A parked packet is not worked on; the time of one that is held is the holder's to count.
	 */
	if (!queue || !queue->has_packet || queue->phase == TRN_PHASE_PARKED ||
	    queue->phase == TRN_PHASE_HELD)
		return;
	queue->packet_ns += ns;
	queue->queue_ns += ns;
}

static bool has_turns(const struct trn_rounds *rounds, const struct trn_queue *queue)
{
	return queue->round != rounds->number || queue->turns_left;
}

static bool is_parked(const struct trn_queue *queue)
{
	return queue->phase == TRN_PHASE_PARKED;
}

/* The queue whose turn is next, or NULL; and whether a parked one is to look at its fence. */
static struct trn_queue *find_work(struct trn_chip *chip, bool *look_is_due)
{
	struct trn_rounds *rounds = &chip->rounds;
	struct trn_queue *in_this_round = NULL, *in_the_next = NULL;

	*look_is_due = false;
	for (unsigned int i = 0; i < TRN_QUEUES; i++) {
		struct trn_queue *queue = chip->queue[(rounds->next + i) % TRN_QUEUES];

		if (!queue || !trn_queue_runnable(queue, chip->now))
			continue;
		if (is_parked(queue))
			*look_is_due = true;
		else if (!in_this_round && has_turns(rounds, queue))
			in_this_round = queue;
		else if (!in_the_next)
			in_the_next = queue;
	}
	return in_this_round ? in_this_round : in_the_next;
}

static void begin_turn(struct trn_rounds *rounds, struct trn_queue *queue)
{
	if (!has_turns(rounds, queue))
		rounds->number++;
	if (queue->round != rounds->number) {
		queue->round = rounds->number;
		queue->turns_left = 1U << queue->priority;
	}
	queue->turns_left--;
	rounds->turn = queue;
	rounds->next = queue->id + 1U;
}

static void look(struct trn_chip *chip)
{
	for (unsigned int i = 0; i < TRN_QUEUES; i++) {
		struct trn_queue *queue = chip->queue[i];

		if (queue && is_parked(queue) && trn_queue_runnable(queue, chip->now))
			trn_queue_step(chip, queue);
	}
}

bool trn_rounds_step(struct trn_chip *chip)
{
	struct trn_rounds *rounds = &chip->rounds;
	struct trn_queue *queue = rounds->turn;
	bool look_is_due = false;

	if (!queue || !trn_queue_runnable(queue, chip->now)) {
		rounds->turn = NULL;
		queue = find_work(chip, &look_is_due);
	}
	/*
	 * Looks go first: they must come every millisecond however busy other queues are.
	 * But turns go on as well, however many look and however often.
	 */
	rounds->looked = look_is_due && !(rounds->looked && queue);
	if (rounds->looked) {
		look(chip);
		return true;
	}
	if (!queue)
		return false;
	if (!rounds->turn)
		begin_turn(rounds, queue);
	rounds->worked = queue;
	rounds->since = chip->now;
	if (!trn_queue_step(chip, queue))
		rounds->turn = NULL;
	return true;
}

uint64_t trn_rounds_wait(const struct trn_chip *chip)
{
	uint64_t wait = UINT64_MAX;

	for (unsigned int i = 0; i < TRN_QUEUES; i++) {
		const struct trn_queue *queue = chip->queue[i];

		if (!queue || queue->state != TRN_QUEUE_RUNNING ||
		    (queue->phase != TRN_PHASE_PARKED && queue->phase != TRN_PHASE_HELD))
			continue;
		if (queue->look_at != UINT64_MAX && queue->look_at - chip->now < wait)
			wait = queue->look_at - chip->now;
	}
	return wait;
}

void trn_rounds_forget(struct trn_rounds *rounds, const struct trn_queue *queue)
{
	if (rounds->turn == queue)
		rounds->turn = NULL;
	if (rounds->worked == queue)
		rounds->worked = NULL;
}
