/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Address 0 and those near it stay unbound, so that null pointers fault. */
#define FIRST_ADDRESS (UINT64_C(1) << 21)

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
			    (UINT64_C(1) << device->info.address_bits) - FIRST_ADDRESS);
	if (error) {
		trn_fail(error, "context: no host memory");
		goto free_context;
	}

	error = trn_device_ioctl(device, DRM_IOCTL_TRN_CONTEXT_CREATE, &create);
	if (error) {
		trn_fail(error, "%s: no context: %s", device->node,
			 error == -ENOSPC ? "all address spaces of the chip are in use: "
					    "destroy contexts or use another chip"
					  : strerror(-error));
		goto free_addresses;
	}
	context->id = create.context;
	pthread_mutex_init(&context->lock, NULL);
	__atomic_add_fetch(&device->contexts, 1, __ATOMIC_RELAXED);
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
		return trn_fail(-EBUSY, "the context has %u buffers and queues: destroy them first",
				objects);

	/* It can only fail because the chip, and with it the context, is gone. */
	destroy = (struct drm_trn_context_destroy){ .context = context->id };
	trn_device_ioctl(device, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy);
	trn_va_fini(&context->addresses);
	pthread_mutex_destroy(&context->lock);
	free(context);
	__atomic_sub_fetch(&device->contexts, 1, __ATOMIC_RELEASE);
	return 0;
}
