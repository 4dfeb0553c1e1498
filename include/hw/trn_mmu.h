/* SPDX-License-Identifier: MIT */
/*
 * trn device architecture: address translation.
 *
 * Normative text: Documentation/device.rst, chapter "Address translation".
 * Four levels of 512 eight-byte entries in host memory; virtual address bits
 * 47:39, 38:30, 29:21, 20:12 index levels 3, 2, 1, 0.
 */
#ifndef _HW_TRN_MMU_H
#define _HW_TRN_MMU_H

#include <linux/types.h>

#define TRN_VA_BITS			48
#define TRN_PAGE_SHIFT			12
#define TRN_PAGE_SIZE			(1ULL << TRN_PAGE_SHIFT)
#define TRN_PT_LEVELS			4
#define TRN_PT_INDEX_BITS		9
#define TRN_PT_ENTRIES			(1U << TRN_PT_INDEX_BITS)
#define TRN_PT_SIZE			4096
#define TRN_PT_SHIFT(level)		(TRN_PAGE_SHIFT + TRN_PT_INDEX_BITS * (level))
#define TRN_PT_LEAF_LEVEL_MAX		2	/* leaves: 4 KiB, 2 MiB, 1 GiB at levels 0, 1, 2 */

/* Entry of a table.  VALID clear: the rest is ignored.  LEAF clear: ADDRESS is
 * the host DMA address of the next level's table and all other bits are 0.
 */
#define TRN_PTE_VALID			(1ULL << 0)
#define TRN_PTE_LEAF			(1ULL << 1)
#define TRN_PTE_READ			(1ULL << 2)
#define TRN_PTE_WRITE			(1ULL << 3)
#define TRN_PTE_TARGET_SHIFT		4
#define TRN_PTE_TARGET_MASK		(3ULL << TRN_PTE_TARGET_SHIFT)
#define   TRN_PTE_TARGET_HBM		(0ULL << TRN_PTE_TARGET_SHIFT)
#define   TRN_PTE_TARGET_HOST		(1ULL << TRN_PTE_TARGET_SHIFT)
#define TRN_PTE_ADDRESS_MASK		0x000ffffffffff000ULL

#endif /* _HW_TRN_MMU_H */
