/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_GEM_H
#define _TRN_GEM_H

#include <drm/drm_gem.h>

#include "trn_hbm.h"

struct drm_printer;
struct trn_device;

/* Consecutive addresses: in HBM, or host DMA addresses. */
struct trn_extent {
	u64 address;
	u64 size;
};

struct trn_bo {
	struct drm_gem_object base;
	u32 placement;			/* DRM_TRN_BO_* */
	bool readonly;			/* the chip may not write it */
	struct trn_extent *extents;
	unsigned int num_extents;

	struct trn_hbm_range hbm;	/* DRM_TRN_BO_HBM */

	/* DRM_TRN_BO_HOST */
	struct page **pages;
	struct sg_table *sgt;
	bool mapped;			/* for DMA; protected by trn_device.bo_lock */
	struct list_head link;		/* trn_device.host_bos */
};

static inline struct trn_bo *to_trn_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct trn_bo, base);
}

struct trn_bo *trn_gem_create_host(struct trn_device *tdev, u64 size);
void trn_gem_unmap_all(struct trn_device *tdev);
void trn_gem_show_fdinfo(struct drm_printer *p, struct drm_file *drm_file);

int trn_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trn_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* _TRN_GEM_H */
