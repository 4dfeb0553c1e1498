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

/* For trn_mapping_init() to arrange: the last reference is gone. */
void trn_context_free(struct trn_context *context)
{
	mutex_destroy(&context->vm.lock);
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
	}
	mutex_unlock(&file->lock);
}

/* The chip is stopped: asynchronous calls end. */
void trn_context_fail_all(struct trn_device *tdev)
{
	struct trn_context *context;
	unsigned long asid;

	xa_lock(&tdev->contexts);
	xa_for_each(&tdev->contexts, asid, context)
		trn_bind_queue_fail(&context->bind_queue, -ENODEV);
	xa_unlock(&tdev->contexts);
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
	kfree(context);
	return ERR_PTR(ret);
}

static int trn_context_create(struct trn_device *tdev, struct trn_file *file, u32 *id)
{
	struct trn_context *context = trn_context_alloc(tdev);
	int ret;

	if (IS_ERR(context))
		return PTR_ERR(context);
	ret = xa_alloc(&file->contexts, id, context, xa_limit_32b, GFP_KERNEL);
	if (ret)
		trn_context_destroy(context);
	return ret;
}

int trn_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_context_create *args = data;
	int idx, ret;

	if (args->flags)
		return -EINVAL;
	if (!trn_device_enter(tdev, &idx))
		return -ENODEV;
	ret = trn_context_create(tdev, drm_file->driver_priv, &args->context);
	trn_device_exit(idx);
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
	if (!trn_device_enter(tdev, &idx))
		return -ENODEV;
	ret = mutex_lock_killable(&file->lock);
	if (ret)
		goto out_exit;
	context = xa_erase(&file->contexts, args->context);
	if (context) {
		trn_queue_destroy_matching(file, context);
		trn_context_destroy(context);
	} else {
		ret = -ENOENT;
	}
	mutex_unlock(&file->lock);
out_exit:
	trn_device_exit(idx);
	return ret;
}
