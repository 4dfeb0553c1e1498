/* SPDX-License-Identifier: MIT */
/* Addresses that the application manages itself, and what is bound there. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

/* ---- ranges ---------------------------------------------------------- */

static int check_range(const struct trn_device_info *info, uint64_t address, uint64_t size,
		       uint64_t alignment)
{
	uint64_t page = info->page_size;

	if (!size || (address | size) & (page - 1))
		return trn_fail(-EINVAL,
				"range: address 0x%llx and size 0x%llx have to be multiples of the "
				"page size, %llu, and the size not 0",
				(unsigned long long)address, (unsigned long long)size,
				(unsigned long long)page);
	if (alignment & (alignment - 1))
		return trn_fail(-EINVAL, "range: alignment 0x%llx is not a power of two",
				(unsigned long long)alignment);
	if (address && alignment)
		return trn_fail(-EINVAL, "range: a fixed address goes with alignment 0");
	return 0;
}

int trn_range_create(struct trn_context *context, uint64_t address, uint64_t size,
		     uint64_t alignment, struct trn_range **result)
{
	const struct trn_device_info *info = &context->device->info;
	struct trn_range *range;
	int error;

	error = trn_device_check(context->device, "range");
	if (!error)
		error = check_range(info, address, size, alignment);
	if (error)
		return error;
	range = calloc(1, sizeof(*range));
	if (!range)
		return trn_fail(-ENOMEM, "range: no host memory");
	range->context = context;
	if (alignment < info->page_size)
		alignment = info->page_size;
	error = trn_context_take(context, address, size, alignment, &range->range);
	if (error) {
		free(range);
		return error;
	}
	__atomic_add_fetch(&context->objects, 1, __ATOMIC_RELAXED);
	*result = range;
	return 0;
}

int trn_range_destroy(struct trn_range *range)
{
	struct trn_context *context;
	int error;

	if (!range)
		return 0;
	context = range->context;
	error = trn_device_check(context->device, "range");
	if (error)
		return error;
	/* While something may be bound there, the addresses must not be given away. */
	error = trn_context_unmap(context, range->range->start, range->range->size);
	if (error && error != -ENODEV && error != -EIO)
		return error;
	trn_context_give(context, range->range);
	free(range);
	__atomic_sub_fetch(&context->objects, 1, __ATOMIC_RELEASE);
	return 0;
}

uint64_t trn_range_address(const struct trn_range *range)
{
	return range->range->start;
}

uint64_t trn_range_size(const struct trn_range *range)
{
	return range->range->size;
}

/* ---- binding --------------------------------------------------------- */

static bool is_outside(uint64_t offset, uint64_t size, uint64_t all)
{
	return offset > all || size > all - offset;
}

static int check_buffer(const struct trn_context *context, const struct trn_bind *bind,
			uint32_t number)
{
	const struct trn_buffer *buffer = bind->buffer;

	if (!buffer || buffer->context->device != context->device)
		return trn_fail(-EINVAL, "bind: operation %u: no buffer of this device", number);
	if (is_outside(bind->buffer_offset, bind->size, buffer->allocated))
		return trn_fail(-EINVAL,
				"bind: operation %u: 0x%llx bytes at offset 0x%llx pass the end of "
				"a buffer of 0x%llx",
				number, (unsigned long long)bind->size,
				(unsigned long long)bind->buffer_offset,
				(unsigned long long)buffer->allocated);
	return 0;
}

static int check_bind(const struct trn_context *context, const struct trn_bind *bind,
		      uint32_t number)
{
	bool unmap = bind->op == TRN_BIND_UNMAP;
	uint64_t page = context->device->info.page_size;

	if (bind->op != TRN_BIND_MAP && bind->op != TRN_BIND_UNMAP && bind->op != TRN_BIND_REPLACE)
		return trn_fail(-EINVAL, "bind: operation %u: %d is not MAP, UNMAP or REPLACE",
				number, (int)bind->op);
	if (bind->flags & ~(unmap ? 0 : TRN_BIND_READONLY))
		return trn_fail(-EINVAL, "bind: operation %u: flags 0x%x do not go with it", number,
				bind->flags);
	if (!bind->range || bind->range->context != context)
		return trn_fail(-EINVAL, "bind: operation %u: no range of this context", number);
	if (!bind->size || (bind->range_offset | bind->size | bind->buffer_offset) & (page - 1))
		return trn_fail(-EINVAL,
				"bind: operation %u: offsets and size have to be multiples of the "
				"page size, %llu, and the size not 0",
				number, (unsigned long long)page);
	if (is_outside(bind->range_offset, bind->size, bind->range->range->size))
		return trn_fail(-EINVAL,
				"bind: operation %u: 0x%llx bytes at offset 0x%llx pass the end of "
				"a range of 0x%llx",
				number, (unsigned long long)bind->size,
				(unsigned long long)bind->range_offset,
				(unsigned long long)bind->range->range->size);
	if (!unmap)
		return check_buffer(context, bind, number);
	if (bind->buffer || bind->buffer_offset)
		return trn_fail(-EINVAL, "bind: operation %u: UNMAP takes no buffer", number);
	return 0;
}

static struct drm_trn_bind_op translate(const struct trn_bind *bind)
{
	static const uint32_t op[] = {
		[TRN_BIND_MAP] = DRM_TRN_BIND_MAP,
		[TRN_BIND_UNMAP] = DRM_TRN_BIND_UNMAP,
		[TRN_BIND_REPLACE] = DRM_TRN_BIND_REPLACE,
	};

	return (struct drm_trn_bind_op){
		.op = op[bind->op],
		.flags = bind->flags & TRN_BIND_READONLY ? DRM_TRN_BIND_READONLY : 0,
		.handle = bind->buffer ? bind->buffer->handle : 0,
		.va = bind->range->range->start + bind->range_offset,
		.size = bind->size,
		.offset = bind->buffer_offset,
	};
}

/* Checks @binds, and makes of them the array for @call; the caller frees it. */
static int prepare(struct trn_context *context, const struct trn_bind *binds, uint32_t count,
		   struct drm_trn_vm_bind *call)
{
	struct drm_trn_bind_op *ops;
	uint32_t i;
	int error;

	error = trn_device_check(context->device, "bind");
	if (error)
		return error;
	if (!count || count > TRN_BIND_OPS_MAX)
		return trn_fail(-EINVAL, "bind: %u operations at once are not 1 to %u", count,
				TRN_BIND_OPS_MAX);
	for (i = 0; i < count; i++) {
		error = check_bind(context, &binds[i], i);
		if (error)
			return error;
	}
	ops = malloc(count * sizeof(*ops));
	if (!ops)
		return trn_fail(-ENOMEM, "bind: no host memory");
	for (i = 0; i < count; i++)
		ops[i] = translate(&binds[i]);
	*call = (struct drm_trn_vm_bind){
		.ops = { .stride = sizeof(*ops), .count = count, .pointer = (uintptr_t)ops },
	};
	return 0;
}

static void free_ops(const struct drm_trn_vm_bind *call)
{
	free((void *)(uintptr_t)call->ops.pointer);
}

int trn_bind(struct trn_context *context, const struct trn_bind *binds, uint32_t count,
	     uint32_t *done)
{
	struct drm_trn_vm_bind call;
	int error;

	_Static_assert(TRN_BIND_OPS_MAX == DRM_TRN_BIND_OPS_MAX, "the kernel's limit");
	if (done)
		*done = 0;
	error = prepare(context, binds, count, &call);
	if (error)
		return error;
	error = trn_context_bind(context, &call);
	if (done)
		*done = call.done;
	free_ops(&call);
	return error;
}

int trn_bind_async(struct trn_context *context, const struct trn_bind *binds, uint32_t count,
		   const struct trn_sync *syncs, uint32_t sync_count)
{
	struct drm_trn_sync translated[TRN_SYNCS_MAX];
	struct drm_trn_vm_bind call;
	int error;

	_Static_assert(TRN_SYNCS_MAX == DRM_TRN_BIND_SYNCS_MAX, "the kernel's limit");
	if (sync_count > TRN_SYNCS_MAX)
		return trn_fail(-EINVAL, "bind: %u points at once are more than %u", sync_count,
				TRN_SYNCS_MAX);
	error = trn_sync_translate(context->device, "bind", syncs, sync_count, translated);
	if (!error)
		error = prepare(context, binds, count, &call);
	if (error)
		return error;
	call.flags = DRM_TRN_VM_BIND_ASYNC;
	call.syncs = (struct drm_trn_array){
		.stride = sizeof(translated[0]),
		.count = sync_count,
		.pointer = (uintptr_t)translated,
	};
	error = trn_context_bind(context, &call);
	free_ops(&call);
	return error;
}
