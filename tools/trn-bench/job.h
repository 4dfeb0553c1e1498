/* SPDX-License-Identifier: MIT */
/* Jobs on kernel queues, each submitted by one system call and waited for by another. */
#ifndef TRN_BENCH_JOB_H
#define TRN_BENCH_JOB_H

#include <stdint.h>

#define JOB_PACKETS_MAX 32

struct jobs;

/* All return 0, or negative errno with a sentence in bench_error_message(). */
int jobs_open(const char *node, struct jobs **jobs);
void jobs_close(struct jobs *jobs);

/* Submits a job of @packets copies within HBM, of 64 MiB in all, and waits for it. */
int jobs_run(struct jobs *jobs, uint32_t packets);

/* Likewise a job of one empty packet. */
int jobs_run_empty(struct jobs *jobs);

/* Likewise a job of one program, which takes about as long as the copies. */
int jobs_run_program(struct jobs *jobs);

/*
 * As jobs_run(), but the job has to wait for one of another queue, 16 fills of 64 MiB that are
 * submitted before.
 */
int jobs_run_behind_another(struct jobs *jobs, uint32_t packets);

#endif /* TRN_BENCH_JOB_H */
