/* SPDX-License-Identifier: MIT */
/* Kinds of buffers, dma-bufs, ranges, binding and timelines of libtrn on the driver of fake.c. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/drm.h>
#include <drm/trn_accel.h>
#include <tests/check_run.h>
#include <trn/trn.h>

#include "fake.h"

#define PAGE UINT64_C(4096)
#define MIB  (UINT64_C(1) << 20)

static struct trn_device *device;
static struct trn_context *context;
static struct trn_queue *queue;

static void start(const struct fake_options *options)
{
	ck_assert_int_eq(trn_device_open_path(fake_start(options), &device), 0);
	ck_assert_int_eq(trn_context_create(device, &context), 0);
	ck_assert_int_eq(trn_queue_create(context, TRN_QUEUE_KERNEL, 16, &queue), 0);
}

static void stop(void)
{
	ck_assert_int_eq(trn_queue_destroy(queue), 0);
	ck_assert_int_eq(trn_context_destroy(context), 0);
	ck_assert_int_eq(trn_device_close(device), 0);
	ck_assert_uint_eq(fake_objects(), 0);
	fake_stop();
}

static void assert_fails(int result, int expected, const char *text)
{
	ck_assert_int_eq(result, expected);
	ck_assert_msg(strstr(trn_error_message(), text), "\"%s\" lacks \"%s\"", trn_error_message(),
		      text);
}

static struct trn_buffer *hbm(uint64_t size, uint32_t flags)
{
	struct trn_buffer *buffer;

	ck_assert_int_eq(
		trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, size, flags, &buffer),
		0);
	return buffer;
}

static void destroy(struct trn_buffer *buffer)
{
	ck_assert_int_eq(trn_buffer_destroy(buffer), 0);
}

/* What the device sees at an address: copied to a buffer that the CPU sees too. */
static uint8_t peek(uint64_t address)
{
	struct trn_buffer *host;
	uint64_t sequence;
	void *pointer;
	uint8_t byte;

	ck_assert_int_eq(trn_buffer_create(context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, 1, 0, &host),
			 0);
	ck_assert_int_eq(trn_buffer_map(host, &pointer), 0);
	trn_packet_copy(trn_queue_packet(queue), trn_buffer_address(host), address, 1);
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	ck_assert_int_eq(trn_queue_wait(queue, sequence, TRN_FOREVER), 0);
	byte = *(uint8_t *)pointer;
	destroy(host);
	return byte;
}

static void poke(struct trn_buffer *buffer, uint64_t offset, uint8_t byte)
{
	ck_assert_int_eq(trn_fill(queue, buffer, offset, 1, byte, 1), 0);
}

/* ---- limits ---------------------------------------------------------- */

START_TEST(limits)
{
	const struct fake_options options = { .quota = 8 * MIB };
	struct trn_memory_limits limits;
	struct trn_buffer *one, *two;

	start(&options);
	one = hbm(3 * MIB, TRN_BUFFER_CPU_VISIBLE);
	ck_assert_int_eq(trn_device_memory_limits(device, &limits), 0);
	ck_assert_uint_eq(limits.cpu_visible, FAKE_CPU_VISIBLE);
	ck_assert_uint_eq(limits.cpu_visible_free, FAKE_CPU_VISIBLE - 3 * MIB);
	ck_assert_uint_eq(limits.quota, 8 * MIB);
	ck_assert_uint_eq(limits.quota_used, 3 * MIB);

	assert_fails(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 2 * MIB,
				       TRN_BUFFER_CPU_VISIBLE, &two),
		     -ENOSPC, "CPU-visible: 1048576 of 4194304 free");
	assert_fails(-ENOSPC, -ENOSPC, "2097152 bytes of CPU-visible HBM asked for");
	assert_fails(-ENOSPC, -ENOSPC, "TRN_BUFFER_CPU_VISIBLE");
	assert_fails(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 6 * MIB, 0, &two),
		     -EDQUOT, "6291456 bytes of HBM asked for");
	assert_fails(-EDQUOT, -EDQUOT, "this user has 3145728 of 8388608");
	/* Also told when it is the stack that is full. */
	assert_fails(trn_buffer_create(context, TRN_PLACEMENT_HBM, 2, 20 * MIB, 0, &two), -ENOSPC,
		     "stack 2: 16777216 of 16777216 free, largest block 16777216");
	assert_fails(-ENOSPC, -ENOSPC, "this user has 3145728 of 8388608");
	destroy(one);
	stop();
}
END_TEST

/* ---- kinds of buffers ------------------------------------------------ */

START_TEST(cpu_visible)
{
	struct trn_buffer *visible, *hidden;
	void *pointer;

	start(NULL);
	visible = hbm(MIB, TRN_BUFFER_CPU_VISIBLE);
	hidden = hbm(MIB, 0);
	assert_fails(trn_buffer_map(hidden, &pointer), -EOPNOTSUPP, "TRN_BUFFER_CPU_VISIBLE");
	ck_assert_int_eq(trn_buffer_map(visible, &pointer), 0);
	((uint8_t *)pointer)[MIB - 1] = 0x77;
	ck_assert_uint_eq(peek(trn_buffer_address(visible) + MIB - 1), 0x77);
	destroy(visible);
	destroy(hidden);
	stop();
}
END_TEST

START_TEST(names)
{
	char longest[TRN_BUFFER_NAME_MAX + 2];
	struct trn_buffer *buffer;

	start(NULL);
	buffer = hbm(5 * PAGE, 0);
	ck_assert_int_eq(trn_buffer_set_name(buffer, "weights of layer 3"), 0);
	ck_assert_str_eq(fake_name(5 * PAGE), "weights of layer 3");
	memset(longest, 'n', sizeof(longest));
	longest[TRN_BUFFER_NAME_MAX + 1] = 0;
	assert_fails(trn_buffer_set_name(buffer, longest), -EINVAL, "longer than 55");
	assert_fails(trn_buffer_set_name(buffer, "new\nline"), -EINVAL, "character 3");
	ck_assert_str_eq(fake_name(5 * PAGE), "weights of layer 3");
	longest[TRN_BUFFER_NAME_MAX] = 0;
	ck_assert_int_eq(trn_buffer_set_name(buffer, longest), 0);
	ck_assert_str_eq(fake_name(5 * PAGE), longest);
	ck_assert_int_eq(trn_buffer_set_name(buffer, ""), 0);
	ck_assert_str_eq(fake_name(5 * PAGE), "");
	destroy(buffer);
	stop();
}
END_TEST

START_TEST(user_memory)
{
	uint8_t *memory = aligned_alloc(PAGE, 4 * PAGE), byte = 0;
	struct trn_buffer *buffer, *none;
	void *pointer;
	int fd;

	start(NULL);
	memset(memory, 0x11, 4 * PAGE);
	ck_assert_int_eq(trn_buffer_create_user(context, memory, 4 * PAGE, 0, &buffer), 0);
	ck_assert_uint_eq(trn_buffer_size(buffer), 4 * PAGE);
	ck_assert_int_eq(trn_buffer_map(buffer, &pointer), 0);
	ck_assert_ptr_eq(pointer, memory);
	ck_assert_uint_eq(peek(trn_buffer_address(buffer)), 0x11);
	poke(buffer, 4 * PAGE - 1, 0x22);
	ck_assert_uint_eq(memory[4 * PAGE - 1], 0x22);
	ck_assert_int_eq(trn_read(queue, &byte, buffer, 4 * PAGE - 1, 1), 0);
	ck_assert_uint_eq(byte, 0x22);
	assert_fails(trn_buffer_export(buffer, &fd), -EOPNOTSUPP, "memory of the process");
	destroy(buffer);
	/* It is still ours. */
	ck_assert_uint_eq(memory[0], 0x11);

	ck_assert_int_eq(
		trn_buffer_create_user(context, memory, PAGE, TRN_BUFFER_READONLY, &buffer), 0);
	assert_fails(trn_write(queue, buffer, 0, &byte, 1), -EACCES, "TRN_BUFFER_READONLY");
	ck_assert_int_eq(trn_read(queue, &byte, buffer, 0, 1), 0);
	destroy(buffer);

	assert_fails(trn_buffer_create_user(context, memory + 1, PAGE, 0, &none), -EINVAL,
		     "page size, 4096");
	assert_fails(trn_buffer_create_user(context, memory, PAGE + 1, 0, &none), -EINVAL,
		     "4097 bytes");
	assert_fails(trn_buffer_create_user(context, memory, 0, 0, &none), -EINVAL, "not 0");
	assert_fails(trn_buffer_create_user(context, memory, PAGE, TRN_BUFFER_CPU_VISIBLE, &none),
		     -EINVAL, "0x2");
	fake_fail(DRM_IOCTL_TRN_BO_CREATE_USERPTR, 0, -ENOMEM);
	assert_fails(trn_buffer_create_user(context, memory, PAGE, 0, &none), -ENOMEM,
		     "RLIMIT_MEMLOCK");
	assert_fails(-ENOMEM, -ENOMEM, "4096 bytes");
	fake_fail(DRM_IOCTL_TRN_BO_CREATE_USERPTR, 0, -EFAULT);
	assert_fails(trn_buffer_create_user(context, memory, PAGE, 0, &none), -EFAULT,
		     "TRN_BUFFER_READONLY");
	stop();
	free(memory);
}
END_TEST

/* Wherever creation fails, nothing is left. */
START_TEST(failures_leave_nothing)
{
	static const struct {
		unsigned long request;
		int error;
	} rows[] = {
		{ DRM_IOCTL_TRN_BO_CREATE, -ENOMEM },
		{ DRM_IOCTL_TRN_VM_BIND, -ENOMEM },
		{ DRM_IOCTL_TRN_BO_CREATE, -ENODEV },
		{ DRM_IOCTL_TRN_VM_BIND, -ENODEV },
	};
	struct trn_buffer *buffer;
	size_t i;

	start(NULL);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_fail(rows[i].request, 0, rows[i].error);
		ck_assert_int_eq(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, PAGE,
						   0, &buffer),
				 rows[i].error);
		ck_assert_uint_eq(fake_objects(), 0);
	}
	/* Nor is anything lost when it cannot be unbound. */
	buffer = hbm(PAGE, 0);
	fake_fail(DRM_IOCTL_TRN_VM_BIND, 0, -ENOMEM);
	ck_assert_int_eq(trn_buffer_destroy(buffer), -ENOMEM);
	destroy(buffer);
	stop();
}
END_TEST

START_TEST(dma_bufs)
{
	static uint8_t foreign[2 * 4096];
	struct trn_buffer *own, *again, *other;
	void *pointer;
	uint8_t byte;
	int fd, pipes[2];

	start(NULL);
	own = hbm(2 * PAGE, 0);
	poke(own, PAGE, 0x33);
	ck_assert_int_eq(trn_buffer_export(own, &fd), 0);
	/* The kernel gives the handle that is there already: neither may close the other's. */
	ck_assert_int_eq(trn_buffer_import(context, fd, TRN_BUFFER_READONLY, &again), 0);
	ck_assert_uint_eq(fake_objects(), 1);
	ck_assert_uint_eq(trn_buffer_size(again), 2 * PAGE);
	ck_assert_uint_ne(trn_buffer_address(again), trn_buffer_address(own));
	ck_assert_uint_eq(peek(trn_buffer_address(again) + PAGE), 0x33);
	destroy(own);
	ck_assert_uint_eq(peek(trn_buffer_address(again) + PAGE), 0x33);
	destroy(again);
	ck_assert_uint_eq(fake_objects(), 0);
	close(fd);

	fd = fake_dma_buf(foreign, sizeof(foreign));
	foreign[5000] = 0x44;
	ck_assert_int_eq(trn_buffer_import(context, fd, 0, &other), 0);
	close(fd);
	ck_assert_int_eq(trn_read(queue, &byte, other, 5000, 1), 0);
	ck_assert_uint_eq(byte, 0x44);
	byte = 0x55;
	ck_assert_int_eq(trn_write(queue, other, 5001, &byte, 1), 0);
	ck_assert_uint_eq(foreign[5001], 0x55);
	assert_fails(trn_buffer_map(other, &pointer), -EOPNOTSUPP, "dma-buf");
	destroy(other);

	ck_assert_int_eq(pipe(pipes), 0);
	assert_fails(trn_buffer_import(context, pipes[0], 0, &other), -EINVAL, "not a dma-buf");
	assert_fails(trn_buffer_import(context, -1, 0, &other), -EBADF, "not a dma-buf");
	assert_fails(trn_buffer_import(context, pipes[0], TRN_BUFFER_CPU_VISIBLE, &other), -EINVAL,
		     "0x2");
	close(pipes[0]);
	close(pipes[1]);
	stop();
}
END_TEST

/* ---- ranges and binding ---------------------------------------------- */

START_TEST(ranges)
{
	struct trn_range *one, *two, *none;
	struct trn_buffer *buffer;

	start(NULL);
	ck_assert_int_eq(trn_range_create(context, 0, 64 * PAGE, MIB * 8, &one), 0);
	ck_assert_uint_eq(trn_range_address(one) % (MIB * 8), 0);
	ck_assert_uint_ne(trn_range_address(one), 0);
	ck_assert_uint_eq(trn_range_size(one), 64 * PAGE);
	ck_assert_int_eq(trn_range_create(context, UINT64_C(1) << 40, PAGE, 0, &two), 0);
	ck_assert_uint_eq(trn_range_address(two), UINT64_C(1) << 40);

	assert_fails(trn_range_create(context, UINT64_C(1) << 40, PAGE, 0, &none), -EEXIST,
		     "0x10000000000");
	/* Buffers have their addresses from the same space. */
	buffer = hbm(PAGE, 0);
	assert_fails(trn_range_create(context, trn_buffer_address(buffer), PAGE, 0, &none), -EEXIST,
		     "buffer");
	destroy(buffer);
	assert_fails(trn_range_create(context, PAGE, PAGE, 0, &none), -EEXIST, "2^48");
	assert_fails(trn_range_create(context, (UINT64_C(1) << 48) - PAGE, 2 * PAGE, 0, &none),
		     -EEXIST, "2^48");
	assert_fails(trn_range_create(context, 0, UINT64_C(1) << 48, 0, &none), -ENOSPC,
		     "in one piece");
	assert_fails(trn_range_create(context, 0, PAGE + 1, 0, &none), -EINVAL, "page size, 4096");
	assert_fails(trn_range_create(context, 0, 0, 0, &none), -EINVAL, "not 0");
	assert_fails(trn_range_create(context, 0, PAGE, 3 * PAGE, &none), -EINVAL, "power of two");
	assert_fails(trn_range_create(context, MIB, PAGE, PAGE, &none), -EINVAL, "alignment 0");

	ck_assert_int_eq(trn_context_destroy(context), -EBUSY);
	ck_assert_int_eq(trn_range_destroy(one), 0);
	ck_assert_int_eq(trn_range_destroy(two), 0);
	ck_assert_int_eq(trn_range_destroy(NULL), 0);
	stop();
}
END_TEST

START_TEST(bind_parts)
{
	struct trn_buffer *buffer, *second;
	struct trn_range *range;
	uint64_t base;
	uint32_t done;
	int i;

	start(NULL);
	buffer = hbm(4 * PAGE, TRN_BUFFER_UNBOUND);
	second = hbm(4 * PAGE, 0);
	ck_assert_uint_eq(trn_buffer_address(buffer), 0);
	assert_fails(trn_fill(queue, buffer, 0, 1, 0, 1), -EINVAL, "TRN_BUFFER_UNBOUND");
	for (i = 0; i < 4; i++)
		poke(second, (uint64_t)i * PAGE, (uint8_t)(0x20 + i));
	ck_assert_int_eq(trn_range_create(context, 0, 8 * PAGE, 0, &range), 0);
	base = trn_range_address(range);

	/* One buffer at two places, in parts; another through its second address. */
	const struct trn_bind binds[] = {
		{ .range = range, .size = 4 * PAGE, .buffer = buffer },
		{ .range = range,
		  .range_offset = 4 * PAGE,
		  .size = PAGE,
		  .buffer = buffer,
		  .buffer_offset = 3 * PAGE },
		{ .op = TRN_BIND_REPLACE,
		  .flags = TRN_BIND_READONLY,
		  .range = range,
		  .range_offset = PAGE,
		  .size = 2 * PAGE,
		  .buffer = second,
		  .buffer_offset = 2 * PAGE },
	};
	ck_assert_int_eq(trn_bind(context, binds, 3, &done), 0);
	ck_assert_uint_eq(done, 3);
	ck_assert_uint_eq(peek(base + PAGE), 0x22);
	ck_assert_uint_eq(peek(base + 2 * PAGE), 0x23);
	ck_assert_uint_eq(peek(base), 0);

	/* The second operation finds something: the first stays. */
	const struct trn_bind clash[] = {
		{ .range = range, .range_offset = 6 * PAGE, .size = PAGE, .buffer = second },
		{ .range = range, .range_offset = 3 * PAGE, .size = PAGE, .buffer = second },
	};
	assert_fails(trn_bind(context, clash, 2, &done), -EEXIST, "REPLACE");
	ck_assert_uint_eq(done, 1);
	ck_assert_uint_eq(peek(base + 6 * PAGE), 0x20);

	/* The hole splits what was bound; nothing there is no error. */
	const struct trn_bind away = {
		.op = TRN_BIND_UNMAP, .range = range, .range_offset = 2 * PAGE, .size = 4 * PAGE
	};
	ck_assert_int_eq(trn_bind(context, &away, 1, NULL), 0);
	ck_assert_uint_eq(peek(base + PAGE), 0x22);
	ck_assert_uint_eq(peek(base + 6 * PAGE), 0x20);
	ck_assert_int_eq(trn_range_destroy(range), 0);
	destroy(buffer);
	destroy(second);
	stop();
}
END_TEST

START_TEST(bind_arguments)
{
	static uint8_t memory[4096] __attribute__((aligned(4096)));
	struct trn_buffer *buffer, *readonly;
	struct trn_range *range, *foreign;
	struct trn_context *other;
	uint32_t done = 9;
	size_t i;

	start(NULL);
	buffer = hbm(4 * PAGE + 5, 0);
	ck_assert_int_eq(
		trn_buffer_create_user(context, memory, PAGE, TRN_BUFFER_READONLY, &readonly), 0);
	ck_assert_int_eq(trn_context_create(device, &other), 0);
	ck_assert_int_eq(trn_range_create(context, 0, 8 * PAGE, 0, &range), 0);
	ck_assert_int_eq(trn_range_create(other, 0, 8 * PAGE, 0, &foreign), 0);

	const struct {
		struct trn_bind bind;
		const char *text;
	} rows[] = {
		{ { .op = 3, .range = range, .size = PAGE, .buffer = buffer }, "3 is not MAP" },
		{ { .flags = 2, .range = range, .size = PAGE, .buffer = buffer }, "0x2" },
		{ { .size = PAGE, .buffer = buffer }, "no range" },
		{ { .range = foreign, .size = PAGE, .buffer = buffer }, "no range" },
		{ { .range = range, .size = PAGE }, "no buffer" },
		{ { .range = range, .buffer = buffer }, "not 0" },
		{ { .range = range, .size = PAGE + 1, .buffer = buffer }, "page size" },
		{ { .range = range, .range_offset = 1, .size = PAGE, .buffer = buffer },
		  "page size" },
		{ { .range = range, .size = PAGE, .buffer = buffer, .buffer_offset = 1 },
		  "page size" },
		{ { .range = range, .size = 9 * PAGE, .buffer = buffer }, "range of 0x8000" },
		{ { .range = range, .range_offset = -PAGE, .size = 2 * PAGE, .buffer = buffer },
		  "range of 0x8000" },
		{ { .range = range, .size = 6 * PAGE, .buffer = buffer }, "buffer of 0x5000" },
		{ { .range = range, .size = PAGE, .buffer = buffer, .buffer_offset = -PAGE },
		  "buffer of 0x5000" },
		{ { .op = TRN_BIND_UNMAP, .range = range, .size = PAGE, .buffer = buffer },
		  "UNMAP takes no buffer" },
		{ { .op = TRN_BIND_UNMAP,
		    .flags = TRN_BIND_READONLY,
		    .range = range,
		    .size = PAGE },
		  "0x1" },
	};
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trn_bind pair[2] = {
			{ .range = range, .size = PAGE, .buffer = buffer },
			rows[i].bind,
		};

		/* Checked before the first operation takes effect. */
		assert_fails(trn_bind(context, pair, 2, &done), -EINVAL, rows[i].text);
		assert_fails(-EINVAL, -EINVAL, "operation 1");
		ck_assert_uint_eq(done, 0);
		assert_fails(trn_bind_async(context, pair, 2, NULL, 0), -EINVAL, rows[i].text);
	}
	assert_fails(trn_bind(context, NULL, 0, NULL), -EINVAL, "1 to 1024");
	assert_fails(trn_bind(context, NULL, 1025, NULL), -EINVAL, "1 to 1024");
	assert_fails(
		trn_bind(context,
			 &(struct trn_bind){ .range = range, .size = PAGE, .buffer = readonly }, 1,
			 NULL),
		-EACCES, "TRN_BIND_READONLY");
	/* The last page counts whole; a buffer of another context of the device will do. */
	ck_assert_int_eq(
		trn_bind(other,
			 &(struct trn_bind){ .range = foreign, .size = 5 * PAGE, .buffer = buffer },
			 1, NULL),
		0);
	ck_assert_int_eq(trn_range_destroy(range), 0);
	ck_assert_int_eq(trn_range_destroy(foreign), 0);
	ck_assert_int_eq(trn_context_destroy(other), 0);
	destroy(buffer);
	destroy(readonly);
	stop();
}
END_TEST

/* ---- timelines ------------------------------------------------------- */

static uint64_t submit_nop(void)
{
	uint64_t sequence;

	trn_packet_nop(trn_queue_packet(queue));
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	return sequence;
}

static bool readable(int fd)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };

	return poll(&file, 1, 0) == 1;
}

START_TEST(timelines)
{
	struct trn_timeline *timeline;
	int fd;

	start(NULL);
	ck_assert_int_eq(trn_timeline_create(device, &timeline), 0);
	ck_assert_int_eq(trn_device_close(device), -EBUSY);
	assert_fails(trn_timeline_wait(timeline, 5, trn_deadline(1000)), -ETIME, "point 5");
	assert_fails(trn_timeline_export_fence(timeline, 5, &fd), -EINVAL, "not added");
	ck_assert_int_eq(trn_timeline_signal(timeline, 5), 0);
	ck_assert_int_eq(trn_timeline_wait(timeline, 5, 0), 0);
	ck_assert_int_eq(trn_timeline_wait(timeline, 4, 0), 0);
	ck_assert_int_eq(trn_timeline_wait(timeline, 6, 0), -ETIME);
	ck_assert_int_eq(trn_timeline_export_fence(timeline, 5, &fd), 0);
	ck_assert(readable(fd));
	ck_assert_int_eq(trn_fence_wait(fd, 0), 0);
	close(fd);
	assert_fails(trn_timeline_signal(timeline, 0), -EINVAL, "begin at 1");
	assert_fails(trn_timeline_wait(timeline, 0, 0), -EINVAL, "begin at 1");
	assert_fails(trn_timeline_import_fence(timeline, 6, -1), -EINVAL, "not a fence");
	ck_assert_int_eq(trn_timeline_destroy(timeline), 0);
	ck_assert_int_eq(trn_timeline_destroy(NULL), 0);
	stop();
}
END_TEST

START_TEST(fences)
{
	struct trn_timeline *timeline;
	uint64_t done, held, bad;
	int fd[3], pipes[2];

	start(NULL);
	ck_assert_int_eq(trn_timeline_create(device, &timeline), 0);
	done = submit_nop();
	ck_assert_int_eq(trn_queue_wait(queue, done, TRN_FOREVER), 0);
	fake_hold(true);
	held = submit_nop();
	ck_assert_int_eq(trn_queue_export_fence(queue, done, &fd[0]), 0);
	ck_assert_int_eq(trn_queue_export_fence(queue, held, &fd[1]), 0);
	ck_assert_int_eq(trn_queue_export_fence(queue, held + 1, &fd[2]), -EINVAL);
	ck_assert(readable(fd[0]));
	ck_assert(!readable(fd[1]));
	assert_fails(trn_fence_wait(fd[1], trn_deadline(1000000)), -ETIME, "deadline");
	ck_assert_int_eq(trn_timeline_import_fence(timeline, 1, fd[1]), 0);
	ck_assert_int_eq(trn_timeline_wait(timeline, 1, trn_deadline(1000000)), -ETIME);
	fake_hold(false);
	ck_assert(readable(fd[1]));
	ck_assert_int_eq(trn_fence_wait(fd[1], TRN_FOREVER), 0);
	ck_assert_int_eq(trn_timeline_wait(timeline, 1, TRN_FOREVER), 0);

	/* Errors arrive by all ways. */
	fake_break_next_packet();
	bad = submit_nop();
	ck_assert_int_eq(trn_queue_export_fence(queue, bad, &fd[2]), 0);
	ck_assert_int_eq(trn_fence_wait(fd[2], TRN_FOREVER), -EFAULT);
	ck_assert_int_eq(trn_timeline_import_fence(timeline, 2, fd[2]), 0);
	assert_fails(trn_timeline_wait(timeline, 2, TRN_FOREVER), -EFAULT, "point 2");

	ck_assert_int_eq(pipe(pipes), 0);
	assert_fails(trn_fence_wait(pipes[0], TRN_FOREVER), -EINVAL, "not a fence");
	assert_fails(trn_fence_wait(-1, TRN_FOREVER), -EBADF, "not a fence");
	close(pipes[0]);
	close(pipes[1]);
	close(fd[0]);
	close(fd[1]);
	close(fd[2]);
	ck_assert_int_eq(trn_timeline_destroy(timeline), 0);
	stop();
}
END_TEST

START_TEST(user_queue_has_no_fence)
{
	struct trn_queue *user;
	uint64_t sequence;
	int fd;

	start(NULL);
	ck_assert_int_eq(trn_queue_create(context, TRN_QUEUE_USER, 4, &user), 0);
	trn_packet_nop(trn_queue_packet(user));
	ck_assert_int_eq(trn_queue_submit(user, &sequence), 0);
	assert_fails(trn_queue_export_fence(user, sequence, &fd), -EOPNOTSUPP, "kernel queue");
	ck_assert_int_eq(trn_queue_destroy(user), 0);
	stop();
}
END_TEST

/* Binding begins when a copy has ended, and a point says when that is done. */
START_TEST(bind_after_a_copy)
{
	struct trn_timeline *timeline;
	struct trn_buffer *buffer;
	struct trn_range *range;
	uint64_t sequence;
	int fd;

	start(NULL);
	buffer = hbm(PAGE, 0);
	poke(buffer, 0, 0x66);
	ck_assert_int_eq(trn_timeline_create(device, &timeline), 0);
	ck_assert_int_eq(trn_range_create(context, 0, 2 * PAGE, 0, &range), 0);
	fake_hold(true);
	sequence = submit_nop();
	ck_assert_int_eq(trn_queue_export_fence(queue, sequence, &fd), 0);
	ck_assert_int_eq(trn_timeline_import_fence(timeline, 1, fd), 0);
	close(fd);

	const struct trn_bind bind = { .range = range, .size = PAGE, .buffer = buffer };
	const struct trn_sync syncs[] = {
		{ timeline, 1, TRN_SYNC_WAIT },
		{ timeline, 2, TRN_SYNC_SIGNAL },
	};
	ck_assert_int_eq(trn_bind_async(context, &bind, 1, syncs, 2), 0);
	ck_assert_int_eq(trn_timeline_wait(timeline, 2, trn_deadline(1000000)), -ETIME);
	fake_hold(false);
	ck_assert_int_eq(trn_timeline_wait(timeline, 2, TRN_FOREVER), 0);
	ck_assert_uint_eq(peek(trn_range_address(range)), 0x66);

	/* The same once more finds something there: the point has the error. */
	const struct trn_sync third = { timeline, 3, TRN_SYNC_SIGNAL };
	ck_assert_int_eq(trn_bind_async(context, &bind, 1, &third, 1), 0);
	assert_fails(trn_timeline_wait(timeline, 3, TRN_FOREVER), -EEXIST, "point 3");

	/* What waits for a failure fails with it. */
	const struct trn_sync chain[] = {
		{ timeline, 3, TRN_SYNC_WAIT },
		{ timeline, 4, TRN_SYNC_SIGNAL },
	};
	ck_assert_int_eq(trn_bind_async(context, &bind, 1, chain, 2), 0);
	ck_assert_int_eq(trn_timeline_wait(timeline, 4, TRN_FOREVER), -EEXIST);

	const struct {
		struct trn_sync sync;
		const char *text;
	} rows[] = {
		{ { timeline, 0, TRN_SYNC_WAIT }, "point 0" },
		{ { NULL, 1, TRN_SYNC_WAIT }, "no timeline" },
		{ { timeline, 9, TRN_SYNC_WAIT }, "not added" },
		{ { timeline, 9, 2 }, "neither" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_fails(trn_bind_async(context, &bind, 1, &rows[i].sync, 1), -EINVAL,
			     rows[i].text);
	assert_fails(trn_bind_async(context, &bind, 1, syncs, 65), -EINVAL, "64");
	ck_assert_int_eq(trn_range_destroy(range), 0);
	ck_assert_int_eq(trn_timeline_destroy(timeline), 0);
	destroy(buffer);
	stop();
}
END_TEST

/* ---- death and fork -------------------------------------------------- */

START_TEST(gone)
{
	struct trn_memory_limits limits;
	struct trn_timeline *timeline;
	struct trn_buffer *buffer, *none;
	struct trn_range *range;
	struct trn_bind bind;
	uint8_t byte[4096] __attribute__((aligned(4096)));
	void *pointer;
	int fd;

	start(NULL);
	buffer = hbm(PAGE, TRN_BUFFER_CPU_VISIBLE);
	ck_assert_int_eq(trn_range_create(context, 0, PAGE, 0, &range), 0);
	ck_assert_int_eq(trn_timeline_create(device, &timeline), 0);
	bind = (struct trn_bind){ .range = range, .size = PAGE, .buffer = buffer };
	fake_kill();
	assert_fails(trn_buffer_create(context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, 1, 0, &none),
		     -ENODEV, "gone");
	assert_fails(trn_buffer_create_user(context, byte, PAGE, 0, &none), -ENODEV, "gone");
	assert_fails(trn_buffer_map(buffer, &pointer), -ENODEV, "gone");
	assert_fails(trn_buffer_export(buffer, &fd), -ENODEV, "gone");
	assert_fails(trn_buffer_set_name(buffer, "x"), -ENODEV, "gone");
	assert_fails(trn_device_memory_limits(device, &limits), -ENODEV, "gone");
	assert_fails(trn_bind(context, &bind, 1, NULL), -ENODEV, "gone");
	assert_fails(trn_bind_async(context, &bind, 1, NULL, 0), -ENODEV, "gone");
	assert_fails(trn_write(queue, buffer, 0, byte, 1), -ENODEV, "gone");
	/* And all can be destroyed. */
	ck_assert_int_eq(trn_timeline_destroy(timeline), 0);
	ck_assert_int_eq(trn_range_destroy(range), 0);
	destroy(buffer);
	stop();
}
END_TEST

static struct trn_timeline *parents_timeline;
static struct trn_range *parents_range;
static struct trn_buffer *parents_buffer;

/* In the child: exit status 0 if all is refused, else the number of the first that is not. */
static int use_in_child(void)
{
	struct trn_bind bind = { .range = parents_range, .size = PAGE, .buffer = parents_buffer };
	static uint8_t memory[4096] __attribute__((aligned(4096)));
	struct trn_layout layout = { 0 };
	const uint64_t sizes[4] = { 1, 1, 1, 1 };
	struct trn_memory_limits limits;
	struct trn_queue_error error;
	struct trn_timeline *timeline;
	struct trn_buffer *buffer;
	struct trn_range *range;
	uint64_t sequence;
	int fd;

	const int results[] = {
		trn_buffer_create_user(context, memory, PAGE, 0, &buffer),
		trn_buffer_import(context, 0, 0, &buffer),
		trn_buffer_export(parents_buffer, &fd),
		trn_buffer_set_name(parents_buffer, ""),
		trn_range_create(context, 0, PAGE, 0, &range),
		trn_range_destroy(parents_range),
		trn_bind(context, &bind, 1, NULL),
		trn_bind_async(context, &bind, 1, NULL, 0),
		trn_timeline_create(device, &timeline),
		trn_timeline_signal(parents_timeline, 1),
		trn_timeline_wait(parents_timeline, 1, TRN_FOREVER),
		trn_timeline_export_fence(parents_timeline, 1, &fd),
		trn_timeline_import_fence(parents_timeline, 1, 0),
		trn_timeline_destroy(parents_timeline),
		trn_queue_export_fence(queue, 0, &fd),
		trn_queue_error(queue, &error),
		trn_device_memory_limits(device, &limits),
		trn_write_async(queue, parents_buffer, 0, memory, 1, &sequence),
		trn_read_async(queue, memory, parents_buffer, 0, 1, &sequence),
		trn_fill_async(queue, parents_buffer, 0, 1, 0, 1, &sequence),
		trn_copy_async(queue, parents_buffer, 0, parents_buffer, 1, 1, &sequence),
		trn_write_nd(queue, parents_buffer, &layout, memory, &layout, sizes),
		trn_read_nd(queue, memory, &layout, parents_buffer, &layout, sizes),
		trn_copy_nd(queue, parents_buffer, &layout, parents_buffer, &layout, sizes),
	};
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i] != -EPERM)
			return (int)i + 1;
	return strstr(trn_error_message(), "fork") ? 0 : 100;
}

START_TEST(child_is_refused)
{
	int status;
	pid_t child;

	start(NULL);
	parents_buffer = hbm(PAGE, 0);
	ck_assert_int_eq(trn_range_create(context, 0, PAGE, 0, &parents_range), 0);
	ck_assert_int_eq(trn_timeline_create(device, &parents_timeline), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child)
		_exit(use_in_child());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_int_eq(trn_timeline_destroy(parents_timeline), 0);
	ck_assert_int_eq(trn_range_destroy(parents_range), 0);
	destroy(parents_buffer);
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-memory");
	TCase *cases = tcase_create("memory");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, limits);
	tcase_add_test(cases, cpu_visible);
	tcase_add_test(cases, names);
	tcase_add_test(cases, user_memory);
	tcase_add_test(cases, failures_leave_nothing);
	tcase_add_test(cases, dma_bufs);
	tcase_add_test(cases, ranges);
	tcase_add_test(cases, bind_parts);
	tcase_add_test(cases, bind_arguments);
	tcase_add_test(cases, timelines);
	tcase_add_test(cases, fences);
	tcase_add_test(cases, user_queue_has_no_fence);
	tcase_add_test(cases, bind_after_a_copy);
	tcase_add_test(cases, gone);
	tcase_add_test(cases, child_is_refused);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
