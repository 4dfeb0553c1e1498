// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous VM_BIND: each context's calls, one after the other.
 *
 * From the moment that a call's fence is published it has all that it needs.  The
 * work that executes calls allocates and frees nothing, and takes no lock under
 * which somebody allocates; what is left of a call is freed by a work of its own.
 */
#include <linux/dma-fence-chain.h>

#include <drm/drm_managed.h>

#include "trn_bind.h"
#include "trn_context.h"
#include "trn_device.h"
#include "trn_fence.h"

static struct trn_bind *trn_bind_queue_oldest(struct trn_bind_queue *queue, int *error)
{
	struct trn_bind *bind;

	spin_lock(&queue->lock);
	bind = list_first_entry_or_null(&queue->pending, struct trn_bind, link);
	*error = queue->error;
	spin_unlock(&queue->lock);
	return bind;
}

static void trn_bind_queue_wake(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct trn_bind *bind = container_of(cb, struct trn_bind, wait_cb);
	struct trn_bind_queue *queue = &bind->context->bind_queue;

	queue_work(queue->tdev->bind_wq, &queue->work);
}

/* After this the callback does not run and will not. */
static void trn_bind_stop_waiting(struct trn_bind *bind)
{
	if (bind->waiting)
		dma_fence_remove_callback(trn_syncs_wait(&bind->syncs, bind->waited),
					  &bind->wait_cb);
	bind->waiting = false;
}

/* Whether all fences that @bind waits for have signalled; if not the work runs again. */
static bool trn_bind_can_start(struct trn_bind *bind)
{
	while (bind->waited < bind->syncs.num_waits) {
		struct dma_fence *fence = trn_syncs_wait(&bind->syncs, bind->waited);

		if (!dma_fence_is_signaled(fence)) {
			if (bind->waiting)
				return false;
			if (!dma_fence_add_callback(fence, &bind->wait_cb, trn_bind_queue_wake)) {
				bind->waiting = true;
				return false;
			}
		}
		trn_bind_stop_waiting(bind);
		if (!bind->error)
			bind->error = min(dma_fence_get_status(dma_fence_chain_contained(fence)),
					  0);
		bind->waited++;
	}
	return true;
}

static int trn_bind_queue_exec(struct trn_bind *bind)
{
	struct trn_vm *vm = &bind->context->vm;
	int idx, ret;

	if (bind->error)
		return bind->error;
	ret = trn_device_try_enter(vm->tdev, &idx);
	if (ret)
		return ret;
	ret = trn_vm_lost(vm);
	if (ret)
		goto out_exit;
	mutex_lock(&vm->lock);
	ret = trn_bind_exec(bind);
	mutex_unlock(&vm->lock);
	/* The chip may have been reset, or have died, on the way. */
	ret = trn_vm_lost(vm) ?: ret;
out_exit:
	trn_device_exit(vm->tdev, idx);
	return ret;
}

static void trn_bind_queue_finish(struct trn_bind_queue *queue, struct trn_bind *bind, int error)
{
	struct dma_fence *fence = &bind->fence->base;

	bind->fence = NULL;
	if (error)
		dma_fence_set_error(fence, error);
	dma_fence_signal(fence);
	dma_fence_put(fence);

	spin_lock(&queue->lock);
	list_move_tail(&bind->link, &queue->finished);
	spin_unlock(&queue->lock);
	queue_work(queue->tdev->free_wq, &queue->free_work);
}

static void trn_bind_queue_work(struct work_struct *work)
{
	struct trn_bind_queue *queue = container_of(work, struct trn_bind_queue, work);
	bool signalling = dma_fence_begin_signalling();
	struct trn_bind *bind;
	int error;

	while ((bind = trn_bind_queue_oldest(queue, &error))) {
		if (error)
			trn_bind_stop_waiting(bind);
		else if (trn_bind_can_start(bind))
			error = trn_bind_queue_exec(bind);
		else
			break;
		trn_bind_queue_finish(queue, bind, error);
	}
	dma_fence_end_signalling(signalling);
}

static void trn_bind_queue_free_work(struct work_struct *work)
{
	struct trn_bind_queue *queue = container_of(work, struct trn_bind_queue, free_work);
	struct trn_bind *bind, *next;
	LIST_HEAD(finished);

	spin_lock(&queue->lock);
	list_splice_init(&queue->finished, &finished);
	spin_unlock(&queue->lock);
	list_for_each_entry_safe(bind, next, &finished, link)
		trn_bind_free(bind);
}

static void trn_bind_release_wq(struct drm_device *drm, void *wq)
{
	destroy_workqueue(wq);
}

static int trn_bind_alloc_wq(struct trn_device *tdev, const char *name, unsigned int flags,
			     struct workqueue_struct **wq)
{
	*wq = alloc_workqueue("%s-%s", WQ_UNBOUND | flags, 0, name, pci_name(tdev->pdev));
	if (!*wq)
		return -ENOMEM;
	return drmm_add_action_or_reset(&tdev->drm, trn_bind_release_wq, *wq);
}

int trn_bind_init(struct trn_device *tdev)
{
	int ret;

	/* Reclaim may wait for fences. */
	ret = trn_bind_alloc_wq(tdev, "trn-bind", WQ_MEM_RECLAIM, &tdev->bind_wq);
	if (ret)
		return ret;
	return trn_bind_alloc_wq(tdev, "trn-free", 0, &tdev->free_wq);
}

void trn_bind_queue_init(struct trn_bind_queue *queue, struct trn_device *tdev)
{
	queue->tdev = tdev;
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->pending);
	INIT_LIST_HEAD(&queue->finished);
	queue->fence_context = dma_fence_context_alloc(1);
	INIT_WORK(&queue->work, trn_bind_queue_work);
	INIT_WORK(&queue->free_work, trn_bind_queue_free_work);
}

/**
 * trn_bind_queue_add() - execute a call when its turn comes
 * @queue: the context's
 * @bind: prepared; the queue's from here on, unless this fails
 *
 * Return: 0; -ENOENT when the context is being destroyed; -EIO when the chip was reset; -ENODEV
 * when it is gone.
 */
int trn_bind_queue_add(struct trn_bind_queue *queue, struct trn_bind *bind)
{
	struct dma_fence *fence = &bind->fence->base;
	struct trn_syncs signals = {};
	int error;

	/* What is to be signalled is needed after @bind may be gone. */
	trn_syncs_split(&bind->syncs, &signals);

	spin_lock(&queue->lock);
	error = queue->error;
	if (!error) {
		/* Nothing can fail from here on. */
		trn_fence_init(bind->fence, "VM_BIND", queue->fence_context, ++queue->seqno);
		/* The first reference is the queue's. */
		dma_fence_get(fence);
		list_add_tail(&bind->link, &queue->pending);
		queue_work(queue->tdev->bind_wq, &queue->work);
	}
	spin_unlock(&queue->lock);

	if (!error) {
		trn_syncs_signal(&signals, fence);
		dma_fence_put(fence);
	}
	trn_syncs_fini(&signals);
	return error == -ECANCELED ? -ENOENT : error;
}

/* What is pending ends with @error; no call is accepted any more.  Does not wait. */
void trn_bind_queue_fail(struct trn_bind_queue *queue, int error)
{
	spin_lock(&queue->lock);
	if (!queue->error) {
		queue->error = error;
		queue_work(queue->tdev->bind_wq, &queue->work);
	}
	spin_unlock(&queue->lock);
}

/* The context is being destroyed: when this returns nothing is pending or to be freed. */
void trn_bind_queue_stop(struct trn_bind_queue *queue)
{
	trn_bind_queue_fail(queue, trn_device_gone(queue->tdev) ? -ENODEV : -ECANCELED);
	flush_work(&queue->work);
	/* A fence may have queued it again before its callback was removed. */
	cancel_work_sync(&queue->work);
	flush_work(&queue->free_work);
}
