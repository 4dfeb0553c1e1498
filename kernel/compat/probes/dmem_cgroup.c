// SPDX-License-Identifier: GPL-2.0-only
/* The form with struct dmem_cgroup_init; there was one without. */
#include <linux/cgroup_dmem.h>

#include <drm/drm_drv.h>

struct dmem_cgroup_region *probe(struct drm_device *drm);
struct dmem_cgroup_region *probe(struct drm_device *drm)
{
	struct dmem_cgroup_init init = { .size = 1 };

	return drmm_cgroup_register_region(drm, "hbm", &init);
}
