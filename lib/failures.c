/* SPDX-License-Identifier: MIT */
#include "failures.h"

#include <errno.h>
#include <stdlib.h>

void trn_failures_init(struct trn_failures *failures)
{
	*failures = (struct trn_failures){ 0 };
	pthread_mutex_init(&failures->lock, NULL);
}

void trn_failures_fini(struct trn_failures *failures)
{
	free(failures->failure);
	pthread_mutex_destroy(&failures->lock);
}

static int add(struct trn_failures *failures, uint64_t sequence, int error)
{
	struct trn_failure *newest =
		failures->count ? &failures->failure[failures->count - 1] : NULL;

	if (newest && newest->last + 1 == sequence && newest->error == error) {
		newest->last = sequence;
		return 0;
	}
	if (failures->count == failures->room) {
		uint32_t room = failures->room ? failures->room * 2 : 16;
		struct trn_failure *larger =
			realloc(failures->failure, room * sizeof(failures->failure[0]));

		if (!larger)
			return -ENOMEM;
		failures->failure = larger;
		failures->room = room;
	}
	failures->failure[failures->count++] = (struct trn_failure){
		.first = sequence,
		.last = sequence,
		.error = error,
	};
	return 0;
}

int trn_failures_add(struct trn_failures *failures, uint64_t sequence, int error)
{
	int result;

	pthread_mutex_lock(&failures->lock);
	result = add(failures, sequence, error);
	pthread_mutex_unlock(&failures->lock);
	return result;
}

int trn_failures_find(struct trn_failures *failures, uint64_t sequence)
{
	uint32_t from = 0, to;
	int error = 0;

	pthread_mutex_lock(&failures->lock);
	for (to = failures->count; from < to;) {
		uint32_t middle = from + (to - from) / 2;
		const struct trn_failure *failure = &failures->failure[middle];

		if (sequence > failure->last) {
			from = middle + 1;
		} else if (sequence < failure->first) {
			to = middle;
		} else {
			error = failure->error;
			break;
		}
	}
	pthread_mutex_unlock(&failures->lock);
	return error;
}
