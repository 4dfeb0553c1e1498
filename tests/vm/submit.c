/* SPDX-License-Identifier: MIT */
/* Jobs that wait: for fences of every kind, behind one another, and for nothing any more. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "gate.h"
#include "guest.h"

#define VA	  UINT64_C(0x10000000)
#define NOWHERE	  UINT64_C(0x400000000000)
#define SIZE	  UINT64_C(65536)
#define SYNCS	  4
#define JOBS_MANY 300
#define PROCESSES 8
/* Of a closed gate, before it opens by itself. */
#define AT_ONCE	  5
#define EVENTUAL  60

static int fd;
static uint32_t context;
/* Host memory, at VA. */
static volatile uint64_t *word;

static void start(void)
{
	uint32_t host;

	fd = guest_open(0);
	context = guest_context(fd);
	host = guest_bo(fd, DRM_TRN_BO_HOST, SIZE);
	guest_fails(guest_bind(fd, context, host, VA, SIZE), 0);
	word = guest_map(fd, host, SIZE);
}

static void stop(void)
{
	close(fd);
}

static void destroy(uint32_t id)
{
	struct drm_trn_queue_destroy destroy = { .queue = id };

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy), 0);
}

/* What a job waits for and signals. */
struct syncs {
	struct drm_trn_sync sync[SYNCS];
	uint32_t count;
};

static void wait_for(struct syncs *syncs, uint32_t syncobj, uint64_t point)
{
	syncs->sync[syncs->count++] = (struct drm_trn_sync){
		.handle = syncobj,
		.flags = DRM_TRN_SYNC_WAIT,
		.point = point,
	};
}

static void signals(struct syncs *syncs, uint32_t syncobj, uint64_t point)
{
	syncs->sync[syncs->count++] = (struct drm_trn_sync){
		.handle = syncobj,
		.flags = DRM_TRN_SYNC_SIGNAL,
		.point = point,
	};
}

static int submit_to(int file, uint32_t queue, const struct trn_packet *packets, uint32_t count,
		     const struct syncs *syncs)
{
	struct drm_trn_submit submit = {
		.queue = queue,
		.packets = {
			.stride = sizeof(*packets),
			.count = count,
			.pointer = (uintptr_t)packets,
		},
		.syncs = {
			.stride = sizeof(syncs->sync[0]),
			.count = syncs->count,
			.pointer = (uintptr_t)syncs->sync,
		},
	};

	return guest_ioctl(file, DRM_IOCTL_TRN_SUBMIT, &submit);
}

static int submit(uint32_t queue, const struct trn_packet *packets, uint32_t count,
		  const struct syncs *syncs)
{
	return submit_to(fd, queue, packets, count, syncs);
}

/* Submits one packet that waits for @before, unless it is 0, and signals @after. */
static int submit_one(uint32_t queue, struct trn_packet packet, uint32_t before, uint32_t after)
{
	struct syncs syncs = { 0 };

	if (before)
		wait_for(&syncs, before, 0);
	signals(&syncs, after, 0);
	return submit(queue, &packet, 1, &syncs);
}

static struct trn_packet store(uint32_t index, uint64_t value)
{
	return guest_fill(VA + index * sizeof(*word), sizeof(*word), value, 3);
}

/* What the job that signals @point of @syncobj ended with. */
static int job_at(uint32_t syncobj, uint64_t point, int seconds)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&syncobj,
		.points = (uintptr_t)&point,
		.count_handles = 1,
		.timeout_nsec = trn_deadline(seconds * SECOND),
	};
	struct drm_syncobj_transfer transfer = {
		.src_handle = syncobj,
		.src_point = point,
		.dst_handle = guest_syncobj(fd),
	};
	int error = guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);

	if (error)
		return error;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), 0);
	return guest_job(fd, transfer.dst_handle, 0);
}

/* A handle of @to for a syncobj of @from. */
static uint32_t share(int from, uint32_t syncobj, int to)
{
	struct drm_syncobj_handle handle = { .handle = syncobj, .fd = -1 };

	guest_fails(guest_ioctl(from, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), 0);
	handle.handle = 0;
	guest_fails(guest_ioctl(to, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), 0);
	close(handle.fd);
	return handle.handle;
}

/* ---- waiting --------------------------------------------------------- */

START_TEST(binary)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), before = guest_syncobj(fd);
	uint32_t after = guest_syncobj(fd);
	struct gate gate;

	gate_close(&gate, fd, before, 0);
	guest_fails(submit_one(queue, store(0, 7), before, after), 0);
	guest_fails(guest_job(fd, after, 0), -ETIME);
	ck_assert_uint_eq(word[0], 0);
	gate_open(&gate);
	guest_fails(guest_job(fd, after, EVENTUAL), 0);
	ck_assert_uint_eq(word[0], 7);
	/* Signalled already. */
	guest_fails(submit_one(queue, store(0, 8), before, after), 0);
	guest_fails(guest_job(fd, after, EVENTUAL), 0);
	ck_assert_uint_eq(word[0], 8);
}
END_TEST

START_TEST(timeline)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), before = guest_syncobj(fd);
	uint32_t after = guest_syncobj(fd);
	struct trn_packet packet = store(0, 1);
	struct syncs syncs = { 0 };
	struct gate gate;

	gate_close(&gate, fd, before, 5);
	/* A point below is as good. */
	wait_for(&syncs, before, 4);
	wait_for(&syncs, before, 5);
	signals(&syncs, after, 10);
	guest_fails(submit(queue, &packet, 1, &syncs), 0);

	syncs.count = 0;
	wait_for(&syncs, after, 10);
	signals(&syncs, after, 20);
	packet = store(0, 2);
	guest_fails(submit(queue, &packet, 1, &syncs), 0);
	guest_fails(job_at(after, 10, 0), -ETIME);
	guest_fails(job_at(after, 20, 0), -ETIME);
	gate_open(&gate);
	guest_fails(job_at(after, 20, EVENTUAL), 0);
	guest_fails(job_at(after, 10, 0), 0);
	ck_assert_uint_eq(word[0], 2);
}
END_TEST

START_TEST(several)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), before[3], after[2], i;
	struct trn_packet packet = store(0, 1);
	struct gate gate[2];
	struct syncs syncs = { 0 };

	for (i = 0; i < 3; i++)
		before[i] = guest_syncobj(fd);
	for (i = 0; i < 2; i++)
		after[i] = guest_syncobj(fd);
	gate_close(&gate[0], fd, before[0], 0);
	guest_fails(submit_one(queue, store(1, 1), 0, before[1]), 0);
	gate_close(&gate[1], fd, before[2], 3);
	wait_for(&syncs, before[0], 0);
	wait_for(&syncs, before[1], 0);
	wait_for(&syncs, before[2], 3);
	signals(&syncs, after[0], 0);
	guest_fails(submit(queue, &packet, 1, &syncs), 0);
	gate_open(&gate[1]);
	guest_fails(guest_job(fd, after[0], 0), -ETIME);
	/* One that signals two. */
	syncs.count = 0;
	signals(&syncs, after[0], 0);
	signals(&syncs, after[1], 1);
	guest_fails(submit(queue, &packet, 1, &syncs), 0);
	gate_open(&gate[0]);
	guest_fails(guest_job(fd, after[0], EVENTUAL), 0);
	guest_fails(job_at(after[1], 1, 0), 0);
}
END_TEST

/* A fence must be there already: so there are no cycles. */
START_TEST(before_signal)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), before = guest_syncobj(fd);
	uint32_t after = guest_syncobj(fd);
	struct trn_packet nop = { 0 };
	struct syncs syncs = { 0 };

	guest_fails(submit_one(queue, nop, before, after), -EINVAL);
	signals(&syncs, before, 1);
	guest_fails(submit(queue, &nop, 1, &syncs), 0);
	/* A later point of the queue itself. */
	wait_for(&syncs, before, 2);
	syncs.sync[0].point = 2;
	guest_fails(submit(queue, &nop, 1, &syncs), -EINVAL);
	/* Nothing was changed. */
	guest_fails(guest_job(fd, after, 0), -EINVAL);
	guest_fails(job_at(before, 1, EVENTUAL), 0);
	guest_fails(job_at(before, 2, 0), -EINVAL);
}
END_TEST

/* A job without waits stays behind one that waits. */
START_TEST(order)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), before = guest_syncobj(fd);
	uint32_t after[2] = { guest_syncobj(fd), guest_syncobj(fd) };
	struct gate gate;

	gate_close(&gate, fd, before, 0);
	guest_fails(submit_one(queue, store(0, 5), before, after[0]), 0);
	guest_fails(submit_one(queue, guest_copy(VA + 8, VA, 8), 0, after[1]), 0);
	guest_fails(guest_job(fd, after[1], 0), -ETIME);
	gate_open(&gate);
	guest_fails(guest_job(fd, after[1], EVENTUAL), 0);
	guest_fails(guest_job(fd, after[0], 0), 0);
	ck_assert_uint_eq(word[1], 5);
}
END_TEST

/*
 * Jobs of random size, every few of which wait for another queue, on a ring that is too
 * small for them.  Each notes the one before it.
 */
START_TEST(order_of_many)
{
	uint32_t queue = guest_kernel_queue(fd, context, 8),
		 side = guest_kernel_queue(fd, context, 8);
	uint32_t after = guest_syncobj(fd), before = guest_syncobj(fd), i, count;
	struct trn_packet packets[7] = { 0 };
	unsigned int random = 1;

	memset((void *)word, 0, SIZE);
	for (i = 1; i <= JOBS_MANY; i++) {
		struct syncs syncs = { 0 };

		if (rand_r(&random) % 3 == 0) {
			struct trn_packet filler = guest_fill(VA + SIZE / 2, SIZE / 2, i, 3);

			guest_fails(submit_one(side, filler, 0, before), 0);
			wait_for(&syncs, before, 0);
		}
		signals(&syncs, after, 0);
		packets[0] = guest_copy(VA + i * 8, VA, 8);
		packets[1] = store(0, i);
		count = 2 + (uint32_t)rand_r(&random) % 6;
		guest_fails(submit(queue, packets, count, &syncs), 0);
	}
	guest_fails(guest_job(fd, after, EVENTUAL), 0);
	for (i = 1; i <= JOBS_MANY; i++)
		ck_assert_uint_eq(word[i], i - 1);
}
END_TEST

/* ---- across queues, contexts, files and chips ------------------------- */

/* Adds up over two queues, each job waiting for the other queue's last. */
START_TEST(across_queues)
{
	uint32_t other = _i ? guest_context(fd) : context;
	uint32_t queue[2] = { guest_kernel_queue(fd, context, 16),
			      guest_kernel_queue(fd, other, 16) };
	uint32_t line = guest_syncobj(fd), gated = guest_syncobj(fd), host, i;
	struct gate gate;

	if (other != context) {
		volatile uint64_t *mine = word;

		/* The same memory for both. */
		host = guest_bo(fd, DRM_TRN_BO_HOST, SIZE);
		guest_fails(guest_unbind(fd, context, VA, SIZE), 0);
		guest_fails(guest_bind(fd, context, host, VA, SIZE), 0);
		guest_fails(guest_bind(fd, other, host, VA, SIZE), 0);
		word = guest_map(fd, host, SIZE);
		ck_assert_ptr_ne((void *)mine, (void *)word);
	}
	word[0] = 42;
	gate_close(&gate, fd, gated, 0);
	for (i = 0; i < 20; i++) {
		struct trn_packet packet = guest_copy(VA + (i + 1) * 8, VA + i * 8, 8);
		struct syncs syncs = { 0 };

		wait_for(&syncs, i ? line : gated, i);
		signals(&syncs, line, i + 1);
		guest_fails(submit(queue[i % 2], &packet, 1, &syncs), 0);
	}
	guest_fails(job_at(line, 1, 0), -ETIME);
	gate_open(&gate);
	guest_fails(job_at(line, 20, EVENTUAL), 0);
	ck_assert_uint_eq(word[20], 42);
}
END_TEST

/* One file waits for what the other signals; _i is the other's chip. */
START_TEST(across_files)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), theirs, gated;
	uint32_t first = guest_syncobj(fd), last = guest_syncobj(fd);
	struct trn_packet nop = { 0 };
	struct syncs syncs = { 0 };
	struct gate gate;
	int other;

	if ((unsigned int)_i >= guest_chips()) {
		printf("across_files: skipped, there is no chip %d\n", _i);
		return;
	}
	other = guest_open((unsigned int)_i);
	theirs = guest_kernel_queue(other, guest_context(other), 16);
	gated = guest_syncobj(other);
	gate_close(&gate, other, gated, 0);
	wait_for(&syncs, gated, 0);
	signals(&syncs, share(fd, first, other), 0);
	guest_fails(submit_to(other, theirs, &nop, 1, &syncs), 0);
	guest_fails(submit_one(queue, store(0, 3), first, last), 0);
	guest_fails(guest_job(fd, last, 0), -ETIME);
	ck_assert_uint_eq(word[0], 0);
	gate_open(&gate);
	guest_fails(guest_job(fd, last, EVENTUAL), 0);
	ck_assert_uint_eq(word[0], 3);
	close(other);
}
END_TEST

/* ---- errors ---------------------------------------------------------- */

/* A job that waits for one that fails ends with its error, in its turn; its queue goes on. */
START_TEST(error_is_passed_on)
{
	uint32_t bad = guest_kernel_queue(fd, context, 16),
		 good = guest_kernel_queue(fd, context, 16);
	uint32_t gated[2] = { guest_syncobj(fd), guest_syncobj(fd) };
	uint32_t failed = guest_syncobj(fd), after[4], i;
	struct gate gate[2];

	for (i = 0; i < 4; i++)
		after[i] = guest_syncobj(fd);
	gate_close(&gate[0], fd, gated[0], 0);
	gate_close(&gate[1], fd, gated[1], 0);
	guest_fails(submit_one(bad, guest_copy(NOWHERE, VA, 8), gated[0], failed), 0);
	guest_fails(submit_one(good, store(0, 1), gated[1], after[0]), 0);
	guest_fails(submit_one(good, store(0, 2), failed, after[1]), 0);
	guest_fails(submit_one(good, store(1, 3), 0, after[2]), 0);
	gate_open(&gate[0]);
	guest_fails(guest_job(fd, failed, EVENTUAL), -EFAULT);
	guest_fails(guest_job(fd, after[1], 0), -ETIME);
	gate_open(&gate[1]);
	guest_fails(guest_job(fd, after[2], EVENTUAL), 0);
	guest_fails(guest_job(fd, after[0], 0), 0);
	guest_fails(guest_job(fd, after[1], 0), -EFAULT);
	ck_assert_uint_eq(word[0], 1);
	ck_assert_uint_eq(word[1], 3);
	/* One that has failed before the call. */
	guest_fails(submit_one(good, store(0, 4), failed, after[3]), 0);
	guest_fails(guest_job(fd, after[3], EVENTUAL), -EFAULT);
	guest_fails(submit_one(good, store(1, 5), 0, after[3]), 0);
	guest_fails(guest_job(fd, after[3], EVENTUAL), 0);
	ck_assert_uint_eq(word[0], 1);
	ck_assert_uint_eq(word[1], 5);
}
END_TEST

/* Behind jobs that run: the error is not told before they have ended. */
START_TEST(error_waits_its_turn)
{
	uint32_t bad = guest_kernel_queue(fd, context, 4),
		 good = guest_kernel_queue(fd, context, 64);
	uint32_t failed = guest_syncobj(fd), last = guest_syncobj(fd), running = guest_syncobj(fd),
		 i;
	struct trn_packet fills[16];

	guest_fails(submit_one(bad, guest_copy(NOWHERE, VA, 8), 0, failed), 0);
	guest_fails(guest_job(fd, failed, EVENTUAL), -EFAULT);
	for (i = 0; i < 16; i++)
		fills[i] = guest_fill(VA, SIZE, i, 3);
	for (i = 0; i < 20; i++) {
		struct syncs syncs = { 0 };

		signals(&syncs, running, 0);
		guest_fails(submit(good, fills, 16, &syncs), 0);
		guest_fails(submit_one(good, store(0, 99), failed, last), 0);
		guest_fails(guest_job(fd, last, EVENTUAL), -EFAULT);
		guest_fails(guest_job(fd, running, 0), 0);
		ck_assert_uint_eq(word[0], 15);
	}
}
END_TEST

/* What waits on a queue that has stopped ends at once. */
START_TEST(queue_stops)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), gated = guest_syncobj(fd);
	uint32_t failed = guest_syncobj(fd), after[2] = { guest_syncobj(fd), guest_syncobj(fd) };
	struct trn_packet slow[8], nop = { 0 };
	struct syncs syncs = { 0 };
	struct gate gate;
	uint32_t i;

	gate_close(&gate, fd, gated, 0);
	for (i = 0; i < 7; i++)
		slow[i] = guest_fill(VA, SIZE, i, 3);
	slow[7] = guest_copy(NOWHERE, VA, 8);
	signals(&syncs, failed, 0);
	guest_fails(submit(queue, slow, 8, &syncs), 0);
	for (i = 0; i < 2; i++) {
		int error = submit_one(queue, nop, gated, after[i]);

		if (error) {
			/* It has stopped before. */
			guest_fails(error, -EIO);
			break;
		}
	}
	guest_fails(guest_job(fd, failed, AT_ONCE), -EFAULT);
	while (i--)
		guest_fails(guest_job(fd, after[i], AT_ONCE), -EIO);
	guest_fails(submit_one(queue, nop, 0, after[0]), -EIO);
	destroy(queue);
	gate_open(&gate);
}
END_TEST

/* ---- ends ------------------------------------------------------------ */

START_TEST(destroyed)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), gated = guest_syncobj(fd), after[3],
		 i;
	uint32_t other = guest_kernel_queue(fd, context, 16), behind = guest_syncobj(fd);
	struct gate gate;

	for (i = 0; i < 3; i++)
		after[i] = guest_syncobj(fd);
	gate_close(&gate, fd, gated, 0);
	guest_fails(submit_one(queue, store(0, 1), gated, after[0]), 0);
	guest_fails(submit_one(queue, store(0, 2), 0, after[1]), 0);
	guest_fails(submit_one(queue, store(0, 3), gated, after[2]), 0);
	guest_fails(submit_one(other, store(0, 4), after[1], behind), 0);
	destroy(queue);
	for (i = 0; i < 3; i++)
		guest_fails(guest_job(fd, after[i], 0), -ECANCELED);
	guest_fails(guest_job(fd, behind, AT_ONCE), -ECANCELED);
	gate_open(&gate);
	guest_fails(submit_one(other, store(1, 5), 0, behind), 0);
	guest_fails(guest_job(fd, behind, EVENTUAL), 0);
	ck_assert_uint_eq(word[0], 0);
	ck_assert_uint_eq(word[1], 5);
}
END_TEST

/* As many jobs as may wait, and what becomes of them when the file is closed. */
START_TEST(closed_with_many_waiting)
{
	int mine = guest_open(0);
	uint32_t queue = guest_kernel_queue(mine, guest_context(mine), 16),
		 gated = guest_syncobj(mine);
	uint32_t after = guest_syncobj(mine), seen, i;
	struct trn_packet nop = { 0 };
	struct syncs syncs = { 0 };
	struct gate gate;
	int64_t begin;

	gate_close(&gate, mine, gated, 0);
	wait_for(&syncs, gated, 0);
	signals(&syncs, after, 0);
	for (i = 0; i < DRM_TRN_SUBMIT_WAITING_MAX; i++)
		guest_fails(submit_to(mine, queue, &nop, 1, &syncs), 0);
	guest_fails(submit_to(mine, queue, &nop, 1, &syncs), -ENOSPC);
	/* Nor behind them. */
	guest_fails(guest_submit(mine, queue, &nop, 1, after), -ENOSPC);
	seen = share(mine, after, fd);
	begin = trn_deadline(0);
	close(mine);
	ck_assert_int_lt(trn_deadline(0) - begin, AT_ONCE * SECOND);
	guest_fails(guest_job(fd, seen, 0), -ECANCELED);
	gate_open(&gate);
}
END_TEST

/* They all run, when they can, and others may wait then. */
START_TEST(many_waiting_run)
{
	uint32_t queue = guest_kernel_queue(fd, context, 16), gated = guest_syncobj(fd);
	uint32_t after = guest_syncobj(fd), i;
	struct gate gate;

	gate_close(&gate, fd, gated, 0);
	for (i = 1; i <= DRM_TRN_SUBMIT_WAITING_MAX; i++)
		guest_fails(submit_one(queue, store(0, i), gated, after), 0);
	guest_fails(submit_one(queue, store(0, i), gated, after), -ENOSPC);
	gate_open(&gate);
	guest_fails(guest_job(fd, after, EVENTUAL), 0);
	ck_assert_uint_eq(word[0], DRM_TRN_SUBMIT_WAITING_MAX);
	guest_fails(submit_one(queue, store(0, 1), gated, after), 0);
	guest_fails(guest_job(fd, after, EVENTUAL), 0);
}
END_TEST

/* Processes with queues full of waiting jobs are killed: soon nothing is left of them. */
START_TEST(killed)
{
	uint64_t before = guest_free(fd);
	uint32_t gated = guest_syncobj(fd), after[PROCESSES], i, j;
	/* Before the gate opens by itself. */
	uint32_t jobs = getenv("TRN_LANE") && !strcmp(getenv("TRN_LANE"), "debug")
				? DRM_TRN_SUBMIT_WAITING_MAX / 8
				: DRM_TRN_SUBMIT_WAITING_MAX;
	pid_t child[PROCESSES];
	struct gate gate;
	int pipes[2], status;
	int64_t begin;
	char byte;

	ck_assert_int_eq(pipe(pipes), 0);
	gate_close(&gate, fd, gated, 0);
	for (i = 0; i < PROCESSES; i++) {
		after[i] = guest_syncobj(fd);
		child[i] = fork();
		ck_assert_int_ge(child[i], 0);
		if (!child[i]) {
			int mine = guest_open(0);
			uint32_t queue = guest_kernel_queue(mine, guest_context(mine), 16);
			struct trn_packet nop = { 0 };
			struct syncs syncs = { 0 };

			guest_bo(mine, DRM_TRN_BO_HBM, SIZE);
			wait_for(&syncs, share(fd, gated, mine), 0);
			signals(&syncs, share(fd, after[i], mine), 0);
			for (j = 0; j < jobs; j++) {
				if (submit_to(mine, queue, &nop, 1, &syncs))
					_exit(1);
			}
			if (write(pipes[1], "", 1) == 1)
				pause();
			_exit(1);
		}
	}
	for (i = 0; i < PROCESSES; i++)
		ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
	begin = trn_deadline(0);
	for (i = 0; i < PROCESSES; i++)
		ck_assert_int_eq(kill(child[i], SIGKILL), 0);
	for (i = 0; i < PROCESSES; i++) {
		ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
		ck_assert(WIFSIGNALED(status));
	}
	while (guest_free(fd) != before)
		ck_assert_int_lt(trn_deadline(0) - begin, EVENTUAL * SECOND);
	printf("killed: %d processes with %u waiting jobs each are gone after %lld ms\n", PROCESSES,
	       jobs, (long long)((trn_deadline(0) - begin) / 1000000));
	for (i = 0; i < PROCESSES; i++)
		guest_fails(guest_job(fd, after[i], 0), -ECANCELED);
	gate_open(&gate);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("submit");
	TCase *cases = tcase_create("submit");

	tcase_set_timeout(cases, 180);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, binary);
	tcase_add_test(cases, timeline);
	tcase_add_test(cases, several);
	tcase_add_test(cases, before_signal);
	tcase_add_test(cases, order);
	tcase_add_test(cases, order_of_many);
	tcase_add_loop_test(cases, across_queues, 0, 2);
	tcase_add_loop_test(cases, across_files, 0, 2);
	tcase_add_test(cases, error_is_passed_on);
	tcase_add_test(cases, error_waits_its_turn);
	tcase_add_test(cases, queue_stops);
	tcase_add_test(cases, destroyed);
	tcase_add_test(cases, closed_with_many_waiting);
	tcase_add_test(cases, many_waiting_run);
	tcase_add_test(cases, killed);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
