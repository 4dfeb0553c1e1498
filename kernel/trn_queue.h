/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_QUEUE_H
#define _TRN_QUEUE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <hw/trn_queue.h>

#include "trn_ring.h"

struct dma_fence;
struct drm_device;
struct drm_file;
struct trn_bo;
struct trn_context;
struct trn_device;
struct trn_file;
struct vm_area_struct;

/* mmap offsets of queues: above DRM's own, below what 32-bit mmap2() reaches. */
#define TRN_MMAP_BASE		BIT_ULL(43)
#define TRN_MMAP_CONTROL	0
#define TRN_MMAP_DOORBELL	1
#define TRN_MMAP_KINDS		2

/* Why the chip has stopped a queue. */
struct trn_stop {
	u32 reason;			/* TRN_STOP_*, DRM_TRN_STOP_UNKNOWN; 0: it has not */
	u32 packet;			/* index of the packet that failed */
	u32 access;			/* TRN_ACCESS_* */
	u64 address;
};

struct trn_queue {
	struct kref ref;
	struct trn_device *tdev;
	struct trn_file *file;		/* NULL: the driver's own */
	struct trn_context *context;	/* NULL: the kernel's address space */
	u32 id;				/* the hardware's, in trn_device.queues */
	u32 handle;			/* in trn_file.queues */
	u32 mode;			/* DRM_TRN_QUEUE_* */

	struct page *control_page;
	struct trn_control *control;
	dma_addr_t control_dma;
	u32 generation;			/* of the control page */

	struct list_head vector_link;	/* trn_vector.queues */
	wait_queue_head_t wait;		/* progress, error */

	/* Taken in interrupt context, inside of trn_vector.lock. */
	spinlock_t lock;
	/* Protected by @lock: 0, or why the queue does not work any more. */
	int error;
	u32 status;			/* TRN_CONTROL_*; protected by @lock */
	struct trn_stop stop;		/* protected by @lock */
	/* Protected by @lock, user queue: trn_waiter.link of WAIT calls. */
	struct list_head waiters;
	/* Protected by @lock, kernel queue: trn_fence.link, oldest first. */
	struct list_head jobs;
	u64 seqno;			/* of the newest job; protected by @lock */

	/* User queue: protects @revoked, against the doorbell's fault handler. */
	struct mutex mmap_lock;
	bool revoked;

	/* Kernel queue: serialises writers of the ring. */
	struct mutex submit_lock;
	struct trn_ring ring;		/* protected by @lock */
	struct trn_bo *ring_bo;		/* fence word in the first page, then the ring */
	void *ring_memory;
	u64 ring_va;
	u64 fence_context;
};

struct trn_queue *trn_queue_get(struct trn_file *file, u32 handle);
void trn_queue_put(struct trn_queue *queue);
struct trn_queue *trn_queue_create_internal(struct trn_device *tdev, u32 ring_entries);
void trn_queue_destroy(struct trn_queue *queue);
void trn_queue_destroy_matching(struct trn_file *file, struct trn_context *context);
void trn_queue_set_error(struct trn_queue *queue, int error, u32 status);
void trn_queue_stopped(struct trn_device *tdev, u32 id, const struct trn_stop *stop);
void trn_queue_fail_all(struct trn_device *tdev);
void trn_queue_progress(struct trn_queue *queue);

int trn_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trn_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trn_ioctl_queue_error(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_queue_mmap.c */
u64 trn_queue_mmap_offset(const struct trn_queue *queue, unsigned int kind);
bool trn_queue_owns_mmap_offset(u64 pgoff);
int trn_queue_mmap(struct trn_file *file, struct vm_area_struct *vma);
void trn_queue_revoke(struct trn_queue *queue);

/* trn_submit.c: kernel queues */
void trn_submit_progress(struct trn_queue *queue);
void trn_submit_cancel(struct trn_queue *queue, int first_error, int error);
int trn_submit_packets(struct trn_queue *queue, struct trn_packet *packets, u32 count,
		       struct dma_fence **finished);
int trn_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_wait.c: user queues */
int trn_ioctl_wait(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* _TRN_QUEUE_H */
