// SPDX-License-Identifier: MIT
/* COPY_ND: shapes beside plain loops, mistakes, faults, and its share of the chip's time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "suites.h"
#include "tools/vdev/model/dma.h"

#define SIZE	  (1ULL << 20) /* of each operand's memory */
#define HOST_VA	  0x10000000ULL
#define SHUFFLED  0x20000000ULL /* host memory, pages in any order */
#define REMOTE_VA 0x30000000ULL
#define HBM_VA	  0x40000000ULL /* small leaves; 8 MiB */
#define LARGE_VA  (1ULL << 40)	/* all of HBM as one large leaf */
#define VA_END	  (1ULL << 48)

static const uint32_t no_strides[3];

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue;
static uint16_t next_queue;
static uint64_t host_dma, shuffled_dma;

/* A permutation of 256 pages. */
static uint64_t shuffle(uint64_t page)
{
	return (page * 77 + 13) % (SIZE / TRN_PAGE_SIZE);
}

static void setup(void)
{
	rig_create(&rig, "trn1", 1ULL << 30, 0);
	rig_enable(&rig, 16);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 1);
	next_queue = 0;
	rig_queue_create(&rig, &queue, next_queue++, &kernel, &space, 4);
	host_dma = rig_alloc(&rig, SIZE);
	shuffled_dma = rig_alloc(&rig, SIZE);
	rig_map(&rig, &space, HOST_VA, TRN_PTE_TARGET_HOST, host_dma, SIZE);
	for (uint64_t i = 0; i < SIZE / TRN_PAGE_SIZE; i++)
		rig_map(&rig, &space, SHUFFLED + i * TRN_PAGE_SIZE, TRN_PTE_TARGET_HOST,
			shuffled_dma + shuffle(i) * TRN_PAGE_SIZE, TRN_PAGE_SIZE);
	rig_map(&rig, &space, REMOTE_VA, TRN_PTE_TARGET_HOST, RIG_REMOTE, SIZE);
	rig_map(&rig, &space, HBM_VA, TRN_PTE_TARGET_HBM, 0, 8 * SIZE);
	rig_map_leaves(&rig, &space, LARGE_VA, TRN_PTE_TARGET_HBM, 0, 1ULL << 30, 2);
	rig_random_seed(0x9e3779b97f4a7c15ULL);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

/* Memory of an operand as software sees it, and back. */
static uint8_t *byte_at(uint64_t va)
{
	uint64_t offset;

	if (va >= LARGE_VA)
		return rig.chip->hbm.memory + (va - LARGE_VA);
	if (va >= HBM_VA)
		return rig.chip->hbm.memory + (va - HBM_VA);
	if (va >= REMOTE_VA)
		return rig.remote + (va - REMOTE_VA);
	if (va < SHUFFLED)
		return (uint8_t *)rig_pointer(&rig, host_dma) + (va - HOST_VA);
	offset = va - SHUFFLED;
	return (uint8_t *)rig_pointer(&rig, shuffled_dma) +
	       shuffle(offset / TRN_PAGE_SIZE) * TRN_PAGE_SIZE + offset % TRN_PAGE_SIZE;
}

static void peek(uint64_t va, uint8_t *bytes)
{
	for (uint64_t i = 0; i < SIZE; i += TRN_PAGE_SIZE)
		memcpy(bytes + i, byte_at(va + i), TRN_PAGE_SIZE);
}

static void poke(uint64_t va, const uint8_t *bytes)
{
	for (uint64_t i = 0; i < SIZE; i += TRN_PAGE_SIZE)
		memcpy(byte_at(va + i), bytes + i, TRN_PAGE_SIZE);
}

static void good(struct trn_packet packet)
{
	uint32_t head = rig_head(&queue);

	rig_execute(&rig, &queue, packet);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
	ck_assert_uint_eq(rig_head(&queue), head + 1);
}

static void stops(struct trn_packet packet, uint8_t reason)
{
	struct rig_queue victim;

	rig_queue_create(&rig, &victim, next_queue++, &kernel, &space, 2);
	rig_execute(&rig, &victim, packet);
	rig_assert_stopped(&rig, &victim, reason);
}

static void faults(struct trn_packet packet, uint8_t reason, uint8_t access, uint64_t address)
{
	struct rig_queue victim;

	rig_queue_create(&rig, &victim, next_queue++, &kernel, &space, 2);
	rig_execute(&rig, &victim, packet);
	rig_assert_fault(&rig, &victim, reason, space.asid, access, address);
}

struct shape {
	uint32_t size[4];
	uint32_t source_stride[3];
	uint32_t destination_stride[3];
	uint64_t source; /* offsets in the operands */
	uint64_t destination;
};

static uint64_t extent_of(const struct shape *shape, const uint32_t stride[3])
{
	uint64_t extent = shape->size[0];

	for (unsigned int i = 0; i < 3; i++)
		extent += (uint64_t)(shape->size[1 + i] - 1) * stride[i];
	return extent;
}

/* The specification's sentence as loops. */
static void reference(const struct shape *shape, uint8_t *destination, const uint8_t *source)
{
	for (uint64_t k = 0; k < shape->size[3]; k++) {
		for (uint64_t j = 0; j < shape->size[2]; j++) {
			for (uint64_t i = 0; i < shape->size[1]; i++) {
				uint64_t from = shape->source + i * shape->source_stride[0] +
						j * shape->source_stride[1] +
						k * shape->source_stride[2];
				uint64_t to = shape->destination +
					      i * shape->destination_stride[0] +
					      j * shape->destination_stride[1] +
					      k * shape->destination_stride[2];

				memcpy(destination + to, source + from, shape->size[0]);
			}
		}
	}
}

static void check(const struct shape *shape, uint64_t source_va, uint64_t destination_va)
{
	uint8_t *source = malloc(SIZE), *expected = malloc(SIZE), *result = malloc(SIZE);

	rig_pattern(source, SIZE, (unsigned int)rig_below(1000));
	rig_pattern(expected, SIZE, 1000);
	poke(source_va, source);
	poke(destination_va, expected);
	reference(shape, expected, source);
	good(rig_copy_nd(source_va + shape->source, destination_va + shape->destination,
			 shape->size, shape->source_stride, shape->destination_stride));
	peek(destination_va, result);
	for (uint64_t i = 0; i < SIZE; i++) {
		if (result[i] != expected[i])
			ck_abort_msg("byte %#" PRIx64 " is %#x instead of %#x; sizes %u %u %u %u",
				     i, result[i], expected[i], shape->size[0], shape->size[1],
				     shape->size[2], shape->size[3]);
	}
	free(source);
	free(expected);
	free(result);
}

/* Runs of the destination do not overlap: each stride is at least what is below it. */
static void random_shape(struct shape *shape)
{
	uint64_t inner, room;

	do {
		inner = shape->size[0] = 1 + rig_below(rig_below(2) ? 16 : rig_below(2) ? 300 : 20000);
		for (unsigned int i = 0; i < 3; i++) {
			uint64_t pad = rig_below(3) ? rig_below(100) : rig_below(9000);

			shape->size[1 + i] = 1 + rig_below(rig_below(2) ? 3 : 40);
			shape->destination_stride[i] = inner + (rig_below(3) ? pad : 0);
			shape->source_stride[i] = rig_below(3) ? rig_below(5000) : inner;
			inner += (uint64_t)(shape->size[1 + i] - 1) * shape->destination_stride[i];
		}
	} while (extent_of(shape, shape->destination_stride) > SIZE ||
		 extent_of(shape, shape->source_stride) > SIZE);
	room = SIZE - extent_of(shape, shape->source_stride);
	shape->source = rig_below(room + 1);
	room = SIZE - extent_of(shape, shape->destination_stride);
	shape->destination = rig_below(room + 1);
}

static const uint64_t places[] = { HOST_VA, SHUFFLED, HBM_VA, LARGE_VA + (512 << 20), REMOTE_VA };
#define PLACES (sizeof(places) / sizeof(places[0]))

START_TEST(random_shapes)
{
	rig_random_seed(0x9e3779b97f4a7c15ULL + (uint64_t)_i);
	for (unsigned int i = 0; i < 40; i++) {
		unsigned int source = rig_below(PLACES), destination = rig_below(PLACES);
		struct shape shape;

		if (source == destination)
			continue;
		random_shape(&shape);
		rig.map_limit = rig_below(3) ? 0 : 256 + rig_below(10000);
		rig.window = rig_below(2) ? 0 : 65536;
		check(&shape, places[source], places[destination]);
	}
}
END_TEST

START_TEST(one_run_is_a_copy)
{
	const struct shape shape = { { 700000, 1, 1, 1 }, { 5, 6, 7 }, { 9, 9, 9 }, 17, 4001 };

	check(&shape, HOST_VA, HBM_VA);
}
END_TEST

/* Dense dimensions: they are one long run. */
START_TEST(contiguous_runs)
{
	const struct shape dense = {
		.size = { 10, 100, 10, 5 },
		.source_stride = { 10, 1000, 10000 },
		.destination_stride = { 10, 1000, 10000 },
		.source = 1,
		.destination = 2,
	};
	const struct shape rows = {
		.size = { 10, 100, 10, 5 },
		.source_stride = { 10, 1000, 10000 },
		.destination_stride = { 10, 1010, 20000 },
		.source = 1,
		.destination = 2,
	};
	const struct shape spread = { { 10, 1, 10, 5 }, { 0, 10, 100 }, { 0, 10, 300 }, 1, 2 };

	check(&dense, SHUFFLED, HBM_VA);
	check(&rows, SHUFFLED, HBM_VA);
	check(&spread, HBM_VA, SHUFFLED);
}
END_TEST

START_TEST(stride_zero_repeats_the_source)
{
	const struct shape shape = { { 3, 1000, 7, 1 }, { 0, 3, 0 }, { 3, 3000, 0 }, 4094, 8190 };

	check(&shape, SHUFFLED, HOST_VA);
	/* All runs on one place: the content is undefined, the chip is not harmed. */
	good(rig_copy_nd(HOST_VA, HBM_VA, (uint32_t[]){ 8, 1000, 10, 10 },
			 (uint32_t[]){ 8, 16, 24 }, no_strides));
}
END_TEST

START_TEST(transpose)
{
	/* 128 × 256 elements of 4 bytes, of which the rows become columns. */
	const struct shape shape = { { 4, 128, 256, 1 }, { 1024, 4, 0 }, { 4, 512, 0 }, 0, 0 };

	check(&shape, HOST_VA, LARGE_VA + (512 << 20));
	check(&shape, LARGE_VA + (512 << 20), SHUFFLED);
}
END_TEST

START_TEST(overlap_is_survived)
{
	good(rig_copy_nd(HBM_VA, HBM_VA + 1, (uint32_t[]){ 100, 50, 20, 10 },
			 (uint32_t[]){ 50, 1, 7 }, (uint32_t[]){ 30, 30, 30 }));
	good(rig_copy_nd(HBM_VA, LARGE_VA, (uint32_t[]){ 5000, 50, 2, 1 },
			 (uint32_t[]){ 4000, 100, 7 }, (uint32_t[]){ 4000, 100, 7 }));
}
END_TEST

START_TEST(bad_fields)
{
	static const uint32_t sizes[][4] = {
		{ 0, 1, 1, 1 },
		{ 1, 0, 1, 1 },
		{ 1, 1, 0, 1 },
		{ 1, 1, 1, 0 },
		{ 1 << 20, 1 << 20, 2, 1 },
		{ 1, 1 << 31, 1 << 10, 1 },
		{ 1 << 31, 1, 1, (1 << 9) + 1 },
		/* Products that are small again modulo 2^64. */
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
		{ 1U << 31, 1U << 31, 4, 1 },
		{ 1U << 16, 1U << 16, 1U << 16, 1U << 16 },
	};
	struct trn_packet packet;

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		stops(rig_copy_nd(HOST_VA, HBM_VA, sizes[i], no_strides, no_strides),
		      TRN_STOP_BAD_FIELD);
	packet = rig_copy_nd(HOST_VA, HBM_VA, (uint32_t[]){ 1, 1, 1, 1 }, no_strides, no_strides);
	packet.reserved0[0] = 1;
	stops(packet, TRN_STOP_BAD_FIELD);
	/* The largest product there may be is no bad field. */
	faults(rig_copy_nd(HOST_VA, HBM_VA, (uint32_t[]){ 1 << 10, 1 << 10, 1 << 10, 1 << 10 },
			   (uint32_t[]){ 1 << 10, 1 << 20, 1 << 30 },
			   (uint32_t[]){ 1 << 10, 1 << 20, 1 << 30 }),
	       TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_READ, HOST_VA + SIZE);
}
END_TEST

/* One page is missing, and one run alone reaches it, with its last bytes. */
START_TEST(fault_names_the_first_byte)
{
	const uint64_t hole = 40 * TRN_PAGE_SIZE;
	const uint32_t size[4] = { 100, 20, 2, 1 };
	const uint32_t sparse[3] = { 2 * TRN_PAGE_SIZE, 1000, 0 };
	const uint32_t dense[3] = { 100, 2000, 0 };

	/* Run i = 19, j = 1 begins at 38 pages + 1000 + start. */
	const uint64_t start = 2 * TRN_PAGE_SIZE - 1000 - 30;

	trn_store64(rig_entry(&rig, &space, HOST_VA + hole), 0);
	faults(rig_copy_nd(HOST_VA + start, HBM_VA, size, sparse, dense), TRN_STOP_FAULT_UNMAPPED,
	       TRN_ACCESS_READ, HOST_VA + hole);
	faults(rig_copy_nd(HBM_VA, HOST_VA + start, size, dense, sparse), TRN_STOP_FAULT_UNMAPPED,
	       TRN_ACCESS_WRITE, HOST_VA + hole);
	/* One byte less does not reach it. */
	good(rig_copy_nd(HOST_VA + start, HBM_VA, (uint32_t[]){ 30, 20, 2, 1 }, sparse, dense));
	/* The host refuses a page. */
	rig_deny(&rig, shuffled_dma + shuffle(40) * TRN_PAGE_SIZE, RIG_DENY_READ);
	faults(rig_copy_nd(SHUFFLED + start, HBM_VA, size, sparse, dense), TRN_STOP_FAULT_HOST,
	       TRN_ACCESS_READ, SHUFFLED + hole);
}
END_TEST

START_TEST(ranges)
{
	const uint32_t max = UINT32_MAX;

	rig_map(&rig, &space, VA_END - TRN_PAGE_SIZE, TRN_PTE_TARGET_HOST, host_dma, TRN_PAGE_SIZE);
	good(rig_copy_nd(VA_END - TRN_PAGE_SIZE, HBM_VA, (uint32_t[]){ 16, 256, 1, 1 },
			 (uint32_t[]){ 16, 0, 0 }, (uint32_t[]){ 32, 0, 0 }));
	faults(rig_copy_nd(VA_END - 16, HBM_VA, (uint32_t[]){ 17, 1, 1, 1 }, no_strides,
			   no_strides),
	       TRN_STOP_FAULT_RANGE, TRN_ACCESS_READ, VA_END);
	faults(rig_copy_nd(HBM_VA, VA_END - 16, (uint32_t[]){ 8, 1, 2, 1 }, no_strides,
			   (uint32_t[]){ 0, 12, 0 }),
	       TRN_STOP_FAULT_RANGE, TRN_ACCESS_WRITE, VA_END);
	faults(rig_copy_nd(VA_END - 16, HBM_VA, (uint32_t[]){ 8, 2, 1, 1 },
			   (uint32_t[]){ 12345, 0, 0 }, no_strides),
	       TRN_STOP_FAULT_RANGE, TRN_ACCESS_READ, VA_END - 16 + 12345);
	faults(rig_copy_nd(UINT64_MAX, HBM_VA, (uint32_t[]){ 1, 2, 1, 1 }, (uint32_t[]){ 1, 0, 0 },
			   no_strides),
	       TRN_STOP_FAULT_RANGE, TRN_ACCESS_READ, UINT64_MAX);
	/* Strides that lead around 2^64, to addresses that are mapped: never got there. */
	faults(rig_copy_nd(HOST_VA, HBM_VA, (uint32_t[]){ 1, max, 256, 1 },
			   (uint32_t[]){ max, max, max }, no_strides),
	       TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_READ, HOST_VA + max);
}
END_TEST

START_TEST(work_of_a_step_is_bounded)
{
	struct rig_queue other;
	unsigned int steps = 0;
	uint64_t before = 0;

	rig_queue_create(&rig, &other, next_queue++, &kernel, &space, 4);
	rig_submit(&rig, &queue,
		   rig_copy_nd(HOST_VA, HBM_VA, (uint32_t[]){ 4, 500, 100, 1 },
			       (uint32_t[]){ 1000, 100, 0 }, (uint32_t[]){ 8, 4000, 0 }));
	while (!rig.chip->queue[0]->done)
		rig_step(&rig);
	ck_assert_uint_eq(rig_head(&queue), 0);
	for (unsigned int i = 0; i < 3; i++)
		rig_submit(&rig, &other, rig_nop());
	while (rig_head(&other) < 3) {
		rig_step(&rig);
		ck_assert_uint_lt(++steps, 50);
	}
	while (!rig_head(&queue)) {
		uint64_t done = rig.chip->queue[0]->done;

		/* Runs in one step. */
		ck_assert_uint_le((done - before) / 4, 100000);
		before = done;
		rig_step(&rig);
	}
	before = rig.chip->queue[0]->done;
	/* Of runs that each walk tables a step does few. */
	rig_submit(&rig, &queue,
		   rig_copy_nd(SHUFFLED, LARGE_VA, (uint32_t[]){ 4, 256, 256, 1 },
			       (uint32_t[]){ 4096, 4, 0 }, (uint32_t[]){ 4, 1024, 0 }));
	while (rig_head(&queue) < 2) {
		uint64_t done = rig.chip->queue[0]->done;

		if (done > before)
			ck_assert_uint_le((done - before) / 4, 2 * TRN_DMA_UNIT / 1024);
		before = done;
		rig_step(&rig);
	}
}
END_TEST

START_TEST(suspended_in_the_middle)
{
	const struct shape shape = { { 4, 100, 1000, 1 }, { 4, 404, 0 }, { 8, 800, 0 }, 3, 5 };
	uint8_t *source = malloc(SIZE), *expected = malloc(SIZE), *result = malloc(SIZE);

	rig_pattern(source, SIZE, 3);
	poke(HOST_VA, source);
	peek(HBM_VA, expected);
	reference(&shape, expected, source);
	rig_submit(&rig, &queue,
		   rig_copy_nd(HOST_VA + shape.source, HBM_VA + shape.destination, shape.size,
			       shape.source_stride, shape.destination_stride));
	while (!rig.chip->queue[0]->done)
		rig_step(&rig);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_head(&queue), 0);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	peek(HBM_VA, result);
	ck_assert_mem_eq(result, expected, SIZE);
	free(source);
	free(expected);
	free(result);
}
END_TEST

Suite *copy_nd_suite(void)
{
	Suite *suite = suite_create("copy_nd");
	TCase *tcase = tcase_create("copy_nd");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, random_shapes, 0, getenv("TRN_LONG") ? 200 : 5);
	tcase_add_test(tcase, one_run_is_a_copy);
	tcase_add_test(tcase, contiguous_runs);
	tcase_add_test(tcase, stride_zero_repeats_the_source);
	tcase_add_test(tcase, transpose);
	tcase_add_test(tcase, overlap_is_survived);
	tcase_add_test(tcase, bad_fields);
	tcase_add_test(tcase, fault_names_the_first_byte);
	tcase_add_test(tcase, ranges);
	tcase_add_test(tcase, work_of_a_step_is_bounded);
	tcase_add_test(tcase, suspended_in_the_middle);
	suite_add_tcase(suite, tcase);
	return suite;
}
