/* SPDX-License-Identifier: MIT */
#include "instructions.h"

#include <stdint.h>
#include <stdlib.h>

#include "samples.h"

#define TRIES	     5
#define INSTRUCTIONS 200000

/* INSTRUCTIONS, but for a few. */
static bool run_instructions(void)
{
	uint64_t left = INSTRUCTIONS / 2;

#if defined(__x86_64__)
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(left) : : "cc");
	return true;
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(left) : : "cc");
	return true;
#else
	(void)left;
	return false;
#endif
}

bool bench_counts_instructions(void)
{
	int64_t times[TRIES], error;
	int i;

	for (i = 0; i < TRIES; i++) {
		int64_t start = bench_now();

		if (!run_instructions())
			return false;
		times[i] = bench_now() - start;
	}
	/* Interrupts come now and then. */
	error = bench_median(times, TRIES) - INSTRUCTIONS;
	return llabs(error) < INSTRUCTIONS / 50;
}
