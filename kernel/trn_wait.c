// SPDX-License-Identifier: GPL-2.0-only
/*
 * WAIT: sleep until a user queue's fence has reached a value.
 *
 * wake_at is one word for all waiters of the queue: it is the least value that
 * any of them wants.  Interrupts that nobody needs do no harm; the process
 * may write wake_at too, and then wakes late, at its own deadline.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include <drm/drm_file.h>
#include <drm/trn_accel.h>

#include "trn_context.h"
#include "trn_device.h"
#include "trn_gem.h"
#include "trn_queue.h"
#include "trn_wait.h"

void trn_wait_arm(struct trn_queue *queue)
{
	struct trn_waiter *waiter;
	u64 least = 0;

	lockdep_assert_held(&queue->lock);

	list_for_each_entry(waiter, &queue->waiters, link) {
		if (!waiter->woken && (!least || waiter->value < least))
			least = waiter->value;
	}
	WRITE_ONCE(queue->control->wake_at, cpu_to_le64(least));
}

static void trn_wait_begin(struct trn_queue *queue, struct trn_waiter *waiter)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_add(&waiter->link, &queue->waiters);
	trn_wait_arm(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

static void trn_wait_end(struct trn_queue *queue, struct trn_waiter *waiter)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_del(&waiter->link);
	trn_wait_arm(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* The word at @va, for which the caller puts waiter->bo. */
int trn_wait_find_word(struct trn_queue *queue, u64 va, struct trn_waiter *waiter)
{
	waiter->word = trn_mapping_find_word(queue->context, va, &waiter->bo);
	return PTR_ERR_OR_ZERO(waiter->word);
}

bool trn_wait_reached(const struct trn_waiter *waiter)
{
	bool reached = le64_to_cpu(READ_ONCE(*waiter->word)) >= waiter->value;

	/* What was written before the fence is read after it. */
	dma_rmb();
	return reached;
}

/* Wakes who is to be woken, once; returns how many. */
unsigned int trn_wait_progress(struct trn_queue *queue)
{
	struct trn_waiter *waiter, *next;
	unsigned int woken = 0;
	unsigned long flags;

	if (list_empty(&queue->waiters))
		return 0;
	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry_safe(waiter, next, &queue->waiters, link) {
		if (waiter->woken || (!queue->error && !trn_wait_reached(waiter)))
			continue;
		waiter->woken = true;
		woken++;
		if (waiter->eventfd)
			trn_eventfd_fire(queue, waiter);
	}
	/* No more interrupts for these. */
	if (woken)
		trn_wait_arm(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (woken)
		wake_up_all(&queue->wait);
	return woken;
}

/* 0 reached, -EAGAIN not yet, else why waiting is of no use. */
static int trn_wait_check(struct trn_queue *queue, const struct trn_waiter *waiter,
			  ktime_t deadline)
{
	int error;

	if (trn_wait_reached(waiter))
		return 0;
	error = trn_device_lost(queue->tdev, queue->epoch) ?: READ_ONCE(queue->error);
	if (error)
		return error;
	if (fatal_signal_pending(current))
		return -EINTR;
	if (ktime_compare(ktime_get(), deadline) >= 0)
		return -ETIME;
	return -EAGAIN;
}

/* Whether the waiter had been woken; if so it will be once more. */
static bool trn_wait_again(struct trn_queue *queue, struct trn_waiter *waiter)
{
	unsigned long flags;
	bool woken;

	spin_lock_irqsave(&queue->lock, flags);
	woken = waiter->woken;
	if (woken) {
		waiter->woken = false;
		trn_wait_arm(queue);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return woken;
}

static int trn_wait_sleep(struct trn_queue *queue, struct trn_waiter *waiter, ktime_t deadline)
{
	DEFINE_WAIT(wait);
	int ret;

	trn_wait_begin(queue, waiter);
	for (;;) {
		prepare_to_wait(&queue->wait, &wait, TASK_KILLABLE | TASK_FREEZABLE);
		/*
		 * Pairs with the chip's, between fence write and load of wake_at: either
		 * it sees wake_at, or the fence is seen here.
		 */
		mb();
		ret = trn_wait_check(queue, waiter, deadline);
		if (ret != -EAGAIN)
			break;
		/* The fence had been reached, but is not any more. */
		if (trn_wait_again(queue, waiter))
			continue;
		schedule_hrtimeout_range(&deadline, current->timer_slack_ns, HRTIMER_MODE_ABS);
	}
	finish_wait(&queue->wait, &wait);
	trn_wait_end(queue, waiter);
	return ret;
}

static int trn_wait(struct trn_queue *queue, const struct drm_trn_wait *args)
{
	ktime_t deadline = ns_to_ktime(args->deadline_ns);
	struct trn_waiter waiter = { .value = args->value };
	int ret;

	ret = trn_wait_find_word(queue, args->va, &waiter);
	if (ret)
		return ret;
	ret = trn_wait_check(queue, &waiter, deadline);
	if (ret == -EAGAIN)
		ret = trn_wait_sleep(queue, &waiter, deadline);
	drm_gem_object_put(&waiter.bo->base);
	return ret;
}

int trn_ioctl_wait(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trn_wait *args = data;
	struct trn_queue *queue;
	int ret;

	if (args->flags || !args->value || !IS_ALIGNED(args->va, sizeof(__le64)))
		return -EINVAL;
	queue = trn_queue_get(drm_file, args->queue);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	ret = trn_device_lost(queue->tdev, queue->epoch);
	if (!ret)
		ret = queue->mode == DRM_TRN_QUEUE_USER ? trn_wait(queue, args) : -EINVAL;
	trn_queue_put(queue);
	return ret;
}
