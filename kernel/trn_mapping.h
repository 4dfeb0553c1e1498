/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_MAPPING_H
#define _TRN_MAPPING_H

#include <linux/list.h>
#include <linux/types.h>

#include <drm/drm_gpuvm.h>

#include "trn_mmu.h"

struct trn_bo;
struct trn_context;

/* An object, or part of it, mapped in a context's address space. */
struct trn_mapping {
	struct drm_gpuva va;
	struct list_head link;		/* in trn_mapping_change */
};

/*
 * What changing mappings needs, allocated before, and what it leaves behind, to be freed
 * after: nothing is allocated or freed in between.
 */
struct trn_mapping_change {
	struct trn_mmu_spare spare;
	struct trn_mmu_gather gather;
	struct list_head fresh;		/* mappings to use */
	struct list_head removed;	/* mappings that are in the tree no more */
};

int trn_mapping_init(struct trn_context *context);
void trn_mapping_fini(struct trn_context *context);
void trn_mapping_put(struct trn_context *context);

struct drm_gpuvm_bo *trn_mapping_get_bo(struct trn_context *context, struct trn_bo *bo);
void trn_mapping_put_bo(struct drm_gpuvm_bo *vm_bo);

void trn_mapping_change_init(struct trn_mapping_change *change);
int trn_mapping_change_add_fresh(struct trn_mapping_change *change, unsigned int count);
void trn_mapping_change_fini(struct trn_context *context, struct trn_mapping_change *change);

int trn_mapping_map(struct trn_context *context, u64 va, u64 size, struct drm_gpuvm_bo *vm_bo,
		    u64 offset, bool readonly, struct trn_mapping_change *change);
void trn_mapping_unmap(struct trn_context *context, u64 va, u64 size,
		       struct trn_mapping_change *change);
void trn_mapping_flush(struct trn_context *context, struct trn_mapping_change *change);

bool trn_mapping_read(struct trn_context *context, u64 va, void *data, size_t size);
__le64 *trn_mapping_find_word(struct trn_context *context, u64 va, struct trn_bo **bo);

#endif /* _TRN_MAPPING_H */
