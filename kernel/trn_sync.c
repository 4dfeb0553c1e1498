// SPDX-License-Identifier: GPL-2.0-only
/*
 * Syncobjs that a call waits for and signals.
 */
#include <linux/dma-fence-chain.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <drm/drm_syncobj.h>
#include <drm/trn_accel.h>

#include "trn_array.h"
#include "trn_sync.h"

static struct trn_signal *trn_syncs_signals(struct trn_syncs *syncs)
{
	return syncs->many_signals ?: syncs->few_signals;
}

static struct dma_fence **trn_syncs_waits(struct trn_syncs *syncs)
{
	return syncs->many_waits ?: syncs->few_waits;
}

static int trn_syncs_add_signal(struct trn_syncs *syncs, struct drm_file *drm_file,
				const struct drm_trn_sync *sync)
{
	struct trn_signal *signal = &trn_syncs_signals(syncs)[syncs->num_signals];

	signal->syncobj = drm_syncobj_find(drm_file, sync->handle);
	if (!signal->syncobj)
		return -ENOENT;
	signal->point = sync->point;
	signal->chain = NULL;
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
				     &trn_syncs_waits(syncs)[syncs->num_waits]);
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
	struct drm_trn_sync sync;
	int ret;
	u32 i;

	ret = trn_array_check(array, max, sizeof(sync));
	if (ret)
		return ret;
	if (array->count > TRN_SYNCS_FEW) {
		syncs->many_signals = kvmalloc_array(array->count, sizeof(*syncs->many_signals),
						     GFP_KERNEL_ACCOUNT);
		syncs->many_waits = kvmalloc_array(array->count, sizeof(*syncs->many_waits),
						   GFP_KERNEL_ACCOUNT);
		if (!syncs->many_signals || !syncs->many_waits)
			return -ENOMEM;
	}
	for (i = 0; i < array->count && !ret; i++) {
		ret = trn_array_read(array, i, &sync, sizeof(sync));
		if (!ret)
			ret = trn_syncs_add(syncs, drm_file, &sync, allowed_flags);
	}
	return ret;
}

/* Once: the syncobjs to be signalled get @fence, which must be going to signal. */
void trn_syncs_signal(struct trn_syncs *syncs, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < syncs->num_signals; i++) {
		struct trn_signal *signal = &trn_syncs_signals(syncs)[i];

		if (signal->chain) {
			drm_syncobj_add_point(signal->syncobj, signal->chain, fence,
					      signal->point);
			signal->chain = NULL;
		} else {
			drm_syncobj_replace_fence(signal->syncobj, fence);
		}
	}
}

/* Whether one of the fences to wait for has not signalled. */
bool trn_syncs_blocked(const struct trn_syncs *syncs)
{
	u32 i;

	for (i = 0; i < syncs->num_waits; i++) {
		if (!dma_fence_is_signaled(trn_syncs_wait(syncs, i)))
			return true;
	}
	return false;
}

/* 0, or the error of one of the fences to wait for, which have all signalled. */
int trn_syncs_error(const struct trn_syncs *syncs)
{
	u32 i;

	for (i = 0; i < syncs->num_waits; i++) {
		struct dma_fence *fence = dma_fence_chain_contained(trn_syncs_wait(syncs, i));
		int status = dma_fence_get_status(fence);

		if (status < 0)
			return status;
	}
	return 0;
}

/* @waits keeps only what is to be waited for, @signals, which was zeroed, gets the rest. */
void trn_syncs_split(struct trn_syncs *waits, struct trn_syncs *signals)
{
	signals->num_signals = waits->num_signals;
	signals->many_signals = waits->many_signals;
	memcpy(signals->few_signals, waits->few_signals, sizeof(signals->few_signals));
	waits->num_signals = 0;
	waits->many_signals = NULL;
}

void trn_syncs_fini(struct trn_syncs *syncs)
{
	u32 i;

	for (i = 0; i < syncs->num_signals; i++) {
		struct trn_signal *signal = &trn_syncs_signals(syncs)[i];

		drm_syncobj_put(signal->syncobj);
		dma_fence_chain_free(signal->chain);
	}
	for (i = 0; i < syncs->num_waits; i++)
		dma_fence_put(trn_syncs_wait(syncs, i));
	if (unlikely(syncs->many_signals || syncs->many_waits)) {
		kvfree(syncs->many_signals);
		kvfree(syncs->many_waits);
	}
}
