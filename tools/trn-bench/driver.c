/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"

/* Not drmIoctl(), which may repeat the call. */
int driver_call(const struct driver *driver, unsigned long command, void *arguments,
		const char *name)
{
	if (ioctl(driver->fd, command, arguments))
		return bench_fail(-errno, "%s: %s", name, strerror(errno));
	return 0;
}

int driver_open(const char *node, struct driver *driver)
{
	struct drm_trn_context_create context = { 0 };
	int error;

	driver->fd = open(node, O_RDWR | O_CLOEXEC);
	if (driver->fd < 0)
		return bench_fail(-errno, "%s: %s", node, strerror(errno));
	error = driver_call(driver, DRM_IOCTL_TRN_CONTEXT_CREATE, &context, "CONTEXT_CREATE");
	driver->context = context.context;
	if (error)
		driver_close(driver);
	return error;
}

void driver_close(struct driver *driver)
{
	if (driver->fd >= 0)
		close(driver->fd);
	driver->fd = -1;
}

int driver_make_memory(const struct driver *driver, uint32_t placement, uint64_t size, uint64_t va,
		       uint32_t *handle)
{
	struct drm_trn_bo_create create = {
		.size = size,
		.placement = placement,
		.stack = placement == DRM_TRN_BO_HBM ? DRM_TRN_STACK_ANY : 0,
	};
	struct drm_trn_bind_op op = { .op = DRM_TRN_BIND_MAP, .va = va, .size = size };
	struct drm_trn_vm_bind bind = {
		.context = driver->context,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};
	int error = driver_call(driver, DRM_IOCTL_TRN_BO_CREATE, &create, "BO_CREATE");

	*handle = create.handle;
	op.handle = create.handle;
	return error ? error : driver_call(driver, DRM_IOCTL_TRN_VM_BIND, &bind, "VM_BIND");
}

int driver_make_queue(const struct driver *driver, struct drm_trn_queue_create *create)
{
	create->context = driver->context;
	return driver_call(driver, DRM_IOCTL_TRN_QUEUE_CREATE, create, "QUEUE_CREATE");
}

void *driver_map(const struct driver *driver, uint64_t size, uint64_t offset)
{
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, driver->fd, (off_t)offset);

	if (memory == MAP_FAILED) {
		bench_fail(-errno, "mmap: %s", strerror(errno));
		return NULL;
	}
	return memory;
}
