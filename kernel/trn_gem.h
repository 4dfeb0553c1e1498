/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_GEM_H
#define _TRN_GEM_H

#include <linux/sizes.h>

#include <drm/drm_gem.h>

#include "trn_hbm.h"

struct dma_buf;
struct dmem_cgroup_pool_state;
struct drm_printer;
struct iosys_map;
struct trn_device;
struct trn_user;
struct sg_table;
struct user_struct;
struct vm_area_struct;

/* Largest host object: arrays with an element for each page stay below INT_MAX bytes. */
#define TRN_HOST_SIZE_MAX	(256ULL * SZ_1G)

enum trn_bo_kind {
	TRN_BO_HBM,
	TRN_BO_SHMEM,			/* host memory of its own */
	TRN_BO_USERPTR,			/* pinned memory of a process */
	TRN_BO_IMPORT,			/* another driver's dma-buf */
};

struct trn_bo {
	struct drm_gem_object base;
	enum trn_bo_kind kind;
	u32 placement;			/* DRM_TRN_BO_* */
	bool readonly;			/* the chip may not write it */
	struct trn_extent *extents;
	unsigned int num_extents;

	u64 owner;			/* drm_file.client_id of the creator, 0 if there is none */
	/* Both protected by trn_device.bo_lock. */
	struct list_head link;		/* trn_device.bos */
	char name[DRM_TRN_BO_NAME_SIZE];

	/* TRN_BO_HBM */
	struct trn_hbm_range hbm;
	struct trn_user *user;		/* who is charged, and in which cgroup */
	struct dmem_cgroup_pool_state *cgroup;
	bool cpu_visible;
	struct page *dummy_page;	/* what mappings become when the chip is gone */

	/* Mappings for other devices, and the dma-buf they have; protected by base.resv. */
	unsigned int peer_mappings;
	struct dma_buf *exported;

	/* TRN_BO_SHMEM, TRN_BO_USERPTR */
	struct page **pages;

	/* TRN_BO_USERPTR */
	unsigned long pinned;		/* elements of @pages */
	struct user_struct *locked_by;	/* whose RLIMIT_MEMLOCK counts them, or NULL */

	struct dma_buf *imported;	/* TRN_BO_IMPORT */

	/* All but TRN_BO_HBM */
	struct sg_table *sgt;
	/* For DMA; once the object is on the list protected by trn_device.bo_lock. */
	bool mapped;
};

static inline struct trn_bo *to_trn_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct trn_bo, base);
}

/* trn_gem.c */
struct trn_bo *trn_gem_alloc(enum trn_bo_kind kind, const struct drm_file *owner);
void trn_gem_publish(struct trn_bo *bo);
int trn_gem_create_handle(struct trn_bo *bo, struct drm_file *drm_file, u32 *handle);
void trn_gem_unmap_all(struct trn_device *tdev);
const struct trn_extent *trn_gem_find_extent(const struct trn_bo *bo, u64 offset);
void trn_gem_show_fdinfo(struct drm_printer *p, struct drm_file *drm_file);

int trn_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trn_ioctl_bo_set_name(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_host.c */
struct trn_bo *trn_host_create(struct trn_device *tdev, u64 size, const struct drm_file *owner);
int trn_host_check_size(u64 size);
int trn_host_map(struct trn_device *tdev, struct trn_bo *bo);
int trn_host_set_extents(struct trn_device *tdev, struct trn_bo *bo);
void trn_host_unmap(struct trn_device *tdev, struct trn_bo *bo);
void trn_host_release_sgt(struct trn_bo *bo);
void trn_host_release(struct trn_bo *bo);
struct sg_table *trn_host_get_sg_table(struct drm_gem_object *obj);
int trn_host_vmap(struct drm_gem_object *obj, struct iosys_map *map);
void trn_host_vunmap(struct drm_gem_object *obj, struct iosys_map *map);

/* trn_userptr.c */
void trn_userptr_release(struct trn_bo *bo);
int trn_ioctl_bo_create_userptr(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_gem_mmap.c */
extern const struct vm_operations_struct trn_gem_vm_ops;
int trn_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma);
void trn_gem_revoke_mappings(struct trn_device *tdev);
void trn_gem_restore_mappings(struct trn_device *tdev);
int trn_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_dmabuf.c */
struct dma_buf *trn_dmabuf_export(struct drm_gem_object *obj, int flags);
struct drm_gem_object *trn_dmabuf_import(struct drm_device *drm, struct dma_buf *dma_buf);
void trn_dmabuf_unmap(struct trn_bo *bo);
void trn_dmabuf_release_import(struct trn_bo *bo);
void trn_dmabuf_revoke_all(struct trn_device *tdev);

/* trn_scrub.c */
int trn_scrub_init(struct trn_device *tdev);
void trn_scrub_fini(struct trn_device *tdev);
int trn_scrub(struct trn_device *tdev, const struct trn_extent *extents, unsigned int count);

#endif /* _TRN_GEM_H */
