/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_VM_H
#define _TRN_VM_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "trn_mmu.h"

struct trn_bo;
struct trn_device;

/* An address space of the chip: its page tables. */
struct trn_vm {
	struct trn_device *tdev;
	u16 asid;
	u32 epoch;		/* of the chip; it has forgotten contexts of others */
	/*
	 * Protects what follows, and which object is mapped where.  Fences wait for
	 * its holders: nothing is allocated under it.  Held across TLB invalidates.
	 */
	struct mutex lock;
	bool closed;		/* the chip has forgotten it */
	struct trn_mmu mmu;

	/* Protects the pool. */
	spinlock_t pool_lock;
	/* Tables for the next change, so that small ones allocate nothing. */
	struct trn_mmu_spare pool;
	unsigned int pool_size[TRN_MMU_LEVELS];
	unsigned int pool_max;
};

int trn_vm_lost(struct trn_vm *vm);
int trn_vm_init(struct trn_vm *vm, struct trn_device *tdev, u16 asid);
void trn_vm_fini(struct trn_vm *vm);

int trn_vm_demand_map(struct trn_vm *vm, u64 va, u64 size, const struct trn_bo *bo, u64 offset,
		      struct trn_mmu_demand *demand);
int trn_vm_spare_alloc(struct trn_vm *vm, struct trn_mmu_demand *demand,
		       struct trn_mmu_spare *spare);
void trn_vm_spare_free(struct trn_vm *vm, struct trn_mmu_spare *spare);

void trn_vm_map(struct trn_vm *vm, u64 va, u64 size, const struct trn_bo *bo, u64 offset,
		bool readonly, struct trn_mmu_spare *spare);
void trn_vm_flush(struct trn_vm *vm, struct trn_mmu_gather *gather, struct trn_mmu_spare *spare);

#endif /* _TRN_VM_H */
