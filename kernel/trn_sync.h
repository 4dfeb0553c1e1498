/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_SYNC_H
#define _TRN_SYNC_H

#include <linux/types.h>

struct dma_fence;
struct drm_file;
struct drm_trn_array;
struct trn_signal;

/* The syncobjs of a call. */
struct trn_syncs {
	struct dma_fence **waits;
	u32 num_waits;
	struct trn_signal *signals;
	u32 num_signals;
};

int trn_syncs_init(struct trn_syncs *syncs, struct drm_file *drm_file,
		   const struct drm_trn_array *array, u32 max, u32 allowed_flags);
void trn_syncs_signal(struct trn_syncs *syncs, struct dma_fence *fence);
void trn_syncs_fini(struct trn_syncs *syncs);

#endif /* _TRN_SYNC_H */
