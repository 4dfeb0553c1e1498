/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_VM_H
#define _TRN_VM_H

#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/drm_mm.h>

#include "trn_mmu.h"

/*
 * In the kernel's own address space (ASID 0): byte 0 of HBM.  All of HBM is mapped
 * from here, read and write; rings and fences are below.
 */
#define TRN_KERNEL_HBM_VA	BIT_ULL(TRN_VA_BITS - 1)

struct drm_device;
struct drm_file;
struct trn_bo;
struct trn_device;

/* The address space of one context. */
struct trn_vm {
	struct trn_device *tdev;
	u16 asid;
	/* Protects everything below.  Held across TLB invalidates. */
	struct mutex lock;
	bool closed;		/* the chip has forgotten it */
	struct drm_mm mm;	/* of trn_mapping.node */
	struct trn_mmu mmu;
};

/* An object, or part of it, mapped; holds a reference to the object. */
struct trn_mapping {
	struct drm_mm_node node;
	struct list_head link;		/* in trn_vm_gather.mappings */
	struct trn_bo *bo;
	u64 offset;
};

int trn_vm_init(struct trn_vm *vm, struct trn_device *tdev, u16 asid);
void trn_vm_fini(struct trn_vm *vm);
int trn_vm_map_hbm(struct trn_vm *vm);

int trn_vm_map_anywhere(struct trn_vm *vm, struct trn_bo *bo, u64 *va);
void trn_vm_unmap_sync(struct trn_vm *vm, u64 va, u64 size);
__le64 *trn_vm_find_word(struct trn_vm *vm, u64 va, struct trn_bo **bo);

int trn_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* _TRN_VM_H */
