// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that are shared with other drivers.
 *
 * Host memory can be given to any device.  HBM stays where it is: a device that can
 * access the aperture may have it, if it can let go of it when the chip is unplugged.
 * What is imported is host memory whose pages are the exporter's affair.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/pci-p2pdma.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include <drm/drm_prime.h>
#include <drm/drm_print.h>

#include "trn_compat.h"
#include "trn_device.h"
#include "trn_drv.h"
#include "trn_gem.h"

/* How long an importer may take to stop using HBM, and to unmap it. */
#define TRN_DMABUF_REVOKE_TIMEOUT_MS	5000

/* An entry of a scatter list has 32 bits for its length. */
#define TRN_DMABUF_SG_MAX		SZ_2G

TRN_IMPORT_NS_DMA_BUF();

static const struct dma_buf_ops trn_dmabuf_host_ops = {
	.attach = drm_gem_map_attach,
	.detach = drm_gem_map_detach,
	.map_dma_buf = drm_gem_map_dma_buf,
	.unmap_dma_buf = drm_gem_unmap_dma_buf,
	.release = drm_gem_dmabuf_release,
	.mmap = drm_gem_dmabuf_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
};

static int trn_dmabuf_attach_hbm(struct dma_buf *dma_buf, struct dma_buf_attachment *attach)
{
	struct trn_bo *bo = to_trn_bo(dma_buf->priv);
	struct trn_device *tdev = to_trn_device(bo->base.dev);
	int distance;

	if (!bo->cpu_visible || !attach->peer2peer || !trn_dmabuf_importer_lets_go(attach))
		return -EOPNOTSUPP;
	if (trn_device_gone(tdev))
		return -ENODEV;
	distance = pci_p2pdma_distance(tdev->pdev, attach->dev, false);
	return distance < 0 ? -EOPNOTSUPP : 0;
}

/* An importer that cannot let go is not attached. */
static int trn_dmabuf_pin_hbm(struct dma_buf_attachment *attach)
{
	return -EOPNOTSUPP;
}

static void trn_dmabuf_unpin_hbm(struct dma_buf_attachment *attach)
{
}

static void trn_dmabuf_free_hbm_sgt(struct device *dev, struct sg_table *sgt,
				    enum dma_data_direction direction)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (sg_dma_len(sg))
			dma_unmap_resource(dev, sg_dma_address(sg), sg_dma_len(sg), direction,
					   DMA_ATTR_SKIP_CPU_SYNC);
	}
	sg_free_table(sgt);
	kfree(sgt);
}

static unsigned int trn_dmabuf_count_sg(const struct trn_bo *bo)
{
	unsigned int i, count = 0;

	for (i = 0; i < bo->num_extents; i++)
		count += DIV_ROUND_UP_ULL(bo->extents[i].size, TRN_DMABUF_SG_MAX);
	return count;
}

static struct sg_table *trn_dmabuf_map_aperture(struct trn_bo *bo, struct device *dev,
						enum dma_data_direction direction)
{
	struct trn_device *tdev = to_trn_device(bo->base.dev);
	phys_addr_t bar = pci_resource_start(tdev->pdev, TRN_BAR_HBM);
	const struct trn_extent *extent = bo->extents;
	struct scatterlist *sg;
	struct sg_table *sgt;
	unsigned int i;
	u64 done = 0;

	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	if (sg_alloc_table(sgt, trn_dmabuf_count_sg(bo), GFP_KERNEL)) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	for_each_sgtable_dma_sg(sgt, sg, i)
		sg_dma_len(sg) = 0;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		size_t size = min_t(u64, extent->size - done, TRN_DMABUF_SG_MAX);
		dma_addr_t address = dma_map_resource(dev, bar + extent->address + done, size,
						      direction, DMA_ATTR_SKIP_CPU_SYNC);

		if (dma_mapping_error(dev, address)) {
			trn_dmabuf_free_hbm_sgt(dev, sgt, direction);
			return ERR_PTR(-ENOMEM);
		}
		sg_set_page(sg, NULL, size, 0);
		sg_dma_address(sg) = address;
		sg_dma_len(sg) = size;
		done += size;
		if (done == extent->size) {
			extent++;
			done = 0;
		}
	}
	return sgt;
}

static struct sg_table *trn_dmabuf_map_hbm(struct dma_buf_attachment *attach,
					   enum dma_data_direction direction)
{
	struct trn_bo *bo = to_trn_bo(attach->dmabuf->priv);
	struct trn_device *tdev = to_trn_device(bo->base.dev);
	struct sg_table *sgt;
	int idx, ret;

	dma_resv_assert_held(bo->base.resv);

	/* trn_dmabuf_revoke_all() comes after the end of this section. */
	ret = trn_device_try_enter(tdev, &idx);
	if (ret)
		return ERR_PTR(ret);
	sgt = trn_dmabuf_map_aperture(bo, attach->dev, direction);
	if (!IS_ERR(sgt)) {
		bo->peer_mappings++;
		bo->exported = attach->dmabuf;
	}
	trn_device_exit(tdev, idx);
	return sgt;
}

static void trn_dmabuf_unmap_hbm(struct dma_buf_attachment *attach, struct sg_table *sgt,
				 enum dma_data_direction direction)
{
	struct trn_bo *bo = to_trn_bo(attach->dmabuf->priv);

	dma_resv_assert_held(bo->base.resv);

	trn_dmabuf_free_hbm_sgt(attach->dev, sgt, direction);
	if (!--bo->peer_mappings)
		wake_up_var(&bo->peer_mappings);
}

static int trn_dmabuf_end_cpu_access_hbm(struct dma_buf *dma_buf,
					 enum dma_data_direction direction)
{
	/* What was written through a write-combined mapping is seen by whoever reads HBM next. */
	wmb();
	return 0;
}

static const struct dma_buf_ops trn_dmabuf_hbm_ops = {
	.attach = trn_dmabuf_attach_hbm,
	.pin = trn_dmabuf_pin_hbm,
	.unpin = trn_dmabuf_unpin_hbm,
	.map_dma_buf = trn_dmabuf_map_hbm,
	.unmap_dma_buf = trn_dmabuf_unmap_hbm,
	.release = drm_gem_dmabuf_release,
	.end_cpu_access = trn_dmabuf_end_cpu_access_hbm,
	.mmap = drm_gem_dmabuf_mmap,
};

/* Imports do not come here: DRM gives the exporter's dma-buf away again. */
struct dma_buf *trn_dmabuf_export(struct drm_gem_object *obj, int flags)
{
	struct trn_bo *bo = to_trn_bo(obj);
	struct dma_buf_export_info info = {
		.exp_name = TRN_DRIVER_NAME,
		.owner = THIS_MODULE,
		.ops = bo->kind == TRN_BO_HBM ? &trn_dmabuf_hbm_ops : &trn_dmabuf_host_ops,
		.size = obj->size,
		.flags = flags,
		.priv = obj,
		.resv = obj->resv,
	};

	if (bo->kind == TRN_BO_USERPTR)
		return ERR_PTR(-EOPNOTSUPP);
	return drm_gem_dmabuf_export(obj->dev, &info);
}

/* What is left until @deadline; a wait without any looks once. */
static unsigned long trn_dmabuf_time_left(unsigned long deadline)
{
	return max_t(long, deadline - jiffies, 0);
}

/* No other device accesses @bo after this, and none maps it again; false if one does not let go. */
static bool trn_dmabuf_revoke(struct trn_bo *bo, unsigned long deadline)
{
	dma_resv_lock(bo->base.resv, NULL);
	if (bo->peer_mappings) {
		trn_dmabuf_invalidate(bo->exported);
		dma_resv_wait_timeout(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP, false,
				      trn_dmabuf_time_left(deadline));
	}
	dma_resv_unlock(bo->base.resv);
	return wait_var_event_timeout(&bo->peer_mappings, !READ_ONCE(bo->peer_mappings),
				      trn_dmabuf_time_left(deadline));
}

/* The chip is paused or gone: no call is in a section any more, and none begins one. */
void trn_dmabuf_revoke_all(struct trn_device *tdev)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(TRN_DMABUF_REVOKE_TIMEOUT_MS);
	unsigned int kept = 0;
	struct trn_bo *bo;

	mutex_lock(&tdev->bo_lock);
	list_for_each_entry(bo, &tdev->bos, link) {
		if (bo->kind == TRN_BO_HBM && !trn_dmabuf_revoke(bo, deadline))
			kept++;
	}
	mutex_unlock(&tdev->bo_lock);
	if (kept)
		drm_warn(&tdev->drm, "another device did not let go of %u HBM objects in %u ms\n",
			 kept, TRN_DMABUF_REVOKE_TIMEOUT_MS);
}

static bool trn_dmabuf_is_own(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = dma_buf->priv;

	if (dma_buf->ops != &trn_dmabuf_host_ops && dma_buf->ops != &trn_dmabuf_hbm_ops)
		return false;
	return obj->dev == drm;
}

/* @bo->sgt is the exporter's, mapped for the chip. */
static int trn_dmabuf_check_sgt(const struct trn_bo *bo)
{
	struct scatterlist *sg;
	unsigned int i;
	u64 size = 0;

	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		if (!PAGE_ALIGNED(sg_dma_address(sg)) || !PAGE_ALIGNED(sg_dma_len(sg)))
			return -EINVAL;
		size += sg_dma_len(sg);
	}
	return size < bo->base.size ? -EINVAL : 0;
}

static int trn_dmabuf_init_import(struct trn_device *tdev, struct trn_bo *bo)
{
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
	int ret;

	attach = dma_buf_attach(bo->imported, &tdev->pdev->dev);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	bo->base.import_attach = attach;
	bo->mapped = true;
	sgt = dma_buf_map_attachment_unlocked(attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	bo->sgt = sgt;
	ret = trn_dmabuf_check_sgt(bo);
	if (ret)
		return ret;
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret)
		return ret;
	return trn_host_set_extents(tdev, bo);
}

static struct drm_gem_object *trn_dmabuf_import_foreign(struct trn_device *tdev,
							struct dma_buf *dma_buf)
{
	struct trn_bo *bo;
	int ret;

	if (!dma_buf->size || !PAGE_ALIGNED(dma_buf->size))
		return ERR_PTR(-EINVAL);
	bo = trn_gem_alloc(TRN_BO_IMPORT, NULL);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	get_dma_buf(dma_buf);
	bo->imported = dma_buf;
	bo->base.resv = dma_buf->resv;
	drm_gem_private_object_init(&tdev->drm, &bo->base, dma_buf->size);
	ret = trn_dmabuf_init_import(tdev, bo);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	trn_gem_publish(bo);
	return &bo->base;
}

struct drm_gem_object *trn_dmabuf_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_gem_object *obj;
	int idx, ret;

	ret = trn_device_enter(tdev, &idx);
	if (ret)
		return ERR_PTR(ret);
	if (trn_dmabuf_is_own(drm, dma_buf)) {
		obj = dma_buf->priv;
		drm_gem_object_get(obj);
	} else {
		obj = trn_dmabuf_import_foreign(tdev, dma_buf);
	}
	trn_device_exit(tdev, idx);
	return obj;
}

/* The chip does not use @bo any more: neither does it hold the exporter to anything. */
void trn_dmabuf_unmap(struct trn_bo *bo)
{
	if (bo->sgt)
		dma_buf_unmap_attachment_unlocked(bo->base.import_attach, bo->sgt,
						  DMA_BIDIRECTIONAL);
	dma_buf_detach(bo->imported, bo->base.import_attach);
	bo->base.import_attach = NULL;
}

void trn_dmabuf_release_import(struct trn_bo *bo)
{
	dma_buf_put(bo->imported);
}
