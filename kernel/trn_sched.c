// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs that have to wait, for fences or behind jobs that do: each kernel queue has
 * a DRM scheduler of its own, which feeds the ring in order.
 *
 * The fence that user space has of a job is the queue's, not the scheduler's:
 * trn_submit_cancel() ends it at once whatever the job waits for.  The scheduler's
 * jobs are then only memory, which trn_sched_stop() waits for.
 *
 * Fences to wait for are handed to the scheduler one by one by prepare_job, because
 * those that it knows as dependencies of a job it would wait for even when the job is
 * killed.  It watches no time: the running time that the chip tells is what counts.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include <drm/drm_managed.h>
#include <drm/gpu_scheduler.h>

#include "trn_compat_sched.h"
#include "trn_device.h"
#include "trn_fence.h"
#include "trn_queue.h"
#include "trn_sched.h"
#include "trn_submit.h"

struct trn_sched {
	struct drm_gpu_scheduler base;
	struct drm_sched_entity entity;
	/* The fence that prepare_job gave last; written by the scheduler's work. */
	struct dma_fence *awaited;
	/* One for each job that is not freed yet, and one until trn_sched_stop(). */
	atomic_t users;
	struct completion drained;
};

struct trn_sched_job {
	struct drm_sched_job base;
	struct trn_queue *queue;
	struct trn_job job;
	u32 waited;			/* fences of job.syncs that the scheduler got */
};

static struct trn_sched_job *to_trn_sched_job(struct drm_sched_job *base)
{
	return container_of(base, struct trn_sched_job, base);
}

static struct dma_fence *trn_sched_next_fence(struct trn_sched_job *sched_job)
{
	const struct trn_syncs *syncs = &sched_job->job.syncs;

	if (sched_job->waited < syncs->num_waits)
		return dma_fence_get(trn_syncs_wait(syncs, sched_job->waited++));
	return trn_submit_awaited_room(sched_job->queue, &sched_job->job);
}

static struct dma_fence *trn_sched_prepare_job(struct drm_sched_job *base,
					       struct drm_sched_entity *entity)
{
	struct trn_sched_job *sched_job = to_trn_sched_job(base);
	struct trn_sched *sched = sched_job->queue->sched;
	bool signalling = dma_fence_begin_signalling();

	dma_fence_put(sched->awaited);
	sched->awaited = trn_sched_next_fence(sched_job);
	dma_fence_end_signalling(signalling);
	return dma_fence_get(sched->awaited);
}

static struct dma_fence *trn_sched_run_job(struct drm_sched_job *base)
{
	struct trn_sched_job *sched_job = to_trn_sched_job(base);
	bool signalling = dma_fence_begin_signalling();

	trn_submit_run(sched_job->queue, &sched_job->job);
	dma_fence_end_signalling(signalling);
	return dma_fence_get(&sched_job->job.fence->base);
}

static void trn_sched_put(struct trn_sched *sched)
{
	if (atomic_dec_and_test(&sched->users))
		complete(&sched->drained);
}

static void trn_sched_free_job(struct drm_sched_job *base)
{
	struct trn_sched_job *sched_job = to_trn_sched_job(base);
	struct trn_sched *sched = sched_job->queue->sched;

	drm_sched_job_cleanup(base);
	dma_fence_put(&sched_job->job.fence->base);
	trn_syncs_fini(&sched_job->job.syncs);
	kvfree(sched_job->job.many_packets);
	kfree(sched_job);
	trn_sched_put(sched);
}

static const struct drm_sched_backend_ops trn_sched_ops = {
	.prepare_job = trn_sched_prepare_job,
	.run_job = trn_sched_run_job,
	.free_job = trn_sched_free_job,
};

static void trn_sched_release_wq(struct drm_device *drm, void *wq)
{
	destroy_workqueue(wq);
}

int trn_sched_init(struct trn_device *tdev)
{
	/* Reclaim may wait for fences. */
	tdev->sched_wq = alloc_workqueue("trn-sched-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
					 pci_name(tdev->pdev));
	if (!tdev->sched_wq)
		return -ENOMEM;
	return drmm_add_action_or_reset(&tdev->drm, trn_sched_release_wq, tdev->sched_wq);
}

/* To be undone by trn_sched_stop(), and at last by trn_sched_free(). */
int trn_sched_start(struct trn_queue *queue)
{
	struct drm_gpu_scheduler *base;
	struct trn_sched *sched;
	int ret;

	sched = kzalloc(sizeof(*sched), GFP_KERNEL_ACCOUNT);
	if (!sched)
		return -ENOMEM;
	atomic_set(&sched->users, 1);
	init_completion(&sched->drained);
	base = &sched->base;
	ret = trn_compat_sched_init(base, &trn_sched_ops, queue->tdev->sched_wq,
				    queue->ring.entries, TRN_DRIVER_NAME,
				    &queue->tdev->pdev->dev);
	if (ret)
		goto err_free;
	ret = drm_sched_entity_init(&sched->entity, DRM_SCHED_PRIORITY_KERNEL, &base, 1, NULL);
	if (ret)
		goto err_fini;
	queue->sched = sched;
	return 0;

err_fini:
	drm_sched_fini(base);
err_free:
	kfree(sched);
	return ret;
}

/*
 * The queue has an error and its fences have ended: when this returns the scheduler
 * has no job and does nothing any more.
 */
void trn_sched_stop(struct trn_queue *queue)
{
	struct trn_sched *sched = queue->sched;
	struct dma_fence_cb none = { .node = LIST_HEAD_INIT(none.node) };

	if (!sched)
		return;
	/* Who has found the queue without an error has pushed its job after this. */
	mutex_lock(&queue->submit_lock);
	mutex_unlock(&queue->submit_lock);

	drm_sched_entity_fini(&sched->entity);
	/*
	 * Whoever signals the last fence may just be about to wake the scheduler.  He
	 * has the fence's lock, which this takes.
	 */
	if (sched->awaited)
		dma_fence_remove_callback(sched->awaited, &none);
	dma_fence_put(sched->awaited);

	if (!atomic_dec_and_test(&sched->users))
		wait_for_completion(&sched->drained);
	drm_sched_fini(&sched->base);
}

/* With the queue: calls that come too late still look at it. */
void trn_sched_free(struct trn_queue *queue)
{
	kfree(queue->sched);
}

/**
 * trn_sched_job_alloc() - let a job go through the scheduler
 * @queue: a file's kernel queue
 * @job: the job; it has been found to have to wait
 * @client_id: of the DRM file, for tracing
 *
 * Return: 0, or -ENOMEM.
 */
int trn_sched_job_alloc(struct trn_queue *queue, struct trn_job *job, u64 client_id)
{
	struct trn_sched_job *sched_job;
	int ret;

	sched_job = kzalloc(sizeof(*sched_job), GFP_KERNEL_ACCOUNT);
	if (!sched_job)
		return -ENOMEM;
	ret = trn_compat_sched_job_init(&sched_job->base, &queue->sched->entity, client_id);
	if (ret) {
		kfree(sched_job);
		return ret;
	}
	sched_job->queue = queue;
	job->sched_job = sched_job;
	return 0;
}

/* Of a job that was not pushed. */
void trn_sched_job_free_unused(struct trn_job *job)
{
	if (!job->sched_job)
		return;
	drm_sched_job_cleanup(&job->sched_job->base);
	kfree(job->sched_job);
}

/* All but what the job signals is the scheduler's from here on. */
void trn_sched_push(struct trn_queue *queue, struct trn_job *job)
{
	struct trn_sched_job *sched_job = job->sched_job;

	lockdep_assert_held(&queue->submit_lock);

	sched_job->job = *job;
	dma_fence_get(&job->fence->base);
	memset(&job->syncs, 0, sizeof(job->syncs));
	trn_syncs_split(&sched_job->job.syncs, &job->syncs);
	job->many_packets = NULL;
	job->sched_job = NULL;

	atomic_inc(&queue->sched->users);
	drm_sched_job_arm(&sched_job->base);
	drm_sched_entity_push_job(&sched_job->base);
}
