/* SPDX-License-Identifier: MIT */
/* What both modes of a queue have in common: taking packets, and waiting. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

int64_t trn_deadline(int64_t timeout)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (timeout <= 0)
		return ns;
	return timeout > TRN_FOREVER - ns ? TRN_FOREVER : ns + timeout;
}

int trn_queue_create_ioctl(struct trn_context *context, struct drm_trn_queue_create *create)
{
	int error;

	create->context = context->id;
	create->type = TRN_QUEUE_TYPE_DMA;
	error = trn_device_ioctl(context->device, DRM_IOCTL_TRN_QUEUE_CREATE, create);
	if (error)
		return trn_fail(error, "%s: no queue of %u packets: %s", context->device->node,
				create->ring_entries,
				error == -ENOSPC ? "all queues of the chip are in use: destroy "
						   "queues or use another chip"
						 : strerror(-error));
	return 0;
}

void trn_queue_destroy_ioctl(struct trn_queue *queue)
{
	struct drm_trn_queue_destroy destroy = { .queue = queue->id };

	/* It can only fail because the queue is gone already. */
	trn_device_ioctl(queue->context->device, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy);
}

int trn_queue_create(struct trn_context *context, enum trn_queue_mode mode, uint32_t entries,
		     struct trn_queue **result)
{
	struct trn_device *device = context->device;
	uint32_t smallest = 1U << TRN_RING_LOG2_MIN, largest = device->info.queue_entries_max;
	struct trn_queue *queue;
	int error;

	error = trn_device_check(device, "queue");
	if (error)
		return error;
	if (entries & (entries - 1) || entries < smallest || entries > largest)
		return trn_fail(-EINVAL, "queue: %u entries is not a power of two from %u to %u",
				entries, smallest, largest);
	switch (mode) {
	case TRN_QUEUE_KERNEL:
		error = trn_queue_kernel_create(context, entries, &queue);
		break;
	case TRN_QUEUE_USER:
		error = trn_queue_user_create(context, entries, &queue);
		break;
	default:
		error = trn_fail(-EINVAL, "queue: mode %d is neither kernel nor user", (int)mode);
	}
	if (error)
		return error;
	queue->context = context;
	queue->process = device->process;
	pthread_mutex_init(&queue->pin_lock, NULL);
	__atomic_add_fetch(&context->objects, 1, __ATOMIC_RELAXED);
	*result = queue;
	return 0;
}

int trn_queue_destroy(struct trn_queue *queue)
{
	struct trn_context *context;
	int error, i;

	if (!queue)
		return 0;
	context = queue->context;
	error = trn_device_check(context->device, "queue");
	if (error)
		return error;
	/* First the queue, so that nothing uses its memory any more. */
	trn_queue_destroy_ioctl(queue);
	for (i = 0; i < TRN_STAGES; i++)
		trn_buffer_destroy(queue->stage[i].buffer);
	trn_queue_unpin(queue, UINT64_MAX);
	pthread_mutex_destroy(&queue->pin_lock);
	queue->ops->destroy(queue);
	__atomic_sub_fetch(&context->objects, 1, __ATOMIC_RELEASE);
	return 0;
}

uint32_t trn_queue_capacity(const struct trn_queue *queue)
{
	return queue->capacity;
}

/* Packets that may be taken; -1 when a user queue's last submit filled the ring. */
static int32_t room(const struct trn_queue *queue)
{
	return (int32_t)(queue->limit - queue->next);
}

/* Not inlined: the common case of trn_queue_packet() stays short. */
static __attribute__((noinline)) struct trn_packet *packet_when_full(struct trn_queue *queue)
{
	if (!trn_process_is(queue->process))
		return NULL;
	queue->limit = queue->ops->limit(queue);
	if (room(queue) <= 0)
		return NULL;
	return &queue->packets[queue->next++ & queue->mask];
}

struct trn_packet *trn_queue_packet(struct trn_queue *queue)
{
	if (room(queue) <= 0 || !trn_process_is(queue->process))
		return packet_when_full(queue);
	return &queue->packets[queue->next++ & queue->mask];
}

int trn_queue_reserve(struct trn_queue *queue, uint32_t count, int64_t deadline)
{
	int error = trn_device_check(queue->context->device, "queue");

	if (error)
		return error;
	if (!count || count > queue->capacity)
		return trn_fail(-EINVAL, "queue: %u packets at once is not 1 to %u", count,
				queue->capacity);
	for (;;) {
		queue->limit = queue->ops->limit(queue);
		if (room(queue) >= (int32_t)count)
			return 0;
		error = queue->ops->make_room(queue, deadline);
		if (error)
			return error;
	}
}

int trn_queue_submit(struct trn_queue *queue, uint64_t *sequence)
{
	int error;

	if (!trn_process_is(queue->process))
		return trn_device_check(queue->context->device, "queue");
	if (queue->next != queue->first) {
		error = queue->ops->submit(queue);
		if (error)
			return error;
	}
	if (sequence)
		*sequence = queue->sequence;
	return 0;
}

static int check_sequence(struct trn_queue *queue, uint64_t sequence)
{
	uint64_t last = __atomic_load_n(&queue->sequence, __ATOMIC_ACQUIRE);

	if (!trn_process_is(queue->process))
		return trn_device_check(queue->context->device, "queue");
	if (sequence > last)
		return trn_fail(-EINVAL, "queue: sequence %llu was not submitted, the last is %llu",
				(unsigned long long)sequence, (unsigned long long)last);
	return 0;
}

int trn_queue_poll(struct trn_queue *queue, uint64_t sequence)
{
	int result = check_sequence(queue, sequence);

	if (result)
		return result;
	result = sequence ? queue->ops->poll(queue, sequence) : 1;
	if (result == 1)
		trn_queue_unpin(queue, sequence);
	return result;
}

int trn_queue_wait(struct trn_queue *queue, uint64_t sequence, int64_t deadline)
{
	int error = check_sequence(queue, sequence);

	if (error)
		return error;
	error = sequence ? queue->ops->wait(queue, sequence, deadline) : 0;
	if (!error)
		trn_queue_unpin(queue, sequence);
	return error;
}

int trn_queue_export_fence(struct trn_queue *queue, uint64_t sequence, int *fd)
{
	int error = check_sequence(queue, sequence);

	return error ? error : queue->ops->export_fence(queue, sequence, fd);
}
