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

#include "trn_context.h"
#include "trn_device.h"
#include "trn_drv.h"
#include "trn_queue.h"

static void trn_context_release(struct kref *ref)
{
	struct trn_context *context = container_of(ref, struct trn_context, ref);

	mutex_destroy(&context->vm.lock);
	kfree(context);
}

void trn_context_put(struct trn_context *context)
{
	kref_put(&context->ref, trn_context_release);
}

struct trn_context *trn_context_get(struct trn_file *file, u32 id)
{
	struct trn_context *context;

	xa_lock(&file->contexts);
	context = xa_load(&file->contexts, id);
	if (context)
		kref_get(&context->ref);
	xa_unlock(&file->contexts);
	return context;
}

/* @context was taken out of its file's table, its queues are destroyed. */
static void trn_context_destroy(struct trn_context *context)
{
	struct trn_device *tdev = context->vm.tdev;

	trn_vm_fini(&context->vm);
	ida_free(&tdev->asids, context->vm.asid);
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

static int trn_context_create(struct trn_device *tdev, struct trn_file *file, u32 *id)
{
	struct trn_context *context;
	int asid, ret;

	context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	if (!context)
		return -ENOMEM;
	kref_init(&context->ref);

	asid = ida_alloc_range(&tdev->asids, 1, tdev->caps.contexts - 1, GFP_KERNEL);
	if (asid < 0) {
		ret = asid;
		goto err_free;
	}
	ret = trn_vm_init(&context->vm, tdev, asid);
	if (ret)
		goto err_free_asid;

	ret = xa_alloc(&file->contexts, id, context, xa_limit_32b, GFP_KERNEL);
	if (ret)
		goto err_fini_vm;
	return 0;

err_fini_vm:
	trn_vm_fini(&context->vm);
err_free_asid:
	ida_free(&tdev->asids, asid);
err_free:
	kfree(context);
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
