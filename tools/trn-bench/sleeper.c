/* SPDX-License-Identifier: MIT */
#include "sleeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lib/ring.h>

#include "driver.h"
#include "error.h"

#define ENTRIES 64
#define VA	UINT64_C(0x100000)

struct sleeper {
	struct driver driver;
	struct trn_ring ring;
	uint32_t queue;
	uint32_t tail;
	uint64_t sequence;
	uint64_t size; /* of the ring's memory */
	int eventfd;
};

/* The ring, and a page after it the fence. */
static int make_ring(struct sleeper *sleeper, uint64_t page)
{
	uint64_t fence = (ENTRIES * sizeof(struct trn_packet) + page - 1) & -page;
	struct drm_trn_bo_mmap_offset offset = { 0 };
	uint8_t *memory;
	int error;

	sleeper->size = fence + page;
	error = driver_make_memory(&sleeper->driver, DRM_TRN_BO_HOST, sleeper->size, VA,
				   &offset.handle);
	if (!error)
		error = driver_call(&sleeper->driver, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &offset,
				    "BO_MMAP_OFFSET");
	if (error)
		return error;
	memory = driver_map(&sleeper->driver, sleeper->size, offset.offset);
	if (!memory)
		return -ENOMEM;
	sleeper->ring.packets = (struct trn_packet *)memory;
	sleeper->ring.entries = ENTRIES;
	sleeper->ring.fence = (uint64_t *)(memory + fence);
	sleeper->ring.fence_address = VA + fence;
	return 0;
}

static int make_queue(struct sleeper *sleeper, uint64_t page)
{
	struct drm_trn_queue_create create = {
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_USER,
		.ring_entries = ENTRIES,
		.ring_va = VA,
	};
	int error = driver_make_queue(&sleeper->driver, &create);

	if (error)
		return error;
	sleeper->queue = create.queue;
	sleeper->ring.control = driver_map(&sleeper->driver, page, create.control_offset);
	sleeper->ring.doorbell = driver_map(&sleeper->driver, page, create.doorbell_offset);
	return sleeper->ring.control && sleeper->ring.doorbell ? 0 : -ENOMEM;
}

int sleeper_open(const char *node, struct sleeper **result)
{
	struct sleeper *sleeper = calloc(1, sizeof(*sleeper));
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int error;

	if (!sleeper)
		return bench_fail(-ENOMEM, "no host memory");
	sleeper->driver.fd = -1;
	sleeper->eventfd = eventfd(0, EFD_CLOEXEC);
	error = sleeper->eventfd < 0 ? bench_fail(-errno, "eventfd: %s", strerror(errno))
				     : driver_open(node, &sleeper->driver);
	if (!error)
		error = make_ring(sleeper, page);
	if (!error)
		error = make_queue(sleeper, page);
	if (error) {
		sleeper_close(sleeper);
		return error;
	}
	*result = sleeper;
	return 0;
}

static void unmap(void *memory, uint64_t size)
{
	if (memory)
		munmap(memory, size);
}

void sleeper_close(struct sleeper *sleeper)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!sleeper)
		return;
	unmap(sleeper->ring.doorbell, page);
	unmap(sleeper->ring.control, page);
	unmap(sleeper->ring.packets, sleeper->size);
	driver_close(&sleeper->driver);
	if (sleeper->eventfd >= 0)
		close(sleeper->eventfd);
	free(sleeper);
}

static void submit_empty(struct sleeper *sleeper)
{
	sleeper->ring.packets[sleeper->tail & (ENTRIES - 1)] =
		(struct trn_packet){ .opcode = TRN_PACKET_NOP };
	sleeper->tail = trn_ring_submit(&sleeper->ring, sleeper->tail + 1, sleeper->sequence);
}

int sleeper_run(struct sleeper *sleeper)
{
	struct drm_trn_wait wait = {
		.queue = sleeper->queue,
		.va = sleeper->ring.fence_address,
		.value = ++sleeper->sequence,
		.deadline_ns = INT64_MAX,
	};

	submit_empty(sleeper);
	return driver_call(&sleeper->driver, DRM_IOCTL_TRN_WAIT, &wait, "WAIT");
}

int sleeper_run_interrupt(struct sleeper *sleeper)
{
	struct drm_trn_queue_eventfd arm = {
		.queue = sleeper->queue,
		.fd = sleeper->eventfd,
		.va = sleeper->ring.fence_address,
		.value = ++sleeper->sequence,
	};
	uint64_t fired;
	int error;

	error = driver_call(&sleeper->driver, DRM_IOCTL_TRN_QUEUE_EVENTFD, &arm, "QUEUE_EVENTFD");
	if (error)
		return error;
	submit_empty(sleeper);
	if (read(sleeper->eventfd, &fired, sizeof(fired)) != sizeof(fired))
		return bench_fail(-errno, "eventfd: %s", strerror(errno));
	return 0;
}
