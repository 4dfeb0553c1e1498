// SPDX-License-Identifier: GPL-2.0-only
#include <linux/dma-buf.h>

bool probe(struct dma_buf *dma_buf, struct dma_buf_attachment *attach);
bool probe(struct dma_buf *dma_buf, struct dma_buf_attachment *attach)
{
	dma_buf_invalidate_mappings(dma_buf);
	return dma_buf_attach_revocable(attach);
}
