// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is mapped where in a context's address space, by drm_gpuvm.
 *
 * trn_vm.lock protects the tree.  A mapping leaves the tree on the way to a fence,
 * but its object's list, and with that perhaps the object, only when
 * trn_mapping_change_fini() may free things.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include <drm/trn_accel.h>

#include "trn_compat_gpuvm.h"
#include "trn_context.h"
#include "trn_device.h"
#include "trn_gem.h"
#include "trn_mapping.h"

/* drm_gpuva.flags: the chip may not write. */
#define TRN_MAPPING_READONLY	DRM_GPUVA_USERBITS

static struct trn_context *to_trn_context(struct drm_gpuvm *gpuvm)
{
	return container_of(gpuvm, struct trn_context, gpuvm);
}

static struct trn_mapping *to_trn_mapping(struct drm_gpuva *va)
{
	return container_of(va, struct trn_mapping, va);
}

static void trn_mapping_free(struct trn_mapping *mapping)
{
	struct drm_gem_object *obj = mapping->va.vm_bo ? mapping->va.gem.obj : NULL;

	if (obj) {
		/* The lock may be in the object. */
		drm_gem_object_get(obj);
		mutex_lock(trn_gpuva_lock(obj));
		drm_gpuva_unlink(&mapping->va);
		mutex_unlock(trn_gpuva_lock(obj));
		drm_gem_object_put(obj);
	}
	kfree(mapping);
}

static void trn_mapping_free_list(struct list_head *mappings)
{
	struct trn_mapping *mapping, *next;

	list_for_each_entry_safe(mapping, next, mappings, link) {
		list_del(&mapping->link);
		trn_mapping_free(mapping);
		cond_resched();
	}
}

/* The reference of a mapping in the tree to @vm_bo. */
static void trn_mapping_link(struct trn_mapping *mapping, struct drm_gpuvm_bo *vm_bo)
{
	mutex_lock(trn_gpuva_lock(vm_bo->obj));
	drm_gpuva_link(&mapping->va, vm_bo);
	mutex_unlock(trn_gpuva_lock(vm_bo->obj));
}

static struct trn_mapping *trn_mapping_take_fresh(struct trn_mapping_change *change)
{
	struct trn_mapping *mapping;

	mapping = list_first_entry(&change->fresh, struct trn_mapping, link);
	list_del_init(&mapping->link);
	return mapping;
}

static int trn_mapping_step_unmap(struct drm_gpuva_op *op, void *priv)
{
	struct drm_gpuva *va = op->unmap.va;
	struct trn_context *context = to_trn_context(va->vm);
	struct trn_mapping_change *change = priv;

	trn_mmu_unmap(&context->vm.mmu, va->va.addr, va->va.range, &change->spare,
		      &change->gather);
	drm_gpuva_unmap(&op->unmap);
	list_add_tail(&to_trn_mapping(va)->link, &change->removed);
	cond_resched();
	return 0;
}

/* A part of a mapping goes; what stays on either side becomes a mapping of its own. */
static int trn_mapping_step_remap(struct drm_gpuva_op *op, void *priv)
{
	struct drm_gpuva *va = op->remap.unmap->va;
	struct trn_context *context = to_trn_context(va->vm);
	struct trn_mapping_change *change = priv;
	struct trn_mapping *prev = NULL, *next = NULL;
	u64 start, size;

	drm_gpuva_op_remap_to_unmap_range(&op->remap, &start, &size);
	trn_mmu_unmap(&context->vm.mmu, start, size, &change->spare, &change->gather);
	if (op->remap.prev)
		prev = trn_mapping_take_fresh(change);
	if (op->remap.next)
		next = trn_mapping_take_fresh(change);
	drm_gpuva_remap(prev ? &prev->va : NULL, next ? &next->va : NULL, &op->remap);
	if (prev) {
		prev->va.flags = va->flags;
		trn_mapping_link(prev, va->vm_bo);
	}
	if (next) {
		next->va.flags = va->flags;
		trn_mapping_link(next, va->vm_bo);
	}
	list_add_tail(&to_trn_mapping(va)->link, &change->removed);
	return 0;
}

static void trn_mapping_vm_free(struct drm_gpuvm *gpuvm)
{
	trn_context_free(to_trn_context(gpuvm));
}

static const struct drm_gpuvm_ops trn_mapping_ops = {
	.vm_free = trn_mapping_vm_free,
	.sm_step_unmap = trn_mapping_step_unmap,
	.sm_step_remap = trn_mapping_step_remap,
};

/* From here on @context is freed by trn_mapping_vm_free(), after trn_mapping_put(). */
int trn_mapping_init(struct trn_context *context)
{
	struct drm_device *drm = &context->vm.tdev->drm;
	struct drm_gem_object *resv;

	resv = drm_gpuvm_resv_object_alloc(drm);
	if (!resv)
		return -ENOMEM;
	drm_gpuvm_init(&context->gpuvm, TRN_DRIVER_NAME, TRN_GPUVM_FLAGS, drm, resv, 0,
		       BIT_ULL(TRN_VA_BITS), 0, 0, &trn_mapping_ops);
	drm_gem_object_put(resv);
	return 0;
}

/* The chip has forgotten the address space; nothing can be mapped any more. */
void trn_mapping_fini(struct trn_context *context)
{
	struct drm_gpuva *va, *next;
	LIST_HEAD(removed);

	mutex_lock(&context->vm.lock);
	drm_gpuvm_for_each_va_safe(va, next, &context->gpuvm) {
		drm_gpuva_remove(va);
		list_add_tail(&to_trn_mapping(va)->link, &removed);
		cond_resched();
	}
	mutex_unlock(&context->vm.lock);
	trn_mapping_free_list(&removed);
}

/*
 * Nobody has @context any more.  Not before: a VM_BIND in flight may still connect objects
 * with a context that was destroyed.
 */
void trn_mapping_put(struct trn_context *context)
{
	drm_gpuvm_put(&context->gpuvm);
}

/* A reference to the connection of context and object, which holds both; or NULL. */
struct drm_gpuvm_bo *trn_mapping_get_bo(struct trn_context *context, struct trn_bo *bo)
{
	struct drm_gpuvm_bo *vm_bo = drm_gpuvm_bo_create(&context->gpuvm, &bo->base);

	return vm_bo ? trn_gpuvm_bo_obtain(vm_bo) : NULL;
}

void trn_mapping_put_bo(struct drm_gpuvm_bo *vm_bo)
{
	struct drm_gem_object *obj = vm_bo->obj;

	/* The lock may be in the object. */
	drm_gem_object_get(obj);
	mutex_lock(trn_gpuva_lock(obj));
	drm_gpuvm_bo_put(vm_bo);
	mutex_unlock(trn_gpuva_lock(obj));
	drm_gem_object_put(obj);
}

void trn_mapping_change_init(struct trn_mapping_change *change)
{
	trn_mmu_spare_init(&change->spare);
	trn_mmu_gather_init(&change->gather);
	INIT_LIST_HEAD(&change->fresh);
	INIT_LIST_HEAD(&change->removed);
}

/* trn_mapping_map() takes one mapping, trn_mapping_unmap() two at most. */
int trn_mapping_change_add_fresh(struct trn_mapping_change *change, unsigned int count)
{
	for (; count; count--) {
		struct trn_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);

		if (!mapping)
			return -ENOMEM;
		list_add(&mapping->link, &change->fresh);
	}
	return 0;
}

/* Frees what is left over and what was removed.  No fence waits for the caller. */
void trn_mapping_change_fini(struct trn_context *context, struct trn_mapping_change *change)
{
	trn_mapping_free_list(&change->fresh);
	trn_mapping_free_list(&change->removed);
	trn_vm_spare_free(&context->vm, &change->spare);
}

/**
 * trn_mapping_map() - map a part of an object
 * @context: context, its address space locked and not closed
 * @va: first address, page aligned
 * @size: bytes, page aligned, not 0
 * @vm_bo: object
 * @offset: of the first byte in the object
 * @readonly: the chip may not write
 * @change: has one fresh mapping and the tables for it
 *
 * Return: 0, or -EEXIST if anything is mapped in the range.
 */
int trn_mapping_map(struct trn_context *context, u64 va, u64 size, struct drm_gpuvm_bo *vm_bo,
		    u64 offset, bool readonly, struct trn_mapping_change *change)
{
	struct trn_mapping *mapping;

	lockdep_assert_held(&context->vm.lock);

	if (!drm_gpuvm_interval_empty(&context->gpuvm, va, size))
		return -EEXIST;
	/* A leaf may follow a table, and a table a leaf, only after an invalidate. */
	if (trn_mmu_gather_blocks_map(&change->gather, va, size))
		trn_mapping_flush(context, change);

	mapping = trn_mapping_take_fresh(change);
	mapping->va.va.addr = va;
	mapping->va.va.range = size;
	mapping->va.gem.obj = vm_bo->obj;
	mapping->va.gem.offset = offset;
	mapping->va.flags = readonly ? TRN_MAPPING_READONLY : 0;
	/* The range is valid and empty: this cannot fail. */
	WARN_ON(drm_gpuva_insert(&context->gpuvm, &mapping->va));
	trn_mapping_link(mapping, vm_bo);
	trn_vm_map(&context->vm, va, size, to_trn_bo(vm_bo->obj), offset, readonly,
		   &change->spare);
	return 0;
}

/**
 * trn_mapping_unmap() - take away what is mapped in a range
 * @context: context, its address space locked and not closed
 * @va: first address, page aligned
 * @size: bytes, page aligned, not 0
 * @change: has two fresh mappings and the tables for it
 */
void trn_mapping_unmap(struct trn_context *context, u64 va, u64 size,
		       struct trn_mapping_change *change)
{
	lockdep_assert_held(&context->vm.lock);

	/* The steps cannot fail. */
	WARN_ON(drm_gpuvm_sm_unmap(&context->gpuvm, change, va, size));
}

/* Wait until the chip does not use what was unmapped. */
void trn_mapping_flush(struct trn_context *context, struct trn_mapping_change *change)
{
	trn_vm_flush(&context->vm, &change->gather, &change->spare);
}

/* Where the CPU finds what @gpuva has at @va, or NULL if it is not host memory. */
static void *trn_mapping_pointer(const struct drm_gpuva *gpuva, u64 va)
{
	const struct trn_bo *bo = to_trn_bo(gpuva->gem.obj);
	u64 offset = gpuva->gem.offset + va - gpuva->va.addr;

	if (!bo->pages)
		return NULL;
	return page_address(bo->pages[offset >> PAGE_SHIFT]) + offset_in_page(offset);
}

/**
 * trn_mapping_read() - copy a few bytes of an address space
 * @context: context, its address space locked
 * @va: address
 * @data: where to
 * @size: bytes; they do not pass the end of a page
 *
 * Return: whether they could be read: host memory is mapped there.
 */
bool trn_mapping_read(struct trn_context *context, u64 va, void *data, size_t size)
{
	struct drm_gpuva *gpuva;
	const void *pointer;

	lockdep_assert_held(&context->vm.lock);

	gpuva = drm_gpuva_find_first(&context->gpuvm, va, size);
	pointer = gpuva ? trn_mapping_pointer(gpuva, va) : NULL;
	if (pointer)
		memcpy(data, pointer, size);
	return pointer;
}

/**
 * trn_mapping_find_word() - find an 8-byte word that CPU and chip share
 * @context: context
 * @va: address, 8-byte aligned
 * @bo: out: the object it is in, with a reference for the caller
 *
 * Return: its address, valid while the object is; -ENOENT if nothing is mapped
 * at @va, -EINVAL if it is not host memory.
 */
__le64 *trn_mapping_find_word(struct trn_context *context, u64 va, struct trn_bo **bo)
{
	struct drm_gpuva *gpuva;
	__le64 *word;

	mutex_lock(&context->vm.lock);
	gpuva = drm_gpuva_find_first(&context->gpuvm, va, sizeof(*word));
	if (!gpuva) {
		word = ERR_PTR(-ENOENT);
		goto out_unlock;
	}
	word = trn_mapping_pointer(gpuva, va);
	if (!word) {
		word = ERR_PTR(-EINVAL);
		goto out_unlock;
	}
	*bo = to_trn_bo(gpuva->gem.obj);
	drm_gem_object_get(&(*bo)->base);
out_unlock:
	mutex_unlock(&context->vm.lock);
	return word;
}
