/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_WAIT_H
#define _TRN_WAIT_H

#include <linux/list.h>
#include <linux/types.h>

struct eventfd_ctx;
struct trn_bo;
struct trn_queue;

/* Somebody who wants to know when a user queue's fence reaches a value. */
struct trn_waiter {
	struct list_head link;		/* trn_queue.waiters */
	const __le64 *word;
	struct trn_bo *bo;		/* keeps @word */
	u64 value;
	bool woken;			/* needs no more interrupts; protected by trn_queue.lock */
	struct eventfd_ctx *eventfd;	/* NULL: a call of WAIT */
};

int trn_wait_find_word(struct trn_queue *queue, u64 va, struct trn_waiter *waiter);
bool trn_wait_reached(const struct trn_waiter *waiter);
void trn_wait_arm(struct trn_queue *queue);
unsigned int trn_wait_progress(struct trn_queue *queue);

/* trn_eventfd.c */
void trn_eventfd_init(struct trn_queue *queue);
void trn_eventfd_fire(struct trn_queue *queue, struct trn_waiter *waiter);
void trn_eventfd_flush(struct trn_queue *queue);

#endif /* _TRN_WAIT_H */
