// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory objects: HBM, or host memory that CPU and chip share.
 *
 * An object's memory stays where it is from creation to the last reference, and every
 * mapping in an address space holds one: what is freed, the chip cannot reach.
 */
#include <linux/bsearch.h>
#include <linux/ctype.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "trn_cgroup.h"
#include "trn_device.h"
#include "trn_drv.h"
#include "trn_gem.h"
#include "trn_user.h"

/* No reservation lock is held here: dma-bufs take theirs to be unmapped. */
static void trn_gem_unmap_dma(struct trn_device *tdev, struct trn_bo *bo)
{
	lockdep_assert_held(&tdev->bo_lock);

	if (!bo->mapped)
		return;
	if (bo->kind == TRN_BO_IMPORT)
		trn_dmabuf_unmap(bo);
	else
		trn_host_unmap(tdev, bo);
	bo->mapped = false;
}

/* The chip is unplugged: no object may stay mapped for DMA. */
void trn_gem_unmap_all(struct trn_device *tdev)
{
	struct trn_bo *bo;

	/* The DRM core's look at drm_gem_object.import_attach. */
	mutex_lock(&tdev->drm.object_name_lock);
	mutex_lock(&tdev->bo_lock);
	list_for_each_entry(bo, &tdev->bos, link)
		trn_gem_unmap_dma(tdev, bo);
	mutex_unlock(&tdev->bo_lock);
	mutex_unlock(&tdev->drm.object_name_lock);
}

static void trn_gem_free(struct drm_gem_object *obj)
{
	struct trn_device *tdev = to_trn_device(obj->dev);
	struct trn_bo *bo = to_trn_bo(obj);

	mutex_lock(&tdev->bo_lock);
	list_del(&bo->link);
	trn_gem_unmap_dma(tdev, bo);
	mutex_unlock(&tdev->bo_lock);

	switch (bo->kind) {
	case TRN_BO_HBM:
		trn_hbm_free(tdev, &bo->hbm);
		trn_user_uncharge_hbm(tdev, bo->user, obj->size);
		trn_cgroup_uncharge(bo->cgroup, obj->size);
		if (bo->dummy_page)
			__free_page(bo->dummy_page);
		break;
	case TRN_BO_SHMEM:
		trn_host_release(bo);
		break;
	case TRN_BO_USERPTR:
		trn_userptr_release(bo);
		break;
	case TRN_BO_IMPORT:
		trn_dmabuf_release_import(bo);
		break;
	}
	drm_gem_object_release(obj);
	kvfree(bo->extents);
	kfree(bo);
}

static const struct drm_gem_object_funcs trn_gem_funcs = {
	.free = trn_gem_free,
	.export = trn_dmabuf_export,
	.get_sg_table = trn_host_get_sg_table,
	.vmap = trn_host_vmap,
	.vunmap = trn_host_vunmap,
	.mmap = trn_gem_mmap,
	.vm_ops = &trn_gem_vm_ops,
};

/*
 * An object without memory of a file, or of the driver if that is NULL.  It becomes
 * a GEM object by the caller's drm_gem_object_init().
 */
struct trn_bo *trn_gem_alloc(enum trn_bo_kind kind, const struct drm_file *owner)
{
	struct trn_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);

	if (!bo)
		return NULL;
	bo->base.funcs = &trn_gem_funcs;
	bo->kind = kind;
	bo->owner = owner ? owner->client_id : 0;
	bo->placement = kind == TRN_BO_HBM ? DRM_TRN_BO_HBM : DRM_TRN_BO_HOST;
	INIT_LIST_HEAD(&bo->link);
	return bo;
}

/* @bo is complete: it is found by trn_gem_unmap_all() from now on. */
void trn_gem_publish(struct trn_bo *bo)
{
	struct trn_device *tdev = to_trn_device(bo->base.dev);

	mutex_lock(&tdev->bo_lock);
	list_add(&bo->link, &tdev->bos);
	mutex_unlock(&tdev->bo_lock);
}

static int trn_gem_compare_extent(const void *key, const void *element)
{
	const struct trn_extent *extent = element;
	u64 offset = *(const u64 *)key;

	if (offset < extent->offset)
		return -1;
	return offset - extent->offset >= extent->size;
}

/* The extent that has byte @offset of the object. */
const struct trn_extent *trn_gem_find_extent(const struct trn_bo *bo, u64 offset)
{
	return bsearch(&offset, bo->extents, bo->num_extents, sizeof(*bo->extents),
		       trn_gem_compare_extent);
}

static int trn_gem_init_hbm(struct trn_device *tdev, struct trn_bo *bo)
{
	int ret;

	bo->num_extents = trn_hbm_count_extents(&bo->hbm);
	bo->extents = kvcalloc(bo->num_extents, sizeof(*bo->extents), GFP_KERNEL_ACCOUNT);
	if (!bo->extents)
		return -ENOMEM;
	trn_hbm_get_extents(tdev, &bo->hbm, bo->extents);
	if (bo->cpu_visible) {
		/* Now, so that it never changes under a mapping: dma-bufs can be mapped too. */
		ret = drm_gem_create_mmap_offset(&bo->base);
		if (ret)
			return ret;
	}
	return trn_scrub(tdev, bo->extents, bo->num_extents);
}

static struct trn_bo *trn_gem_create_hbm(struct drm_file *drm_file, u64 size, u32 stack,
					 u32 flags)
{
	struct trn_file *file = drm_file->driver_priv;
	struct trn_device *tdev = file->tdev;
	struct trn_bo *bo;
	int ret;

	bo = trn_gem_alloc(TRN_BO_HBM, drm_file);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->cpu_visible = flags & DRM_TRN_BO_CPU_VISIBLE;
	ret = trn_user_charge_hbm(file, size, &bo->user);
	if (ret)
		goto err_free;
	ret = trn_cgroup_charge(tdev->hbm.cgroup, size, &bo->cgroup);
	if (ret)
		goto err_uncharge;
	ret = trn_hbm_alloc(tdev, size, stack, bo->cpu_visible, &bo->hbm);
	if (ret)
		goto err_uncharge_cgroup;
	/* From here on trn_gem_free() cleans up. */
	drm_gem_private_object_init(&tdev->drm, &bo->base, size);
	ret = trn_gem_init_hbm(tdev, bo);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	trn_gem_publish(bo);
	return bo;

err_uncharge_cgroup:
	trn_cgroup_uncharge(bo->cgroup, size);
err_uncharge:
	trn_user_uncharge_hbm(tdev, bo->user, size);
err_free:
	kfree(bo);
	return ERR_PTR(ret);
}

static struct trn_bo *trn_gem_create(struct drm_file *drm_file, u64 size,
				     const struct drm_trn_bo_create *args)
{
	switch (args->placement) {
	case DRM_TRN_BO_HBM:
		if (args->flags & ~DRM_TRN_BO_CPU_VISIBLE)
			return ERR_PTR(-EINVAL);
		return trn_gem_create_hbm(drm_file, size, args->stack, args->flags);
	case DRM_TRN_BO_HOST:
		if (args->flags || args->stack)
			return ERR_PTR(-EINVAL);
		return trn_host_create(to_trn_device(drm_file->minor->dev), size, drm_file);
	default:
		return ERR_PTR(-EINVAL);
	}
}

/* Takes over the caller's reference to @bo. */
int trn_gem_create_handle(struct trn_bo *bo, struct drm_file *drm_file, u32 *handle)
{
	int ret = drm_gem_handle_create(drm_file, &bo->base, handle);

	/* The handle holds the reference now. */
	drm_gem_object_put(&bo->base);
	return ret;
}

int trn_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_bo_create *args = data;
	struct trn_bo *bo;
	int idx, ret;
	u32 epoch;
	u64 size;

	if (!args->size || args->size > U64_MAX - PAGE_SIZE)
		return -EINVAL;
	size = PAGE_ALIGN(args->size);

	do {
		ret = trn_device_enter(tdev, &idx);
		if (ret)
			return ret;
		epoch = trn_device_epoch(tdev);
		bo = trn_gem_create(drm_file, size, args);
		ret = IS_ERR(bo) ? PTR_ERR(bo) :
				   trn_gem_create_handle(bo, drm_file, &args->handle);
		trn_device_exit(tdev, idx);
		/* Once more, if the chip was reset under it. */
	} while (ret == -EIO && trn_device_lost(tdev, epoch));

	if (ret)
		drm_dbg(drm, "object of %llu bytes, placement %u, stack %u, flags 0x%x: %d\n",
			size, args->placement, args->stack, args->flags, ret);
	else
		args->size = size;
	return ret;
}

static bool trn_gem_name_valid(const u8 *name)
{
	size_t i;

	for (i = 0; i < DRM_TRN_BO_NAME_SIZE && name[i]; i++) {
		if (!isascii(name[i]) || !isprint(name[i]))
			return false;
	}
	return i < DRM_TRN_BO_NAME_SIZE;
}

int trn_ioctl_bo_set_name(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_bo_set_name *args = data;
	struct drm_gem_object *obj;

	if (args->pad || !trn_gem_name_valid(args->name))
		return -EINVAL;
	if (trn_device_gone(tdev))
		return -ENODEV;
	obj = drm_gem_object_lookup(drm_file, args->handle);
	if (!obj)
		return -ENOENT;
	mutex_lock(&tdev->bo_lock);
	strscpy(to_trn_bo(obj)->name, args->name, DRM_TRN_BO_NAME_SIZE);
	mutex_unlock(&tdev->bo_lock);
	drm_gem_object_put(obj);
	return 0;
}

/* Memory of the file's objects, by the keys of drm-usage-stats.rst. */
void trn_gem_show_fdinfo(struct drm_printer *p, struct drm_file *drm_file)
{
	struct drm_memory_stats stats[2] = {};
	struct drm_gem_object *obj;
	int id;

	spin_lock(&drm_file->table_lock);
	idr_for_each_entry(&drm_file->object_idr, obj, id) {
		struct drm_memory_stats *s = &stats[to_trn_bo(obj)->placement];

		/* Imports count as shared: they have a dma-buf too. */
		if (drm_gem_object_is_shared_for_memory_stats(obj))
			s->shared += obj->size;
		else
			s->private += obj->size;
		s->resident += obj->size;
	}
	spin_unlock(&drm_file->table_lock);
	drm_print_memory_stats(p, &stats[DRM_TRN_BO_HBM], DRM_GEM_OBJECT_RESIDENT, "hbm");
	drm_print_memory_stats(p, &stats[DRM_TRN_BO_HOST], DRM_GEM_OBJECT_RESIDENT, "host");
}
