/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_KERNEL_VM_H
#define _TRN_KERNEL_VM_H

#include <drm/drm_mm.h>

#include "trn_vm.h"

/* Where byte 0 of HBM is; all of it is mapped from here, read and write. */
#define TRN_KERNEL_HBM_VA	BIT_ULL(TRN_VA_BITS - 1)

/* ASID 0: rings and fences of kernel queues, and all of HBM for the kernel's own packets. */
struct trn_kernel_vm {
	struct trn_vm vm;
	/* Of trn_kernel_mapping.node, below TRN_KERNEL_HBM_VA; protected by vm.lock. */
	struct drm_mm mm;
};

int trn_kernel_vm_init(struct trn_kernel_vm *kernel, struct trn_device *tdev);
int trn_kernel_vm_restart(struct trn_kernel_vm *kernel);
void trn_kernel_vm_fini(struct trn_kernel_vm *kernel);
int trn_kernel_vm_map(struct trn_kernel_vm *kernel, struct trn_bo *bo, u64 *va);
void trn_kernel_vm_unmap(struct trn_kernel_vm *kernel, u64 va);

#endif /* _TRN_KERNEL_VM_H */
