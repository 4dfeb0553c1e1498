// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host objects of a process's own memory.
 *
 * The pages are pinned, not followed: fork(), munmap() and mremap() change what the
 * process sees and not what the chip does.  They are let go by the last reference,
 * when no address space has them any more.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include "trn_device.h"
#include "trn_drv.h"
#include "trn_gem.h"

/* Pages pinned, or let go, before looking for a kill or for others who want the CPU. */
#define TRN_USERPTR_BATCH	16384UL

/* Count @pages against the user's RLIMIT_MEMLOCK, as io_uring and AF_XDP do. */
static int trn_userptr_account(struct trn_bo *bo, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT, locked;
	struct user_struct *user = current_user();

	if (capable(CAP_IPC_LOCK))
		return 0;
	locked = atomic_long_read(&user->locked_vm);
	do {
		if (locked > limit || pages > limit - locked)
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &locked, locked + pages));
	bo->locked_by = get_uid(user);
	return 0;
}

static void trn_userptr_unaccount(struct trn_bo *bo, unsigned long pages)
{
	if (!bo->locked_by)
		return;
	atomic_long_sub(pages, &bo->locked_by->locked_vm);
	free_uid(bo->locked_by);
}

static int trn_userptr_pin(struct trn_bo *bo, u64 address)
{
	unsigned int flags = FOLL_LONGTERM | (bo->readonly ? 0 : FOLL_WRITE);
	unsigned long count = bo->base.size >> PAGE_SHIFT;

	bo->pages = kvcalloc(count, sizeof(*bo->pages), GFP_KERNEL_ACCOUNT);
	if (!bo->pages)
		return -ENOMEM;
	while (bo->pinned < count) {
		long ret;

		if (fatal_signal_pending(current))
			return -EINTR;
		ret = pin_user_pages_fast(address + ((u64)bo->pinned << PAGE_SHIFT),
					  min(count - bo->pinned, TRN_USERPTR_BATCH), flags,
					  bo->pages + bo->pinned);
		if (ret <= 0)
			return ret ? ret : -EFAULT;
		bo->pinned += ret;
		cond_resched();
	}
	return 0;
}

static int trn_userptr_init(struct trn_device *tdev, struct trn_bo *bo, u64 address)
{
	int ret;

	ret = trn_userptr_account(bo, bo->base.size >> PAGE_SHIFT);
	if (ret) {
		drm_dbg(&tdev->drm, "%zu bytes of user memory: more than RLIMIT_MEMLOCK allows\n",
			bo->base.size);
		return ret;
	}
	return trn_userptr_pin(bo, address);
}

static void trn_userptr_unpin(struct trn_bo *bo)
{
	while (bo->pinned) {
		unsigned long batch = min(bo->pinned, TRN_USERPTR_BATCH);

		bo->pinned -= batch;
		unpin_user_pages_dirty_lock(bo->pages + bo->pinned, batch, !bo->readonly);
		cond_resched();
	}
}

void trn_userptr_release(struct trn_bo *bo)
{
	trn_host_release_sgt(bo);
	trn_userptr_unpin(bo);
	kvfree(bo->pages);
	trn_userptr_unaccount(bo, bo->base.size >> PAGE_SHIFT);
}

static struct trn_bo *trn_userptr_create(struct trn_device *tdev, struct drm_file *drm_file,
					 const struct drm_trn_bo_create_userptr *args)
{
	struct trn_bo *bo;
	int ret;

	ret = trn_host_check_size(args->size);
	if (ret)
		return ERR_PTR(ret);
	bo = trn_gem_alloc(TRN_BO_USERPTR, drm_file);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->readonly = args->flags & DRM_TRN_BO_READONLY;
	drm_gem_private_object_init(&tdev->drm, &bo->base, args->size);
	ret = trn_userptr_init(tdev, bo, args->address);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	return bo;
}

/* Takes over the caller's reference to @bo. */
static int trn_userptr_map(struct trn_device *tdev, struct trn_bo *bo, struct drm_file *drm_file,
			   u32 *handle)
{
	int idx, ret;

	ret = trn_device_enter(tdev, &idx);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ret;
	}
	ret = trn_host_map(tdev, bo);
	if (ret) {
		drm_gem_object_put(&bo->base);
		goto out_exit;
	}
	trn_gem_publish(bo);
	ret = trn_gem_create_handle(bo, drm_file, handle);
out_exit:
	trn_device_exit(tdev, idx);
	return ret;
}

int trn_ioctl_bo_create_userptr(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_bo_create_userptr *args = data;
	struct trn_bo *bo;
	u64 end;
	int ret;

	if (args->flags & ~DRM_TRN_BO_READONLY || !args->size ||
	    !PAGE_ALIGNED(args->address) || !PAGE_ALIGNED(args->size) ||
	    check_add_overflow(args->address, args->size, &end))
		return -EINVAL;
	if (end > TASK_SIZE)
		return -EFAULT;

	if (trn_device_gone(tdev))
		return -ENODEV;
	/*
	 * Outside of trn_device_enter(): a page may have to come from a process that takes
	 * its time (userfaultfd, FUSE), and removal must not wait for that.
	 */
	bo = trn_userptr_create(tdev, drm_file, args);
	ret = IS_ERR(bo) ? PTR_ERR(bo) : trn_userptr_map(tdev, bo, drm_file, &args->handle);
	if (ret)
		drm_dbg(drm, "user memory at 0x%llx, %llu bytes, flags 0x%x: %d\n",
			args->address, args->size, args->flags, ret);
	return ret;
}
