/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xf86drm.h>

#include "driver.h"
#include "error.h"
#include "program.h"

#define RING_ENTRIES  64
#define OTHER_PACKETS 16
/*
 * All packets of a job together: some milliseconds, so that we sleep when its interrupt comes,
 * though a busy host may hold us up for that long as soon as the chip has the job.
 */
#define JOB_BYTES     (UINT64_C(64) << 20)
#define SOURCE	      (UINT64_C(1) << 30)
#define DESTINATION   (SOURCE + JOB_BYTES)
#define PROGRAM	      (DESTINATION + JOB_BYTES)
#define PROGRAM_COUNT 50000

struct jobs {
	struct driver driver;
	uint32_t queue; /* queues: 0 = not made yet */
	uint32_t other_queue;
	uint32_t exec_queue;
	uint32_t done;	     /* syncobj */
	uint32_t other_done; /* syncobj */
	struct trn_packet copies[JOB_PACKETS_MAX];
	struct trn_packet others[OTHER_PACKETS];
};

/*
 * When it is first used: an interrupt looks after all queues there are, and what is measured
 * before has none but its own.
 */
static int need_queue(struct jobs *jobs, uint32_t type, uint32_t *queue)
{
	struct drm_trn_queue_create create = {
		.type = type,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = RING_ENTRIES,
	};
	int error;

	if (*queue)
		return 0;
	error = driver_make_queue(&jobs->driver, &create);
	*queue = create.queue;
	return error;
}

static int make_syncobj(struct jobs *jobs, uint32_t *syncobj)
{
	if (drmSyncobjCreate(jobs->driver.fd, 0, syncobj))
		return bench_fail(-errno, "SYNCOBJ_CREATE: %s", strerror(errno));
	return 0;
}

/* One that takes as long as a job's copies, to be fetched from where it is. */
static int make_program(struct jobs *jobs)
{
	struct drm_trn_bo_mmap_offset map = { 0 };
	void *memory;
	int error;

	error = driver_make_memory(&jobs->driver, DRM_TRN_BO_HOST, PROGRAM_SIZE, PROGRAM,
				   &map.handle);
	if (!error)
		error = driver_call(&jobs->driver, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &map,
				    "BO_MMAP_OFFSET");
	if (error)
		return error;
	memory = driver_map(&jobs->driver, PROGRAM_SIZE, map.offset);
	if (!memory)
		return -ENOMEM;
	program_write_counting(memory, PROGRAM_COUNT);
	munmap(memory, PROGRAM_SIZE);
	return 0;
}

static void write_copies(struct jobs *jobs, uint32_t count)
{
	uint64_t length = JOB_BYTES / count;
	uint32_t i;

	for (i = 0; i < count; i++)
		jobs->copies[i] = (struct trn_packet){
			.opcode = TRN_PACKET_COPY,
			.copy = {
				.source = htole64(SOURCE + i * length),
				.destination = htole64(DESTINATION + i * length),
				.length = htole64(length),
			},
		};
}

/* Of the other queue's job, longer still. */
static void write_others(struct jobs *jobs)
{
	int i;

	for (i = 0; i < OTHER_PACKETS; i++)
		jobs->others[i] = (struct trn_packet){
			.opcode = TRN_PACKET_FILL,
			.fill = {
				.destination = htole64(SOURCE),
				.length = htole64(JOB_BYTES),
				.pattern = htole64(UINT64_MAX),
			},
		};
}

int jobs_open(const char *node, struct jobs **result)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	uint32_t handle;
	int error;

	if (!jobs)
		return bench_fail(-ENOMEM, "no host memory");
	error = driver_open(node, &jobs->driver);
	/* For all packets. */
	if (!error)
		error = driver_make_memory(&jobs->driver, DRM_TRN_BO_HBM, 2 * JOB_BYTES, SOURCE,
					   &handle);
	if (!error)
		error = need_queue(jobs, TRN_QUEUE_TYPE_DMA, &jobs->queue);
	if (!error)
		error = make_program(jobs);
	if (!error)
		error = make_syncobj(jobs, &jobs->done);
	if (!error)
		error = make_syncobj(jobs, &jobs->other_done);
	if (error) {
		jobs_close(jobs);
		return error;
	}
	write_others(jobs);
	*result = jobs;
	return 0;
}

void jobs_close(struct jobs *jobs)
{
	if (!jobs)
		return;
	driver_close(&jobs->driver);
	free(jobs);
}

static int submit(struct jobs *jobs, uint32_t queue, const struct trn_packet *packets,
		  uint32_t count, const struct drm_trn_sync *syncs, uint32_t sync_count)
{
	struct drm_trn_submit submit = {
		.queue = queue,
		.packets = {
			.stride = sizeof(*packets),
			.count = count,
			.pointer = (uintptr_t)packets,
		},
		.syncs = {
			.stride = sizeof(*syncs),
			.count = sync_count,
			.pointer = (uintptr_t)syncs,
		},
	};

	return driver_call(&jobs->driver, DRM_IOCTL_TRN_SUBMIT, &submit, "SUBMIT");
}

static int wait_done(struct jobs *jobs)
{
	int error = drmSyncobjWait(jobs->driver.fd, &jobs->done, 1, INT64_MAX, 0, NULL);

	return error ? bench_fail(error, "SYNCOBJ_WAIT: %s", strerror(-error)) : 0;
}

int jobs_run(struct jobs *jobs, uint32_t packets)
{
	const struct drm_trn_sync sync = {
		.handle = jobs->done,
		.flags = DRM_TRN_SYNC_SIGNAL,
	};
	int error;

	write_copies(jobs, packets);
	error = submit(jobs, jobs->queue, jobs->copies, packets, &sync, 1);
	return error ? error : wait_done(jobs);
}

int jobs_run_empty(struct jobs *jobs)
{
	static const struct trn_packet nop = { .opcode = TRN_PACKET_NOP };
	const struct drm_trn_sync sync = {
		.handle = jobs->done,
		.flags = DRM_TRN_SYNC_SIGNAL,
	};
	int error = submit(jobs, jobs->queue, &nop, 1, &sync, 1);

	return error ? error : wait_done(jobs);
}

int jobs_run_program(struct jobs *jobs)
{
	const struct trn_packet packet = {
		.opcode = TRN_PACKET_EXEC,
		.exec = { .program = htole64(PROGRAM) },
	};
	const struct drm_trn_sync sync = {
		.handle = jobs->done,
		.flags = DRM_TRN_SYNC_SIGNAL,
	};
	int error = need_queue(jobs, TRN_QUEUE_TYPE_EXEC, &jobs->exec_queue);

	if (!error)
		error = submit(jobs, jobs->exec_queue, &packet, 1, &sync, 1);
	return error ? error : wait_done(jobs);
}

int jobs_run_behind_another(struct jobs *jobs, uint32_t packets)
{
	const struct drm_trn_sync other = {
		.handle = jobs->other_done,
		.flags = DRM_TRN_SYNC_SIGNAL,
	};
	const struct drm_trn_sync syncs[] = {
		{ .handle = jobs->other_done, .flags = DRM_TRN_SYNC_WAIT },
		{ .handle = jobs->done, .flags = DRM_TRN_SYNC_SIGNAL },
	};
	int error;

	write_copies(jobs, packets);
	error = need_queue(jobs, TRN_QUEUE_TYPE_DMA, &jobs->other_queue);
	if (!error)
		error = submit(jobs, jobs->other_queue, jobs->others, OTHER_PACKETS, &other, 1);
	if (!error)
		error = submit(jobs, jobs->queue, jobs->copies, packets, syncs, 2);
	return error ? error : wait_done(jobs);
}
