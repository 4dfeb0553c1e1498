// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/trn_accel.h>

#include "trn_device.h"
#include "trn_drv.h"
#include "trn_user.h"

/*
 * Copy what both sides know and zero what only the caller knows; @args->size
 * becomes the size of the driver's structure.
 */
static int trn_query_reply(struct drm_trn_query *args, const void *reply, u32 size)
{
	void __user *dst = u64_to_user_ptr(args->pointer);
	u32 known = min(args->size, size);

	if (args->size > DRM_TRN_QUERY_SIZE_MAX)
		return -E2BIG;
	if (args->pointer) {
		if (copy_to_user(dst, reply, known) || clear_user(dst + known, args->size - known))
			return -EFAULT;
	}
	args->size = size;
	return 0;
}

static void trn_query_device(struct trn_device *tdev, struct drm_trn_query_device *reply)
{
	const struct trn_identity *identity = &tdev->identity;
	const struct trn_caps *caps = &tdev->caps;

	*reply = (struct drm_trn_query_device) {
		.architecture_version = caps->version,
		.cores = caps->cores,
		.hbm_stack_size = caps->hbm_stack_size,
		.hbm_stacks = caps->hbm_stacks,
		.dma_engines = caps->dma_engines,
		.coll_cores = caps->coll_cores,
		.dtypes = caps->dtypes,
		.links = caps->links,
		.sbuf_size = caps->sbuf_size,
		.psum_size = caps->psum_size,
		.semaphores = caps->semaphores,
		.va_bits = caps->va_bits,
		.ring_max = caps->ring_max,
		.page_size = PAGE_SIZE,
		.tensor_pack = caps->tensor_pack,
	};
	memcpy(reply->uuid, identity->uuid, sizeof(reply->uuid));
	strscpy(reply->generation, identity->generation, sizeof(reply->generation));
	strscpy(reply->serial, identity->serial, sizeof(reply->serial));
	strscpy(reply->firmware, identity->firmware, sizeof(reply->firmware));
}

static void trn_query_recovery(struct trn_device *tdev, struct drm_trn_query_recovery *reply)
{
	const struct trn_recovery_counters *counters = &tdev->recovery;

	*reply = (struct drm_trn_query_recovery) {
		.queue_stops = atomic64_read(&counters->queue_stops),
		.queue_resets = atomic64_read(&counters->queue_resets),
		.context_resets = atomic64_read(&counters->context_resets),
		.function_resets = atomic64_read(&counters->function_resets),
		.contexts_lost = atomic64_read(&counters->contexts_lost),
		.core_resets = atomic64_read(&counters->core_resets),
	};
}

int trn_ioctl_query(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_query *args = data;
	union {
		struct drm_trn_query_device device;
		struct drm_trn_query_memory memory;
		struct drm_trn_query_recovery recovery;
	} reply = {};

	if (trn_device_gone(tdev))
		return -ENODEV;
	switch (args->query) {
	case DRM_TRN_QUERY_DEVICE:
		trn_query_device(tdev, &reply.device);
		return trn_query_reply(args, &reply, sizeof(reply.device));
	case DRM_TRN_QUERY_MEMORY:
		trn_hbm_query(tdev, &reply.memory);
		trn_user_query(drm_file->driver_priv, &reply.memory);
		return trn_query_reply(args, &reply, sizeof(reply.memory));
	case DRM_TRN_QUERY_RECOVERY:
		trn_query_recovery(tdev, &reply.recovery);
		return trn_query_reply(args, &reply, sizeof(reply.recovery));
	default:
		return -EINVAL;
	}
}
