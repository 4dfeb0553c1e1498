// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module and DRM driver: what binds the units to the kernel.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include <drm/drm_accel.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/trn_accel.h>

#include "trn_bind.h"
#include "trn_compat.h"
#include "trn_context.h"
#include "trn_device.h"
#include "trn_drv.h"
#include "trn_gem.h"
#include "trn_netlink.h"
#include "trn_queue.h"
#include "trn_user.h"

static int trn_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct trn_file *file;
	int ret;

	if (trn_device_gone(tdev))
		return -ENODEV;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	file->dummy_page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!file->dummy_page) {
		ret = -ENOMEM;
		goto err_free;
	}
	file->tdev = tdev;
	file->client_id = drm_file->client_id;
	ret = trn_user_open(file);
	if (ret)
		goto err_free_page;
	mutex_init(&file->lock);
	/* Ids are never 0. */
	xa_init_flags(&file->contexts, XA_FLAGS_ALLOC1);
	xa_init_flags(&file->queues, XA_FLAGS_ALLOC1);
	drm_file->driver_priv = file;

	mutex_lock(&tdev->files_lock);
	list_add_tail(&file->link, &tdev->files);
	mutex_unlock(&tdev->files_lock);
	return 0;

err_free_page:
	__free_page(file->dummy_page);
err_free:
	kfree(file);
	return ret;
}

static void trn_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct trn_file *file = drm_file->driver_priv;
	int idx;

	/* Without files_lock: closing one file need not wait for another. */
	if (drm_dev_enter(drm, &idx)) {
		trn_context_destroy_all(file);
		drm_dev_exit(idx);
	}
	/*
	 * Unplugged: either this or trn_file_destroy_all() comes first, and removal
	 * goes on after both.
	 */
	mutex_lock(&tdev->files_lock);
	trn_context_destroy_all(file);
	list_del(&file->link);
	mutex_unlock(&tdev->files_lock);

	xa_destroy(&file->contexts);
	xa_destroy(&file->queues);
	mutex_destroy(&file->lock);
	trn_user_close(file);
	__free_page(file->dummy_page);
	kfree(file);
}

/* The device is unplugged: tear down what open files have on the chip. */
void trn_file_destroy_all(struct trn_device *tdev)
{
	struct trn_file *file;

	mutex_lock(&tdev->files_lock);
	list_for_each_entry(file, &tdev->files, link)
		trn_context_destroy_all(file);
	mutex_unlock(&tdev->files_lock);
}

/*
 * The DRM core's GET_UNIQUE and GET_MAGIC expect a DRM master, which files of
 * accel nodes do not have, and would dereference NULL.
 */
static bool trn_ioctl_needs_master(unsigned int cmd)
{
	unsigned int nr = DRM_IOCTL_NR(cmd);

	return nr == DRM_IOCTL_NR(DRM_IOCTL_GET_UNIQUE) || nr == DRM_IOCTL_NR(DRM_IOCTL_GET_MAGIC);
}

static long trn_unlocked_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	if (trn_ioctl_needs_master(cmd))
		return -EOPNOTSUPP;
	return drm_ioctl(filp, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long trn_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	if (trn_ioctl_needs_master(cmd))
		return -EOPNOTSUPP;
	return drm_compat_ioctl(filp, cmd, arg);
}
#else
#define trn_compat_ioctl NULL
#endif

static int trn_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct drm_file *drm_file = filp->private_data;

	if (trn_queue_owns_mmap_offset(vma->vm_pgoff))
		return trn_queue_mmap(drm_file->driver_priv, vma);
	return drm_gem_mmap(filp, vma);
}

static const struct file_operations trn_fops = {
	.owner = THIS_MODULE,
	.open = accel_open,
	.release = drm_release,
	.unlocked_ioctl = trn_unlocked_ioctl,
	.compat_ioctl = trn_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = trn_mmap,
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

#define TRN_IOCTL(name, func)	DRM_IOCTL_DEF_DRV(TRN_##name, trn_ioctl_##func, 0)

static const struct drm_ioctl_desc trn_ioctls[] = {
	TRN_IOCTL(QUERY, query),
	TRN_IOCTL(CONTEXT_CREATE, context_create),
	TRN_IOCTL(CONTEXT_DESTROY, context_destroy),
	TRN_IOCTL(BO_CREATE, bo_create),
	TRN_IOCTL(BO_MMAP_OFFSET, bo_mmap_offset),
	TRN_IOCTL(VM_BIND, vm_bind),
	TRN_IOCTL(QUEUE_CREATE, queue_create),
	TRN_IOCTL(QUEUE_DESTROY, queue_destroy),
	TRN_IOCTL(SUBMIT, submit),
	TRN_IOCTL(WAIT, wait),
	TRN_IOCTL(BO_CREATE_USERPTR, bo_create_userptr),
	TRN_IOCTL(BO_SET_NAME, bo_set_name),
	TRN_IOCTL(QUEUE_ERROR, queue_error),
	TRN_IOCTL(QUEUE_EVENTFD, queue_eventfd),
};

/*
 * Interface versions:
 * 1.0 - query, contexts, objects, VM_BIND, kernel and user queues
 */
const struct drm_driver trn_drm_driver = {
	.driver_features = DRIVER_COMPUTE_ACCEL | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE | TRN_DRIVER_GEM_GPUVA,
	.open = trn_open,
	.postclose = trn_postclose,
	.show_fdinfo = trn_gem_show_fdinfo,
	.gem_prime_import = trn_dmabuf_import,
	.ioctls = trn_ioctls,
	.num_ioctls = ARRAY_SIZE(trn_ioctls),
	.fops = &trn_fops,
	.name = TRN_DRIVER_NAME,
	.desc = "Trainium-class AI accelerator",
	.major = TRN_API_MAJOR,
	.minor = TRN_API_MINOR,
	.patchlevel = TRN_API_PATCH,
};

static int __init trn_init(void)
{
	int ret;

	ret = trn_netlink_register();
	if (ret)
		return ret;
	ret = pci_register_driver(&trn_pci_driver);
	if (ret)
		trn_netlink_unregister();
	return ret;
}

static void __exit trn_exit(void)
{
	pci_unregister_driver(&trn_pci_driver);
	trn_netlink_unregister();
	/* Somebody may be just asking a fence, now signalled, for its names. */
	synchronize_rcu();
	/* Queues are freed in callbacks. */
	rcu_barrier();
}

module_init(trn_init);
module_exit(trn_exit);

MODULE_DESCRIPTION("Trainium-class AI accelerator");
MODULE_LICENSE("GPL");
MODULE_VERSION(TRN_DRIVER_VERSION);
