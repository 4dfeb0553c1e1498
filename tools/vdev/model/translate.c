// SPDX-License-Identifier: MIT
#include "translate.h"

#include <errno.h>
#include <string.h>

#include "shared.h"
#include "state.h"

#define VA_END (1ULL << TRN_VA_BITS)

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

static uint8_t check_leaf(const struct trn_chip *chip, uint64_t entry, unsigned int level)
{
	const uint64_t known = TRN_PTE_VALID | TRN_PTE_LEAF | TRN_PTE_READ | TRN_PTE_WRITE |
			       TRN_PTE_TARGET_MASK | TRN_PTE_ADDRESS_MASK;
	const uint64_t size = 1ULL << TRN_PT_SHIFT(level);
	const uint64_t address = entry & TRN_PTE_ADDRESS_MASK;

	if (!(entry & TRN_PTE_VALID))
		return TRN_STOP_FAULT_UNMAPPED;
	if ((entry & ~known) || !(entry & TRN_PTE_LEAF) ||
	    !(entry & (TRN_PTE_READ | TRN_PTE_WRITE)) || !(chip->config.page_sizes & size) ||
	    (address & (size - 1)))
		return TRN_STOP_FAULT_ENTRY;
	switch (entry & TRN_PTE_TARGET_MASK) {
	case TRN_PTE_TARGET_HBM:
		return address < chip->hbm.size ? 0 : TRN_STOP_FAULT_ENTRY;
	case TRN_PTE_TARGET_HOST:
		return 0;
	default:
		return TRN_STOP_FAULT_ENTRY;
	}
}

/*
 * Walks down to what translates va: a large leaf, *level and *entry, or a level 0
 * table, *level 0 and *entry its address.  0 or TRN_STOP_FAULT_*.
 */
static uint8_t walk(struct trn_chip *chip, uint16_t asid, uint64_t va, unsigned int *level,
		    uint64_t *entry)
{
	uint64_t table = chip->context[asid].root;
	uint8_t reason;

	for (*level = TRN_PT_LEVELS - 1; *level > 0; --*level) {
		unsigned int index = va >> TRN_PT_SHIFT(*level) & (TRN_PT_ENTRIES - 1);

		if (!load_entries(chip, table + index * sizeof(*entry), entry, 1))
			return TRN_STOP_FAULT_TABLE;
		if ((*entry & TRN_PTE_VALID) && (*entry & TRN_PTE_LEAF))
			return check_leaf(chip, *entry, *level);
		reason = check_table(*entry);
		if (reason)
			return reason;
		table = *entry & TRN_PTE_ADDRESS_MASK;
	}
	*entry = table;
	return 0;
}

/*
 * Caches the leaf at index first of a block's table, and those of count - 1 pages
 * behind it as far as they are good.  Returns why the first one is not, or 0.
 */
static uint8_t fill(struct trn_chip *chip, struct trn_tlb_block *block, unsigned int first,
		    unsigned int count)
{
	uint64_t entry[TRN_PT_ENTRIES];
	uint8_t reason;

	count = load_entries(chip, block->table + first * sizeof(entry[0]), entry, count);
	if (!count)
		return TRN_STOP_FAULT_TABLE;
	reason = check_leaf(chip, entry[0], 0);
	if (reason)
		return reason;
	block->entry[first] = entry[0];
	for (unsigned int i = 1; i < count && !check_leaf(chip, entry[i], 0); i++) {
		/* What is cached stays until it is invalidated. */
		if (!block->entry[first + i])
			block->entry[first + i] = entry[i];
	}
	return 0;
}

/* The leaf that translates an address. */
struct leaf {
	unsigned int level;
	uint64_t entry;
	struct trn_tlb_block *block; /* level 0 only */
};

static unsigned int index_in_block(uint64_t va)
{
	return va >> TRN_PAGE_SHIFT & (TRN_PT_ENTRIES - 1);
}

/* Finds va's leaf, in the tables if the TLB lacks it; pages are wanted from va on. */
static uint8_t find_leaf(struct trn_chip *chip, uint16_t asid, uint64_t va, unsigned int pages,
			 struct leaf *leaf)
{
	const struct trn_tlb_large *large = trn_tlb_find_large(&chip->tlb, asid, va);
	unsigned int first = index_in_block(va);
	struct trn_tlb_block *block;
	uint8_t reason;

	if (large) {
		*leaf = (struct leaf){ .level = large->level, .entry = large->entry };
		return 0;
	}
	block = trn_tlb_find_block(&chip->tlb, asid, va);
	if (!block || (!block->entry[first] && block->table == TRN_TLB_NO_TABLE)) {
		reason = walk(chip, asid, va, &leaf->level, &leaf->entry);
		if (reason)
			return reason;
		if (leaf->level) {
			trn_tlb_add_large(&chip->tlb, asid, va, leaf->level, leaf->entry);
			return 0;
		}
		if (!block)
			block = trn_tlb_add_block(&chip->tlb, asid, va);
		block->table = leaf->entry;
	}
	if (!block->entry[first]) {
		reason = fill(chip, block, first, pages);
		if (reason)
			return reason;
	}
	*leaf = (struct leaf){ .entry = block->entry[first], .block = block };
	return 0;
}

/* How many of the pages from va on are contiguous and have equal rights. */
static unsigned int contiguous(struct trn_chip *chip, const struct leaf *leaf, uint64_t va,
			       unsigned int pages)
{
	struct trn_tlb_block *block = leaf->block;
	unsigned int first = index_in_block(va), i;

	for (i = 1; i < pages; i++) {
		if (!block->entry[first + i] &&
		    (block->table == TRN_TLB_NO_TABLE || fill(chip, block, first + i, pages - i)))
			break;
		/* Entries of such pages differ by the page number alone. */
		if (block->entry[first + i] != leaf->entry + i * TRN_PAGE_SIZE)
			break;
	}
	return i;
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

/* How many pages of va's block length bytes from va on touch. */
static unsigned int pages_touched(uint64_t va, size_t length)
{
	unsigned int pages = TRN_PT_ENTRIES - index_in_block(va);
	size_t offset = va & (TRN_PAGE_SIZE - 1);

	if (length < pages * TRN_PAGE_SIZE - offset)
		pages = (offset + length + TRN_PAGE_SIZE - 1) >> TRN_PAGE_SHIFT;
	return pages;
}

bool trn_translate(struct trn_chip *chip, uint16_t asid, uint64_t va, size_t length, uint8_t access,
		   struct trn_extent *extent, struct trn_fault *fault)
{
	const uint64_t permission = access == TRN_ACCESS_WRITE ? TRN_PTE_WRITE : TRN_PTE_READ;
	unsigned int pages = pages_touched(va, length);
	uint64_t size, offset;
	struct leaf leaf;
	uint8_t reason;

	if (!trn_range_check(asid, va, length, access, fault))
		return false;
	reason = find_leaf(chip, asid, va, pages, &leaf);
	if (reason)
		return trn_fault(fault, reason, asid, va, access);
	if (!(leaf.entry & permission))
		return trn_fault(fault, TRN_STOP_FAULT_PERMISSION, asid, va, access);

	size = 1ULL << TRN_PT_SHIFT(leaf.level);
	offset = va & (size - 1);
	if (leaf.level == 0)
		size *= contiguous(chip, &leaf, va, pages);
	extent->hbm = (leaf.entry & TRN_PTE_TARGET_MASK) == TRN_PTE_TARGET_HBM;
	extent->address = (leaf.entry & TRN_PTE_ADDRESS_MASK) + offset;
	extent->length = size - offset;
	if (!extent->hbm)
		return true;
	/* A large leaf may begin in HBM and end beyond it. */
	if (extent->address >= chip->hbm.size)
		return trn_fault(fault, TRN_STOP_FAULT_ENTRY, asid, va, access);
	if (extent->length > chip->hbm.size - extent->address)
		extent->length = chip->hbm.size - extent->address;
	return true;
}
