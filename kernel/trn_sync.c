// SPDX-License-Identifier: GPL-2.0-only
/*
 * Syncobjs that a call waits for and signals.
 */
#include <linux/dma-fence-chain.h>
#include <linux/err.h>
#include <linux/slab.h>

#include <drm/drm_syncobj.h>
#include <drm/trn_accel.h>

#include "trn_array.h"
#include "trn_sync.h"

/* A syncobj that gets a fence. */
struct trn_signal {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;	/* timeline point, else NULL */
	u64 point;
};

static int trn_syncs_add_signal(struct trn_syncs *syncs, struct drm_file *drm_file,
				const struct drm_trn_sync *sync)
{
	struct trn_signal *signal = &syncs->signals[syncs->num_signals];

	signal->syncobj = drm_syncobj_find(drm_file, sync->handle);
	if (!signal->syncobj)
		return -ENOENT;
	signal->point = sync->point;
	syncs->num_signals++;
	if (sync->point) {
		signal->chain = dma_fence_chain_alloc();
		if (!signal->chain)
			return -ENOMEM;
	}
	return 0;
}

static int trn_syncs_add_wait(struct trn_syncs *syncs, struct drm_file *drm_file,
			      const struct drm_trn_sync *sync)
{
	int ret;

	ret = drm_syncobj_find_fence(drm_file, sync->handle, sync->point, 0,
				     &syncs->waits[syncs->num_waits]);
	if (!ret)
		syncs->num_waits++;
	return ret;
}

static int trn_syncs_add(struct trn_syncs *syncs, struct drm_file *drm_file,
			 const struct drm_trn_sync *sync, u32 allowed_flags)
{
	if (sync->flags & ~allowed_flags)
		return -EINVAL;
	switch (sync->flags) {
	case DRM_TRN_SYNC_SIGNAL:
		return trn_syncs_add_signal(syncs, drm_file, sync);
	case DRM_TRN_SYNC_WAIT:
		return trn_syncs_add_wait(syncs, drm_file, sync);
	default:
		return -EINVAL;
	}
}

/**
 * trn_syncs_init() - look up syncobjs
 * @syncs: zeroed; after a failure too, trn_syncs_fini() is for the caller to do
 * @drm_file: whose handles they are
 * @array: of struct drm_trn_sync in user memory
 * @max: most of them
 * @allowed_flags: DRM_TRN_SYNC_SIGNAL, DRM_TRN_SYNC_WAIT, or both
 *
 * Return: 0; -ENOENT for an unknown handle; -EINVAL for bad flags or a syncobj to wait
 * for that has no fence; -ENOMEM; or an error of trn_array_copy().
 */
int trn_syncs_init(struct trn_syncs *syncs, struct drm_file *drm_file,
		   const struct drm_trn_array *array, u32 max, u32 allowed_flags)
{
	struct drm_trn_sync *copy;
	int ret = 0;
	u32 i;

	copy = trn_array_copy(array, max, sizeof(*copy), sizeof(*copy));
	if (IS_ERR_OR_NULL(copy))
		return PTR_ERR_OR_ZERO(copy);
	syncs->signals = kvcalloc(array->count, sizeof(*syncs->signals), GFP_KERNEL_ACCOUNT);
	syncs->waits = kvcalloc(array->count, sizeof(*syncs->waits), GFP_KERNEL_ACCOUNT);
	if (!syncs->signals || !syncs->waits)
		ret = -ENOMEM;
	for (i = 0; i < array->count && !ret; i++)
		ret = trn_syncs_add(syncs, drm_file, &copy[i], allowed_flags);
	kvfree(copy);
	return ret;
}

/* Once: the syncobjs to be signalled get @fence, which must be going to signal. */
void trn_syncs_signal(struct trn_syncs *syncs, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < syncs->num_signals; i++) {
		struct trn_signal *signal = &syncs->signals[i];

		if (signal->chain) {
			drm_syncobj_add_point(signal->syncobj, signal->chain, fence,
					      signal->point);
			signal->chain = NULL;
		} else {
			drm_syncobj_replace_fence(signal->syncobj, fence);
		}
	}
}

void trn_syncs_fini(struct trn_syncs *syncs)
{
	u32 i;

	for (i = 0; i < syncs->num_signals; i++) {
		drm_syncobj_put(syncs->signals[i].syncobj);
		dma_fence_chain_free(syncs->signals[i].chain);
	}
	for (i = 0; i < syncs->num_waits; i++)
		dma_fence_put(syncs->waits[i]);
	kvfree(syncs->signals);
	kvfree(syncs->waits);
}
