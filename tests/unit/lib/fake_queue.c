/* SPDX-License-Identifier: MIT */
#include "fake_queue.h"

#include <check.h>

#include "fake.h"

struct trn_device *device;
struct trn_context *context;
struct trn_queue *queue;

const enum trn_queue_mode modes[2] = { TRN_QUEUE_KERNEL, TRN_QUEUE_USER };

void start(enum trn_queue_mode mode, uint32_t entries)
{
	const char *path = fake_start(NULL);

	ck_assert_int_eq(trn_device_open_path(path, &device), 0);
	ck_assert_int_eq(trn_context_create(device, &context), 0);
	ck_assert_int_eq(trn_queue_create(context, mode, entries, &queue), 0);
}

void stop(void)
{
	ck_assert_int_eq(trn_queue_destroy(queue), 0);
	ck_assert_int_eq(trn_context_destroy(context), 0);
	ck_assert_int_eq(trn_device_close(device), 0);
	ck_assert_uint_eq(fake_objects(), 0);
	fake_stop();
}

struct trn_buffer *buffer(enum trn_placement placement, uint64_t size)
{
	struct trn_buffer *buffer;

	ck_assert_int_eq(trn_buffer_create(context, placement, TRN_STACK_ANY, size, 0, &buffer), 0);
	return buffer;
}

uint8_t *pointer(struct trn_buffer *buffer)
{
	void *pointer;

	ck_assert_int_eq(trn_buffer_map(buffer, &pointer), 0);
	return pointer;
}
