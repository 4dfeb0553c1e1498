/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xf86drm.h>

#include "buffer.h"
#include "internal.h"

/* Large buffers start where larger device pages can map them. */
#define LARGE_ALIGNMENT (UINT64_C(1) << 21)

void trn_describe_exhaustion(char *text, size_t size, const struct trn_memory *memory,
			     unsigned int stacks, uint32_t stack, uint64_t asked)
{
	unsigned int i;
	int length;

	length = snprintf(text, size, "%llu bytes of HBM asked for;", (unsigned long long)asked);
	for (i = 0; i < stacks && length >= 0 && (size_t)length < size; i++) {
		if (stack != TRN_STACK_ANY && stack != i)
			continue;
		length += snprintf(text + length, size - (size_t)length,
				   " stack %u: %llu of %llu free, largest block %llu;", i,
				   (unsigned long long)memory[i].free,
				   (unsigned long long)memory[i].total,
				   (unsigned long long)memory[i].largest);
	}
	if (length >= 0 && (size_t)length < size)
		snprintf(text + length, size - (size_t)length, " free buffers, ask for less%s",
			 stack == TRN_STACK_ANY ? "" : ", or use TRN_STACK_ANY");
}

static int fail_exhausted(struct trn_device *device, uint32_t stack, uint64_t asked)
{
	struct trn_memory memory[DRM_TRN_HBM_STACKS_MAX];
	int stacks = trn_device_memory(device, memory, DRM_TRN_HBM_STACKS_MAX);
	char text[480];

	if (stacks < 0)
		return trn_fail(-ENOSPC, "%llu bytes of HBM asked for, not that much is free",
				(unsigned long long)asked);
	trn_describe_exhaustion(text, sizeof(text), memory, (unsigned int)stacks, stack, asked);
	return trn_fail(-ENOSPC, "%s", text);
}

static int check_arguments(const struct trn_device_info *info, enum trn_placement placement,
			   uint32_t stack, uint64_t size, uint32_t flags)
{
	if (placement != TRN_PLACEMENT_HBM && placement != TRN_PLACEMENT_HOST)
		return trn_fail(-EINVAL, "buffer: placement %d is neither HBM nor host",
				(int)placement);
	if (!size || size > UINT64_C(1) << info->address_bits)
		return trn_fail(-EINVAL, "buffer: size %llu is not 1 to 2^%u",
				(unsigned long long)size, info->address_bits);
	if (flags & ~TRN_BUFFER_READONLY)
		return trn_fail(-EINVAL, "buffer: unknown flags 0x%x",
				flags & ~TRN_BUFFER_READONLY);
	if (stack != TRN_STACK_ANY && placement == TRN_PLACEMENT_HOST)
		return trn_fail(-EINVAL, "buffer: host memory has no stacks: use TRN_STACK_ANY");
	if (stack != TRN_STACK_ANY && stack >= info->hbm_stacks)
		return trn_fail(-EINVAL, "buffer: stack %u is not 0 to %u or TRN_STACK_ANY", stack,
				info->hbm_stacks - 1);
	return 0;
}

static int allocate(struct trn_device *device, struct trn_buffer *buffer, uint32_t stack)
{
	bool hbm = buffer->placement == TRN_PLACEMENT_HBM;
	struct drm_trn_bo_create create = {
		.size = buffer->size,
		.placement = hbm ? DRM_TRN_BO_HBM : DRM_TRN_BO_HOST,
		.stack = hbm ? (stack == TRN_STACK_ANY ? DRM_TRN_STACK_ANY : stack) : 0,
	};
	int error = trn_device_ioctl(device, DRM_IOCTL_TRN_BO_CREATE, &create);

	if (error == -ENOSPC && hbm)
		return fail_exhausted(device, stack, buffer->size);
	if (error)
		return trn_fail(error, "%s: buffer of %llu bytes of %s memory: %s", device->node,
				(unsigned long long)buffer->size, hbm ? "device" : "host",
				strerror(-error));
	buffer->handle = create.handle;
	buffer->allocated = create.size;
	return 0;
}

static int allocate_address(struct trn_context *context, struct trn_buffer *buffer)
{
	uint64_t page = context->device->info.page_size;
	uint64_t size = (buffer->allocated + page - 1) & -page;
	uint64_t alignment =
		size >= LARGE_ALIGNMENT && page < LARGE_ALIGNMENT ? LARGE_ALIGNMENT : page;
	int error;

	pthread_mutex_lock(&context->lock);
	error = trn_va_allocate(&context->addresses, size, alignment, &buffer->range);
	pthread_mutex_unlock(&context->lock);
	if (error == -ENOSPC)
		return trn_fail(error,
				"the context has no %llu free addresses in one piece: destroy "
				"buffers or use another context",
				(unsigned long long)size);
	if (error)
		return trn_fail(error, "buffer: no host memory");
	return 0;
}

static void free_address(struct trn_context *context, struct trn_va_range *range)
{
	pthread_mutex_lock(&context->lock);
	trn_va_free(&context->addresses, range);
	pthread_mutex_unlock(&context->lock);
}

static int bind(struct trn_context *context, struct drm_trn_bind_op *op)
{
	struct drm_trn_vm_bind bind = {
		.context = context->id,
		.ops = { .stride = sizeof(*op), .count = 1, .pointer = (uintptr_t)op },
	};
	int error = trn_device_ioctl(context->device, DRM_IOCTL_TRN_VM_BIND, &bind);

	if (error)
		return trn_fail(error, "%s: %s of [0x%llx, +0x%llx): %s", context->device->node,
				op->op == DRM_TRN_BIND_MAP ? "binding" : "unbinding",
				(unsigned long long)op->va, (unsigned long long)op->size,
				strerror(-error));
	return 0;
}

static int map(struct trn_buffer *buffer, uint32_t flags)
{
	struct drm_trn_bind_op op = {
		.op = DRM_TRN_BIND_MAP,
		.flags = flags & TRN_BUFFER_READONLY ? DRM_TRN_BIND_READONLY : 0,
		.handle = buffer->handle,
		.va = buffer->range->start,
		.size = buffer->allocated,
	};

	return bind(buffer->context, &op);
}

static int unmap(struct trn_buffer *buffer)
{
	struct drm_trn_bind_op op = {
		.op = DRM_TRN_BIND_UNMAP,
		.va = buffer->range->start,
		.size = buffer->allocated,
	};

	return bind(buffer->context, &op);
}

static void close_handle(struct trn_device *device, uint32_t handle)
{
	struct drm_gem_close close = { .handle = handle };

	trn_device_ioctl(device, DRM_IOCTL_GEM_CLOSE, &close);
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
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return trn_fail(-ENOMEM, "buffer: no host memory");
	buffer->context = context;
	buffer->placement = placement;
	buffer->size = size;

	error = allocate(device, buffer, stack);
	if (error)
		goto free_buffer;
	error = allocate_address(context, buffer);
	if (error)
		goto close_handle;
	error = map(buffer, flags);
	if (error)
		goto free_address;

	pthread_mutex_init(&buffer->lock, NULL);
	__atomic_add_fetch(&context->objects, 1, __ATOMIC_RELAXED);
	*result = buffer;
	return 0;

free_address:
	free_address(context, buffer->range);
close_handle:
	close_handle(device, buffer->handle);
free_buffer:
	free(buffer);
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
	/* While the device may still use the memory, its address must not be given away. */
	error = unmap(buffer);
	if (error && error != -ENODEV)
		return error;
	if (buffer->pointer)
		munmap(buffer->pointer, buffer->allocated);
	close_handle(context->device, buffer->handle);
	free_address(context, buffer->range);
	pthread_mutex_destroy(&buffer->lock);
	free(buffer);
	__atomic_sub_fetch(&context->objects, 1, __ATOMIC_RELEASE);
	return 0;
}

uint64_t trn_buffer_address(const struct trn_buffer *buffer)
{
	return buffer->range->start;
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

	if (buffer->placement != TRN_PLACEMENT_HOST)
		return trn_fail(-EOPNOTSUPP, "a buffer in HBM cannot be mapped: use trn_read() and "
					     "trn_write(), or host placement");
	error = trn_device_ioctl(device, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &offset);
	if (error)
		return trn_fail(error, "%s: buffer cannot be mapped: %s", device->node,
				strerror(-error));
	pointer = mmap(NULL, buffer->allocated, PROT_READ | PROT_WRITE, MAP_SHARED, device->fd,
		       (off_t)offset.offset);
	if (pointer == MAP_FAILED)
		return trn_fail(-errno, "%s: buffer of %llu bytes cannot be mapped: %s",
				device->node, (unsigned long long)buffer->allocated,
				strerror(errno));
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
