/* SPDX-License-Identifier: MIT */
/* Objects, bindings and dma-bufs of the driver in fake.c. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include "fake_fence.h"
#include "fake_state.h"

void fake_query_memory(struct drm_trn_query_memory *memory)
{
	int i;

	*memory = (struct drm_trn_query_memory){
		.stacks = FAKE_STACKS,
		.cpu_visible = FAKE_CPU_VISIBLE,
		.cpu_visible_free = FAKE_CPU_VISIBLE,
		.quota = fake.options.quota ? fake.options.quota : FAKE_STACKS * FAKE_STACK_SIZE,
	};
	for (i = 0; i < FAKE_STACKS; i++)
		memory->stack[i].total = memory->stack[i].free = FAKE_STACK_SIZE;
	for (i = 0; i < OBJECTS; i++) {
		const struct bo *bo = &fake.bo[i];

		if (!bo->used || bo->placement != DRM_TRN_BO_HBM)
			continue;
		memory->stack[bo->stack].free -= bo->size;
		memory->quota_used += bo->size;
		if (bo->flags & DRM_TRN_BO_CPU_VISIBLE)
			memory->cpu_visible_free -= bo->size;
	}
	for (i = 0; i < FAKE_STACKS; i++)
		memory->stack[i].largest = memory->stack[i].free;
}

static struct drm_trn_query_memory memory_use(void)
{
	struct drm_trn_query_memory memory;

	fake_query_memory(&memory);
	return memory;
}

/* A stack with that much free, or -1. */
static int find_stack(uint32_t wanted, uint64_t size)
{
	struct drm_trn_query_memory memory = memory_use();
	int i;

	for (i = 0; i < FAKE_STACKS; i++)
		if ((wanted == DRM_TRN_STACK_ANY || wanted == (uint32_t)i) &&
		    memory.stack[i].free >= size)
			return i;
	return -1;
}

uint64_t fake_take_memory(uint64_t size)
{
	uint64_t offset = fake.memory_used;

	ck_assert_uint_le(size, MEMORY - offset);
	fake.memory_used += size;
	return offset;
}

static uint32_t new_bo(const struct bo *bo)
{
	uint32_t i;

	for (i = 1; fake.bo[i].used; i++)
		ck_assert_uint_lt(i, OBJECTS - 1);
	fake.bo[i] = *bo;
	fake.bo[i].used = true;
	return i;
}

int fake_bo_create(struct drm_trn_bo_create *create)
{
	bool hbm = create->placement == DRM_TRN_BO_HBM;
	bool visible = create->flags & DRM_TRN_BO_CPU_VISIBLE;
	struct drm_trn_query_memory memory = memory_use();
	int stack = 0;
	struct bo bo;

	ck_assert_uint_eq(create->flags & ~(hbm ? DRM_TRN_BO_CPU_VISIBLE : 0), 0);
	create->size = (create->size + PAGE - 1) & -(uint64_t)PAGE;
	if (hbm) {
		if (visible && create->size > memory.cpu_visible_free)
			return -ENOSPC;
		stack = find_stack(visible ? 0 : create->stack, create->size);
		if (stack < 0)
			return -ENOSPC;
		if (create->size > memory.quota - memory.quota_used)
			return -EDQUOT;
	}
	bo = (struct bo){
		.offset = fake_take_memory(create->size),
		.size = create->size,
		.placement = create->placement,
		.stack = (uint32_t)stack,
		.flags = create->flags,
	};
	bo.memory = fake.memory + bo.offset;
	create->handle = new_bo(&bo);
	return 0;
}

int fake_bo_create_userptr(struct drm_trn_bo_create_userptr *create)
{
	ck_assert_uint_eq(create->flags & ~DRM_TRN_BO_READONLY, 0);
	ck_assert_uint_eq((create->address | create->size) % PAGE, 0);
	ck_assert_uint_ne(create->size, 0);
	create->handle = new_bo(&(struct bo){
		.memory = (uint8_t *)(uintptr_t)create->address,
		.size = create->size,
		.placement = DRM_TRN_BO_HOST,
		.readonly = create->flags & DRM_TRN_BO_READONLY,
	});
	return 0;
}

int fake_bo_mmap_offset(struct drm_trn_bo_mmap_offset *offset)
{
	const struct bo *bo = &fake.bo[offset->handle];

	if (!bo->offset ||
	    (bo->placement == DRM_TRN_BO_HBM && !(bo->flags & DRM_TRN_BO_CPU_VISIBLE)))
		return -EOPNOTSUPP;
	offset->offset = bo->offset;
	return 0;
}

int fake_bo_set_name(const struct drm_trn_bo_set_name *name)
{
	ck_assert(fake.bo[name->handle].used);
	ck_assert_ptr_nonnull(memchr(name->name, 0, sizeof(name->name)));
	memcpy(fake.bo[name->handle].name, name->name, sizeof(name->name));
	return 0;
}

static void add_binding(const struct binding *binding)
{
	int i;

	for (i = 0; fake.binding[i].used; i++)
		ck_assert_int_lt(i, OBJECTS - 1);
	fake.binding[i] = *binding;
}

/* The part of a binding from @start to @end, if there is any. */
static void keep_part(const struct binding *whole, uint64_t start, uint64_t end)
{
	struct binding part = *whole;

	if (start >= end)
		return;
	part.memory += start - whole->va;
	part.va = start;
	part.size = end - start;
	add_binding(&part);
}

static void unmap(uint32_t context, uint64_t start, uint64_t end)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		struct binding b = fake.binding[i];

		if (!b.used || b.context != context || b.va >= end || start >= b.va + b.size)
			continue;
		fake.binding[i].used = false;
		keep_part(&b, b.va, start);
		keep_part(&b, end, b.va + b.size);
	}
}

static int apply(uint32_t context, const struct drm_trn_bind_op *op)
{
	const struct bo *bo = &fake.bo[op->handle];
	int i;

	if (op->op != DRM_TRN_BIND_MAP)
		unmap(context, op->va, op->va + op->size);
	if (op->op == DRM_TRN_BIND_UNMAP)
		return 0;
	for (i = 0; i < OBJECTS; i++) {
		const struct binding *b = &fake.binding[i];

		if (b->used && b->context == context && op->va < b->va + b->size &&
		    b->va < op->va + op->size)
			return -EEXIST;
	}
	add_binding(&(struct binding){
		.used = true,
		.context = context,
		.memory = bo->memory + op->offset,
		.flags = op->flags,
		.va = op->va,
		.size = op->size,
	});
	return 0;
}

static int check_op(const struct drm_trn_bind_op *op)
{
	const struct bo *bo = &fake.bo[op->handle];

	ck_assert_uint_eq((op->va | op->size | op->offset) % PAGE, 0);
	ck_assert_uint_ne(op->size, 0);
	if (op->op == DRM_TRN_BIND_UNMAP) {
		ck_assert(!op->handle && !op->offset && !op->flags);
		return 0;
	}
	ck_assert(bo->used);
	ck_assert(op->offset <= bo->size && op->size <= bo->size - op->offset);
	return bo->readonly && !(op->flags & DRM_TRN_BIND_READONLY) ? -EACCES : 0;
}

static int bind_now(struct drm_trn_vm_bind *bind, const struct drm_trn_bind_op *ops)
{
	int error = 0;

	ck_assert_uint_eq(bind->syncs.count, 0);
	while (!error && bind->done < bind->ops.count) {
		error = check_op(&ops[bind->done]);
		if (!error)
			error = apply(bind->context, &ops[bind->done]);
		if (!error)
			bind->done++;
	}
	return error;
}

static int bind_later(const struct drm_trn_vm_bind *bind, const struct drm_trn_bind_op *ops)
{
	const struct drm_trn_sync *sync = (void *)(uintptr_t)bind->syncs.pointer;
	struct pending_bind *pending = &fake.bind;
	uint32_t i;
	int error;

	ck_assert(!pending->used);
	ck_assert_uint_le(bind->ops.count, 8);
	for (i = 0; i < bind->ops.count; i++) {
		error = check_op(&ops[i]);
		if (error)
			return error;
	}
	*pending = (struct pending_bind){
		.used = true,
		.context = bind->context,
		.count = bind->ops.count,
		.signal = fake_fence_new(),
	};
	memcpy(pending->ops, ops, bind->ops.count * sizeof(*ops));
	for (i = 0; i < bind->syncs.count; i++) {
		int fence = pending->signal;

		if (sync[i].flags == DRM_TRN_SYNC_SIGNAL) {
			fake_syncobj_attach(sync[i].handle, sync[i].point, fence);
			continue;
		}
		ck_assert_uint_eq(sync[i].flags, DRM_TRN_SYNC_WAIT);
		fence = fake_syncobj_fence(sync[i].handle, sync[i].point);
		if (fence < 0) {
			pending->used = false;
			return -EINVAL;
		}
		pending->wait[pending->waits++] = fence;
	}
	fake_progress();
	return 0;
}

int fake_bind(struct drm_trn_vm_bind *bind)
{
	const struct drm_trn_bind_op *ops = (void *)(uintptr_t)bind->ops.pointer;

	ck_assert(!bind->ops.count || bind->ops.stride == sizeof(*ops));
	ck_assert_uint_le(bind->ops.count, DRM_TRN_BIND_OPS_MAX);
	ck_assert_uint_le(bind->syncs.count, DRM_TRN_BIND_SYNCS_MAX);
	ck_assert_uint_eq(bind->done, 0);
	if (fake.lost[bind->context])
		return -EIO;
	return bind->flags & DRM_TRN_VM_BIND_ASYNC ? bind_later(bind, ops) : bind_now(bind, ops);
}

void fake_run_pending_bind(void)
{
	struct pending_bind *pending = &fake.bind;
	uint32_t i;
	int error = 0;

	if (!pending->used)
		return;
	for (i = 0; i < pending->waits; i++) {
		if (!fake_fence_signalled(pending->wait[i]))
			return;
		if (!error)
			error = fake_fence_error(pending->wait[i]);
	}
	for (i = 0; !error && i < pending->count; i++)
		error = apply(pending->context, &pending->ops[i]);
	pending->used = false;
	fake_fence_signal(pending->signal, error);
}

/* ---- dma-bufs -------------------------------------------------------- */

/* A dma-buf is a memfd, known by its inode. */
static uint32_t find_dma_buf(int fd)
{
	struct stat status;
	uint32_t i;

	if (fstat(fd, &status))
		return 0;
	for (i = OBJECTS - 1; i && (!fake.bo[i].inode || fake.bo[i].inode != status.st_ino); i--)
		;
	return i;
}

int drmPrimeHandleToFD(int fd, uint32_t handle, uint32_t flags, int *prime_fd)
{
	struct bo *bo = &fake.bo[handle];
	struct stat status;
	int error = 0;

	(void)fd;
	ck_assert_uint_eq(flags, DRM_CLOEXEC | DRM_RDWR);
	fake_lock();
	ck_assert(bo->used);
	if (fake.gone) {
		error = -ENODEV;
	} else if (!bo->offset) {
		error = -EOPNOTSUPP;
	} else {
		*prime_fd = memfd_create("dma-buf", MFD_CLOEXEC);
		ck_assert_int_eq(ftruncate(*prime_fd, (off_t)bo->size), 0);
		ck_assert_int_eq(fstat(*prime_fd, &status), 0);
		bo->inode = status.st_ino;
	}
	fake_unlock();
	errno = -error;
	return error ? -1 : 0;
}

int drmPrimeFDToHandle(int fd, int prime_fd, uint32_t *handle)
{
	uint32_t bo;
	int error = 0;

	(void)fd;
	fake_lock();
	bo = find_dma_buf(prime_fd);
	if (fake.gone)
		error = -ENODEV;
	else if (!bo)
		error = -EINVAL;
	else
		fake.bo[bo].used = true;
	*handle = bo;
	fake_unlock();
	errno = -error;
	return error ? -1 : 0;
}

const char *fake_name(uint64_t size)
{
	int i;

	for (i = 1; i < OBJECTS; i++)
		if (fake.bo[i].used && fake.bo[i].size == size)
			return fake.bo[i].name;
	return NULL;
}

int fake_dma_buf(uint8_t *memory, uint64_t size)
{
	int fd = memfd_create("foreign", MFD_CLOEXEC);
	struct stat status;
	uint32_t handle;

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	fake_lock();
	handle = new_bo(&(struct bo){
		.memory = memory,
		.size = size,
		.placement = DRM_TRN_BO_HOST,
		.inode = status.st_ino,
	});
	fake.bo[handle].used = false; /* until it is imported */
	fake_unlock();
	return fd;
}
