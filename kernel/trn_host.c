// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host memory: shmem pages, pinned as long as the object lives and mapped for DMA
 * as long as the chip does too.
 *
 * CPU and chip poll words in it, so the mapping must not need dma_sync_*().
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <drm/drm_prime.h>
#include <drm/drm_print.h>

#include "trn_device.h"
#include "trn_dma.h"
#include "trn_gem.h"

int trn_host_check_size(u64 size)
{
	if (size > TRN_HOST_SIZE_MAX)
		return -EINVAL;
	return size >> PAGE_SHIFT > totalram_pages() ? -ENOMEM : 0;
}

static enum dma_data_direction trn_host_direction(const struct trn_bo *bo)
{
	return bo->readonly ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
}

void trn_host_unmap(struct trn_device *tdev, struct trn_bo *bo)
{
	dma_unmap_sgtable(&tdev->pdev->dev, bo->sgt, trn_host_direction(bo), 0);
}

/* @bo->sgt is mapped for the chip: note where. */
int trn_host_set_extents(struct trn_device *tdev, struct trn_bo *bo)
{
	struct scatterlist *sg;
	unsigned int i;
	u64 offset = 0;

	bo->extents = kvcalloc(bo->sgt->nents, sizeof(*bo->extents), GFP_KERNEL_ACCOUNT);
	if (!bo->extents)
		return -ENOMEM;
	bo->num_extents = bo->sgt->nents;
	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		bo->extents[i] = (struct trn_extent) {
			.offset = offset,
			.address = sg_dma_address(sg),
			.size = sg_dma_len(sg),
		};
		offset += sg_dma_len(sg);
		if (trn_dma_needs_sync(tdev->pdev, sg_dma_address(sg))) {
			drm_notice_once(&tdev->drm, "host memory is bounced or not coherent, which this driver cannot use\n");
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

/* Map @bo->pages for the chip; trn_gem_free() cleans up after failure too. */
int trn_host_map(struct trn_device *tdev, struct trn_bo *bo)
{
	struct sg_table *sgt;
	int ret;

	sgt = drm_prime_pages_to_sg(&tdev->drm, bo->pages, bo->base.size >> PAGE_SHIFT);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	bo->sgt = sgt;
	ret = dma_map_sgtable(&tdev->pdev->dev, sgt, trn_host_direction(bo), 0);
	if (ret)
		return ret;
	bo->mapped = true;
	return trn_host_set_extents(tdev, bo);
}

void trn_host_release_sgt(struct trn_bo *bo)
{
	if (!bo->sgt)
		return;
	sg_free_table(bo->sgt);
	kfree(bo->sgt);
}

void trn_host_release(struct trn_bo *bo)
{
	trn_host_release_sgt(bo);
	if (bo->pages)
		drm_gem_put_pages(&bo->base, bo->pages, true, true);
}

/*
 * drm_gem_get_pages() cannot be interrupted.  For drm_gem_put_pages(), which leaves
 * out NULL, a folio has one reference for all of its pages in @pages.
 */
static int trn_host_fill_pages(struct trn_bo *bo)
{
	struct address_space *mapping = bo->base.filp->f_mapping;
	unsigned long count = bo->base.size >> PAGE_SHIFT, i = 0, end;

	while (i < count) {
		struct folio *folio;

		if (fatal_signal_pending(current))
			return -EINTR;
		folio = shmem_read_folio_gfp(mapping, i, mapping_gfp_mask(mapping));
		if (IS_ERR(folio))
			return PTR_ERR(folio);
		for (end = min(count, i + folio_nr_pages(folio)); i < end; i++)
			bo->pages[i] = folio_file_page(folio, i);
		cond_resched();
	}
	return 0;
}

static int trn_host_get_pages(struct trn_bo *bo)
{
	struct address_space *mapping = bo->base.filp->f_mapping;

	/* Too much is -ENOMEM for who asks, and not the end of some other process. */
	mapping_set_gfp_mask(mapping, GFP_HIGHUSER | __GFP_ACCOUNT | __GFP_RETRY_MAYFAIL |
			     __GFP_NOWARN);
	bo->pages = kvcalloc(bo->base.size >> PAGE_SHIFT, sizeof(*bo->pages),
			     GFP_KERNEL_ACCOUNT);
	if (!bo->pages)
		return -ENOMEM;
	mapping_set_unevictable(mapping);
	return trn_host_fill_pages(bo);
}

static int trn_host_init(struct trn_device *tdev, struct trn_bo *bo)
{
	int ret;

	ret = trn_host_get_pages(bo);
	if (ret)
		return ret;
	/* Now, so that it never changes under a mapping: dma-bufs can be mapped too. */
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret)
		return ret;
	return trn_host_map(tdev, bo);
}

/**
 * trn_host_create() - host memory, zeroed, mapped for DMA
 * @tdev: device, entered by trn_device_enter() or not yet registered
 * @size: bytes, page aligned, not 0
 * @owner: as for trn_gem_alloc()
 *
 * Return: the object; -EINVAL more than TRN_HOST_SIZE_MAX; -ENOMEM; -EINTR killed.
 */
struct trn_bo *trn_host_create(struct trn_device *tdev, u64 size, const struct drm_file *owner)
{
	struct trn_bo *bo;
	int ret;

	ret = trn_host_check_size(size);
	if (ret)
		return ERR_PTR(ret);
	bo = trn_gem_alloc(TRN_BO_SHMEM, owner);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	ret = drm_gem_object_init(&tdev->drm, &bo->base, size);
	if (ret) {
		drm_gem_private_object_fini(&bo->base);
		kfree(bo);
		return ERR_PTR(ret);
	}
	ret = trn_host_init(tdev, bo);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	trn_gem_publish(bo);
	return bo;
}

/* For an importer, who maps it for its own device. */
struct sg_table *trn_host_get_sg_table(struct drm_gem_object *obj)
{
	return drm_prime_pages_to_sg(NULL, to_trn_bo(obj)->pages, obj->size >> PAGE_SHIFT);
}

int trn_host_vmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	void *address = vmap(to_trn_bo(obj)->pages, obj->size >> PAGE_SHIFT, VM_MAP, PAGE_KERNEL);

	if (!address)
		return -ENOMEM;
	iosys_map_set_vaddr(map, address);
	return 0;
}

void trn_host_vunmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	vunmap(map->vaddr);
}
