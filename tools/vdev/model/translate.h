/* SPDX-License-Identifier: MIT */
/*
 * Address translation: contexts and the walk of their page tables.
 *
 * Nothing but the TLB keeps a translation: callers translate, access and
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

/* Is all of [va, va + length) within the virtual address space?  length > 0. */
bool trn_range_check(uint16_t asid, uint64_t va, uint64_t length, uint8_t access,
		     struct trn_fault *fault);

/*
 * Translates va and what is physically contiguous behind it: small leaves as far
 * as length bytes reach into them, a large leaf to its end, so the extent may
 * be longer than length.  False with *fault set when the byte at va cannot be accessed.
 */
bool trn_translate(struct trn_chip *chip, uint16_t asid, uint64_t va, size_t length, uint8_t access,
		   struct trn_extent *extent, struct trn_fault *fault);

#endif /* TRN_VDEV_TRANSLATE_H */
