/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_SUBMIT_H
#define TRN_BENCH_SUBMIT_H

#include "options.h"

enum bench_submit_path {
	SUBMIT_USER_1,
	SUBMIT_USER_32,
	SUBMIT_USER_EMPTY,   /* an empty packet, */
	SUBMIT_USER_PROGRAM, /* and an empty program */
	SUBMIT_KERNEL_1,
	SUBMIT_KERNEL_32,
	SUBMIT_KERNEL_PROGRAM,
	SUBMIT_BEHIND_1, /* kernel queue, the job has to wait for one of another queue */
	SUBMIT_FLUSH,	 /* the peer's */
	SUBMIT_PATHS
};

/* What one path costs; medians in ns, -1 = not known. */
struct bench_submit_cost {
	bool measured;
	double system_calls; /* of a submit with its wait */
	int64_t submit;
	int64_t completion;
	int64_t all;
	int64_t cost; /* what there is a limit for, see Documentation/bench.rst */
};

/* One chip. */
struct bench_submit_result {
	uint32_t device;
	char pci[24];
	bool instructions; /* 1 ns is one instruction */
	int64_t watching;  /* ns that a tracepoint takes; of submits and completions taken off */
	struct bench_submit_cost path[SUBMIT_PATHS];
};

/* Packets of a submit. */
uint32_t bench_submit_packets(enum bench_submit_path path);

/* The most that a path may cost in instructions; 0 = no limit. */
int64_t bench_submit_limit(enum bench_submit_path path);

/*
 * Measures what submits cost the CPU, on one chip and on the peer that options names.
 * 0, or negative errno with a sentence in bench_error_message().
 */
int bench_submit(const struct trn_device_entry *entry, const struct bench_options *options,
		 struct bench_submit_result *result);

#endif /* TRN_BENCH_SUBMIT_H */
