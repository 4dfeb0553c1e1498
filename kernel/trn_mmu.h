/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_MMU_H
#define _TRN_MMU_H

#include <linux/list.h>
#include <linux/types.h>

#include <hw/trn_mmu.h>

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
	unsigned int used;		/* valid entries */
	struct trn_mmu_table *child[];	/* TRN_PT_ENTRIES of them above level 0 */
};

/* The page tables of one address space.  Callers serialise all changes. */
struct trn_mmu {
	const struct trn_mmu_allocator *allocator;
	void *arg;
	struct trn_mmu_table *root;
};

/* Tables that a mapping will need, by level; the root is always there. */
struct trn_mmu_spare {
	struct list_head tables[TRN_PT_LEVELS - 1];
};

/*
 * What has to be done after entries were cleared: invalidate [start, end), then
 * free the tables.
 */
struct trn_mmu_gather {
	u64 start;
	u64 end;
	struct list_head tables;
};

int trn_mmu_init(struct trn_mmu *mmu, const struct trn_mmu_allocator *allocator, void *arg);
void trn_mmu_fini(struct trn_mmu *mmu);

void trn_mmu_spare_init(struct trn_mmu_spare *spare);
int trn_mmu_prepare(struct trn_mmu *mmu, u64 va, u64 size, struct trn_mmu_spare *spare);
void trn_mmu_map(struct trn_mmu *mmu, u64 va, u64 size, u64 address, u64 bits,
		 struct trn_mmu_spare *spare);

void trn_mmu_gather_init(struct trn_mmu_gather *gather);
void trn_mmu_unmap(struct trn_mmu *mmu, u64 va, u64 size, struct trn_mmu_gather *gather);
void trn_mmu_gather_free(struct trn_mmu *mmu, struct trn_mmu_gather *gather);

#endif /* _TRN_MMU_H */
