// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs on kernel queues: the SUBMIT ioctl and completion.
 *
 * A job is its packets and a FENCE_WRITE of its sequence number to the queue's
 * fence word.  The ring is accounted by fences: a job whose fence was reached
 * has left the ring.
 */
#include <linux/slab.h>
#include <linux/sched/signal.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/trn_accel.h>

#include "trn_array.h"
#include "trn_device.h"
#include "trn_drv.h"
#include "trn_fence.h"
#include "trn_gem.h"
#include "trn_packet.h"
#include "trn_queue.h"
#include "trn_sync.h"

struct trn_job {
	struct trn_packet *packets;
	u32 num_packets;
	struct trn_syncs syncs;
	struct trn_fence *fence;
	struct dma_fence **finished;	/* NULL, or where to put a reference to the fence */
};

static __le64 *trn_submit_fence_word(struct trn_queue *queue)
{
	return queue->ring_memory;
}

static struct trn_packet *trn_submit_packet(struct trn_queue *queue, u32 index)
{
	struct trn_packet *ring = queue->ring_memory + PAGE_SIZE;

	return &ring[trn_ring_slot(&queue->ring, index)];
}

static struct trn_fence *trn_submit_oldest(struct trn_queue *queue)
{
	return list_first_entry_or_null(&queue->jobs, struct trn_fence, link);
}

static void trn_submit_end_job(struct trn_queue *queue, struct trn_fence *fence, int error)
{
	lockdep_assert_held(&queue->lock);

	list_del(&fence->link);
	queue->ring.done = fence->ring_end;
	if (error)
		dma_fence_set_error(&fence->base, error);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

/* End the jobs that the chip has finished. */
static void trn_submit_end_finished(struct trn_queue *queue)
{
	u64 value = le64_to_cpu(READ_ONCE(*trn_submit_fence_word(queue)));
	struct trn_fence *fence;

	lockdep_assert_held(&queue->lock);

	/* What the jobs wrote is read after this by whoever is told. */
	dma_rmb();
	if (value > queue->seqno) {
		trn_device_declare_dead(queue->tdev, "queue %u: fence is %llu, newest job is %llu",
					queue->id, value, queue->seqno);
		return;
	}
	while ((fence = trn_submit_oldest(queue)) && fence->base.seqno <= value)
		trn_submit_end_job(queue, fence, 0);
}

void trn_submit_progress(struct trn_queue *queue)
{
	struct trn_control *control = queue->control;
	struct trn_fence *fence;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	do {
		trn_submit_end_finished(queue);
		fence = trn_submit_oldest(queue);
		/* Interrupt when the next job ends. */
		WRITE_ONCE(control->wake_at, cpu_to_le64(fence ? fence->base.seqno : 0));
		/* Pairs with the chip's, between fence write and load of wake_at. */
		mb();
	} while (fence && !queue->error && trn_device_state(queue->tdev) == TRN_STATE_OK &&
		 le64_to_cpu(READ_ONCE(*trn_submit_fence_word(queue))) >= fence->base.seqno);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/*
 * The chip does nothing for this queue any more: end all jobs, the oldest
 * unfinished one with @first_error, those behind it with @error.
 */
void trn_submit_cancel(struct trn_queue *queue, int first_error, int error)
{
	struct trn_fence *fence;
	unsigned long flags;

	if (queue->mode != DRM_TRN_QUEUE_KERNEL)
		return;
	spin_lock_irqsave(&queue->lock, flags);
	trn_submit_end_finished(queue);
	while ((fence = trn_submit_oldest(queue))) {
		trn_submit_end_job(queue, fence, first_error);
		first_error = error;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	wake_up_all(&queue->wait);
}

static void trn_job_cleanup(struct trn_job *job)
{
	trn_syncs_fini(&job->syncs);
	kvfree(job->packets);
	if (job->fence)
		trn_fence_free_unused(job->fence);
}

static int trn_job_init_packets(struct trn_job *job, const struct trn_queue *queue,
				const struct drm_trn_submit *args)
{
	u32 i;

	if (args->packets.count >= queue->ring.entries)
		return -E2BIG;
	if (args->packets.count && args->packets.stride != sizeof(*job->packets))
		return -EINVAL;
	job->packets = trn_array_copy(&args->packets, DRM_TRN_SUBMIT_PACKETS_MAX,
				      sizeof(*job->packets), sizeof(*job->packets));
	if (IS_ERR(job->packets)) {
		int ret = PTR_ERR(job->packets);

		job->packets = NULL;
		return ret;
	}
	job->num_packets = args->packets.count;
	for (i = 0; i < job->num_packets; i++) {
		if (trn_packet_check(&job->packets[i])) {
			drm_dbg(&queue->tdev->drm, "packet %u (opcode 0x%02x) is invalid\n",
				i, job->packets[i].opcode);
			return -EINVAL;
		}
	}
	return 0;
}

/* After a failure too, trn_job_cleanup() is for the caller to do. */
static int trn_job_init(struct trn_job *job, const struct trn_queue *queue,
			struct drm_file *drm_file, const struct drm_trn_submit *args)
{
	int ret;

	ret = trn_job_init_packets(job, queue, args);
	if (ret)
		return ret;
	ret = trn_syncs_init(&job->syncs, drm_file, &args->syncs, DRM_TRN_SUBMIT_SYNCS_MAX,
			     DRM_TRN_SYNC_SIGNAL);
	if (ret)
		return ret;
	job->fence = trn_fence_alloc();
	return job->fence ? 0 : -ENOMEM;
}

/* 0 when @packets more and a fence fit, -EBUSY when not yet, or the error. */
static int trn_submit_room(struct trn_queue *queue, u32 packets)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->error)
		ret = queue->error;
	else
		ret = trn_ring_space(&queue->ring) > packets ? 0 : -EBUSY;
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

/*
 * Give the job a sequence number and @packets entries of the ring, from index
 * *@start, and put its fence on the queue's list, unless the queue has failed.  The
 * chip does not know the job yet.
 */
static int trn_submit_reserve(struct trn_queue *queue, struct trn_fence *fence, u32 packets,
			      u32 *start)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&queue->lock, flags);
	ret = queue->error;
	if (ret)
		goto out_unlock;
	queue->seqno++;
	trn_fence_init(fence, "kernel queue", queue->fence_context, queue->seqno);
	*start = queue->ring.tail;
	queue->ring.tail += packets;
	fence->ring_end = queue->ring.tail;
	if (list_empty(&queue->jobs))
		WRITE_ONCE(queue->control->wake_at, cpu_to_le64(queue->seqno));
	list_add_tail(&fence->link, &queue->jobs);
	/* One reference for the list, the first is for the caller. */
	dma_fence_get(&fence->base);
out_unlock:
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

static void trn_submit_write_packets(struct trn_queue *queue, const struct trn_job *job,
				     u32 start)
{
	u32 i;

	for (i = 0; i < job->num_packets; i++)
		*trn_submit_packet(queue, start + i) = job->packets[i];
	trn_packet_fence_write(trn_submit_packet(queue, start + job->num_packets),
			       queue->ring_va, job->fence->base.seqno);
}

static void trn_submit_kick(struct trn_queue *queue, u32 tail)
{
	struct trn_control *control = queue->control;

	/* Packets and wake_at before tail. */
	dma_wmb();
	WRITE_ONCE(control->tail, cpu_to_le32(tail));
	/* Pairs with the chip's, between need_kick = 1 and its last load of tail. */
	mb();
	if (READ_ONCE(control->need_kick))
		writel(0, queue->tdev->doorbells +
		       (size_t)queue->id * queue->tdev->caps.doorbell_stride + TRN_DOORBELL_KICK);
}

/* 0 and the job is the chip's; -EBUSY when the ring has no room yet. */
static int trn_submit_push(struct trn_queue *queue, struct trn_job *job)
{
	u32 start;
	int idx, ret;

	if (!trn_device_enter(queue->tdev, &idx))
		return -ENODEV;
	mutex_lock(&queue->submit_lock);
	ret = trn_submit_room(queue, job->num_packets);
	if (ret)
		goto out_unlock;
	ret = trn_submit_reserve(queue, job->fence, job->num_packets + 1, &start);
	if (ret)
		goto out_unlock;

	/* Nothing can fail from here on. */
	trn_syncs_signal(&job->syncs, &job->fence->base);
	trn_submit_write_packets(queue, job, start);
	trn_submit_kick(queue, job->fence->ring_end);
	if (job->finished)
		*job->finished = &job->fence->base;
	else
		dma_fence_put(&job->fence->base);
	job->fence = NULL;
out_unlock:
	mutex_unlock(&queue->submit_lock);
	trn_device_exit(idx);
	return ret;
}

static int trn_submit(struct trn_queue *queue, struct trn_job *job)
{
	int ret;

	while ((ret = trn_submit_push(queue, job)) == -EBUSY) {
		if (wait_event_state(queue->wait,
				     trn_submit_room(queue, job->num_packets) != -EBUSY,
				     (TASK_KILLABLE | TASK_FREEZABLE)))
			return -EINTR;
	}
	return ret;
}

/**
 * trn_submit_packets() - run a job of the driver's own
 * @queue: made by trn_queue_create_internal()
 * @packets: packets of the job
 * @count: how many, less than the ring's entries
 * @finished: out: the job's fence, with a reference
 *
 * Sleeps while the ring is full.
 *
 * Return: 0; -EINTR killed; -ENOMEM; -ENODEV; -EIO the queue has stopped.
 */
int trn_submit_packets(struct trn_queue *queue, struct trn_packet *packets, u32 count,
		       struct dma_fence **finished)
{
	struct trn_job job = {
		.packets = packets,
		.num_packets = count,
		.finished = finished,
	};
	int ret;

	job.fence = trn_fence_alloc();
	if (!job.fence)
		return -ENOMEM;
	ret = trn_submit(queue, &job);
	if (ret)
		trn_fence_free_unused(job.fence);
	return ret;
}

int trn_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trn_submit *args = data;
	struct trn_job job = {};
	struct trn_queue *queue;
	int ret;

	if (args->flags)
		return -EINVAL;
	if (trn_device_state(to_trn_device(drm)) != TRN_STATE_OK)
		return -ENODEV;
	queue = trn_queue_get(drm_file->driver_priv, args->queue);
	if (!queue)
		return -ENOENT;
	if (queue->mode != DRM_TRN_QUEUE_KERNEL) {
		ret = -EINVAL;
		goto out_put;
	}
	ret = trn_job_init(&job, queue, drm_file, args);
	if (!ret)
		ret = trn_submit(queue, &job);
	trn_job_cleanup(&job);
out_put:
	trn_queue_put(queue);
	return ret;
}
