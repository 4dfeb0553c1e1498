// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VM_BIND ioctl.
 *
 * A call is prepared as a whole, without a look at what is mapped: everything is
 * checked and allocated.  Then its operations are executed, by the caller
 * or by trn_bind_queue.c.
 */
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/trn_accel.h>

#include "trn_array.h"
#include "trn_bind.h"
#include "trn_context.h"
#include "trn_device.h"
#include "trn_fence.h"
#include "trn_gem.h"

static int trn_bind_check_op(const struct drm_trn_bind_op *op)
{
	u64 end;

	if (op->pad || !op->size)
		return -EINVAL;
	if (!PAGE_ALIGNED(op->va) || !PAGE_ALIGNED(op->size) || !PAGE_ALIGNED(op->offset))
		return -EINVAL;
	if (check_add_overflow(op->va, op->size, &end) || end > BIT_ULL(TRN_VA_BITS))
		return -EINVAL;
	switch (op->op) {
	case DRM_TRN_BIND_MAP:
	case DRM_TRN_BIND_REPLACE:
		return op->flags & ~DRM_TRN_BIND_READONLY ? -EINVAL : 0;
	case DRM_TRN_BIND_UNMAP:
		return op->flags || op->handle || op->offset ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

static int trn_bind_check_bo(const struct drm_trn_bind_op *op, const struct trn_bo *bo)
{
	u64 end;

	if (check_add_overflow(op->offset, op->size, &end) || end > bo->base.size)
		return -EINVAL;
	if (bo->readonly && !(op->flags & DRM_TRN_BIND_READONLY))
		return -EACCES;
	return 0;
}

/* Look up the object of a MAP or REPLACE, and count the tables that it needs. */
static int trn_bind_prepare_bo(struct trn_bind *bind, struct drm_file *drm_file, u32 index,
			       struct trn_mmu_demand *demand)
{
	const struct drm_trn_bind_op *op = &bind->ops[index];
	struct trn_context *context = bind->context;
	struct drm_gem_object *obj;
	struct trn_bo *bo;
	int ret;

	obj = drm_gem_object_lookup(drm_file, op->handle);
	if (!obj)
		return -ENOENT;
	bo = to_trn_bo(obj);
	ret = trn_bind_check_bo(op, bo);
	if (ret)
		goto out_put;
	ret = trn_vm_demand_map(&context->vm, op->va, op->size, bo, op->offset, demand);
	if (ret)
		goto out_put;
	bind->vm_bos[index] = trn_mapping_get_bo(context, bo);
	if (!bind->vm_bos[index])
		ret = -ENOMEM;
out_put:
	drm_gem_object_put(obj);
	return ret;
}

static int trn_bind_prepare_op(struct trn_bind *bind, struct drm_file *drm_file, u32 index,
			       struct trn_mmu_demand *demand)
{
	const struct drm_trn_bind_op *op = &bind->ops[index];
	unsigned int fresh = 0;
	int ret;

	if (fatal_signal_pending(current))
		return -EINTR;
	ret = trn_bind_check_op(op);
	if (ret)
		return ret;
	if (op->op != DRM_TRN_BIND_MAP) {
		trn_mmu_demand_unmap(&bind->context->vm.mmu, op->va, op->size, demand);
		fresh += 2;
	}
	if (op->op != DRM_TRN_BIND_UNMAP) {
		ret = trn_bind_prepare_bo(bind, drm_file, index, demand);
		if (ret)
			return ret;
		fresh++;
	}
	return trn_mapping_change_add_fresh(&bind->change, fresh);
}

static void trn_bind_print_error(const struct trn_bind *bind, u32 index, int error)
{
	const struct drm_trn_bind_op *op = &bind->ops[index];

	drm_dbg(&bind->context->vm.tdev->drm, "bind op %u (%u, va 0x%llx, size 0x%llx): %d\n",
		index, op->op, op->va, op->size, error);
}

/*
 * Prepare all operations.  If one fails its error is returned, and those before it
 * are prepared.
 */
static int trn_bind_prepare(struct trn_bind *bind, struct drm_file *drm_file)
{
	struct trn_mmu_demand demand;
	int error = 0, ret;

	trn_mmu_demand_init(&demand);
	for (; bind->prepared < bind->num_ops; bind->prepared++) {
		error = trn_bind_prepare_op(bind, drm_file, bind->prepared, &demand);
		if (error) {
			trn_bind_print_error(bind, bind->prepared, error);
			break;
		}
	}
	ret = trn_vm_spare_alloc(&bind->context->vm, &demand, &bind->change.spare);
	if (ret) {
		bind->prepared = 0;
		return ret;
	}
	return error;
}

static int trn_bind_exec_op(struct trn_bind *bind, u32 index)
{
	const struct drm_trn_bind_op *op = &bind->ops[index];

	if (op->op != DRM_TRN_BIND_MAP)
		trn_mapping_unmap(bind->context, op->va, op->size, &bind->change);
	if (op->op == DRM_TRN_BIND_UNMAP)
		return 0;
	return trn_mapping_map(bind->context, op->va, op->size, bind->vm_bos[index], op->offset,
			       op->flags & DRM_TRN_BIND_READONLY, &bind->change);
}

/**
 * trn_bind_exec() - execute a call that was prepared
 * @bind: call; its address space is locked and not closed
 *
 * Return: 0, or -EEXIST for a MAP over a mapping, or -EINTR when the caller is being
 * killed; @bind->done operations took effect.
 */
int trn_bind_exec(struct trn_bind *bind)
{
	int ret = 0;

	lockdep_assert_held(&bind->context->vm.lock);

	for (; bind->done < bind->prepared; bind->done++) {
		/* Never so in the work of an asynchronous call, which is executed as a whole. */
		ret = fatal_signal_pending(current) ? -EINTR : trn_bind_exec_op(bind, bind->done);
		if (ret) {
			trn_bind_print_error(bind, bind->done, ret);
			break;
		}
	}
	/* Once for all operations: nothing that was removed is used after this. */
	trn_mapping_flush(bind->context, &bind->change);
	return ret;
}

static int trn_bind_exec_sync(struct trn_bind *bind)
{
	struct trn_vm *vm = &bind->context->vm;
	int ret;

	if (mutex_lock_killable(&vm->lock))
		return -EINTR;
	ret = vm->closed ? -ENOENT : trn_bind_exec(bind);
	mutex_unlock(&vm->lock);
	return ret;
}

/* A call that no queue has any more.  The chip is still bound, or @bind was not prepared. */
void trn_bind_free(struct trn_bind *bind)
{
	u32 i;

	trn_mapping_change_fini(bind->context, &bind->change);
	for (i = 0; bind->vm_bos && i < bind->num_ops; i++) {
		if (bind->vm_bos[i])
			trn_mapping_put_bo(bind->vm_bos[i]);
		cond_resched();
	}
	trn_syncs_fini(&bind->syncs);
	if (bind->fence)
		trn_fence_free_unused(bind->fence);
	kvfree(bind->vm_bos);
	kvfree(bind->ops);
	trn_context_put(bind->context);
	kfree(bind);
}

/* Everything that comes from user memory, and needs no chip. */
static int trn_bind_copy(struct trn_bind *bind, struct drm_file *drm_file,
			 const struct drm_trn_vm_bind *args)
{
	struct drm_trn_bind_op *ops;

	ops = trn_array_copy(&args->ops, DRM_TRN_BIND_OPS_MAX, sizeof(*ops), sizeof(*ops));
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	bind->ops = ops;
	bind->num_ops = args->ops.count;
	bind->vm_bos = kvcalloc(bind->num_ops, sizeof(*bind->vm_bos), GFP_KERNEL_ACCOUNT);
	if (!bind->vm_bos)
		return -ENOMEM;
	if (!(args->flags & DRM_TRN_VM_BIND_ASYNC))
		return 0;

	bind->fence = trn_fence_alloc();
	if (!bind->fence)
		return -ENOMEM;
	return trn_syncs_init(&bind->syncs, drm_file, &args->syncs, DRM_TRN_BIND_SYNCS_MAX,
			      DRM_TRN_SYNC_SIGNAL | DRM_TRN_SYNC_WAIT);
}

static struct trn_bind *trn_bind_create(struct drm_file *drm_file,
					const struct drm_trn_vm_bind *args)
{
	struct trn_bind *bind;
	int ret;

	bind = kzalloc(sizeof(*bind), GFP_KERNEL_ACCOUNT);
	if (!bind)
		return ERR_PTR(-ENOMEM);
	trn_mapping_change_init(&bind->change);
	bind->context = trn_context_get(drm_file->driver_priv, args->context);
	if (!bind->context) {
		kfree(bind);
		return ERR_PTR(-ENOENT);
	}
	ret = trn_bind_copy(bind, drm_file, args);
	if (ret) {
		trn_bind_free(bind);
		return ERR_PTR(ret);
	}
	return bind;
}

static int trn_bind_sync(struct trn_bind *bind, struct drm_file *drm_file, u32 *done)
{
	int error, ret = 0;

	error = trn_bind_prepare(bind, drm_file);
	if (!error || bind->prepared)
		ret = trn_bind_exec_sync(bind);
	*done = bind->done;
	/* The chip may have been reset, or have died, on the way. */
	ret = trn_vm_lost(&bind->context->vm) ?: ret;
	trn_bind_free(bind);
	return ret ?: error;
}

static int trn_bind_async(struct trn_bind *bind, struct drm_file *drm_file)
{
	int ret;

	ret = trn_bind_prepare(bind, drm_file);
	if (!ret)
		ret = trn_bind_queue_add(&bind->context->bind_queue, bind);
	if (ret)
		trn_bind_free(bind);
	return ret;
}

int trn_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_vm_bind *args = data;
	bool async = args->flags & DRM_TRN_VM_BIND_ASYNC;
	struct trn_bind *bind;
	int idx, ret;

	args->done = 0;
	if (args->flags & ~DRM_TRN_VM_BIND_ASYNC || args->pad)
		return -EINVAL;
	if (!async && args->syncs.count)
		return -EINVAL;

	bind = trn_bind_create(drm_file, args);
	if (IS_ERR(bind))
		return PTR_ERR(bind);
	ret = trn_device_enter(tdev, &idx);
	if (ret) {
		trn_bind_free(bind);
		return ret;
	}
	ret = trn_vm_lost(&bind->context->vm);
	if (ret)
		trn_bind_free(bind);
	else if (async)
		ret = trn_bind_async(bind, drm_file);
	else
		ret = trn_bind_sync(bind, drm_file, &args->done);
	trn_device_exit(tdev, idx);
	return ret;
}
