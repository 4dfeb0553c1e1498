/* SPDX-License-Identifier: MIT */
/* What executions took, for people and as JSON. */
#ifndef TRN_RUN_REPORT_H
#define TRN_RUN_REPORT_H

#include <stdio.h>

#include <trn/trn_program.h>

/* Of all repetitions, ns on the host, from submit to the end of the wait. */
struct run_times {
	uint64_t count, sum, least, most;
};

void run_times_add(struct run_times *times, uint64_t ns);

struct run_report {
	const char *path;
	struct run_times wall;
	const struct trn_execution_result *parts; /* of the last repetition */
	uint32_t num_parts;
};

void run_report_text(FILE *to, const struct run_report *report);
/* 0 or -ENOMEM. */
int run_report_json(FILE *to, const struct run_report *report);

#endif /* TRN_RUN_REPORT_H */
