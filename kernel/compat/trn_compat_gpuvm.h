/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drm_gpuvm on the way to a fence: the list of an object's mappings needs a lock under
 * which nothing is allocated, so not its dma_resv.  For trn_mapping.c alone.
 */
#ifndef _TRN_COMPAT_GPUVM_H
#define _TRN_COMPAT_GPUVM_H

#include <drm/drm_gpuvm.h>

#include "trn_config.h"

#ifdef TRN_HAVE_GPUVM_IMMEDIATE_MODE
#define TRN_GPUVM_FLAGS		DRM_GPUVM_IMMEDIATE_MODE

static inline struct mutex *trn_gpuva_lock(struct drm_gem_object *obj)
{
	return &obj->gpuva.lock;
}

static inline struct drm_gpuvm_bo *trn_gpuvm_bo_obtain(struct drm_gpuvm_bo *vm_bo)
{
	return drm_gpuvm_bo_obtain_prealloc(vm_bo);
}
#else
#define TRN_GPUVM_FLAGS		0

/* Protects the lists of all objects. */
static DEFINE_MUTEX(trn_gpuva_mutex);

static inline struct mutex *trn_gpuva_lock(struct drm_gem_object *obj)
{
	return &trn_gpuva_mutex;
}

static inline struct drm_gpuvm_bo *trn_gpuvm_bo_obtain(struct drm_gpuvm_bo *vm_bo)
{
	struct drm_gpuvm_bo *obtained;

	mutex_lock(&trn_gpuva_mutex);
#ifdef CONFIG_LOCKDEP
	if (!vm_bo->obj->gpuva.lock_dep_map)
		drm_gem_gpuva_set_lock(vm_bo->obj, &trn_gpuva_mutex);
#endif
	obtained = drm_gpuvm_bo_obtain_prealloc(vm_bo);
	mutex_unlock(&trn_gpuva_mutex);
	return obtained;
}
#endif

#endif /* _TRN_COMPAT_GPUVM_H */
