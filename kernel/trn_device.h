/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_DEVICE_H
#define _TRN_DEVICE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>

#include <hw/trn_regs.h>

#include "trn_admin.h"
#include "trn_hbm.h"
#include "trn_kernel_vm.h"

#define TRN_DRIVER_NAME		"trn"
#define TRN_DRIVER_VERSION	"1.0.0"		/* of the module */
#define TRN_API_MAJOR		1
#define TRN_API_MINOR		0
#define TRN_API_PATCH		0

struct trn_queue;
struct trn_vector;

/* What the capability registers say; checked by trn_device_read_caps(). */
struct trn_caps {
	u64 hbm_stack_size;
	u64 hbm_aperture;
	u32 version;
	u32 cores;
	u32 hbm_stacks;
	u32 dma_engines;
	u32 coll_cores;
	u32 dtypes;
	u32 links;
	u32 contexts;
	u32 queues;
	u32 doorbell_stride;
	u32 vectors;
	u32 va_bits;
	u32 page_sizes;
	u32 ring_max;
	u32 sbuf_size;
	u32 psum_size;
	u32 semaphores;
	u32 ready_timeout_ms;
	u32 heartbeat_period_ms;
	u32 admin_timeout_ms;
	u32 events;
};

/* From IDENTIFY; strings are terminated and printable. */
struct trn_identity {
	u8 uuid[16];
	char generation[17];
	char serial[33];
	char firmware[33];
};

enum trn_state {
	TRN_STATE_OK,
	TRN_STATE_DEAD,		/* failed; the driver is still bound */
	TRN_STATE_GONE,		/* being removed or shut down */
};

struct trn_device {
	struct drm_device drm;
	struct pci_dev *pdev;
	void __iomem *regs;
	void __iomem *doorbells;
	struct trn_caps caps;
	struct trn_identity identity;

	/* enum trn_state; leaves OK once and never comes back. */
	atomic_t state;
	/* Serialises trn_device_stop(). */
	struct mutex stop_lock;
	/* Completed when the chip can no longer access host memory. */
	struct completion stopped;
	struct work_struct death_work;
	struct workqueue_struct *wq;

	struct delayed_work heartbeat_work;
	u32 heartbeat_last;
	unsigned long heartbeat_changed;	/* jiffies */

	struct trn_admin admin;

	struct work_struct event_work;
	/* Serialises reading the event log; protects event_log and event_seen. */
	struct mutex event_lock;
	struct trn_log_events *event_log;
	u64 event_seen;			/* newest sequence number handled */

	struct trn_vector *vectors;
	unsigned int num_vectors;	/* those for queues */

	struct xarray contexts;		/* ASID -> struct trn_context */
	struct trn_kernel_vm kernel_vm;
	struct workqueue_struct *bind_wq;	/* trn_bind_queue.c */
	struct workqueue_struct *bind_free_wq;
	struct xarray queues;		/* hardware queue id -> struct trn_queue */

	struct trn_hbm hbm;
	/* Protects bos and of every object on it DMA mapping and name. */
	struct mutex bo_lock;
	struct list_head bos;		/* struct trn_bo.link */
	/* Protects aperture_revoked, against the fault handler of mappings of HBM. */
	struct rw_semaphore aperture_lock;
	bool aperture_revoked;
	struct trn_queue *scrub_queue;
	/* Protects users and what they have. */
	spinlock_t users_lock;
	struct list_head users;		/* struct trn_user.link */

	/* Protects files; a file is on it until its hardware state is torn down. */
	struct mutex files_lock;
	struct list_head files;

	struct list_head netlink_link;	/* trn_netlink.c */
};

static inline struct trn_device *to_trn_device(struct drm_device *drm)
{
	return container_of(drm, struct trn_device, drm);
}

static inline u32 trn_read32(struct trn_device *tdev, u32 reg)
{
	return readl(tdev->regs + reg);
}

static inline u64 trn_read64(struct trn_device *tdev, u32 reg)
{
	return readq(tdev->regs + reg);
}

static inline void trn_write32(struct trn_device *tdev, u32 reg, u32 value)
{
	writel(value, tdev->regs + reg);
}

static inline void trn_write64(struct trn_device *tdev, u32 reg, u64 value)
{
	writeq(value, tdev->regs + reg);
}

static inline enum trn_state trn_device_state(struct trn_device *tdev)
{
	return atomic_read(&tdev->state);
}

struct trn_device *trn_device_create(struct pci_dev *pdev);
int trn_device_start(struct trn_device *tdev);
void trn_device_stop(struct trn_device *tdev);
void trn_device_remove(struct trn_device *tdev);
void trn_device_shutdown(struct trn_device *tdev);

__printf(2, 3)
void trn_device_declare_dead(struct trn_device *tdev, const char *fmt, ...);

bool trn_device_enter(struct trn_device *tdev, int *idx);
void trn_device_exit(int idx);

/* trn_heartbeat.c */
int trn_heartbeat_check_alive(struct trn_device *tdev);
void trn_heartbeat_start(struct trn_device *tdev);
void trn_heartbeat_stop(struct trn_device *tdev);

/* trn_event.c */
int trn_event_init(struct trn_device *tdev);
void trn_event_process(struct trn_device *tdev);

#endif /* _TRN_DEVICE_H */
