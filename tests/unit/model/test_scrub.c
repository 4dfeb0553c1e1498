// SPDX-License-Identifier: MIT
/* Zeroes over HBM: the bytes, what lies beside them, and the memory that they give back. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rig.h"
#include "suites.h"

#define MIB	 (1ULL << 20)
#define GIB	 (1ULL << 30)
#define HBM_SIZE (64 * MIB)
#define HBM_VA	 (1ULL << 40)
#define SMALL_VA 0x80000000ULL /* all of HBM in small leaves */

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue;

static void setup(void)
{
	rig_create(&rig, "trn1", HBM_SIZE, 0);
	rig_enable(&rig, 16);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 1);
	rig_queue_create(&rig, &queue, 0, &kernel, &space, 4);
	rig_map_leaves(&rig, &space, HBM_VA, TRN_PTE_TARGET_HBM, 0, HBM_SIZE, 1);
	rig_map(&rig, &space, SMALL_VA, TRN_PTE_TARGET_HBM, 0, HBM_SIZE);
	rig_random_seed(0x9e3779b97f4a7c15ULL);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static uint64_t allocated(const struct rig *of)
{
	struct stat status;

	ck_assert_int_eq(fstat(trn_chip_hbm_fd(of->chip), &status), 0);
	return (uint64_t)status.st_blocks * 512;
}

static void good(struct trn_packet packet)
{
	uint32_t head = rig_head(&queue);

	rig_execute(&rig, &queue, packet);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
	ck_assert_uint_eq(rig_head(&queue), head + 1);
}

static void assert_all(uint64_t first, uint64_t end, uint8_t value)
{
	const uint8_t *hbm = rig.chip->hbm.memory;

	for (uint64_t i = first; i < end; i++) {
		if (hbm[i] != value)
			ck_abort_msg("byte %#jx is %#x instead of %#x", (uintmax_t)i, hbm[i],
				     value);
	}
}

START_TEST(written_memory_is_given_back)
{
	const uint64_t first = 5001, end = HBM_SIZE - 7003;
	const uint64_t base = _i ? HBM_VA : SMALL_VA;

	good(rig_fill(base, HBM_SIZE, 0xa5, 0));
	ck_assert_uint_eq(allocated(&rig), HBM_SIZE);
	good(rig_fill(base + first, end - first, 0, 0));
	ck_assert_uint_le(allocated(&rig), RIG_HBM_KEPT + MIB);
	assert_all(0, first, 0xa5);
	assert_all(first, end, 0);
	assert_all(end, HBM_SIZE, 0xa5);
	/* And again memory, where it is written. */
	good(rig_fill(base + 10 * MIB + 3, MIB, 0x5a, 0));
	assert_all(10 * MIB, 10 * MIB + 3, 0);
	assert_all(10 * MIB + 3, 11 * MIB + 3, 0x5a);
	assert_all(11 * MIB + 3, 12 * MIB, 0);
}
END_TEST

START_TEST(zeroes_over_holes_take_nothing)
{
	good(rig_fill(SMALL_VA + 1, HBM_SIZE - 2, 0, 0));
	ck_assert_uint_eq(allocated(&rig), 0);
	good(rig_fill(HBM_VA + 4095, HBM_SIZE - 4095, 0, 0));
	ck_assert_uint_eq(allocated(&rig), 0);
	/* One page among them. */
	good(rig_fill(HBM_VA + 20 * MIB + 5, 1, 0x77, 0));
	ck_assert_uint_eq(allocated(&rig), TRN_PAGE_SIZE);
	good(rig_fill(HBM_VA, HBM_SIZE, 0, 0));
	ck_assert_uint_le(allocated(&rig), MIB);
	assert_all(0, HBM_SIZE, 0);
}
END_TEST

/* Another queue writes the pages on both sides all the time. */
START_TEST(neighbours_are_safe)
{
	const uint64_t first = 3 * MIB + 100, length = 20 * MIB;
	uint64_t host = rig_alloc(&rig, MIB);
	struct rig_queue other;
	uint8_t value = 0;

	rig_map(&rig, &space, 0x10000000, TRN_PTE_TARGET_HOST, host, MIB);
	rig_queue_create(&rig, &other, 1, &kernel, &space, 4);
	good(rig_fill(HBM_VA, HBM_SIZE, 0xa5, 0));
	rig_submit(&rig, &queue, rig_fill(HBM_VA + first, length, 0, 0));
	while (rig_head(&queue) < 2) {
		uint32_t head = rig_head(&other);

		memset(rig_pointer(&rig, host), ++value, MIB);
		rig_submit(&rig, &other, rig_copy(0x10000000, HBM_VA + first - MIB, MIB));
		rig_submit(&rig, &other, rig_copy(0x10000000, HBM_VA + first + length, MIB));
		while (rig_head(&other) != head + 2)
			rig_step(&rig);
		assert_all(first - MIB, first, value);
		assert_all(first + length, first + length + MIB, value);
	}
	ck_assert_uint_gt(value, 2);
	assert_all(0, first - MIB, 0xa5);
	assert_all(first, first + length, 0);
	assert_all(first + length + MIB, HBM_SIZE, 0xa5);
}
END_TEST

START_TEST(random_fills_and_copies)
{
	const uint64_t size = 8 * MIB;
	uint8_t *expected = malloc(size);

	/* More than HBM keeps: all zeroes in this test give pages back. */
	good(rig_fill(HBM_VA + size, HBM_SIZE - size, 0xa5, 0));
	memset(expected, 0, size);
	for (unsigned int i = 0; i < 150; i++) {
		uint64_t length = 1 + rig_below(rig_below(2) ? 9000 : 2 * MIB);
		uint64_t to = rig_below(size - length + 1), from = rig_below(size - length + 1);
		uint64_t base = rig_below(2) ? HBM_VA : SMALL_VA;

		switch (rig_below(3)) {
		case 0:
			good(rig_fill(base + to, length, 0, 0));
			memset(expected + to, 0, length);
			break;
		case 1:
			good(rig_fill(base + to, length, i, 0));
			memset(expected + to, i, length);
			break;
		default:
			if (from < to + length && to < from + length)
				continue;
			good(rig_copy(base + from, HBM_VA + to, length));
			memcpy(expected + to, expected + from, length);
			break;
		}
		if (i % 10 == 9)
			ck_assert_mem_eq(rig.chip->hbm.memory, expected, size);
	}
	assert_all(size, HBM_SIZE, 0xa5);
	free(expected);
}
END_TEST

/* Each with some written memory, with leaves of 2 MiB and of 1 GiB. */
START_TEST(four_large_chips)
{
	static struct rig large[4];
	const uint64_t size = 144 * GIB;
	const uint64_t before __attribute__((unused)) = rig_resident();
	uint64_t in_hbm = 0;

	for (unsigned int i = 0; i < 4; i++) {
		struct rig *chip = &large[i];
		struct rig_space all;
		struct rig_queue scrubber;
		unsigned int steps = 0;

		rig_create(chip, "trn3", size, 0);
		rig_enable(chip, 16);
		rig_space_create(chip, &all, 0);
		rig_queue_create(chip, &scrubber, 0, &all, &all, 2);
		rig_map_leaves(chip, &all, 1ULL << 46, TRN_PTE_TARGET_HBM, 0, size, 1 + i % 2);
		for (unsigned int part = 0; part < 3; part++)
			rig_execute(chip, &scrubber,
				    rig_fill((1ULL << 46) + part * 60 * GIB, 16 * MIB, 0x33, 0));
		ck_assert_uint_eq(allocated(chip), 48 * MIB);
		rig_submit(chip, &scrubber, rig_fill(1ULL << 46, size, 0, 0));
		while (rig_head(&scrubber) < 4) {
			rig_step(chip);
			ck_assert_uint_lt(++steps, 3000);
		}
		in_hbm += allocated(chip);
	}
	ck_assert_uint_le(in_hbm, 4 * (RIG_HBM_KEPT + MIB));
#ifndef __SANITIZE_THREAD__ /* whose shadow is several times the memory that is accessed */
	ck_assert_uint_lt(rig_resident() - before, 200 * MIB);
#endif
	for (unsigned int i = 0; i < 4; i++)
		rig_destroy(&large[i]);
}
END_TEST

Suite *scrub_suite(void)
{
	Suite *suite = suite_create("scrub");
	TCase *tcase = tcase_create("scrub");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 200);
	tcase_add_loop_test(tcase, written_memory_is_given_back, 0, 2);
	tcase_add_test(tcase, zeroes_over_holes_take_nothing);
	tcase_add_test(tcase, neighbours_are_safe);
	tcase_add_test(tcase, random_fills_and_copies);
	tcase_add_test(tcase, four_large_chips);
	suite_add_tcase(suite, tcase);
	return suite;
}
