/* SPDX-License-Identifier: MIT */
/* What the native benchmarks have in common. */
#ifndef TRN_TESTS_BENCH_TIMING_H
#define TRN_TESTS_BENCH_TIMING_H

#include <stdint.h>

/* The calling thread's CPU time, which other threads of a busy host do not add to. */
uint64_t thread_ns(void);

/* Ends the program with 0 for --help, with 2 for all other arguments. */
void take_no_arguments(int argc, char **argv, const char *usage);

#endif /* TRN_TESTS_BENCH_TIMING_H */
