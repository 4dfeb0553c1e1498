// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fresh HBM reads as zero: the chip clears it before anybody has it.
 *
 * One queue, in order, works in the kernel's address space.  Its order is why memory
 * may be freed before its clearing has ended: the next owner's clearing, and thus
 * whatever the owner does, is behind it.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "trn_device.h"
#include "trn_fence.h"
#include "trn_gem.h"
#include "trn_kernel_vm.h"
#include "trn_packet.h"
#include "trn_queue.h"

static unsigned int job_timeout_ms = 10000;
module_param(job_timeout_ms, uint, 0444);
MODULE_PARM_DESC(job_timeout_ms,
		 "Longest time that clearing 256 MiB of HBM may take in ms, 0 = any (default 10000)");

#define TRN_SCRUB_RING_ENTRIES	1024
#define TRN_SCRUB_PACKETS_MAX	64
/* Of a job: others come between the jobs of one large object. */
#define TRN_SCRUB_BYTES_MAX	SZ_256M

/* What is left to do of an object. */
struct trn_scrub_cursor {
	const struct trn_extent *extent;
	unsigned int extents;
	u64 done;			/* bytes of *extent */
};

int trn_scrub_init(struct trn_device *tdev)
{
	u32 entries = min(TRN_SCRUB_RING_ENTRIES, tdev->caps.ring_max);
	struct trn_queue *queue = trn_queue_create_internal(tdev, entries);

	if (IS_ERR(queue))
		return PTR_ERR(queue);
	tdev->scrub_queue = queue;
	return 0;
}

void trn_scrub_fini(struct trn_device *tdev)
{
	if (tdev->scrub_queue)
		trn_queue_destroy(tdev->scrub_queue);
	tdev->scrub_queue = NULL;
}

/* Packets for the next piece of work; returns how many. */
static u32 trn_scrub_fill_packets(struct trn_scrub_cursor *cursor, struct trn_packet *packets,
				  u32 max_packets)
{
	u64 left = TRN_SCRUB_BYTES_MAX;
	u32 count = 0;

	while (cursor->extents && left && count < max_packets) {
		const struct trn_extent *extent = cursor->extent;
		u64 size = min(extent->size - cursor->done, left);

		trn_packet_clear(&packets[count++],
				 TRN_KERNEL_HBM_VA + extent->address + cursor->done, size);
		left -= size;
		cursor->done += size;
		if (cursor->done == extent->size) {
			cursor->extent++;
			cursor->extents--;
			cursor->done = 0;
		}
	}
	return count;
}

static u32 trn_scrub_progress(struct trn_queue *queue)
{
	unsigned long flags;
	u32 done;

	spin_lock_irqsave(&queue->lock, flags);
	done = queue->ring.done;
	spin_unlock_irqrestore(&queue->lock, flags);
	return done;
}

/* Other jobs may come first, but each has only so much time. */
static int trn_scrub_wait(struct trn_device *tdev, struct dma_fence *fence)
{
	unsigned long timeout = job_timeout_ms ? msecs_to_jiffies(job_timeout_ms) :
						 MAX_SCHEDULE_TIMEOUT;
	struct trn_queue *queue = tdev->scrub_queue;
	u32 before;
	long ret;

	do {
		before = trn_scrub_progress(queue);
		ret = wait_event_killable_timeout(queue->wait, dma_fence_is_signaled(fence),
						  timeout);
		if (ret < 0)
			return -EINTR;
	} while (!ret && trn_scrub_progress(queue) != before);

	if (!ret) {
		trn_device_declare_dead(tdev, "HBM not cleared in %u ms", job_timeout_ms);
		return -ENODEV;
	}
	ret = dma_fence_get_status(fence);
	if (ret > 0)
		return 0;
	if (ret != -ENODEV)
		trn_device_declare_dead(tdev, "cannot clear HBM: %ld", ret);
	return -ENODEV;
}

static int trn_scrub_job(struct trn_device *tdev, struct trn_packet *packets, u32 count)
{
	struct dma_fence *fence;
	int ret;

	ret = trn_submit_packets(tdev->scrub_queue, packets, count, &fence);
	if (ret)
		return ret == -EIO ? -ENODEV : ret;
	ret = trn_scrub_wait(tdev, fence);
	dma_fence_put(fence);
	return ret;
}

/**
 * trn_scrub() - clear device memory
 * @tdev: device, entered by trn_device_enter()
 * @extents: what to clear
 * @count: number of @extents
 *
 * Return: 0; -EINTR killed; -ENOMEM; -ENODEV.  The memory may be freed in any case.
 */
int trn_scrub(struct trn_device *tdev, const struct trn_extent *extents, unsigned int count)
{
	struct trn_scrub_cursor cursor = { .extent = extents, .extents = count };
	/* A job has less packets than the ring. */
	u32 max_packets = min(TRN_SCRUB_PACKETS_MAX, tdev->scrub_queue->ring.entries - 1);
	struct trn_packet *packets;
	int ret = 0;

	max_packets = min(max_packets, count + 1);
	packets = kmalloc_array(max_packets, sizeof(*packets), GFP_KERNEL);
	if (!packets)
		return -ENOMEM;
	while (!ret && cursor.extents)
		ret = trn_scrub_job(tdev, packets,
				    trn_scrub_fill_packets(&cursor, packets, max_packets));
	kfree(packets);
	return ret;
}
