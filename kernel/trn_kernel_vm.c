// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own address space.
 */
#include <linux/slab.h>

#include "trn_device.h"
#include "trn_gem.h"
#include "trn_kernel_vm.h"

/* A whole object; holds a reference to it. */
struct trn_kernel_mapping {
	struct drm_mm_node node;
	struct trn_bo *bo;
};

static int trn_kernel_vm_map_hbm(struct trn_vm *vm)
{
	u64 size = trn_hbm_total(vm->tdev);
	struct trn_mmu_demand demand;
	struct trn_mmu_spare spare;
	int ret;

	trn_mmu_demand_init(&demand);
	trn_mmu_demand_map(&vm->mmu, TRN_KERNEL_HBM_VA, size, 0, &demand);
	trn_mmu_spare_init(&spare);
	ret = trn_vm_spare_alloc(vm, &demand, &spare);
	if (ret)
		return ret;
	mutex_lock(&vm->lock);
	trn_mmu_map(&vm->mmu, TRN_KERNEL_HBM_VA, size, 0,
		    TRN_PTE_READ | TRN_PTE_WRITE | TRN_PTE_TARGET_HBM, &spare);
	mutex_unlock(&vm->lock);
	trn_vm_spare_free(vm, &spare);
	return 0;
}

/* After a failure trn_kernel_vm_fini() may be called, and does nothing. */
int trn_kernel_vm_init(struct trn_kernel_vm *kernel, struct trn_device *tdev)
{
	int ret;

	ret = trn_vm_init(&kernel->vm, tdev, 0);
	if (ret)
		return ret;
	/* Address 0 stays unmapped. */
	drm_mm_init(&kernel->mm, PAGE_SIZE, TRN_KERNEL_HBM_VA - PAGE_SIZE);
	ret = trn_kernel_vm_map_hbm(&kernel->vm);
	if (ret)
		trn_kernel_vm_fini(kernel);
	return ret;
}

/* The chip was reset: tell it of the page tables again. */
int trn_kernel_vm_restart(struct trn_kernel_vm *kernel)
{
	struct trn_vm *vm = &kernel->vm;
	int ret;

	mutex_lock(&vm->lock);
	vm->epoch = trn_device_epoch(vm->tdev);
	ret = trn_admin_context_create(vm);
	mutex_unlock(&vm->lock);
	if (ret > 0) {
		trn_device_fail(vm->tdev, "it refused the kernel's address space with status %d",
				ret);
		ret = -EIO;
	}
	return ret;
}

static void trn_kernel_mapping_free(struct trn_kernel_mapping *mapping)
{
	drm_gem_object_put(&mapping->bo->base);
	kfree(mapping);
}

/* No queue exists any more. */
void trn_kernel_vm_fini(struct trn_kernel_vm *kernel)
{
	struct drm_mm_node *node, *next;

	if (!drm_mm_initialized(&kernel->mm))
		return;
	trn_vm_fini(&kernel->vm);
	mutex_destroy(&kernel->vm.lock);
	drm_mm_for_each_node_safe(node, next, &kernel->mm) {
		drm_mm_remove_node(node);
		trn_kernel_mapping_free(container_of(node, struct trn_kernel_mapping, node));
	}
	drm_mm_takedown(&kernel->mm);
	memset(&kernel->mm, 0, sizeof(kernel->mm));
}

static int trn_kernel_vm_alloc(struct trn_kernel_vm *kernel, struct trn_kernel_mapping *mapping,
			       struct trn_mmu_spare *spare)
{
	struct trn_mmu_demand demand;
	int ret;

	trn_mmu_demand_init(&demand);
	ret = trn_vm_demand_map(&kernel->vm, mapping->node.start, mapping->node.size, mapping->bo,
				0, &demand);
	if (ret)
		return ret;
	return trn_vm_spare_alloc(&kernel->vm, &demand, spare);
}

/**
 * trn_kernel_vm_map() - map all of an object
 * @kernel: the kernel's address space
 * @bo: object
 * @va: out: where it is mapped
 *
 * Return: 0, -ENOSPC, -ENOMEM, or -EINTR when the caller is being killed.
 */
int trn_kernel_vm_map(struct trn_kernel_vm *kernel, struct trn_bo *bo, u64 *va)
{
	struct trn_kernel_mapping *mapping;
	struct trn_vm *vm = &kernel->vm;
	struct trn_mmu_spare spare;
	int ret;

	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	if (!mapping)
		return -ENOMEM;
	mapping->bo = bo;
	drm_gem_object_get(&bo->base);
	trn_mmu_spare_init(&spare);

	mutex_lock(&vm->lock);
	ret = drm_mm_insert_node(&kernel->mm, &mapping->node, bo->base.size);
	mutex_unlock(&vm->lock);
	if (ret)
		goto err_free;
	ret = trn_kernel_vm_alloc(kernel, mapping, &spare);
	mutex_lock(&vm->lock);
	if (ret) {
		drm_mm_remove_node(&mapping->node);
		goto err_unlock;
	}
	*va = mapping->node.start;
	trn_vm_map(vm, *va, bo->base.size, bo, 0, false, &spare);
	mutex_unlock(&vm->lock);
	trn_vm_spare_free(vm, &spare);
	return 0;

err_unlock:
	mutex_unlock(&vm->lock);
err_free:
	trn_kernel_mapping_free(mapping);
	return ret;
}

/* Returns when the chip does not use the mapping at @va any more. */
void trn_kernel_vm_unmap(struct trn_kernel_vm *kernel, u64 va)
{
	struct trn_kernel_mapping *mapping;
	struct trn_vm *vm = &kernel->vm;
	struct trn_mmu_gather gather;
	struct trn_mmu_spare spare;
	struct drm_mm_node *node;

	trn_mmu_gather_init(&gather);
	trn_mmu_spare_init(&spare);

	mutex_lock(&vm->lock);
	node = __drm_mm_interval_first(&kernel->mm, va, va);
	/* A whole mapping: no leaf is split. */
	trn_mmu_unmap(&vm->mmu, node->start, node->size, &spare, &gather);
	drm_mm_remove_node(node);
	trn_vm_flush(vm, &gather, &spare);
	mutex_unlock(&vm->lock);

	trn_vm_spare_free(vm, &spare);
	mapping = container_of(node, struct trn_kernel_mapping, node);
	trn_kernel_mapping_free(mapping);
}
