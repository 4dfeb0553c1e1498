/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_DMA_H
#define _TRN_DMA_H

#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/pci.h>

/*
 * Would CPU and chip have to take turns with this page-aligned mapping, by
 * dma_sync_*()?  Memory in which they poll each other's words must not.
 *
 * With CONFIG_DMA_API_DEBUG dma_need_sync() says yes for every device behind an
 * IOMMU; there only an untrusted or a non-coherent device really needs it.
 */
static inline bool trn_dma_needs_sync(struct pci_dev *pdev, dma_addr_t address)
{
	struct device *dev = &pdev->dev;

	if (IS_ENABLED(CONFIG_DMA_API_DEBUG) && device_iommu_mapped(dev))
		return pdev->untrusted || !dev_is_dma_coherent(dev);
	return dma_need_sync(dev, address);
}

#endif /* _TRN_DMA_H */
