// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "trn_ring.h"

static void trn_ring_empty(struct kunit *test)
{
	struct trn_ring ring = { .entries = 4 };

	KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 4u);
}

static void trn_ring_fills_and_drains(struct kunit *test)
{
	struct trn_ring ring = { .entries = 8 };
	u32 i;

	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 8 - i);
		ring.tail++;
	}
	KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 0u);
	ring.done += 3;
	KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 3u);
	ring.done = ring.tail;
	KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 8u);
}

/* Indexes pass 2^32 with packets in the ring. */
static void trn_ring_wraps(struct kunit *test)
{
	struct trn_ring ring = { .entries = 16, .tail = U32_MAX - 4, .done = U32_MAX - 4 };
	u32 i, slot = trn_ring_slot(&ring, ring.tail);

	for (i = 0; i < 16; i++) {
		KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 16 - i);
		KUNIT_EXPECT_EQ(test, trn_ring_slot(&ring, ring.tail), (slot + i) % 16);
		ring.tail++;
	}
	KUNIT_EXPECT_EQ(test, ring.tail, 11u);
	KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 0u);
	for (i = 0; i < 16; i++) {
		ring.done++;
		KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), i + 1);
	}
}

static void trn_ring_largest(struct kunit *test)
{
	struct trn_ring ring = { .entries = 1U << 31, .tail = 5, .done = 5 };

	KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 1U << 31);
	ring.tail += 1U << 31;
	KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 0u);
	KUNIT_EXPECT_EQ(test, trn_ring_slot(&ring, ring.tail), 5u);
	ring.done += 7;
	KUNIT_EXPECT_EQ(test, trn_ring_space(&ring), 7u);
}

static void trn_ring_contains_range(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, trn_ring_contains(10, 13, 9));
	KUNIT_EXPECT_TRUE(test, trn_ring_contains(10, 13, 10));
	KUNIT_EXPECT_TRUE(test, trn_ring_contains(10, 13, 12));
	KUNIT_EXPECT_FALSE(test, trn_ring_contains(10, 13, 13));
	/* An empty range has nothing, whatever a chip says. */
	KUNIT_EXPECT_FALSE(test, trn_ring_contains(10, 10, 10));
	KUNIT_EXPECT_FALSE(test, trn_ring_contains(10, 10, 9));
	KUNIT_EXPECT_FALSE(test, trn_ring_contains(10, 10, U32_MAX));
}

/* A range on both sides of 2^32. */
static void trn_ring_contains_wraps(struct kunit *test)
{
	u32 start = U32_MAX - 1, end = 2;

	KUNIT_EXPECT_FALSE(test, trn_ring_contains(start, end, U32_MAX - 2));
	KUNIT_EXPECT_TRUE(test, trn_ring_contains(start, end, U32_MAX - 1));
	KUNIT_EXPECT_TRUE(test, trn_ring_contains(start, end, U32_MAX));
	KUNIT_EXPECT_TRUE(test, trn_ring_contains(start, end, 0));
	KUNIT_EXPECT_TRUE(test, trn_ring_contains(start, end, 1));
	KUNIT_EXPECT_FALSE(test, trn_ring_contains(start, end, 2));
}

static struct kunit_case trn_ring_cases[] = {
	KUNIT_CASE(trn_ring_empty),
	KUNIT_CASE(trn_ring_fills_and_drains),
	KUNIT_CASE(trn_ring_wraps),
	KUNIT_CASE(trn_ring_largest),
	KUNIT_CASE(trn_ring_contains_range),
	KUNIT_CASE(trn_ring_contains_wraps),
	{}
};

static struct kunit_suite trn_ring_suite = {
	.name = "trn_ring",
	.test_cases = trn_ring_cases,
};

kunit_test_suite(trn_ring_suite);

MODULE_DESCRIPTION("KUnit tests of trn");
MODULE_LICENSE("GPL");
