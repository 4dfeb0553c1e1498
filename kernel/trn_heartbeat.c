// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches the heartbeat register: it, not all-ones reads, tells whether the chip
 * lives.  On the way it looks for what a lost interrupt may have left behind.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>

#include "trn_device.h"
#include "trn_irq.h"
#include "trn_watchdog.h"

static unsigned int heartbeat_ms = 500;
module_param(heartbeat_ms, uint, 0444);
MODULE_PARM_DESC(heartbeat_ms,
		 "Interval of looking at the chip's heartbeat in ms, 0 = never (default 500)");

/* The architecture demands ten; more when the host itself may have been busy. */
#define TRN_HEARTBEAT_PERIODS		10
#define TRN_HEARTBEAT_PATIENCE_MS	3000

/* 0: never */
unsigned int trn_heartbeat_interval_ms(void)
{
	return heartbeat_ms;
}

/* Before the chip is used: the heartbeat must advance once. */
int trn_heartbeat_check_alive(struct trn_device *tdev)
{
	unsigned int timeout_ms = TRN_HEARTBEAT_PERIODS * tdev->caps.heartbeat_period_ms;
	unsigned long deadline = jiffies + msecs_to_jiffies(timeout_ms) + 1;
	u32 first = trn_read32(tdev, TRN_REG_HEARTBEAT);
	bool last;

	do {
		last = time_after(jiffies, deadline);
		if (trn_read32(tdev, TRN_REG_HEARTBEAT) != first)
			return 0;
		usleep_range(1000, 2000);
	} while (!last);
	trn_device_fail(tdev, "no heartbeat in %u ms", timeout_ms);
	return -ENODEV;
}

static void trn_heartbeat_work(struct work_struct *work)
{
	struct trn_device *tdev = container_of(to_delayed_work(work), struct trn_device,
					       heartbeat_work);
	unsigned int patience_ms = max(TRN_HEARTBEAT_PERIODS * tdev->caps.heartbeat_period_ms,
				       TRN_HEARTBEAT_PATIENCE_MS);
	u32 beat = trn_read32(tdev, TRN_REG_HEARTBEAT);
	u32 status;

	/* What a chip reads as that is not there. */
	if (beat == U32_MAX && !trn_device_present(tdev)) {
		trn_device_fail(tdev, "no heartbeat");
		return;
	}
	if (beat == tdev->heartbeat_last) {
		unsigned int silent_ms = jiffies_to_msecs(jiffies - tdev->heartbeat_changed);

		if (silent_ms >= patience_ms) {
			trn_device_fail(tdev, "no heartbeat for %u ms", silent_ms);
			return;
		}
	} else {
		tdev->heartbeat_last = beat;
		tdev->heartbeat_changed = jiffies;

		status = trn_read32(tdev, TRN_REG_STATUS);
		if (status != U32_MAX && (status & TRN_STATUS_FATAL)) {
			trn_device_fail(tdev, "fatal error, reason %u",
					(status >> TRN_STATUS_REASON_SHIFT) &
					TRN_STATUS_REASON_MASK);
			return;
		}
		if (!(status & TRN_STATUS_READY)) {
			trn_device_fail(tdev, "it has stopped running");
			return;
		}
		trn_irq_poll(tdev);
		trn_watchdog_look(tdev);
	}
	queue_delayed_work(tdev->wq, &tdev->heartbeat_work, msecs_to_jiffies(heartbeat_ms));
}

void trn_heartbeat_init(struct trn_device *tdev)
{
	INIT_DELAYED_WORK(&tdev->heartbeat_work, trn_heartbeat_work);
}

void trn_heartbeat_start(struct trn_device *tdev)
{
	tdev->heartbeat_last = trn_read32(tdev, TRN_REG_HEARTBEAT);
	tdev->heartbeat_changed = jiffies;
	if (heartbeat_ms)
		queue_delayed_work(tdev->wq, &tdev->heartbeat_work,
				   msecs_to_jiffies(heartbeat_ms));
}

void trn_heartbeat_stop(struct trn_device *tdev)
{
	cancel_delayed_work_sync(&tdev->heartbeat_work);
	trn_watchdog_stop(tdev);
}
