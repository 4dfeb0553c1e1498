// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces: which object is mapped where, and the VM_BIND ioctl.
 */
#include <linux/dma-mapping.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/trn_accel.h>

#include "trn_array.h"
#include "trn_context.h"
#include "trn_device.h"
#include "trn_drv.h"
#include "trn_gem.h"
#include "trn_vm.h"

#define TRN_VM_SIZE	BIT_ULL(TRN_VA_BITS)

/* Mappings that were taken away but that the chip may still use. */
struct trn_vm_gather {
	struct trn_mmu_gather mmu;
	struct list_head mappings;
};

static __le64 *trn_vm_alloc_table(void *arg, dma_addr_t *dma)
{
	struct trn_device *tdev = arg;

	return dma_alloc_coherent(&tdev->pdev->dev, TRN_PT_SIZE, dma, GFP_KERNEL_ACCOUNT);
}

static void trn_vm_free_table(void *arg, __le64 *entries, dma_addr_t dma)
{
	struct trn_device *tdev = arg;

	dma_free_coherent(&tdev->pdev->dev, TRN_PT_SIZE, entries, dma);
}

static const struct trn_mmu_allocator trn_vm_allocator = {
	.alloc = trn_vm_alloc_table,
	.free = trn_vm_free_table,
};

int trn_vm_init(struct trn_vm *vm, struct trn_device *tdev, u16 asid)
{
	int ret;

	vm->tdev = tdev;
	vm->asid = asid;
	vm->closed = false;
	ret = trn_mmu_init(&vm->mmu, &trn_vm_allocator, tdev, tdev->caps.page_sizes);
	if (ret)
		return ret;
	ret = trn_admin_context_create(tdev, asid, vm->mmu.root->dma);
	if (ret) {
		if (ret > 0)
			ret = -EIO;
		trn_mmu_fini(&vm->mmu);
		return ret;
	}
	mutex_init(&vm->lock);
	if (asid) {
		drm_mm_init(&vm->mm, 0, TRN_VM_SIZE);
	} else {
		/* Address 0 stays unmapped. */
		drm_mm_init(&vm->mm, PAGE_SIZE, TRN_KERNEL_HBM_VA - PAGE_SIZE);
	}
	return 0;
}

/**
 * trn_vm_map_hbm() - map all of the chip's HBM at TRN_KERNEL_HBM_VA
 * @vm: the kernel's own address space
 *
 * For queues of the kernel; nobody else's operands are in this address space.
 */
int trn_vm_map_hbm(struct trn_vm *vm)
{
	u64 size = trn_hbm_total(vm->tdev);
	struct trn_mmu_demand demand;
	struct trn_mmu_spare spare;
	int ret;

	trn_mmu_demand_init(&demand);
	trn_mmu_demand_map(&vm->mmu, TRN_KERNEL_HBM_VA, size, 0, &demand);
	trn_mmu_spare_init(&spare);
	ret = trn_mmu_spare_alloc(&vm->mmu, &demand, &spare);
	if (ret)
		return ret;
	mutex_lock(&vm->lock);
	trn_mmu_map(&vm->mmu, TRN_KERNEL_HBM_VA, size, 0,
		    TRN_PTE_READ | TRN_PTE_WRITE | TRN_PTE_TARGET_HBM, &spare);
	mutex_unlock(&vm->lock);
	trn_mmu_spare_free(&vm->mmu, &spare);
	return 0;
}

static void trn_mapping_free(struct trn_mapping *mapping)
{
	drm_gem_object_put(&mapping->bo->base);
	kfree(mapping);
}

/* The chip has no queue in this address space any more. */
void trn_vm_fini(struct trn_vm *vm)
{
	struct drm_mm_node *node, *next;

	if (!vm->mmu.root)
		return;

	mutex_lock(&vm->lock);
	vm->closed = true;
	trn_admin_context_destroy(vm->tdev, vm->asid);
	trn_mmu_fini(&vm->mmu);
	drm_mm_for_each_node_safe(node, next, &vm->mm) {
		drm_mm_remove_node(node);
		trn_mapping_free(container_of(node, struct trn_mapping, node));
	}
	drm_mm_takedown(&vm->mm);
	mutex_unlock(&vm->lock);
}

static void trn_vm_gather_init(struct trn_vm_gather *gather)
{
	trn_mmu_gather_init(&gather->mmu);
	INIT_LIST_HEAD(&gather->mappings);
}

/* Wait until the chip does not use what was gathered, then free it. */
static void trn_vm_gather_flush(struct trn_vm *vm, struct trn_vm_gather *gather)
{
	struct trn_mapping *mapping, *next;

	lockdep_assert_held(&vm->lock);

	if (list_empty(&gather->mappings))
		return;
	/* Pairs with what orders the chip's look at the tables after the command. */
	dma_wmb();
	trn_admin_invalidate(vm->tdev, vm->asid, gather->mmu.start,
			     gather->mmu.end - gather->mmu.start);
	trn_mmu_gather_free(&vm->mmu, &gather->mmu);
	list_for_each_entry_safe(mapping, next, &gather->mappings, link)
		trn_mapping_free(mapping);
	INIT_LIST_HEAD(&gather->mappings);
}

/* The first extent of @bo that has a byte at @*skip or behind, which becomes relative to it. */
static const struct trn_extent *trn_vm_first_extent(const struct trn_bo *bo, u64 *skip)
{
	const struct trn_extent *extent = bo->extents;

	while (*skip >= extent->size)
		*skip -= extent++->size;
	return extent;
}

static void trn_vm_demand(struct trn_vm *vm, const struct trn_mapping *mapping,
			  struct trn_mmu_demand *demand)
{
	u64 va = mapping->node.start, left = mapping->node.size, skip = mapping->offset;
	const struct trn_extent *extent = trn_vm_first_extent(mapping->bo, &skip);

	for (; left; extent++, skip = 0) {
		u64 size = min(extent->size - skip, left);

		trn_mmu_demand_map(&vm->mmu, va, size, extent->address + skip, demand);
		va += size;
		left -= size;
	}
}

/* Write the page-table entries of @mapping, whose node is in place. */
static int trn_vm_write_entries(struct trn_vm *vm, struct trn_mapping *mapping, bool readonly)
{
	u64 va = mapping->node.start, left = mapping->node.size, skip = mapping->offset;
	const struct trn_extent *extent = trn_vm_first_extent(mapping->bo, &skip);
	u64 bits = TRN_PTE_READ | (readonly ? 0 : TRN_PTE_WRITE);
	struct trn_mmu_demand demand;
	struct trn_mmu_spare spare;
	int ret;

	bits |= mapping->bo->placement == DRM_TRN_BO_HBM ? TRN_PTE_TARGET_HBM :
							   TRN_PTE_TARGET_HOST;
	trn_mmu_demand_init(&demand);
	trn_vm_demand(vm, mapping, &demand);
	trn_mmu_spare_init(&spare);
	ret = trn_mmu_spare_alloc(&vm->mmu, &demand, &spare);
	if (ret)
		return ret;

	for (; left; extent++, skip = 0) {
		u64 size = min(extent->size - skip, left);

		trn_mmu_map(&vm->mmu, va, size, extent->address + skip, bits, &spare);
		va += size;
		left -= size;
	}
	trn_mmu_spare_free(&vm->mmu, &spare);
	return 0;
}

/* Takes over the caller's reference to @bo, also when it fails. */
static struct trn_mapping *trn_mapping_alloc(struct trn_bo *bo, u64 offset)
{
	struct trn_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);

	if (!mapping) {
		drm_gem_object_put(&bo->base);
		return NULL;
	}
	mapping->bo = bo;
	mapping->offset = offset;
	return mapping;
}

/* Map all of a kernel object at an address of the driver's choice. */
int trn_vm_map_anywhere(struct trn_vm *vm, struct trn_bo *bo, u64 *va)
{
	struct trn_mapping *mapping;
	int ret;

	drm_gem_object_get(&bo->base);
	mapping = trn_mapping_alloc(bo, 0);
	if (!mapping)
		return -ENOMEM;

	mutex_lock(&vm->lock);
	ret = drm_mm_insert_node(&vm->mm, &mapping->node, bo->base.size);
	if (ret)
		goto err_free;
	ret = trn_vm_write_entries(vm, mapping, false);
	if (ret)
		goto err_remove_node;
	*va = mapping->node.start;
	mutex_unlock(&vm->lock);
	return 0;

err_remove_node:
	drm_mm_remove_node(&mapping->node);
err_free:
	mutex_unlock(&vm->lock);
	trn_mapping_free(mapping);
	return ret;
}

/* The mapping that has address @va, or NULL. */
static struct trn_mapping *trn_vm_find(struct trn_vm *vm, u64 va)
{
	struct drm_mm_node *node;

	lockdep_assert_held(&vm->lock);

	node = __drm_mm_interval_first(&vm->mm, va, va);
	/* That function returns the list head when there is none. */
	if (!drm_mm_node_allocated(node) || va < node->start || va - node->start >= node->size)
		return NULL;
	return container_of(node, struct trn_mapping, node);
}

static int trn_vm_unmap(struct trn_vm *vm, u64 va, u64 size, struct trn_vm_gather *gather)
{
	struct trn_mapping *mapping = trn_vm_find(vm, va);

	if (!mapping || mapping->node.start != va || mapping->node.size != size)
		return -ENOENT;
	/* A whole mapping: nothing is split. */
	trn_mmu_unmap(&vm->mmu, va, size, NULL, &gather->mmu);
	drm_mm_remove_node(&mapping->node);
	list_add_tail(&mapping->link, &gather->mappings);
	return 0;
}

/* Unmap, and wait until the chip does not use the mapping. */
void trn_vm_unmap_sync(struct trn_vm *vm, u64 va, u64 size)
{
	struct trn_vm_gather gather;

	trn_vm_gather_init(&gather);
	mutex_lock(&vm->lock);
	WARN_ON(trn_vm_unmap(vm, va, size, &gather));
	trn_vm_gather_flush(vm, &gather);
	mutex_unlock(&vm->lock);
}

/**
 * trn_vm_find_word() - find an 8-byte word that CPU and chip share
 * @vm: address space
 * @va: address, 8-byte aligned
 * @bo: out: the object it is in, with a reference for the caller
 *
 * Return: its address, valid while the object is; -ENOENT if nothing is mapped
 * at @va, -EINVAL if it is not host memory, or an import.
 */
__le64 *trn_vm_find_word(struct trn_vm *vm, u64 va, struct trn_bo **bo)
{
	struct trn_mapping *mapping;
	__le64 *word;
	u64 offset;

	mutex_lock(&vm->lock);
	mapping = vm->closed ? NULL : trn_vm_find(vm, va);
	if (!mapping) {
		word = ERR_PTR(-ENOENT);
	} else if (!mapping->bo->pages) {
		word = ERR_PTR(-EINVAL);
	} else {
		offset = mapping->offset + va - mapping->node.start;
		word = page_address(mapping->bo->pages[offset >> PAGE_SHIFT]) +
		       offset_in_page(offset);
		*bo = mapping->bo;
		drm_gem_object_get(&mapping->bo->base);
	}
	mutex_unlock(&vm->lock);
	return word;
}

static int trn_vm_bind_map(struct trn_vm *vm, struct drm_file *drm_file,
			   const struct drm_trn_bind_op *op, struct trn_vm_gather *gather)
{
	struct drm_gem_object *obj;
	struct trn_mapping *mapping;
	u64 end;
	int ret;

	obj = drm_gem_object_lookup(drm_file, op->handle);
	if (!obj)
		return -ENOENT;
	if (check_add_overflow(op->offset, op->size, &end) || end > obj->size) {
		drm_gem_object_put(obj);
		return -EINVAL;
	}
	mapping = trn_mapping_alloc(to_trn_bo(obj), op->offset);
	if (!mapping)
		return -ENOMEM;

	mapping->node.start = op->va;
	mapping->node.size = op->size;
	ret = drm_mm_reserve_node(&vm->mm, &mapping->node);
	if (ret) {
		ret = ret == -ENOSPC ? -EEXIST : ret;
		goto err_free;
	}
	/* A leaf may follow a table, and a table a leaf, only after an invalidate. */
	if (trn_mmu_gather_blocks_map(&gather->mmu, op->va, op->size))
		trn_vm_gather_flush(vm, gather);
	ret = trn_vm_write_entries(vm, mapping, op->flags & DRM_TRN_BIND_READONLY);
	if (ret)
		goto err_remove_node;
	return 0;

err_remove_node:
	drm_mm_remove_node(&mapping->node);
err_free:
	trn_mapping_free(mapping);
	return ret;
}

static int trn_vm_check_op(const struct drm_trn_bind_op *op)
{
	u64 end;

	if (op->pad || !op->size)
		return -EINVAL;
	if (!PAGE_ALIGNED(op->va) || !PAGE_ALIGNED(op->size) || !PAGE_ALIGNED(op->offset))
		return -EINVAL;
	if (check_add_overflow(op->va, op->size, &end) || end > TRN_VM_SIZE)
		return -EINVAL;
	switch (op->op) {
	case DRM_TRN_BIND_MAP:
		return op->flags & ~DRM_TRN_BIND_READONLY ? -EINVAL : 0;
	case DRM_TRN_BIND_UNMAP:
		return op->flags || op->handle || op->offset ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

static int trn_vm_bind_op(struct trn_vm *vm, struct drm_file *drm_file,
			  const struct drm_trn_bind_op *op, struct trn_vm_gather *gather)
{
	int ret = trn_vm_check_op(op);

	if (ret)
		return ret;
	if (op->op == DRM_TRN_BIND_MAP)
		return trn_vm_bind_map(vm, drm_file, op, gather);
	return trn_vm_unmap(vm, op->va, op->size, gather);
}

static int trn_vm_bind(struct trn_vm *vm, struct drm_file *drm_file,
		       const struct drm_trn_bind_op *ops, u32 count, u32 *done)
{
	struct trn_vm_gather gather;
	int ret = 0;

	trn_vm_gather_init(&gather);
	if (mutex_lock_killable(&vm->lock))
		return -EINTR;
	if (vm->closed)
		ret = -ENOENT;
	for (*done = 0; !ret && *done < count; ) {
		const struct drm_trn_bind_op *op = &ops[*done];

		ret = trn_vm_bind_op(vm, drm_file, op, &gather);
		if (ret)
			drm_dbg(&vm->tdev->drm, "bind op %u (%u, va 0x%llx, size 0x%llx): %d\n",
				*done, op->op, op->va, op->size, ret);
		else
			(*done)++;
	}
	/* Once for all operations: nothing that was removed is used after this. */
	trn_vm_gather_flush(vm, &gather);
	mutex_unlock(&vm->lock);
	return ret;
}

int trn_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_vm_bind *args = data;
	struct drm_trn_bind_op *ops;
	struct trn_context *context;
	int idx, ret;

	args->done = 0;
	ops = trn_array_copy(&args->ops, DRM_TRN_BIND_OPS_MAX, sizeof(*ops), sizeof(*ops));
	if (IS_ERR(ops))
		return PTR_ERR(ops);

	context = trn_context_get(drm_file->driver_priv, args->context);
	if (!context) {
		ret = -ENOENT;
		goto out_free_ops;
	}
	if (!trn_device_enter(tdev, &idx)) {
		ret = -ENODEV;
		goto out_put_context;
	}
	ret = trn_vm_bind(&context->vm, drm_file, ops, args->ops.count, &args->done);
	trn_device_exit(idx);
	/* The chip may have died on the way. */
	if (!ret && trn_device_state(tdev) != TRN_STATE_OK)
		ret = -ENODEV;
out_put_context:
	trn_context_put(context);
out_free_ops:
	kvfree(ops);
	return ret;
}
