// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device memory: which bytes of which HBM stack are whose.
 *
 * An object is any number of blocks of one stack, so whatever is free can be had.
 * What need not be seen by the CPU stays out of the aperture while there is room
 * elsewhere.
 */
#include <linux/log2.h>
#include <linux/nospec.h>

#include <drm/drm_managed.h>

#include "trn_cgroup.h"
#include "trn_device.h"
#include "trn_hbm.h"

static void trn_hbm_fini_stack(struct trn_hbm_stack *stack)
{
	struct gpu_buddy *hidden = &stack->part[TRN_HBM_HIDDEN];
	struct gpu_buddy *visible = &stack->part[TRN_HBM_VISIBLE];

	if (hidden->size) {
		gpu_buddy_free_list(hidden, &stack->reserved, 0);
		gpu_buddy_fini(hidden);
	}
	if (visible->size)
		gpu_buddy_fini(visible);
}

static int trn_hbm_init_hidden(struct trn_hbm_stack *stack, u64 size)
{
	struct gpu_buddy *hidden = &stack->part[TRN_HBM_HIDDEN];
	int ret;

	ret = gpu_buddy_init(hidden, size, PAGE_SIZE);
	if (ret || !stack->visible)
		return ret;
	ret = gpu_buddy_alloc_blocks(hidden, 0, stack->visible, stack->visible, PAGE_SIZE,
				     &stack->reserved, 0);
	if (ret)
		gpu_buddy_fini(hidden);
	return ret;
}

static int trn_hbm_init_stack(struct trn_hbm_stack *stack, u64 size, u64 visible)
{
	int ret;

	INIT_LIST_HEAD(&stack->reserved);
	stack->visible = visible;
	if (visible) {
		ret = gpu_buddy_init(&stack->part[TRN_HBM_VISIBLE], visible, PAGE_SIZE);
		if (ret)
			return ret;
	}
	if (visible < size) {
		ret = trn_hbm_init_hidden(stack, size);
		if (ret && visible)
			gpu_buddy_fini(&stack->part[TRN_HBM_VISIBLE]);
		return ret;
	}
	return 0;
}

static void trn_hbm_release(struct drm_device *drm, void *arg)
{
	struct trn_hbm *hbm = arg;

	while (hbm->stacks)
		trn_hbm_fini_stack(&hbm->stack[--hbm->stacks]);
}

int trn_hbm_init(struct trn_device *tdev)
{
	u64 size = tdev->caps.hbm_stack_size;
	u64 aperture = round_down(tdev->caps.hbm_aperture, PAGE_SIZE);
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
		u64 visible = min(aperture, size);

		ret = trn_hbm_init_stack(&hbm->stack[hbm->stacks], size, visible);
		if (ret)
			return ret;
		hbm->stacks++;
		aperture -= visible;
	}
	hbm->cgroup = trn_cgroup_register(&tdev->drm, trn_hbm_total(tdev));
	return PTR_ERR_OR_ZERO(hbm->cgroup);
}

static u64 trn_hbm_avail(const struct trn_hbm_stack *stack, bool visible)
{
	u64 avail = stack->part[TRN_HBM_VISIBLE].avail;

	return visible ? avail : avail + stack->part[TRN_HBM_HIDDEN].avail;
}

/*
 * The emptiest stack; for what need not be visible that with most memory outside of
 * the aperture, if that is enough.
 */
static unsigned int trn_hbm_choose_stack(struct trn_hbm *hbm, u64 size, bool visible)
{
	unsigned int i, emptiest = 0, hidden = 0;

	lockdep_assert_held(&hbm->lock);

	for (i = 1; i < hbm->stacks; i++) {
		if (trn_hbm_avail(&hbm->stack[i], visible) >
		    trn_hbm_avail(&hbm->stack[emptiest], visible))
			emptiest = i;
		if (hbm->stack[i].part[TRN_HBM_HIDDEN].avail >
		    hbm->stack[hidden].part[TRN_HBM_HIDDEN].avail)
			hidden = i;
	}
	if (!visible && hbm->stack[hidden].part[TRN_HBM_HIDDEN].avail >= size)
		return hidden;
	return emptiest;
}

static int trn_hbm_alloc_part(struct gpu_buddy *part, u64 size, struct list_head *blocks)
{
	if (!size)
		return 0;
	return gpu_buddy_alloc_blocks(part, 0, part->size, size, part->chunk_size, blocks, 0);
}

static void trn_hbm_free_part(struct gpu_buddy *part, struct list_head *blocks)
{
	if (!list_empty(blocks))
		gpu_buddy_free_list(part, blocks, 0);
}

static int trn_hbm_alloc_locked(struct trn_hbm *hbm, u64 size, bool visible,
				struct trn_hbm_range *range)
{
	struct trn_hbm_stack *stack = &hbm->stack[range->stack];
	struct gpu_buddy *part = stack->part;
	u64 hidden = visible ? 0 : min(size, part[TRN_HBM_HIDDEN].avail);
	int ret;

	lockdep_assert_held(&hbm->lock);

	if (size > trn_hbm_avail(stack, visible))
		return -ENOSPC;
	ret = trn_hbm_alloc_part(&part[TRN_HBM_HIDDEN], hidden, &range->blocks[TRN_HBM_HIDDEN]);
	if (ret)
		return ret;
	ret = trn_hbm_alloc_part(&part[TRN_HBM_VISIBLE], size - hidden,
				 &range->blocks[TRN_HBM_VISIBLE]);
	if (ret)
		trn_hbm_free_part(&part[TRN_HBM_HIDDEN], &range->blocks[TRN_HBM_HIDDEN]);
	return ret;
}

/**
 * trn_hbm_alloc() - allocate device memory
 * @tdev: device
 * @size: bytes, page aligned, not 0
 * @stack: index of a stack, or DRM_TRN_STACK_ANY
 * @visible: all of it in the aperture
 * @range: out
 *
 * What is in the memory is what was left there.
 *
 * Return: 0; -EINVAL no such stack; -ENOSPC; -ENOMEM (host memory).
 */
int trn_hbm_alloc(struct trn_device *tdev, u64 size, u32 stack, bool visible,
		  struct trn_hbm_range *range)
{
	struct trn_hbm *hbm = &tdev->hbm;
	int i, ret;

	if (stack != DRM_TRN_STACK_ANY && stack >= hbm->stacks)
		return -EINVAL;

	for (i = 0; i < TRN_HBM_PARTS; i++)
		INIT_LIST_HEAD(&range->blocks[i]);
	mutex_lock(&hbm->lock);
	if (stack == DRM_TRN_STACK_ANY)
		stack = trn_hbm_choose_stack(hbm, size, visible);
	range->stack = array_index_nospec(stack, hbm->stacks);
	ret = trn_hbm_alloc_locked(hbm, size, visible, range);
	mutex_unlock(&hbm->lock);
	return ret;
}

void trn_hbm_free(struct trn_device *tdev, struct trn_hbm_range *range)
{
	struct trn_hbm *hbm = &tdev->hbm;
	int i;

	mutex_lock(&hbm->lock);
	for (i = 0; i < TRN_HBM_PARTS; i++)
		trn_hbm_free_part(&hbm->stack[range->stack].part[i], &range->blocks[i]);
	mutex_unlock(&hbm->lock);
}

unsigned int trn_hbm_count_extents(struct trn_hbm_range *range)
{
	unsigned int i, count = 0;

	for (i = 0; i < TRN_HBM_PARTS; i++)
		count += list_count_nodes(&range->blocks[i]);
	return count;
}

/* Addresses in the chip's HBM; @extents has room for trn_hbm_count_extents(). */
void trn_hbm_get_extents(struct trn_device *tdev, const struct trn_hbm_range *range,
			 struct trn_extent *extents)
{
	u64 base = range->stack * tdev->caps.hbm_stack_size, offset = 0;
	struct gpu_buddy_block *block;
	int i;

	for (i = 0; i < TRN_HBM_PARTS; i++) {
		struct gpu_buddy *part = &tdev->hbm.stack[range->stack].part[i];

		list_for_each_entry(block, &range->blocks[i], link) {
			extents->offset = offset;
			extents->address = base + gpu_buddy_block_offset(block);
			extents->size = gpu_buddy_block_size(part, block);
			offset += extents->size;
			extents++;
		}
	}
}

u64 trn_hbm_total(struct trn_device *tdev)
{
	return tdev->caps.hbm_stacks * tdev->caps.hbm_stack_size;
}

u64 trn_hbm_used(struct trn_device *tdev)
{
	struct trn_hbm *hbm = &tdev->hbm;
	u64 used = trn_hbm_total(tdev);
	unsigned int i;

	mutex_lock(&hbm->lock);
	for (i = 0; i < hbm->stacks; i++)
		used -= trn_hbm_avail(&hbm->stack[i], false);
	mutex_unlock(&hbm->lock);
	return used;
}

/*
 * Size of the largest free block, found by asking: the allocator has no call that
 * tells.  Every question is a look at the heads of its free lists.
 */
static u64 trn_hbm_largest_block(struct gpu_buddy *part)
{
	u64 size;

	if (!part->avail)
		return 0;
	for (size = rounddown_pow_of_two(part->avail); size > part->chunk_size; size >>= 1) {
		LIST_HEAD(blocks);

		if (gpu_buddy_alloc_blocks(part, 0, part->size, size, size, &blocks, 0))
			continue;
		gpu_buddy_free_list(part, &blocks, 0);
		break;
	}
	return size;
}

void trn_hbm_query(struct trn_device *tdev, struct drm_trn_query_memory *query)
{
	struct trn_hbm *hbm = &tdev->hbm;
	unsigned int i;

	mutex_lock(&hbm->lock);
	query->stacks = hbm->stacks;
	for (i = 0; i < hbm->stacks; i++) {
		struct trn_hbm_stack *stack = &hbm->stack[i];

		query->stack[i].total = tdev->caps.hbm_stack_size;
		query->stack[i].free = trn_hbm_avail(stack, false);
		query->stack[i].largest =
			max(trn_hbm_largest_block(&stack->part[TRN_HBM_HIDDEN]),
			    trn_hbm_largest_block(&stack->part[TRN_HBM_VISIBLE]));
		query->cpu_visible += stack->visible;
		query->cpu_visible_free += trn_hbm_avail(stack, true);
	}
	mutex_unlock(&hbm->lock);
}
