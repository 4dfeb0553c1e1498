/* SPDX-License-Identifier: MIT */
/* Times, of which some median is wanted. */
#ifndef TRN_BENCH_SAMPLES_H
#define TRN_BENCH_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "timing.h"

struct samples {
	int64_t *ns;
	uint32_t count;
	uint32_t wanted;
};

static inline int64_t bench_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* False: no host memory.  free() samples->ns. */
static inline bool samples_init(struct samples *samples, uint32_t wanted)
{
	*samples = (struct samples){
		.ns = calloc(wanted, sizeof(*samples->ns)),
		.wanted = wanted,
	};
	return samples->ns;
}

static inline bool samples_full(const struct samples *samples)
{
	return samples->count == samples->wanted;
}

/* One of those wanted; more are dropped. */
static inline void samples_add(struct samples *samples, int64_t ns)
{
	if (!samples_full(samples))
		samples->ns[samples->count++] = ns;
}

/* -1: there is none. */
static inline int64_t samples_median(struct samples *samples)
{
	return samples->count ? bench_median(samples->ns, samples->count) : -1;
}

#endif /* TRN_BENCH_SAMPLES_H */
