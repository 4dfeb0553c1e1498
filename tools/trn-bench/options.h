/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_OPTIONS_H
#define TRN_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <trn/trn.h>

#define BENCH_ALL_DEVICES UINT32_MAX

struct bench_options {
	uint32_t device; /* index or BENCH_ALL_DEVICES */
	uint64_t size;	 /* bytes per leg, a multiple of 8 */
	bool queue[2];	 /* by enum trn_queue_mode */
	uint32_t repeat;
	bool json;
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
