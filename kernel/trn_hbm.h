/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_HBM_H
#define _TRN_HBM_H

#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/trn_accel.h>

#include "trn_compat.h"

#define TRN_HBM_STACKS_MAX	DRM_TRN_HBM_STACKS_MAX

struct dmem_cgroup_region;
struct trn_device;

/*
 * The part of a stack that the CPU reaches through the aperture, and the rest: two
 * allocators, because one that is asked for a range looks at every block before it.
 */
enum trn_hbm_part {
	TRN_HBM_HIDDEN,
	TRN_HBM_VISIBLE,
	TRN_HBM_PARTS,
};

struct trn_hbm_stack {
	u64 visible;			/* bytes from the stack's start */
	/*
	 * Offsets in both are those in the stack; size 0 is a part that is not there.
	 * The hidden part has blocks for the visible one as well, all in @reserved, so
	 * that blocks are aligned to their size.
	 */
	struct gpu_buddy part[TRN_HBM_PARTS];
	struct list_head reserved;
};

struct trn_hbm {
	/* Protects the allocators. */
	struct mutex lock;
	unsigned int stacks;
	struct trn_hbm_stack stack[TRN_HBM_STACKS_MAX];
	struct dmem_cgroup_region *cgroup;
};

/* Memory of one object: blocks of one stack, struct gpu_buddy_block.link. */
struct trn_hbm_range {
	unsigned int stack;
	struct list_head blocks[TRN_HBM_PARTS];
};

/* A piece of an object: consecutive addresses in HBM, or host DMA addresses. */
struct trn_extent {
	u64 offset;			/* within the object */
	u64 address;
	u64 size;
};

int trn_hbm_init(struct trn_device *tdev);
int trn_hbm_alloc(struct trn_device *tdev, u64 size, u32 stack, bool visible,
		  struct trn_hbm_range *range);
void trn_hbm_free(struct trn_device *tdev, struct trn_hbm_range *range);
unsigned int trn_hbm_count_extents(struct trn_hbm_range *range);
void trn_hbm_get_extents(struct trn_device *tdev, const struct trn_hbm_range *range,
			 struct trn_extent *extents);
u64 trn_hbm_total(struct trn_device *tdev);
u64 trn_hbm_used(struct trn_device *tdev);
void trn_hbm_query(struct trn_device *tdev, struct drm_trn_query_memory *query);

#endif /* _TRN_HBM_H */
