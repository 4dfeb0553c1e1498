// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events.  An EVENT command that completes says only that there are some; what
 * counts is the chip's event log, which also has those that happened while no
 * EVENT command was waiting.
 */
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/trn_accel.h>

#include "trn_device.h"
#include "trn_queue.h"
#include "trn_recovery.h"

static void trn_event_handle(struct trn_device *tdev, const struct trn_event *event)
{
	const struct trn_stop stop = {
		.reason = event->reason ?: DRM_TRN_STOP_UNKNOWN,
		.packet = le32_to_cpu(event->packet),
		.access = event->access,
		.address = le64_to_cpu(event->address),
		.exception = event->exception,
		.engine = event->engine,
		.instruction = le32_to_cpu(event->instruction),
	};

	if (event->kind != TRN_EVENT_QUEUE_STOPPED)
		return;
	drm_dbg(&tdev->drm,
		"queue %u stopped at packet %u: reason %u, asid %u, address 0x%llx, access %u, exception %u, engine %u, instruction %u\n",
		le16_to_cpu(event->queue), stop.packet, stop.reason, le16_to_cpu(event->asid),
		stop.address, stop.access, stop.exception, stop.engine, stop.instruction);
	trn_recovery_note_stop(tdev, le16_to_cpu(event->queue), &stop);
}

static void trn_event_find_stop(struct trn_queue *queue)
{
	struct trn_log_queue log;
	struct trn_stop stop = {};

	/* May be refused: the queue may be on the way to the chip, or from it. */
	if (trn_admin_get_queue(queue, &log))
		return;
	if (log.state != TRN_QUEUE_STATE_STOPPED || !log.reason)
		return;
	stop.reason = log.reason;
	stop.packet = le32_to_cpu(log.head);
	stop.exception = log.exception;
	stop.engine = log.engine;
	stop.instruction = le32_to_cpu(log.instruction);
	trn_recovery_note_stop(queue->tdev, queue->id, &stop);
}

/*
 * Events were lost because the log had no room for them: ask every queue.  Where
 * it faulted nobody knows any more.
 */
static void trn_event_find_stopped(struct trn_device *tdev)
{
	struct trn_queue *queue;
	unsigned long id;

	xa_for_each(&tdev->queues, id, queue) {
		queue = trn_queue_get_by_id(tdev, id);
		if (!queue)
			continue;
		trn_event_find_stop(queue);
		trn_queue_put_later(queue);
	}
}

static void trn_event_read_log(struct trn_device *tdev, u32 epoch)
{
	struct trn_log_events *log = tdev->event_log;
	u64 next;
	u32 count, i;
	int ret;

	lockdep_assert_held(&tdev->event_lock);

	ret = trn_admin_get_events(tdev, epoch, log);
	if (ret > 0)
		trn_device_fail(tdev, "event log refused with status %d", ret);
	if (ret)
		return;
	next = le64_to_cpu(log->next_sequence);
	count = le32_to_cpu(log->count);
	if (count > TRN_LOG_EVENTS_MAX || count >= next || next <= tdev->event_seen) {
		trn_device_fail(tdev, "bad event log: next %llu, count %u, %llu seen",
				next, count, tdev->event_seen);
		return;
	}
	/* The log has next - count ... next - 1. */
	for (i = 0; i < count; i++) {
		if (next - count + i > tdev->event_seen)
			trn_event_handle(tdev, &log->event[i]);
	}
	/* Only then: the log knows why a queue has stopped. */
	if (tdev->event_seen + 1 < next - count)
		trn_event_find_stopped(tdev);
	tdev->event_seen = next - 1;
}

/* When this returns, what the chip had logged before in @epoch has been dealt with. */
void trn_event_process(struct trn_device *tdev, u32 epoch)
{
	mutex_lock(&tdev->event_lock);
	trn_event_read_log(tdev, epoch);
	mutex_unlock(&tdev->event_lock);
}

static void trn_event_work(struct work_struct *work)
{
	struct trn_device *tdev = container_of(work, struct trn_device, event_work);

	/* First, so that an event after reading the log is told. */
	trn_admin_post_event(tdev);
	trn_event_process(tdev, trn_device_epoch(tdev));
}

/* The chip has been brought up, and has no events yet. */
void trn_event_start(struct trn_device *tdev)
{
	mutex_lock(&tdev->event_lock);
	tdev->event_seen = 0;
	mutex_unlock(&tdev->event_lock);
	trn_admin_post_event(tdev);
}

/* The chip is stopped. */
void trn_event_stop(struct trn_device *tdev)
{
	cancel_work_sync(&tdev->event_work);
}

int trn_event_init(struct trn_device *tdev)
{
	INIT_WORK(&tdev->event_work, trn_event_work);
	tdev->event_log = drmm_kmalloc(&tdev->drm, sizeof(*tdev->event_log), GFP_KERNEL);
	if (!tdev->event_log)
		return -ENOMEM;
	return drmm_mutex_init(&tdev->drm, &tdev->event_lock);
}
