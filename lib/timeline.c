/* SPDX-License-Identifier: MIT */
/* Timelines: DRM timeline syncobjs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "fence.h"
#include "internal.h"

int trn_timeline_create(struct trn_device *device, struct trn_timeline **result)
{
	struct trn_timeline *timeline;
	int error;

	error = trn_device_check(device, "timeline");
	if (error)
		return error;
	timeline = calloc(1, sizeof(*timeline));
	if (!timeline)
		return trn_fail(-ENOMEM, "timeline: no host memory");
	timeline->device = device;
	if (drmSyncobjCreate(device->fd, 0, &timeline->syncobj)) {
		error = trn_fail(-errno, "%s: no syncobj: %s", device->node, strerror(errno));
		free(timeline);
		return error;
	}
	__atomic_add_fetch(&device->children, 1, __ATOMIC_RELAXED);
	*result = timeline;
	return 0;
}

int trn_timeline_destroy(struct trn_timeline *timeline)
{
	struct trn_device *device;
	int error;

	if (!timeline)
		return 0;
	device = timeline->device;
	error = trn_device_check(device, "timeline");
	if (error)
		return error;
	drmSyncobjDestroy(device->fd, timeline->syncobj);
	free(timeline);
	__atomic_sub_fetch(&device->children, 1, __ATOMIC_RELEASE);
	return 0;
}

int trn_sync_translate(const struct trn_device *device, const char *what,
		       const struct trn_sync *syncs, uint32_t count, struct drm_trn_sync *result)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct trn_sync *sync = &syncs[i];

		if (!sync->timeline || sync->timeline->device != device || !sync->point)
			return trn_fail(-EINVAL,
					"%s: sync %u: no timeline of this device, or point 0", what,
					i);
		if (sync->kind != TRN_SYNC_WAIT && sync->kind != TRN_SYNC_SIGNAL)
			return trn_fail(-EINVAL, "%s: sync %u: %u is neither WAIT nor SIGNAL", what,
					i, sync->kind);
		result[i] = (struct drm_trn_sync){
			.handle = sync->timeline->syncobj,
			.flags = sync->kind == TRN_SYNC_WAIT ? DRM_TRN_SYNC_WAIT
							     : DRM_TRN_SYNC_SIGNAL,
			.point = sync->point,
		};
	}
	return 0;
}

static int check(const struct trn_timeline *timeline, uint64_t point)
{
	int error = trn_device_check(timeline->device, "timeline");

	if (!error && !point)
		return trn_fail(-EINVAL, "timeline: points begin at 1");
	return error;
}

static int fail_point(const struct trn_timeline *timeline, int error, uint64_t point)
{
	const char *node = timeline->device->node;
	unsigned long long number = point;

	switch (error) {
	case -ENODEV:
		return trn_fail_gone(timeline->device);
	case -ETIME:
		return trn_fail(error, "%s: point %llu: the deadline passed", node, number);
	case -EEXIST:
		return trn_fail(error,
				"%s: point %llu: a MAP of the call that reached it found something "
				"bound there: unmap it or use REPLACE",
				node, number);
	case -ECANCELED:
		return trn_fail(error,
				"%s: point %llu: the queue or context of the call that reaches it "
				"was destroyed before, or an earlier submit failed",
				node, number);
	case -EFAULT:
		return trn_fail(error,
				"%s: point %llu: the submit that reached it used an address that "
				"is not bound so: trn_queue_error() has it",
				node, number);
	case -ETIMEDOUT:
		return trn_fail(error,
				"%s: point %llu: the submit that reached it ran longer than its "
				"queue's time limit",
				node, number);
	case -EIO:
		return trn_fail(error,
				"%s: point %llu: the queue of the submit that reached it stopped "
				"(trn_queue_error()), or its context was lost to a reset of the "
				"chip (trn_context_status())",
				node, number);
	default:
		return trn_fail(error, "%s: point %llu: %s", node, number, strerror(-error));
	}
}

int trn_timeline_signal(struct trn_timeline *timeline, uint64_t point)
{
	int error = check(timeline, point);

	if (error)
		return error;
	if (drmSyncobjTimelineSignal(timeline->device->fd, &timeline->syncobj, &point, 1))
		return fail_point(timeline, -errno, point);
	return 0;
}

int trn_timeline_export_fence(struct trn_timeline *timeline, uint64_t point, int *fd)
{
	int error = check(timeline, point);

	if (error)
		return error;
	error = trn_fence_export(timeline->device->fd, timeline->syncobj, point, fd);
	if (error == -EINVAL)
		return trn_fail(error, "%s: point %llu was not added to the timeline",
				timeline->device->node, (unsigned long long)point);
	return error ? fail_point(timeline, error, point) : 0;
}

int trn_timeline_import_fence(struct trn_timeline *timeline, uint64_t point, int fd)
{
	int device_fd = timeline->device->fd, error = check(timeline, point);
	uint32_t binary;

	if (error)
		return error;
	/* A fence can be put into a binary syncobj only; from there it becomes a point. */
	if (drmSyncobjCreate(device_fd, 0, &binary))
		return fail_point(timeline, -errno, point);
	if (drmSyncobjImportSyncFile(device_fd, binary, fd)) {
		error = -errno;
		trn_fail(error, "file descriptor %d cannot be imported: %s", fd,
			 error == -EBADF || error == -EINVAL ? "it is not a fence"
							     : strerror(-error));
	} else if (drmSyncobjTransfer(device_fd, timeline->syncobj, point, binary, 0, 0)) {
		error = fail_point(timeline, -errno, point);
	}
	drmSyncobjDestroy(device_fd, binary);
	return error;
}

int trn_timeline_wait(struct trn_timeline *timeline, uint64_t point, int64_t deadline)
{
	struct trn_device *device = timeline->device;
	int error = check(timeline, point), fd;

	if (error)
		return error;
	/* libdrm's waits return negative errno. */
	error = drmSyncobjTimelineWait(device->fd, &timeline->syncobj, &point, 1, deadline,
				       DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL);
	if (!error)
		error = trn_fence_export(device->fd, timeline->syncobj, point, &fd);
	if (error)
		return fail_point(timeline, error, point);
	error = trn_fence_status(fd);
	close(fd);
	return error < 0 ? fail_point(timeline, error, point) : 0;
}
