/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_DEVICE_H
#define _TRN_DEVICE_H

#include <linux/atomic.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>

#include <hw/trn_regs.h>

#include "trn_admin.h"
#include "trn_hbm.h"
#include "trn_kernel_vm.h"
#include "trn_reset_history.h"

#define TRN_DRIVER_NAME		"trn"
#define TRN_DRIVER_VERSION	"1.0.0"		/* of the module */
#define TRN_API_MAJOR		1
#define TRN_API_MINOR		0
#define TRN_API_PATCH		0

struct trn_coredump;
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
	u32 tensor_pack;
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
	TRN_STATE_PAUSED,	/* being brought up or reset, failed, or suspended */
	TRN_STATE_DEAD,		/* failed for good; the driver is still bound */
	TRN_STATE_GONE,		/* being removed or shut down */
};

/* For DRM_TRN_QUERY_RECOVERY: what has gone wrong since the chip was bound. */
struct trn_recovery_counters {
	atomic64_t queue_stops;
	atomic64_t queue_resets;
	atomic64_t context_resets;
	atomic64_t core_resets;
	atomic64_t function_resets;
	atomic64_t contexts_lost;
};

struct trn_device {
	struct drm_device drm;
	struct pci_dev *pdev;
	void __iomem *regs;
	void __iomem *doorbells;
	struct trn_caps caps;
	struct trn_identity identity;
	struct trn_recovery_counters recovery;

	/* trn_reset.c: protects changes of @state, @reason, @requested, @reset_deadline. */
	spinlock_t state_lock;
	atomic_t state;			/* enum trn_state */
	wait_queue_head_t state_wait;	/* for the end of PAUSED */
	char reason[128];		/* why it is not OK, or does not become it; or empty */
	bool requested;			/* the chip has not failed by itself */
	unsigned long reset_deadline;	/* jiffies: until then resets are tried */
	/* Calls that use the chip, between trn_device_enter() and trn_device_exit(). */
	struct srcu_struct calls;
	/* Serialises pauses and resumes; protects what follows. */
	struct mutex reset_lock;
	enum trn_state told;		/* what everybody has been told */
	bool suspended;
	unsigned int contexts_lost;	/* by the pause */
	struct trn_reset_history reset_history;
	struct delayed_work reset_work;

	/* Protects @epoch, which anybody may read, and @stopped. */
	struct mutex stop_lock;
	/* Which of its lives the chip is in: what it knew in one it has forgotten in the next. */
	u32 epoch;
	bool stopped;			/* it can no longer access host memory */

	struct workqueue_struct *wq;

	struct delayed_work heartbeat_work;
	u32 heartbeat_last;
	unsigned long heartbeat_changed;	/* jiffies */

	struct work_struct watchdog_work;
	struct trn_log_running *running_log;	/* of the watchdog's work */

	/* Protects reports. */
	spinlock_t reports_lock;
	struct list_head reports;	/* trn_queue.report_link, with a reference */
	struct work_struct report_work;
	struct trn_coredump *coredump;

	struct trn_admin admin;

	struct work_struct event_work;
	/* Serialises reading the event log; protects event_log and event_seen. */
	struct mutex event_lock;
	struct trn_log_events *event_log;
	u64 event_seen;			/* newest sequence number handled */

	struct trn_vector *vectors;	/* the first is the admin queue's */
	unsigned int num_vectors;
	struct delayed_work storm_work;	/* trn_storm.c */

	struct xarray contexts;		/* ASID -> struct trn_context */
	struct trn_kernel_vm kernel_vm;
	struct workqueue_struct *bind_wq;	/* trn_bind_queue.c */
	struct workqueue_struct *free_wq;	/* frees what fences must not wait for */
	struct workqueue_struct *sched_wq;	/* trn_sched.c */
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

static inline bool trn_device_gone(struct trn_device *tdev)
{
	return trn_device_state(tdev) >= TRN_STATE_DEAD;
}

static inline u32 trn_device_epoch(struct trn_device *tdev)
{
	return READ_ONCE(tdev->epoch);
}

struct trn_device *trn_device_create(struct pci_dev *pdev);
int trn_device_start(struct trn_device *tdev);
bool trn_device_present(struct trn_device *tdev);
int trn_device_boot(struct trn_device *tdev);
void trn_device_stop(struct trn_device *tdev, u32 epoch);
void trn_device_remove(struct trn_device *tdev);

/* trn_reset.c */
int trn_reset_init(struct trn_device *tdev);
int trn_device_enter(struct trn_device *tdev, int *idx);
int trn_device_try_enter(struct trn_device *tdev, int *idx);
void trn_device_exit(struct trn_device *tdev, int idx);
int trn_device_lost(struct trn_device *tdev, u32 epoch);
__printf(2, 3)
void trn_device_fail(struct trn_device *tdev, const char *fmt, ...);
bool trn_device_set_running(struct trn_device *tdev);
void trn_device_pause(struct trn_device *tdev, const char *why);
void trn_device_expect_resume(struct trn_device *tdev, unsigned int timeout_ms);
void trn_device_resume(struct trn_device *tdev);
void trn_device_give_up(struct trn_device *tdev, const char *why);
void trn_device_suspend(struct trn_device *tdev);
void trn_device_wake(struct trn_device *tdev);
void trn_device_let_go(struct trn_device *tdev);

/* trn_heartbeat.c */
unsigned int trn_heartbeat_interval_ms(void);
void trn_heartbeat_init(struct trn_device *tdev);
int trn_heartbeat_check_alive(struct trn_device *tdev);
void trn_heartbeat_start(struct trn_device *tdev);
void trn_heartbeat_stop(struct trn_device *tdev);

/* trn_event.c */
int trn_event_init(struct trn_device *tdev);
void trn_event_start(struct trn_device *tdev);
void trn_event_stop(struct trn_device *tdev);
void trn_event_process(struct trn_device *tdev, u32 epoch);

#endif /* _TRN_DEVICE_H */
