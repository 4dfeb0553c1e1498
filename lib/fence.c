/* SPDX-License-Identifier: MIT */
/* Fences of the kernel as files: sync_file. */
#include "fence.h"

#include <errno.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "internal.h"

/*
 * A point of a timeline is a fence around others and has no error of its own: only when
 * asked for its fences does the kernel look at theirs.  Nearly always there is one.
 */
static int read_status(int fd)
{
	struct sync_fence_info one = { 0 }, *all;
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&one };
	int error = 0;

	if (!ioctl(fd, SYNC_IOC_FILE_INFO, &info))
		return info.status;
	if (errno != EINVAL)
		return -errno;
	info = (struct sync_file_info){ 0 };
	if (ioctl(fd, SYNC_IOC_FILE_INFO, &info))
		return -errno;
	all = calloc(info.num_fences, sizeof(*all));
	if (!all)
		return -ENOMEM;
	info.sync_fence_info = (uintptr_t)all;
	if (ioctl(fd, SYNC_IOC_FILE_INFO, &info))
		error = -errno;
	free(all);
	return error ? error : info.status;
}

int trn_fence_status(int fd)
{
	int status = read_status(fd);

	/* -ETIME is for the caller's deadline. */
	return status == -ETIME ? -ETIMEDOUT : status;
}

int trn_fence_export(int device_fd, uint32_t syncobj, uint64_t point, int *fd)
{
	uint32_t binary = syncobj;
	int error = 0;

	/* Only a binary syncobj's fence can be exported by every kernel. */
	if (point) {
		if (drmSyncobjCreate(device_fd, 0, &binary))
			return -errno;
		if (drmSyncobjTransfer(device_fd, binary, 0, syncobj, point, 0))
			error = -errno;
	}
	if (!error && drmSyncobjExportSyncFile(device_fd, binary, fd))
		error = -errno;
	if (point)
		drmSyncobjDestroy(device_fd, binary);
	return error;
}

int trn_fence_signalled(int device_fd, uint32_t *syncobj)
{
	return drmSyncobjCreate(device_fd, DRM_SYNCOBJ_CREATE_SIGNALED, syncobj) ? -errno : 0;
}

int trn_fence_notify(int device_fd, uint32_t syncobj, int eventfd)
{
	return drmSyncobjEventfd(device_fd, syncobj, 0, eventfd, 0) ? -errno : 0;
}

/* 1 = readable, 0 = the deadline passed, or negative errno. */
static int wait_readable(int fd, int64_t deadline)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };

	for (;;) {
		int64_t left = deadline == TRN_FOREVER ? 0 : deadline - trn_deadline(0);
		struct timespec timeout = { 0, 0 };
		int found;

		if (left > 0)
			timeout = (struct timespec){ left / 1000000000, left % 1000000000 };
		found = ppoll(&file, 1, deadline == TRN_FOREVER ? NULL : &timeout, NULL);
		if (found > 0)
			return file.revents & POLLNVAL ? -EBADF : 1;
		if (!found)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

int trn_fence_wait(int fd, int64_t deadline)
{
	int status = trn_fence_status(fd);

	/* Also tells whether it is a fence: other files must not be waited for. */
	if (!status) {
		status = wait_readable(fd, deadline);
		if (!status)
			return trn_fail(-ETIME, "fence %d: the deadline passed", fd);
		if (status > 0)
			status = trn_fence_status(fd);
	}
	if (status > 0)
		return 0;
	if (status == -ENOTTY)
		status = -EINVAL;
	return trn_fail(status, "fence %d: %s", fd,
			status == -EBADF || status == -EINVAL ? "it is not a fence"
							      : strerror(-status));
}
