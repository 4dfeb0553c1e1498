/* SPDX-License-Identifier: MIT */
/*
 * The TLB: valid entries of page tables that the chip has read, until software
 * invalidates them.  Of a fixed size; a full set gives up its entries in turn.
 */
#ifndef TRN_VDEV_TLB_H
#define TRN_VDEV_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include <hw/trn_mmu.h>

#define TRN_TLB_SET_BITS 6
#define TRN_TLB_SETS	 (1U << TRN_TLB_SET_BITS)
#define TRN_TLB_WAYS	 4
#define TRN_TLB_NO_TABLE UINT64_MAX

/*
 * Leaves of 4 KiB are neighbours in their table and mostly in use too, so a block
 * caches what is known about the 2 MiB that one level 0 table maps: where that
 * table is, and those of its entries that were used.
 */
struct trn_tlb_block {
	bool in_use;
	uint16_t asid;
	uint64_t region;		/* virtual address >> 21 */
	uint64_t table;			/* host DMA address, or TRN_TLB_NO_TABLE */
	uint64_t entry[TRN_PT_ENTRIES]; /* valid leaves; 0 = not cached */
};

/* A leaf of 2 MiB or 1 GiB. */
struct trn_tlb_large {
	uint64_t entry; /* 0: not in use */
	uint64_t page;	/* virtual address >> TRN_PT_SHIFT(level) */
	uint16_t asid;
	uint8_t level; /* 1 or 2 */
};

struct trn_tlb {
	struct trn_tlb_block block[TRN_TLB_SETS][TRN_TLB_WAYS];
	struct trn_tlb_large large[TRN_TLB_SETS][TRN_TLB_WAYS];
	uint8_t block_victim[TRN_TLB_SETS];
	uint8_t large_victim[TRN_TLB_SETS];
};

/* What is cached for va; NULL = nothing. */
struct trn_tlb_block *trn_tlb_find_block(struct trn_tlb *tlb, uint16_t asid, uint64_t va);
const struct trn_tlb_large *trn_tlb_find_large(const struct trn_tlb *tlb, uint16_t asid,
					       uint64_t va);

/* Makes an empty block of va, which has none. */
struct trn_tlb_block *trn_tlb_add_block(struct trn_tlb *tlb, uint16_t asid, uint64_t va);
/* Caches a large leaf of va, which has none of this level. */
void trn_tlb_add_large(struct trn_tlb *tlb, uint16_t asid, uint64_t va, unsigned int level,
		       uint64_t entry);

/* Forgets all entries of asid that translate a part of [va, va + length). */
void trn_tlb_invalidate(struct trn_tlb *tlb, uint16_t asid, uint64_t va, uint64_t length);
/* Forgets all entries of asid. */
void trn_tlb_invalidate_asid(struct trn_tlb *tlb, uint16_t asid);
/* Forgets everything. */
void trn_tlb_clear(struct trn_tlb *tlb);

#endif /* TRN_VDEV_TLB_H */
