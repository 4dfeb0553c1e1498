/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "internal.h"

#define DRIVER_NAME  "trn"
#define DRIVER_MAJOR 1

int trn_device_ioctl(struct trn_device *device, unsigned long request, void *argument)
{
	/* Restarts on EINTR and EAGAIN. */
	return drmIoctl(device->fd, request, argument) ? -errno : 0;
}

int trn_device_check(const struct trn_device *device, const char *what)
{
	if (trn_process_is(device->process))
		return 0;
	return trn_fail(-EPERM,
			"%s: %s was opened before fork() by the parent process: "
			"open the device in the child",
			what, device->node);
}

/* The node must be our driver's, and the driver must speak the ABI that we know. */
static int check_driver(const struct trn_device *device)
{
	drmVersionPtr version = drmGetVersion(device->fd);
	int error = 0;

	if (!version)
		return trn_fail(-ENODEV, "%s is not an accelerator node: %s", device->node,
				strerror(errno));
	if (strcmp(version->name, DRIVER_NAME))
		error = trn_fail(-ENODEV, "%s belongs to the driver \"%s\", not to \"%s\"",
				 device->node, version->name, DRIVER_NAME);
	else if (version->version_major != DRIVER_MAJOR)
		error = trn_fail(-ENODEV,
				 "%s: the driver's interface is version %d.%d, this library knows "
				 "version %d: install a libtrn of the driver's release",
				 device->node, version->version_major, version->version_minor,
				 DRIVER_MAJOR);
	drmFreeVersion(version);
	return error;
}

static int query(struct trn_device *device, uint32_t what, void *answer, uint32_t size)
{
	struct drm_trn_query query = {
		.query = what,
		.size = size,
		.pointer = (uintptr_t)answer,
	};
	int error = trn_device_ioctl(device, DRM_IOCTL_TRN_QUERY, &query);

	if (error == -ENODEV)
		return trn_fail_gone(device);
	if (error)
		return trn_fail(error, "%s: query %u failed: %s", device->node, what,
				strerror(-error));
	return 0;
}

static int read_info(struct trn_device *device)
{
	struct trn_device_info *info = &device->info;
	struct drm_trn_query_device chip = { 0 };
	int error = query(device, DRM_TRN_QUERY_DEVICE, &chip, sizeof(chip));

	if (error)
		return error;
	*info = (struct trn_device_info){
		.architecture_major = chip.architecture_version >> 16,
		.architecture_minor = chip.architecture_version & 0xffff,
		.cores = chip.cores,
		.dma_engines = chip.dma_engines,
		.coll_cores = chip.coll_cores,
		.links = chip.links,
		.dtypes = chip.dtypes,
		.semaphores = chip.semaphores,
		.sbuf_size = chip.sbuf_size,
		.psum_size = chip.psum_size,
		.hbm_stacks = chip.hbm_stacks,
		.address_bits = chip.va_bits,
		.hbm_stack_size = chip.hbm_stack_size,
		.queue_entries_max = chip.ring_max,
		.page_size = (uint32_t)chip.page_size,
		.tensor_pack = chip.tensor_pack,
	};
	_Static_assert(sizeof(info->uuid) == sizeof(chip.uuid), "same size");
	memcpy(info->uuid, chip.uuid, sizeof(info->uuid));
	snprintf(info->generation, sizeof(info->generation), "%.*s",
		 (int)sizeof(chip.generation) - 1, (const char *)chip.generation);
	snprintf(info->serial, sizeof(info->serial), "%.*s", (int)sizeof(chip.serial) - 1,
		 (const char *)chip.serial);
	snprintf(info->firmware, sizeof(info->firmware), "%.*s", (int)sizeof(chip.firmware) - 1,
		 (const char *)chip.firmware);
	return 0;
}

int trn_device_open_path(const char *path, struct trn_device **result)
{
	struct trn_device *device = calloc(1, sizeof(*device));
	int error;

	if (!device)
		return trn_fail(-ENOMEM, "%s: no host memory", path);
	snprintf(device->node, sizeof(device->node), "%s", path);
	pthread_mutex_init(&device->lock, NULL);

	error = trn_process_id(&device->process);
	if (error) {
		trn_fail(error, "%s: no page that is wiped at fork(): %s", path, strerror(-error));
		goto free_device;
	}
	device->fd = open(path, O_RDWR | O_CLOEXEC);
	if (device->fd < 0) {
		error = trn_fail(-errno, "%s cannot be opened: %s%s", path, strerror(errno),
				 errno == EACCES ? " (is the user in the group \"render\"?)" : "");
		goto free_device;
	}
	error = check_driver(device);
	if (error)
		goto close_fd;
	error = read_info(device);
	if (error)
		goto close_fd;
	*result = device;
	return 0;

close_fd:
	close(device->fd);
free_device:
	pthread_mutex_destroy(&device->lock);
	free(device);
	return error;
}

int trn_device_open(unsigned int index, struct trn_device **device)
{
	const struct trn_device_list *list;
	int error = trn_device_list(&list);

	if (error)
		return error;
	if (index < list->count)
		error = trn_device_open_path(list->entry[index]->node, device);
	else if (list->count)
		error = trn_fail(-ENODEV, "there is no device %u: the indexes are 0 to %zu", index,
				 list->count - 1);
	else
		error = trn_fail(-ENODEV,
				 "there is no device %u: no chip is bound to the driver "
				 "\"trn\" (is the module loaded?)",
				 index);
	trn_device_list_free(list);
	return error;
}

int trn_device_close(struct trn_device *device)
{
	unsigned int children;
	int error;

	if (!device)
		return 0;
	error = trn_device_check(device, "close");
	if (error)
		return error;
	children = __atomic_load_n(&device->children, __ATOMIC_ACQUIRE);
	if (children)
		return trn_fail(-EBUSY, "%s has %u contexts and timelines: destroy them first",
				device->node, children);
	close(device->fd);
	pthread_mutex_destroy(&device->lock);
	free(device->handle_users);
	free(device);
	return 0;
}

const struct trn_device_info *trn_device_info(const struct trn_device *device)
{
	return &device->info;
}

static int query_memory(struct trn_device *device, struct drm_trn_query_memory *use)
{
	int error = trn_device_check(device, "memory query");

	if (error)
		return error;
	error = query(device, DRM_TRN_QUERY_MEMORY, use, sizeof(*use));
	if (error)
		return error;
	if (use->stacks > DRM_TRN_HBM_STACKS_MAX)
		use->stacks = DRM_TRN_HBM_STACKS_MAX;
	return 0;
}

int trn_device_memory(struct trn_device *device, struct trn_memory *memory, unsigned int count)
{
	struct drm_trn_query_memory use = { 0 };
	int error = query_memory(device, &use);
	unsigned int i;

	if (error)
		return error;
	for (i = 0; i < count && i < use.stacks; i++)
		memory[i] = (struct trn_memory){
			.total = use.stack[i].total,
			.free = use.stack[i].free,
			.largest = use.stack[i].largest,
		};
	return (int)use.stacks;
}

int trn_device_memory_limits(struct trn_device *device, struct trn_memory_limits *limits)
{
	struct drm_trn_query_memory use = { 0 };
	int error = query_memory(device, &use);

	if (error)
		return error;
	*limits = (struct trn_memory_limits){
		.cpu_visible = use.cpu_visible,
		.cpu_visible_free = use.cpu_visible_free,
		.quota = use.quota,
		.quota_used = use.quota_used,
	};
	return 0;
}

int trn_device_recovery(struct trn_device *device, struct trn_recovery *recovery)
{
	struct drm_trn_query_recovery counts = { 0 };
	int error = trn_device_check(device, "recovery query");

	if (!error)
		error = query(device, DRM_TRN_QUERY_RECOVERY, &counts, sizeof(counts));
	if (error)
		return error;
	*recovery = (struct trn_recovery){
		.queue_stops = counts.queue_stops,
		.queue_resets = counts.queue_resets,
		.context_resets = counts.context_resets,
		.function_resets = counts.function_resets,
		.contexts_lost = counts.contexts_lost,
		.core_resets = counts.core_resets,
	};
	return 0;
}
