/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void take_no_arguments(int argc, char **argv, const char *usage)
{
	if (argc == 1)
		return;
	if (!strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		exit(0);
	}
	fprintf(stderr, "%s: unexpected '%s': there are no arguments but --help\n", argv[0],
		argv[1]);
	exit(2);
}
