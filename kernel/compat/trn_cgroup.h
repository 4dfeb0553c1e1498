/* SPDX-License-Identifier: GPL-2.0-only */
/* The dmem cgroup controller, on kernels that have it. */
#ifndef _TRN_CGROUP_H
#define _TRN_CGROUP_H

#include <linux/errno.h>
#include <linux/types.h>

#include "trn_config.h"

struct dmem_cgroup_pool_state;
struct dmem_cgroup_region;
struct drm_device;

#ifdef TRN_HAVE_DMEM_CGROUP
#include <linux/cgroup_dmem.h>

#include <drm/drm_drv.h>

/* NULL when the kernel is configured without; an ERR_PTR() on failure. */
static inline struct dmem_cgroup_region *trn_cgroup_register(struct drm_device *drm, u64 size)
{
	struct dmem_cgroup_init init = { .size = size };

	return drmm_cgroup_register_region(drm, "hbm", &init);
}

/* 0, -EDQUOT, or -ENOMEM; charges the current process's cgroup. */
static inline int trn_cgroup_charge(struct dmem_cgroup_region *region, u64 size,
				    struct dmem_cgroup_pool_state **pool)
{
	int ret = dmem_cgroup_try_charge(region, size, pool, NULL);

	return ret == -EAGAIN ? -EDQUOT : ret;
}

static inline void trn_cgroup_uncharge(struct dmem_cgroup_pool_state *pool, u64 size)
{
	dmem_cgroup_uncharge(pool, size);
}
#else
static inline struct dmem_cgroup_region *trn_cgroup_register(struct drm_device *drm, u64 size)
{
	return NULL;
}

static inline int trn_cgroup_charge(struct dmem_cgroup_region *region, u64 size,
				    struct dmem_cgroup_pool_state **pool)
{
	*pool = NULL;
	return 0;
}

static inline void trn_cgroup_uncharge(struct dmem_cgroup_pool_state *pool, u64 size)
{
}
#endif

#endif /* _TRN_CGROUP_H */
