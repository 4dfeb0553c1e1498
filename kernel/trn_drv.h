/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_DRV_H
#define _TRN_DRV_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/xarray.h>

#include <drm/drm_drv.h>

struct page;
struct pci_driver;
struct trn_device;
struct trn_user;

/* An open file: the owner of contexts and queues. */
struct trn_file {
	struct trn_device *tdev;
	u64 client_id;			/* drm_file.client_id */
	struct list_head link;		/* trn_device.files */
	/* Serialises creation of queues, and destruction of queues and contexts. */
	struct mutex lock;
	struct xarray contexts;		/* struct trn_context */
	struct xarray queues;		/* struct trn_queue */
	/* What doorbell mappings become when their queue is gone. */
	struct page *dummy_page;
	struct trn_user *user;		/* who opened it */
	bool unlimited;			/* the user's quotas do not bind this file */
};

extern const struct drm_driver trn_drm_driver;
extern struct pci_driver trn_pci_driver;	/* trn_pci.c */

int trn_ioctl_query(struct drm_device *drm, void *data, struct drm_file *drm_file);

void trn_file_destroy_all(struct trn_device *tdev);

#endif /* _TRN_DRV_H */
