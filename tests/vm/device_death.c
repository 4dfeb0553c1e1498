/* SPDX-License-Identifier: MIT */
/*
 * The device model is killed while copies run: every application learns of it within
 * ten seconds, in the kernel's way and in the user queue's.  The guest is spoiled
 * after that, so this program has a boot of its own.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest.h"

#define MIB	  (UINT64_C(1) << 20)
#define LIMIT	  (10 * SECOND)

/*
 * Long copies, so that the kill comes during one and not during a register access: QEMU
 * 11.1.3 itself may abort when the server dies before it has answered a request.
 */
#define COPY_SIZE (256 * MIB)

static int kill_device(void)
{
	return system("trn-vmctl vm kill-vdev >/dev/null");
}

/* What the kernel has said about chips at error level since boot. */
static int error_lines(void)
{
	FILE *log = popen("dmesg --level emerg,alert,crit,err | grep -c 'trn '", "r");
	int count = -1;

	ck_assert_ptr_nonnull(log);
	ck_assert_int_eq(fscanf(log, "%d", &count), 1);
	pclose(log);
	return count;
}

/* Copies for ever; exit status 0 if that ends with -ENODEV. */
static int copy_until_gone(enum trn_queue_mode mode, int ready)
{
	struct trn_device *device;
	struct trn_context *context;
	struct trn_buffer *one, *two;
	struct trn_queue *queue;
	int error;

	guest_ok(trn_device_open(0, &device));
	guest_ok(trn_context_create(device, &context));
	guest_ok(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, COPY_SIZE, 0, &one));
	guest_ok(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, COPY_SIZE, 0, &two));
	guest_ok(trn_queue_create(context, mode, 16, &queue));
	guest_ok(trn_copy(queue, one, 0, two, 0, COPY_SIZE));
	ck_assert_int_eq(write(ready, "", 1), 1);
	do
		error = trn_copy(queue, one, 0, two, 0, COPY_SIZE);
	while (!error);
	fprintf(stderr, "%s queue: %s\n", mode == TRN_QUEUE_USER ? "user" : "kernel",
		trn_error_message());
	if (error != -ENODEV)
		return 1;
	/* All can be given back, and a new open says what is the matter. */
	guest_ok(trn_queue_destroy(queue));
	guest_ok(trn_buffer_destroy(one));
	guest_ok(trn_buffer_destroy(two));
	guest_ok(trn_context_destroy(context));
	guest_ok(trn_device_close(device));
	return 0;
}

START_TEST(application_learns_of_death)
{
	int pipes[2], mode, status;
	int64_t killed;
	char byte;

	ck_assert_int_eq(pipe(pipes), 0);
	for (mode = 0; mode < 2; mode++) {
		pid_t child = fork();

		ck_assert_int_ge(child, 0);
		if (!child)
			_exit(copy_until_gone(mode, pipes[1]));
	}
	for (mode = 0; mode < 2; mode++)
		ck_assert_int_eq(read(pipes[0], &byte, 1), 1);

	killed = trn_deadline(0);
	ck_assert_int_eq(kill_device(), 0);
	for (mode = 0; mode < 2; mode++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%x",
			      (unsigned int)status);
	}
	ck_assert_msg(trn_deadline(0) - killed < LIMIT, "it took %lld ms",
		      (long long)(trn_deadline(0) - killed) / 1000000);

	/* The module goes too. */
	guest_fails(guest_unload_module(), 0);
	ck_assert_msg(trn_deadline(0) - killed < LIMIT, "with unloading it took %lld ms",
		      (long long)(trn_deadline(0) - killed) / 1000000);

	ck_assert_msg(error_lines() == 1, "the kernel logged %d error lines", error_lines());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("device_death");
	TCase *cases = tcase_create("device_death");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, application_learns_of_death);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
