/* SPDX-License-Identifier: MIT */
/* What both modes of a queue have in common: taking packets, and waiting. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xf86drm.h>

#include "fence.h"
#include "internal.h"
#include "structure.h"

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

static int fail_create(const struct trn_device *device,
		       const struct trn_queue_attributes *attributes, int error)
{
	bool kernel = attributes->mode == TRN_QUEUE_KERNEL;
	const char *problem = strerror(-error);

	switch (error) {
	case -ENODEV:
		return trn_fail_gone(device);
	case -EIO:
		return trn_fail_reset(device);
	case -ENOSPC:
		problem = "all queues of the chip are in use: destroy queues or use another chip";
		break;
	case -EDQUOT:
		problem = "this user has as many queues of the chip as one may have (module "
			  "parameter user_queue_percent): destroy queues in any of the user's "
			  "processes or use another chip";
		break;
	case -EACCES:
		problem = "high priority needs CAP_SYS_NICE: use TRN_PRIORITY_NORMAL";
		break;
	case -EINVAL:
		if (attributes->timeout_ms)
			return trn_fail(error,
					"%s: no queue: a time limit of %u ms is more than the "
					"module parameter %s: ask for less, or for 0 to have that",
					device->node, attributes->timeout_ms,
					kernel ? "job_timeout_ms" : "packet_timeout_ms");
		break;
	}
	return trn_fail(error, "%s: no queue of %u packets: %s", device->node, attributes->entries,
			problem);
}

int trn_queue_create_ioctl(struct trn_context *context,
			   const struct trn_queue_attributes *attributes,
			   struct drm_trn_queue_create *create)
{
	static const uint32_t modes[] = {
		[TRN_QUEUE_KERNEL] = DRM_TRN_QUEUE_KERNEL,
		[TRN_QUEUE_USER] = DRM_TRN_QUEUE_USER,
	};
	static const uint32_t priorities[] = {
		[TRN_PRIORITY_NORMAL] = DRM_TRN_PRIORITY_NORMAL,
		[TRN_PRIORITY_LOW] = DRM_TRN_PRIORITY_LOW,
		[TRN_PRIORITY_HIGH] = DRM_TRN_PRIORITY_HIGH,
	};
	static const uint32_t types[] = {
		[TRN_QUEUE_DMA] = TRN_QUEUE_TYPE_DMA,
		[TRN_QUEUE_EXEC] = TRN_QUEUE_TYPE_EXEC,
	};
	int error;

	create->context = context->id;
	create->type = types[attributes->type];
	create->mode = modes[attributes->mode];
	create->ring_entries = attributes->entries;
	create->priority = priorities[attributes->priority];
	create->timeout_ms = attributes->timeout_ms;
	error = trn_device_ioctl(context->device, DRM_IOCTL_TRN_QUEUE_CREATE, create);
	return error ? fail_create(context->device, attributes, error) : 0;
}

void trn_queue_destroy_ioctl(struct trn_queue *queue)
{
	struct drm_trn_queue_destroy destroy = { .queue = queue->id };

	/* It can only fail because the queue is gone already. */
	trn_device_ioctl(queue->context->device, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy);
}

/* What the first version had. */
#define FIRST_SIZE                                                                                 \
	(offsetof(struct trn_queue_attributes, timeout_ms) +                                       \
	 sizeof(((struct trn_queue_attributes *)0)->timeout_ms))

static int check_attributes(const struct trn_device *device,
			    const struct trn_queue_attributes *attributes)
{
	uint32_t smallest = 1U << TRN_RING_LOG2_MIN, largest = device->info.queue_entries_max;
	uint32_t entries = attributes->entries;

	if (entries & (entries - 1) || entries < smallest || entries > largest)
		return trn_fail(-EINVAL, "queue: %u entries is not a power of two from %u to %u",
				entries, smallest, largest);
	if (attributes->mode != TRN_QUEUE_KERNEL && attributes->mode != TRN_QUEUE_USER)
		return trn_fail(-EINVAL, "queue: mode %d is neither kernel nor user",
				(int)attributes->mode);
	if ((unsigned int)attributes->priority > TRN_PRIORITY_HIGH)
		return trn_fail(-EINVAL, "queue: priority %d is not normal, low or high",
				(int)attributes->priority);
	if (attributes->type != TRN_QUEUE_DMA && attributes->type != TRN_QUEUE_EXEC)
		return trn_fail(-EINVAL, "queue: type %d is neither DMA nor EXEC",
				(int)attributes->type);
	return 0;
}

int trn_queue_create_attributes(struct trn_context *context,
				const struct trn_queue_attributes *given, struct trn_queue **result)
{
	struct trn_device *device = context->device;
	struct trn_queue_attributes attributes;
	struct trn_queue *queue;
	int error;

	error = trn_device_check(device, "queue");
	if (!error)
		error = trn_structure_read("queue", "struct trn_queue_attributes", given,
					   FIRST_SIZE, &attributes, sizeof(attributes));
	if (!error)
		error = check_attributes(device, &attributes);
	if (error)
		return error;
	if (attributes.mode == TRN_QUEUE_KERNEL)
		error = trn_queue_kernel_create(context, &attributes, &queue);
	else
		error = trn_queue_user_create(context, &attributes, &queue);
	if (error)
		return error;
	queue->context = context;
	queue->type = attributes.type;
	queue->process = device->process;
	pthread_mutex_init(&queue->pin_lock, NULL);
	__atomic_add_fetch(&context->objects, 1, __ATOMIC_RELAXED);
	*result = queue;
	return 0;
}

int trn_queue_create(struct trn_context *context, enum trn_queue_mode mode, uint32_t entries,
		     struct trn_queue **result)
{
	struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = mode,
		.entries = entries,
	};

	return trn_queue_create_attributes(context, &attributes, result);
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

/* Packets that may be taken. */
static uint32_t room(const struct trn_queue *queue)
{
	return queue->limit - queue->next;
}

static void find_room(struct trn_queue *queue)
{
	queue->limit = queue->ops->limit(queue);
	/* A user queue's last submit may have filled the ring with its fence. */
	if ((int32_t)room(queue) < 0)
		queue->limit = queue->next;
}

/* Not inlined: the common case of trn_queue_packet() stays short. */
static __attribute__((noinline)) struct trn_packet *packet_when_full(struct trn_queue *queue)
{
	if (!trn_process_is(queue->process))
		return NULL;
	find_room(queue);
	if (!room(queue))
		return NULL;
	return &queue->packets[queue->next++ & queue->mask];
}

/* Each packet's way, so every instruction counts. */
struct trn_packet *trn_queue_packet(struct trn_queue *queue)
{
	uint32_t next = queue->next;

	if (next == queue->limit || !trn_process_is(queue->process))
		return packet_when_full(queue);
	queue->next = next + 1;
	return &queue->packets[next & queue->mask];
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
		find_room(queue);
		if (room(queue) >= count)
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

int trn_queue_submit_syncs(struct trn_queue *queue, const struct trn_sync *syncs,
			   uint32_t sync_count, uint64_t *sequence)
{
	int error = trn_device_check(queue->context->device, "queue");

	if (!error)
		error = queue->ops->submit_syncs(queue, syncs, sync_count);
	if (!error && sequence)
		*sequence = queue->sequence;
	return error;
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

int trn_queue_fail_notify(struct trn_queue *queue, int error, int eventfd)
{
	const char *node = queue->context->device->node;

	switch (error) {
	case -ENODEV:
		return trn_fail_gone(queue->context->device);
	case -EBADF:
	case -EINVAL:
		return trn_fail(error, "%s: queue %u: file descriptor %d is not an eventfd", node,
				queue->id, eventfd);
	case -ENOSPC:
		return trn_fail(error,
				"%s: queue %u: %d eventfds wait for it already: wait for one of "
				"them first",
				node, queue->id, DRM_TRN_EVENTFDS_MAX);
	default:
		return trn_fail(error, "%s: queue %u: eventfd %d: %s", node, queue->id, eventfd,
				strerror(-error));
	}
}

/* Before the first submit there is nothing to wait for. */
static int notify_now(struct trn_queue *queue, int eventfd)
{
	int device_fd = queue->context->device->fd, error;
	uint32_t syncobj;

	error = trn_fence_signalled(device_fd, &syncobj);
	if (!error) {
		error = trn_fence_notify(device_fd, syncobj, eventfd);
		drmSyncobjDestroy(device_fd, syncobj);
	}
	return error ? trn_queue_fail_notify(queue, error, eventfd) : 0;
}

int trn_queue_notify(struct trn_queue *queue, uint64_t sequence, int eventfd)
{
	int error = check_sequence(queue, sequence);

	if (error)
		return error;
	return sequence ? queue->ops->notify(queue, sequence, eventfd) : notify_now(queue, eventfd);
}

int trn_queue_export_fence(struct trn_queue *queue, uint64_t sequence, int *fd)
{
	int error = check_sequence(queue, sequence);

	return error ? error : queue->ops->export_fence(queue, sequence, fd);
}
