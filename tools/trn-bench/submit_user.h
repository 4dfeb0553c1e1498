/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_SUBMIT_USER_H
#define TRN_BENCH_SUBMIT_USER_H

#include "submit.h"
#include "tracefs.h"

struct user_queue;

int user_queue_open(const struct trn_device_entry *entry, struct user_queue **queue);
void user_queue_close(struct user_queue *queue);

/* Fills *cost with what submits of @packets cost; as bench_submit(). */
int user_queue_measure(struct user_queue *queue, struct trace *trace, uint32_t packets,
		       uint32_t samples, struct bench_submit_cost *cost);

#endif /* TRN_BENCH_SUBMIT_USER_H */
