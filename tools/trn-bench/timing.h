/* SPDX-License-Identifier: MIT */
/* What both benchmarks need around their measurements. */
#ifndef TRN_BENCH_TIMING_H
#define TRN_BENCH_TIMING_H

#include <stddef.h>
#include <stdint.h>

/* The middle of @count (not 0) times; sorts them. */
int64_t bench_median(int64_t *times, size_t count);

/*
 * Says on stderr what goes on, once the program has run for 3 s, and then at most every 3 s.
 */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * ns that a memcpy of @size bytes takes in the process of a virtual chip: one of @copies in a
 * row, in the shortest of @rounds; 0 when there is nobody to ask.
 */
int64_t bench_memcpy_ns(uint64_t size, uint32_t copies, uint32_t rounds);

#endif /* TRN_BENCH_TIMING_H */
