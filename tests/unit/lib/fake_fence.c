/* SPDX-License-Identifier: MIT */
/* In place of libdrm's functions on syncobjs, and of the kernel's sync_file. */
#include "fake_fence.h"

#include <check.h>
#include <errno.h>
#include <linux/sync_file.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xf86drm.h>

#include <trn/trn.h>

#include "fake.h"

#define FENCES	 65536
#define SYNCOBJS 8192
#define POINTS	 32
#define FDS	 256

struct fence {
	bool signalled;
	int error;
	int fd;	    /* eventfd that becomes readable, 0 = none */
	int notify; /* eventfd of the program's own that is to be told, 0 = none */
};

struct syncobj {
	bool used;
	int points;
	struct {
		uint64_t point;
		int fence;
	} point[POINTS];
};

static struct {
	int fences;
	unsigned int waiters;
	struct fence fence[FENCES];
	struct syncobj syncobj[SYNCOBJS];
	int fd_fence[FDS]; /* fence number + 1 */
} fake;

void fake_fence_reset(void)
{
	memset(&fake, 0, sizeof(fake));
}

int fake_fence_new(void)
{
	ck_assert_int_lt(fake.fences, FENCES);
	return fake.fences++;
}

/* The fence that a file descriptor is, or -1.  It may have been closed and be another file. */
static int fd_fence(int fd)
{
	char path[32], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || fd >= FDS || readlink(path, target, sizeof(target) - 1) < 0 ||
	    !strstr(target, "eventfd"))
		return -1;
	return fake.fd_fence[fd] - 1;
}

void fake_fence_signal(int fence, int error)
{
	struct fence *self = &fake.fence[fence];
	uint64_t one = 1;

	self->error = error;
	self->signalled = true;
	if (self->fd && fd_fence(self->fd) == fence)
		ck_assert_int_eq(write(self->fd, &one, sizeof(one)), sizeof(one));
	if (self->notify)
		fake_eventfd_add(self->notify);
	self->notify = 0;
}

int fake_eventfd_add(int fd)
{
	char path[32], target[64] = "";
	uint64_t one = 1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return -EBADF;
	if (!strstr(target, "eventfd"))
		return -EINVAL;
	ck_assert_int_eq(write(fd, &one, sizeof(one)), sizeof(one));
	return 0;
}

bool fake_fence_signalled(int fence)
{
	return fake.fence[fence].signalled;
}

int fake_fence_error(int fence)
{
	return fake.fence[fence].error;
}

int fake_syncobj_fence(uint32_t handle, uint64_t point)
{
	const struct syncobj *self = &fake.syncobj[handle];
	int i;

	ck_assert(handle && handle < SYNCOBJS && self->used);
	for (i = 0; i < self->points; i++)
		if (self->point[i].point >= point)
			return self->point[i].fence;
	return -1;
}

void fake_syncobj_attach(uint32_t handle, uint64_t point, int fence)
{
	struct syncobj *self = &fake.syncobj[handle];

	ck_assert(handle && handle < SYNCOBJS && self->used);
	if (!point)
		self->points = 0;
	ck_assert_int_lt(self->points, POINTS);
	self->point[self->points].point = point;
	self->point[self->points++].fence = fence;
}

unsigned int fake_waiters(void)
{
	unsigned int waiters;

	fake_lock();
	waiters = fake.waiters;
	fake_unlock();
	return waiters;
}

static int result(int error)
{
	errno = -error;
	return error ? -1 : 0;
}

int drmSyncobjCreate(int fd, uint32_t flags, uint32_t *handle)
{
	uint32_t i;

	(void)fd;
	fake_lock();
	for (i = 1; fake.syncobj[i].used; i++)
		ck_assert_uint_lt(i, SYNCOBJS - 1);
	fake.syncobj[i] = (struct syncobj){ .used = true };
	if (flags & DRM_SYNCOBJ_CREATE_SIGNALED) {
		int fence = fake_fence_new();

		fake_fence_signal(fence, 0);
		fake_syncobj_attach(i, 0, fence);
	}
	fake_unlock();
	*handle = i;
	return 0;
}

int drmSyncobjDestroy(int fd, uint32_t handle)
{
	(void)fd;
	fake_lock();
	fake.syncobj[handle].used = false;
	fake_unlock();
	return 0;
}

static int wait_point(uint32_t handle, uint64_t point, int64_t deadline, bool for_submit)
{
	int error = 0, fence;

	fake_lock();
	fake.waiters++;
	for (;;) {
		fake_progress();
		fence = fake_syncobj_fence(handle, point);
		if (fence < 0 && !for_submit)
			error = -EINVAL;
		if (error || (fence >= 0 && fake.fence[fence].signalled))
			break;
		if (trn_deadline(0) >= deadline) {
			error = -ETIME;
			break;
		}
		fake_unlock();
		sched_yield();
		fake_lock();
	}
	fake.waiters--;
	fake_unlock();
	return error;
}

int drmSyncobjWait(int fd, uint32_t *handles, unsigned int count, int64_t deadline,
		   unsigned int flags, uint32_t *first)
{
	(void)fd;
	(void)first;
	ck_assert_uint_eq(count, 1);
	return wait_point(handles[0], 0, deadline, flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT);
}

int drmSyncobjTimelineWait(int fd, uint32_t *handles, uint64_t *points, unsigned int count,
			   int64_t deadline, unsigned int flags, uint32_t *first)
{
	(void)fd;
	(void)first;
	ck_assert_uint_eq(count, 1);
	return wait_point(handles[0], points[0], deadline,
			  flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT);
}

int drmSyncobjTimelineSignal(int fd, const uint32_t *handles, uint64_t *points, uint32_t count)
{
	int fence;

	(void)fd;
	ck_assert_uint_eq(count, 1);
	fake_lock();
	fence = fake_fence_new();
	fake_fence_signal(fence, 0);
	fake_syncobj_attach(handles[0], points[0], fence);
	fake_unlock();
	return 0;
}

int drmSyncobjTransfer(int fd, uint32_t to, uint64_t to_point, uint32_t from, uint64_t from_point,
		       uint32_t flags)
{
	int fence;

	(void)fd;
	ck_assert_uint_eq(flags, 0);
	fake_lock();
	fence = fake_syncobj_fence(from, from_point);
	if (fence >= 0)
		fake_syncobj_attach(to, to_point, fence);
	fake_unlock();
	return result(fence < 0 ? -EINVAL : 0);
}

int drmSyncobjExportSyncFile(int fd, uint32_t handle, int *sync_fd)
{
	int fence;

	(void)fd;
	fake_lock();
	fence = fake_syncobj_fence(handle, 0);
	if (fence >= 0) {
		struct fence *self = &fake.fence[fence];

		*sync_fd = eventfd(self->signalled, EFD_CLOEXEC);
		ck_assert_int_lt(*sync_fd, FDS);
		fake.fd_fence[*sync_fd] = fence + 1;
		if (!self->signalled)
			self->fd = *sync_fd;
	}
	fake_unlock();
	return result(fence < 0 ? -EINVAL : 0);
}

int drmSyncobjEventfd(int fd, uint32_t handle, uint64_t point, int eventfd, uint32_t flags)
{
	int fence, error = 0;

	(void)fd;
	ck_assert_uint_eq(flags, 0);
	fake_lock();
	fence = fake_syncobj_fence(handle, point);
	ck_assert_int_ge(fence, 0);
	if (fake.fence[fence].signalled)
		error = fake_eventfd_add(eventfd);
	else
		fake.fence[fence].notify = eventfd;
	fake_unlock();
	return result(error);
}

int drmSyncobjImportSyncFile(int fd, uint32_t handle, int sync_fd)
{
	int fence;

	(void)fd;
	fake_lock();
	fence = fd_fence(sync_fd);
	if (fence >= 0)
		fake_syncobj_attach(handle, 0, fence);
	fake_unlock();
	return result(fence < 0 ? -EINVAL : 0);
}

/* In place of libc's: only sync files have one here. */
int ioctl(int fd, unsigned long request, ...)
{
	struct sync_file_info *info;
	va_list arguments;
	int fence;

	va_start(arguments, request);
	info = va_arg(arguments, void *);
	va_end(arguments);
	fake_lock();
	fence = request == SYNC_IOC_FILE_INFO ? fd_fence(fd) : -1;
	if (fence >= 0) {
		const struct fence *self = &fake.fence[fence];

		info->num_fences = 1;
		info->status = !self->signalled ? 0 : self->error ? self->error : 1;
	}
	fake_unlock();
	return fence >= 0 ? 0 : (int)syscall(SYS_ioctl, fd, request, info);
}
