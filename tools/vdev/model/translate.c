// SPDX-License-Identifier: MIT
#include "translate.h"

#include <errno.h>
#include <string.h>

#include "shared.h"
#include "state.h"

#define VA_END	     (1ULL << TRN_VA_BITS)
#define REGION_SHIFT TRN_PT_SHIFT(1)
#define REGION_SIZE  (1ULL << REGION_SHIFT)

static unsigned int tlb_set(uint16_t asid, uint64_t region)
{
	/* Fibonacci hashing: neighbouring regions and equal regions of two contexts spread. */
	return ((region ^ (uint64_t)asid << 27) * 0x9e3779b97f4a7c15ULL) >> 58;
}
_Static_assert(TRN_TLB_SETS == 1 << (64 - 58), "tlb_set() covers the sets");

static void block_init(struct trn_tlb_block *block, uint16_t asid, uint64_t region)
{
	block->in_use = true;
	block->asid = asid;
	block->region = region;
	block->table = TRN_TLB_NO_TABLE;
	memset(block->entry, 0, sizeof(block->entry));
}

/* The block of a region; replaces another one when there is none. */
static struct trn_tlb_block *tlb_block(struct trn_tlb *tlb, uint16_t asid, uint64_t region)
{
	unsigned int set = tlb_set(asid, region);
	struct trn_tlb_block *block, *unused = NULL;

	for (unsigned int way = 0; way < TRN_TLB_WAYS; way++) {
		block = &tlb->block[set][way];
		if (!block->in_use)
			unused = block;
		else if (block->asid == asid && block->region == region)
			return block;
	}
	if (unused)
		block = unused;
	else
		block = &tlb->block[set][tlb->victim[set]++ % TRN_TLB_WAYS];
	block_init(block, asid, region);
	return block;
}

static void block_invalidate(struct trn_tlb_block *block, uint64_t va, uint64_t end)
{
	uint64_t start = block->region << REGION_SHIFT;
	uint64_t first, last;

	if (end <= start || va >= start + REGION_SIZE)
		return;
	first = va > start ? (va - start) >> TRN_PAGE_SHIFT : 0;
	last = end < start + REGION_SIZE ? (end - start - 1) >> TRN_PAGE_SHIFT : TRN_PT_ENTRIES - 1;
	memset(&block->entry[first], 0, (last - first + 1) * sizeof(block->entry[0]));
	/* The upper levels translate the range too. */
	block->table = TRN_TLB_NO_TABLE;
}

void trn_tlb_invalidate(struct trn_tlb *tlb, uint16_t asid, uint64_t va, uint64_t length)
{
	for (unsigned int set = 0; set < TRN_TLB_SETS; set++) {
		for (unsigned int way = 0; way < TRN_TLB_WAYS; way++) {
			struct trn_tlb_block *block = &tlb->block[set][way];

			if (block->in_use && block->asid == asid)
				block_invalidate(block, va, va + length);
		}
	}
}

void trn_tlb_invalidate_asid(struct trn_tlb *tlb, uint16_t asid)
{
	for (unsigned int set = 0; set < TRN_TLB_SETS; set++) {
		for (unsigned int way = 0; way < TRN_TLB_WAYS; way++) {
			struct trn_tlb_block *block = &tlb->block[set][way];

			if (block->asid == asid)
				block->in_use = false;
		}
	}
}

void trn_tlb_clear(struct trn_tlb *tlb)
{
	for (unsigned int set = 0; set < TRN_TLB_SETS; set++) {
		for (unsigned int way = 0; way < TRN_TLB_WAYS; way++)
			tlb->block[set][way].in_use = false;
	}
}

/*
 * Loads count neighbouring entries of a table.  Returns how many there are
 * behind the host mapping that holds the first one; 0 when it cannot be read.
 */
static unsigned int load_entries(struct trn_chip *chip, uint64_t dma, uint64_t *entry,
				 unsigned int count)
{
	struct trn_host_map map;
	int err;

	err = chip->ops->map(chip->host, dma, count * sizeof(*entry), false, &map);
	if (err == -EOPNOTSUPP) {
		__le64 raw;

		if (chip->ops->read(chip->host, dma, &raw, sizeof(raw)))
			return 0;
		*entry = le64toh(raw);
		return 1;
	}
	if (err)
		return 0;
	if (count > map.length / sizeof(*entry))
		count = map.length / sizeof(*entry);
	for (unsigned int i = 0; i < count; i++)
		entry[i] = trn_load64((const __le64 *)map.address + i);
	chip->ops->unmap(chip->host, &map);
	return count;
}

static uint8_t check_table(uint64_t entry)
{
	if (!(entry & TRN_PTE_VALID))
		return TRN_STOP_FAULT_UNMAPPED;
	if (entry & ~(TRN_PTE_VALID | TRN_PTE_ADDRESS_MASK))
		return TRN_STOP_FAULT_ENTRY;
	return 0;
}

static uint8_t check_leaf(const struct trn_chip *chip, uint64_t entry)
{
	const uint64_t known = TRN_PTE_VALID | TRN_PTE_LEAF | TRN_PTE_READ | TRN_PTE_WRITE |
			       TRN_PTE_TARGET_MASK | TRN_PTE_ADDRESS_MASK;

	if (!(entry & TRN_PTE_VALID))
		return TRN_STOP_FAULT_UNMAPPED;
	if ((entry & ~known) || !(entry & TRN_PTE_LEAF) ||
	    !(entry & (TRN_PTE_READ | TRN_PTE_WRITE)))
		return TRN_STOP_FAULT_ENTRY;
	switch (entry & TRN_PTE_TARGET_MASK) {
	case TRN_PTE_TARGET_HBM:
		return (entry & TRN_PTE_ADDRESS_MASK) < chip->hbm.size ? 0 : TRN_STOP_FAULT_ENTRY;
	case TRN_PTE_TARGET_HOST:
		return 0;
	default:
		return TRN_STOP_FAULT_ENTRY;
	}
}

/* Finds the level 0 table of a region.  0 or TRN_STOP_FAULT_*. */
static uint8_t walk(struct trn_chip *chip, uint16_t asid, uint64_t va, uint64_t *table)
{
	uint64_t address = chip->context[asid].root;
	uint64_t entry;
	uint8_t reason;

	for (unsigned int level = TRN_PT_LEVELS - 1; level > 0; level--) {
		unsigned int index = va >> TRN_PT_SHIFT(level) & (TRN_PT_ENTRIES - 1);

		if (!load_entries(chip, address + index * sizeof(entry), &entry, 1))
			return TRN_STOP_FAULT_TABLE;
		reason = check_table(entry);
		if (reason)
			return reason;
		address = entry & TRN_PTE_ADDRESS_MASK;
	}
	*table = address;
	return 0;
}

/*
 * Caches the leaf of va and those of count - 1 pages behind it, as far as they
 * are good.  Returns why the first one is not, or 0.
 */
static uint8_t fill(struct trn_chip *chip, struct trn_tlb_block *block, uint64_t va,
		    unsigned int first, unsigned int count)
{
	uint64_t entry[TRN_PT_ENTRIES];
	uint8_t reason;

	if (block->table == TRN_TLB_NO_TABLE) {
		reason = walk(chip, block->asid, va, &block->table);
		if (reason)
			return reason;
	}
	count = load_entries(chip, block->table + first * sizeof(entry[0]), entry, count);
	if (!count)
		return TRN_STOP_FAULT_TABLE;
	reason = check_leaf(chip, entry[0]);
	if (reason)
		return reason;
	block->entry[first] = entry[0];
	for (unsigned int i = 1; i < count && !check_leaf(chip, entry[i]); i++) {
		/* What is cached stays until it is invalidated. */
		if (!block->entry[first + i])
			block->entry[first + i] = entry[i];
	}
	return 0;
}

bool trn_fault(struct trn_fault *fault, uint8_t reason, uint16_t asid, uint64_t va, uint8_t access)
{
	*fault = (struct trn_fault){
		.reason = reason,
		.access = access,
		.asid = asid,
		.address = va,
	};
	return false;
}

bool trn_range_check(uint16_t asid, uint64_t va, uint64_t length, uint8_t access,
		     struct trn_fault *fault)
{
	if (va >= VA_END)
		return trn_fault(fault, TRN_STOP_FAULT_RANGE, asid, va, access);
	if (length > VA_END - va)
		return trn_fault(fault, TRN_STOP_FAULT_RANGE, asid, VA_END, access);
	return true;
}

bool trn_translate(struct trn_chip *chip, uint16_t asid, uint64_t va, size_t length, uint8_t access,
		   struct trn_extent *extent, struct trn_fault *fault)
{
	const uint64_t permission = access == TRN_ACCESS_WRITE ? TRN_PTE_WRITE : TRN_PTE_READ;
	unsigned int first = va >> TRN_PAGE_SHIFT & (TRN_PT_ENTRIES - 1);
	size_t offset = va & (TRN_PAGE_SIZE - 1);
	struct trn_tlb_block *block;
	unsigned int pages, i;
	uint64_t entry;
	uint8_t reason;

	if (!trn_range_check(asid, va, length, access, fault))
		return false;

	pages = TRN_PT_ENTRIES - first;
	if (length < pages * TRN_PAGE_SIZE - offset)
		pages = (offset + length + TRN_PAGE_SIZE - 1) >> TRN_PAGE_SHIFT;

	block = tlb_block(&chip->tlb, asid, va >> REGION_SHIFT);
	entry = block->entry[first];
	if (!entry) {
		reason = fill(chip, block, va, first, pages);
		if (reason)
			return trn_fault(fault, reason, asid, va, access);
		entry = block->entry[first];
	}
	if (!(entry & permission))
		return trn_fault(fault, TRN_STOP_FAULT_PERMISSION, asid, va, access);

	/* Entries of contiguous pages with equal rights differ by the page number alone. */
	for (i = 1; i < pages; i++) {
		if (!block->entry[first + i] && fill(chip, block, va, first + i, pages - i))
			break;
		if (block->entry[first + i] != entry + i * TRN_PAGE_SIZE)
			break;
	}
	extent->hbm = (entry & TRN_PTE_TARGET_MASK) == TRN_PTE_TARGET_HBM;
	extent->address = (entry & TRN_PTE_ADDRESS_MASK) + offset;
	extent->length = i * TRN_PAGE_SIZE - offset;
	if (extent->length > length)
		extent->length = length;
	return true;
}
