/* SPDX-License-Identifier: MIT */
#ifndef TRN_VDEV_CLOCK_H
#define TRN_VDEV_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t trn_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif /* TRN_VDEV_CLOCK_H */
