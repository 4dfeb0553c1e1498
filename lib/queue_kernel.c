/* SPDX-License-Identifier: MIT */
/*
 * Kernel queues: packets are collected in an array and passed to the kernel.
 *
 * Each submit signals a syncobj of its own, from a ring of them, because
 * a timeline forgets the error of a point once a later one has been added.
 *
 * A queue stops at a failure, so that a submit's success means that of all before it: but not
 * of those that waited for points, which may end with a point's error while the queue goes on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "failures.h"
#include "fence.h"
#include "internal.h"

struct slot {
	uint32_t syncobj;  /* 0 until the slot's first use */
	uint64_t sequence; /* of the submit that signals it, 0 = none */
};

struct kernel_queue {
	struct trn_queue base;
	uint32_t slots;		/* a power of two: submits that may be in flight */
	uint64_t settled;	/* atomic: what is not in failures, up to it, has succeeded */
	uint64_t first_waiting; /* atomic: first submit that waited for points, or UINT64_MAX */
	struct trn_failures failures;
	struct slot slot[];
};

static struct kernel_queue *kernel(struct trn_queue *queue)
{
	return (struct kernel_queue *)queue;
}

static bool may_have_waited(const struct kernel_queue *self, uint64_t sequence)
{
	return sequence >= __atomic_load_n(&self->first_waiting, __ATOMIC_RELAXED);
}

static int fail_job(struct trn_queue *queue, uint64_t sequence, int error)
{
	const char *node = queue->context->device->node;
	unsigned long long number = sequence;
	char what[48];

	switch (error) {
	case -ENODEV:
		return trn_fail_gone(queue->context->device);
	case -ETIME:
		return trn_fail(error, "%s: queue %u: submit %llu: the deadline passed", node,
				queue->id, number);
	}
	if (may_have_waited(kernel(queue), sequence) && !trn_queue_has_stopped(queue))
		return trn_fail(error,
				"%s: queue %u: submit %llu did not run: a point that it waited for "
				"was reached with the error \"%s\"",
				node, queue->id, number, strerror(-error));
	switch (error) {
	case -EFAULT:
	case -EIO:
	case -ETIMEDOUT:
		snprintf(what, sizeof(what), "submit %llu failed: ", number);
		return trn_queue_fail_stopped(queue, error, what);
	case -ECANCELED:
		return trn_fail(error,
				"%s: queue %u: submit %llu was dropped, an earlier one failed",
				node, queue->id, number);
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

static bool is_settled(const struct kernel_queue *self, uint64_t sequence)
{
	return __atomic_load_n(&self->settled, __ATOMIC_ACQUIRE) >= sequence;
}

static void settle(struct kernel_queue *self, uint64_t sequence)
{
	uint64_t settled = __atomic_load_n(&self->settled, __ATOMIC_RELAXED);

	while (settled < sequence &&
	       !__atomic_compare_exchange_n(&self->settled, &settled, sequence, true,
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

	if (is_settled(self, sequence))
		return trn_failures_find(&self->failures, sequence);
	error = drmSyncobjWait(device->fd, &syncobj, 1, deadline, 0, NULL);
	if (!error)
		error = job_error(device, syncobj);
	/*
	 * A slot is used again once its submit is settled.  If that happened meanwhile, what we saw
	 * may be a later submit's.
	 */
	if (is_settled(self, sequence))
		return trn_failures_find(&self->failures, sequence);
	if (!error && !may_have_waited(self, sequence))
		settle(self, sequence);
	return error;
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

static int fail_submit(struct trn_queue *queue, int error, bool waits)
{
	const char *node = queue->context->device->node;

	switch (error) {
	case -EIO:
		return trn_queue_fail_stopped(queue, error, "an earlier submit failed: ");
	case -EINVAL:
		if (waits)
			return trn_fail(error,
					"%s: queue %u: a point to wait for was not added to its "
					"timeline, or a packet is malformed",
					node, queue->id);
		return trn_fail(error,
				"%s: queue %u: a packet is malformed, or not for a queue of this "
				"type (%s)",
				node, queue->id,
				queue->type == TRN_QUEUE_EXEC
					? "exec: program a multiple of 64, other addresses of 8; "
					  "a core that the chip has; at most 256 bindings"
					: "copies and fills: 1 to 2^40 bytes, no size 0; fills: a "
					  "multiple of the unit");
	case -ENOSPC:
		return trn_fail(error,
				"%s: queue %u: %d submits wait for points or behind such submits: "
				"wait for one of them first",
				node, queue->id, DRM_TRN_SUBMIT_WAITING_MAX);
	case -ENOENT:
		return trn_fail(-ECANCELED, "%s: queue %u was destroyed", node, queue->id);
	case -ENODEV:
		return trn_fail_gone(queue->context->device);
	default:
		return trn_fail(error, "%s: queue %u: %s", node, queue->id, strerror(-error));
	}
}

/* Makes a slot ready for a submit: the one that had it last has to be settled. */
static int prepare_slot(struct trn_queue *queue, struct slot *slot)
{
	struct kernel_queue *self = kernel(queue);
	int error;

	if (slot->sequence && !is_settled(self, slot->sequence)) {
		error = wait_job(queue, slot->sequence, TRN_FOREVER);
		/* If it stopped the queue the kernel says so to the next submit. */
		if (error)
			error = trn_failures_add(&self->failures, slot->sequence, error);
		if (error)
			return trn_fail(error, "queue: no host memory");
		settle(self, slot->sequence);
	}
	if (!slot->syncobj) {
		error = drmSyncobjCreate(queue->context->device->fd, 0, &slot->syncobj);
		if (error)
			return trn_fail(-errno, "%s: no syncobj: %s", queue->context->device->node,
					strerror(errno));
	}
	return 0;
}

/* Submits the packets taken; the last of @syncs is for the queue's own. */
static int submit(struct trn_queue *queue, struct drm_trn_sync *syncs, uint32_t sync_count)
{
	struct kernel_queue *self = kernel(queue);
	uint64_t sequence = queue->sequence + 1;
	struct drm_trn_submit call = {
		.queue = queue->id,
		.packets = {
			.stride = sizeof(struct trn_packet),
			.count = queue->next,
			.pointer = (uintptr_t)queue->packets,
		},
		.syncs = {
			.stride = sizeof(*syncs),
			.count = sync_count,
			.pointer = (uintptr_t)syncs,
		},
	};
	struct slot *slot = &self->slot[sequence & (self->slots - 1)];
	int error;

	queue->next = 0;
	error = prepare_slot(queue, slot);
	if (error)
		return error;
	syncs[sync_count - 1] = (struct drm_trn_sync){
		.handle = slot->syncobj,
		.flags = DRM_TRN_SYNC_SIGNAL,
	};
	error = trn_device_ioctl(queue->context->device, DRM_IOCTL_TRN_SUBMIT, &call);
	if (error)
		return fail_submit(queue, error, sync_count > 1);

	slot->sequence = sequence;
	__atomic_store_n(&queue->sequence, sequence, __ATOMIC_RELEASE);
	return 0;
}

static int kernel_submit(struct trn_queue *queue)
{
	struct drm_trn_sync own;

	return submit(queue, &own, 1);
}

static int kernel_submit_syncs(struct trn_queue *queue, const struct trn_sync *syncs,
			       uint32_t count)
{
	struct kernel_queue *self = kernel(queue);
	struct drm_trn_sync translated[DRM_TRN_SUBMIT_SYNCS_MAX];
	int error;

	_Static_assert(TRN_SYNCS_MAX == DRM_TRN_SUBMIT_SYNCS_MAX, "the kernel's limit");
	if (count >= TRN_SYNCS_MAX)
		error = trn_fail(-EINVAL, "submit: %u points at once are more than %u", count,
				 TRN_SYNCS_MAX - 1);
	else
		error = trn_sync_translate(queue->context->device, "submit", syncs, count,
					   translated);
	if (error) {
		queue->next = 0;
		return error;
	}
	/* Before anybody can wait for it.  It does no harm if the submit fails. */
	if (count && !may_have_waited(self, queue->sequence + 1))
		__atomic_store_n(&self->first_waiting, queue->sequence + 1, __ATOMIC_RELAXED);
	return submit(queue, translated, count + 1);
}

static int kernel_make_room(struct trn_queue *queue, int64_t deadline)
{
	/* Empties the array.  Waiting for room in the ring is done in the system call. */
	(void)deadline;
	return kernel_submit(queue);
}

/*
 * A syncobj with a submit's fence, whatever becomes of the slot, for the caller to destroy: or with
 * one that is signalled if the submit has succeeded, or the error if it has failed, long ago.
 */
static int hold_fence(struct trn_queue *queue, uint64_t sequence, uint32_t *syncobj)
{
	struct kernel_queue *self = kernel(queue);
	int device_fd = queue->context->device->fd, error;

	if (!is_settled(self, sequence)) {
		uint32_t source = self->slot[sequence & (self->slots - 1)].syncobj;

		if (drmSyncobjCreate(device_fd, 0, syncobj))
			return -errno;
		error = drmSyncobjTransfer(device_fd, *syncobj, 0, source, 0, 0) ? -errno : 0;
		/* If not, it may be a later submit's. */
		if (!is_settled(self, sequence) && !error)
			return 0;
		drmSyncobjDestroy(device_fd, *syncobj);
		if (error)
			return error;
	}
	error = trn_failures_find(&self->failures, sequence);
	return error ? error : trn_fence_signalled(device_fd, syncobj);
}

static int kernel_notify(struct trn_queue *queue, uint64_t sequence, int eventfd)
{
	int device_fd = queue->context->device->fd, error;
	uint32_t syncobj;

	error = hold_fence(queue, sequence, &syncobj);
	if (error && trn_failures_find(&kernel(queue)->failures, sequence))
		return fail_job(queue, sequence, error);
	if (!error) {
		error = trn_fence_notify(device_fd, syncobj, eventfd);
		drmSyncobjDestroy(device_fd, syncobj);
	}
	return error ? trn_queue_fail_notify(queue, error, eventfd) : 0;
}

static int kernel_export_fence(struct trn_queue *queue, uint64_t sequence, int *fd)
{
	struct trn_device *device = queue->context->device;
	uint32_t syncobj;
	int error;

	error = hold_fence(queue, sequence, &syncobj);
	if (error && trn_failures_find(&kernel(queue)->failures, sequence))
		return fail_job(queue, sequence, error);
	if (!error) {
		error = trn_fence_export(device->fd, syncobj, 0, fd);
		drmSyncobjDestroy(device->fd, syncobj);
	}
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
	trn_failures_fini(&self->failures);
	free(queue->packets);
	free(self);
}

static const struct trn_queue_ops kernel_ops = {
	.limit = kernel_limit,
	.make_room = kernel_make_room,
	.submit = kernel_submit,
	.submit_syncs = kernel_submit_syncs,
	.poll = kernel_poll,
	.wait = kernel_wait,
	.notify = kernel_notify,
	.export_fence = kernel_export_fence,
	.destroy = kernel_destroy,
};

int trn_queue_kernel_create(struct trn_context *context,
			    const struct trn_queue_attributes *attributes, struct trn_queue **queue)
{
	struct drm_trn_queue_create create = { 0 };
	uint32_t entries = attributes->entries, most = DRM_TRN_SUBMIT_PACKETS_MAX;
	uint32_t room = entries < most ? entries : most;
	struct kernel_queue *self = calloc(1, sizeof(*self) + room * sizeof(self->slot[0]));
	int error = -ENOMEM;

	if (!self)
		return trn_fail(error, "queue: no host memory");
	self->slots = room;
	self->first_waiting = UINT64_MAX;
	trn_failures_init(&self->failures);
	self->base.ops = &kernel_ops;
	self->base.packets = calloc(room, sizeof(struct trn_packet));
	if (!self->base.packets) {
		trn_fail(error, "queue: no host memory");
		goto free_self;
	}
	error = trn_queue_create_ioctl(context, attributes, &create);
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
	trn_failures_fini(&self->failures);
	free(self);
	return error;
}
