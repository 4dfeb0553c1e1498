/* SPDX-License-Identifier: MIT */
/*
 * trn-tsc-khz: prints the frequency of this machine's time-stamp counter.  An emulated guest
 * has the host's counter, and on a busy host finds a wrong frequency by its own timers.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define INTERVAL_NS 20000000
#define TRIES	    50

struct moment {
	int64_t ns;
	uint64_t ticks;
};

static int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The clock's two readings that lie closest tell best when the counter was read. */
static struct moment read_both(void)
{
	struct moment best = { 0 };
	int64_t shortest = INT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		int64_t before = monotonic_ns();
		uint64_t ticks = __rdtsc();
		int64_t took = monotonic_ns() - before;

		if (took < shortest) {
			shortest = took;
			best = (struct moment){ .ns = before + took / 2, .ticks = ticks };
		}
	}
	return best;
}

int main(int argc, char **argv)
{
	const struct timespec interval = { .tv_nsec = INTERVAL_NS };
	struct moment first, last;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		puts("Usage: trn-tsc-khz\n"
		     "Prints the frequency of the time-stamp counter in kHz.");
		return 0;
	}
	if (argc != 1) {
		fprintf(stderr, "trn-tsc-khz: unknown argument '%s': there is only --help\n",
			argv[1]);
		return 2;
	}
	first = read_both();
	nanosleep(&interval, NULL);
	last = read_both();
	printf("%" PRIu64 "\n",
	       (uint64_t)((double)(last.ticks - first.ticks) * 1e6 / (double)(last.ns - first.ns)));
	return 0;
}
