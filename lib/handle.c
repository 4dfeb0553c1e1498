/* SPDX-License-Identifier: MIT */
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>

#include "internal.h"

static void close_handle(struct trn_device *device, uint32_t handle)
{
	struct drm_gem_close gem_close = { .handle = handle };

	/* It can only fail because there is no such handle. */
	trn_device_ioctl(device, DRM_IOCTL_GEM_CLOSE, &gem_close);
}

/* With the device's lock held. */
static int add_user(struct trn_device *device, uint32_t handle)
{
	if (handle >= device->handle_room) {
		/* Handles are the lowest free numbers. */
		uint32_t room = handle < 64 ? 128 : handle * 2;
		uint32_t *users = realloc(device->handle_users, room * sizeof(*users));

		if (!users) {
			close_handle(device, handle);
			return -ENOMEM;
		}
		memset(users + device->handle_room, 0,
		       (room - device->handle_room) * sizeof(*users));
		device->handle_users = users;
		device->handle_room = room;
	}
	device->handle_users[handle]++;
	return 0;
}

int trn_handle_hold(struct trn_device *device, uint32_t handle)
{
	int error;

	pthread_mutex_lock(&device->lock);
	error = add_user(device, handle);
	pthread_mutex_unlock(&device->lock);
	return error;
}

int trn_handle_import(struct trn_device *device, int fd, uint32_t *handle)
{
	int error;

	/* Locked, so that nobody closes a handle that is about to be given once more. */
	pthread_mutex_lock(&device->lock);
	error = drmPrimeFDToHandle(device->fd, fd, handle) ? -errno : 0;
	if (!error)
		error = add_user(device, *handle);
	pthread_mutex_unlock(&device->lock);
	return error;
}

void trn_handle_release(struct trn_device *device, uint32_t handle)
{
	pthread_mutex_lock(&device->lock);
	if (!--device->handle_users[handle])
		close_handle(device, handle);
	pthread_mutex_unlock(&device->lock);
}
