/* SPDX-License-Identifier: MIT */
/* Queues, jobs and waits of the driver in fake.c. */
#include <check.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_admin.h>
#include <trn/trn.h>

#include "fake_fence.h"
#include "fake_state.h"

int fake_queue_create(struct drm_trn_queue_create *create)
{
	unsigned int i, most = fake.options.queues ? fake.options.queues : 8;
	struct queue *queue;

	ck_assert_uint_eq(create->flags, 0);
	if (fake.lost[create->context])
		return -EIO;
	for (i = 1; i <= most && fake.queue[i].used; i++)
		;
	if (i > most)
		return -ENOSPC;
	queue = &fake.queue[i];
	*queue = (struct queue){
		.used = true,
		.context = create->context,
		.mode = create->mode,
		.entries = create->ring_entries,
		.ring_va = create->ring_va,
	};
	create->queue = i;
	fake.last_queue = *create;
	if (queue->mode == DRM_TRN_QUEUE_KERNEL)
		return 0;
	create->control_offset = fake_take_memory(PAGE);
	create->doorbell_offset = fake_take_memory(PAGE);
	queue->control = (struct trn_control *)(fake.memory + create->control_offset);
	queue->doorbell = (uint32_t *)(fake.memory + create->doorbell_offset);
	queue->control->need_kick = 1;
	queue->control->generation = 1;
	ck_assert_int_eq(pthread_create(&queue->thread, NULL, fake_run_queue, queue), 0);
	return 0;
}

/* Called with the lock held, which the queue's thread needs to come to its end. */
int fake_queue_destroy(uint32_t id)
{
	struct queue *queue = &fake.queue[id];

	if (!queue->used)
		return -ENOENT;
	if (queue->mode == DRM_TRN_QUEUE_USER) {
		__atomic_store_n(&queue->stop, true, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&fake.lock);
		pthread_join(queue->thread, NULL);
		pthread_mutex_lock(&fake.lock);
		fake_end_queue(queue, TRN_CONTROL_DESTROYED);
	}
	queue->used = false;
	return 0;
}

static int add_sync(struct job *job, const struct drm_trn_sync *sync)
{
	int fence = job->fence;

	if (sync->flags == DRM_TRN_SYNC_SIGNAL) {
		fake_syncobj_attach(sync->handle, sync->point, fence);
		return 0;
	}
	ck_assert_uint_eq(sync->flags, DRM_TRN_SYNC_WAIT);
	ck_assert_uint_lt(job->waits, 8);
	fence = fake_syncobj_fence(sync->handle, sync->point);
	job->wait[job->waits++] = fence;
	return fence < 0 ? -EINVAL : 0;
}

int fake_submit(struct drm_trn_submit *submit)
{
	struct queue *queue = &fake.queue[submit->queue];
	const struct drm_trn_sync *sync = (void *)(uintptr_t)submit->syncs.pointer;
	size_t size = submit->packets.count * sizeof(struct trn_packet);
	struct job job = { .queue = submit->queue, .count = submit->packets.count };
	uint32_t i;

	if (!queue->used)
		return -ENOENT;
	if (queue->stopped || fake.lost[queue->context])
		return -EIO;
	ck_assert_uint_eq(submit->packets.stride, sizeof(struct trn_packet));
	ck_assert_uint_le(submit->syncs.count, DRM_TRN_SUBMIT_SYNCS_MAX);
	ck_assert_uint_eq(submit->syncs.stride, sizeof(*sync));
	ck_assert_uint_lt(submit->packets.count, queue->entries);
	ck_assert_uint_lt(fake.jobs, OBJECTS);
	job.fence = fake_fence_new();
	/* Waits first, so that a failing call changes nothing. */
	for (i = 0; i < submit->syncs.count; i++)
		if (sync[i].flags == DRM_TRN_SYNC_WAIT && add_sync(&job, &sync[i]))
			return -EINVAL;
	for (i = 0; i < submit->syncs.count; i++)
		if (sync[i].flags != DRM_TRN_SYNC_WAIT)
			add_sync(&job, &sync[i]);
	job.packets = malloc(size ? size : 1);
	memcpy(job.packets, (void *)(uintptr_t)submit->packets.pointer, size);
	fake.job[fake.jobs++] = job;
	fake_progress();
	return 0;
}

/* Whether a job has to wait yet; if not, *error is what a fence it waited for says. */
static bool is_blocked(const struct job *job, int *error)
{
	uint32_t i;

	*error = 0;
	for (i = 0; i < job->waits; i++) {
		if (!fake_fence_signalled(job->wait[i]))
			return true;
		if (!*error)
			*error = fake_fence_error(job->wait[i]);
	}
	return false;
}

static void run_job(struct job *job, int error)
{
	struct queue *queue = &fake.queue[job->queue];
	uint32_t i;

	if (queue->used && fake.lost[queue->context])
		error = -EIO;
	else if (queue->stopped || !queue->used)
		error = -ECANCELED;
	for (i = 0; i < job->count && !error; i++) {
		queue->error.packet = i;
		error = fake_execute(queue, &job->packets[i]);
		queue->stopped = error;
	}
	/* As the driver says it. */
	if (queue->stopped && queue->error.reason == TRN_STOP_TIME_LIMIT && error == -EIO)
		error = -ETIME;
	free(job->packets);
	fake_fence_signal(job->fence, error);
}

/* Runs what may run, in each queue's order; true if that may let others run. */
bool fake_run_jobs(void)
{
	bool blocked[OBJECTS] = { false };
	unsigned int i, left = 0, before = fake.jobs;
	int error;

	for (i = 0; i < before; i++) {
		struct job job = fake.job[i];

		blocked[job.queue] |= is_blocked(&job, &error);
		if (blocked[job.queue])
			fake.job[left++] = job;
		else
			run_job(&job, error);
	}
	fake.jobs = left;
	return left && left < before;
}

void fake_progress(void)
{
	if (fake.hold)
		return;
	while (fake_run_jobs())
		;
	fake_run_pending_bind();
}

int fake_queue_eventfd(const struct drm_trn_queue_eventfd *call)
{
	struct queue *queue = &fake.queue[call->queue];
	const uint64_t *fence;

	ck_assert(!call->flags && !call->pad && call->value);
	if (!queue->used)
		return -ENOENT;
	if (queue->stopped)
		return -EIO;
	fence = (const uint64_t *)fake_translate(queue->context, call->va, 8, false);
	ck_assert_ptr_nonnull(fence);
	if (__atomic_load_n(fence, __ATOMIC_ACQUIRE) >= call->value)
		return fake_eventfd_add(call->fd);
	if (queue->notifies == sizeof(queue->notify) / sizeof(queue->notify[0]))
		return -ENOSPC;
	queue->notify[queue->notifies].va = call->va;
	queue->notify[queue->notifies].value = call->value;
	queue->notify[queue->notifies++].fd = call->fd;
	return 0;
}

int fake_queue_error(struct drm_trn_queue_error *error)
{
	const struct queue *queue = &fake.queue[error->queue];

	if (!queue->used)
		return -ENOENT;
	if (fake.lost[queue->context])
		return -EIO;
	if (!queue->stopped)
		return 0;
	*error = queue->error;
	return 0;
}

int fake_wait_user(const struct drm_trn_wait *wait)
{
	struct queue *queue = &fake.queue[wait->queue];
	const uint64_t *fence;

	for (;;) {
		if (!queue->used)
			return -ENOENT;
		if (fake.lost[queue->context])
			return -EIO;
		fence = (const uint64_t *)fake_translate(queue->context, wait->va, 8, false);
		if (!fence)
			return -EINVAL;
		if (__atomic_load_n(fence, __ATOMIC_ACQUIRE) >= wait->value)
			return 0;
		if (fake.gone)
			return -ENODEV;
		if (queue->stopped)
			return -EIO;
		if (trn_deadline(0) >= wait->deadline_ns)
			return -ETIME;
		pthread_mutex_unlock(&fake.lock);
		sched_yield();
		pthread_mutex_lock(&fake.lock);
	}
}
