/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_HBM_H
#define _TRN_HBM_H

#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/trn_accel.h>

#include "trn_compat.h"

#define TRN_HBM_STACKS_MAX	DRM_TRN_HBM_STACKS_MAX

struct trn_device;

struct trn_hbm {
	/* Protects the allocators. */
	struct mutex lock;
	unsigned int stacks;
	struct gpu_buddy stack[TRN_HBM_STACKS_MAX];
};

/* Memory of one object: blocks of one stack. */
struct trn_hbm_range {
	unsigned int stack;
	struct list_head blocks;	/* struct gpu_buddy_block.link */
};

int trn_hbm_init(struct trn_device *tdev);
int trn_hbm_alloc(struct trn_device *tdev, u64 size, u32 stack, struct trn_hbm_range *range);
void trn_hbm_free(struct trn_device *tdev, struct trn_hbm_range *range);
u64 trn_hbm_block_address(struct trn_device *tdev, const struct trn_hbm_range *range,
			  struct gpu_buddy_block *block);
u64 trn_hbm_block_size(struct trn_device *tdev, const struct trn_hbm_range *range,
		       struct gpu_buddy_block *block);
u64 trn_hbm_total(struct trn_device *tdev);
u64 trn_hbm_used(struct trn_device *tdev);
void trn_hbm_query(struct trn_device *tdev, struct drm_trn_query_memory *query);

#endif /* _TRN_HBM_H */
