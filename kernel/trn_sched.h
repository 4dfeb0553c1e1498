/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_SCHED_H
#define _TRN_SCHED_H

#include <linux/types.h>

struct trn_device;
struct trn_job;
struct trn_queue;

int trn_sched_init(struct trn_device *tdev);
int trn_sched_start(struct trn_queue *queue);
void trn_sched_stop(struct trn_queue *queue);
void trn_sched_free(struct trn_queue *queue);

int trn_sched_job_alloc(struct trn_queue *queue, struct trn_job *job, u64 client_id);
void trn_sched_job_free_unused(struct trn_job *job);
void trn_sched_push(struct trn_queue *queue, struct trn_job *job);

#endif /* _TRN_SCHED_H */
