/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_SYNC_H
#define _TRN_SYNC_H

#include <linux/types.h>

struct dma_fence;
struct dma_fence_chain;
struct drm_file;
struct drm_syncobj;
struct drm_trn_array;

/* That many of each kind need no memory of their own. */
#define TRN_SYNCS_FEW	4

/* A syncobj that gets a fence. */
struct trn_signal {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;	/* timeline point, else NULL */
	u64 point;
};

/* The syncobjs of a call.  May be moved by assignment. */
struct trn_syncs {
	u32 num_waits;
	u32 num_signals;
	struct dma_fence **many_waits;	/* NULL: few_waits has them */
	struct trn_signal *many_signals;	/* likewise */
	struct dma_fence *few_waits[TRN_SYNCS_FEW];
	struct trn_signal few_signals[TRN_SYNCS_FEW];
};

static inline struct dma_fence *trn_syncs_wait(const struct trn_syncs *syncs, u32 index)
{
	return syncs->many_waits ? syncs->many_waits[index] : syncs->few_waits[index];
}

int trn_syncs_init(struct trn_syncs *syncs, struct drm_file *drm_file,
		   const struct drm_trn_array *array, u32 max, u32 allowed_flags);
void trn_syncs_signal(struct trn_syncs *syncs, struct dma_fence *fence);
bool trn_syncs_blocked(const struct trn_syncs *syncs);
int trn_syncs_error(const struct trn_syncs *syncs);
void trn_syncs_split(struct trn_syncs *waits, struct trn_syncs *signals);
void trn_syncs_fini(struct trn_syncs *syncs);

#endif /* _TRN_SYNC_H */
