/* SPDX-License-Identifier: MIT */
/* User queues: the ring, the control page and the doorbell are mapped into this process. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* About as long as a short copy takes; a sleep costs more than that. */
#define SPINS 512

struct user_queue {
	struct trn_queue base;
	struct trn_ring ring;
	struct trn_buffer *memory; /* the ring, then a page with the fence */
};

static struct user_queue *user(struct trn_queue *queue)
{
	return (struct user_queue *)queue;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* What the control page says of the queue, as an error: 0 while it runs.  No text. */
static inline int queue_state(struct trn_queue *queue)
{
	uint32_t status = trn_ring_status(&user(queue)->ring);

	if (status == TRN_CONTROL_RUNNING)
		return 0;
	if (status == TRN_CONTROL_DESTROYED)
		return -ECANCELED;
	return status == TRN_CONTROL_GONE ? -ENODEV : -EIO;
}

static int fail_state(struct trn_queue *queue, int error)
{
	const char *node = queue->context->device->node;

	switch (error) {
	case -EIO:
		if (trn_ring_status(&user(queue)->ring) == TRN_CONTROL_RESET)
			return trn_fail_reset(queue->context->device);
		return trn_queue_fail_stopped(queue, error, "");
	case -ECANCELED:
	case -ENOENT:
		return trn_fail(-ECANCELED, "%s: queue %u was destroyed", node, queue->id);
	case -ETIME:
		return trn_fail(error, "%s: queue %u: the deadline passed", node, queue->id);
	case -ENODEV:
		return trn_fail_gone(queue->context->device);
	default:
		return trn_fail(error, "%s: queue %u: %s", node, queue->id, strerror(-error));
	}
}

static uint32_t user_limit(struct trn_queue *queue)
{
	return trn_ring_limit(&user(queue)->ring);
}

static int user_submit(struct trn_queue *queue)
{
	struct trn_ring *ring = &user(queue)->ring;
	int error = queue_state(queue);

	if (error) {
		queue->next = queue->first;
		return fail_state(queue, error);
	}
	/* Before the device can write it to the fence, so that no waiter takes it for unknown. */
	__atomic_store_n(&queue->sequence, queue->sequence + 1, __ATOMIC_RELEASE);
	queue->next = trn_ring_submit(ring, queue->next, queue->sequence);
	queue->first = queue->next;
	if ((int32_t)(queue->limit - queue->next) < 0)
		queue->limit = queue->next;
	return 0;
}

static int user_poll(struct trn_queue *queue, uint64_t sequence)
{
	struct trn_ring *ring = &user(queue)->ring;
	int error;

	if (trn_ring_completed(ring) >= sequence)
		return 1;
	error = queue_state(queue);
	if (!error)
		return 0;
	/* It may have been reached before the queue came to its end. */
	if (trn_ring_completed(ring) >= sequence)
		return 1;
	return fail_state(queue, error);
}

static int user_wait(struct trn_queue *queue, uint64_t sequence, int64_t deadline)
{
	struct trn_ring *ring = &user(queue)->ring;
	struct drm_trn_wait wait = {
		.queue = queue->id,
		.va = ring->fence_address,
		.value = sequence,
		.deadline_ns = deadline,
	};
	int i, result;

	for (i = 0; i < SPINS; i++) {
		result = user_poll(queue, sequence);
		if (result)
			return result < 0 ? result : 0;
		relax();
	}
	result = trn_device_ioctl(queue->context->device, DRM_IOCTL_TRN_WAIT, &wait);
	/* Also the acquire that makes the effects visible. */
	if (trn_ring_completed(ring) >= sequence)
		return 0;
	return result ? fail_state(queue, result) : 0;
}

static int user_make_room(struct trn_queue *queue, int64_t deadline)
{
	uint64_t completed = trn_ring_completed(&user(queue)->ring);
	int error;

	if (queue->next != queue->first)
		return user_submit(queue);
	if (completed < queue->sequence)
		return user_wait(queue, completed + 1, deadline);

	/* The fence is written a moment before head moves past it. */
	error = queue_state(queue);
	if (!error && deadline <= trn_deadline(0))
		error = -ETIME;
	if (error)
		return fail_state(queue, error);
	sched_yield();
	return 0;
}

static int user_submit_syncs(struct trn_queue *queue, const struct trn_sync *syncs, uint32_t count)
{
	(void)syncs;
	(void)count;
	queue->next = queue->first;
	return trn_fail(-EOPNOTSUPP,
			"%s: queue %u: a user queue cannot wait for or signal points of timelines: "
			"use a kernel queue",
			queue->context->device->node, queue->id);
}

static int user_notify(struct trn_queue *queue, uint64_t sequence, int eventfd)
{
	struct drm_trn_queue_eventfd call = {
		.queue = queue->id,
		.fd = eventfd,
		.va = user(queue)->ring.fence_address,
		.value = sequence,
	};
	int error = trn_device_ioctl(queue->context->device, DRM_IOCTL_TRN_QUEUE_EVENTFD, &call);

	switch (error) {
	case 0:
		return 0;
	case -EIO:
	case -ECANCELED:
	case -ENOENT:
		return fail_state(queue, error);
	default:
		return trn_queue_fail_notify(queue, error, eventfd);
	}
}

static int user_export_fence(struct trn_queue *queue, uint64_t sequence, int *fd)
{
	(void)sequence;
	(void)fd;
	return trn_fail(-EOPNOTSUPP,
			"%s: queue %u: the submits of a user queue have no fence: use a kernel "
			"queue, trn_queue_notify() or trn_queue_wait()",
			queue->context->device->node, queue->id);
}

static void user_destroy(struct trn_queue *queue)
{
	struct user_queue *self = user(queue);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	munmap(self->ring.control, page);
	munmap(self->ring.doorbell, page);
	trn_buffer_destroy(self->memory);
	free(self);
}

static const struct trn_queue_ops user_ops = {
	.limit = user_limit,
	.make_room = user_make_room,
	.submit = user_submit,
	.submit_syncs = user_submit_syncs,
	.poll = user_poll,
	.wait = user_wait,
	.notify = user_notify,
	.export_fence = user_export_fence,
	.destroy = user_destroy,
};

/* Maps a page of the queue; NULL with errno set on failure. */
static void *map_page(struct trn_device *device, int protection, uint64_t offset)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), protection, MAP_SHARED, device->fd,
			  (off_t)offset);

	return page == MAP_FAILED ? NULL : page;
}

static int map_pages(struct trn_context *context, struct trn_ring *ring,
		     const struct drm_trn_queue_create *create)
{
	struct trn_device *device = context->device;
	int error;

	ring->control = map_page(device, PROT_READ | PROT_WRITE, create->control_offset);
	if (!ring->control)
		return trn_fail(-errno, "%s: control page of queue %u: %s", device->node,
				create->queue, strerror(errno));
	ring->doorbell = map_page(device, PROT_READ | PROT_WRITE, create->doorbell_offset);
	if (!ring->doorbell) {
		error = trn_fail(-errno, "%s: doorbell of queue %u: %s", device->node,
				 create->queue, strerror(errno));
		munmap(ring->control, (size_t)sysconf(_SC_PAGESIZE));
		return error;
	}
	ring->generation = ring->control->generation;
	return 0;
}

/* Memory that the device and the process share: the ring and, a page after it, the fence. */
static int make_memory(struct trn_context *context, struct user_queue *self, uint32_t entries)
{
	uint64_t page = context->device->info.page_size;
	uint64_t ring_size = entries * sizeof(struct trn_packet);
	uint64_t fence = (ring_size + page - 1) & -page;
	void *pointer;
	int error;

	error = trn_buffer_create(context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, fence + page, 0,
				  &self->memory);
	if (error)
		return error;
	error = trn_buffer_map(self->memory, &pointer);
	if (error) {
		trn_buffer_destroy(self->memory);
		return error;
	}
	self->ring.packets = pointer;
	self->ring.entries = entries;
	self->ring.fence = (uint64_t *)((uint8_t *)pointer + fence);
	self->ring.fence_address = trn_buffer_address(self->memory) + fence;
	return 0;
}

int trn_queue_user_create(struct trn_context *context,
			  const struct trn_queue_attributes *attributes, struct trn_queue **queue)
{
	struct user_queue *self = calloc(1, sizeof(*self));
	uint32_t entries = attributes->entries;
	struct drm_trn_queue_create create;
	int error;

	if (!self)
		return trn_fail(-ENOMEM, "queue: no host memory");
	self->base.ops = &user_ops;
	self->base.context = context;

	error = make_memory(context, self, entries);
	if (error)
		goto free_self;
	create = (struct drm_trn_queue_create){ .ring_va = trn_buffer_address(self->memory) };
	error = trn_queue_create_ioctl(context, attributes, &create);
	if (error)
		goto destroy_memory;
	self->base.id = create.queue;
	error = map_pages(context, &self->ring, &create);
	if (error)
		goto destroy_queue;

	self->base.packets = self->ring.packets;
	self->base.mask = entries - 1;
	self->base.capacity = entries - 1;
	self->base.limit = user_limit(&self->base);
	*queue = &self->base;
	return 0;

destroy_queue:
	trn_queue_destroy_ioctl(&self->base);
destroy_memory:
	trn_buffer_destroy(self->memory);
free_self:
	free(self);
	return error;
}
