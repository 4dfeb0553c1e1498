/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_BIND_H
#define _TRN_BIND_H

#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "trn_mapping.h"
#include "trn_sync.h"

struct drm_device;
struct drm_file;
struct drm_gpuvm_bo;
struct drm_trn_bind_op;
struct trn_context;
struct trn_device;
struct trn_fence;

/* A VM_BIND call.  Once prepared nothing but a MAP over a mapping can fail. */
struct trn_bind {
	struct trn_context *context;
	struct drm_trn_bind_op *ops;
	struct drm_gpuvm_bo **vm_bos;	/* one for each operation, NULL for UNMAP */
	u32 num_ops;
	u32 prepared;			/* operations that can be executed */
	u32 done;			/* operations that took effect */
	struct trn_mapping_change change;

	/* Asynchronous: */
	struct list_head link;		/* in trn_bind_queue */
	struct trn_syncs syncs;
	struct trn_fence *fence;	/* NULL once it is signalled */
	struct dma_fence_cb wait_cb;	/* at syncs.waits[waited], while @waiting */
	bool waiting;
	u32 waited;			/* fences that have signalled */
	int error;			/* of one of them */
};

/* The asynchronous calls of a context, executed in order. */
struct trn_bind_queue {
	struct trn_device *tdev;
	/* Protects the lists, @error and @seqno. */
	spinlock_t lock;
	struct list_head pending;	/* of trn_bind.link, oldest first */
	struct list_head finished;	/* to be freed */
	int error;			/* 0, or what all calls end with: none is accepted */
	u64 seqno;			/* of the newest call */
	u64 fence_context;
	struct work_struct work;	/* executes what is pending; alone removes from it */
	struct work_struct free_work;
};

/* trn_bind.c */
int trn_bind_exec(struct trn_bind *bind);
void trn_bind_free(struct trn_bind *bind);
int trn_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* trn_bind_queue.c */
int trn_bind_init(struct trn_device *tdev);
void trn_bind_queue_init(struct trn_bind_queue *queue, struct trn_device *tdev);
int trn_bind_queue_add(struct trn_bind_queue *queue, struct trn_bind *bind);
void trn_bind_queue_fail(struct trn_bind_queue *queue, int error);
void trn_bind_queue_stop(struct trn_bind_queue *queue);

#endif /* _TRN_BIND_H */
