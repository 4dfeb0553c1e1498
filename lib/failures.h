/* SPDX-License-Identifier: MIT */
/*
 * Which submits have failed, of those whose fences are not kept any more.  Neighbours with the
 * same error are one entry.
 */
#ifndef TRN_FAILURES_H
#define TRN_FAILURES_H

#include <pthread.h>
#include <stdint.h>

struct trn_failure {
	uint64_t first, last; /* sequences */
	int error;
};

struct trn_failures {
	pthread_mutex_t lock; /* all of the following */
	struct trn_failure *failure;
	uint32_t count;
	uint32_t room;
};

void trn_failures_init(struct trn_failures *failures);
void trn_failures_fini(struct trn_failures *failures);

/* Sequences are added in increasing order.  0 or -ENOMEM. */
int trn_failures_add(struct trn_failures *failures, uint64_t sequence, int error);

/* What a submit ended with: the error that was added for it, or 0. */
int trn_failures_find(struct trn_failures *failures, uint64_t sequence);

#endif /* TRN_FAILURES_H */
