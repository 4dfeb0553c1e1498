// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "trn_reset_history.h"

/* Four at once, and no more until the first of them is a minute old; jiffies wrap meanwhile. */
static void trn_reset_history_limits(struct kunit *test)
{
	unsigned long start = ULONG_MAX - 10 * HZ;
	struct trn_reset_history history = {};
	unsigned int i;

	for (i = 0; i < TRN_RESETS_MAX; i++) {
		KUNIT_EXPECT_TRUE(test, trn_reset_history_allows(&history, start + i * HZ));
		trn_reset_history_add(&history, start + i * HZ);
	}
	KUNIT_EXPECT_FALSE(test, trn_reset_history_allows(&history, start + i * HZ));
	KUNIT_EXPECT_FALSE(test, trn_reset_history_allows(&history, start + TRN_RESETS_PERIOD));
	KUNIT_EXPECT_TRUE(test, trn_reset_history_allows(&history, start + TRN_RESETS_PERIOD + 1));
}

/* One every sixteen seconds goes on for ever, one every fourteen does not. */
static void trn_reset_history_rate(struct kunit *test)
{
	struct trn_reset_history history = {};
	unsigned long now = 0;
	unsigned int i;

	for (i = 0; i < 100; i++, now += 16 * HZ) {
		KUNIT_EXPECT_TRUE(test, trn_reset_history_allows(&history, now));
		trn_reset_history_add(&history, now);
	}
	memset(&history, 0, sizeof(history));
	for (i = 0; i < TRN_RESETS_MAX; i++, now += 14 * HZ)
		trn_reset_history_add(&history, now);
	KUNIT_EXPECT_FALSE(test, trn_reset_history_allows(&history, now));
}

static struct kunit_case trn_reset_history_cases[] = {
	KUNIT_CASE(trn_reset_history_limits),
	KUNIT_CASE(trn_reset_history_rate),
	{}
};

static struct kunit_suite trn_reset_history_suite = {
	.name = "trn_reset_history",
	.test_cases = trn_reset_history_cases,
};

kunit_test_suite(trn_reset_history_suite);
