// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>

#include "trn_compat.h"
#include "trn_device.h"
#include "trn_fence.h"
#include "trn_queue.h"

static const char *trn_fence_driver_name(struct dma_fence *base)
{
	return TRN_DRIVER_NAME;
}

static const char *trn_fence_timeline_name(struct dma_fence *base)
{
	return container_of(base, struct trn_fence, base)->timeline;
}

/* The chip tells memory first: whoever looks there need not wait for the interrupt. */
static bool trn_fence_signaled(struct dma_fence *base)
{
	struct trn_fence *fence = container_of(base, struct trn_fence, base);
	bool signaled;

	if (!fence->queue)
		return false;
	rcu_read_lock();
	/* The queue is there if this is read as clear. */
	signaled = test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &base->flags) ||
		   trn_submit_finished(fence->queue, base->seqno);
	rcu_read_unlock();
	return signaled;
}

static const struct dma_fence_ops trn_fence_ops = {
	.get_driver_name = trn_fence_driver_name,
	.get_timeline_name = trn_fence_timeline_name,
	.signaled = trn_fence_signaled,
	.release = TRN_FENCE_RELEASE,
};

struct trn_fence *trn_fence_alloc(void)
{
	return kzalloc(sizeof(struct trn_fence), GFP_KERNEL_ACCOUNT);
}

/* A fence that trn_fence_init() has not seen. */
void trn_fence_free_unused(struct trn_fence *fence)
{
	kfree(fence);
}

/* @timeline: what @context is, for debugging; a constant string */
void trn_fence_init(struct trn_fence *fence, const char *timeline, u64 context, u64 seqno)
{
	fence->timeline = timeline;
	spin_lock_init(&fence->lock);
	trn_fence_pin_module();
	dma_fence_init(&fence->base, &trn_fence_ops, &fence->lock, context, seqno);
}

/* Unless it has one, or somebody has seen before that it was reached. */
void trn_fence_set_error(struct trn_fence *fence, int error)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	if (!fence->base.error && !test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &fence->base.flags))
		dma_fence_set_error(&fence->base, error);
	spin_unlock_irqrestore(&fence->lock, flags);
}
