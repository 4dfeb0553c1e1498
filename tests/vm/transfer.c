/* SPDX-License-Identifier: MIT */
/* libtrn's transfers, buffers of every kind, and binding, on a chip. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hw/trn_admin.h>
#include <tests/check_run.h>

#include "rig.h"

#define KIB    UINT64_C(1024)
#define MIB    (KIB * 1024)
#define PAGE   (4 * KIB)
#define MINUTE INT64_C(60000000000)

static const enum trn_queue_mode modes[] = { TRN_QUEUE_KERNEL, TRN_QUEUE_USER };

static void wait_for(struct rig *rig, uint64_t sequence)
{
	guest_ok(trn_queue_wait(rig->queue, sequence, trn_deadline(MINUTE)));
}

static uint8_t *pattern(uint64_t size, uint64_t seed)
{
	uint8_t *memory = malloc(size);

	guest_pattern(memory, size, seed);
	return memory;
}

/* ---- boxes ----------------------------------------------------------- */

static void copy_reference(uint8_t *to, const struct trn_layout *to_layout, const uint8_t *from,
			   const struct trn_layout *from_layout, const uint64_t sizes[4])
{
	const uint64_t *t = to_layout->strides, *f = from_layout->strides;
	uint64_t i, j, k;

	for (k = 0; k < sizes[3]; k++)
		for (j = 0; j < sizes[2]; j++)
			for (i = 0; i < sizes[1]; i++)
				memcpy(to + to_layout->offset + i * t[0] + j * t[1] + k * t[2],
				       from + from_layout->offset + i * f[0] + j * f[1] + k * f[2],
				       sizes[0]);
}

/* Three boxes of the same sizes: dense, with gaps at an odd place, and with more gaps. */
static const struct box {
	uint64_t sizes[4];
	struct trn_layout layout[3];
} rows[] = {
	{ { 100, 7, 1, 1 }, { { 0, { 100 } }, { 13, { 111 } }, { 4095, { 4097 } } } },
	{ { 64, 16, 5, 1 }, { { 0, { 64, 1024 } }, { 64, { 128, 4096 } }, { 1, { 65, 2000 } } } },
	{ { 3, 5, 4, 6 },
	  { { 0, { 3, 15, 60 } }, { 5, { 4, 24, 111 } }, { 7, { 7, 4096, 20000 } } } },
	{ { 4096, 300, 1, 2 },
	  { { 0, { 4096, 0, 1228800 } },
	    { 96, { 5000, 0, 1500000 } },
	    { 0, { 8192, 0, 2457600 } } } },
	{ { 1, 2000, 1, 1 }, { { 0, { 1 } }, { 2, { 3 } }, { 0, { 1000 } } } },
};

#define ROOM (5 * MIB)

START_TEST(boxes)
{
	struct rig rig = rig_make(0, modes[_i & 1]);
	struct trn_buffer *one = rig_buffer(&rig, TRN_PLACEMENT_HBM, ROOM, 0);
	struct trn_buffer *two = rig_buffer(&rig, TRN_PLACEMENT_HBM, ROOM, 0);
	uint8_t *source = pattern(ROOM, 1), *now = malloc(ROOM), *result = pattern(ROOM, 3);
	uint8_t *expected_two = pattern(ROOM, 2), *expected = pattern(ROOM, 3);
	bool later = _i & 2;
	uint64_t sequence;
	size_t row;

	guest_ok(trn_write(rig.queue, two, 0, expected_two, ROOM));
	for (row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		const struct box *box = &rows[row];
		const struct trn_layout *l = box->layout;

		if (later) {
			guest_ok(trn_write_nd_async(rig.queue, one, &l[0], source, &l[1],
						    box->sizes, &sequence));
			guest_ok(trn_copy_nd_async(rig.queue, two, &l[2], one, &l[0], box->sizes,
						   &sequence));
			guest_ok(trn_read_nd_async(rig.queue, result, &l[1], two, &l[2], box->sizes,
						   &sequence));
			wait_for(&rig, sequence);
		} else {
			guest_ok(trn_write_nd(rig.queue, one, &l[0], source, &l[1], box->sizes));
			guest_ok(trn_copy_nd(rig.queue, two, &l[2], one, &l[0], box->sizes));
			guest_ok(trn_read_nd(rig.queue, result, &l[1], two, &l[2], box->sizes));
		}
		/* All bytes, those in the gaps too. */
		copy_reference(expected_two, &l[2], source, &l[1], box->sizes);
		copy_reference(expected, &l[1], source, &l[1], box->sizes);
		ck_assert_mem_eq(result, expected, ROOM);
		guest_ok(trn_read(rig.queue, now, two, 0, ROOM));
		ck_assert_mem_eq(now, expected_two, ROOM);
	}
	guest_ok(trn_buffer_destroy(one));
	guest_ok(trn_buffer_destroy(two));
	rig_free(&rig);
	free(source);
	free(now);
	free(result);
	free(expected_two);
	free(expected);
}
END_TEST

/* ---- later ----------------------------------------------------------- */

/* A chain of transfers, each of which needs the one before; nothing waits in between. */
START_TEST(asynchronous_chain)
{
	struct rig rig = rig_make(0, modes[_i]);
	struct trn_buffer *one = rig_buffer(&rig, TRN_PLACEMENT_HBM, 6 * MIB, 0);
	struct trn_buffer *two = rig_buffer(&rig, TRN_PLACEMENT_HBM, 6 * MIB, 0);
	uint64_t size = 5 * MIB + 77, sequence[3];
	uint8_t *source = pattern(size + 3, 4), *result = malloc(size + 5);

	memset(result, 0x5a, size + 5);
	guest_ok(trn_write_async(rig.queue, one, 9, source + 3, size, &sequence[0]));
	guest_ok(trn_copy_async(rig.queue, two, 4099, one, 9, size, &sequence[1]));
	guest_ok(trn_read_async(rig.queue, result + 1, two, 4099, size, &sequence[2]));
	ck_assert_uint_lt(sequence[0], sequence[1]);
	ck_assert_uint_lt(sequence[1], sequence[2]);
	wait_for(&rig, sequence[2]);
	ck_assert_mem_eq(result + 1, source + 3, size);
	ck_assert_uint_eq(result[0], 0x5a);
	ck_assert_uint_eq(result[size + 1], 0x5a);
	guest_ok(trn_buffer_destroy(one));
	guest_ok(trn_buffer_destroy(two));
	rig_free(&rig);
	free(source);
	free(result);
}
END_TEST

/* A fence becomes readable when the submit is done, and knows its error. */
START_TEST(fence_is_polled)
{
	struct rig rig = rig_make(0, TRN_QUEUE_KERNEL);
	struct trn_buffer *hbm = rig_buffer(&rig, TRN_PLACEMENT_HBM, 32 * MIB, 0);
	uint64_t sequence;
	struct pollfd file = { .events = POLLIN };

	guest_ok(trn_fill_async(rig.queue, hbm, 0, 32 * MIB, 1, 8, &sequence));
	guest_ok(trn_queue_export_fence(rig.queue, sequence, &file.fd));
	ck_assert_int_eq(poll(&file, 1, 60000), 1);
	ck_assert_int_eq(trn_queue_poll(rig.queue, sequence), 1);
	guest_ok(trn_fence_wait(file.fd, 0));
	close(file.fd);

	trn_packet_copy(trn_queue_packet(rig.queue), trn_buffer_address(hbm), 0x1000, 8);
	guest_ok(trn_queue_submit(rig.queue, &sequence));
	guest_ok(trn_queue_export_fence(rig.queue, sequence, &file.fd));
	guest_fails(trn_fence_wait(file.fd, trn_deadline(MINUTE)), -EFAULT);
	close(file.fd);
	guest_ok(trn_buffer_destroy(hbm));
	rig_free(&rig);
}
END_TEST

/* ---- errors ---------------------------------------------------------- */

START_TEST(error_names_the_access)
{
	static const struct {
		bool write, readonly;
		uint32_t reason;
		const char *text;
	} cases[] = {
		{ false, false, TRN_STOP_FAULT_UNMAPPED, "read from 0x" },
		{ true, false, TRN_STOP_FAULT_UNMAPPED, "wrote to 0x" },
		{ true, true, TRN_STOP_FAULT_PERMISSION, "wrote to 0x" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = rig_make(0, modes[_i]);
		struct trn_buffer *good = rig_buffer(&rig, TRN_PLACEMENT_HBM, PAGE, 0);
		struct trn_buffer *fixed =
			rig_buffer(&rig, TRN_PLACEMENT_HBM, PAGE, TRN_BUFFER_READONLY);
		uint64_t bad = cases[i].readonly ? trn_buffer_address(fixed) : 0x7654321000;
		struct trn_queue_error error;
		uint64_t sequence;

		trn_packet_copy(trn_queue_packet(rig.queue),
				cases[i].write ? bad : trn_buffer_address(good),
				cases[i].write ? trn_buffer_address(good) : bad, 8);
		guest_ok(trn_queue_submit(rig.queue, &sequence));
		guest_fails(trn_queue_wait(rig.queue, sequence, trn_deadline(MINUTE)),
			    modes[_i] == TRN_QUEUE_KERNEL ? -EFAULT : -EIO);
		ck_assert_msg(strstr(trn_error_message(), cases[i].text), "%s",
			      trn_error_message());
		guest_ok(trn_queue_error(rig.queue, &error));
		ck_assert_uint_eq(error.reason, cases[i].reason);
		ck_assert_uint_eq(error.access,
				  cases[i].write ? TRN_ACCESS_WRITE : TRN_ACCESS_READ);
		ck_assert_uint_eq(error.address, bad);
		guest_ok(trn_buffer_destroy(good));
		guest_ok(trn_buffer_destroy(fixed));
		rig_free(&rig);
	}
}
END_TEST

/* ---- buffers --------------------------------------------------------- */

START_TEST(cpu_visible_hbm)
{
	struct rig rig = rig_make(0, modes[_i]);
	struct trn_buffer *hbm = rig_buffer(&rig, TRN_PLACEMENT_HBM, MIB, TRN_BUFFER_CPU_VISIBLE);
	uint8_t *data = pattern(MIB, 5), *result = malloc(MIB);
	struct trn_memory_limits limits;
	void *pointer;

	guest_ok(trn_device_memory_limits(rig.device, &limits));
	ck_assert_uint_ge(limits.cpu_visible, limits.cpu_visible_free + MIB);
	ck_assert_uint_ge(limits.quota_used, MIB);
	guest_ok(trn_buffer_map(hbm, &pointer));
	memcpy(pointer, data, MIB);
	guest_ok(trn_read(rig.queue, result, hbm, 0, MIB));
	ck_assert_mem_eq(result, data, MIB);
	guest_ok(trn_fill(rig.queue, hbm, 0, MIB, 0x5a, 1));
	ck_assert_uint_eq(((volatile uint8_t *)pointer)[MIB - 1], 0x5a);
	guest_ok(trn_buffer_destroy(hbm));
	rig_free(&rig);
	free(data);
	free(result);
}
END_TEST

START_TEST(user_memory)
{
	struct rig rig = rig_make(0, modes[_i]);
	struct trn_buffer *hbm = rig_buffer(&rig, TRN_PLACEMENT_HBM, MIB, 0), *user;
	uint8_t *memory =
		mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *data = pattern(MIB, 6);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	guest_ok(trn_write(rig.queue, hbm, 0, data, MIB));
	guest_ok(trn_buffer_create_user(rig.context, memory, MIB, 0, &user));
	guest_ok(trn_buffer_set_name(user, "user memory"));
	guest_ok(trn_copy(rig.queue, user, 0, hbm, 0, MIB));
	ck_assert_mem_eq(memory, data, MIB);
	guest_ok(trn_buffer_destroy(user));

	/* Memory that only can be read: as a source it will do. */
	ck_assert_int_eq(mprotect(memory, MIB, PROT_READ), 0);
	guest_fails(trn_buffer_create_user(rig.context, memory, MIB, 0, &user), -EFAULT);
	guest_ok(trn_buffer_create_user(rig.context, memory, MIB, TRN_BUFFER_READONLY, &user));
	guest_ok(trn_fill(rig.queue, hbm, 0, MIB, 0, 8));
	guest_ok(trn_copy(rig.queue, hbm, 0, user, 0, MIB));
	guest_ok(trn_buffer_destroy(user));
	ck_assert_int_eq(munmap(memory, MIB), 0);
	memory = malloc(MIB);
	guest_ok(trn_read(rig.queue, memory, hbm, 0, MIB));
	ck_assert_mem_eq(memory, data, MIB);
	free(memory);
	free(data);
	guest_ok(trn_buffer_destroy(hbm));
	rig_free(&rig);
}
END_TEST

/* Through a dma-buf to another context, that of another chip where there is one. */
START_TEST(dma_buf)
{
	struct rig one = rig_make(0, TRN_QUEUE_KERNEL);
	struct rig two = rig_make(guest_chips() - 1, TRN_QUEUE_KERNEL);
	struct trn_buffer *hbm = rig_buffer(&one, TRN_PLACEMENT_HBM, MIB, 0);
	struct trn_buffer *host = rig_buffer(&one, TRN_PLACEMENT_HOST, MIB, 0), *other;
	uint8_t *data = pattern(MIB, 7), *result = malloc(MIB);
	int fd;

	guest_ok(trn_write(one.queue, hbm, 0, data, MIB));
	/* HBM goes by way of host memory. */
	guest_ok(trn_copy(one.queue, host, 0, hbm, 0, MIB));
	guest_ok(trn_buffer_export(host, &fd));
	guest_ok(trn_buffer_import(two.context, fd, 0, &other));
	close(fd);
	ck_assert_uint_eq(trn_buffer_size(other), MIB);
	/* The memory outlives what it was made by. */
	guest_ok(trn_buffer_destroy(host));
	guest_ok(trn_buffer_destroy(hbm));
	rig_free(&one);
	guest_ok(trn_read(two.queue, result, other, 0, MIB));
	ck_assert_mem_eq(result, data, MIB);
	guest_ok(trn_buffer_destroy(other));
	rig_free(&two);
	free(data);
	free(result);
}
END_TEST

/* ---- binding --------------------------------------------------------- */

static uint8_t peek(struct rig *rig, uint64_t address)
{
	struct trn_buffer *host = rig_buffer(rig, TRN_PLACEMENT_HOST, 1, 0);
	uint64_t sequence;
	void *pointer;
	uint8_t byte;

	trn_packet_copy(trn_queue_packet(rig->queue), trn_buffer_address(host), address, 1);
	guest_ok(trn_queue_submit(rig->queue, &sequence));
	wait_for(rig, sequence);
	guest_ok(trn_buffer_map(host, &pointer));
	byte = *(uint8_t *)pointer;
	guest_ok(trn_buffer_destroy(host));
	return byte;
}

START_TEST(bind_many_ways)
{
	struct rig rig = rig_make(0, modes[_i]);
	struct trn_buffer *one = rig_buffer(&rig, TRN_PLACEMENT_HBM, 4 * MIB, 0);
	struct trn_buffer *two = rig_buffer(&rig, TRN_PLACEMENT_HOST, 4 * MIB, 0);
	struct trn_range *range;
	uint64_t base;
	uint32_t done;

	guest_ok(trn_fill(rig.queue, one, 0, 4 * MIB, 0x11, 1));
	guest_ok(trn_fill(rig.queue, two, 0, 4 * MIB, 0x22, 1));
	guest_ok(trn_range_create(rig.context, 0, 16 * MIB, 2 * MIB, &range));
	base = trn_range_address(range);

	const struct trn_bind twice[] = {
		{ .range = range, .size = 4 * MIB, .buffer = one },
		{ .range = range, .range_offset = 4 * MIB, .size = 4 * MIB, .buffer = one },
	};
	guest_ok(trn_bind(rig.context, twice, 2, &done));
	ck_assert_uint_eq(done, 2);
	ck_assert_uint_eq(peek(&rig, base), 0x11);
	ck_assert_uint_eq(peek(&rig, base + 8 * MIB - 1), 0x11);
	guest_fails(trn_bind(rig.context, twice, 2, &done), -EEXIST);
	ck_assert_uint_eq(done, 0);

	/* A page of other memory in the midst of a large one. */
	const struct trn_bind page = {
		.op = TRN_BIND_REPLACE,
		.range = range,
		.range_offset = MIB,
		.size = PAGE,
		.buffer = two,
		.buffer_offset = 3 * MIB,
	};
	guest_ok(trn_bind(rig.context, &page, 1, NULL));
	ck_assert_uint_eq(peek(&rig, base + MIB - 1), 0x11);
	ck_assert_uint_eq(peek(&rig, base + MIB), 0x22);
	ck_assert_uint_eq(peek(&rig, base + MIB + PAGE), 0x11);
	ck_assert_uint_eq(peek(&rig, base + 5 * MIB), 0x11);

	/* Bindings hold the memory. */
	guest_ok(trn_buffer_destroy(one));
	ck_assert_uint_eq(peek(&rig, base + 4 * MIB), 0x11);
	guest_ok(trn_range_destroy(range));
	guest_ok(trn_buffer_destroy(two));
	rig_free(&rig);
}
END_TEST

START_TEST(bind_on_a_timeline)
{
	struct rig rig = rig_make(0, TRN_QUEUE_KERNEL);
	struct trn_buffer *hbm = rig_buffer(&rig, TRN_PLACEMENT_HBM, MIB, 0);
	struct trn_timeline *timeline;
	struct trn_range *range;
	uint64_t sequence;
	int fd;

	guest_ok(trn_timeline_create(rig.device, &timeline));
	guest_ok(trn_range_create(rig.context, 0, MIB, 0, &range));
	guest_ok(trn_fill_async(rig.queue, hbm, 0, MIB, 0x33, 1, &sequence));
	guest_ok(trn_queue_export_fence(rig.queue, sequence, &fd));
	guest_ok(trn_timeline_import_fence(timeline, 1, fd));
	close(fd);

	const struct trn_bind bind = { .range = range, .size = MIB, .buffer = hbm };
	const struct trn_sync first[] = {
		{ timeline, 1, TRN_SYNC_WAIT },
		{ timeline, 2, TRN_SYNC_SIGNAL },
	};
	guest_ok(trn_bind_async(rig.context, &bind, 1, first, 2));
	guest_ok(trn_timeline_wait(timeline, 2, trn_deadline(MINUTE)));
	ck_assert_uint_eq(peek(&rig, trn_range_address(range)), 0x33);

	const struct trn_sync second = { timeline, 3, TRN_SYNC_SIGNAL };
	guest_ok(trn_bind_async(rig.context, &bind, 1, &second, 1));
	guest_fails(trn_timeline_wait(timeline, 3, trn_deadline(MINUTE)), -EEXIST);
	const struct trn_sync third[] = {
		{ timeline, 3, TRN_SYNC_WAIT },
		{ timeline, 4, TRN_SYNC_SIGNAL },
	};
	guest_ok(trn_bind_async(rig.context, &bind, 1, third, 2));
	guest_fails(trn_timeline_wait(timeline, 4, trn_deadline(MINUTE)), -EEXIST);
	const struct trn_sync never = { timeline, 9, TRN_SYNC_WAIT };
	guest_fails(trn_bind_async(rig.context, &bind, 1, &never, 1), -EINVAL);

	guest_ok(trn_range_destroy(range));
	guest_ok(trn_timeline_destroy(timeline));
	guest_ok(trn_buffer_destroy(hbm));
	rig_free(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer");
	TCase *cases = tcase_create("transfer");

	tcase_set_timeout(cases, 180);
	tcase_add_loop_test(cases, boxes, 0, 4);
	tcase_add_loop_test(cases, asynchronous_chain, 0, 2);
	tcase_add_test(cases, fence_is_polled);
	tcase_add_loop_test(cases, error_names_the_access, 0, 2);
	tcase_add_loop_test(cases, cpu_visible_hbm, 0, 2);
	tcase_add_loop_test(cases, user_memory, 0, 2);
	tcase_add_test(cases, dma_buf);
	tcase_add_loop_test(cases, bind_many_ways, 0, 2);
	tcase_add_test(cases, bind_on_a_timeline);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
