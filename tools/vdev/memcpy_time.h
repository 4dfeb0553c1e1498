/* SPDX-License-Identifier: MIT */
/* What a copy costs in this process, to compare copies by chips with. */
#ifndef TRN_VDEV_MEMCPY_TIME_H
#define TRN_VDEV_MEMCPY_TIME_H

#include <stddef.h>
#include <stdint.h>

#define TRN_MEMCPY_TIME_MIN  (4UL << 10)
#define TRN_MEMCPY_TIME_MAX  (256UL << 20)
#define TRN_MEMCPY_COUNT_MAX 1000

/*
 * Copies bytes, TRN_MEMCPY_TIME_MIN … _MAX, with memcpy() between two pieces of memory of the
 * kind that HBM and guests have, written beforehand: rounds of copies, one directly after the
 * other (1 … TRN_MEMCPY_COUNT_MAX each).  Sets *ns to the time of a copy in the shortest round.
 * No round begins after some seconds.  0, or -ENOMEM, or what memfd_create() failed with.
 */
int trn_memcpy_time(size_t bytes, unsigned int copies, unsigned int rounds, uint64_t *ns);

#endif /* TRN_VDEV_MEMCPY_TIME_H */
