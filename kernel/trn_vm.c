// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces as the chip knows them: an ASID and page tables.  What is mapped
 * where is the business of trn_mapping.c and, for the kernel's own, trn_kernel_vm.c.
 */
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/sched/signal.h>

#include <drm/trn_accel.h>

#include "trn_device.h"
#include "trn_gem.h"
#include "trn_vm.h"

/* Tables of each level that stay allocated: enough for any single small change. */
#define TRN_VM_POOL_MAX		4

static __le64 *trn_vm_alloc_table(void *arg, dma_addr_t *dma)
{
	struct trn_device *tdev = arg;

	/* Too much is -ENOMEM for who asks, and not the end of some other process. */
	return dma_alloc_coherent(&tdev->pdev->dev, TRN_PT_SIZE, dma,
				  GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
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

/* Teaches lockdep that fences wait for whoever has the lock. */
static void trn_vm_annotate_lock(struct trn_vm *vm)
{
	bool signalling = dma_fence_begin_signalling();

	might_lock(&vm->lock);
	dma_fence_end_signalling(signalling);
}

/* 0 if the chip knows the address space, else as trn_device_lost(). */
int trn_vm_lost(struct trn_vm *vm)
{
	return trn_device_lost(vm->tdev, vm->epoch);
}

/* After a failure trn_vm_fini() must not be called. */
int trn_vm_init(struct trn_vm *vm, struct trn_device *tdev, u16 asid)
{
	int ret;

	vm->tdev = tdev;
	vm->asid = asid;
	vm->epoch = trn_device_epoch(tdev);
	vm->closed = false;
	vm->pool_max = TRN_VM_POOL_MAX;
	ret = trn_mmu_init(&vm->mmu, &trn_vm_allocator, tdev, tdev->caps.page_sizes);
	if (ret)
		return ret;
	ret = trn_admin_context_create(vm);
	if (ret) {
		if (ret > 0)
			ret = -EIO;
		trn_mmu_fini(&vm->mmu);
		return ret;
	}
	mutex_init(&vm->lock);
	trn_vm_annotate_lock(vm);
	spin_lock_init(&vm->pool_lock);
	trn_mmu_spare_init(&vm->pool);
	return 0;
}

/* The chip has no queue in this address space any more. */
void trn_vm_fini(struct trn_vm *vm)
{
	struct trn_mmu_spare pool;

	mutex_lock(&vm->lock);
	vm->closed = true;
	trn_admin_context_destroy(vm);
	mutex_unlock(&vm->lock);

	trn_mmu_spare_init(&pool);
	spin_lock(&vm->pool_lock);
	vm->pool_max = 0;
	trn_mmu_spare_splice(&vm->pool, &pool);
	spin_unlock(&vm->pool_lock);
	trn_mmu_spare_free(&vm->mmu, &pool);
	trn_mmu_fini(&vm->mmu);
}

/**
 * trn_vm_demand_map() - count the tables that trn_vm_map() may need
 * @vm: address space; need not be locked
 * @va: as in trn_vm_map()
 * @size: as in trn_vm_map()
 * @bo: as in trn_vm_map()
 * @offset: as in trn_vm_map()
 * @demand: is added to, as by trn_mmu_demand_map()
 *
 * Return: 0, or -EINTR when the caller is being killed.
 */
int trn_vm_demand_map(struct trn_vm *vm, u64 va, u64 size, const struct trn_bo *bo, u64 offset,
		      struct trn_mmu_demand *demand)
{
	const struct trn_extent *extent = trn_gem_find_extent(bo, offset);
	u64 skip = offset - extent->offset;

	for (; size; extent++, skip = 0) {
		u64 part = min(extent->size - skip, size);

		if (fatal_signal_pending(current))
			return -EINTR;
		trn_mmu_demand_map(&vm->mmu, va, part, extent->address + skip, demand);
		va += part;
		size -= part;
		cond_resched();
	}
	return 0;
}

/**
 * trn_vm_spare_alloc() - tables for a change, from the pool or allocated
 * @vm: address space; not locked
 * @demand: how many; used up
 * @spare: empty; receives the tables, to be given back by trn_vm_spare_free()
 *
 * Return: as trn_mmu_spare_alloc().
 */
int trn_vm_spare_alloc(struct trn_vm *vm, struct trn_mmu_demand *demand,
		       struct trn_mmu_spare *spare)
{
	int level;

	spin_lock(&vm->pool_lock);
	for (level = 0; level < TRN_MMU_LEVELS; level++) {
		while (demand->tables[level] && vm->pool_size[level]) {
			list_move(vm->pool.tables[level].next, &spare->tables[level]);
			vm->pool_size[level]--;
			demand->tables[level]--;
		}
	}
	spin_unlock(&vm->pool_lock);
	return trn_mmu_spare_alloc(&vm->mmu, demand, spare);
}

void trn_vm_spare_free(struct trn_vm *vm, struct trn_mmu_spare *spare)
{
	int level;

	spin_lock(&vm->pool_lock);
	for (level = 0; level < TRN_MMU_LEVELS; level++) {
		while (!list_empty(&spare->tables[level]) &&
		       vm->pool_size[level] < vm->pool_max) {
			list_move(spare->tables[level].next, &vm->pool.tables[level]);
			vm->pool_size[level]++;
		}
	}
	spin_unlock(&vm->pool_lock);
	trn_mmu_spare_free(&vm->mmu, spare);
}

/**
 * trn_vm_map() - write the page-table entries for a part of an object
 * @vm: address space, locked, not closed
 * @va: first address; nothing is mapped in the range
 * @size: bytes
 * @bo: object
 * @offset: of the first byte in the object; @offset + @size is within it
 * @readonly: the chip may not write
 * @spare: has what trn_vm_demand_map() counted
 */
void trn_vm_map(struct trn_vm *vm, u64 va, u64 size, const struct trn_bo *bo, u64 offset,
		bool readonly, struct trn_mmu_spare *spare)
{
	const struct trn_extent *extent = trn_gem_find_extent(bo, offset);
	u64 bits = TRN_PTE_READ | (readonly ? 0 : TRN_PTE_WRITE);
	u64 skip = offset - extent->offset;

	lockdep_assert_held(&vm->lock);

	bits |= bo->placement == DRM_TRN_BO_HBM ? TRN_PTE_TARGET_HBM : TRN_PTE_TARGET_HOST;
	for (; size; extent++, skip = 0) {
		u64 part = min(extent->size - skip, size);

		trn_mmu_map(&vm->mmu, va, part, extent->address + skip, bits, spare);
		va += part;
		size -= part;
		cond_resched();
	}
}

/**
 * trn_vm_flush() - wait until the chip does not use what was unmapped
 * @vm: address space, locked
 * @gather: what was unmapped; empty after it
 * @spare: gets the tables that are free now
 */
void trn_vm_flush(struct trn_vm *vm, struct trn_mmu_gather *gather, struct trn_mmu_spare *spare)
{
	lockdep_assert_held(&vm->lock);

	if (trn_mmu_gather_empty(gather))
		return;
	/* Pairs with what orders the chip's look at the tables after the command. */
	dma_wmb();
	trn_admin_invalidate(vm, gather->start, gather->end - gather->start);
	trn_mmu_gather_reuse(gather, spare);
}
