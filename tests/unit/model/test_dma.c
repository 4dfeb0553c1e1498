// SPDX-License-Identifier: MIT
/* COPY and FILL: the bytes that arrive, and those that must not change. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "suites.h"
#include "tools/vdev/model/dma.h"

#define HOST_VA	  0x10000000ULL	    /* 8 MiB of host memory */
#define HBM_VA	  0x7f0000000000ULL /* all of HBM */
#define REMOTE_VA 0x20000000ULL	    /* host memory without a mapping */
#define HOST_SIZE (8ULL << 20)

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue;
static uint8_t *host;

static void setup(void)
{
	uint64_t dma;

	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 1);
	rig_queue_create(&rig, &queue, 0, &kernel, &space, 4);
	dma = rig_alloc(&rig, HOST_SIZE);
	host = rig_pointer(&rig, dma);
	rig_map(&rig, &space, HOST_VA, TRN_PTE_TARGET_HOST, dma, HOST_SIZE);
	rig_map(&rig, &space, HBM_VA, TRN_PTE_TARGET_HBM, 0, RIG_HBM_SIZE);
	rig_map(&rig, &space, REMOTE_VA, TRN_PTE_TARGET_HOST, RIG_REMOTE, RIG_REMOTE_SIZE);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static uint8_t *hbm(uint64_t address)
{
	return rig.chip->hbm.memory + address;
}

/* Executes a packet that must succeed. */
static void good(struct trn_packet packet)
{
	uint32_t head = rig_head(&queue);

	rig_execute(&rig, &queue, packet);
	ck_assert_uint_eq(rig_head(&queue), head + 1);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
}

START_TEST(copy_there_and_back)
{
	const size_t length = 3 << 20;

	rig_pattern(host, length, 1);
	good(rig_copy(HOST_VA, HBM_VA + 12345, length));
	ck_assert_mem_eq(hbm(12345), host, length);
	good(rig_copy(HBM_VA + 12345, HOST_VA + (4 << 20), length));
	ck_assert_mem_eq(host + (4 << 20), host, length);
}
END_TEST

static const struct {
	uint64_t source, destination, length;
} shapes[] = {
	{ 0, 0, 1 },
	{ 4095, 0, 1 },
	{ 4095, 4095, 2 },
	{ 1, 4090, 13 },
	{ 4093, 7, 4099 },
	{ 5, 3, 8192 },
	{ 0, 0, 4096 },
	{ 4096, 8192, 2 << 20 },
	{ (2 << 20) - 3, (2 << 20) - 5, 4097 },
	{ 17, 4001, TRN_DMA_UNIT - 1 },
	{ 0, 1, TRN_DMA_UNIT },
	{ 3, 0, TRN_DMA_UNIT + 1 },
};

static const uint64_t places[][2] = {
	/* source, destination */
	{ HOST_VA, HBM_VA },
	{ HBM_VA, HOST_VA },
	{ HBM_VA, HBM_VA + (32 << 20) },
	{ HOST_VA, HOST_VA + (4 << 20) },
};

static uint8_t *behind(uint64_t va)
{
	if (va >= HBM_VA)
		return hbm(va - HBM_VA);
	if (va >= REMOTE_VA)
		return rig.remote + (va - REMOTE_VA);
	return host + (va - HOST_VA);
}

static void check_copy(uint64_t source, uint64_t destination, uint64_t length)
{
	/* One byte more on either side where there is room. */
	uint8_t *target = behind(destination);
	bool before = destination % TRN_PAGE_SIZE;
	uint8_t left = before ? target[-1] : 0, right = target[length];

	rig_pattern(behind(source), length, (unsigned int)(source + length));
	good(rig_copy(source, destination, length));
	ck_assert_mem_eq(target, behind(source), length);
	if (before)
		ck_assert_uint_eq(target[-1], left);
	ck_assert_uint_eq(target[length], right);
}

START_TEST(copy_shapes)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		check_copy(places[_i][0] + shapes[i].source, places[_i][1] + shapes[i].destination,
			   shapes[i].length);
}
END_TEST

START_TEST(copy_host_maps_in_small_pieces)
{
	rig.map_limit = 1000;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		check_copy(HOST_VA + shapes[i].source, HBM_VA + shapes[i].destination,
			   shapes[i].length);
}
END_TEST

START_TEST(copy_without_mapping)
{
	check_copy(REMOTE_VA + 100, HBM_VA + 50, 20000);
	check_copy(HBM_VA + 50, REMOTE_VA + 4000, 20000);
	check_copy(REMOTE_VA + 3, HOST_VA + 5, 9000);
	check_copy(HOST_VA + 5, REMOTE_VA + 3, 9000);
	check_copy(REMOTE_VA + 3, REMOTE_VA + 500000, 9000);
}
END_TEST

/* Pages in reverse order: nothing is contiguous. */
START_TEST(copy_scattered)
{
	const uint64_t va = 0x30000000, pages = 700;
	uint8_t *expected = malloc(pages * TRN_PAGE_SIZE);

	for (uint64_t i = 0; i < pages; i++) {
		rig_map(&rig, &space, va + i * TRN_PAGE_SIZE, TRN_PTE_TARGET_HBM,
			(2000 - i) * TRN_PAGE_SIZE, TRN_PAGE_SIZE);
		rig_pattern(hbm((2000 - i) * TRN_PAGE_SIZE), TRN_PAGE_SIZE, (unsigned int)i);
		memcpy(expected + i * TRN_PAGE_SIZE, hbm((2000 - i) * TRN_PAGE_SIZE),
		       TRN_PAGE_SIZE);
	}
	good(rig_copy(va, HOST_VA, pages * TRN_PAGE_SIZE));
	ck_assert_mem_eq(host, expected, pages * TRN_PAGE_SIZE);
	free(expected);
}
END_TEST

START_TEST(copy_overlap_is_survived)
{
	/* The same physical pages under two addresses, too. */
	rig_map(&rig, &space, 0x40000000, TRN_PTE_TARGET_HBM, 0, 1 << 20);
	good(rig_copy(HBM_VA, HBM_VA + 1, 100000));
	good(rig_copy(HBM_VA + 1, 0x40000000, 100000));
	good(rig_copy(HBM_VA, HBM_VA, 100000));
}
END_TEST

START_TEST(fill_units)
{
	const uint64_t pattern = 0x8877665544332211ULL;

	for (uint8_t unit = 0; unit <= 3; unit++) {
		size_t size = 1U << unit;

		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
			uint64_t start = shapes[i].destination & ~(size - 1);
			size_t length = (shapes[i].length + size - 1) & ~(size - 1);

			memset(host, 0xee, start + length + 1);
			good(rig_fill(HOST_VA + start, length, pattern, unit));
			for (size_t byte = 0; byte < length; byte++) {
				if (host[start + byte] != 0x11 * (byte % size + 1))
					ck_abort_msg("unit %zu, byte %zu is %#x", size, byte,
						     host[start + byte]);
			}
			if (start)
				ck_assert_uint_eq(host[start - 1], 0xee);
			ck_assert_uint_eq(host[start + length], 0xee);
		}
	}
}
END_TEST

START_TEST(fill_pieces_not_multiples_of_the_unit)
{
	rig.map_limit = 1001;
	good(rig_fill(HOST_VA, 5000 * 8, 0x8877665544332211ULL, 3));
	for (size_t byte = 0; byte < 5000 * 8; byte++)
		ck_assert_uint_eq(host[byte], 0x11 * (byte % 8 + 1));
}
END_TEST

START_TEST(fill_without_mapping)
{
	good(rig_fill(REMOTE_VA + 4094, 6000, 0xabcd, 1));
	for (size_t byte = 0; byte < 6000; byte++)
		ck_assert_uint_eq(rig.remote[4094 + byte], byte % 2 ? 0xab : 0xcd);
	ck_assert_uint_eq(rig.remote[4093], 0);
	ck_assert_uint_eq(rig.remote[4094 + 6000], 0);
}
END_TEST

START_TEST(bad_fields)
{
	static const uint64_t too_long = TRN_PACKET_LENGTH_MAX + 1;
	struct trn_packet packets[] = {
		rig_copy(HOST_VA, HBM_VA, 0),
		rig_copy(HOST_VA, HBM_VA, too_long),
		rig_copy(HOST_VA, HBM_VA, UINT64_MAX),
		rig_copy(HOST_VA, HBM_VA, 1), /* reserved, see below */
		rig_copy(HOST_VA, HBM_VA, 1),
		rig_copy(HOST_VA, HBM_VA, 1),
		rig_fill(HBM_VA, 0, 0, 0),
		rig_fill(HBM_VA, too_long, 0, 0),
		rig_fill(HBM_VA, 16, 0, 4),
		rig_fill(HBM_VA, 16, 0, 255),
		rig_fill(HBM_VA + 1, 16, 0, 1),
		rig_fill(HBM_VA + 4, 16, 0, 3),
		rig_fill(HBM_VA, 15, 0, 1),
		rig_fill(HBM_VA, 12, 0, 3),
		rig_fill(HBM_VA, 8, 0, 3), /* reserved */
	};
	const unsigned int count = sizeof(packets) / sizeof(packets[0]);

	packets[3].copy.reserved[31] = 1;
	packets[4].copy.reserved[0] = 0x80;
	packets[5].reserved0[6] = 1;
	packets[14].fill.reserved[30] = 1;
	for (unsigned int i = 0; i < count; i++) {
		struct rig_queue broken;

		rig_queue_create(&rig, &broken, 1 + i, &kernel, &space, 2);
		rig_execute(&rig, &broken, packets[i]);
		rig_assert_stopped(&rig, &broken, TRN_STOP_BAD_FIELD);
		ck_assert_uint_eq(rig_head(&broken), 0);
	}
}
END_TEST

START_TEST(longest_length_is_a_fault_not_a_bad_field)
{
	rig_execute(&rig, &queue, rig_copy(HOST_VA, HBM_VA, TRN_PACKET_LENGTH_MAX));
	rig_assert_fault(&rig, &queue, TRN_STOP_FAULT_UNMAPPED, 1, TRN_ACCESS_READ,
			 HOST_VA + HOST_SIZE);
	/* What came before the fault may have been copied, but no byte went elsewhere. */
	for (uint64_t i = HOST_SIZE; i < RIG_HBM_SIZE; i += 4096)
		ck_assert_uint_eq(*hbm(i), 0);
}
END_TEST

START_TEST(other_queues_go_on_during_a_long_copy)
{
	struct rig_queue other;
	unsigned int steps = 0;

	rig_queue_create(&rig, &other, 1, &kernel, &space, 4);
	rig_submit(&rig, &queue, rig_fill(HBM_VA, RIG_HBM_SIZE, 1, 0));
	while (!rig.chip->queue[0]->done)
		rig_step(&rig);
	for (unsigned int i = 0; i < 3; i++)
		rig_submit(&rig, &other, rig_nop());
	while (rig_head(&other) < 3) {
		rig_step(&rig);
		ck_assert_uint_lt(++steps, 50);
	}
	ck_assert_uint_eq(rig_head(&queue), 0);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

/* Steps that a copy of HOST_SIZE at va to HBM takes, and how often it calls the host. */
static void count_calls(uint64_t va, unsigned int *steps, unsigned int *accesses)
{
	uint32_t head = rig_head(&queue);
	unsigned int before = rig_accesses(&rig);

	*steps = 0;
	rig_submit(&rig, &queue, rig_copy(va, HBM_VA, HOST_SIZE));
	while (rig_head(&queue) == head) {
		rig_step(&rig);
		++*steps;
	}
	*accesses = rig_accesses(&rig) - before;
}

/*
 * What a copy costs besides its bytes is by units and tables, not by pages.  For a unit:
 * the memory once, and two tables read on.  For 2 MiB on either side: a walk, 3 entries.  And
 * the packet: wake, poll, fetch with a walk of the ring's tables, retire.
 */
START_TEST(copy_calls_the_host_by_units)
{
	const unsigned int units = HOST_SIZE / TRN_DMA_UNIT, walks = 2 * (HOST_SIZE >> 21) * 3;
	const uint64_t reversed_va = 0x30000000, pages = HOST_SIZE / TRN_PAGE_SIZE;
	const uint64_t dma = RIG_RAM + (uint64_t)(host - rig.ram);
	unsigned int steps, accesses;

	rig.window = RIG_RAM_SIZE;
	rig_pattern(host, HOST_SIZE, 1);
	count_calls(HOST_VA, &steps, &accesses);
	ck_assert_uint_le(steps, units + 4);
	ck_assert_uint_le(accesses, 3 * units + walks + 8);

	for (uint64_t i = 0; i < pages; i++)
		rig_map(&rig, &space, reversed_va + i * TRN_PAGE_SIZE, TRN_PTE_TARGET_HOST,
			dma + (pages - 1 - i) * TRN_PAGE_SIZE, TRN_PAGE_SIZE);
	/* A leaf for each page: more is done, so a unit has fewer bytes, but at least half. */
	count_calls(reversed_va, &steps, &accesses);
	ck_assert_uint_le(steps, 2 * units + 4);
	ck_assert_uint_le(accesses, 3 * 2 * units + walks + 8);
	for (uint64_t i = 0; i < pages; i++)
		ck_assert_mem_eq(hbm(i * TRN_PAGE_SIZE), host + (pages - 1 - i) * TRN_PAGE_SIZE,
				 TRN_PAGE_SIZE);
}
END_TEST

Suite *dma_suite(void)
{
	Suite *suite = suite_create("dma");
	TCase *tcase = tcase_create("dma");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, copy_there_and_back);
	tcase_add_loop_test(tcase, copy_shapes, 0, sizeof(places) / sizeof(places[0]));
	tcase_add_test(tcase, copy_host_maps_in_small_pieces);
	tcase_add_test(tcase, copy_without_mapping);
	tcase_add_test(tcase, copy_scattered);
	tcase_add_test(tcase, copy_overlap_is_survived);
	tcase_add_test(tcase, fill_units);
	tcase_add_test(tcase, fill_pieces_not_multiples_of_the_unit);
	tcase_add_test(tcase, fill_without_mapping);
	tcase_add_test(tcase, bad_fields);
	tcase_add_test(tcase, longest_length_is_a_fault_not_a_bad_field);
	tcase_add_test(tcase, other_queues_go_on_during_a_long_copy);
	tcase_add_test(tcase, copy_calls_the_host_by_units);
	suite_add_tcase(suite, tcase);
	return suite;
}
