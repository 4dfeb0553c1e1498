/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_MMU_H
#define _TRN_MMU_H

#include <linux/list.h>
#include <linux/types.h>

#include <hw/trn_mmu.h>

/* Levels of the tables below the root, which is always there. */
#define TRN_MMU_LEVELS	(TRN_PT_LEVELS - 1)

/* Where tables come from; tests have their own. */
struct trn_mmu_allocator {
	/* A table of TRN_PT_SIZE zero bytes, or NULL.  May sleep. */
	__le64 *(*alloc)(void *arg, dma_addr_t *dma);
	void (*free)(void *arg, __le64 *entries, dma_addr_t dma);
};

struct trn_mmu_table {
	struct list_head link;		/* in trn_mmu_spare or trn_mmu_gather */
	__le64 *entries;
	dma_addr_t dma;
	unsigned int used;		/* valid entries; 0 only before it is in the tree */
	/* Above level 0: TRN_PT_ENTRIES of them, NULL for leaves too. */
	struct trn_mmu_table *child[];
};

/* The page tables of one address space.  Callers serialise all changes. */
struct trn_mmu {
	const struct trn_mmu_allocator *allocator;
	void *arg;
	u64 leaf_sizes;			/* bit n: leaves of 1 << n bytes */
	struct trn_mmu_table *root;
	/* What there is, by level. */
	unsigned long leaves[TRN_PT_LEAF_LEVEL_MAX + 1];
	unsigned long tables[TRN_MMU_LEVELS];
};

/* How many tables a change needs at most, whatever is mapped when it is made. */
struct trn_mmu_demand {
	unsigned long tables[TRN_MMU_LEVELS];
	/* Tables for addresses below these, by level, are in the count. */
	u64 counted[TRN_MMU_LEVELS];
	u64 end;			/* of the range before */
};

/* Tables for a change, by level. */
struct trn_mmu_spare {
	struct list_head tables[TRN_MMU_LEVELS];
};

/*
 * What has to be done after entries were cleared: invalidate [start, end); then the
 * tables are free.
 */
struct trn_mmu_gather {
	u64 start;
	u64 end;
	/* Where entries above level 0 were cleared. */
	u64 upper_start;
	u64 upper_end;
	struct trn_mmu_spare tables;
};

/* The entries that translate an address, from the root down to where the walk ends. */
struct trn_mmu_walk {
	u64 entries[TRN_PT_LEVELS];	/* by level */
	int last_level;			/* of a leaf, or of an entry that is not valid */
};

int trn_mmu_init(struct trn_mmu *mmu, const struct trn_mmu_allocator *allocator, void *arg,
		 u32 page_sizes);
void trn_mmu_fini(struct trn_mmu *mmu);

void trn_mmu_demand_init(struct trn_mmu_demand *demand);
void trn_mmu_demand_map(const struct trn_mmu *mmu, u64 va, u64 size, u64 address,
			struct trn_mmu_demand *demand);
void trn_mmu_demand_unmap(const struct trn_mmu *mmu, u64 va, u64 size,
			  struct trn_mmu_demand *demand);

void trn_mmu_spare_init(struct trn_mmu_spare *spare);
void trn_mmu_spare_splice(struct trn_mmu_spare *from, struct trn_mmu_spare *to);
int trn_mmu_spare_alloc(struct trn_mmu *mmu, const struct trn_mmu_demand *demand,
			struct trn_mmu_spare *spare);
void trn_mmu_spare_free(struct trn_mmu *mmu, struct trn_mmu_spare *spare);

void trn_mmu_map(struct trn_mmu *mmu, u64 va, u64 size, u64 address, u64 bits,
		 struct trn_mmu_spare *spare);
void trn_mmu_unmap(struct trn_mmu *mmu, u64 va, u64 size, struct trn_mmu_spare *spare,
		   struct trn_mmu_gather *gather);

void trn_mmu_gather_init(struct trn_mmu_gather *gather);
bool trn_mmu_gather_empty(const struct trn_mmu_gather *gather);
bool trn_mmu_gather_blocks_map(const struct trn_mmu_gather *gather, u64 va, u64 size);
void trn_mmu_gather_reuse(struct trn_mmu_gather *gather, struct trn_mmu_spare *spare);

void trn_mmu_walk(const struct trn_mmu *mmu, u64 va, struct trn_mmu_walk *walk);

#endif /* _TRN_MMU_H */
