/* SPDX-License-Identifier: MIT */
/*
 * A program that hangs in its core: what the driver does about it, and what it tells of it.  What
 * becomes of all the others is the test faults' to see.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hw/trn_admin.h>
#include <tests/check_run.h>

#include "chip.h"
#include "dump.h"
#include "worker.h"

#define LIMIT_MS 500

static int fd, innocent_fd, events;
static uint32_t context;
static struct worker guilty, innocent;
static struct drm_trn_query_recovery before;

static void setup(void)
{
	fd = guest_open(0);
	innocent_fd = guest_open(0);
	context = guest_context(fd);
	worker_make_exec(&innocent, innocent_fd, guest_context(innocent_fd), 1, true, 0);
	before = chip_recovery(fd);
	events = chip_events();
	/* So long after a dump of a queue that the chip stopped there is no other. */
	usleep(1100000);
	dump_drop();
}

static void teardown(void)
{
	worker_unmap(&innocent);
	close(innocent_fd);
	close(events);
	close(fd);
}

static void expect_counters(unsigned int stops, unsigned int queues, unsigned int contexts,
			    unsigned int cores)
{
	struct drm_trn_query_recovery now = chip_recovery(fd);

	ck_assert_uint_eq(now.queue_stops, before.queue_stops + stops);
	ck_assert_uint_eq(now.queue_resets, before.queue_resets + queues);
	ck_assert_uint_eq(now.context_resets, before.context_resets + contexts);
	ck_assert_uint_eq(now.core_resets, before.core_resets + cores);
	ck_assert_uint_eq(now.function_resets, before.function_resets);
	ck_assert_uint_eq(now.contexts_lost, before.contexts_lost);
}

static void inject_hang(const struct worker *worker)
{
	chip_request("inject", "\"chip\":0,\"fault\":\"hang\",\"queue\":%u,\"cure\":\"core\"",
		     chip_queue(0, fd, worker->queue).number);
}

static int submit_copy(struct worker *worker)
{
	struct trn_packet packets[2];

	return worker_submit(worker, packets, worker_copies(worker, packets));
}

/* The guilty's context is there still, and its next program runs. */
static void expect_next(void)
{
	guest_fails(worker_destroy_queue(&guilty), 0);
	worker_renew(&guilty, 0);
	guest_fails(worker_copy(&guilty, trn_deadline(30 * SECOND)), 0);
	worker_unmap(&guilty);
}

START_TEST(too_long)
{
	struct drm_trn_queue_error why;
	bool user = _i;

	worker_make_exec(&guilty, fd, context, 0, user, LIMIT_MS);
	inject_hang(&guilty);
	worker_start(&innocent);
	guest_fails(submit_copy(&guilty), 0);
	guest_fails(worker_wait(&guilty, trn_deadline(60 * SECOND)), user ? -EIO : -ETIME);
	why = (struct drm_trn_queue_error){ .queue = guilty.queue };
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_ERROR, &why), 0);
	ck_assert_uint_eq(why.reason, TRN_STOP_TIME_LIMIT);
	ck_assert(chip_event_seen(events, "TRN_RESET=core"));
	ck_assert(worker_goes_on(&innocent, 3, 30 * SECOND));
	guest_fails(worker_stop(&innocent), 0);
	expect_counters(0, 1, 1, 1);

	dump_read();
	dump_has_line("rung: core");
	dump_line_has("queue: ", " type exec");
	dump_line_has("packet: ", "EXEC");
	dump_line_has("core: ", " state running packet 0");
	/* It hangs before its first instruction. */
	dump_line_has("  sync ", " running instruction 0 issued 0 registers 0");
	dump_line_has("  tensor ", " halted ");
	expect_next();
}
END_TEST

/* Who destroys the queue meets no obstacle, and the core is free. */
START_TEST(destroyed)
{
	int i;

	worker_make_exec(&guilty, fd, context, 0, _i, 0);
	inject_hang(&guilty);
	guest_fails(submit_copy(&guilty), 0);
	/* While these have had their turns it has had its own, and hangs. */
	for (i = 0; i < 3; i++)
		guest_fails(worker_copy(&innocent, trn_deadline(30 * SECOND)), 0);
	guest_fails(worker_destroy_queue(&guilty), 0);
	ck_assert(chip_event_seen(events, "TRN_RESET=core"));
	expect_counters(0, 0, 1, 1);
	worker_renew(&guilty, 0);
	guest_fails(worker_copy(&guilty, trn_deadline(30 * SECOND)), 0);
	worker_unmap(&guilty);
}
END_TEST

/* What a program was doing when it failed is in the dump, whoever stopped it. */
START_TEST(deadlock)
{
	struct trn_instruction *instruction;
	struct image image = { 0 };
	struct trn_packet packet;

	worker_make_exec(&guilty, fd, context, 0, _i, 0);
	instruction = image_add(&image, TRN_ENGINE_GPSIMD, TRN_OP_MOVE);
	instruction->control.destination = 3;
	instruction->control.immediate = 0xabcdef;
	image_release(image_add(&image, TRN_ENGINE_GPSIMD, TRN_OP_NOP), 17, 5);
	image_acquire(image_add(&image, TRN_ENGINE_GPSIMD, TRN_OP_NOP), 18, 1);
	packet = worker_program(&guilty, &image, guilty.va);
	guest_fails(worker_submit(&guilty, &packet, 1), 0);
	guest_fails(worker_wait(&guilty, trn_deadline(60 * SECOND)), -EIO);
	dump_read();
	dump_has_line("rung: stop");
	dump_has_line("stop: reason 12 PROGRAM packet 0 exception 11 DEADLOCK engine gpsimd "
		      "instruction 2");
	dump_line_has("core: ", " state ended packet 0");
	dump_line_has("  gpsimd ", " waiting instruction 2 issued 2 registers 0000000000000000 "
				   "0000000000000000 0000000000000000 0000000000abcdef ");
	dump_has_line("  semaphores 17=5");
	expect_counters(1, 0, 0, 0);
	expect_next();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("core-recovery");
	TCase *cases = tcase_create("core-recovery");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 180);
	tcase_add_loop_test(cases, too_long, 0, 2);
	tcase_add_loop_test(cases, destroyed, 0, 2);
	tcase_add_loop_test(cases, deadlock, 0, 2);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
