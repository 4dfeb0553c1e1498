/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_SUBMIT_USER_H
#define TRN_BENCH_SUBMIT_USER_H

#include "submit.h"
#include "tracefs.h"

struct user_queue;

int user_queue_open(const struct trn_device_entry *entry, struct user_queue **queue);
void user_queue_close(struct user_queue *queue);

enum user_packet {
	USER_COPY,
	USER_EMPTY,
	USER_PROGRAM, /* that does nothing */
};

/* Fills *cost with what submits of @packets of a kind cost; as bench_submit(). */
int user_queue_measure(struct user_queue *queue, struct trace *trace, enum user_packet kind,
		       uint32_t packets, uint32_t samples, struct bench_submit_cost *cost);

#endif /* TRN_BENCH_SUBMIT_USER_H */
