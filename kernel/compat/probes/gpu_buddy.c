// SPDX-License-Identifier: GPL-2.0-only
#include <linux/gpu_buddy.h>

int probe(struct gpu_buddy *mm, struct list_head *blocks);
int probe(struct gpu_buddy *mm, struct list_head *blocks)
{
	return gpu_buddy_alloc_blocks(mm, 0, mm->size, mm->chunk_size, mm->chunk_size, blocks, 0);
}
