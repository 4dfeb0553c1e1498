/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_CONTEXT_H
#define _TRN_CONTEXT_H

#include <linux/kref.h>

#include "trn_vm.h"

struct drm_device;
struct drm_file;
struct trn_file;

/* An address space and what uses it. */
struct trn_context {
	struct kref ref;
	struct trn_vm vm;
};

struct trn_context *trn_context_get(struct trn_file *file, u32 id);
void trn_context_put(struct trn_context *context);
void trn_context_destroy_all(struct trn_file *file);

int trn_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trn_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* _TRN_CONTEXT_H */
