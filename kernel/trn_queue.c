// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues: creation, destruction, failure.
 *
 * Jobs of a queue may be told that they failed only when the chip does nothing
 * for them any more: after QUEUE_DESTROY, after the chip has stopped the queue, or
 * after the chip itself was stopped.
 */
#include <linux/capability.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/trn_accel.h>

#include "trn_context.h"
#include "trn_device.h"
#include "trn_dma.h"
#include "trn_drv.h"
#include "trn_fence.h"
#include "trn_gem.h"
#include "trn_irq.h"
#include "trn_queue.h"
#include "trn_recovery.h"
#include "trn_sched.h"
#include "trn_user.h"
#include "trn_wait.h"

static unsigned int job_timeout_ms = TRN_JOB_TIMEOUT_MAX_MS;
module_param(job_timeout_ms, uint, 0444);
MODULE_PARM_DESC(job_timeout_ms,
		 "Longest running time of a job on a kernel queue in ms, at most 10000, 0 = any (default 10000)");

static unsigned int packet_timeout_ms = 30000;
module_param(packet_timeout_ms, uint, 0444);
MODULE_PARM_DESC(packet_timeout_ms,
		 "Longest running time of a packet on a user queue in ms, 0 = any (default 30000)");

/* Longest running time in ms that a queue of @mode may ask for, 0 = any. */
u32 trn_queue_timeout_max(u32 mode)
{
	/* Fences are waited for by who knows nothing of this device. */
	return mode == DRM_TRN_QUEUE_KERNEL ? min(job_timeout_ms, TRN_JOB_TIMEOUT_MAX_MS) :
					      packet_timeout_ms;
}

static void trn_queue_free_rcu(struct rcu_head *rcu)
{
	struct trn_queue *queue = container_of(rcu, struct trn_queue, rcu);

	if (queue->fence_page)
		put_page(queue->fence_page);
	kfree(queue);
}

static void trn_queue_release(struct trn_queue *queue)
{
	trn_sched_free(queue);
	kvfree(queue->spare_packets);
	if (queue->ring_memory)
		vunmap(queue->ring_memory);
	if (queue->ring_bo)
		drm_gem_object_put(&queue->ring_bo->base);
	__free_page(queue->control_page);
	if (queue->context)
		trn_context_put(queue->context);
	mutex_destroy(&queue->mmap_lock);
	mutex_destroy(&queue->submit_lock);
	call_rcu(&queue->rcu, trn_queue_free_rcu);
}

static void trn_queue_release_work(struct work_struct *work)
{
	trn_queue_release(container_of(work, struct trn_queue, release_work));
}

static void trn_queue_release_now(struct kref *ref)
{
	trn_queue_release(container_of(ref, struct trn_queue, ref));
}

static void trn_queue_release_later(struct kref *ref)
{
	struct trn_queue *queue = container_of(ref, struct trn_queue, ref);

	queue_work(queue->tdev->free_wq, &queue->release_work);
}

void trn_queue_put(struct trn_queue *queue)
{
	kref_put(&queue->ref, trn_queue_release_now);
}

/* Where fences wait: objects are freed under locks whose holders wait for fences. */
void trn_queue_put_later(struct trn_queue *queue)
{
	kref_put(&queue->ref, trn_queue_release_later);
}

/* The queue that @queues has at @index, with a reference, or NULL. */
static struct trn_queue *trn_queue_lookup(struct xarray *queues, u32 index)
{
	struct trn_queue *queue;

	xa_lock(queues);
	queue = xa_load(queues, index);
	if (queue)
		kref_get(&queue->ref);
	xa_unlock(queues);
	return queue;
}

/* The queue that a call names, with a reference; -ENODEV the chip is gone; -ENOENT. */
struct trn_queue *trn_queue_get(struct drm_file *drm_file, u32 handle)
{
	struct trn_file *file = drm_file->driver_priv;

	if (trn_device_gone(file->tdev))
		return ERR_PTR(-ENODEV);
	return trn_queue_lookup(&file->queues, handle) ?: ERR_PTR(-ENOENT);
}

/* The address space of the operands. */
u16 trn_queue_asid(const struct trn_queue *queue)
{
	return queue->context ? queue->context->vm.asid : 0;
}

struct trn_queue *trn_queue_get_by_id(struct trn_device *tdev, u32 id)
{
	return trn_queue_lookup(&tdev->queues, id);
}

/*
 * From interrupts and the heartbeat: look what the chip has done.  Returns how many jobs
 * ended or waiters were woken.
 */
unsigned int trn_queue_progress(struct trn_queue *queue)
{
	if (queue->mode == DRM_TRN_QUEUE_KERNEL)
		return trn_submit_progress(queue);
	return trn_wait_progress(queue);
}

/*
 * New work is refused, pollers and waiters are told; jobs are the caller's.  The
 * status only rises: a chip that is gone says more than a queue that has stopped.
 */
void trn_queue_set_error(struct trn_queue *queue, int error, u32 status)
{
	struct trn_control *control = queue->control;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	if (status > queue->status) {
		queue->status = status;
		queue->error = error;
		queue->generation++;
		WRITE_ONCE(control->status, cpu_to_le32(status));
		/* A poller that sees the new generation must see the status too. */
		smp_store_release(&control->generation, cpu_to_le32(queue->generation));
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	if (queue->mode == DRM_TRN_QUEUE_USER)
		trn_wait_progress(queue);
	else
		wake_up_all(&queue->wait);
}

/* What the fence of the job that stopped the queue says. */
static int trn_queue_stop_error(u32 reason)
{
	switch (reason) {
	case TRN_STOP_FAULT_UNMAPPED:
	case TRN_STOP_FAULT_PERMISSION:
	case TRN_STOP_FAULT_RANGE:
		return -EFAULT;
	case TRN_STOP_TIME_LIMIT:
		return -ETIME;
	default:
		return -EIO;
	}
}

/**
 * trn_queue_stop() - the chip has stopped a queue in its first unfinished job
 * @queue: queue
 * @stop: why
 *
 * Return: whether it is news that the queue has stopped for such a reason.
 */
bool trn_queue_stop(struct trn_queue *queue, const struct trn_stop *stop)
{
	unsigned long flags;
	bool news;

	spin_lock_irqsave(&queue->lock, flags);
	news = !queue->stop.reason;
	/* A reason that is known is not lost again. */
	if (news || queue->stop.reason == DRM_TRN_STOP_UNKNOWN)
		queue->stop = *stop;
	spin_unlock_irqrestore(&queue->lock, flags);
	trn_queue_set_error(queue, -EIO, TRN_CONTROL_STOPPED);
	trn_submit_cancel(queue, trn_queue_stop_error(stop->reason), -EIO);
	return news;
}

/* The chip is stopped, for a reset or for good. */
static void trn_queue_fail(struct trn_queue *queue)
{
	bool gone = trn_device_gone(queue->tdev);
	int error = gone ? -ENODEV : -EIO;

	trn_queue_set_error(queue, error, gone ? TRN_CONTROL_GONE : TRN_CONTROL_RESET);
	trn_submit_cancel(queue, error, error);
}

static void trn_queue_for_each(struct trn_device *tdev, void (*function)(struct trn_queue *))
{
	struct trn_queue *queue;
	unsigned long id;

	xa_lock(&tdev->queues);
	xa_for_each(&tdev->queues, id, queue) {
		kref_get(&queue->ref);
		xa_unlock(&tdev->queues);
		function(queue);
		trn_queue_put_later(queue);
		xa_lock(&tdev->queues);
	}
	xa_unlock(&tdev->queues);
}

/* The chip is stopped: jobs and waits end. */
void trn_queue_fail_all(struct trn_device *tdev)
{
	trn_queue_for_each(tdev, trn_queue_fail);
}

/* After trn_queue_fail_all(): this takes locks that somebody may hold who waits for a fence. */
void trn_queue_revoke_all(struct trn_device *tdev)
{
	trn_queue_for_each(tdev, trn_queue_revoke);
}

static void trn_queue_unmap_control(struct trn_queue *queue)
{
	dma_unmap_page(&queue->tdev->pdev->dev, queue->control_dma, PAGE_SIZE,
		       DMA_BIDIRECTIONAL);
}

static int trn_queue_alloc_control(struct trn_queue *queue)
{
	struct device *dev = &queue->tdev->pdev->dev;
	int ret;

	queue->control_page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!queue->control_page)
		return -ENOMEM;
	queue->control = page_address(queue->control_page);
	queue->control_dma = dma_map_page(dev, queue->control_page, 0, PAGE_SIZE,
					  DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, queue->control_dma)) {
		ret = -ENOMEM;
		goto err_free_page;
	}
	/* CPU and chip poll each other's words in it. */
	if (trn_dma_needs_sync(queue->tdev->pdev, queue->control_dma)) {
		ret = -EOPNOTSUPP;
		goto err_unmap;
	}
	return 0;

err_unmap:
	trn_queue_unmap_control(queue);
err_free_page:
	__free_page(queue->control_page);
	return ret;
}

/* One object: a page with the fence word, then the ring. */
static int trn_queue_alloc_ring(struct trn_queue *queue, u32 entries)
{
	struct trn_device *tdev = queue->tdev;
	u64 size = PAGE_SIZE + PAGE_ALIGN((u64)entries * sizeof(struct trn_packet));
	struct trn_bo *bo;
	int ret;

	bo = trn_host_create(tdev, size, NULL);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	queue->ring_memory = vmap(bo->pages, size >> PAGE_SHIFT, VM_MAP, PAGE_KERNEL);
	if (!queue->ring_memory) {
		ret = -ENOMEM;
		goto err_put_bo;
	}
	ret = trn_kernel_vm_map(&tdev->kernel_vm, bo, &queue->ring_va);
	if (ret)
		goto err_vunmap;
	queue->ring_bo = bo;
	queue->fence_page = bo->pages[0];
	get_page(queue->fence_page);
	queue->fence_context = dma_fence_context_alloc(1);
	return 0;

err_vunmap:
	vunmap(queue->ring_memory);
	queue->ring_memory = NULL;
err_put_bo:
	drm_gem_object_put(&bo->base);
	return ret;
}

static void trn_queue_unmap_ring(struct trn_queue *queue)
{
	if (queue->ring_bo)
		trn_kernel_vm_unmap(&queue->tdev->kernel_vm, queue->ring_va);
}

static u8 trn_queue_chip_priority(u32 priority)
{
	switch (priority) {
	case DRM_TRN_PRIORITY_LOW:
		return 0;
	case DRM_TRN_PRIORITY_HIGH:
		return TRN_QUEUE_PRIORITY_MAX;
	default:
		return 1;
	}
}

/* What changes whether the chip has @queue excludes resets of its context. */
static void trn_queue_lock_chip(struct trn_queue *queue)
{
	if (queue->context)
		mutex_lock(&queue->context->queues_lock);
}

static void trn_queue_unlock_chip(struct trn_queue *queue)
{
	if (queue->context)
		mutex_unlock(&queue->context->queues_lock);
}

static int trn_queue_create_on_chip(struct trn_queue *queue, u16 vector,
				    const struct drm_trn_queue_create *args)
{
	u16 asid = trn_queue_asid(queue);
	bool kernel = queue->mode == DRM_TRN_QUEUE_KERNEL;
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_QUEUE_CREATE,
		.queue_create = {
			.queue = cpu_to_le16(queue->id),
			.type = queue->type,
			.ring_log2 = ilog2(args->ring_entries),
			.ring_asid = cpu_to_le16(kernel ? 0 : asid),
			.asid = cpu_to_le16(asid),
			.vector = cpu_to_le16(vector),
			.priority = trn_queue_chip_priority(args->priority),
			/* A packet of a job cannot run longer than the job. */
			.time_limit = cpu_to_le32(queue->timeout_ms),
			.ring_va = cpu_to_le64(kernel ? queue->ring_va + PAGE_SIZE : args->ring_va),
			.control = cpu_to_le64(queue->control_dma),
		},
	};
	int ret;

	trn_queue_lock_chip(queue);
	ret = trn_admin_exec(queue->tdev, queue->epoch, &cmd);
	queue->on_chip = !ret;
	trn_queue_unlock_chip(queue);
	if (ret > 0) {
		drm_notice(&queue->tdev->drm, "chip refused queue %u with status %d\n",
			   queue->id, ret);
		ret = -EIO;
	}
	return ret;
}

/* When it returns the chip does not know the queue any more. */
static void trn_queue_destroy_on_chip(struct trn_queue *queue)
{
	int ret;

	trn_queue_lock_chip(queue);
	ret = trn_admin_queue_destroy(queue);
	if (ret == TRN_ADMIN_ENGINE_HUNG && queue->context) {
		trn_recovery_free_engine(queue);
		ret = trn_admin_queue_destroy(queue);
	}
	trn_admin_check_revoked(queue->tdev, queue->epoch, TRN_ADMIN_QUEUE_DESTROY, ret);
	queue->on_chip = false;
	trn_queue_unlock_chip(queue);
}

/* @queue is not in its file's table, or is the driver's own. */
void trn_queue_destroy(struct trn_queue *queue)
{
	struct trn_device *tdev = queue->tdev;
	int error;

	trn_queue_set_error(queue, -ECANCELED, TRN_CONTROL_DESTROYED);
	trn_queue_revoke(queue);
	trn_queue_destroy_on_chip(queue);
	/* What the chip had to say about this id must not meet its next owner. */
	trn_event_process(tdev, queue->epoch);
	trn_irq_remove_queue(queue);
	xa_erase(&tdev->queues, queue->id);

	/* A pause that comes from now on does not find the queue. */
	error = trn_device_lost(tdev, queue->epoch);
	if (error)
		trn_queue_fail(queue);
	else
		trn_submit_cancel(queue, -ECANCELED, -ECANCELED);
	trn_sched_stop(queue);
	trn_eventfd_flush(queue);
	trn_queue_unmap_ring(queue);
	trn_queue_unmap_control(queue);
	if (queue->file)
		trn_user_uncharge(queue->file, TRN_USER_QUEUES);
	trn_queue_put(queue);
}

/*
 * A new queue of @context, which cannot be destroyed meanwhile, because the
 * caller holds @file->lock.  Both are NULL for a queue of the driver's own, whose
 * operands are in the kernel's address space.
 */
static struct trn_queue *trn_queue_create(struct trn_device *tdev, struct trn_file *file,
					  struct trn_context *context,
					  const struct drm_trn_queue_create *args)
{
	struct trn_queue *queue;
	int ret;

	queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	if (!queue)
		return ERR_PTR(-ENOMEM);
	kref_init(&queue->ref);
	queue->tdev = tdev;
	queue->file = file;
	queue->context = context;
	queue->client_id = file ? file->client_id : 0;
	queue->mode = args->mode;
	queue->type = args->type;
	queue->ring.entries = args->ring_entries;
	queue->ring_va = args->ring_va;
	queue->epoch = context ? context->vm.epoch : trn_device_epoch(tdev);
	queue->priority = args->priority;
	queue->timeout_ms = args->timeout_ms ?: trn_queue_timeout_max(args->mode);
	spin_lock_init(&queue->lock);
	mutex_init(&queue->mmap_lock);
	mutex_init(&queue->submit_lock);
	init_waitqueue_head(&queue->wait);
	INIT_LIST_HEAD(&queue->jobs);
	INIT_LIST_HEAD(&queue->waiters);
	INIT_LIST_HEAD(&queue->report_link);
	INIT_WORK(&queue->release_work, trn_queue_release_work);
	trn_eventfd_init(queue);

	ret = trn_queue_alloc_control(queue);
	if (ret) {
		kfree(queue);
		return ERR_PTR(ret);
	}
	/* From here on trn_queue_release() frees what is not DMA. */
	if (context)
		kref_get(&context->ref);
	if (file) {
		ret = trn_user_charge(file, TRN_USER_QUEUES);
		if (ret)
			goto err_unmap_control;
	}
	if (queue->mode == DRM_TRN_QUEUE_KERNEL) {
		ret = trn_queue_alloc_ring(queue, args->ring_entries);
		if (ret)
			goto err_uncharge;
		if (file)
			ret = trn_sched_start(queue);
		if (ret)
			goto err_unmap_ring;
	}
	ret = xa_alloc(&tdev->queues, &queue->id, queue, XA_LIMIT(0, tdev->caps.queues - 1),
		       GFP_KERNEL);
	if (ret) {
		ret = ret == -EBUSY ? -ENOSPC : ret;
		goto err_stop_sched;
	}
	ret = trn_queue_create_on_chip(queue, trn_irq_add_queue(queue), args);
	if (ret)
		goto err_erase;
	if (file) {
		ret = xa_alloc(&file->queues, &queue->handle, queue, xa_limit_32b, GFP_KERNEL);
		if (ret) {
			trn_queue_destroy(queue);
			return ERR_PTR(ret);
		}
	}
	return queue;

err_erase:
	/* mmap() finds queues by their hardware id. */
	trn_queue_revoke(queue);
	trn_irq_remove_queue(queue);
	xa_erase(&tdev->queues, queue->id);
err_stop_sched:
	trn_sched_stop(queue);
err_unmap_ring:
	trn_queue_unmap_ring(queue);
err_uncharge:
	if (file)
		trn_user_uncharge(file, TRN_USER_QUEUES);
err_unmap_control:
	trn_queue_unmap_control(queue);
	trn_queue_put(queue);
	return ERR_PTR(ret);
}

/* A kernel queue that the driver uses itself, for trn_submit_packets(). */
struct trn_queue *trn_queue_create_internal(struct trn_device *tdev, u32 ring_entries)
{
	struct drm_trn_queue_create args = {
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = ring_entries,
	};

	return trn_queue_create(tdev, NULL, NULL, &args);
}

/* The queues of @context, or all of the file if it is NULL. */
void trn_queue_destroy_matching(struct trn_file *file, struct trn_context *context)
{
	struct trn_queue *queue;
	unsigned long handle;

	lockdep_assert_held(&file->lock);

	xa_for_each(&file->queues, handle, queue) {
		if (context && queue->context != context)
			continue;
		xa_erase(&file->queues, handle);
		trn_queue_destroy(queue);
	}
}

static int trn_queue_check(struct trn_device *tdev, const struct drm_trn_queue_create *args)
{
	u64 size = (u64)args->ring_entries * sizeof(struct trn_packet);
	u32 timeout_max;

	if (args->type != TRN_QUEUE_TYPE_DMA && args->type != TRN_QUEUE_TYPE_EXEC)
		return -EINVAL;
	if (args->flags || args->priority > DRM_TRN_PRIORITY_HIGH)
		return -EINVAL;
	if (!is_power_of_2(args->ring_entries) || args->ring_entries < 1 << TRN_RING_LOG2_MIN ||
	    args->ring_entries > tdev->caps.ring_max)
		return -EINVAL;
	switch (args->mode) {
	case DRM_TRN_QUEUE_KERNEL:
		if (args->ring_va)
			return -EINVAL;
		break;
	case DRM_TRN_QUEUE_USER:
		if (!PAGE_ALIGNED(args->ring_va) || args->ring_va >= BIT_ULL(TRN_VA_BITS) ||
		    size > BIT_ULL(TRN_VA_BITS) - args->ring_va)
			return -EINVAL;
		/* A host page would have doorbells of several queues. */
		if (tdev->caps.doorbell_stride < PAGE_SIZE)
			return -EOPNOTSUPP;
		break;
	default:
		return -EINVAL;
	}
	timeout_max = trn_queue_timeout_max(args->mode);
	if (timeout_max && args->timeout_ms > timeout_max)
		return -EINVAL;
	if (args->priority == DRM_TRN_PRIORITY_HIGH && !capable(CAP_SYS_NICE))
		return -EACCES;
	return 0;
}

int trn_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_queue_create *args = data;
	struct trn_file *file = drm_file->driver_priv;
	struct trn_context *context;
	struct trn_queue *queue;
	int idx, ret;

	ret = trn_queue_check(tdev, args);
	if (ret)
		return ret;
	ret = trn_device_enter(tdev, &idx);
	if (ret)
		return ret;
	if (mutex_lock_killable(&file->lock)) {
		ret = -EINTR;
		goto out_exit;
	}
	context = xa_load(&file->contexts, args->context);
	queue = context ? trn_queue_create(tdev, file, context, args) : ERR_PTR(-ENOENT);
	if (IS_ERR(queue)) {
		ret = PTR_ERR(queue);
		goto out_unlock;
	}
	args->queue = queue->handle;
	if (queue->mode == DRM_TRN_QUEUE_USER) {
		args->control_offset = trn_queue_mmap_offset(queue, TRN_MMAP_CONTROL);
		args->doorbell_offset = trn_queue_mmap_offset(queue, TRN_MMAP_DOORBELL);
	} else {
		args->control_offset = 0;
		args->doorbell_offset = 0;
	}
out_unlock:
	mutex_unlock(&file->lock);
out_exit:
	trn_device_exit(tdev, idx);
	return ret;
}

int trn_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trn_device *tdev = to_trn_device(drm);
	struct drm_trn_queue_destroy *args = data;
	struct trn_file *file = drm_file->driver_priv;
	struct trn_queue *queue;
	int idx, ret;

	if (args->pad)
		return -EINVAL;
	ret = trn_device_enter(tdev, &idx);
	if (ret)
		return ret;
	ret = mutex_lock_killable(&file->lock);
	if (ret)
		goto out_exit;
	queue = xa_erase(&file->queues, args->queue);
	if (queue)
		trn_queue_destroy(queue);
	else
		ret = -ENOENT;
	mutex_unlock(&file->lock);
out_exit:
	trn_device_exit(tdev, idx);
	return ret;
}

int trn_ioctl_queue_error(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trn_queue_error *args = data;
	struct trn_queue *queue;
	unsigned long flags;
	int ret;

	if (args->reason || args->packet || args->access || args->address || args->exception ||
	    args->engine || args->instruction || args->pad)
		return -EINVAL;
	queue = trn_queue_get(drm_file, args->queue);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	ret = trn_device_lost(queue->tdev, queue->epoch);
	spin_lock_irqsave(&queue->lock, flags);
	args->reason = queue->stop.reason;
	args->packet = queue->stop.packet;
	args->access = queue->stop.access;
	args->address = queue->stop.address;
	args->exception = queue->stop.exception;
	args->engine = queue->stop.engine;
	args->instruction = queue->stop.instruction;
	spin_unlock_irqrestore(&queue->lock, flags);
	trn_queue_put(queue);
	return ret;
}
