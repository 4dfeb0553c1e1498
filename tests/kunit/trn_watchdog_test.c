// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "trn_watchdog.h"

/* A job is charged from the look at which it was first seen. */
static void trn_watch_one_job(struct kunit *test)
{
	struct trn_watch watch = {};

	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 5000), 0ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 5000), 0ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 5300), 300ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 6000), 1000ull);
}

/* What the job before has run is not charged to the next one. */
static void trn_watch_next_job(struct kunit *test)
{
	struct trn_watch watch = {};

	trn_watch_running(&watch, 1, 1000);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 900000), 899000ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 2, 950000), 0ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 2, 950001), 1ull);
	/* Several jobs between two looks. */
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 7, 990000), 0ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 7, 990002), 2ull);
}

/* Time that does not grow is not charged: the queue waits for its turn. */
static void trn_watch_waiting(struct kunit *test)
{
	struct trn_watch watch = {};
	int i;

	trn_watch_running(&watch, 3, 70);
	trn_watch_running(&watch, 3, 80);
	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 3, 80), 10ull);
}

static void trn_watch_clock_goes_back(struct kunit *test)
{
	struct trn_watch watch = {};

	trn_watch_running(&watch, 1, 1000);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 1500), 500ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 200), 500ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 0), 500ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 50), 550ull);
}

static void trn_watch_largest(struct kunit *test)
{
	struct trn_watch watch = {};

	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, U64_MAX, 0), 0ull);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, U64_MAX, U64_MAX), U64_MAX);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, U64_MAX, 0), U64_MAX);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, U64_MAX), 0ull);
	/* More than there is room for stays the most, and so above any limit. */
	trn_watch_running(&watch, 1, 0);
	trn_watch_running(&watch, 1, U64_MAX);
	trn_watch_running(&watch, 1, 0);
	KUNIT_EXPECT_EQ(test, trn_watch_running(&watch, 1, 5), U64_MAX);
}

static struct kunit_case trn_watchdog_cases[] = {
	KUNIT_CASE(trn_watch_one_job),
	KUNIT_CASE(trn_watch_next_job),
	KUNIT_CASE(trn_watch_waiting),
	KUNIT_CASE(trn_watch_clock_goes_back),
	KUNIT_CASE(trn_watch_largest),
	{}
};

static struct kunit_suite trn_watchdog_suite = {
	.name = "trn_watchdog",
	.test_cases = trn_watchdog_cases,
};

kunit_test_suite(trn_watchdog_suite);
