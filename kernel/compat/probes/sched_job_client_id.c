// SPDX-License-Identifier: GPL-2.0-only
#include <drm/gpu_scheduler.h>

int probe(struct drm_sched_job *job, struct drm_sched_entity *entity);
int probe(struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	return drm_sched_job_init(job, entity, 1, NULL, 1);
}
