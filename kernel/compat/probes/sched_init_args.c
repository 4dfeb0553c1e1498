// SPDX-License-Identifier: GPL-2.0-only
#include <drm/gpu_scheduler.h>

int probe(struct drm_gpu_scheduler *sched);
int probe(struct drm_gpu_scheduler *sched)
{
	const struct drm_sched_init_args args = { .num_rqs = 1 };

	return drm_sched_init(sched, &args);
}
