/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels this module builds for.  trn_config.h is made
 * by compat/configure, which compiles the files of compat/probes.
 */
#ifndef _TRN_COMPAT_H
#define _TRN_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "trn_config.h"

/* The buddy allocator used to be DRM's own. */
#ifdef TRN_HAVE_GPU_BUDDY
#include <linux/gpu_buddy.h>
#else
#include <drm/drm_buddy.h>
#define gpu_buddy		drm_buddy
#define gpu_buddy_block		drm_buddy_block
#define gpu_buddy_init		drm_buddy_init
#define gpu_buddy_fini		drm_buddy_fini
#define gpu_buddy_alloc_blocks	drm_buddy_alloc_blocks
#define gpu_buddy_free_list	drm_buddy_free_list
#define gpu_buddy_block_offset	drm_buddy_block_offset
#define gpu_buddy_block_size	drm_buddy_block_size
#endif

#ifdef TRN_HAVE_IMPORT_NS_TOKEN
#define TRN_IMPORT_NS_DMA_BUF()	MODULE_IMPORT_NS(DMA_BUF)
#else
#define TRN_IMPORT_NS_DMA_BUF()	MODULE_IMPORT_NS("DMA_BUF")
#endif

/* Importers used to be told that a buffer moves, and are now told to let go of it. */
#ifdef TRN_HAVE_DMA_BUF_INVALIDATE
static inline bool trn_dmabuf_importer_lets_go(struct dma_buf_attachment *attach)
{
	return dma_buf_attach_revocable(attach);
}

static inline void trn_dmabuf_invalidate(struct dma_buf *dma_buf)
{
	dma_buf_invalidate_mappings(dma_buf);
}
#else
static inline bool trn_dmabuf_importer_lets_go(struct dma_buf_attachment *attach)
{
	return attach->importer_ops && attach->importer_ops->move_notify;
}

static inline void trn_dmabuf_invalidate(struct dma_buf *dma_buf)
{
	dma_buf_move_notify(dma_buf);
}
#endif

/* A driver whose objects have a list of mappings used to have to say so. */
#ifdef TRN_HAVE_GEM_GPUVA_FEATURE
#define TRN_DRIVER_GEM_GPUVA	DRIVER_GEM_GPUVA
#else
#define TRN_DRIVER_GEM_GPUVA	0
#endif

/*
 * Signalled fences used to keep their ops: then every fence that anybody still
 * holds (a sync_file, say) must keep the module.
 */
#ifdef TRN_HAVE_FENCE_DETACH
#define TRN_FENCE_RELEASE	NULL

static inline void trn_fence_pin_module(void)
{
}
#else
#define TRN_FENCE_RELEASE	trn_fence_release

static inline void trn_fence_pin_module(void)
{
	/* Called with the module in use, by an open file. */
	__module_get(THIS_MODULE);
}

static inline void trn_fence_release(struct dma_fence *fence)
{
	/* Unloading waits for a grace period after the last put. */
	rcu_read_lock();
	dma_fence_free(fence);
	module_put(THIS_MODULE);
	rcu_read_unlock();
}
#endif

#endif /* _TRN_COMPAT_H */
