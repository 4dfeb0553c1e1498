/* SPDX-License-Identifier: MIT */
/*
 * Address translation: contexts, the walk of their page tables, and the TLB.
 *
 * Nothing outside this file keeps a translation: callers translate, access and
 * forget within one step of the chip.  An invalidate that runs in a step of its
 * own therefore finds no access in progress by an earlier translation.
 */
#ifndef TRN_VDEV_TRANSLATE_H
#define TRN_VDEV_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hw/trn_admin.h>
#include <hw/trn_mmu.h>

struct trn_chip;

struct trn_context {
	bool exists;
	unsigned int users; /* queues that name it, once for each name */
	uint64_t root;	    /* host DMA address of the level 3 table */
};

/*
 * One TLB block caches what is known about the 2 MiB that one level 0 table
 * maps: where that table is, and those of its entries that were used.
 */
#define TRN_TLB_SETS	 64
#define TRN_TLB_WAYS	 4
#define TRN_TLB_NO_TABLE UINT64_MAX

struct trn_tlb_block {
	bool in_use;
	uint16_t asid;
	uint64_t region;		/* virtual address >> 21 */
	uint64_t table;			/* host DMA address, or TRN_TLB_NO_TABLE */
	uint64_t entry[TRN_PT_ENTRIES]; /* valid leaves; 0 = not cached */
};

struct trn_tlb {
	struct trn_tlb_block block[TRN_TLB_SETS][TRN_TLB_WAYS];
	uint8_t victim[TRN_TLB_SETS];
};

/* Why an access failed, as an event reports it. */
struct trn_fault {
	uint8_t reason; /* TRN_STOP_FAULT_* */
	uint8_t access; /* TRN_ACCESS_* */
	uint16_t asid;
	uint64_t address;
};

/* Fills *fault; returns false so that a caller can return it. */
bool trn_fault(struct trn_fault *fault, uint8_t reason, uint16_t asid, uint64_t va, uint8_t access);

/* Physically contiguous memory. */
struct trn_extent {
	bool hbm; /* address in HBM, else host DMA address */
	uint64_t address;
	size_t length;
};

/* Forgets translations of asid for [va, va + length). */
void trn_tlb_invalidate(struct trn_tlb *tlb, uint16_t asid, uint64_t va, uint64_t length);
/* Forgets all translations of asid. */
void trn_tlb_invalidate_asid(struct trn_tlb *tlb, uint16_t asid);
/* Forgets everything. */
void trn_tlb_clear(struct trn_tlb *tlb);

/* Is all of [va, va + length) within the virtual address space?  length > 0. */
bool trn_range_check(uint16_t asid, uint64_t va, uint64_t length, uint8_t access,
		     struct trn_fault *fault);

/*
 * Translates va and as much of the length bytes behind it as is physically
 * contiguous.  False with *fault set when the byte at va cannot be accessed.
 */
bool trn_translate(struct trn_chip *chip, uint16_t asid, uint64_t va, size_t length, uint8_t access,
		   struct trn_extent *extent, struct trn_fault *fault);

#endif /* TRN_VDEV_TRANSLATE_H */
