// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device memory: one buddy allocator for each HBM stack.
 */
#include <linux/log2.h>

#include <drm/drm_managed.h>

#include "trn_device.h"
#include "trn_hbm.h"

static void trn_hbm_release(struct drm_device *drm, void *arg)
{
	struct trn_hbm *hbm = arg;

	while (hbm->stacks)
		gpu_buddy_fini(&hbm->stack[--hbm->stacks]);
}

int trn_hbm_init(struct trn_device *tdev)
{
	struct trn_hbm *hbm = &tdev->hbm;
	int ret;

	ret = drmm_mutex_init(&tdev->drm, &hbm->lock);
	if (ret)
		return ret;
	/* Objects of open files outlive the hardware: released with the DRM device. */
	ret = drmm_add_action(&tdev->drm, trn_hbm_release, hbm);
	if (ret)
		return ret;
	while (hbm->stacks < tdev->caps.hbm_stacks) {
		ret = gpu_buddy_init(&hbm->stack[hbm->stacks], tdev->caps.hbm_stack_size,
				     PAGE_SIZE);
		if (ret)
			return ret;
		hbm->stacks++;
	}
	return 0;
}

static unsigned int trn_hbm_emptiest_stack(struct trn_hbm *hbm)
{
	unsigned int i, best = 0;

	lockdep_assert_held(&hbm->lock);

	for (i = 1; i < hbm->stacks; i++) {
		if (hbm->stack[i].avail > hbm->stack[best].avail)
			best = i;
	}
	return best;
}

/**
 * trn_hbm_alloc() - allocate device memory
 * @tdev: device
 * @size: bytes, page aligned, not 0
 * @stack: index of a stack, or DRM_TRN_STACK_ANY
 * @range: out
 *
 * Return: 0; -EINVAL no such stack; -ENOSPC; -ENOMEM (host memory).
 */
int trn_hbm_alloc(struct trn_device *tdev, u64 size, u32 stack, struct trn_hbm_range *range)
{
	struct trn_hbm *hbm = &tdev->hbm;
	struct gpu_buddy *mm;
	int ret;

	if (stack != DRM_TRN_STACK_ANY && stack >= hbm->stacks)
		return -EINVAL;

	INIT_LIST_HEAD(&range->blocks);
	mutex_lock(&hbm->lock);
	range->stack = stack == DRM_TRN_STACK_ANY ? trn_hbm_emptiest_stack(hbm) : stack;
	mm = &hbm->stack[range->stack];
	if (size > mm->avail)
		ret = -ENOSPC;
	else
		ret = gpu_buddy_alloc_blocks(mm, 0, mm->size, size, mm->chunk_size,
					     &range->blocks, 0);
	mutex_unlock(&hbm->lock);
	return ret;
}

void trn_hbm_free(struct trn_device *tdev, struct trn_hbm_range *range)
{
	struct trn_hbm *hbm = &tdev->hbm;

	mutex_lock(&hbm->lock);
	gpu_buddy_free_list(&hbm->stack[range->stack], &range->blocks, 0);
	mutex_unlock(&hbm->lock);
}

/* Address of a block in the chip's HBM. */
u64 trn_hbm_block_address(struct trn_device *tdev, const struct trn_hbm_range *range,
			  struct gpu_buddy_block *block)
{
	return range->stack * tdev->caps.hbm_stack_size + gpu_buddy_block_offset(block);
}

u64 trn_hbm_block_size(struct trn_device *tdev, const struct trn_hbm_range *range,
		       struct gpu_buddy_block *block)
{
	return gpu_buddy_block_size(&tdev->hbm.stack[range->stack], block);
}

u64 trn_hbm_total(struct trn_device *tdev)
{
	return tdev->caps.hbm_stacks * tdev->caps.hbm_stack_size;
}

u64 trn_hbm_used(struct trn_device *tdev)
{
	struct trn_hbm *hbm = &tdev->hbm;
	u64 used = 0;
	unsigned int i;

	mutex_lock(&hbm->lock);
	for (i = 0; i < hbm->stacks; i++)
		used += hbm->stack[i].size - hbm->stack[i].avail;
	mutex_unlock(&hbm->lock);
	return used;
}

/* Largest free block, found by asking: the allocator has no call that tells. */
static u64 trn_hbm_largest(struct gpu_buddy *mm)
{
	u64 size;

	for (size = rounddown_pow_of_two(mm->avail ?: 1); size >= mm->chunk_size; size >>= 1) {
		LIST_HEAD(blocks);

		if (gpu_buddy_alloc_blocks(mm, 0, mm->size, size, size, &blocks, 0))
			continue;
		gpu_buddy_free_list(mm, &blocks, 0);
		return size;
	}
	return 0;
}

void trn_hbm_query(struct trn_device *tdev, struct drm_trn_query_memory *query)
{
	struct trn_hbm *hbm = &tdev->hbm;
	unsigned int i;

	mutex_lock(&hbm->lock);
	query->stacks = hbm->stacks;
	for (i = 0; i < hbm->stacks; i++) {
		query->stack[i].total = hbm->stack[i].size;
		query->stack[i].free = hbm->stack[i].avail;
		query->stack[i].largest = trn_hbm_largest(&hbm->stack[i]);
	}
	mutex_unlock(&hbm->lock);
}
