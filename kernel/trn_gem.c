// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory objects: HBM, or host memory that CPU and chip share.
 *
 * Host objects are shmem pages, pinned and mapped for DMA as long as the object
 * and the chip live.  CPU and chip poll words in them, so the mapping must not
 * need dma_sync_*().
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>

#include "trn_device.h"
#include "trn_dma.h"
#include "trn_drv.h"
#include "trn_gem.h"

static void trn_gem_unmap_dma(struct trn_device *tdev, struct trn_bo *bo)
{
	lockdep_assert_held(&tdev->bo_lock);

	if (!bo->mapped)
		return;
	dma_unmap_sgtable(&tdev->pdev->dev, bo->sgt, DMA_BIDIRECTIONAL, 0);
	list_del(&bo->link);
	bo->mapped = false;
}

/* The chip is unplugged: no object may stay mapped for DMA. */
void trn_gem_unmap_all(struct trn_device *tdev)
{
	struct trn_bo *bo, *next;

	mutex_lock(&tdev->bo_lock);
	list_for_each_entry_safe(bo, next, &tdev->host_bos, link)
		trn_gem_unmap_dma(tdev, bo);
	mutex_unlock(&tdev->bo_lock);
}

static void trn_gem_release_host(struct trn_device *tdev, struct trn_bo *bo)
{
	if (bo->sgt) {
		mutex_lock(&tdev->bo_lock);
		trn_gem_unmap_dma(tdev, bo);
		mutex_unlock(&tdev->bo_lock);
		sg_free_table(bo->sgt);
		kfree(bo->sgt);
	}
	if (bo->pages)
		drm_gem_put_pages(&bo->base, bo->pages, true, true);
}

static void trn_gem_free(struct drm_gem_object *obj)
{
	struct trn_device *tdev = to_trn_device(obj->dev);
	struct trn_bo *bo = to_trn_bo(obj);

	if (bo->placement == DRM_TRN_BO_HBM)
		trn_hbm_free(tdev, &bo->hbm);
	else
		trn_gem_release_host(tdev, bo);
	drm_gem_object_release(obj);
	kvfree(bo->extents);
	kfree(bo);
}

static vm_fault_t trn_gem_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct trn_bo *bo = to_trn_bo(vma->vm_private_data);
	/* vm_pgoff is the fake offset of the object; mappings begin at its start. */
	pgoff_t index = (vmf->address - vma->vm_start) >> PAGE_SHIFT;

	index += vma->vm_pgoff - drm_vma_node_start(&bo->base.vma_node);
	/* Cannot be: the node does not move and mmap() checked the size. */
	if (WARN_ON_ONCE(index >= bo->base.size >> PAGE_SHIFT))
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vma, vmf->address, page_to_pfn(bo->pages[index]));
}

static const struct vm_operations_struct trn_gem_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.fault = trn_gem_fault,
};

static int trn_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	if (to_trn_bo(obj)->placement != DRM_TRN_BO_HOST)
		return -EOPNOTSUPP;
	/* A private copy of a page would not be what the chip sees. */
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	return 0;
}

static const struct drm_gem_object_funcs trn_gem_funcs = {
	.free = trn_gem_free,
	.mmap = trn_gem_mmap,
	.vm_ops = &trn_gem_vm_ops,
};

static struct trn_bo *trn_gem_alloc(u32 placement)
{
	struct trn_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);

	if (!bo)
		return NULL;
	bo->base.funcs = &trn_gem_funcs;
	bo->placement = placement;
	return bo;
}

static int trn_gem_set_host_extents(struct trn_device *tdev, struct trn_bo *bo)
{
	struct scatterlist *sg;
	unsigned int i;

	bo->extents = kvcalloc(bo->sgt->nents, sizeof(*bo->extents), GFP_KERNEL_ACCOUNT);
	if (!bo->extents)
		return -ENOMEM;
	bo->num_extents = bo->sgt->nents;
	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		bo->extents[i].address = sg_dma_address(sg);
		bo->extents[i].size = sg_dma_len(sg);
		if (trn_dma_needs_sync(tdev->pdev, sg_dma_address(sg))) {
			drm_notice_once(&tdev->drm, "host memory is bounced or not coherent, which this driver cannot use\n");
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

static int trn_gem_map_dma(struct trn_device *tdev, struct trn_bo *bo)
{
	int ret;

	mutex_lock(&tdev->bo_lock);
	ret = dma_map_sgtable(&tdev->pdev->dev, bo->sgt, DMA_BIDIRECTIONAL, 0);
	if (!ret) {
		bo->mapped = true;
		list_add(&bo->link, &tdev->host_bos);
	}
	mutex_unlock(&tdev->bo_lock);
	return ret;
}

/**
 * trn_gem_create_host() - host memory, zeroed, mapped for DMA
 * @tdev: device, entered by trn_device_enter() or not yet registered
 * @size: bytes, page aligned, not 0
 */
struct trn_bo *trn_gem_create_host(struct trn_device *tdev, u64 size)
{
	struct sg_table *sgt;
	struct page **pages;
	struct trn_bo *bo;
	int ret;

	if (size >> PAGE_SHIFT > totalram_pages())
		return ERR_PTR(-ENOMEM);

	bo = trn_gem_alloc(DRM_TRN_BO_HOST);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	ret = drm_gem_object_init(&tdev->drm, &bo->base, size);
	if (ret) {
		drm_gem_private_object_fini(&bo->base);
		kfree(bo);
		return ERR_PTR(ret);
	}

	/* Too much is -ENOMEM for who asks, and not the end of some other process. */
	mapping_set_gfp_mask(bo->base.filp->f_mapping,
			     GFP_HIGHUSER | __GFP_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	pages = drm_gem_get_pages(&bo->base);
	if (IS_ERR(pages)) {
		ret = PTR_ERR(pages);
		goto err_put;
	}
	bo->pages = pages;
	sgt = drm_prime_pages_to_sg(&tdev->drm, pages, size >> PAGE_SHIFT);
	if (IS_ERR(sgt)) {
		ret = PTR_ERR(sgt);
		goto err_put;
	}
	bo->sgt = sgt;
	/* Now, so that it never changes under a mapping: dma-bufs can be mapped too. */
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret)
		goto err_put;
	ret = trn_gem_map_dma(tdev, bo);
	if (ret)
		goto err_put;
	ret = trn_gem_set_host_extents(tdev, bo);
	if (ret)
		goto err_put;
	return bo;

err_put:
	drm_gem_object_put(&bo->base);
	return ERR_PTR(ret);
}

static int trn_gem_set_hbm_extents(struct trn_device *tdev, struct trn_bo *bo)
{
	struct gpu_buddy_block *block;
	unsigned int count = 0;

	list_for_each_entry(block, &bo->hbm.blocks, link)
		count++;
	bo->extents = kvcalloc(count, sizeof(*bo->extents), GFP_KERNEL_ACCOUNT);
	if (!bo->extents)
		return -ENOMEM;
	list_for_each_entry(block, &bo->hbm.blocks, link) {
		struct trn_extent *extent = &bo->extents[bo->num_extents++];

		extent->address = trn_hbm_block_address(tdev, &bo->hbm, block);
		extent->size = trn_hbm_block_size(tdev, &bo->hbm, block);
	}
	return 0;
}

static struct trn_bo *trn_gem_create_hbm(struct trn_device *tdev, u64 size, u32 stack)
{
	struct trn_bo *bo;
	int ret;

	bo = trn_gem_alloc(DRM_TRN_BO_HBM);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	ret = trn_hbm_alloc(tdev, size, stack, &bo->hbm);
	if (ret) {
		kfree(bo);
		return ERR_PTR(ret);
	}
	drm_gem_private_object_init(&tdev->drm, &bo->base, size);
	ret = trn_gem_set_hbm_extents(tdev, bo);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	return bo;
}

int trn_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_bo_create *args = data;
	struct trn_bo *bo;
	u64 size;
	int idx, ret;

	if (args->flags || !args->size || args->size > U64_MAX - PAGE_SIZE)
		return -EINVAL;
	size = PAGE_ALIGN(args->size);

	if (!trn_device_enter(tdev, &idx))
		return -ENODEV;
	if (args->placement == DRM_TRN_BO_HBM)
		bo = trn_gem_create_hbm(tdev, size, args->stack);
	else if (args->placement == DRM_TRN_BO_HOST && !args->stack)
		bo = trn_gem_create_host(tdev, size);
	else
		bo = ERR_PTR(-EINVAL);
	trn_device_exit(idx);
	if (IS_ERR(bo)) {
		drm_dbg(drm, "object of %llu bytes, placement %u, stack %u: %pe\n",
			size, args->placement, args->stack, bo);
		return PTR_ERR(bo);
	}

	ret = drm_gem_handle_create(drm_file, &bo->base, &args->handle);
	/* The handle holds the reference now. */
	drm_gem_object_put(&bo->base);
	if (!ret)
		args->size = size;
	return ret;
}

int trn_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trn_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;
	int ret;

	if (args->pad)
		return -EINVAL;
	if (trn_device_state(to_trn_device(drm)) != TRN_STATE_OK)
		return -ENODEV;

	obj = drm_gem_object_lookup(drm_file, args->handle);
	if (!obj)
		return -ENOENT;
	if (to_trn_bo(obj)->placement != DRM_TRN_BO_HOST) {
		ret = -EOPNOTSUPP;
		goto out_put;
	}
	ret = drm_gem_create_mmap_offset(obj);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
out_put:
	drm_gem_object_put(obj);
	return ret;
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
