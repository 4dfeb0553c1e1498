// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs on kernel queues: the SUBMIT ioctl and completion.
 *
 * A job is its packets and a FENCE_WRITE of its sequence number to the queue's
 * fence word.  The ring is accounted by fences: a job whose fence was reached
 * has left the ring.
 *
 * Jobs get their sequence numbers, fences and place among @jobs in order of SUBMIT.  A
 * job that can start, on a queue where none waits, is put on the ring in the call; any other goes
 * through the scheduler, and so do those behind it.
 */
#include <linux/highmem.h>
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
#include "trn_sched.h"
#include "trn_submit.h"
#include "trn_sync.h"
#include "trn_trace.h"

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
	if (fence->base.seqno <= queue->pushed)
		queue->ring.done = fence->ring_end;
	if (error)
		trn_fence_set_error(fence, error);
	trace_trn_job_done(queue, fence->base.seqno, fence->base.error);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

/* End the jobs that the chip has finished; returns how many. */
static unsigned int trn_submit_end_finished(struct trn_queue *queue)
{
	u64 value = le64_to_cpu(READ_ONCE(*trn_submit_fence_word(queue)));
	struct trn_fence *fence;
	unsigned int ended = 0;

	lockdep_assert_held(&queue->lock);

	/* What the jobs wrote is read after this by whoever is told. */
	dma_rmb();
	if (value > queue->pushed) {
		/* Once: then the queue is lost, and what it has is not looked at again. */
		if (!queue->error)
			trn_device_fail(queue->tdev, "queue %u: fence is %llu, newest job is %llu",
					queue->id, value, queue->pushed);
		return 0;
	}
	/* One with an error was not executed: it ends when those before it have. */
	while ((fence = trn_submit_oldest(queue)) &&
	       (fence->base.seqno <= value || fence->base.error)) {
		trn_submit_end_job(queue, fence, 0);
		ended++;
	}
	return ended;
}

/*
 * Whether the chip has finished job @seqno.  Takes no lock: for the fence, which need not
 * be ended by an interrupt for that, and under which the queue may be released.
 */
bool trn_submit_finished(const struct trn_queue *queue, u64 seqno)
{
	const __le64 *word = kmap_local_page(queue->fence_page);
	u64 value = le64_to_cpu(READ_ONCE(*word));

	kunmap_local(word);
	/* Read after this: what the jobs wrote, and @pushed, so that it is not behind @value. */
	dma_rmb();
	return value >= seqno && value <= READ_ONCE(queue->pushed);
}

/* Returns how many jobs have ended. */
unsigned int trn_submit_progress(struct trn_queue *queue)
{
	struct trn_control *control = queue->control;
	struct trn_fence *fence;
	unsigned long flags;
	unsigned int ended = 0;

	/* Most of the queues that share an interrupt. */
	if (list_empty(&queue->jobs))
		return 0;
	spin_lock_irqsave(&queue->lock, flags);
	do {
		ended += trn_submit_end_finished(queue);
		fence = trn_submit_oldest(queue);
		/* Interrupt when the next job ends. */
		WRITE_ONCE(control->wake_at, cpu_to_le64(fence ? fence->base.seqno : 0));
		/* Pairs with the chip's, between fence write and load of wake_at. */
		mb();
	} while (fence && !queue->error && trn_device_state(queue->tdev) == TRN_STATE_OK &&
		 le64_to_cpu(READ_ONCE(*trn_submit_fence_word(queue))) >= fence->base.seqno);
	spin_unlock_irqrestore(&queue->lock, flags);
	/* For room on the ring. */
	if (ended && wq_has_sleeper(&queue->wait))
		wake_up_all(&queue->wait);
	return ended;
}

/* Sequence number of the oldest job if @packet of the ring is one of its packets, else 0. */
u64 trn_submit_job_of_packet(struct trn_queue *queue, u32 packet)
{
	struct trn_fence *fence;
	unsigned long flags;
	u64 seqno = 0;

	spin_lock_irqsave(&queue->lock, flags);
	fence = trn_submit_oldest(queue);
	if (fence && fence->base.seqno <= queue->pushed &&
	    trn_ring_contains(queue->ring.done, fence->ring_end, packet))
		seqno = fence->base.seqno;
	spin_unlock_irqrestore(&queue->lock, flags);
	return seqno;
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

/* Memory for packets, without initialisation; one piece of the size that is used most is kept. */
static struct trn_packet *trn_job_alloc_packets(struct trn_queue *queue, u32 count)
{
	struct trn_packet *packets = NULL;

	if (count <= TRN_QUEUE_SPARE_PACKETS) {
		packets = xchg(&queue->spare_packets, NULL);
		count = TRN_QUEUE_SPARE_PACKETS;
	}
	return packets ?: kvmalloc_array(count, sizeof(*packets), GFP_KERNEL_ACCOUNT);
}

static void trn_job_free_packets(struct trn_queue *queue, struct trn_job *job)
{
	struct trn_packet *packets = job->many_packets;

	if (!packets)
		return;
	if (job->num_packets <= TRN_QUEUE_SPARE_PACKETS)
		packets = xchg(&queue->spare_packets, packets);
	kvfree(packets);
}

static void trn_job_cleanup(struct trn_queue *queue, struct trn_job *job)
{
	trn_sched_job_free_unused(job);
	trn_syncs_fini(&job->syncs);
	trn_job_free_packets(queue, job);
	if (job->fence)
		trn_fence_free_unused(job->fence);
}

static const struct trn_packet *trn_job_packets(const struct trn_job *job)
{
	return job->many_packets ?: job->few_packets;
}

static int trn_job_read_packets(struct trn_job *job, struct trn_queue *queue,
				const struct drm_trn_array *array)
{
	struct trn_packet *packets = job->few_packets;
	int ret;

	ret = trn_array_check(array, DRM_TRN_SUBMIT_PACKETS_MAX, sizeof(*packets));
	if (ret || !array->count)
		return ret;
	if (array->stride != sizeof(*packets))
		return -EINVAL;
	if (array->count > TRN_JOB_FEW_PACKETS) {
		packets = trn_job_alloc_packets(queue, array->count);
		if (!packets)
			return -ENOMEM;
		job->many_packets = packets;
	}
	job->num_packets = array->count;
	if (array->count == 1)
		return trn_array_read(array, 0, packets, sizeof(*packets));
	return trn_array_read_all(array, packets, sizeof(*packets));
}

static int trn_job_init_packets(struct trn_job *job, struct trn_queue *queue,
				const struct drm_trn_submit *args)
{
	const struct trn_packet *packet;
	int ret;
	u32 i;

	if (args->packets.count >= queue->ring.entries)
		return -E2BIG;
	ret = trn_job_read_packets(job, queue, &args->packets);
	if (ret)
		return ret;
	packet = trn_job_packets(job);
	for (i = 0; i < job->num_packets; i++, packet++) {
		if (trn_packet_check(packet, queue->type, queue->tdev->caps.cores)) {
			drm_dbg(&queue->tdev->drm, "packet %u (opcode 0x%02x) is invalid\n",
				i, packet->opcode);
			return -EINVAL;
		}
	}
	return 0;
}

/* Leaves the room for few packets and syncobjs as it is: zeroing it would take its time. */
static void trn_job_none(struct trn_job *job)
{
	job->many_packets = NULL;
	job->num_packets = 0;
	job->syncs.num_waits = 0;
	job->syncs.num_signals = 0;
	job->syncs.many_waits = NULL;
	job->syncs.many_signals = NULL;
	job->fence = NULL;
	job->sched_job = NULL;
}

/* After a failure too, trn_job_cleanup() is for the caller to do. */
static int trn_job_init(struct trn_job *job, struct trn_queue *queue,
			struct drm_file *drm_file, const struct drm_trn_submit *args)
{
	int ret;

	ret = trn_job_init_packets(job, queue, args);
	if (ret)
		return ret;
	ret = trn_syncs_init(&job->syncs, drm_file, &args->syncs, DRM_TRN_SUBMIT_SYNCS_MAX,
			     DRM_TRN_SYNC_SIGNAL | DRM_TRN_SYNC_WAIT);
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

/* The job's sequence number and fence.  The chip does not know it yet. */
static void trn_submit_append(struct trn_queue *queue, struct trn_fence *fence)
{
	lockdep_assert_held(&queue->lock);

	queue->seqno++;
	fence->queue = queue;
	trn_fence_init(fence, "kernel queue", queue->fence_context, queue->seqno);
	if (list_empty(&queue->jobs))
		WRITE_ONCE(queue->control->wake_at, cpu_to_le64(queue->seqno));
	list_add_tail(&fence->link, &queue->jobs);
	/* One reference for the list, the first is for the caller. */
	dma_fence_get(&fence->base);
}

/*
 * The turn of the job: its entries of the ring, for which there is room, or none if
 * one of the fences that it waited for has an error.
 */
static void trn_submit_reserve(struct trn_queue *queue, const struct trn_job *job, int error)
{
	struct trn_fence *fence = job->fence;

	lockdep_assert_held(&queue->lock);

	if (error)
		dma_fence_set_error(&fence->base, error);
	else
		queue->ring.tail += job->num_packets + 1;
	fence->ring_end = queue->ring.tail;
	WRITE_ONCE(queue->pushed, fence->base.seqno);
}

static void trn_submit_write_packets(struct trn_queue *queue, const struct trn_job *job)
{
	const struct trn_packet *packets = trn_job_packets(job);
	u32 start = job->fence->ring_end - (job->num_packets + 1);
	u32 i;

	for (i = 0; i < job->num_packets; i++)
		*trn_submit_packet(queue, start + i) = packets[i];
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

/* The job has its place. */
static void trn_submit_write(struct trn_queue *queue, const struct trn_job *job, int error)
{
	lockdep_assert_held(&queue->submit_lock);

	if (error) {
		trn_submit_progress(queue);
	} else {
		trn_submit_write_packets(queue, job);
		trn_submit_kick(queue, job->fence->ring_end);
	}
}

/*
 * 0 and the job has its place among @jobs; -EBUSY when the ring has no room yet, -EAGAIN
 * when the job needs the scheduler.
 */
static int trn_submit_admit(struct trn_queue *queue, struct trn_job *job, bool blocked, int error)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->error) {
		ret = queue->error;
	} else if (blocked || queue->waiting || job->sched_job) {
		if (queue->waiting >= DRM_TRN_SUBMIT_WAITING_MAX)
			ret = -ENOSPC;
		else if (!job->sched_job)
			ret = -EAGAIN;
	} else if (!error && trn_ring_space(&queue->ring) <= job->num_packets) {
		ret = -EBUSY;
	}
	if (ret)
		goto out_unlock;

	trn_submit_append(queue, job->fence);
	if (job->sched_job)
		queue->waiting++;
	else
		trn_submit_reserve(queue, job, error);
out_unlock:
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

/* As trn_submit_admit(); 0 and the job is the chip's or the scheduler's. */
static int trn_submit_push(struct trn_queue *queue, struct trn_job *job)
{
	bool blocked, signalling;
	int idx, error, ret;

	ret = trn_device_try_enter(queue->tdev, &idx);
	if (ret)
		return ret;
	mutex_lock(&queue->submit_lock);
	blocked = trn_syncs_blocked(&job->syncs);
	error = blocked ? 0 : trn_syncs_error(&job->syncs);
	ret = trn_submit_admit(queue, job, blocked, error);
	if (ret)
		goto out_unlock;

	/* Nothing can fail from here on. */
	signalling = dma_fence_begin_signalling();
	trace_trn_job_submit(queue, job->fence->base.seqno, job->num_packets);
	trn_syncs_signal(&job->syncs, &job->fence->base);
	if (job->sched_job)
		trn_sched_push(queue, job);
	else
		trn_submit_write(queue, job, error);
	dma_fence_end_signalling(signalling);
out_unlock:
	mutex_unlock(&queue->submit_lock);
	trn_device_exit(queue->tdev, idx);
	return ret;
}

/* After success job->fence has a reference for the caller. */
static int trn_submit(struct trn_queue *queue, struct trn_job *job, u64 client_id)
{
	/* Who uses the driver's own queues is in a section: system sleep waits for its end. */
	unsigned int state = TASK_KILLABLE | (queue->file ? TASK_FREEZABLE : 0);
	int ret;

	for (;;) {
		ret = trn_submit_push(queue, job);
		if (ret == -EAGAIN)
			ret = trn_sched_job_alloc(queue, job, client_id);
		else if (ret == -EBUSY)
			ret = wait_event_state(queue->wait,
					       trn_submit_room(queue, job->num_packets) != -EBUSY,
					       state) ? -EINTR : 0;
		else
			return ret;
		if (ret)
			return ret;
	}
}

/*
 * NULL when the ring has room for the job, or the fence that will have been signalled
 * when it has, with a reference.
 */
struct dma_fence *trn_submit_awaited_room(struct trn_queue *queue, const struct trn_job *job)
{
	struct dma_fence *awaited = NULL;
	struct trn_ring ring;
	struct trn_fence *fence;
	unsigned long flags;

	/* A fence may be signalled before its job has left the ring. */
	trn_submit_progress(queue);
	spin_lock_irqsave(&queue->lock, flags);
	ring = queue->ring;
	if (queue->error || trn_ring_space(&ring) > job->num_packets)
		goto out_unlock;
	/* Jobs on the ring are before those that are not, and fill it. */
	list_for_each_entry(fence, &queue->jobs, link) {
		ring.done = fence->ring_end;
		if (trn_ring_space(&ring) > job->num_packets) {
			awaited = dma_fence_get(&fence->base);
			break;
		}
	}
out_unlock:
	spin_unlock_irqrestore(&queue->lock, flags);
	return awaited;
}

/* The job's turn, after the fences that it waits for and with room on the ring. */
void trn_submit_run(struct trn_queue *queue, const struct trn_job *job)
{
	int error = trn_syncs_error(&job->syncs);
	unsigned long flags;
	bool failed;
	int idx;

	/* Calls that find no job waiting use the ring when this one has got on it. */
	mutex_lock(&queue->submit_lock);
	spin_lock_irqsave(&queue->lock, flags);
	queue->waiting--;
	/* If so trn_submit_cancel() ends it. */
	failed = queue->error;
	if (!failed)
		trn_submit_reserve(queue, job, error);
	spin_unlock_irqrestore(&queue->lock, flags);
	/* A pause ends the job too. */
	if (!failed && !trn_device_try_enter(queue->tdev, &idx)) {
		trn_submit_write(queue, job, error);
		trn_device_exit(queue->tdev, idx);
	}
	mutex_unlock(&queue->submit_lock);
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
		.many_packets = packets,
		.num_packets = count,
	};
	int ret;

	job.fence = trn_fence_alloc();
	if (!job.fence)
		return -ENOMEM;
	ret = trn_submit(queue, &job, 0);
	if (ret)
		trn_fence_free_unused(job.fence);
	else
		*finished = &job.fence->base;
	return ret;
}

int trn_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trn_submit *args = data;
	struct trn_queue *queue;
	struct trn_job job;
	int ret;

	if (args->flags)
		return -EINVAL;
	queue = trn_queue_get(drm_file, args->queue);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	if (queue->mode != DRM_TRN_QUEUE_KERNEL) {
		ret = -EINVAL;
		goto out_put;
	}
	trn_job_none(&job);
	ret = trn_job_init(&job, queue, drm_file, args);
	if (!ret)
		ret = trn_submit(queue, &job, drm_file->client_id);
	if (!ret) {
		dma_fence_put(&job.fence->base);
		job.fence = NULL;
	}
	trn_job_cleanup(queue, &job);
out_put:
	trn_queue_put(queue);
	return ret;
}
