/* SPDX-License-Identifier: MIT */
#ifndef TRN_RUN_RUN_H
#define TRN_RUN_RUN_H

#include "options.h"

enum {
	RUN_OK = 0,
	RUN_FAILED = 1,
	RUN_USAGE = 2,
	RUN_BAD_FILE = 3,
};

/* Does what was asked for; tells what is wrong on stderr, and returns the exit status. */
int run_program(const struct run_options *options);

/* Says what is wrong with the command line; returns RUN_USAGE. */
int run_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* TRN_RUN_RUN_H */
