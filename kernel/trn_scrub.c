// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fresh HBM reads as zero: the chip clears it before anybody has it.
 *
 * One queue, in order, works in the kernel's address space.  Its order is why memory
 * may be freed before its clearing has ended: the next owner's clearing, and thus
 * whatever the owner does, is behind it.
 */
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "trn_device.h"
#include "trn_fence.h"
#include "trn_gem.h"
#include "trn_kernel_vm.h"
#include "trn_packet.h"
#include "trn_queue.h"

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

/* @error: of the job */
static int trn_scrub_failed(struct trn_device *tdev, int error)
{
	if (!trn_device_lost(tdev, tdev->scrub_queue->epoch))
		trn_device_fail(tdev, "cannot clear HBM: %d", error);
	return trn_device_gone(tdev) ? -ENODEV : -EIO;
}

/* Others' jobs may come first.  The watchdog sees to it that none runs too long. */
static int trn_scrub_wait(struct trn_device *tdev, struct dma_fence *fence)
{
	int ret;

	if (wait_event_killable(tdev->scrub_queue->wait, dma_fence_is_signaled(fence)))
		return -EINTR;
	ret = dma_fence_get_status(fence);
	return ret > 0 ? 0 : trn_scrub_failed(tdev, ret);
}

static int trn_scrub_job(struct trn_device *tdev, struct trn_packet *packets, u32 count)
{
	struct dma_fence *fence;
	int ret;

	ret = trn_submit_packets(tdev->scrub_queue, packets, count, &fence);
	if (ret)
		return ret == -EIO ? trn_scrub_failed(tdev, ret) : ret;
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
 * Return: 0; -EINTR killed; -ENOMEM; -EIO the chip was reset; -ENODEV.  The memory may be freed in
 * any case.
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
