/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Address 0 and those near it stay unbound, so that null pointers fault. */
#define FIRST_ADDRESS (UINT64_C(1) << 21)

static const char *create_problem(int error)
{
	switch (error) {
	case -ENOSPC:
		return "all address spaces of the chip are in use: destroy contexts or use another "
		       "chip";
	case -EDQUOT:
		return "this user has as many contexts of the chip as one may have (module "
		       "parameter user_context_percent): destroy contexts in any of the user's "
		       "processes or use another chip";
	default:
		return strerror(-error);
	}
}

int trn_context_create(struct trn_device *device, struct trn_context **result)
{
	struct drm_trn_context_create create = { 0 };
	struct trn_context *context;
	int error;

	error = trn_device_check(device, "context");
	if (error)
		return error;
	context = calloc(1, sizeof(*context));
	if (!context)
		return trn_fail(-ENOMEM, "context: no host memory");
	context->device = device;
	error = trn_va_init(&context->addresses, FIRST_ADDRESS,
			    (UINT64_C(1) << device->info.address_bits) - FIRST_ADDRESS,
			    device->info.page_size);
	if (error) {
		trn_fail(error, "context: no host memory");
		goto free_context;
	}

	error = trn_device_ioctl(device, DRM_IOCTL_TRN_CONTEXT_CREATE, &create);
	if (error) {
		trn_fail(error, "%s: no context: %s", device->node, create_problem(error));
		goto free_addresses;
	}
	context->id = create.context;
	pthread_mutex_init(&context->lock, NULL);
	__atomic_add_fetch(&device->children, 1, __ATOMIC_RELAXED);
	*result = context;
	return 0;

free_addresses:
	trn_va_fini(&context->addresses);
free_context:
	free(context);
	return error;
}

int trn_context_destroy(struct trn_context *context)
{
	struct drm_trn_context_destroy destroy;
	struct trn_device *device;
	unsigned int objects;
	int error;

	if (!context)
		return 0;
	device = context->device;
	error = trn_device_check(device, "context");
	if (error)
		return error;
	objects = __atomic_load_n(&context->objects, __ATOMIC_ACQUIRE);
	if (objects)
		return trn_fail(-EBUSY,
				"the context has %u buffers (also of programs), ranges and queues: "
				"destroy them first",
				objects);

	/* It can only fail because the chip, and with it the context, is gone. */
	destroy = (struct drm_trn_context_destroy){ .context = context->id };
	trn_device_ioctl(device, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy);
	trn_va_fini(&context->addresses);
	pthread_mutex_destroy(&context->lock);
	free(context);
	__atomic_sub_fetch(&device->children, 1, __ATOMIC_RELEASE);
	return 0;
}

int trn_context_status(struct trn_context *context)
{
	/* Nothing to be done: the kernel says only what it thinks of the context. */
	struct drm_trn_vm_bind nothing = { .context = context->id };
	struct trn_device *device = context->device;
	int error = trn_device_check(device, "context");

	if (error)
		return error;
	error = trn_device_ioctl(device, DRM_IOCTL_TRN_VM_BIND, &nothing);
	if (error == -ENODEV)
		return trn_fail_gone(device);
	if (error == -EIO)
		return trn_fail_reset(device);
	if (error)
		return trn_fail(error, "%s: context: %s", device->node, strerror(-error));
	return 0;
}

int trn_context_take(struct trn_context *context, uint64_t start, uint64_t size, uint64_t alignment,
		     struct trn_va_range **range)
{
	int error;

	pthread_mutex_lock(&context->lock);
	if (start)
		error = trn_va_allocate_at(&context->addresses, start, size, range);
	else
		error = trn_va_allocate(&context->addresses, size, alignment, range);
	pthread_mutex_unlock(&context->lock);
	switch (error) {
	case 0:
		return 0;
	case -ENOSPC:
		return trn_fail(error,
				"the context has no %llu free addresses in one piece: destroy "
				"buffers or ranges, or use another context",
				(unsigned long long)size);
	case -EEXIST:
		return trn_fail(error,
				"addresses [0x%llx, +0x%llx) are not all free: a buffer or another "
				"range is there, or they are not from 0x%llx to 2^%u",
				(unsigned long long)start, (unsigned long long)size,
				(unsigned long long)FIRST_ADDRESS,
				context->device->info.address_bits);
	default:
		return trn_fail(error, "context: no host memory");
	}
}

void trn_context_give(struct trn_context *context, struct trn_va_range *range)
{
	pthread_mutex_lock(&context->lock);
	trn_va_free(&context->addresses, range);
	pthread_mutex_unlock(&context->lock);
}

static const char *bind_problem(const struct drm_trn_vm_bind *bind, int error)
{
	switch (error) {
	case -EEXIST:
		return "something is bound there: unmap it or use REPLACE";
	case -EACCES:
		return "the buffer is read-only: use TRN_BIND_READONLY";
	case -EINVAL:
		if (bind->syncs.count)
			return "a point to wait for was not added to its timeline";
		break;
	}
	return strerror(-error);
}

int trn_context_bind(struct trn_context *context, struct drm_trn_vm_bind *bind)
{
	static const char *const verbs[] = {
		[DRM_TRN_BIND_MAP] = "mapping",
		[DRM_TRN_BIND_UNMAP] = "unmapping",
		[DRM_TRN_BIND_REPLACE] = "replacing",
	};
	const struct drm_trn_bind_op *op = (void *)(uintptr_t)bind->ops.pointer;
	int error;

	bind->context = context->id;
	error = trn_device_ioctl(context->device, DRM_IOCTL_TRN_VM_BIND, bind);
	if (!error)
		return 0;
	if (error == -ENODEV)
		return trn_fail_gone(context->device);
	if (error == -EIO)
		return trn_fail_reset(context->device);
	/* Of an asynchronous call nobody tells which operation it was: the first is named. */
	if (bind->done < bind->ops.count)
		op += bind->done;
	return trn_fail(error, "%s: %s [0x%llx, +0x%llx)%s: %s", context->device->node,
			verbs[op->op], (unsigned long long)op->va, (unsigned long long)op->size,
			bind->flags & DRM_TRN_VM_BIND_ASYNC ? " or what follows it in the call"
							    : "",
			bind_problem(bind, error));
}

int trn_context_unmap(struct trn_context *context, uint64_t address, uint64_t size)
{
	struct drm_trn_bind_op op = { .op = DRM_TRN_BIND_UNMAP, .va = address, .size = size };
	struct drm_trn_vm_bind bind = {
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};

	return trn_context_bind(context, &bind);
}
