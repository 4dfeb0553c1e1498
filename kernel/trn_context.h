/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_CONTEXT_H
#define _TRN_CONTEXT_H

#include <linux/kref.h>

#include <drm/drm_gpuvm.h>

#include "trn_bind.h"
#include "trn_vm.h"

struct drm_device;
struct drm_file;
struct trn_device;
struct trn_file;

/* An address space and what uses it. */
struct trn_context {
	struct kref ref;
	struct trn_vm vm;
	/* Of trn_mapping.va; protected by vm.lock.  Frees the context, when @ref is 0. */
	struct drm_gpuvm gpuvm;
	struct trn_bind_queue bind_queue;
	/*
	 * Held over commands by which the chip gets or loses queues of the context.
	 * Fences wait for its holders: nothing is allocated under it.
	 */
	struct mutex queues_lock;
};

struct trn_context *trn_context_get(struct trn_file *file, u32 id);
struct trn_context *trn_context_get_by_asid(struct trn_device *tdev, u16 asid);
void trn_context_put(struct trn_context *context);
void trn_context_free(struct trn_context *context);
void trn_context_destroy_all(struct trn_file *file);
unsigned int trn_context_fail_all(struct trn_device *tdev);

int trn_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trn_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* _TRN_CONTEXT_H */
