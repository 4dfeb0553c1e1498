/* SPDX-License-Identifier: MIT */
/*
 * Kernel queues: packets are collected in an array and passed to the kernel.
 *
 * Each submit signals a syncobj of its own, from a ring of them, because
 * a timeline forgets the error of a point once a later one has been added.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "fence.h"
#include "internal.h"

struct slot {
	uint32_t syncobj;  /* 0 until the slot's first use */
	uint64_t sequence; /* of the submit that signals it, 0 = none */
};

struct kernel_queue {
	struct trn_queue base;
	uint32_t slots;	    /* a power of two: submits that may be in flight */
	uint64_t completed; /* atomic: every submit up to it has succeeded */
	struct slot slot[];
};

static struct kernel_queue *kernel(struct trn_queue *queue)
{
	return (struct kernel_queue *)queue;
}

static int fail_job(struct trn_queue *queue, uint64_t sequence, int error)
{
	const char *node = queue->context->device->node;
	unsigned long long number = sequence;
	char what[48];

	switch (error) {
	case -EFAULT:
	case -EIO:
		snprintf(what, sizeof(what), "submit %llu failed: ", number);
		return trn_queue_fail_stopped(queue, error, what);
	case -ECANCELED:
		return trn_fail(error,
				"%s: queue %u: submit %llu was dropped, an earlier one failed",
				node, queue->id, number);
	case -ENODEV:
		return trn_fail_gone(queue->context->device);
	case -ETIME:
		return trn_fail(error, "%s: queue %u: submit %llu: the deadline passed", node,
				queue->id, number);
	default:
		return trn_fail(error, "%s: queue %u: submit %llu failed: %s", node, queue->id,
				number, strerror(-error));
	}
}

/* What a signalled syncobj's job ended with: 0 or negative errno. */
static int job_error(struct trn_device *device, uint32_t syncobj)
{
	int fd, status;

	status = trn_fence_export(device->fd, syncobj, 0, &fd);
	if (status)
		return status;
	status = trn_fence_status(fd);
	close(fd);
	return status < 0 ? status : 0;
}

static bool succeeded(const struct kernel_queue *self, uint64_t sequence)
{
	return __atomic_load_n(&self->completed, __ATOMIC_ACQUIRE) >= sequence;
}

/* The queue runs in order and stops at a failure: submits before this one succeeded too. */
static void note_success(struct kernel_queue *self, uint64_t sequence)
{
	uint64_t completed = __atomic_load_n(&self->completed, __ATOMIC_RELAXED);

	while (completed < sequence &&
	       !__atomic_compare_exchange_n(&self->completed, &completed, sequence, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* 0, -ETIME or what the job ended with; records no text. */
static int wait_job(struct trn_queue *queue, uint64_t sequence, int64_t deadline)
{
	struct trn_device *device = queue->context->device;
	struct kernel_queue *self = kernel(queue);
	uint32_t syncobj = self->slot[sequence & (self->slots - 1)].syncobj;
	int error;

	if (succeeded(self, sequence))
		return 0;
	error = drmSyncobjWait(device->fd, &syncobj, 1, deadline, 0, NULL);
	if (!error)
		error = job_error(device, syncobj);
	if (!error) {
		note_success(self, sequence);
		return 0;
	}
	/*
	 * A slot is used again once its submit has succeeded.  If another thread saw to that
	 * meanwhile, the error is of a later submit.
	 */
	return succeeded(self, sequence) ? 0 : error;
}

static int kernel_wait(struct trn_queue *queue, uint64_t sequence, int64_t deadline)
{
	int error = wait_job(queue, sequence, deadline);

	return error ? fail_job(queue, sequence, error) : 0;
}

static int kernel_poll(struct trn_queue *queue, uint64_t sequence)
{
	int error = wait_job(queue, sequence, 0);

	if (error == -ETIME)
		return 0;
	return error ? fail_job(queue, sequence, error) : 1;
}

static uint32_t kernel_limit(struct trn_queue *queue)
{
	return queue->capacity;
}

static int fail_submit(struct trn_queue *queue, int error)
{
	const char *node = queue->context->device->node;

	switch (error) {
	case -EIO:
		return trn_queue_fail_stopped(queue, error, "an earlier submit failed: ");
	case -EINVAL:
		return trn_fail(error,
				"%s: queue %u: a packet is malformed (copies and fills: 1 to 2^40 "
				"bytes, no size 0; fills: a multiple of the unit)",
				node, queue->id);
	case -ENOENT:
		return trn_fail(-ECANCELED, "%s: queue %u was destroyed", node, queue->id);
	case -ENODEV:
		return trn_fail_gone(queue->context->device);
	default:
		return trn_fail(error, "%s: queue %u: %s", node, queue->id, strerror(-error));
	}
}

/* Makes a slot ready for a submit: the one that had it last must have succeeded. */
static int prepare_slot(struct trn_queue *queue, struct slot *slot)
{
	int error;

	if (slot->sequence) {
		error = wait_job(queue, slot->sequence, TRN_FOREVER);
		/* That is the older submit's error; what it means for this one: */
		if (error)
			return fail_submit(queue, error == -EFAULT ? -EIO : error);
	}
	if (!slot->syncobj) {
		error = drmSyncobjCreate(queue->context->device->fd, 0, &slot->syncobj);
		if (error)
			return trn_fail(-errno, "%s: no syncobj: %s", queue->context->device->node,
					strerror(errno));
	}
	return 0;
}

static int kernel_submit(struct trn_queue *queue)
{
	struct kernel_queue *self = kernel(queue);
	struct trn_device *device = queue->context->device;
	uint64_t sequence = queue->sequence + 1;
	struct drm_trn_sync sync = { .flags = DRM_TRN_SYNC_SIGNAL };
	struct drm_trn_submit submit = {
		.queue = queue->id,
		.packets = {
			.stride = sizeof(struct trn_packet),
			.count = queue->next,
			.pointer = (uintptr_t)queue->packets,
		},
		.syncs = { .stride = sizeof(sync), .count = 1, .pointer = (uintptr_t)&sync },
	};
	struct slot *slot = &self->slot[sequence & (self->slots - 1)];
	int error;

	queue->next = 0;
	error = prepare_slot(queue, slot);
	if (error)
		return error;
	sync.handle = slot->syncobj;
	error = trn_device_ioctl(device, DRM_IOCTL_TRN_SUBMIT, &submit);
	if (error)
		return fail_submit(queue, error);

	slot->sequence = sequence;
	__atomic_store_n(&queue->sequence, sequence, __ATOMIC_RELEASE);
	return 0;
}

static int kernel_make_room(struct trn_queue *queue, int64_t deadline)
{
	/* Empties the array.  Waiting for room in the ring is done in the system call. */
	(void)deadline;
	return kernel_submit(queue);
}

/* A fence that is signalled. */
static int export_signalled(struct trn_device *device, int *fd)
{
	uint32_t syncobj;
	int error;

	if (drmSyncobjCreate(device->fd, DRM_SYNCOBJ_CREATE_SIGNALED, &syncobj))
		return -errno;
	error = trn_fence_export(device->fd, syncobj, 0, fd);
	drmSyncobjDestroy(device->fd, syncobj);
	return error;
}

static int kernel_export_fence(struct trn_queue *queue, uint64_t sequence, int *fd)
{
	struct trn_device *device = queue->context->device;
	struct kernel_queue *self = kernel(queue);
	int error;

	/* The slot of a submit that succeeded may be another's already. */
	if (succeeded(self, sequence))
		error = export_signalled(device, fd);
	else
		error = trn_fence_export(device->fd,
					 self->slot[sequence & (self->slots - 1)].syncobj, 0, fd);
	if (error)
		return trn_fail(error, "%s: queue %u: submit %llu has no fence: %s", device->node,
				queue->id, (unsigned long long)sequence, strerror(-error));
	return 0;
}

static void kernel_destroy(struct trn_queue *queue)
{
	struct kernel_queue *self = kernel(queue);
	uint32_t i;

	for (i = 0; i < self->slots; i++)
		if (self->slot[i].syncobj)
			drmSyncobjDestroy(queue->context->device->fd, self->slot[i].syncobj);
	free(queue->packets);
	free(self);
}

static const struct trn_queue_ops kernel_ops = {
	.limit = kernel_limit,
	.make_room = kernel_make_room,
	.submit = kernel_submit,
	.poll = kernel_poll,
	.wait = kernel_wait,
	.export_fence = kernel_export_fence,
	.destroy = kernel_destroy,
};

int trn_queue_kernel_create(struct trn_context *context, uint32_t entries, struct trn_queue **queue)
{
	struct drm_trn_queue_create create = {
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = entries,
	};
	uint32_t most = DRM_TRN_SUBMIT_PACKETS_MAX;
	uint32_t room = entries < most ? entries : most;
	struct kernel_queue *self = calloc(1, sizeof(*self) + room * sizeof(self->slot[0]));
	int error = -ENOMEM;

	if (!self)
		return trn_fail(error, "queue: no host memory");
	self->slots = room;
	self->base.ops = &kernel_ops;
	self->base.packets = calloc(room, sizeof(struct trn_packet));
	if (!self->base.packets) {
		trn_fail(error, "queue: no host memory");
		goto free_self;
	}
	error = trn_queue_create_ioctl(context, &create);
	if (error)
		goto free_packets;

	self->base.id = create.queue;
	self->base.mask = room - 1;
	self->base.capacity = entries - 1 < most ? entries - 1 : most;
	self->base.limit = self->base.capacity;
	*queue = &self->base;
	return 0;

free_packets:
	free(self->base.packets);
free_self:
	free(self);
	return error;
}
