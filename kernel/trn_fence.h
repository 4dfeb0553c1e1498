/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_FENCE_H
#define _TRN_FENCE_H

#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct trn_queue;

/* The end of a job on a kernel queue, or of an asynchronous VM_BIND. */
struct trn_fence {
	struct dma_fence base;		/* first: freed through it */
	spinlock_t lock;		/* base's own: fences outlive queues */
	const char *timeline;
	/* Jobs only: */
	struct trn_queue *queue;	/* no reference: freed a grace period after the signal */
	struct list_head link;		/* trn_queue.jobs, until it is signalled */
	u32 ring_end;			/* ring index after the job's last packet */
};

struct trn_fence *trn_fence_alloc(void);
void trn_fence_free_unused(struct trn_fence *fence);
void trn_fence_init(struct trn_fence *fence, const char *timeline, u64 context, u64 seqno);
void trn_fence_set_error(struct trn_fence *fence, int error);

#endif /* _TRN_FENCE_H */
