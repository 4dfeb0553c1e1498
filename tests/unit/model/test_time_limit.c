// SPDX-License-Identifier: MIT
/* Running time of packets: what counts, what does not, and the limit that stops a queue. */
#include "rig.h"
#include "suites.h"

#define FENCE_VA  0x10000ULL	/* in kernel: a fence */
#define DATA_VA	  0x80000000ULL /* in space: 8 MiB of HBM */
#define DATA_SIZE (8ULL << 20)
#define LIMIT_MS  3600000U /* far more than a test takes */
#define LIMIT_NS  (LIMIT_MS * 1000000ULL)
#define UNIT_MAX  (2ULL << 20) /* more than one turn does of a packet */

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue, other;
static __le64 *fence;

static void setup(void)
{
	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 1);
	rig_queue_create_limited(&rig, &queue, 0, &kernel, &space, 3, 0, LIMIT_MS);
	rig_queue_create(&rig, &other, 1, &kernel, &space, 3);
	fence = rig_map_host_page(&rig, &kernel, FENCE_VA);
	rig_map(&rig, &space, DATA_VA, TRN_PTE_TARGET_HBM, 0, DATA_SIZE);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static uint64_t packet_ns(const struct rig_queue *of)
{
	const struct trn_log_queue *log = rig_log(&rig, TRN_LOG_QUEUE, of->id);

	return le64toh(log->packet_ns);
}

static uint64_t queue_ns(const struct rig_queue *of)
{
	const struct trn_log_queue *log = rig_log(&rig, TRN_LOG_QUEUE, of->id);

	return le64toh(log->queue_ns);
}

/* Steps until the queue has just worked on its long packet. */
static void step_until_it_works(const struct rig_queue *of)
{
	uint64_t done = rig.chip->queue[of->id]->done;

	while (rig.chip->queue[of->id]->done == done || !rig.chip->queue[of->id]->has_packet)
		rig_step(&rig);
}

static void start_long_packet(struct rig_queue *of)
{
	rig_submit(&rig, of, rig_fill(DATA_VA, DATA_SIZE, 0x11, 0));
	step_until_it_works(of);
}

START_TEST(stops_what_runs_too_long)
{
	uint64_t done;

	start_long_packet(&queue);
	rig_pass(&rig, LIMIT_NS + 1);
	done = rig.chip->queue[queue.id]->done;
	rig_run(&rig);
	rig_assert_stopped(&rig, &queue, TRN_STOP_TIME_LIMIT);
	ck_assert_uint_eq(rig_head(&queue), 0);
	/* Noticed late by a turn at most. */
	ck_assert_uint_lt(rig.chip->queue[queue.id]->done, done + UNIT_MAX);
	/* Others have not noticed, and a new queue works. */
	rig_execute(&rig, &other, rig_nop());
	ck_assert_uint_eq(rig_head(&other), 1);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_queue_create_limited(&rig, &queue, 0, &kernel, &space, 3, 0, LIMIT_MS);
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(leaves_what_is_in_time)
{
	start_long_packet(&queue);
	rig_pass(&rig, LIMIT_NS - 60000000000ULL); /* all but a minute */
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(rig_event_count(&rig), 0);
}
END_TEST

START_TEST(no_limit)
{
	start_long_packet(&other);
	rig_pass(&rig, 1000 * LIMIT_NS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&other), 1);
}
END_TEST

START_TEST(largest_limit)
{
	struct rig_queue largest;

	rig_queue_create_limited(&rig, &largest, 2, &kernel, &space, 3, 0, UINT32_MAX);
	start_long_packet(&largest);
	rig_pass(&rig, (UINT32_MAX - 1) * 1000000ULL - 60000000000ULL);
	step_until_it_works(&largest);
	rig_pass(&rig, 120000000000ULL);
	rig_run(&rig);
	rig_assert_stopped(&rig, &largest, TRN_STOP_TIME_LIMIT);
}
END_TEST

/* Each packet has its own time; the queue's is the sum. */
START_TEST(time_is_each_packets)
{
	for (uint64_t i = 1; i <= 3; i++) {
		start_long_packet(&queue);
		rig_pass(&rig, LIMIT_NS / 2);
		step_until_it_works(&queue);
		ck_assert_uint_ge(packet_ns(&queue), LIMIT_NS / 2);
		ck_assert_uint_lt(packet_ns(&queue), LIMIT_NS);
		rig_run(&rig);
		ck_assert_uint_eq(rig_head(&queue), i);
		ck_assert_uint_eq(packet_ns(&queue), 0);
		ck_assert_uint_ge(queue_ns(&queue), i * LIMIT_NS / 2);
		ck_assert_uint_lt(queue_ns(&queue), i * LIMIT_NS / 2 + LIMIT_NS / 2);
	}
}
END_TEST

START_TEST(waiting_for_a_turn_does_not_count)
{
	start_long_packet(&queue);
	start_long_packet(&other);
	for (unsigned int i = 0; i < 3; i++) {
		step_until_it_works(&other);
		rig_pass(&rig, LIMIT_NS);
	}
	ck_assert_uint_lt(packet_ns(&queue), LIMIT_NS);
	ck_assert_uint_ge(packet_ns(&other), 3 * LIMIT_NS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(rig_event_count(&rig), 0);
}
END_TEST

START_TEST(admin_commands_do_not_count)
{
	start_long_packet(&queue);
	for (unsigned int i = 0; i < 3; i++) {
		rig_invalidate(&rig, 1, 0, 0); /* the last step wrote its completion */
		rig_pass(&rig, LIMIT_NS);
	}
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(parked_time_does_not_count)
{
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	rig_run(&rig);
	/* A day, with looks and kicks in between. */
	for (unsigned int i = 0; i < 24; i++) {
		rig_pass(&rig, LIMIT_NS);
		rig_run(&rig);
		rig_kick(&rig, queue.id);
		rig_step(&rig);
		rig_pass(&rig, LIMIT_NS);
		rig_run(&rig);
	}
	ck_assert_uint_lt(queue_ns(&queue), LIMIT_NS);
	trn_store64(fence, 1);
	rig_kick(&rig, queue.id);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(suspended_time_does_not_count)
{
	start_long_packet(&queue);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_pass(&rig, 2 * LIMIT_NS);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

/* A packet that begins again has its time again. */
START_TEST(resumed_packet_starts_at_zero)
{
	for (unsigned int i = 0; i < 3; i++) {
		if (i == 0)
			start_long_packet(&queue);
		else
			step_until_it_works(&queue);
		rig_pass(&rig, LIMIT_NS * 3 / 4);
		ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
				  TRN_ADMIN_SUCCESS);
		ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id),
				  TRN_ADMIN_SUCCESS);
	}
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

/* Software may have seen the value: the packet has finished, however long the rest takes. */
START_TEST(fence_that_is_stored_has_finished)
{
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 5));
	while (trn_load64(fence) != 5)
		rig_step(&rig);
	rig_pass(&rig, 2 * LIMIT_NS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(rig_event_count(&rig), 0);
}
END_TEST

Suite *time_limit_suite(void)
{
	Suite *suite = suite_create("time limit");
	TCase *tcase = tcase_create("time limit");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, stops_what_runs_too_long);
	tcase_add_test(tcase, leaves_what_is_in_time);
	tcase_add_test(tcase, no_limit);
	tcase_add_test(tcase, largest_limit);
	tcase_add_test(tcase, time_is_each_packets);
	tcase_add_test(tcase, waiting_for_a_turn_does_not_count);
	tcase_add_test(tcase, admin_commands_do_not_count);
	tcase_add_test(tcase, parked_time_does_not_count);
	tcase_add_test(tcase, suspended_time_does_not_count);
	tcase_add_test(tcase, resumed_packet_starts_at_zero);
	tcase_add_test(tcase, fence_that_is_stored_has_finished);
	suite_add_tcase(suite, tcase);
	return suite;
}
