/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_OPTIONS_H
#define TRN_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <trn/trn.h>

#define BENCH_ALL_DEVICES UINT32_MAX

#define BENCH_LIVE_MAX	  8

enum bench_command {
	BENCH_COPY,
	BENCH_MEMORY,
	BENCH_SUBMIT,
	BENCH_LATENCY
};

#define BENCH_COMMANDS (BENCH_LATENCY + 1)

struct bench_options {
	enum bench_command command;
	uint32_t device; /* index or BENCH_ALL_DEVICES */
	bool json;
	/* copy, submit */
	bool queue[2]; /* by enum trn_queue_mode */
	/* copy */
	uint64_t first_size; /* bytes per leg, multiples of 8: the first, and four times as many */
	uint64_t last_size;  /* each time up to the last */
	uint32_t repeat;
	uint32_t in_flight; /* copies queued at once */
	/* memory */
	uint32_t live[BENCH_LIVE_MAX]; /* numbers of objects, ascending */
	uint32_t live_count;
	/* memory, submit, latency */
	uint32_t samples;
	/* submit, latency */
	const char *peer; /* NULL = what there is, "none", or a block device */
};

enum bench_action {
	BENCH_RUN,
	BENCH_HELP,
	BENCH_USAGE
};

/* Reads "4096", "64K", "64M", "2G" (powers of 1024).  False if it is something else. */
bool bench_parse_size(const char *text, uint64_t *size);

/*
 * Reads the command line after the program's name.  With BENCH_USAGE, *error is one
 * line that says what is wrong and how it should look.
 */
enum bench_action bench_parse(int argc, char **argv, struct bench_options *options,
			      char error[256]);

#endif /* TRN_BENCH_OPTIONS_H */
