/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_SUBMIT_H
#define _TRN_SUBMIT_H

#include <linux/types.h>

#include <hw/trn_queue.h>

#include "trn_sync.h"

struct dma_fence;
struct trn_fence;
struct trn_queue;
struct trn_sched_job;

/* That many packets of a job need no memory of their own. */
#define TRN_JOB_FEW_PACKETS	2

/* A job until its packets are on the ring.  May be moved by assignment. */
struct trn_job {
	struct trn_packet *many_packets;	/* NULL: few_packets has them */
	u32 num_packets;
	struct trn_packet few_packets[TRN_JOB_FEW_PACKETS];
	struct trn_syncs syncs;
	struct trn_fence *fence;
	/* NULL, or the job goes through the scheduler. */
	struct trn_sched_job *sched_job;
};

/* Of a job in the scheduler: */
struct dma_fence *trn_submit_awaited_room(struct trn_queue *queue, const struct trn_job *job);
void trn_submit_run(struct trn_queue *queue, const struct trn_job *job);

#endif /* _TRN_SUBMIT_H */
