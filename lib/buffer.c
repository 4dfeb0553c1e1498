/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xf86drm.h>

#include "handle.h"
#include "internal.h"
#include "refusal.h"

/* Large buffers start where larger device pages can map them. */
#define LARGE_ALIGNMENT (UINT64_C(1) << 21)

/* ---- making and unmaking --------------------------------------------- */

static struct trn_buffer *new_buffer(struct trn_context *context, uint64_t size)
{
	struct trn_buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer) {
		trn_fail(-ENOMEM, "buffer: no host memory");
		return NULL;
	}
	buffer->context = context;
	buffer->size = size;
	buffer->holders = 1;
	pthread_mutex_init(&buffer->lock, NULL);
	return buffer;
}

static void free_buffer(struct trn_buffer *buffer)
{
	pthread_mutex_destroy(&buffer->lock);
	free(buffer);
}

void trn_buffer_hold(struct trn_buffer *buffer)
{
	__atomic_add_fetch(&buffer->holders, 1, __ATOMIC_RELAXED);
}

void trn_buffer_release(struct trn_buffer *buffer)
{
	if (!__atomic_sub_fetch(&buffer->holders, 1, __ATOMIC_ACQ_REL))
		free_buffer(buffer);
}

static int take_address(struct trn_buffer *buffer)
{
	uint64_t page = buffer->context->device->info.page_size;
	uint64_t size = (buffer->allocated + page - 1) & -page;
	uint64_t alignment =
		size >= LARGE_ALIGNMENT && page < LARGE_ALIGNMENT ? LARGE_ALIGNMENT : page;

	return trn_context_take(buffer->context, 0, size, alignment, &buffer->range);
}

static int map(struct trn_buffer *buffer, uint32_t verb)
{
	struct drm_trn_bind_op op = {
		.op = verb,
		.flags = buffer->readonly ? DRM_TRN_BIND_READONLY : 0,
		.handle = buffer->handle,
		.va = buffer->range->start,
		.size = buffer->allocated,
	};
	struct drm_trn_vm_bind bind = {
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};

	return trn_context_bind(buffer->context, &bind);
}

/*
 * The buffer has a handle whose user it is: gives it an address, and its context one object
 * more.  On failure the buffer is freed and the handle released.
 */
static int complete(struct trn_buffer *buffer, uint32_t flags, struct trn_buffer **result)
{
	struct trn_context *context = buffer->context;
	int error;

	buffer->readonly = flags & TRN_BUFFER_READONLY;
	if (!(flags & TRN_BUFFER_UNBOUND)) {
		error = take_address(buffer);
		if (error)
			goto release_handle;
		error = map(buffer, DRM_TRN_BIND_MAP);
		if (error)
			goto give_address;
	}
	__atomic_add_fetch(&context->objects, 1, __ATOMIC_RELAXED);
	*result = buffer;
	return 0;

give_address:
	trn_context_give(context, buffer->range);
release_handle:
	trn_handle_release(context->device, buffer->handle);
	free_buffer(buffer);
	return error;
}

int trn_buffer_destroy(struct trn_buffer *buffer)
{
	struct trn_context *context;
	int error;

	if (!buffer)
		return 0;
	context = buffer->context;
	error = trn_device_check(context->device, "buffer");
	if (error)
		return error;
	if (buffer->range) {
		/* While the device may still use the memory, its address must not be given away. */
		error = trn_context_unmap(context, buffer->range->start, buffer->allocated);
		if (error && error != -ENODEV && error != -EIO)
			return error;
		trn_context_give(context, buffer->range);
	}
	if (buffer->own_mapping)
		munmap(buffer->pointer, buffer->allocated);
	trn_handle_release(context->device, buffer->handle);
	__atomic_store_n(&buffer->destroyed, true, __ATOMIC_RELEASE);
	trn_buffer_release(buffer);
	__atomic_sub_fetch(&context->objects, 1, __ATOMIC_RELEASE);
	return 0;
}

int trn_buffer_protect(struct trn_buffer *buffer)
{
	buffer->readonly = true;
	return map(buffer, DRM_TRN_BIND_REPLACE);
}

/* ---- new memory ------------------------------------------------------ */

static int check_flags(uint32_t flags, uint32_t known)
{
	if (flags & ~known)
		return trn_fail(-EINVAL, "buffer: flags 0x%x do not go with it", flags & ~known);
	return 0;
}

static int check_arguments(const struct trn_device_info *info, enum trn_placement placement,
			   uint32_t stack, uint64_t size, uint32_t flags)
{
	uint32_t known = TRN_BUFFER_READONLY | TRN_BUFFER_UNBOUND;

	if (placement != TRN_PLACEMENT_HBM && placement != TRN_PLACEMENT_HOST)
		return trn_fail(-EINVAL, "buffer: placement %d is neither HBM nor host",
				(int)placement);
	if (!size || size > UINT64_C(1) << info->address_bits)
		return trn_fail(-EINVAL, "buffer: size %llu is not 1 to 2^%u",
				(unsigned long long)size, info->address_bits);
	if (stack != TRN_STACK_ANY && placement == TRN_PLACEMENT_HOST)
		return trn_fail(-EINVAL, "buffer: host memory has no stacks: use TRN_STACK_ANY");
	if (stack != TRN_STACK_ANY && stack >= info->hbm_stacks)
		return trn_fail(-EINVAL, "buffer: stack %u is not 0 to %u or TRN_STACK_ANY", stack,
				info->hbm_stacks - 1);
	if (placement == TRN_PLACEMENT_HBM)
		known |= TRN_BUFFER_CPU_VISIBLE;
	return check_flags(flags, known);
}

static int allocate(struct trn_buffer *buffer, enum trn_placement placement, uint32_t stack,
		    uint32_t flags)
{
	struct trn_device *device = buffer->context->device;
	bool hbm = placement == TRN_PLACEMENT_HBM, visible = flags & TRN_BUFFER_CPU_VISIBLE;
	struct drm_trn_bo_create create = {
		.size = buffer->size,
		.placement = hbm ? DRM_TRN_BO_HBM : DRM_TRN_BO_HOST,
		.stack = hbm ? (stack == TRN_STACK_ANY ? DRM_TRN_STACK_ANY : stack) : 0,
		.flags = visible ? DRM_TRN_BO_CPU_VISIBLE : 0,
	};
	int error = trn_device_ioctl(device, DRM_IOCTL_TRN_BO_CREATE, &create);

	if (error == -ENODEV)
		return trn_fail_gone(device);
	if (error == -EDQUOT || (error == -ENOSPC && hbm))
		return trn_fail_refused(device, error, buffer->size, stack, visible);
	if (error)
		return trn_fail(error, "%s: buffer of %llu bytes of %s memory: %s", device->node,
				(unsigned long long)buffer->size, hbm ? "device" : "host",
				strerror(-error));
	buffer->handle = create.handle;
	buffer->allocated = create.size;
	buffer->cpu_copies = !hbm;
	if (trn_handle_hold(device, create.handle))
		return trn_fail(-ENOMEM, "buffer: no host memory");
	return 0;
}

int trn_buffer_create(struct trn_context *context, enum trn_placement placement, uint32_t stack,
		      uint64_t size, uint32_t flags, struct trn_buffer **result)
{
	struct trn_device *device = context->device;
	struct trn_buffer *buffer;
	int error;

	error = trn_device_check(device, "buffer");
	if (error)
		return error;
	error = check_arguments(&device->info, placement, stack, size, flags);
	if (error)
		return error;
	buffer = new_buffer(context, size);
	if (!buffer)
		return -ENOMEM;
	error = allocate(buffer, placement, stack, flags);
	if (error) {
		free_buffer(buffer);
		return error;
	}
	return complete(buffer, flags, result);
}

/* ---- memory of the process ------------------------------------------- */

static int fail_user(const struct trn_device *device, int error, const void *memory, uint64_t size)
{
	struct rlimit limit = { 0, 0 };

	if (error == -ENODEV)
		return trn_fail_gone(device);
	if (error == -EFAULT)
		return trn_fail(
			error,
			"%s: not all of the %llu bytes at %p are memory that can be locked for "
			"such access: memory that the process may not write needs "
			"TRN_BUFFER_READONLY, writable shared mappings of files cannot be used",
			device->node, (unsigned long long)size, memory);
	if (error != -ENOMEM)
		return trn_fail(error, "%s: %llu bytes at %p cannot be locked: %s", device->node,
				(unsigned long long)size, memory, strerror(-error));
	getrlimit(RLIMIT_MEMLOCK, &limit);
	return trn_fail(error,
			"%s: %llu bytes cannot be locked: there is no memory, or it is more than "
			"RLIMIT_MEMLOCK, %llu bytes, with what the user has locked already: raise "
			"it (ulimit -l) or use host buffers",
			device->node, (unsigned long long)size, (unsigned long long)limit.rlim_cur);
}

int trn_buffer_create_user(struct trn_context *context, void *memory, uint64_t size, uint32_t flags,
			   struct trn_buffer **result)
{
	struct trn_device *device = context->device;
	uint64_t page = device->info.page_size;
	struct drm_trn_bo_create_userptr create = {
		.address = (uintptr_t)memory,
		.size = size,
		.flags = flags & TRN_BUFFER_READONLY ? DRM_TRN_BO_READONLY : 0,
	};
	struct trn_buffer *buffer;
	int error;

	error = trn_device_check(device, "buffer");
	if (!error)
		error = check_flags(flags, TRN_BUFFER_READONLY | TRN_BUFFER_UNBOUND);
	if (error)
		return error;
	if (!size || ((uintptr_t)memory | size) & (page - 1))
		return trn_fail(
			-EINVAL,
			"buffer: %llu bytes at %p: address and size have to be multiples of "
			"the page size, %llu, and the size not 0",
			(unsigned long long)size, memory, (unsigned long long)page);
	buffer = new_buffer(context, size);
	if (!buffer)
		return -ENOMEM;
	error = trn_device_ioctl(device, DRM_IOCTL_TRN_BO_CREATE_USERPTR, &create);
	if (error) {
		fail_user(device, error, memory, size);
		goto free_buffer;
	}
	error = trn_handle_hold(device, create.handle);
	if (error) {
		trn_fail(error, "buffer: no host memory");
		goto free_buffer;
	}
	buffer->handle = create.handle;
	buffer->allocated = size;
	buffer->pointer = memory;
	buffer->cpu_copies = true;
	buffer->cpu_readonly = flags & TRN_BUFFER_READONLY;
	return complete(buffer, flags, result);

free_buffer:
	free_buffer(buffer);
	return error;
}

/* ---- memory of others ------------------------------------------------ */

static const char *import_problem(int error)
{
	switch (error) {
	case -EBADF:
	case -EINVAL:
		return "it is not a dma-buf";
	case -EOPNOTSUPP:
		return "the chip cannot reach its memory: copy the data through a host buffer";
	default:
		return strerror(-error);
	}
}

static int fail_import(const struct trn_device *device, int error, int fd)
{
	if (error == -ENODEV)
		return trn_fail_gone(device);
	return trn_fail(error, "%s: file descriptor %d cannot be imported: %s", device->node, fd,
			import_problem(error));
}

int trn_buffer_import(struct trn_context *context, int fd, uint32_t flags,
		      struct trn_buffer **result)
{
	struct trn_device *device = context->device;
	struct trn_buffer *buffer;
	off_t size;
	int error;

	error = trn_device_check(device, "buffer");
	if (!error)
		error = check_flags(flags, TRN_BUFFER_READONLY | TRN_BUFFER_UNBOUND);
	if (error)
		return error;
	/* Of a dma-buf, lseek() is there to ask for the size. */
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0)
		return fail_import(device, size < 0 && errno == EBADF ? -EBADF : -EINVAL, fd);
	buffer = new_buffer(context, (uint64_t)size);
	if (!buffer)
		return -ENOMEM;
	error = trn_handle_import(device, fd, &buffer->handle);
	if (error) {
		fail_import(device, error, fd);
		free_buffer(buffer);
		return error;
	}
	buffer->allocated = (uint64_t)size;
	return complete(buffer, flags, result);
}

int trn_buffer_export(struct trn_buffer *buffer, int *fd)
{
	struct trn_device *device = buffer->context->device;
	int error = trn_device_check(device, "buffer");

	if (error)
		return error;
	if (!drmPrimeHandleToFD(device->fd, buffer->handle, DRM_CLOEXEC | DRM_RDWR, fd))
		return 0;
	error = -errno;
	if (error == -ENODEV)
		return trn_fail_gone(device);
	return trn_fail(error, "%s: buffer cannot be exported: %s", device->node,
			error == -EOPNOTSUPP ? "it is memory of the process" : strerror(-error));
}

/* ---- everything else ------------------------------------------------- */

int trn_buffer_set_name(struct trn_buffer *buffer, const char *name)
{
	struct trn_device *device = buffer->context->device;
	struct drm_trn_bo_set_name set = { .handle = buffer->handle };
	size_t length = strlen(name), i;
	int error = trn_device_check(device, "buffer");

	_Static_assert(sizeof(set.name) == TRN_BUFFER_NAME_MAX + 1, "room for the longest name");
	if (error)
		return error;
	if (length > TRN_BUFFER_NAME_MAX)
		return trn_fail(-EINVAL, "buffer: a name of %zu characters is longer than %d",
				length, TRN_BUFFER_NAME_MAX);
	for (i = 0; i < length; i++)
		if (name[i] < ' ' || name[i] > '~')
			return trn_fail(-EINVAL,
					"buffer: character %zu of the name is not "
					"printable ASCII",
					i);
	memcpy(set.name, name, length);
	error = trn_device_ioctl(device, DRM_IOCTL_TRN_BO_SET_NAME, &set);
	if (error == -ENODEV)
		return trn_fail_gone(device);
	if (error)
		return trn_fail(error, "%s: buffer cannot be named: %s", device->node,
				strerror(-error));
	return 0;
}

uint64_t trn_buffer_address(const struct trn_buffer *buffer)
{
	return buffer->range ? buffer->range->start : 0;
}

uint64_t trn_buffer_size(const struct trn_buffer *buffer)
{
	return buffer->size;
}

static int make_mapping(struct trn_buffer *buffer)
{
	struct trn_device *device = buffer->context->device;
	struct drm_trn_bo_mmap_offset offset = { .handle = buffer->handle };
	void *pointer;
	int error;

	error = trn_device_ioctl(device, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &offset);
	if (error == -ENODEV)
		return trn_fail_gone(device);
	if (error == -EOPNOTSUPP)
		return trn_fail(error,
				"the buffer cannot be mapped: use trn_read() and trn_write(), or "
				"create it with TRN_BUFFER_CPU_VISIBLE or host placement; imported "
				"memory is mapped by mmap() of its dma-buf");
	if (error)
		return trn_fail(error, "%s: buffer cannot be mapped: %s", device->node,
				strerror(-error));
	pointer = mmap(NULL, buffer->allocated, PROT_READ | PROT_WRITE, MAP_SHARED, device->fd,
		       (off_t)offset.offset);
	if (pointer == MAP_FAILED)
		return trn_fail(-errno, "%s: buffer of %llu bytes cannot be mapped: %s",
				device->node, (unsigned long long)buffer->allocated,
				strerror(errno));
	buffer->own_mapping = true;
	__atomic_store_n(&buffer->pointer, pointer, __ATOMIC_RELEASE);
	return 0;
}

int trn_buffer_map(struct trn_buffer *buffer, void **pointer)
{
	int error = trn_device_check(buffer->context->device, "buffer");

	if (error)
		return error;
	*pointer = __atomic_load_n(&buffer->pointer, __ATOMIC_ACQUIRE);
	if (*pointer)
		return 0;
	pthread_mutex_lock(&buffer->lock);
	if (!buffer->pointer)
		error = make_mapping(buffer);
	*pointer = buffer->pointer;
	pthread_mutex_unlock(&buffer->lock);
	return error;
}
