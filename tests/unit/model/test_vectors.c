// SPDX-License-Identifier: MIT
/* Moderation: SET_FEATURE's interrupt interval. */
#include <time.h>

#include "rig.h"
#include "suites.h"

#define FENCE_VA 0x10000ULL
#define HOUR_NS	 3600000000000ULL
#define MAX_NS	 (TRN_INTERRUPT_INTERVAL_MAX * 1000ULL)

static struct rig rig;
static struct rig_space kernel;
static struct rig_queue queue, other; /* of two vectors */

static void setup(void)
{
	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
	rig_map_host_page(&rig, &kernel, FENCE_VA);
	rig_queue_create(&rig, &queue, 0, &kernel, &kernel, 6);
	rig_queue_create(&rig, &other, 1, &kernel, &kernel, 6);
	trn_store64(&queue.control->wake_at, 1);
	trn_store64(&other.control->wake_at, 1);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static uint16_t set_feature(uint8_t feature, uint64_t value)
{
	return rig_admin(&rig, (struct trn_admin_command){
				       .opcode = TRN_ADMIN_SET_FEATURE,
				       .feature = { .feature = feature, .value = htole64(value) },
			       });
}

static void set_interval(uint64_t us)
{
	ck_assert_uint_eq(set_feature(TRN_FEATURE_INTERRUPT_INTERVAL, us), TRN_ADMIN_SUCCESS);
}

static void raise_vector(struct rig_queue *of)
{
	uint32_t head = rig_head(of);

	rig_submit(&rig, of, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	while (rig_head(of) != head + 1)
		rig_step(&rig);
}

static unsigned int raised(const struct rig_queue *of)
{
	return rig_interrupts(&rig, of->vector);
}

START_TEST(arguments)
{
	ck_assert_uint_eq(set_feature(0, 0), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(set_feature(2, 0), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(set_feature(255, 0), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(
		set_feature(TRN_FEATURE_INTERRUPT_INTERVAL, TRN_INTERRUPT_INTERVAL_MAX + 1),
		TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(set_feature(TRN_FEATURE_INTERRUPT_INTERVAL, 1ULL << 32),
			  TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(set_feature(TRN_FEATURE_INTERRUPT_INTERVAL, UINT64_MAX),
			  TRN_ADMIN_INVALID_FIELD);
	set_interval(TRN_INTERRUPT_INTERVAL_MAX);
	set_interval(0);
}
END_TEST

START_TEST(without_an_interval_all_are_raised)
{
	for (unsigned int i = 1; i <= 20; i++) {
		raise_vector(&queue);
		ck_assert_uint_eq(raised(&queue), i);
	}
}
END_TEST

/* The first comes at once, those within the interval as one at its end. */
START_TEST(interval)
{
	uint64_t wait;

	set_interval(TRN_INTERRUPT_INTERVAL_MAX);
	raise_vector(&queue);
	ck_assert_uint_eq(raised(&queue), 1);
	for (unsigned int i = 0; i < 10; i++)
		raise_vector(&queue);
	wait = rig_run(&rig);
	ck_assert_uint_eq(raised(&queue), 1);
	/* The device comes back by itself, at the end. */
	ck_assert_uint_gt(wait, 0);
	ck_assert_uint_le(wait, MAX_NS);
	rig_pass(&rig, wait);
	rig_run(&rig);
	ck_assert_uint_eq(raised(&queue), 2);
	/* Once: nothing more is due. */
	rig_pass(&rig, HOUR_NS);
	ck_assert_uint_eq(rig_run(&rig), UINT64_MAX);
	ck_assert_uint_eq(raised(&queue), 2);
	/* The end of one interval was the begin of another; now it is over. */
	raise_vector(&queue);
	ck_assert_uint_eq(raised(&queue), 3);
	raise_vector(&queue);
	ck_assert_uint_eq(raised(&queue), 3);
}
END_TEST

START_TEST(delayed_interrupt_begins_an_interval)
{
	set_interval(TRN_INTERRUPT_INTERVAL_MAX);
	raise_vector(&queue);
	raise_vector(&queue);
	rig_pass(&rig, MAX_NS);
	rig_run(&rig);
	ck_assert_uint_eq(raised(&queue), 2);
	raise_vector(&queue);
	ck_assert_uint_eq(raised(&queue), 2);
}
END_TEST

START_TEST(intervals_are_each_vectors)
{
	set_interval(TRN_INTERRUPT_INTERVAL_MAX);
	raise_vector(&queue);
	raise_vector(&other);
	ck_assert_uint_eq(raised(&queue), 1);
	ck_assert_uint_eq(raised(&other), 1);
	raise_vector(&queue);
	rig_pass(&rig, MAX_NS);
	rig_run(&rig);
	ck_assert_uint_eq(raised(&queue), 2);
	ck_assert_uint_eq(raised(&other), 1);
}
END_TEST

START_TEST(admin_vector_is_not_moderated)
{
	unsigned int before;

	set_interval(TRN_INTERRUPT_INTERVAL_MAX);
	before = rig_interrupts(&rig, 0);
	for (unsigned int i = 1; i <= 10; i++) {
		rig_invalidate(&rig, 0, 0, 0);
		ck_assert_uint_eq(rig_interrupts(&rig, 0), before + i);
	}
}
END_TEST

START_TEST(interval_that_ends_at_once)
{
	set_interval(TRN_INTERRUPT_INTERVAL_MAX);
	raise_vector(&queue);
	raise_vector(&queue);
	ck_assert_uint_eq(raised(&queue), 1);
	set_interval(0);
	ck_assert_uint_eq(raised(&queue), 2);
	raise_vector(&queue);
	ck_assert_uint_eq(raised(&queue), 3);
}
END_TEST

/* The feature has its reset value after ENABLE, and nothing is due. */
START_TEST(disable_forgets)
{
	struct rig_space again;
	struct rig_queue fresh;

	set_interval(TRN_INTERRUPT_INTERVAL_MAX);
	raise_vector(&queue);
	raise_vector(&queue);
	rig_write32(&rig, TRN_REG_CTRL, 0);
	rig_run(&rig);
	rig_enable(&rig, 16);
	rig_pass(&rig, HOUR_NS);
	rig_run(&rig);
	ck_assert_uint_eq(raised(&queue), 1);
	rig_space_create(&rig, &again, 0);
	rig_map_host_page(&rig, &again, FENCE_VA);
	rig_queue_create(&rig, &fresh, 0, &again, &again, 6);
	trn_store64(&fresh.control->wake_at, 1);
	raise_vector(&fresh);
	raise_vector(&fresh);
	ck_assert_uint_eq(raised(&fresh), 3);
}
END_TEST

static struct {
	uint64_t last, shortest;
	unsigned int count;
} seen;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void measure(void *data, unsigned int vector)
{
	uint64_t time = now();

	(void)data;
	if (vector == 0)
		return;
	if (seen.count && time - seen.last < seen.shortest)
		seen.shortest = time - seen.last;
	seen.last = time;
	seen.count++;
}

/* By the clock on the wall, with an executor: none comes early, and all come in the end. */
START_TEST(real_time)
{
	const uint64_t us = 2000;

	set_interval(us);
	seen.shortest = UINT64_MAX;
	rig.on_interrupt = measure;
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	for (unsigned int i = 0; i < 2000; i++) {
		rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
		while (rig_head(&queue) != i + 1)
			;
	}
	/* The last ones are still due. */
	for (uint64_t end = now() + 10 * us * 1000; now() < end;)
		;
	trn_chip_stop(rig.chip);
	ck_assert_uint_ge(seen.count, 2);
	ck_assert_uint_ge(seen.shortest, us * 1000);
	ck_assert_uint_eq(rig.chip->vectors.next, UINT64_MAX);
}
END_TEST

Suite *vectors_suite(void)
{
	Suite *suite = suite_create("vectors");
	TCase *tcase = tcase_create("vectors");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, arguments);
	tcase_add_test(tcase, without_an_interval_all_are_raised);
	tcase_add_test(tcase, interval);
	tcase_add_test(tcase, delayed_interrupt_begins_an_interval);
	tcase_add_test(tcase, intervals_are_each_vectors);
	tcase_add_test(tcase, admin_vector_is_not_moderated);
	tcase_add_test(tcase, interval_that_ends_at_once);
	tcase_add_test(tcase, disable_forgets);
	tcase_add_test(tcase, real_time);
	suite_add_tcase(suite, tcase);
	return suite;
}
