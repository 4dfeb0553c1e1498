// SPDX-License-Identifier: MIT
#include "tlb.h"

#include <string.h>

#define REGION_SHIFT TRN_PT_SHIFT(1)
#define REGION_SIZE  (1ULL << REGION_SHIFT)

static unsigned int set_of(uint16_t asid, uint64_t page)
{
	/* Fibonacci hashing: neighbouring pages and equal pages of two contexts spread. */
	return ((page ^ (uint64_t)asid << 27) * 0x9e3779b97f4a7c15ULL) >> (64 - TRN_TLB_SET_BITS);
}

struct trn_tlb_block *trn_tlb_find_block(struct trn_tlb *tlb, uint16_t asid, uint64_t va)
{
	uint64_t region = va >> REGION_SHIFT;
	struct trn_tlb_block *set = tlb->block[set_of(asid, region)];

	for (unsigned int way = 0; way < TRN_TLB_WAYS; way++) {
		if (set[way].region == region && set[way].asid == asid && set[way].in_use)
			return &set[way];
	}
	return NULL;
}

static const struct trn_tlb_large *find_level(const struct trn_tlb *tlb, uint16_t asid, uint64_t va,
					      unsigned int level)
{
	uint64_t page = va >> TRN_PT_SHIFT(level);
	const struct trn_tlb_large *set = tlb->large[set_of(asid, page)];

	for (unsigned int way = 0; way < TRN_TLB_WAYS; way++) {
		if (set[way].page == page && set[way].asid == asid && set[way].level == level &&
		    set[way].entry)
			return &set[way];
	}
	return NULL;
}

const struct trn_tlb_large *trn_tlb_find_large(const struct trn_tlb *tlb, uint16_t asid,
					       uint64_t va)
{
	for (unsigned int level = 1; level <= TRN_PT_LEAF_LEVEL_MAX; level++) {
		const struct trn_tlb_large *large = find_level(tlb, asid, va, level);

		if (large)
			return large;
	}
	return NULL;
}

struct trn_tlb_block *trn_tlb_add_block(struct trn_tlb *tlb, uint16_t asid, uint64_t va)
{
	uint64_t region = va >> REGION_SHIFT;
	unsigned int set = set_of(asid, region), way = 0;
	struct trn_tlb_block *block;

	while (way < TRN_TLB_WAYS && tlb->block[set][way].in_use)
		way++;
	if (way == TRN_TLB_WAYS)
		way = tlb->block_victim[set]++ % TRN_TLB_WAYS;
	block = &tlb->block[set][way];
	block->in_use = true;
	block->asid = asid;
	block->region = region;
	block->table = TRN_TLB_NO_TABLE;
	memset(block->entry, 0, sizeof(block->entry));
	return block;
}

void trn_tlb_add_large(struct trn_tlb *tlb, uint16_t asid, uint64_t va, unsigned int level,
		       uint64_t entry)
{
	uint64_t page = va >> TRN_PT_SHIFT(level);
	unsigned int set = set_of(asid, page), way = 0;

	while (way < TRN_TLB_WAYS && tlb->large[set][way].entry)
		way++;
	if (way == TRN_TLB_WAYS)
		way = tlb->large_victim[set]++ % TRN_TLB_WAYS;
	tlb->large[set][way] = (struct trn_tlb_large){
		.entry = entry,
		.page = page,
		.asid = asid,
		.level = level,
	};
}

static bool overlap(uint64_t start, uint64_t size, uint64_t va, uint64_t end)
{
	return start < end && va < start + size;
}

static void block_invalidate(struct trn_tlb_block *block, uint64_t va, uint64_t end)
{
	uint64_t start = block->region << REGION_SHIFT;
	uint64_t first, last;

	if (!overlap(start, REGION_SIZE, va, end))
		return;
	first = va > start ? (va - start) >> TRN_PAGE_SHIFT : 0;
	last = end < start + REGION_SIZE ? (end - start - 1) >> TRN_PAGE_SHIFT : TRN_PT_ENTRIES - 1;
	memset(&block->entry[first], 0, (last - first + 1) * sizeof(block->entry[0]));
	/* The entry that leads to the table translates the range too. */
	block->table = TRN_TLB_NO_TABLE;
}

static void large_invalidate(struct trn_tlb_large *large, uint64_t va, uint64_t end)
{
	unsigned int shift = TRN_PT_SHIFT(large->level);

	if (overlap(large->page << shift, 1ULL << shift, va, end))
		large->entry = 0;
}

void trn_tlb_invalidate(struct trn_tlb *tlb, uint16_t asid, uint64_t va, uint64_t length)
{
	for (unsigned int set = 0; set < TRN_TLB_SETS; set++) {
		for (unsigned int way = 0; way < TRN_TLB_WAYS; way++) {
			struct trn_tlb_block *block = &tlb->block[set][way];
			struct trn_tlb_large *large = &tlb->large[set][way];

			if (block->in_use && block->asid == asid)
				block_invalidate(block, va, va + length);
			if (large->entry && large->asid == asid)
				large_invalidate(large, va, va + length);
		}
	}
}

void trn_tlb_invalidate_asid(struct trn_tlb *tlb, uint16_t asid)
{
	for (unsigned int set = 0; set < TRN_TLB_SETS; set++) {
		for (unsigned int way = 0; way < TRN_TLB_WAYS; way++) {
			if (tlb->block[set][way].asid == asid)
				tlb->block[set][way].in_use = false;
			if (tlb->large[set][way].asid == asid)
				tlb->large[set][way].entry = 0;
		}
	}
}

void trn_tlb_clear(struct trn_tlb *tlb)
{
	for (unsigned int set = 0; set < TRN_TLB_SETS; set++) {
		for (unsigned int way = 0; way < TRN_TLB_WAYS; way++) {
			tlb->block[set][way].in_use = false;
			tlb->large[set][way].entry = 0;
		}
	}
}
