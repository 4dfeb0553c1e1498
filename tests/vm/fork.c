/* SPDX-License-Identifier: MIT */
/*
 * fork() and exec() with mapped rings, control pages and doorbells, and what is written to such
 * pages after the queue, the chip's state or the driver has gone: it goes nowhere, and no process
 * sees another's.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "chip.h"
#include "worker.h"

/* A place in the doorbell page that has no meaning to a chip, in words. */
#define SCRATCH 16

static int64_t soon(void)
{
	return trn_deadline(30 * SECOND);
}

static void destroy_context(int fd, uint32_t context)
{
	struct drm_trn_context_destroy destroy = { .context = context };

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), 0);
}

/* ---- fork and exec --------------------------------------------------- */

/* Runs cat in this process's place: it lives until @input is closed. */
static void become_cat(int input)
{
	dup2(input, STDIN_FILENO);
	execlp("cat", "cat", (char *)NULL);
	_exit(127);
}

/* The pid of a process that has queues with work, and then is cat, with the node open or not. */
static pid_t start_cat(int input, int ready, bool keep_open)
{
	struct trn_packet packet;
	struct worker worker[2];
	uint32_t context;
	pid_t pid = fork();
	int fd, i;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	fd = guest_open(0);
	context = guest_context(fd);
	for (i = 0; i < 2; i++) {
		worker_make(&worker[i], fd, context, (unsigned int)i, i, 0);
		guest_fails(worker_copy(&worker[i], soon()), 0);
		packet = worker_long_packet(&worker[i], WORKER_ENDLESS);
		guest_fails(worker_submit(&worker[i], &packet, 1), 0);
	}
	if (keep_open)
		ck_assert_int_eq(fcntl(fd, F_SETFD, 0), 0);
	/* Closed by exec(), which tells that it has happened. */
	ck_assert_int_eq(fcntl(ready, F_SETFD, FD_CLOEXEC), 0);
	become_cat(input);
	return -1;
}

START_TEST(exec_with_queues)
{
	bool keep_open = _i;
	int fd = guest_open(0), input[2], ready[2], status;
	struct chip_use use = chip_use(0, fd);
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = start_cat(input[0], ready[1], keep_open);
	close(ready[1]);
	close(input[0]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	if (keep_open)
		/* Pages are gone, the file and its queues are not. */
		ck_assert_uint_eq(chip_use(0, fd).queues, use.queues + 2);
	else
		chip_expect_use(0, fd, use);
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	close(input[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%x", (unsigned int)status);
	chip_expect_use(0, fd, use);
	close(fd);
}
END_TEST

/* Touches a page in a child and returns the signal that this ends with, or 0. */
static int touch_in_child(volatile void *page)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile uint32_t *)page = 1;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A child has the file but not the pages; its end does not disturb the parent's queues. */
START_TEST(fork_with_queues)
{
	int fd = guest_open(0), status, i;
	uint32_t context = guest_context(fd);
	struct worker worker[2];
	pid_t pid;

	for (i = 0; i < 2; i++) {
		worker_make(&worker[i], fd, context, (unsigned int)i, i, 0);
		worker_start(&worker[i]);
		ck_assert(worker_goes_on(&worker[i], 1, 30 * SECOND));
	}
	ck_assert_int_eq(touch_in_child(worker[1].doorbell), SIGSEGV);
	ck_assert_int_eq(touch_in_child(worker[1].control), SIGSEGV);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		/* By the file it may do all that the parent may. */
		struct worker mine;

		worker_make(&mine, fd, context, 5, true, 0);
		_exit(worker_copy(&mine, soon()) || worker_destroy_queue(&mine));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%x", (unsigned int)status);
	for (i = 0; i < 2; i++) {
		ck_assert(worker_goes_on(&worker[i], 3, 30 * SECOND));
		guest_fails(worker_stop(&worker[i]), 0);
	}
	close(fd);
}
END_TEST

/* ---- pages of what is gone ------------------------------------------- */

static void scribble(struct worker *worker)
{
	unsigned int i;

	for (i = 0; i < 1024; i++)
		worker->doorbell[i] = 1;
	memset(worker->control, 0xff, sizeof(*worker->control));
	for (i = 0; i < 100; i++) {
		__atomic_store_n(&worker->control->tail, i, __ATOMIC_SEQ_CST);
		worker->doorbell[TRN_DOORBELL_KICK / 4] = 1;
	}
}

/*
 * A queue that was made since, with the same hardware number if it can be, is not woken by an old
 * doorbell, and works when its own is rung.
 */
static void check_not_woken(struct worker *old, int fd)
{
	const struct trn_packet fence = {
		.opcode = TRN_PACKET_FENCE_WRITE,
		.fence = { .address = UINT64_C(0), .value = 1 },
	};
	struct trn_packet *ring;
	struct worker fresh;
	uint32_t tail;

	worker_make(&fresh, fd, guest_context(fd), 9, true, 0);
	ring = (struct trn_packet *)fresh.memory;
	tail = fresh.control->tail;
	ring[tail] = fence;
	ring[tail].fence.address = fresh.va + WORKER_FENCE;
	/* Asleep, it does not look at its tail. */
	__atomic_store_n(&fresh.control->tail, tail + 1, __ATOMIC_SEQ_CST);
	scribble(old);
	usleep(200000);
	ck_assert_uint_eq(*(volatile uint64_t *)(fresh.memory + WORKER_FENCE), 0);
	ck_assert_uint_eq(fresh.control->status, TRN_CONTROL_RUNNING);
	*fresh.doorbell = 1;
	fresh.value = 1;
	guest_fails(worker_wait(&fresh, soon()), 0);
	guest_fails(worker_copy(&fresh, soon()), 0);
}

START_TEST(after_destroy)
{
	int fd = guest_open(0);
	uint32_t context = guest_context(fd);
	struct worker old;

	worker_make(&old, fd, context, 0, true, 0);
	guest_fails(worker_copy(&old, soon()), 0);
	guest_fails(worker_destroy_queue(&old), 0);
	ck_assert_uint_eq(old.control->status, TRN_CONTROL_DESTROYED);
	check_not_woken(&old, fd);
	destroy_context(fd, context);
	check_not_woken(&old, fd);
	close(fd);
	fd = guest_open(0);
	check_not_woken(&old, fd);
	close(fd);
}
END_TEST

START_TEST(after_reset)
{
	char address[CHIP_ADDRESS_SIZE], path[64];
	int fd = guest_open(0), other;
	struct worker old;

	chip_address(0, address);
	snprintf(path, sizeof(path), "devices/%s/reset", address);
	worker_make(&old, fd, guest_context(fd), 0, true, 0);
	guest_fails(worker_copy(&old, soon()), 0);
	chip_bus(path, "1");
	ck_assert_uint_eq(old.control->status, TRN_CONTROL_RESET);
	guest_fails(worker_copy(&old, soon()), -EIO);
	check_not_woken(&old, fd);
	other = guest_open(0);
	check_not_woken(&old, other);
	close(other);
	close(fd);
}
END_TEST

START_TEST(after_unbind)
{
	char address[CHIP_ADDRESS_SIZE];
	int fd = guest_open(0), other;
	struct worker old;

	chip_address(0, address);
	worker_make(&old, fd, guest_context(fd), 0, true, 0);
	guest_fails(worker_copy(&old, soon()), 0);
	chip_unbind(address);
	ck_assert_uint_eq(old.control->status, TRN_CONTROL_GONE);
	scribble(&old);
	guest_fails(worker_wait(&old, soon()), -ENODEV);
	chip_bind(address);
	other = guest_open(0);
	check_not_woken(&old, other);
	close(fd);
	check_not_woken(&old, other);
	close(other);
}
END_TEST

/* Two processes write to what has come in place of their doorbells, and read only their own. */
static int write_and_read_back(uint32_t value, int told, int tell)
{
	int fd = guest_open(0);
	struct worker old;
	char byte = 0;

	worker_make(&old, fd, guest_context(fd), 0, true, 0);
	guest_fails(worker_destroy_queue(&old), 0);
	old.doorbell[SCRATCH] = value;
	old.control->reserved4[SCRATCH] = (uint8_t)value;
	if (write(tell, &byte, 1) != 1 || read(told, &byte, 1) != 1)
		return 1;
	return !(old.doorbell[SCRATCH] == value && old.doorbell[SCRATCH + 1] == 0 &&
		 old.control->reserved4[SCRATCH] == value);
}

START_TEST(dummies_are_private)
{
	int one[2], two[2], status, i;

	ck_assert_int_eq(pipe(one), 0);
	ck_assert_int_eq(pipe(two), 0);
	for (i = 0; i < 2; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (!pid)
			_exit(i ? write_and_read_back(0x11, one[0], two[1])
				: write_and_read_back(0x22, two[0], one[1]));
	}
	for (i = 0; i < 2; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%x",
			      (unsigned int)status);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fork");
	TCase *cases = tcase_create("fork");

	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, exec_with_queues, 0, 2);
	tcase_add_test(cases, fork_with_queues);
	tcase_add_test(cases, after_destroy);
	tcase_add_test(cases, after_reset);
	tcase_add_test(cases, after_unbind);
	tcase_add_test(cases, dummies_are_private);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
