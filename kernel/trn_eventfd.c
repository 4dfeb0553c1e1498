// SPDX-License-Identifier: GPL-2.0-only
/*
 * QUEUE_EVENTFD: add 1 to an eventfd when a user queue's fence has reached a value.
 *
 * Each is a waiter of the queue like a call of WAIT, until it has fired, mostly in an
 * interrupt.  What it holds is given back by a work.
 */
#include <linux/eventfd.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/trn_accel.h>

#include "trn_device.h"
#include "trn_gem.h"
#include "trn_queue.h"
#include "trn_wait.h"

static void trn_eventfd_free(struct trn_waiter *waiter)
{
	if (waiter->bo)
		drm_gem_object_put(&waiter->bo->base);
	eventfd_ctx_put(waiter->eventfd);
	kfree(waiter);
}

static void trn_eventfd_free_work(struct work_struct *work)
{
	struct trn_queue *queue = container_of(work, struct trn_queue, eventfd_work);
	struct trn_waiter *waiter, *next;
	LIST_HEAD(fired);

	spin_lock_irq(&queue->lock);
	list_splice_init(&queue->fired, &fired);
	spin_unlock_irq(&queue->lock);
	list_for_each_entry_safe(waiter, next, &fired, link)
		trn_eventfd_free(waiter);
}

void trn_eventfd_init(struct trn_queue *queue)
{
	INIT_LIST_HEAD(&queue->fired);
	INIT_WORK(&queue->eventfd_work, trn_eventfd_free_work);
}

/* @waiter is one of the queue's until now. */
void trn_eventfd_fire(struct trn_queue *queue, struct trn_waiter *waiter)
{
	lockdep_assert_held(&queue->lock);

	queue->num_eventfds--;
	list_move_tail(&waiter->link, &queue->fired);
	eventfd_signal(waiter->eventfd);
	schedule_work(&queue->eventfd_work);
}

/* The queue has an error: all have fired, and are gone when this returns. */
void trn_eventfd_flush(struct trn_queue *queue)
{
	flush_work(&queue->eventfd_work);
}

static struct trn_waiter *trn_eventfd_alloc(struct trn_queue *queue,
					    const struct drm_trn_queue_eventfd *args)
{
	struct trn_waiter *waiter;
	int ret;

	waiter = kzalloc(sizeof(*waiter), GFP_KERNEL_ACCOUNT);
	if (!waiter)
		return ERR_PTR(-ENOMEM);
	waiter->value = args->value;
	waiter->eventfd = eventfd_ctx_fdget(args->fd);
	if (IS_ERR(waiter->eventfd)) {
		ret = PTR_ERR(waiter->eventfd);
		kfree(waiter);
		return ERR_PTR(ret);
	}
	ret = trn_wait_find_word(queue, args->va, waiter);
	if (ret) {
		trn_eventfd_free(waiter);
		return ERR_PTR(ret);
	}
	return waiter;
}

/* After success @waiter is the queue's. */
static int trn_eventfd_add(struct trn_queue *queue, struct trn_waiter *waiter)
{
	int ret;

	spin_lock_irq(&queue->lock);
	ret = trn_device_lost(queue->tdev, queue->epoch) ?: queue->error;
	if (ret)
		goto out_unlock;
	if (queue->num_eventfds >= DRM_TRN_EVENTFDS_MAX) {
		ret = -ENOSPC;
	} else {
		queue->num_eventfds++;
		list_add_tail(&waiter->link, &queue->waiters);
		trn_wait_arm(queue);
	}
out_unlock:
	spin_unlock_irq(&queue->lock);
	return ret;
}

static int trn_eventfd(struct trn_queue *queue, const struct drm_trn_queue_eventfd *args)
{
	struct trn_waiter *waiter = trn_eventfd_alloc(queue, args);
	int ret = 0;

	if (IS_ERR(waiter))
		return PTR_ERR(waiter);
	if (trn_wait_reached(waiter)) {
		eventfd_signal(waiter->eventfd);
		goto out_free;
	}
	ret = trn_eventfd_add(queue, waiter);
	if (ret)
		goto out_free;
	/* Pairs with the chip's, between fence write and load of wake_at. */
	mb();
	trn_wait_progress(queue);
	return 0;

out_free:
	trn_eventfd_free(waiter);
	return ret;
}

int trn_ioctl_queue_eventfd(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trn_queue_eventfd *args = data;
	struct trn_queue *queue;
	int ret;

	if (args->flags || args->pad || !args->value || !IS_ALIGNED(args->va, sizeof(__le64)))
		return -EINVAL;
	queue = trn_queue_get(drm_file, args->queue);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	ret = queue->mode == DRM_TRN_QUEUE_USER ? trn_eventfd(queue, args) : -EINVAL;
	trn_queue_put(queue);
	return ret;
}
