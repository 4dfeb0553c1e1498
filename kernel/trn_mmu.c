// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-table builder.  Knows nothing of devices, locks or objects: it writes
 * entries into tables that an allocator gives.
 *
 * A change is split into parts that count and allocate the tables it may need
 * (trn_mmu_demand_*(), trn_mmu_spare_alloc()), without a look at the tables that
 * there are, and one that cannot fail (trn_mmu_map(), trn_mmu_unmap()).  So changes
 * can be prepared long before they are made, and no half-made one ever has to be
 * taken back from a chip that may have cached its tables.
 *
 * A table in the tree has at least one valid entry: where nothing is mapped there
 * is no table, and a leaf of any size can be written.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "trn_mmu.h"

static unsigned int trn_mmu_index(u64 va, int level)
{
	return (va >> TRN_PT_SHIFT(level)) % TRN_PT_ENTRIES;
}

/* Bytes that one entry of a table at @level translates. */
static u64 trn_mmu_span(int level)
{
	return BIT_ULL(TRN_PT_SHIFT(level));
}

/* End of the part of [va, end) that one entry of a table at @level translates. */
static u64 trn_mmu_entry_end(u64 va, u64 end, int level)
{
	return min(end, (va | (trn_mmu_span(level) - 1)) + 1);
}

/* Whether an entry at @level can translate [va, end), as far as it is its part. */
static bool trn_mmu_leaf_fits(const struct trn_mmu *mmu, int level, u64 va, u64 end, u64 address)
{
	u64 span = trn_mmu_span(level);

	return (mmu->leaf_sizes & span) && IS_ALIGNED(va | address, span) && end - va >= span;
}

static struct trn_mmu_table *trn_mmu_alloc_table(struct trn_mmu *mmu, int level)
{
	struct trn_mmu_table *table;

	table = kvzalloc(struct_size(table, child, level ? TRN_PT_ENTRIES : 0),
			 GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
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
		cond_resched();
	}
}

/**
 * trn_mmu_init() - empty page tables
 * @mmu: page tables
 * @allocator: of tables
 * @arg: for the allocator
 * @page_sizes: sizes of leaves that the chip knows, as in CAP_PAGE_SIZES
 */
int trn_mmu_init(struct trn_mmu *mmu, const struct trn_mmu_allocator *allocator, void *arg,
		 u32 page_sizes)
{
	int level;

	memset(mmu, 0, sizeof(*mmu));
	mmu->allocator = allocator;
	mmu->arg = arg;
	/* Each size can be split into the next smaller one. */
	for (level = 0; level <= TRN_PT_LEAF_LEVEL_MAX; level++) {
		if (!(page_sizes & trn_mmu_span(level)))
			break;
		mmu->leaf_sizes |= trn_mmu_span(level);
	}
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
	cond_resched();
}

/* The chip has forgotten the address space. */
void trn_mmu_fini(struct trn_mmu *mmu)
{
	if (mmu->root)
		trn_mmu_free_tree(mmu, mmu->root, TRN_PT_LEVELS - 1);
	mmu->root = NULL;
}

void trn_mmu_demand_init(struct trn_mmu_demand *demand)
{
	memset(demand, 0, sizeof(*demand));
}

static void trn_mmu_demand_level(const struct trn_mmu *mmu, int level, u64 va, u64 end,
				 u64 address, struct trn_mmu_demand *demand)
{
	u64 next;

	for (; va < end; address += next - va, va = next) {
		next = trn_mmu_entry_end(va, end, level);
		if (trn_mmu_leaf_fits(mmu, level, va, next, address))
			continue;
		if (demand->counted[level - 1] < next) {
			demand->counted[level - 1] = ALIGN(next, trn_mmu_span(level));
			demand->tables[level - 1]++;
		}
		if (level > 1)
			trn_mmu_demand_level(mmu, level - 1, va, next, address, demand);
	}
}

/**
 * trn_mmu_demand_map() - count the tables that mapping a range may need
 * @mmu: page tables
 * @va: first address, page aligned
 * @size: bytes, page aligned; the end is within TRN_VA_BITS
 * @address: what @va will translate to
 * @demand: is added to
 *
 * A sequence of demands is for the same sequence of changes.  A table is counted
 * once for ranges that follow each other upwards.
 */
void trn_mmu_demand_map(const struct trn_mmu *mmu, u64 va, u64 size, u64 address,
			struct trn_mmu_demand *demand)
{
	if (va < demand->end)
		memset(demand->counted, 0, sizeof(demand->counted));
	demand->end = va + size;
	trn_mmu_demand_level(mmu, TRN_PT_LEVELS - 1, va, va + size, address, demand);
}

/* A leaf around @va, which is the first or last address of a range, has to be split. */
static void trn_mmu_demand_split(const struct trn_mmu *mmu, u64 va, struct trn_mmu_demand *demand)
{
	int level;

	for (level = 1; level <= TRN_PT_LEAF_LEVEL_MAX; level++) {
		if ((mmu->leaf_sizes & trn_mmu_span(level)) && !IS_ALIGNED(va, trn_mmu_span(level)))
			demand->tables[level - 1]++;
	}
}

/**
 * trn_mmu_demand_unmap() - count the tables that unmapping a range may need
 * @mmu: page tables
 * @va: first address, page aligned
 * @size: bytes, page aligned
 * @demand: is added to
 */
void trn_mmu_demand_unmap(const struct trn_mmu *mmu, u64 va, u64 size,
			  struct trn_mmu_demand *demand)
{
	trn_mmu_demand_split(mmu, va, demand);
	trn_mmu_demand_split(mmu, va + size, demand);
	/* Tables that were counted may be gone after it. */
	memset(demand->counted, 0, sizeof(demand->counted));
}

void trn_mmu_spare_init(struct trn_mmu_spare *spare)
{
	int level;

	for (level = 0; level < TRN_MMU_LEVELS; level++)
		INIT_LIST_HEAD(&spare->tables[level]);
}

/* Move all tables. */
void trn_mmu_spare_splice(struct trn_mmu_spare *from, struct trn_mmu_spare *to)
{
	int level;

	for (level = 0; level < TRN_MMU_LEVELS; level++)
		list_splice_init(&from->tables[level], &to->tables[level]);
}

void trn_mmu_spare_free(struct trn_mmu *mmu, struct trn_mmu_spare *spare)
{
	int level;

	for (level = 0; level < TRN_MMU_LEVELS; level++)
		trn_mmu_free_list(mmu, &spare->tables[level]);
}

/**
 * trn_mmu_spare_alloc() - allocate tables for a change
 * @mmu: page tables; need not be locked
 * @demand: how many
 * @spare: gets the tables, to be freed by trn_mmu_spare_free()
 *
 * Return: 0, or -ENOMEM, or -EINTR when the caller is being killed, with nothing left
 * in @spare.
 */
int trn_mmu_spare_alloc(struct trn_mmu *mmu, const struct trn_mmu_demand *demand,
			struct trn_mmu_spare *spare)
{
	unsigned long i;
	int level, ret;

	for (level = 0; level < TRN_MMU_LEVELS; level++) {
		for (i = 0; i < demand->tables[level]; i++) {
			struct trn_mmu_table *table;

			ret = -EINTR;
			if (fatal_signal_pending(current))
				goto err_free;
			ret = -ENOMEM;
			table = trn_mmu_alloc_table(mmu, level);
			if (!table)
				goto err_free;
			list_add_tail(&table->link, &spare->tables[level]);
			cond_resched();
		}
	}
	return 0;

err_free:
	trn_mmu_spare_free(mmu, spare);
	return ret;
}

static void trn_mmu_set_entry(struct trn_mmu_table *table, unsigned int index, u64 entry)
{
	/* The chip may read it at any time: in one piece. */
	WRITE_ONCE(table->entries[index], cpu_to_le64(entry));
}

/* Makes entry @index of @table, which is at @level, point to a table. */
static void trn_mmu_set_child(struct trn_mmu *mmu, struct trn_mmu_table *table, int level,
			      unsigned int index, struct trn_mmu_table *child)
{
	list_del_init(&child->link);
	table->child[index] = child;
	mmu->tables[level - 1]++;
	/* What it contains must be there before the chip can find it. */
	dma_wmb();
	trn_mmu_set_entry(table, index, child->dma | TRN_PTE_VALID);
}

static struct trn_mmu_table *trn_mmu_spare_first(struct trn_mmu_spare *spare, int level)
{
	return list_first_entry(&spare->tables[level], struct trn_mmu_table, link);
}

static void trn_mmu_map_level(struct trn_mmu *mmu, struct trn_mmu_table *table, int level,
			      u64 va, u64 end, u64 address, u64 bits,
			      struct trn_mmu_spare *spare)
{
	u64 next;

	for (; va < end; address += next - va, va = next) {
		unsigned int index = trn_mmu_index(va, level);

		next = trn_mmu_entry_end(va, end, level);
		if (trn_mmu_leaf_fits(mmu, level, va, next, address)) {
			trn_mmu_set_entry(table, index, address | bits);
			table->used++;
			mmu->leaves[level]++;
			continue;
		}
		if (!table->child[index]) {
			trn_mmu_set_child(mmu, table, level, index,
					  trn_mmu_spare_first(spare, level - 1));
			table->used++;
		}
		trn_mmu_map_level(mmu, table->child[index], level - 1, va, next, address, bits,
				  spare);
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
 * @spare: has what trn_mmu_demand_map() counted for this range and address
 *
 * Uses the largest leaves that alignment allows.
 */
void trn_mmu_map(struct trn_mmu *mmu, u64 va, u64 size, u64 address, u64 bits,
		 struct trn_mmu_spare *spare)
{
	trn_mmu_map_level(mmu, mmu->root, TRN_PT_LEVELS - 1, va, va + size, address,
			  bits | TRN_PTE_VALID | TRN_PTE_LEAF, spare);
	/* Before whatever makes the chip use the mapping. */
	dma_wmb();
}

void trn_mmu_gather_init(struct trn_mmu_gather *gather)
{
	gather->start = U64_MAX;
	gather->end = 0;
	gather->upper_start = U64_MAX;
	gather->upper_end = 0;
	trn_mmu_spare_init(&gather->tables);
}

bool trn_mmu_gather_empty(const struct trn_mmu_gather *gather)
{
	return !gather->end;
}

/* The entry at @level for @va was cleared. */
static void trn_mmu_gather_entry(struct trn_mmu_gather *gather, int level, u64 va)
{
	u64 start = ALIGN_DOWN(va, trn_mmu_span(level));
	u64 end = start + trn_mmu_span(level);

	/* The chip may have cached it for all that it translated. */
	gather->start = min(gather->start, start);
	gather->end = max(gather->end, end);
	if (level) {
		gather->upper_start = min(gather->upper_start, start);
		gather->upper_end = max(gather->upper_end, end);
	}
}

/**
 * trn_mmu_gather_blocks_map() - whether to invalidate before a range is mapped
 * @gather: what was unmapped since the last invalidate
 * @va: first address
 * @size: bytes
 *
 * A table may follow a leaf, and a leaf a table, only after an invalidate.
 */
bool trn_mmu_gather_blocks_map(const struct trn_mmu_gather *gather, u64 va, u64 size)
{
	return va < gather->upper_end && va + size > gather->upper_start;
}

/* Replaces a leaf at @level by a table that translates alike: one store is enough. */
static void trn_mmu_split(struct trn_mmu *mmu, struct trn_mmu_table *table, int level,
			  unsigned int index, struct trn_mmu_spare *spare)
{
	struct trn_mmu_table *child = trn_mmu_spare_first(spare, level - 1);
	u64 entry = le64_to_cpu(table->entries[index]);
	unsigned int i;

	for (i = 0; i < TRN_PT_ENTRIES; i++)
		trn_mmu_set_entry(child, i, entry + i * trn_mmu_span(level - 1));
	child->used = TRN_PT_ENTRIES;
	mmu->leaves[level]--;
	mmu->leaves[level - 1] += TRN_PT_ENTRIES;
	trn_mmu_set_child(mmu, table, level, index, child);
}

static void trn_mmu_unmap_level(struct trn_mmu *mmu, struct trn_mmu_table *table, int level,
				u64 va, u64 end, struct trn_mmu_spare *spare,
				struct trn_mmu_gather *gather)
{
	u64 next;

	for (; va < end; va = next) {
		unsigned int index = trn_mmu_index(va, level);
		struct trn_mmu_table *child;

		next = trn_mmu_entry_end(va, end, level);
		if (!level || !table->child[index]) {
			if (next - va == trn_mmu_span(level)) {
				trn_mmu_set_entry(table, index, 0);
				table->used--;
				mmu->leaves[level]--;
				trn_mmu_gather_entry(gather, level, va);
				continue;
			}
			trn_mmu_split(mmu, table, level, index, spare);
		}
		child = table->child[index];
		trn_mmu_unmap_level(mmu, child, level - 1, va, next, spare, gather);
		if (!child->used) {
			trn_mmu_set_entry(table, index, 0);
			table->child[index] = NULL;
			table->used--;
			mmu->tables[level - 1]--;
			list_add(&child->link, &gather->tables.tables[level - 1]);
			trn_mmu_gather_entry(gather, level, va);
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
 * @spare: has what trn_mmu_demand_unmap() counted for this range or one around it
 * @gather: collects the range to invalidate and the tables to free after that
 */
void trn_mmu_unmap(struct trn_mmu *mmu, u64 va, u64 size, struct trn_mmu_spare *spare,
		   struct trn_mmu_gather *gather)
{
	trn_mmu_unmap_level(mmu, mmu->root, TRN_PT_LEVELS - 1, va, va + size, spare, gather);
}

/* The range has been invalidated: the tables, which are empty, are free. */
void trn_mmu_gather_reuse(struct trn_mmu_gather *gather, struct trn_mmu_spare *spare)
{
	trn_mmu_spare_splice(&gather->tables, spare);
	trn_mmu_gather_init(gather);
}

/**
 * trn_mmu_walk() - what the chip finds on the way to an address
 * @mmu: page tables
 * @va: address, below 1 << TRN_VA_BITS
 * @walk: out
 */
void trn_mmu_walk(const struct trn_mmu *mmu, u64 va, struct trn_mmu_walk *walk)
{
	const struct trn_mmu_table *table = mmu->root;
	int level = TRN_PT_LEVELS - 1;

	for (;;) {
		unsigned int index = trn_mmu_index(va, level);

		walk->entries[level] = le64_to_cpu(table->entries[index]);
		walk->last_level = level;
		if (!level || !table->child[index])
			return;
		table = table->child[index];
		level--;
	}
}
