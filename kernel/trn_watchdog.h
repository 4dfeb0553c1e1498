/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_WATCHDOG_H
#define _TRN_WATCHDOG_H

#include <linux/minmax.h>
#include <linux/types.h>

struct trn_device;

/* How long the oldest job of a kernel queue has run. */
struct trn_watch {
	u64 job;		/* its sequence number; 0 before the first look */
	u64 queue_ns;		/* running time of the queue at the last look */
	u64 running_ns;
};

/**
 * trn_watch_running() - running time of a job
 * @watch: what was seen at earlier looks
 * @job: the job that the chip is executing; not 0
 * @queue_ns: running time of its queue, as the chip tells it
 *
 * A job is charged only for what was added since it was first seen.  A chip that
 * takes time back does not make it negative.
 *
 * Return: ns.
 */
static inline u64 trn_watch_running(struct trn_watch *watch, u64 job, u64 queue_ns)
{
	if (watch->job != job)
		watch->running_ns = 0;
	else if (queue_ns > watch->queue_ns)
		watch->running_ns += min(queue_ns - watch->queue_ns, U64_MAX - watch->running_ns);
	watch->job = job;
	watch->queue_ns = queue_ns;
	return watch->running_ns;
}

int trn_watchdog_init(struct trn_device *tdev);
void trn_watchdog_look(struct trn_device *tdev);
void trn_watchdog_stop(struct trn_device *tdev);

#endif /* _TRN_WATCHDOG_H */
