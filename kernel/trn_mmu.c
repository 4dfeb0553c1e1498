// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-table builder.  Knows nothing of devices, locks or objects: it writes
 * entries into tables that an allocator gives.
 *
 * Mapping is split into a part that allocates (trn_mmu_prepare()) and one that
 * cannot fail (trn_mmu_map()), so that no half-made mapping ever has to be taken
 * back from a chip that may have cached its tables.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "trn_mmu.h"

static unsigned int trn_mmu_index(u64 va, int level)
{
	return (va >> TRN_PT_SHIFT(level)) % TRN_PT_ENTRIES;
}

/* End of the part of [va, end) that one entry of a table at @level translates. */
static u64 trn_mmu_entry_end(u64 va, u64 end, int level)
{
	return min(end, (va | (BIT_ULL(TRN_PT_SHIFT(level)) - 1)) + 1);
}

static struct trn_mmu_table *trn_mmu_alloc_table(struct trn_mmu *mmu, int level)
{
	struct trn_mmu_table *table;

	table = kvzalloc(struct_size(table, child, level ? TRN_PT_ENTRIES : 0),
			 GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->entries = mmu->allocator->alloc(mmu->arg, &table->dma);
	if (!table->entries) {
		kvfree(table);
		return NULL;
	}
	return table;
}

static void trn_mmu_free_table(struct trn_mmu *mmu, struct trn_mmu_table *table)
{
	mmu->allocator->free(mmu->arg, table->entries, table->dma);
	kvfree(table);
}

static void trn_mmu_free_list(struct trn_mmu *mmu, struct list_head *tables)
{
	struct trn_mmu_table *table, *next;

	list_for_each_entry_safe(table, next, tables, link) {
		list_del(&table->link);
		trn_mmu_free_table(mmu, table);
	}
}

int trn_mmu_init(struct trn_mmu *mmu, const struct trn_mmu_allocator *allocator, void *arg)
{
	mmu->allocator = allocator;
	mmu->arg = arg;
	mmu->root = trn_mmu_alloc_table(mmu, TRN_PT_LEVELS - 1);
	return mmu->root ? 0 : -ENOMEM;
}

static void trn_mmu_free_tree(struct trn_mmu *mmu, struct trn_mmu_table *table, int level)
{
	int i;

	for (i = 0; level && i < TRN_PT_ENTRIES; i++) {
		if (table->child[i])
			trn_mmu_free_tree(mmu, table->child[i], level - 1);
	}
	trn_mmu_free_table(mmu, table);
}

/* The chip has forgotten the address space. */
void trn_mmu_fini(struct trn_mmu *mmu)
{
	if (mmu->root)
		trn_mmu_free_tree(mmu, mmu->root, TRN_PT_LEVELS - 1);
	mmu->root = NULL;
}

void trn_mmu_spare_init(struct trn_mmu_spare *spare)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(spare->tables); i++)
		INIT_LIST_HEAD(&spare->tables[i]);
}

/* @table is NULL below a table that does not exist yet either. */
static int trn_mmu_prepare_level(struct trn_mmu *mmu, struct trn_mmu_table *table, int level,
				 u64 va, u64 end, struct trn_mmu_spare *spare)
{
	struct trn_mmu_table *child;
	u64 next;
	int ret;

	for (; level && va < end; va = next) {
		next = trn_mmu_entry_end(va, end, level);
		child = table ? table->child[trn_mmu_index(va, level)] : NULL;
		if (!child) {
			struct trn_mmu_table *new = trn_mmu_alloc_table(mmu, level - 1);

			if (!new)
				return -ENOMEM;
			list_add_tail(&new->link, &spare->tables[level - 1]);
		}
		ret = trn_mmu_prepare_level(mmu, child, level - 1, va, next, spare);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/**
 * trn_mmu_prepare() - allocate the tables that mapping a range needs
 * @mmu: page tables
 * @va: first address, page aligned
 * @size: bytes, page aligned, not 0; the end is within TRN_VA_BITS
 * @spare: empty; receives the tables
 *
 * Return: 0, or -ENOMEM with nothing left in @spare.
 */
int trn_mmu_prepare(struct trn_mmu *mmu, u64 va, u64 size, struct trn_mmu_spare *spare)
{
	int i, ret;

	ret = trn_mmu_prepare_level(mmu, mmu->root, TRN_PT_LEVELS - 1, va, va + size, spare);
	if (ret) {
		for (i = 0; i < ARRAY_SIZE(spare->tables); i++)
			trn_mmu_free_list(mmu, &spare->tables[i]);
	}
	return ret;
}

static void trn_mmu_set_entry(struct trn_mmu_table *table, unsigned int index, u64 entry)
{
	/* The chip may read it at any time: in one piece. */
	WRITE_ONCE(table->entries[index], cpu_to_le64(entry));
}

static void trn_mmu_map_level(struct trn_mmu_table *table, int level, u64 va, u64 end,
			      u64 address, u64 bits, struct trn_mmu_spare *spare)
{
	u64 next;

	for (; va < end; address += next - va, va = next) {
		unsigned int index = trn_mmu_index(va, level);
		struct trn_mmu_table *child;

		next = trn_mmu_entry_end(va, end, level);
		if (!level) {
			trn_mmu_set_entry(table, index, address | bits);
			table->used++;
			continue;
		}
		child = table->child[index];
		if (!child) {
			child = list_first_entry(&spare->tables[level - 1],
						 struct trn_mmu_table, link);
			list_del_init(&child->link);
			table->child[index] = child;
			table->used++;
			/* Its zeroes must be there before the chip can find them. */
			dma_wmb();
			trn_mmu_set_entry(table, index, child->dma | TRN_PTE_VALID);
		}
		trn_mmu_map_level(child, level - 1, va, next, address, bits, spare);
		if (level == 1)
			cond_resched();
	}
}

/**
 * trn_mmu_map() - map a range of consecutive addresses
 * @mmu: page tables
 * @va: first address; nothing is mapped in the range
 * @size: bytes
 * @address: what @va translates to, page aligned
 * @bits: TRN_PTE_READ, TRN_PTE_WRITE, TRN_PTE_TARGET_*
 * @spare: what trn_mmu_prepare() allocated for this range or one around it
 */
void trn_mmu_map(struct trn_mmu *mmu, u64 va, u64 size, u64 address, u64 bits,
		 struct trn_mmu_spare *spare)
{
	trn_mmu_map_level(mmu->root, TRN_PT_LEVELS - 1, va, va + size, address,
			  bits | TRN_PTE_VALID | TRN_PTE_LEAF, spare);
	/* Before whatever makes the chip use the mapping. */
	dma_wmb();
}

void trn_mmu_gather_init(struct trn_mmu_gather *gather)
{
	gather->start = U64_MAX;
	gather->end = 0;
	INIT_LIST_HEAD(&gather->tables);
}

static void trn_mmu_unmap_level(struct trn_mmu_table *table, int level, u64 va, u64 end,
				struct trn_mmu_gather *gather)
{
	u64 next;

	for (; va < end; va = next) {
		unsigned int index = trn_mmu_index(va, level);
		u64 span = BIT_ULL(TRN_PT_SHIFT(level));
		struct trn_mmu_table *child;

		next = trn_mmu_entry_end(va, end, level);
		if (!level) {
			trn_mmu_set_entry(table, index, 0);
			table->used--;
			continue;
		}
		child = table->child[index];
		trn_mmu_unmap_level(child, level - 1, va, next, gather);
		if (!child->used) {
			trn_mmu_set_entry(table, index, 0);
			table->child[index] = NULL;
			table->used--;
			list_add_tail(&child->link, &gather->tables);
			/* The chip may have cached the table for all that it translated. */
			gather->start = min(gather->start, va & ~(span - 1));
			gather->end = max(gather->end, (va | (span - 1)) + 1);
		}
		if (level == 1)
			cond_resched();
	}
}

/**
 * trn_mmu_unmap() - clear the entries of a range that is mapped throughout
 * @mmu: page tables
 * @va: first address
 * @size: bytes
 * @gather: collects the range to invalidate and the tables to free after that
 */
void trn_mmu_unmap(struct trn_mmu *mmu, u64 va, u64 size, struct trn_mmu_gather *gather)
{
	trn_mmu_unmap_level(mmu->root, TRN_PT_LEVELS - 1, va, va + size, gather);
	gather->start = min(gather->start, va);
	gather->end = max(gather->end, va + size);
}

/* The range has been invalidated. */
void trn_mmu_gather_free(struct trn_mmu *mmu, struct trn_mmu_gather *gather)
{
	trn_mmu_free_list(mmu, &gather->tables);
	trn_mmu_gather_init(gather);
}
