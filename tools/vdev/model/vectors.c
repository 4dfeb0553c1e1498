// SPDX-License-Identifier: MIT
#include "vectors.h"

#include "clock.h"
#include "state.h"

void trn_vectors_reset(struct trn_vectors *vectors)
{
	*vectors = (struct trn_vectors){ .next = UINT64_MAX };
}

static void come_back_at(struct trn_vectors *vectors, uint64_t at)
{
	if (at < vectors->next)
		vectors->next = at;
}

/* One interrupt, on its way as an injected fault has it. */
static void send(struct trn_chip *chip, unsigned int vector)
{
	enum trn_inject fault = chip->faults.vector[vector].fault;
	struct trn_vectors *vectors = &chip->vectors;

	chip->faults.vector[vector].fault = TRN_INJECT_NOTHING;
	if (fault == TRN_INJECT_LATE_INTERRUPT) {
		vectors->vector[vector].late_at = chip->now + chip->faults.vector[vector].late_ns;
		come_back_at(vectors, vectors->vector[vector].late_at);
	} else if (fault != TRN_INJECT_LOST_INTERRUPT) {
		chip->ops->interrupt(chip->host, vector);
	}
	if (fault == TRN_INJECT_DUPLICATE_INTERRUPT)
		chip->ops->interrupt(chip->host, vector);
}

static void deliver(struct trn_chip *chip, unsigned int vector)
{
	struct trn_vectors *vectors = &chip->vectors;

	vectors->vector[vector].due = false;
	vectors->vector[vector].raised = true;
	send(chip, vector);
	/* The step may have begun long before: software measures from now on. */
	vectors->vector[vector].raised_at =
		vectors->interval ? trn_monotonic_ns() - chip->epoch : chip->now;
}

/* Device time from which the vector may be raised. */
static uint64_t allowed_at(const struct trn_vectors *vectors, unsigned int vector)
{
	if (vector == 0 || !vectors->vector[vector].raised)
		return 0;
	return vectors->vector[vector].raised_at + vectors->interval;
}

void trn_vectors_raise(struct trn_chip *chip, unsigned int vector)
{
	struct trn_vectors *vectors = &chip->vectors;
	uint64_t at = allowed_at(vectors, vector);

	if (!vectors->interval || chip->now >= at) {
		deliver(chip, vector);
		return;
	}
	vectors->vector[vector].due = true;
	come_back_at(vectors, at);
}

static void run(struct trn_chip *chip, unsigned int vector)
{
	struct trn_vectors *vectors = &chip->vectors;
	uint64_t late_at = vectors->vector[vector].late_at;

	if (late_at && chip->now >= late_at) {
		vectors->vector[vector].late_at = 0;
		chip->ops->interrupt(chip->host, vector);
	} else if (late_at) {
		come_back_at(vectors, late_at);
	}
	if (vectors->vector[vector].due)
		trn_vectors_raise(chip, vector);
}

void trn_vectors_run(struct trn_chip *chip)
{
	chip->vectors.next = UINT64_MAX;
	for (unsigned int i = 0; i < TRN_VECTORS; i++)
		run(chip, i);
}

void trn_vectors_set_interval(struct trn_chip *chip, uint64_t interval)
{
	chip->vectors.interval = interval;
	trn_vectors_run(chip);
}
