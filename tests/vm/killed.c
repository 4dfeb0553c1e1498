/* SPDX-License-Identifier: MIT */
/*
 * Processes with full queues of every kind are killed: they are gone within their bound, the chip
 * has all its memory, queues and address spaces again, and works.  TRN_LONG=1 asks for long counts.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "chip.h"
#include "worker.h"

#define PROCESSES 16
#define HBM_SIZE  (UINT64_C(4) << 20)

static bool is_debug(void)
{
	const char *lane = getenv("TRN_LANE");

	return lane && !strcmp(lane, "debug");
}

static unsigned int loops(void)
{
	const char *wanted = getenv("TRN_LONG");

	return wanted && !strcmp(wanted, "1") ? 500 : 50;
}

/* ---- the victims ----------------------------------------------------- */

enum {
	RUNNING_KERNEL, /* its ring is full of long packets */
	RUNNING_USER,
	PARKED,	 /* waits for a fence that nobody writes */
	BLOCKED, /* its jobs wait for a job of RUNNING_KERNEL */
	QUEUES
};

static struct worker worker[QUEUES];

static void *wait_for_ever(void *argument)
{
	worker_wait(argument, TRN_FOREVER);
	return NULL;
}

static void fill_queues(void)
{
	struct trn_packet packets[32], fence_wait;
	int i;

	for (i = 0; i < 31; i++)
		packets[i] = worker_long_packet(&worker[RUNNING_KERNEL], WORKER_ENDLESS);
	guest_fails(worker_submit(&worker[RUNNING_KERNEL], packets, 31), 0);
	for (i = 0; i < 16; i++)
		guest_fails(
			worker_submit_after(&worker[BLOCKED], &worker[RUNNING_KERNEL], packets, 31),
			0);
	for (i = 0; i < 31; i++)
		packets[i] = worker_long_packet(&worker[RUNNING_USER], WORKER_ENDLESS);
	guest_fails(worker_submit(&worker[RUNNING_USER], packets, 31), 0);
	/* Of a fence that is the queue's own and behind it. */
	fence_wait = (struct trn_packet){
		.opcode = TRN_PACKET_FENCE_WAIT,
		.fence = { .address = worker[PARKED].va + WORKER_FENCE, .value = 1 },
	};
	guest_fails(worker_submit(&worker[PARKED], &fence_wait, 1), 0);
}

/* Says so by a byte to @ready when all is under way, and then stays. */
static void be_a_victim(int ready)
{
	int fd = guest_open(0), i;
	uint32_t context = guest_context(fd), hbm;
	pthread_t thread;

	hbm = guest_bo(fd, DRM_TRN_BO_HBM, HBM_SIZE);
	guest_fails(guest_bind(fd, context, hbm, 1 << 24, HBM_SIZE), 0);
	for (i = 0; i < QUEUES; i++)
		worker_make(&worker[i], fd, context, (unsigned int)i,
			    i == RUNNING_USER || i == PARKED, 0);
	fill_queues();
	for (i = 0; i < QUEUES; i++)
		ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_ever, &worker[i]), 0);
	ck_assert_int_eq(write(ready, "", 1), 1);
	for (;;)
		pause();
}

/* ---- the killer ------------------------------------------------------ */

static int pipes[2];

static pid_t start_victim(void)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		be_a_victim(pipes[1]);
		_exit(1);
	}
	return child;
}

static void await_ready(unsigned int count)
{
	char byte;

	while (count--)
		ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
}

static void reap(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}

static unsigned int hung_tasks(void)
{
	FILE *log = popen("dmesg | grep -c 'blocked for more than'", "r");
	unsigned int count = 0;

	ck_assert_ptr_nonnull(log);
	ck_assert_int_eq(fscanf(log, "%u", &count), 1);
	pclose(log);
	return count;
}

static int fd;
static struct chip_use use;

static void remember(void)
{
	ck_assert_int_eq(pipe(pipes), 0);
	fd = guest_open(0);
	use = chip_use(0, fd);
}

/* Nothing is left of them, and the chip works. */
static void check_all_there(void)
{
	struct worker next;

	chip_expect_use(0, fd, use);
	ck_assert_uint_eq(hung_tasks(), 0);
	worker_make(&next, fd, guest_context(fd), 0, true, 0);
	guest_fails(worker_copy(&next, trn_deadline(10 * SECOND)), 0);
	close(fd);
}

START_TEST(many_at_once)
{
	int64_t bound = (is_debug() ? 20 : 2) * SECOND, began, took;
	pid_t child[PROCESSES];
	int i;

	remember();
	for (i = 0; i < PROCESSES; i++)
		child[i] = start_victim();
	await_ready(PROCESSES);
	ck_assert_uint_eq(chip_use(0, fd).queues, use.queues + PROCESSES * QUEUES);
	began = trn_deadline(0);
	for (i = 0; i < PROCESSES; i++)
		ck_assert_int_eq(kill(child[i], SIGKILL), 0);
	/* A process can be waited for when its descriptors are closed. */
	for (i = 0; i < PROCESSES; i++)
		reap(child[i]);
	took = trn_deadline(0) - began;
	printf("%d processes with %d queues each: gone after %lld ms\n", PROCESSES, QUEUES,
	       (long long)took / 1000000);
	ck_assert_msg(took <= bound, "it took %lld ms, not %lld", (long long)took / 1000000,
		      (long long)bound / 1000000);
	check_all_there();
}
END_TEST

START_TEST(again_and_again)
{
	unsigned int i;

	remember();
	for (i = 1; i <= loops(); i++) {
		pid_t child = start_victim();

		await_ready(1);
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		reap(child);
		if (i % 10 == 0)
			fprintf(stderr, "killed: %u of %u\n", i, loops());
	}
	check_all_there();
}
END_TEST

/* Killed at any moment of its life, and not only when all is under way. */
START_TEST(at_any_moment)
{
	unsigned int i;

	remember();
	srand(3);
	for (i = 0; i < loops() / 2; i++) {
		pid_t child = start_victim();

		usleep((unsigned int)rand() % 60000);
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		reap(child);
	}
	check_all_there();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("killed");
	TCase *cases = tcase_create("killed");

	tcase_set_timeout(cases, 120 + 10.0 * loops());
	tcase_add_test(cases, many_at_once);
	tcase_add_test(cases, again_and_again);
	tcase_add_test(cases, at_any_moment);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
