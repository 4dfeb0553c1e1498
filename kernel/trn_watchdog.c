// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds packets and jobs that run too long and that the chip has not stopped itself.
 *
 * Only running time counts, and only what the chip says is running is blamed.  The
 * chip may lie: what it says can cost the owner of a queue that queue, and the
 * chip a reset, but nothing else.
 */
#include <linux/dma-fence.h>
#include <linux/workqueue.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/trn_accel.h>

#include "trn_context.h"
#include "trn_device.h"
#include "trn_queue.h"
#include "trn_recovery.h"
#include "trn_watchdog.h"

static bool trn_watchdog_exceeded(struct trn_queue *queue, const struct trn_running *running)
{
	u64 limit_ns = (u64)queue->timeout_ms * NSEC_PER_MSEC;
	u64 job;

	if (!limit_ns)
		return false;
	/* The chip watches packets too, and is given until the next look. */
	if (queue->mode == DRM_TRN_QUEUE_USER)
		return le64_to_cpu(running->packet_ns) >
		       limit_ns + trn_heartbeat_interval_ms() * NSEC_PER_MSEC;

	job = trn_submit_job_of_packet(queue, le32_to_cpu(running->packet));
	if (!job)
		return false;
	return trn_watch_running(&queue->watch, job, le64_to_cpu(running->queue_ns)) > limit_ns;
}

static void trn_watchdog_check(struct trn_queue *queue, const struct trn_running *running)
{
	const struct trn_stop stop = {
		.reason = TRN_STOP_TIME_LIMIT,
		.packet = le32_to_cpu(running->packet),
	};

	if (!trn_watchdog_exceeded(queue, running))
		return;
	drm_dbg(&queue->tdev->drm, "queue %u: packet %u has run for %llu ns, limit %u ms\n",
		queue->id, stop.packet, le64_to_cpu(running->packet_ns), queue->timeout_ms);
	trn_recovery_stop_queue(queue, &stop);
}

/* The queue that an entry of the log is about, with a reference, or NULL. */
static struct trn_queue *trn_watchdog_find(struct trn_device *tdev, u32 epoch,
					   const struct trn_running *running)
{
	struct trn_queue *queue = trn_queue_get_by_id(tdev, le16_to_cpu(running->queue));

	if (!queue)
		return NULL;
	if (queue->epoch == epoch && trn_queue_asid(queue) == le16_to_cpu(running->asid))
		return queue;
	/* The id has got another owner meanwhile. */
	trn_queue_put_later(queue);
	return NULL;
}

static void trn_watchdog_read_log(struct trn_device *tdev)
{
	struct trn_log_running *log = tdev->running_log;
	u32 epoch = trn_device_epoch(tdev);
	struct trn_queue *queue;
	u32 count, i;
	int ret;

	ret = trn_admin_get_running(tdev, epoch, log);
	if (ret > 0)
		trn_device_fail(tdev, "log of running queues refused with status %d", ret);
	if (ret)
		return;
	count = le32_to_cpu(log->count);
	if (count > TRN_LOG_RUNNING_MAX) {
		trn_device_fail(tdev, "bad log of running queues: count %u", count);
		return;
	}
	for (i = 0; i < count; i++) {
		queue = trn_watchdog_find(tdev, epoch, &log->running[i]);
		if (!queue)
			continue;
		trn_watchdog_check(queue, &log->running[i]);
		trn_queue_put_later(queue);
	}
}

static void trn_watchdog_work(struct work_struct *work)
{
	struct trn_device *tdev = container_of(work, struct trn_device, watchdog_work);
	bool signalling = dma_fence_begin_signalling();
	int idx;

	if (!trn_device_try_enter(tdev, &idx)) {
		trn_watchdog_read_log(tdev);
		trn_device_exit(tdev, idx);
	}
	dma_fence_end_signalling(signalling);
}

/* Does not sleep: the heartbeat, which finds lost interrupts, does not wait for the chip. */
void trn_watchdog_look(struct trn_device *tdev)
{
	queue_work(tdev->wq, &tdev->watchdog_work);
}

/* The chip is stopped. */
void trn_watchdog_stop(struct trn_device *tdev)
{
	cancel_work_sync(&tdev->watchdog_work);
}

int trn_watchdog_init(struct trn_device *tdev)
{
	INIT_WORK(&tdev->watchdog_work, trn_watchdog_work);
	tdev->running_log = drmm_kmalloc(&tdev->drm, sizeof(*tdev->running_log), GFP_KERNEL);
	return tdev->running_log ? 0 : -ENOMEM;
}
