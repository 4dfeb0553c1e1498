// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: an address space id with its address space.
 *
 * Whoever takes a context out of its file's table destroys it; calls in flight may
 * keep the memory of the structure by a reference, and find the address space
 * closed.
 */
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/trn_accel.h>

#include "trn_context.h"
#include "trn_device.h"
#include "trn_drv.h"
#include "trn_queue.h"
#include "trn_user.h"

/* For trn_mapping_init() to arrange: the last reference is gone. */
void trn_context_free(struct trn_context *context)
{
	mutex_destroy(&context->vm.lock);
	mutex_destroy(&context->queues_lock);
	kfree(context);
}

static void trn_context_release(struct kref *ref)
{
	trn_mapping_put(container_of(ref, struct trn_context, ref));
}

void trn_context_put(struct trn_context *context)
{
	kref_put(&context->ref, trn_context_release);
}

static struct trn_context *trn_context_lookup(struct xarray *contexts, u32 index)
{
	struct trn_context *context;

	xa_lock(contexts);
	context = xa_load(contexts, index);
	if (context)
		kref_get(&context->ref);
	xa_unlock(contexts);
	return context;
}

struct trn_context *trn_context_get(struct trn_file *file, u32 id)
{
	return trn_context_lookup(&file->contexts, id);
}

struct trn_context *trn_context_get_by_asid(struct trn_device *tdev, u16 asid)
{
	return trn_context_lookup(&tdev->contexts, asid);
}

/* @context is in no file's table, its queues are destroyed. */
static void trn_context_destroy(struct trn_context *context)
{
	struct trn_device *tdev = context->vm.tdev;

	trn_bind_queue_stop(&context->bind_queue);
	trn_vm_fini(&context->vm);
	trn_mapping_fini(context);
	xa_erase(&tdev->contexts, context->vm.asid);
	trn_context_put(context);
}

/*
 * All contexts and queues of a file; nothing if that has been done.  The file is
 * being closed or the device is unplugged: no call can add another.
 */
void trn_context_destroy_all(struct trn_file *file)
{
	struct trn_context *context;
	unsigned long id;

	mutex_lock(&file->lock);
	trn_queue_destroy_matching(file, NULL);
	xa_for_each(&file->contexts, id, context) {
		xa_erase(&file->contexts, id);
		trn_context_destroy(context);
		trn_user_uncharge(file, TRN_USER_CONTEXTS);
	}
	mutex_unlock(&file->lock);
}

/* The chip is stopped: asynchronous calls end.  Returns how many contexts it knew. */
unsigned int trn_context_fail_all(struct trn_device *tdev)
{
	int error = trn_device_gone(tdev) ? -ENODEV : -EIO;
	struct trn_context *context;
	unsigned int known = 0;
	unsigned long asid;

	xa_lock(&tdev->contexts);
	xa_for_each(&tdev->contexts, asid, context) {
		if (context->vm.epoch == trn_device_epoch(tdev))
			known++;
		trn_bind_queue_fail(&context->bind_queue, error);
	}
	xa_unlock(&tdev->contexts);
	return known;
}

/* Teaches lockdep that fences wait for whoever has the lock. */
static void trn_context_annotate_lock(struct trn_context *context)
{
	bool signalling = dma_fence_begin_signalling();

	might_lock(&context->queues_lock);
	dma_fence_end_signalling(signalling);
}

/* A context with an ASID of its own, in no file's table yet. */
static struct trn_context *trn_context_alloc(struct trn_device *tdev)
{
	struct trn_context *context;
	u32 asid;
	int ret;

	context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	if (!context)
		return ERR_PTR(-ENOMEM);
	kref_init(&context->ref);
	trn_bind_queue_init(&context->bind_queue, tdev);
	mutex_init(&context->queues_lock);
	trn_context_annotate_lock(context);

	ret = xa_alloc(&tdev->contexts, &asid, NULL, XA_LIMIT(1, tdev->caps.contexts - 1),
		       GFP_KERNEL);
	if (ret) {
		ret = ret == -EBUSY ? -ENOSPC : ret;
		goto err_free;
	}
	ret = trn_vm_init(&context->vm, tdev, asid);
	if (ret)
		goto err_free_asid;
	ret = trn_mapping_init(context);
	if (ret)
		goto err_fini_vm;
	/* Reserved: this allocates nothing. */
	xa_store(&tdev->contexts, asid, context, GFP_KERNEL);
	return context;

err_fini_vm:
	trn_vm_fini(&context->vm);
	mutex_destroy(&context->vm.lock);
err_free_asid:
	xa_erase(&tdev->contexts, asid);
err_free:
	mutex_destroy(&context->queues_lock);
	kfree(context);
	return ERR_PTR(ret);
}

static int trn_context_create(struct trn_device *tdev, struct trn_file *file, u32 *id)
{
	struct trn_context *context;
	int ret;

	ret = trn_user_charge(file, TRN_USER_CONTEXTS);
	if (ret)
		return ret;
	context = trn_context_alloc(tdev);
	if (IS_ERR(context)) {
		ret = PTR_ERR(context);
		goto err_uncharge;
	}
	ret = xa_alloc(&file->contexts, id, context, xa_limit_32b, GFP_KERNEL);
	if (ret)
		goto err_destroy;
	return 0;

err_destroy:
	trn_context_destroy(context);
err_uncharge:
	trn_user_uncharge(file, TRN_USER_CONTEXTS);
	return ret;
}

int trn_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_context_create *args = data;
	int idx, ret;
	u32 epoch;

	if (args->flags)
		return -EINVAL;
	do {
		ret = trn_device_enter(tdev, &idx);
		if (ret)
			return ret;
		epoch = trn_device_epoch(tdev);
		ret = trn_context_create(tdev, drm_file->driver_priv, &args->context);
		trn_device_exit(tdev, idx);
		/* Once more, if the chip was reset under it. */
	} while (ret == -EIO && trn_device_lost(tdev, epoch));
	return ret;
}

int trn_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_context_destroy *args = data;
	struct trn_file *file = drm_file->driver_priv;
	struct trn_context *context;
	int idx, ret;

	if (args->pad)
		return -EINVAL;
	ret = trn_device_enter(tdev, &idx);
	if (ret)
		return ret;
	ret = mutex_lock_killable(&file->lock);
	if (ret)
		goto out_exit;
	context = xa_erase(&file->contexts, args->context);
	if (context) {
		trn_queue_destroy_matching(file, context);
		trn_context_destroy(context);
		trn_user_uncharge(file, TRN_USER_CONTEXTS);
	} else {
		ret = -ENOENT;
	}
	mutex_unlock(&file->lock);
out_exit:
	trn_device_exit(tdev, idx);
	return ret;
}
