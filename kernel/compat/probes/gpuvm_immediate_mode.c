// SPDX-License-Identifier: GPL-2.0-only
/* Came together with drm_gem_object.gpuva.lock, which is taken by the core. */
#include <drm/drm_gpuvm.h>

struct mutex *probe(struct drm_gpuvm *gpuvm, struct drm_gem_object *obj);
struct mutex *probe(struct drm_gpuvm *gpuvm, struct drm_gem_object *obj)
{
	return drm_gpuvm_immediate_mode(gpuvm) ? &obj->gpuva.lock : NULL;
}
