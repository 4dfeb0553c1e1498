/* SPDX-License-Identifier: MIT */
/*
 * Resets through sysfs, of a chip that is idle, in use, and used without a pause by several
 * threads; another chip works on.  TRN_RESETS is the count of the last (50).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "chip.h"
#include "victim.h"

#define THREADS 4
#define VA	UINT64_C(0x10000000)
#define SIZE	(64 * KIB)

static const char *const methods[] = { "flr", "bus" };

/* Returns how long it took, in ms. */
static int64_t reset(unsigned int chip, const char *method)
{
	int64_t start = trn_deadline(0);
	char path[96];

	victim_attribute(chip, "reset_method", path, sizeof(path));
	guest_fails(victim_write(path, method), 0);
	victim_attribute(chip, "reset", path, sizeof(path));
	guest_fails(victim_write(path, "1"), 0);
	return (trn_deadline(0) - start) / 1000000;
}

START_TEST(idle)
{
	struct drm_trn_query_recovery before, after;
	int fd = guest_open(0);
	uint64_t free_before = guest_free(fd);

	before = chip_recovery(fd);
	reset(0, methods[_i]);
	after = chip_recovery(fd);
	ck_assert_uint_eq(after.function_resets, before.function_resets + 1);
	ck_assert_uint_eq(after.contexts_lost, before.contexts_lost);
	ck_assert_uint_eq(guest_free(fd), free_before);
	close(fd);
	victim_chip_works(0);
}
END_TEST

START_TEST(in_use)
{
	struct drm_trn_query_recovery before, after;
	int fd = guest_open(0);
	struct victim victim;

	before = chip_recovery(fd);
	victim_start(&victim, 0);
	reset(0, methods[_i]);
	victim_check(&victim, -EIO);
	victim_works_again(&victim);
	/* And those that began after the first reset. */
	reset(0, methods[_i]);
	after = chip_recovery(fd);
	ck_assert_uint_eq(after.function_resets, before.function_resets + 2);
	ck_assert_uint_eq(after.contexts_lost, before.contexts_lost + 2);
	victim_end(&victim);
	close(fd);
	victim_chip_works(0);
}
END_TEST

START_TEST(other_chip_works_on)
{
	struct drm_trn_query_recovery before, after;
	struct guest_mover mover;
	uint32_t hbm;
	int fd, status;
	pid_t child;

	if (guest_chips() < 2) {
		fprintf(stderr, "reset: skipped, for two chips\n");
		return;
	}
	fd = guest_open(1);
	before = chip_recovery(fd);
	mover = guest_mover(fd);
	hbm = guest_bo(fd, DRM_TRN_BO_HBM, 4 * MIB);
	guest_fill_object(&mover, hbm, 4 * MIB, 9);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		reset(0, "flr");
		reset(0, "bus");
		_exit(0);
	}
	while (!waitpid(child, &status, WNOHANG))
		guest_check_object(&mover, hbm, 4 * MIB, 9);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	guest_check_object(&mover, hbm, 4 * MIB, 9);
	after = chip_recovery(fd);
	ck_assert_uint_eq(after.function_resets, before.function_resets);
	guest_mover_end(&mover);
	close(fd);
}
END_TEST

/* Files are closed, and processes killed, while the chip is being reset. */
START_TEST(closed_meanwhile)
{
	uint64_t before;
	int fd = guest_open(0), pipes[2], status, i;
	int64_t end;
	pid_t child;
	char byte;

	before = guest_free(fd);
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(pipe(pipes), 0);
		child = fork();
		ck_assert_int_ge(child, 0);
		if (!child) {
			struct victim victim;

			victim_start(&victim, 0);
			ck_assert_int_eq(write(pipes[1], "", 1), 1);
			pause();
		}
		ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
		if (!fork()) {
			usleep((useconds_t)i * 30000);
			kill(child, SIGKILL);
			_exit(0);
		}
		reset(0, methods[i % 2]);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFSIGNALED(status));
		ck_assert_int_gt(wait(&status), 0);
		close(pipes[0]);
		close(pipes[1]);
	}
	end = trn_deadline(30 * SECOND);
	while (guest_free(fd) != before && trn_deadline(0) < end)
		usleep(10000);
	ck_assert_uint_eq(guest_free(fd), before);
	close(fd);
	victim_chip_works(0);
}
END_TEST

/* ---- without a pause ------------------------------------------------- */

struct user {
	pthread_t thread;
	bool *stop;
	unsigned int good, lost; /* rounds */
};

/* What names a context may fail, but only because of a reset; returns whether it did. */
static bool lost(int result)
{
	ck_assert_msg(!result || result == -EIO, "%d", result);
	return result == -EIO;
}

/* Everything once; whether the chip was reset on the way. */
static bool use_chip(int fd, uint32_t context, uint32_t hbm, uint32_t host, const uint8_t *bytes)
{
	uint8_t wanted[SIZE];
	struct drm_trn_queue_create create = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = 16,
	};
	struct drm_trn_queue_destroy destroy = { 0 };
	struct trn_packet packets[2] = {
		guest_fill(VA, SIZE, context, 0),
		guest_copy(VA + SIZE, VA, SIZE),
	};
	uint32_t syncobj = guest_syncobj(fd);
	struct drm_syncobj_destroy forget = { .handle = syncobj };
	bool was_lost;

	was_lost = lost(guest_bind(fd, context, hbm, VA, SIZE)) ||
		   lost(guest_bind(fd, context, host, VA + SIZE, SIZE)) ||
		   lost(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create));
	if (!was_lost) {
		destroy.queue = create.queue;
		was_lost = lost(guest_submit(fd, create.queue, packets, 2, syncobj)) ||
			   lost(guest_job(fd, syncobj, 60));
		/* A job that ended well has done what it should, whatever came after. */
		memset(wanted, (uint8_t)context, SIZE);
		if (!was_lost)
			ck_assert_mem_eq(bytes, wanted, SIZE);
		was_lost |= lost(guest_unbind(fd, context, VA, SIZE));
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy), 0);
	}
	guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &forget), 0);
	return was_lost;
}

static void *use_without_pause(void *argument)
{
	struct user *user = argument;
	int fd = guest_open(0);

	while (!__atomic_load_n(user->stop, __ATOMIC_RELAXED)) {
		/* These name nothing that could be lost. */
		uint32_t context = guest_context(fd), hbm = guest_bo(fd, DRM_TRN_BO_HBM, SIZE),
			 host = guest_bo(fd, DRM_TRN_BO_HOST, SIZE);
		struct drm_trn_context_destroy destroy = { .context = context };
		uint8_t *bytes = guest_map(fd, host, SIZE);

		if (use_chip(fd, context, hbm, host, bytes))
			user->lost++;
		else
			user->good++;
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), 0);
		munmap(bytes, SIZE);
		guest_fails(guest_close(fd, hbm), 0);
		guest_fails(guest_close(fd, host), 0);
	}
	close(fd);
	return NULL;
}

START_TEST(without_pause)
{
	const char *wanted = getenv("TRN_RESETS");
	unsigned int resets = wanted ? (unsigned int)strtoul(wanted, NULL, 10) : 50, i;
	unsigned int good = 0, lost_rounds = 0;
	struct user user[THREADS];
	int fd = guest_open(0);
	uint64_t before = guest_free(fd);
	int64_t longest = 0;
	bool stop = false;

	for (i = 0; i < THREADS; i++) {
		user[i] = (struct user){ .stop = &stop };
		ck_assert_int_eq(pthread_create(&user[i].thread, NULL, use_without_pause, &user[i]),
				 0);
	}
	for (i = 0; i < resets; i++) {
		int64_t took = reset(0, methods[i % 2]);

		longest = took > longest ? took : longest;
		usleep(1000 * (i % 5) * 20);
		if (i % 10 == 9)
			fprintf(stderr, "reset: %u of %u\n", i + 1, resets);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(user[i].thread, NULL), 0);
		good += user[i].good;
		lost_rounds += user[i].lost;
	}
	fprintf(stderr, "reset: %u resets, the longest %lld ms; %u rounds finished, %u were lost\n",
		resets, (long long)longest, good, lost_rounds);
	ck_assert_uint_eq(guest_free(fd), before);
	close(fd);
	victim_chip_works(0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reset");
	TCase *cases = tcase_create("reset");

	tcase_set_timeout(cases, 600);
	tcase_add_loop_test(cases, idle, 0, 2);
	tcase_add_loop_test(cases, in_use, 0, 2);
	tcase_add_test(cases, other_chip_works_on);
	tcase_add_test(cases, closed_meanwhile);
	tcase_add_test(cases, without_pause);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
