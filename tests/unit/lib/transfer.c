/* SPDX-License-Identifier: MIT */
/* Transfers of libtrn on the driver of fake.c, in both modes. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <drm/drm.h>
#include <drm/trn_accel.h>
#include <tests/check_run.h>
#include <trn/trn.h>

#include "fake.h"
#include "fake_queue.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

/* ---- now ------------------------------------------------------------- */

static void fill_random(uint8_t *memory, uint64_t size)
{
	uint64_t i;

	for (i = 0; i < size; i++)
		memory[i] = (uint8_t)(rand() >> 8);
}

static void round_trip(enum trn_placement placement, uint64_t offset, uint64_t size)
{
	struct trn_buffer *one = buffer(placement, offset + size + 1);
	struct trn_buffer *two = buffer(TRN_PLACEMENT_HBM, offset + size + 1);
	uint8_t *source = malloc(size + 1), *result = malloc(size + 1);

	fill_random(source, size);
	result[size] = 0x5a;
	ck_assert_int_eq(trn_write(queue, one, offset, source, size), 0);
	ck_assert_int_eq(trn_copy(queue, two, 1, one, offset, size), 0);
	ck_assert_int_eq(trn_read(queue, result, two, 1, size), 0);
	ck_assert_mem_eq(source, result, size);
	ck_assert_uint_eq(result[size], 0x5a);
	free(source);
	free(result);
	ck_assert_int_eq(trn_buffer_destroy(one), 0);
	ck_assert_int_eq(trn_buffer_destroy(two), 0);
}

START_TEST(transfers_of_many_sizes)
{
	static const uint64_t sizes[] = {
		0,   1,	      7,       4095,	    4096,	 4097,	      MIB - 1,
		MIB, MIB + 1, 2 * MIB, 2 * MIB + 1, 3 * MIB + 3, 6 * MIB + 5,
	};
	size_t i;

	srand(7);
	start(modes[_i], 16);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		round_trip(TRN_PLACEMENT_HBM, i, sizes[i]);
		round_trip(TRN_PLACEMENT_HOST, i, sizes[i]);
	}
	stop();
}
END_TEST

START_TEST(fills)
{
	struct trn_buffer *memory;
	uint8_t *byte;
	uint32_t unit, i;

	start(modes[_i], 16);
	memory = buffer(TRN_PLACEMENT_HOST, 4096);
	byte = pointer(memory);
	for (unit = 1; unit <= 8; unit *= 2) {
		memset(byte, 0xee, 4096);
		ck_assert_int_eq(trn_fill(queue, memory, 8, 64, 0x8877665544332211, unit), 0);
		ck_assert_uint_eq(byte[7], 0xee);
		ck_assert_uint_eq(byte[72], 0xee);
		for (i = 0; i < 64; i++)
			ck_assert_uint_eq(byte[8 + i], 0x11 * (i % unit + 1));
	}
	ck_assert_int_eq(trn_fill(queue, memory, 0, 64, 0, 3), -EINVAL);
	ck_assert_int_eq(trn_fill(queue, memory, 2, 64, 0, 4), -EINVAL);
	ck_assert_int_eq(trn_fill(queue, memory, 0, 66, 0, 4), -EINVAL);
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	stop();
}
END_TEST

START_TEST(ranges_are_checked)
{
	struct trn_buffer *memory, *foreign;
	struct trn_context *other;
	uint8_t byte[16];

	start(modes[_i], 16);
	memory = buffer(TRN_PLACEMENT_HBM, 100);
	ck_assert_int_eq(trn_write(queue, memory, 90, byte, 10), 0);
	ck_assert_int_eq(trn_write(queue, memory, 90, byte, 11), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "100"));
	ck_assert_int_eq(trn_read(queue, byte, memory, 101, 0), -EINVAL);
	ck_assert_int_eq(trn_read(queue, byte, memory, UINT64_MAX, 2), -EINVAL);
	ck_assert_int_eq(trn_fill(queue, memory, 8, UINT64_MAX - 7, 0, 8), -EINVAL);
	ck_assert_int_eq(trn_copy(queue, memory, 0, memory, 9, 10), -EINVAL);
	ck_assert_int_eq(trn_copy(queue, memory, 0, memory, 10, 10), 0);

	ck_assert_int_eq(trn_context_create(device, &other), 0);
	ck_assert_int_eq(trn_buffer_create(other, TRN_PLACEMENT_HBM, 0, 100, 0, &foreign), 0);
	ck_assert_int_eq(trn_write(queue, foreign, 0, byte, 1), -EINVAL);
	ck_assert_int_eq(trn_buffer_destroy(foreign), 0);
	ck_assert_int_eq(trn_context_destroy(other), 0);
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	stop();
}
END_TEST

START_TEST(readonly_is_kept)
{
	struct trn_buffer *memory;

	start(TRN_QUEUE_KERNEL, 16);
	ck_assert_int_eq(trn_buffer_create(context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, 64,
					   TRN_BUFFER_READONLY, &memory),
			 0);
	ck_assert_int_eq(trn_fill(queue, memory, 0, 64, 0, 8), -EFAULT);
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	stop();
}
END_TEST

/* Large memory is copied in place, or through stages where it cannot be locked. */
START_TEST(large_memory)
{
	uint8_t *source = malloc(9 * MIB), *result = malloc(9 * MIB);
	struct trn_buffer *hbm;
	int refused;

	srand(11);
	start(modes[_i], 16);
	hbm = buffer(TRN_PLACEMENT_HBM, 9 * MIB);
	for (refused = 0; refused < 4; refused++) {
		fill_random(source, 9 * MIB);
		if (refused & 1)
			fake_fail(DRM_IOCTL_TRN_BO_CREATE_USERPTR, 0, -ENOMEM);
		ck_assert_int_eq(trn_write(queue, hbm, 3, source + 1, 9 * MIB - 8), 0);
		if (refused & 2)
			fake_fail(DRM_IOCTL_TRN_BO_CREATE_USERPTR, 0, -EFAULT);
		ck_assert_int_eq(trn_read(queue, result + 5, hbm, 3, 9 * MIB - 8), 0);
		ck_assert_mem_eq(result + 5, source + 1, 9 * MIB - 8);
		/* Nothing stays locked: the buffer, two stages, a user queue's ring. */
		ck_assert_uint_le(fake_objects(), modes[_i] == TRN_QUEUE_USER ? 4 : 3);
	}
	ck_assert_int_eq(trn_buffer_destroy(hbm), 0);
	stop();
	free(source);
	free(result);
}
END_TEST

/* ---- later ----------------------------------------------------------- */

static void wait_for(uint64_t sequence)
{
	ck_assert_int_eq(trn_queue_wait(queue, sequence, TRN_FOREVER), 0);
}

START_TEST(asynchronous)
{
	struct trn_buffer *one, *two;
	uint8_t *source = malloc(5 * MIB), *result = calloc(5, MIB);
	uint64_t write, copy, read, fill, none;
	unsigned int objects;

	srand(8);
	start(modes[_i], 16);
	one = buffer(TRN_PLACEMENT_HBM, 6 * MIB);
	two = buffer(TRN_PLACEMENT_HBM, 6 * MIB);
	fill_random(source, 5 * MIB);
	objects = fake_objects();
	fake_hold(true);
	/* Not aligned to anything, so that pages are locked that are only partly used. */
	ck_assert_int_eq(trn_write_async(queue, one, 3, source + 1, 5 * MIB - 9, &write), 0);
	ck_assert_int_eq(trn_copy_async(queue, two, 77, one, 3, 5 * MIB - 9, &copy), 0);
	ck_assert_int_eq(trn_read_async(queue, result + 2, two, 77, 5 * MIB - 9, &read), 0);
	ck_assert_int_eq(trn_fill_async(queue, two, 77, 1000, 0xcc, 1, &fill), 0);
	ck_assert_uint_gt(write, 0);
	ck_assert_uint_gt(copy, write);
	ck_assert_uint_gt(read, copy);
	ck_assert_uint_gt(fill, read);
	ck_assert_int_eq(trn_queue_poll(queue, write), 0);
	ck_assert_int_eq(trn_queue_wait(queue, fill, trn_deadline(1000000)), -ETIME);
	/* Locked until it is known to be done. */
	ck_assert_uint_eq(fake_objects(), objects + 2);
	fake_hold(false);
	wait_for(write);
	ck_assert_uint_eq(fake_objects(), objects + 1);
	while (!trn_queue_poll(queue, read))
		sched_yield();
	ck_assert_uint_eq(fake_objects(), objects);
	wait_for(fill);
	ck_assert_uint_eq(result[0] | result[1], 0);
	ck_assert_mem_eq(result + 2, source + 1, 5 * MIB - 9);
	ck_assert_uint_eq(result[5 * MIB - 7], 0);
	ck_assert_int_eq(trn_read(queue, result, two, 77, 1001), 0);
	ck_assert_uint_eq(result[999], 0xcc);
	ck_assert_uint_eq(result[1000], source[1001]);

	/* Nothing to do is done. */
	ck_assert_int_eq(trn_write_async(queue, one, 6 * MIB, NULL, 0, &none), 0);
	ck_assert_uint_eq(none, 0);
	wait_for(none);
	ck_assert_int_eq(trn_buffer_destroy(one), 0);
	ck_assert_int_eq(trn_buffer_destroy(two), 0);
	stop();
	free(source);
	free(result);
}
END_TEST

START_TEST(locked_memory_is_let_go_with_the_queue)
{
	static uint8_t memory[100];
	struct trn_buffer *hbm;
	uint64_t sequence;

	start(modes[_i], 16);
	hbm = buffer(TRN_PLACEMENT_HBM, 100);
	ck_assert_int_eq(trn_write_async(queue, hbm, 0, memory, 100, &sequence), 0);
	ck_assert_int_eq(trn_buffer_destroy(hbm), 0);
	/* stop() counts objects. */
	stop();
}
END_TEST

START_TEST(memory_that_cannot_be_locked)
{
	static uint8_t memory[100];
	struct trn_buffer *hbm;
	uint64_t sequence = 99;

	start(modes[_i], 16);
	hbm = buffer(TRN_PLACEMENT_HBM, 100);
	fake_fail(DRM_IOCTL_TRN_BO_CREATE_USERPTR, 0, -ENOMEM);
	ck_assert_int_eq(trn_write_async(queue, hbm, 0, memory, 100, &sequence), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "RLIMIT_MEMLOCK"));
	ck_assert_uint_eq(sequence, 0);
	fake_fail(DRM_IOCTL_TRN_BO_CREATE_USERPTR, 0, -EFAULT);
	ck_assert_int_eq(trn_read_async(queue, memory, hbm, 0, 100, &sequence), -EFAULT);
	/* What waits does without. */
	fake_fail(DRM_IOCTL_TRN_BO_CREATE_USERPTR, 0, -ENOMEM);
	ck_assert_int_eq(trn_write(queue, hbm, 0, memory, 100), 0);
	ck_assert_int_eq(trn_buffer_destroy(hbm), 0);
	stop();
}
END_TEST

static void *release_when_waited_for(void *unused)
{
	(void)unused;
	while (!fake_waiters())
		sched_yield();
	fake_hold(false);
	return NULL;
}

/* A transfer that fails on its way returns when the device has done with the caller's memory. */
START_TEST(memory_is_let_go_after_failure)
{
	/* One MiB of the device again and again: more than is moved at once. */
	const struct trn_layout from = { 0 }, to = { .strides = { MIB } };
	const uint64_t sizes[4] = { MIB, 70, 1, 1 };
	uint8_t *result = calloc(70, MIB);
	struct trn_buffer *hbm;
	pthread_t thread;

	start(TRN_QUEUE_KERNEL, 16);
	hbm = buffer(TRN_PLACEMENT_HBM, MIB);
	ck_assert_int_eq(trn_fill(queue, hbm, 0, MIB, 0x5a, 1), 0);
	fake_hold(true);
	fake_fail(DRM_IOCTL_TRN_BO_CREATE_USERPTR, 1, -EACCES);
	ck_assert_int_eq(pthread_create(&thread, NULL, release_when_waited_for, NULL), 0);
	ck_assert_int_eq(trn_read_nd(queue, result, &to, hbm, &from, sizes), -EACCES);
	ck_assert_uint_eq(result[0], 0x5a);
	ck_assert_uint_eq(result[64 * MIB - 1], 0x5a);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(trn_buffer_destroy(hbm), 0);
	stop();
	free(result);
}
END_TEST

/* ---- stages ---------------------------------------------------------- */

/* After a failure the device may still read a stage: the next transfer must leave it alone. */
START_TEST(stage_in_use_after_failure)
{
	uint8_t *first = malloc(2 * MIB), *second = malloc(MIB), *result = malloc(MIB);
	struct trn_buffer *one, *two;
	pthread_t thread;

	srand(9);
	start(TRN_QUEUE_KERNEL, 16);
	one = buffer(TRN_PLACEMENT_HBM, 2 * MIB);
	two = buffer(TRN_PLACEMENT_HBM, MIB);
	fill_random(first, 2 * MIB);
	fill_random(second, MIB);
	fake_hold(true);
	fake_fail(DRM_IOCTL_TRN_SUBMIT, 1, -ENOMEM);
	ck_assert_int_eq(trn_write(queue, one, 0, first, 2 * MIB), -ENOMEM);
	ck_assert_int_eq(pthread_create(&thread, NULL, release_when_waited_for, NULL), 0);
	ck_assert_int_eq(trn_write(queue, two, 0, second, MIB), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	/* The part that was submitted before the failure is as it was then. */
	ck_assert_int_eq(trn_read(queue, result, one, 0, MIB), 0);
	ck_assert_mem_eq(result, first, MIB);
	ck_assert_int_eq(trn_read(queue, result, two, 0, MIB), 0);
	ck_assert_mem_eq(result, second, MIB);
	ck_assert_int_eq(trn_buffer_destroy(one), 0);
	ck_assert_int_eq(trn_buffer_destroy(two), 0);
	stop();
	free(first);
	free(second);
	free(result);
}
END_TEST

/* ---- boxes ----------------------------------------------------------- */

/* Room that a box takes, and a layout of it with gaps. */
static uint64_t random_layout(const uint64_t sizes[4], struct trn_layout *layout)
{
	uint64_t extent = sizes[0];
	int i;

	layout->offset = (uint64_t)(rand() % 100);
	for (i = 0; i < 3; i++) {
		layout->strides[i] = extent + (rand() % 2 ? (uint64_t)(rand() % 50) : 0);
		extent = layout->strides[i] * (sizes[i + 1] - 1) + extent;
	}
	return layout->offset + extent;
}

static void copy_reference(uint8_t *to, const struct trn_layout *to_layout, const uint8_t *from,
			   const struct trn_layout *from_layout, const uint64_t sizes[4])
{
	const uint64_t *t = to_layout->strides, *f = from_layout->strides;
	uint64_t i, j, k, b;

	for (k = 0; k < sizes[3]; k++)
		for (j = 0; j < sizes[2]; j++)
			for (i = 0; i < sizes[1]; i++)
				for (b = 0; b < sizes[0]; b++)
					to[to_layout->offset + b + i * t[0] + j * t[1] + k * t[2]] =
						from[from_layout->offset + b + i * f[0] + j * f[1] +
						     k * f[2]];
}

/*
 * Memory to one buffer to the other to memory, each with a layout of its own; all that is
 * not in the box stays.
 */
static void check_box(enum trn_placement placement, const uint64_t sizes[4], bool later)
{
	struct trn_layout layout[4];
	uint8_t *memory[4], *expected;
	struct trn_buffer *hbm[2];
	uint64_t room[4], sequence;
	int i;

	for (i = 0; i < 4; i++) {
		room[i] = random_layout(sizes, &layout[i]);
		memory[i] = malloc(room[i]);
		fill_random(memory[i], room[i]);
	}
	expected = malloc(room[3]);
	memcpy(expected, memory[3], room[3]);
	for (i = 0; i < 2; i++) {
		hbm[i] = buffer(i ? TRN_PLACEMENT_HBM : placement, room[i + 1]);
		ck_assert_int_eq(trn_write(queue, hbm[i], 0, memory[i + 1], room[i + 1]), 0);
	}
	if (later) {
		ck_assert_int_eq(trn_write_nd_async(queue, hbm[0], &layout[1], memory[0],
						    &layout[0], sizes, &sequence),
				 0);
		ck_assert_int_eq(trn_copy_nd_async(queue, hbm[1], &layout[2], hbm[0], &layout[1],
						   sizes, &sequence),
				 0);
		ck_assert_int_eq(trn_read_nd_async(queue, memory[3], &layout[3], hbm[1], &layout[2],
						   sizes, &sequence),
				 0);
		wait_for(sequence);
	} else {
		ck_assert_int_eq(
			trn_write_nd(queue, hbm[0], &layout[1], memory[0], &layout[0], sizes), 0);
		ck_assert_int_eq(trn_copy_nd(queue, hbm[1], &layout[2], hbm[0], &layout[1], sizes),
				 0);
		ck_assert_int_eq(
			trn_read_nd(queue, memory[3], &layout[3], hbm[1], &layout[2], sizes), 0);
	}
	copy_reference(expected, &layout[3], memory[0], &layout[0], sizes);
	ck_assert_mem_eq(memory[3], expected, room[3]);
	/* The buffers, gaps and all. */
	for (i = 0; i < 2; i++) {
		uint8_t *now = malloc(room[i + 1]);

		copy_reference(memory[i + 1], &layout[i + 1], memory[0], &layout[0], sizes);
		ck_assert_int_eq(trn_read(queue, now, hbm[i], 0, room[i + 1]), 0);
		ck_assert_mem_eq(now, memory[i + 1], room[i + 1]);
		free(now);
		ck_assert_int_eq(trn_buffer_destroy(hbm[i]), 0);
	}
	for (i = 0; i < 4; i++)
		free(memory[i]);
	free(expected);
}

START_TEST(boxes)
{
	static const uint64_t sizes[][4] = {
		{ 1, 1, 1, 1 },	    { 100, 1, 1, 1 },	 { 7, 5, 1, 1 },
		{ 4, 3, 2, 5 },	    { 1, 64, 1, 9 },	 { 300, 1, 70, 1 },
		{ 4096, 33, 2, 1 }, { 1000, 40, 3, 30 }, { 3000001, 1, 2, 1 },
	};
	size_t i;

	srand(10);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		start(modes[_i], 16);
		check_box(TRN_PLACEMENT_HBM, sizes[i], false);
		check_box(TRN_PLACEMENT_HBM, sizes[i], true);
		check_box(TRN_PLACEMENT_HOST, sizes[i], i & 1);
		stop();
	}
}
END_TEST

START_TEST(box_arguments)
{
	struct trn_layout none = { 0 }, layout = { .offset = 10, .strides = { 20, 0, 0 } };
	const uint64_t fits[4] = { 10, 5, 1, 1 }, large[4] = { 11, 5, 1, 1 };
	const uint64_t empty[4] = { 11, 5, 0, 1 }, huge[4] = { 1, UINT64_MAX, 2, 1 };
	static uint8_t memory[1000];
	struct trn_buffer *hbm;

	start(modes[_i], 16);
	hbm = buffer(TRN_PLACEMENT_HBM, 100);
	ck_assert_int_eq(trn_write_nd(queue, hbm, &layout, memory, &layout, fits), 0);
	ck_assert_int_eq(trn_write_nd(queue, hbm, &layout, memory, &layout, large), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "91 bytes at offset 10"));
	ck_assert_int_eq(trn_read_nd(queue, memory, &layout, hbm, &layout, large), -EINVAL);
	ck_assert_int_eq(trn_write_nd(queue, hbm, &layout, memory, &layout, empty), 0);
	layout.offset = 101;
	ck_assert_int_eq(trn_write_nd(queue, hbm, &layout, memory, &none, empty), -EINVAL);
	layout.offset = UINT64_MAX;
	ck_assert_int_eq(trn_write_nd(queue, hbm, &none, memory, &layout, fits), -EINVAL);
	ck_assert_int_eq(trn_copy_nd(queue, hbm, &layout, hbm, &none, fits), -EINVAL);
	layout = (struct trn_layout){ .strides = { UINT64_MAX / 2, 0, 0 } };
	ck_assert_int_eq(trn_write_nd(queue, hbm, &none, memory, &layout, fits), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "2^64"));
	ck_assert_int_eq(trn_write_nd(queue, hbm, &none, memory, &none, huge), -EINVAL);
	/* Strides of dimensions that are not used are not looked at; 0 repeats. */
	layout = (struct trn_layout){ .strides = { 10, UINT64_MAX, UINT64_MAX } };
	memory[0] = 7;
	ck_assert_int_eq(trn_write_nd(queue, hbm, &layout, memory, &none, fits), 0);
	ck_assert_int_eq(trn_read(queue, memory, hbm, 0, 50), 0);
	ck_assert_uint_eq(memory[40], 7);
	ck_assert_int_eq(trn_buffer_destroy(hbm), 0);
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-transfer");
	TCase *cases = tcase_create("transfer");

	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, transfers_of_many_sizes, 0, 2);
	tcase_add_loop_test(cases, fills, 0, 2);
	tcase_add_loop_test(cases, ranges_are_checked, 0, 2);
	tcase_add_test(cases, readonly_is_kept);
	tcase_add_loop_test(cases, large_memory, 0, 2);
	tcase_add_loop_test(cases, asynchronous, 0, 2);
	tcase_add_loop_test(cases, locked_memory_is_let_go_with_the_queue, 0, 2);
	tcase_add_loop_test(cases, memory_that_cannot_be_locked, 0, 2);
	tcase_add_test(cases, memory_is_let_go_after_failure);
	tcase_add_test(cases, stage_in_use_after_failure);
	tcase_add_loop_test(cases, boxes, 0, 2);
	tcase_add_loop_test(cases, box_arguments, 0, 2);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
