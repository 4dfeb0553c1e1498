/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_QUEUE_H
#define _TRN_QUEUE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <hw/trn_queue.h>

#include "trn_recovery.h"
#include "trn_ring.h"
#include "trn_watchdog.h"

struct dma_fence;
struct drm_device;
struct drm_file;
struct trn_bo;
struct trn_context;
struct trn_device;
struct trn_file;
struct trn_sched;
struct vm_area_struct;

/* mmap offsets of queues: above DRM's own, below what 32-bit mmap2() reaches. */
#define TRN_MMAP_BASE		BIT_ULL(43)
#define TRN_MMAP_CONTROL	0
#define TRN_MMAP_DOORBELL	1
#define TRN_MMAP_KINDS		2

/* Others may wait for the fence of a job: it may not run longer, whatever anybody asks for. */
#define TRN_JOB_TIMEOUT_MAX_MS	10000U

/* Why a queue was stopped, by the chip or because a job ran too long. */
struct trn_stop {
	u32 reason;			/* TRN_STOP_*, DRM_TRN_STOP_UNKNOWN; 0: it was not */
	u32 packet;			/* index of the packet that failed */
	u32 access;			/* TRN_ACCESS_* */
	u64 address;
	u8 exception;			/* TRN_EXCEPTION_*: a program failed */
	u8 engine;			/* TRN_ENGINE_* */
	u32 instruction;		/* index in the engine's stream */
};

struct trn_queue {
	struct kref ref;
	struct trn_device *tdev;
	struct trn_file *file;		/* NULL: the driver's own */
	struct trn_context *context;	/* NULL: the kernel's address space */
	u32 id;				/* the hardware's, in trn_device.queues */
	u32 handle;			/* in trn_file.queues */
	u64 client_id;			/* of the file; 0: the driver's own */
	u32 mode;			/* DRM_TRN_QUEUE_* */
	u8 type;			/* TRN_QUEUE_TYPE_* */
	u32 epoch;			/* of the chip; it has forgotten queues of others */
	u32 priority;			/* DRM_TRN_PRIORITY_* */
	/* Longest running time in ms: of a job if a kernel queue, of a packet if not; 0 = any. */
	u32 timeout_ms;

	struct page *control_page;
	struct trn_control *control;
	dma_addr_t control_dma;
	u32 generation;			/* of the control page */

	/* The chip has it, unless it was reset; protected by the context's queues_lock. */
	bool on_chip;
	struct trn_watch watch;		/* trn_watchdog.c; kernel queue */
	/* trn_recovery.c: protected by trn_device.reports_lock. */
	struct list_head report_link;	/* trn_device.reports */
	enum trn_rung report_rung;

	/* Protected by trn_vector.lock. */
	struct list_head vector_link;	/* trn_vector.queues */
	u32 interrupt_uses;		/* in the vector's window */
	bool masked;			/* for a storm, until: */
	unsigned long masked_until;	/* jiffies */

	wait_queue_head_t wait;		/* progress, error */

	/* Taken in interrupt context, inside of trn_vector.lock. */
	spinlock_t lock;
	/* Protected by @lock: 0, or why the queue does not work any more. */
	int error;
	u32 status;			/* TRN_CONTROL_*; protected by @lock */
	struct trn_stop stop;		/* protected by @lock */
	/* Protected by @lock, user queue: trn_waiter.link, of WAIT calls and eventfds. */
	struct list_head waiters;
	u32 num_eventfds;		/* of them; protected by @lock */
	struct list_head fired;		/* eventfds to be freed; protected by @lock */
	struct work_struct eventfd_work;
	/* Protected by @lock, kernel queue: trn_fence.link, oldest first. */
	struct list_head jobs;
	u64 seqno;			/* of the newest job; protected by @lock */
	u64 pushed;			/* newest that was on the ring; written under @lock */
	u32 waiting;			/* jobs after it; protected by @lock */

	/*
	 * User queue: protects @revoked, against the doorbell's fault handler.  Until it is
	 * set @id is this queue's on the chip.
	 */
	struct mutex mmap_lock;
	bool revoked;

	/* Protected by @lock, but the number of entries; a user queue has only that. */
	struct trn_ring ring;
	/* User queue: the ring.  Kernel queue: a page with the fence word, then the ring. */
	u64 ring_va;

	/* Kernel queue: serialises writers of the ring. */
	struct mutex submit_lock;
	struct trn_bo *ring_bo;		/* what is at @ring_va */
	void *ring_memory;
	struct page *fence_page;	/* the one with the fence word */
	struct rcu_head rcu;		/* for fences, which look at that */
	struct work_struct release_work;	/* trn_queue_put_later() */
	u64 fence_context;
	/* Memory for that many packets of the next job, or NULL. */
#define TRN_QUEUE_SPARE_PACKETS	32
	struct trn_packet *spare_packets;
	struct trn_sched *sched;	/* NULL: jobs of the driver's own do not wait */
};

u32 trn_queue_timeout_max(u32 mode);
struct trn_queue *trn_queue_get(struct drm_file *drm_file, u32 handle);
u16 trn_queue_asid(const struct trn_queue *queue);
struct trn_queue *trn_queue_get_by_id(struct trn_device *tdev, u32 id);
void trn_queue_put(struct trn_queue *queue);
void trn_queue_put_later(struct trn_queue *queue);
struct trn_queue *trn_queue_create_internal(struct trn_device *tdev, u32 ring_entries);
void trn_queue_destroy(struct trn_queue *queue);
void trn_queue_destroy_matching(struct trn_file *file, struct trn_context *context);
void trn_queue_set_error(struct trn_queue *queue, int error, u32 status);
bool trn_queue_stop(struct trn_queue *queue, const struct trn_stop *stop);
void trn_queue_fail_all(struct trn_device *tdev);
void trn_queue_revoke_all(struct trn_device *tdev);
unsigned int trn_queue_progress(struct trn_queue *queue);

int trn_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trn_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trn_ioctl_queue_error(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_queue_mmap.c */
u64 trn_queue_mmap_offset(const struct trn_queue *queue, unsigned int kind);
bool trn_queue_owns_mmap_offset(u64 pgoff);
int trn_queue_mmap(struct trn_file *file, struct vm_area_struct *vma);
void trn_queue_revoke(struct trn_queue *queue);

/* trn_submit.c: kernel queues */
bool trn_submit_finished(const struct trn_queue *queue, u64 seqno);
unsigned int trn_submit_progress(struct trn_queue *queue);
u64 trn_submit_job_of_packet(struct trn_queue *queue, u32 packet);
void trn_submit_cancel(struct trn_queue *queue, int first_error, int error);
int trn_submit_packets(struct trn_queue *queue, struct trn_packet *packets, u32 count,
		       struct dma_fence **finished);
int trn_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_wait.c: user queues */
int trn_ioctl_wait(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_eventfd.c: user queues */
int trn_ioctl_queue_eventfd(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* _TRN_QUEUE_H */
