/* SPDX-License-Identifier: GPL-2.0-only */
/* The DRM scheduler's changing calls.  For trn_sched.c alone. */
#ifndef _TRN_COMPAT_SCHED_H
#define _TRN_COMPAT_SCHED_H

#include <drm/gpu_scheduler.h>

#include "trn_config.h"

/* One run queue, no timeout. */
static inline int trn_compat_sched_init(struct drm_gpu_scheduler *sched,
					const struct drm_sched_backend_ops *ops,
					struct workqueue_struct *wq, u32 jobs,
					const char *name, struct device *dev)
{
#ifdef TRN_HAVE_SCHED_INIT_ARGS
	const struct drm_sched_init_args args = {
		.ops = ops,
		.submit_wq = wq,
		.num_rqs = 1,
		.credit_limit = jobs,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#else
	return drm_sched_init(sched, ops, wq, 1, jobs, 0, MAX_SCHEDULE_TIMEOUT, NULL, NULL,
			      name, dev);
#endif
}

/* Each job is one credit. */
static inline int trn_compat_sched_job_init(struct drm_sched_job *job,
					    struct drm_sched_entity *entity, u64 client_id)
{
#ifdef TRN_HAVE_SCHED_JOB_CLIENT_ID
	return drm_sched_job_init(job, entity, 1, NULL, client_id);
#else
	return drm_sched_job_init(job, entity, 1, NULL);
#endif
}

#endif /* _TRN_COMPAT_SCHED_H */
