// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recovery ladder below the function reset: queue, then context, then core.
 *
 * Fences wait for all of this: nothing is allocated.  What cannot do without, uevents and
 * dumps, is done by works that nobody waits for.
 */
#include <linux/dma-fence.h>
#include <linux/workqueue.h>

#include <drm/drm_print.h>
#include <drm/trn_accel.h>

#include "trn_context.h"
#include "trn_coredump.h"
#include "trn_device.h"
#include "trn_queue.h"
#include "trn_recovery.h"
#include "trn_trace.h"
#include "trn_uevent.h"

const char *trn_rung_name(enum trn_rung rung)
{
	static const char * const names[] = {
		[TRN_RUNG_NONE] = "stop",
		[TRN_RUNG_QUEUE] = "queue",
		[TRN_RUNG_CONTEXT] = "context",
		[TRN_RUNG_CORE] = "core",
		[TRN_RUNG_FUNCTION] = "function",
	};

	return names[rung];
}

static struct trn_queue *trn_recovery_next_report(struct trn_device *tdev)
{
	struct trn_queue *queue;

	spin_lock(&tdev->reports_lock);
	queue = list_first_entry_or_null(&tdev->reports, struct trn_queue, report_link);
	if (queue)
		list_del_init(&queue->report_link);
	spin_unlock(&tdev->reports_lock);
	return queue;
}

static void trn_recovery_report_work(struct work_struct *work)
{
	struct trn_device *tdev = container_of(work, struct trn_device, report_work);
	struct trn_queue *queue;

	while ((queue = trn_recovery_next_report(tdev))) {
		trn_uevent_reset(tdev, trn_rung_name(queue->report_rung), queue->client_id);
		trn_queue_put(queue);
	}
}

/* Send a uevent later.  A queue is reset once, so its own link is enough. */
static void trn_recovery_report(struct trn_queue *queue, enum trn_rung rung)
{
	struct trn_device *tdev = queue->tdev;

	spin_lock(&tdev->reports_lock);
	if (list_empty(&queue->report_link)) {
		kref_get(&queue->ref);
		queue->report_rung = rung;
		list_add_tail(&queue->report_link, &tdev->reports);
	}
	spin_unlock(&tdev->reports_lock);
	schedule_work(&tdev->report_work);
}

void trn_recovery_init(struct trn_device *tdev)
{
	spin_lock_init(&tdev->reports_lock);
	INIT_LIST_HEAD(&tdev->reports);
	INIT_WORK(&tdev->report_work, trn_recovery_report_work);
}

/* The chip is stopped for good and no file has a queue: nothing is reported any more. */
void trn_recovery_fini(struct trn_device *tdev)
{
	flush_work(&tdev->report_work);
	trn_coredump_stop(tdev);
}

/**
 * trn_recovery_note_stop() - the chip has stopped a queue
 * @tdev: device
 * @id: the hardware's number of the queue
 * @stop: why
 */
void trn_recovery_note_stop(struct trn_device *tdev, u32 id, const struct trn_stop *stop)
{
	struct trn_queue *queue = trn_queue_get_by_id(tdev, id);
	struct trn_coredump *dump = NULL;
	bool signalling;

	if (!queue)
		return;
	signalling = dma_fence_begin_signalling();
	/* Nobody wants to know more of a queue that is being destroyed. */
	if (!READ_ONCE(queue->error))
		dump = trn_coredump_take_queue(queue, stop, TRN_RUNG_NONE);
	if (trn_queue_stop(queue, stop)) {
		atomic64_inc(&tdev->recovery.queue_stops);
		trace_trn_queue_stop(queue, stop);
	}
	dma_fence_end_signalling(signalling);
	trn_coredump_publish(dump, TRN_RUNG_NONE);
	trn_queue_put_later(queue);
}

/* The chip does nothing any more for the queues of @guilty's context: the others fail too. */
static void trn_recovery_stop_others(struct trn_queue *guilty)
{
	struct trn_device *tdev = guilty->tdev;
	struct trn_queue *queue;
	unsigned long id;

	xa_for_each(&tdev->queues, id, queue) {
		queue = trn_queue_get_by_id(tdev, id);
		if (!queue)
			continue;
		/* Whoever has given a queue its error ends its jobs. */
		if (queue != guilty && queue->context == guilty->context && queue->on_chip &&
		    !READ_ONCE(queue->error)) {
			trn_queue_set_error(queue, -EIO, TRN_CONTROL_STOPPED);
			trn_submit_cancel(queue, -EIO, -EIO);
		}
		trn_queue_put_later(queue);
	}
}

/*
 * Take away the cores that run programs of @queue's context.  Returns 0; the status of the command
 * that failed, or TRN_ADMIN_ENGINE_HUNG if there is no such core; or negative errno.
 */
static int trn_recovery_reset_cores(struct trn_queue *queue)
{
	struct trn_device *tdev = queue->tdev;
	u16 asid = trn_queue_asid(queue);
	int ret, result = TRN_ADMIN_ENGINE_HUNG;
	struct trn_core_program program;
	u32 core;

	for (core = 0; core < tdev->caps.cores; core++) {
		ret = trn_admin_get_core_program(tdev, queue->epoch, core, &program);
		if (ret)
			return ret;
		if (program.state != TRN_CORE_STATE_RUNNING || le16_to_cpu(program.asid) != asid)
			continue;
		result = trn_admin_core_reset(tdev, queue->epoch, core,
					      le16_to_cpu(program.queue));
		trace_trn_recover(queue, TRN_RUNG_CORE, result);
		if (result)
			return result;
		atomic64_inc(&tdev->recovery.core_resets);
	}
	return result;
}

/*
 * Take away all that the context has on any engine.  Returns the rung that was enough; after
 * TRN_RUNG_FUNCTION the chip is stopped or was reset.
 */
static enum trn_rung trn_recovery_reset_context(struct trn_queue *queue)
{
	struct trn_device *tdev = queue->tdev;
	enum trn_rung rung = TRN_RUNG_CONTEXT;
	int ret;

	lockdep_assert_held(&queue->context->queues_lock);

	ret = trn_admin_context_reset(&queue->context->vm);
	trace_trn_recover(queue, TRN_RUNG_CONTEXT, ret);
	if (ret == TRN_ADMIN_ENGINE_HUNG) {
		rung = TRN_RUNG_CORE;
		ret = trn_recovery_reset_cores(queue);
		/* For what else the context may have. */
		if (!ret)
			ret = trn_admin_context_reset(&queue->context->vm);
	}
	if (ret > 0) {
		if (ret == TRN_ADMIN_ENGINE_HUNG)
			trn_device_fail(tdev, "an engine hangs with queue %u", queue->id);
		else
			trn_device_fail(tdev, "reset of a %s refused with status %d",
					trn_rung_name(rung), ret);
		/* Memory may be freed after it. */
		trn_device_stop(tdev, queue->epoch);
	}
	if (ret)
		return TRN_RUNG_FUNCTION;
	atomic64_inc(&tdev->recovery.context_resets);
	trn_recovery_stop_others(queue);
	return rung;
}

/* Returns the rung on which the queue was stopped. */
static enum trn_rung trn_recovery_climb(struct trn_queue *queue)
{
	int ret = trn_admin_queue_reset(queue);

	trace_trn_recover(queue, TRN_RUNG_QUEUE, ret);
	if (!ret)
		return TRN_RUNG_QUEUE;
	if (ret == TRN_ADMIN_ENGINE_HUNG)
		return trn_recovery_reset_context(queue);
	if (ret > 0)
		trn_device_fail(queue->tdev, "reset of queue %u refused with status %d",
				queue->id, ret);
	return TRN_RUNG_FUNCTION;
}

/**
 * trn_recovery_stop_queue() - stop a queue that has run too long
 * @queue: queue, with a reference
 * @stop: why
 *
 * Does nothing if the queue has stopped or been destroyed meanwhile.
 */
void trn_recovery_stop_queue(struct trn_queue *queue, const struct trn_stop *stop)
{
	struct trn_device *tdev = queue->tdev;
	struct trn_coredump *dump;
	enum trn_rung rung;

	if (!queue->context) {
		/* The driver cannot do without it. */
		trn_device_fail(tdev, "queue %u, the driver's own, has run for more than %u ms",
				queue->id, queue->timeout_ms);
		return;
	}
	mutex_lock(&queue->context->queues_lock);
	if (!queue->on_chip || READ_ONCE(queue->error))
		goto out_unlock;
	/* Before, because the chip forgets what it was doing. */
	dump = trn_coredump_take_queue(queue, stop, TRN_RUNG_QUEUE);
	rung = trn_recovery_climb(queue);
	if (rung != TRN_RUNG_FUNCTION) {
		trn_queue_stop(queue, stop);
		atomic64_inc(&tdev->recovery.queue_resets);
		trn_recovery_report(queue, rung);
	}
	trn_coredump_publish(dump, rung);
out_unlock:
	mutex_unlock(&queue->context->queues_lock);
}

/**
 * trn_recovery_free_engine() - free the engine that does not let go of a queue
 * @queue: queue that is being destroyed
 *
 * After it QUEUE_DESTROY works, or the chip is stopped or was reset.
 */
void trn_recovery_free_engine(struct trn_queue *queue)
{
	const struct trn_stop stop = {};
	struct trn_coredump *dump;
	enum trn_rung rung;

	dump = trn_coredump_take_queue(queue, &stop, TRN_RUNG_CONTEXT);
	rung = trn_recovery_reset_context(queue);
	if (rung != TRN_RUNG_FUNCTION)
		trn_recovery_report(queue, rung);
	trn_coredump_publish(dump, rung);
}
