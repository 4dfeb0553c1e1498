/* SPDX-License-Identifier: MIT */
/* Queues of libtrn on the driver of fake.c, in both modes. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/drm.h>
#include <drm/trn_accel.h>
#include <hw/trn_admin.h>
#include <tests/check_run.h>
#include <trn/trn.h>

#include "fake.h"
#include "fake_queue.h"

/* One copy of 8 bytes per packet, in order; values seen through the ring's wrap-around. */
static void copy_many(enum trn_queue_mode mode, uint32_t entries, uint32_t copies)
{
	struct trn_buffer *memory;
	uint64_t *words, sequence = 0;
	uint32_t i, batch;

	start(mode, entries);
	memory = buffer(TRN_PLACEMENT_HOST, (copies + 1) * sizeof(*words));
	words = (uint64_t *)pointer(memory);
	words[0] = 0x600df00d;
	/* Each copy takes what the one before it wrote. */
	for (i = 0; i < copies;) {
		batch = 1 + (uint32_t)rand() % trn_queue_capacity(queue);
		if (batch > copies - i)
			batch = copies - i;
		ck_assert_int_eq(trn_queue_reserve(queue, batch, TRN_FOREVER), 0);
		while (batch--) {
			struct trn_packet *packet = trn_queue_packet(queue);
			uint64_t address = trn_buffer_address(memory) + i * sizeof(*words);

			ck_assert_ptr_nonnull(packet);
			trn_packet_copy(packet, address + sizeof(*words), address, sizeof(*words));
			i++;
		}
		if (rand() % 3)
			ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	}
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	ck_assert_int_eq(trn_queue_wait(queue, sequence, TRN_FOREVER), 0);
	ck_assert_uint_eq(words[copies], 0x600df00d);
	/* Waiting for what is long past costs nothing and succeeds. */
	ck_assert_int_eq(trn_queue_wait(queue, 1, 0), 0);
	ck_assert_int_eq(trn_queue_poll(queue, sequence), 1);
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	stop();
}

START_TEST(many_copies_in_order)
{
	srand(42);
	copy_many(modes[_i], 4, 3000);
	copy_many(modes[_i], 64, 8000);
	copy_many(modes[_i], 4096, 12000);
}
END_TEST

START_TEST(ring_full_gives_null)
{
	uint32_t capacity, i;
	uint64_t sequence;

	start(modes[_i], 16);
	capacity = trn_queue_capacity(queue);
	ck_assert_uint_ge(capacity, 14);
	fake_hold(true);
	for (i = 0; i < capacity; i++)
		trn_packet_nop(trn_queue_packet(queue));
	ck_assert_ptr_null(trn_queue_packet(queue));
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	ck_assert_uint_eq(sequence, 1);
	ck_assert_int_eq(trn_queue_poll(queue, 1), 0);
	ck_assert_int_eq(trn_queue_wait(queue, 1, trn_deadline(1000000)), -ETIME);
	if (modes[_i] == TRN_QUEUE_USER) {
		ck_assert_ptr_null(trn_queue_packet(queue));
		ck_assert_int_eq(trn_queue_reserve(queue, 1, trn_deadline(1000000)), -ETIME);
	}
	fake_hold(false);
	ck_assert_int_eq(trn_queue_reserve(queue, capacity, TRN_FOREVER), 0);
	ck_assert_int_eq(trn_queue_wait(queue, 1, TRN_FOREVER), 0);
	for (i = 0; i < capacity; i++)
		ck_assert_ptr_nonnull(trn_queue_packet(queue));
	stop();
}
END_TEST

START_TEST(wrong_arguments)
{
	uint64_t sequence = 99;
	struct trn_queue *none;

	start(modes[_i], 16);
	ck_assert_int_eq(trn_queue_create(context, modes[_i], 0, &none), -EINVAL);
	ck_assert_int_eq(trn_queue_create(context, modes[_i], 2, &none), -EINVAL);
	ck_assert_int_eq(trn_queue_create(context, modes[_i], 24, &none), -EINVAL);
	ck_assert_int_eq(trn_queue_create(context, modes[_i], 8192, &none), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "8192"));
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "4 to 4096"));
	ck_assert_int_eq(trn_queue_create(context, 2, 16, &none), -EINVAL);
	ck_assert_int_eq(trn_queue_reserve(queue, 0, TRN_FOREVER), -EINVAL);
	ck_assert_int_eq(trn_queue_reserve(queue, 16, TRN_FOREVER), -EINVAL);
	/* Nothing submitted, nothing to wait for. */
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	ck_assert_uint_eq(sequence, 0);
	ck_assert_int_eq(trn_queue_wait(queue, 0, 0), 0);
	ck_assert_int_eq(trn_queue_wait(queue, 1, TRN_FOREVER), -EINVAL);
	ck_assert_int_eq(trn_queue_poll(queue, 1), -EINVAL);
	stop();
}
END_TEST

static void assert_says(const char *text)
{
	ck_assert_msg(strstr(trn_error_message(), text), "\"%s\" lacks \"%s\"", trn_error_message(),
		      text);
}

static uint64_t submit_nop(void)
{
	uint64_t sequence;

	trn_packet_nop(trn_queue_packet(queue));
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	return sequence;
}

START_TEST(failure_is_told)
{
	/* A kernel queue knows more. */
	int expected = modes[_i] == TRN_QUEUE_KERNEL ? -EFAULT : -EIO;
	uint64_t good, bad;

	start(modes[_i], 16);
	good = submit_nop();
	ck_assert_int_eq(trn_queue_wait(queue, good, TRN_FOREVER), 0);
	fake_break_next_packet();
	bad = submit_nop();
	ck_assert_int_eq(trn_queue_wait(queue, bad, TRN_FOREVER), expected);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "read from 0x1234000"));
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "host memory"));
	ck_assert_int_eq(trn_queue_poll(queue, bad), expected);
	/* What had succeeded stays so. */
	ck_assert_int_eq(trn_queue_wait(queue, good, TRN_FOREVER), 0);
	trn_packet_nop(trn_queue_packet(queue));
	ck_assert_int_eq(trn_queue_submit(queue, NULL), -EIO);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "destroy"));
	stop();
}
END_TEST

/* What a packet does wrong, and what is said about it. */
START_TEST(errors_are_exact)
{
	static const struct {
		uint64_t to, from; /* 0 = an address that is right */
		uint32_t reason, access;
		const char *text;
	} rows[] = {
		{ 0, 0x5555000, TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_READ,
		  "read from 0x5555000, where nothing is bound" },
		{ 0x6666000, 0, TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE,
		  "wrote to 0x6666000, where nothing is bound" },
	};
	struct trn_queue_error error;
	struct trn_buffer *memory, *readonly;
	uint64_t sequence;
	size_t i;

	start(modes[_i], 16);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	ck_assert_int_eq(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 4096,
					   TRN_BUFFER_READONLY, &readonly),
			 0);
	ck_assert_int_eq(trn_queue_error(queue, &error), 0);
	ck_assert_uint_eq(error.reason, 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		trn_packet_copy(trn_queue_packet(queue),
				rows[i].to ? rows[i].to : trn_buffer_address(memory),
				rows[i].from ? rows[i].from : trn_buffer_address(memory), 8);
		ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
		ck_assert_int_lt(trn_queue_wait(queue, sequence, TRN_FOREVER), 0);
		ck_assert_msg(strstr(trn_error_message(), rows[i].text), "%s", trn_error_message());
		ck_assert_int_eq(trn_queue_error(queue, &error), 0);
		ck_assert_uint_eq(error.reason, rows[i].reason);
		ck_assert_uint_eq(error.access, rows[i].access);
		ck_assert_uint_eq(error.address, rows[i].to | rows[i].from);
		ck_assert_uint_eq(error.packet, 0);
		ck_assert_int_eq(trn_queue_destroy(queue), 0);
		ck_assert_int_eq(trn_queue_create(context, modes[_i], 16, &queue), 0);
	}
	ck_assert_int_lt(trn_fill(queue, readonly, 8, 8, 0, 8), 0);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "without that access"));
	ck_assert_int_eq(trn_queue_error(queue, &error), 0);
	ck_assert_uint_eq(error.reason, TRN_STOP_FAULT_PERMISSION);
	ck_assert_uint_eq(error.address, trn_buffer_address(readonly) + 8);
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	ck_assert_int_eq(trn_buffer_destroy(readonly), 0);
	stop();
}
END_TEST

/* A driver that does not answer the question: the error stays, with less of a reason. */
START_TEST(unknown_reason)
{
	int expected = modes[_i] == TRN_QUEUE_KERNEL ? -EFAULT : -EIO;

	start(modes[_i], 16);
	fake_break_next_packet();
	fake_fail(DRM_IOCTL_TRN_QUEUE_ERROR, 0, -EINVAL);
	ck_assert_int_eq(trn_queue_wait(queue, submit_nop(), TRN_FOREVER), expected);
	assert_says("it stopped: destroy it");
	stop();
}
END_TEST

/* A submit that finds out that an older one failed is not itself at a bad address. */
START_TEST(older_failure)
{
	uint64_t sequence;
	uint32_t i;

	start(TRN_QUEUE_KERNEL, 4);
	fake_hold(true);
	fake_break_next_packet();
	for (i = 0; i < 4; i++)
		submit_nop();
	fake_hold(false);
	trn_packet_nop(trn_queue_packet(queue));
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), -EIO);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "an earlier submit failed"));
	stop();
}
END_TEST

START_TEST(gone)
{
	uint64_t sequence;

	start(modes[_i], 16);
	fake_hold(true);
	sequence = submit_nop();
	fake_kill();
	if (modes[_i] == TRN_QUEUE_USER)
		ck_assert_int_eq(trn_queue_wait(queue, sequence, TRN_FOREVER), -ENODEV);
	trn_packet_nop(trn_queue_packet(queue));
	if (modes[_i] == TRN_QUEUE_KERNEL)
		ck_assert_int_eq(trn_queue_submit(queue, NULL), -ENODEV);
	/* Everything can still be destroyed. */
	stop();
}
END_TEST

/* A submit or packet that ran too long: not to be taken for a deadline that passed. */
START_TEST(too_long)
{
	int expected = modes[_i] == TRN_QUEUE_KERNEL ? -ETIMEDOUT : -EIO;
	struct trn_queue_error error;
	uint64_t sequence;

	start(modes[_i], 16);
	fake_stop_at_next_packet(TRN_STOP_TIME_LIMIT);
	sequence = submit_nop();
	ck_assert_int_eq(trn_queue_wait(queue, sequence, TRN_FOREVER), expected);
	assert_says("longer than the queue's time limit");
	assert_says("destroy it and make a new one");
	ck_assert_int_eq(trn_queue_poll(queue, sequence), expected);
	ck_assert_int_eq(trn_queue_error(queue, &error), 0);
	ck_assert_uint_eq(error.reason, TRN_STOP_TIME_LIMIT);
	stop();
}
END_TEST

/* All of a context is lost: each call says so, what there is can be destroyed, a new one works. */
START_TEST(reset)
{
	struct trn_buffer *memory, *unused;
	struct trn_recovery recovery;
	struct trn_range *range;
	struct trn_bind unmap;
	uint64_t sequence;

	start(modes[_i], 16);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	ck_assert_int_eq(trn_range_create(context, 0, 4096, 0, &range), 0);
	unmap = (struct trn_bind){ .op = TRN_BIND_UNMAP, .range = range, .size = 4096 };
	ck_assert_int_eq(trn_context_status(context), 0);
	fake_hold(true);
	sequence = submit_nop();
	fake_reset();
	fake_hold(false);

	ck_assert_int_eq(trn_queue_wait(queue, sequence, TRN_FOREVER), -EIO);
	assert_says("reset");
	assert_says("create a new one");
	ck_assert_int_eq(trn_queue_poll(queue, sequence), -EIO);
	assert_says("reset");
	trn_packet_nop(trn_queue_packet(queue));
	ck_assert_int_eq(trn_queue_submit(queue, NULL), -EIO);
	assert_says("reset");
	ck_assert_int_eq(trn_context_status(context), -EIO);
	assert_says("reset");
	ck_assert_int_eq(trn_bind(context, &unmap, 1, NULL), -EIO);
	assert_says("reset");
	ck_assert_int_eq(
		trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 4096, 0, &unused),
		-EIO);
	ck_assert_int_eq(trn_queue_destroy(queue), 0);
	ck_assert_int_eq(trn_queue_create(context, modes[_i], 16, &queue), -EIO);
	assert_says("reset");
	ck_assert_int_eq(trn_range_destroy(range), 0);
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	ck_assert_int_eq(trn_context_destroy(context), 0);
	ck_assert_int_eq(trn_device_recovery(device, &recovery), 0);
	ck_assert_uint_eq(recovery.queue_stops, 1);
	ck_assert_uint_eq(recovery.queue_resets, 2);
	ck_assert_uint_eq(recovery.context_resets, 3);
	ck_assert_uint_eq(recovery.core_resets, 6);
	ck_assert_uint_eq(recovery.function_resets, 1);
	ck_assert_uint_eq(recovery.contexts_lost, 5);

	ck_assert_int_eq(trn_context_create(device, &context), 0);
	ck_assert_int_eq(trn_context_status(context), 0);
	ck_assert_int_eq(trn_queue_create(context, modes[_i], 16, &queue), 0);
	ck_assert_int_eq(trn_queue_wait(queue, submit_nop(), TRN_FOREVER), 0);
	stop();
}
END_TEST

/* ---- attributes ------------------------------------------------------ */

START_TEST(attributes)
{
	struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = modes[_i],
		.entries = 16,
		.priority = TRN_PRIORITY_HIGH,
		.timeout_ms = 250,
	};
	struct {
		struct trn_queue_attributes known;
		uint32_t later[2];
	} larger = { .known = attributes };
	struct drm_trn_queue_create create;
	struct trn_queue *other;

	start(modes[_i], 16);
	create = fake_last_queue();
	ck_assert_uint_eq(create.priority, DRM_TRN_PRIORITY_NORMAL);
	ck_assert_uint_eq(create.timeout_ms, 0);
	ck_assert_int_eq(trn_queue_create_attributes(context, &attributes, &other), 0);
	create = fake_last_queue();
	ck_assert_uint_eq(create.priority, DRM_TRN_PRIORITY_HIGH);
	ck_assert_uint_eq(create.timeout_ms, 250);
	ck_assert_uint_eq(create.ring_entries, 16);
	ck_assert_int_eq(trn_queue_destroy(other), 0);

	/* A program built for a later library. */
	larger.known.size = sizeof(larger);
	larger.known.priority = TRN_PRIORITY_LOW;
	ck_assert_int_eq(trn_queue_create_attributes(context, &larger.known, &other), 0);
	ck_assert_uint_eq(fake_last_queue().priority, DRM_TRN_PRIORITY_LOW);
	ck_assert_int_eq(trn_queue_destroy(other), 0);
	larger.later[1] = 1;
	ck_assert_int_eq(trn_queue_create_attributes(context, &larger.known, &other), -E2BIG);
	assert_says("bytes");

	attributes.size = 0;
	ck_assert_int_eq(trn_queue_create_attributes(context, &attributes, &other), -EINVAL);
	assert_says("size has to be");
	attributes.size = sizeof(attributes);
	attributes.priority = 3;
	ck_assert_int_eq(trn_queue_create_attributes(context, &attributes, &other), -EINVAL);
	assert_says("priority 3");
	stop();
}
END_TEST

/* What the driver refuses, and the words for it. */
START_TEST(refused)
{
	static const struct {
		int error;
		const char *user, *kernel;
	} rows[] = {
		{ -EDQUOT, "user_queue_percent", "user_queue_percent" },
		{ -ENOSPC, "all queues of the chip", "all queues of the chip" },
		{ -EACCES, "CAP_SYS_NICE", "CAP_SYS_NICE" },
		{ -EINVAL, "7000 ms is more than the module parameter packet_timeout_ms",
		  "7000 ms is more than the module parameter job_timeout_ms" },
		{ -ENODEV, "the chip is gone", "the chip is gone" },
	};
	struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = modes[_i],
		.entries = 16,
		.timeout_ms = 7000,
	};
	struct trn_context *other;
	struct trn_queue *none;
	size_t i;

	start(modes[_i], 16);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_fail(DRM_IOCTL_TRN_QUEUE_CREATE, 0, rows[i].error);
		ck_assert_int_eq(trn_queue_create_attributes(context, &attributes, &none),
				 rows[i].error);
		assert_says(modes[_i] == TRN_QUEUE_USER ? rows[i].user : rows[i].kernel);
	}
	fake_fail(DRM_IOCTL_TRN_CONTEXT_CREATE, 0, -EDQUOT);
	ck_assert_int_eq(trn_context_create(device, &other), -EDQUOT);
	assert_says("user_context_percent");
	stop();
}
END_TEST

/* ---- eventfd --------------------------------------------------------- */

static uint64_t count_of(int event)
{
	uint64_t count = 0;

	return read(event, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

START_TEST(eventfd_is_told)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pollfd wait = { .fd = event, .events = POLLIN };
	uint64_t sequence;

	start(modes[_i], 16);
	/* Nothing to wait for. */
	ck_assert_int_eq(trn_queue_notify(queue, 0, event), 0);
	ck_assert_uint_eq(count_of(event), 1);
	ck_assert_int_eq(trn_queue_notify(queue, 1, event), -EINVAL);

	fake_hold(true);
	sequence = submit_nop();
	ck_assert_int_eq(trn_queue_notify(queue, sequence, event), 0);
	ck_assert_uint_eq(count_of(event), 0);
	fake_hold(false);
	ck_assert_int_eq(poll(&wait, 1, 60000), 1);
	ck_assert_uint_eq(count_of(event), 1);
	ck_assert_int_eq(trn_queue_poll(queue, sequence), 1);
	/* Reached, and known to be. */
	ck_assert_int_eq(trn_queue_notify(queue, sequence, event), 0);
	ck_assert_uint_eq(count_of(event), 1);
	ck_assert_int_eq(trn_queue_notify(queue, sequence, -1), -EBADF);
	assert_says("-1 is not an eventfd");
	ck_assert_int_eq(trn_queue_notify(queue, sequence, STDIN_FILENO), -EINVAL);

	/* A failure too, and poll() tells which. */
	fake_break_next_packet();
	fake_hold(true);
	sequence = submit_nop();
	ck_assert_int_eq(trn_queue_notify(queue, sequence, event), 0);
	fake_hold(false);
	ck_assert_int_eq(poll(&wait, 1, 60000), 1);
	ck_assert_int_lt(trn_queue_poll(queue, sequence), 0);
	assert_says("read from");
	close(event);
	stop();
}
END_TEST

START_TEST(eventfds_are_limited)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), i;
	struct pollfd wait = { .fd = event, .events = POLLIN };
	uint64_t sequence;

	start(TRN_QUEUE_USER, 16);
	fake_hold(true);
	sequence = submit_nop();
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(trn_queue_notify(queue, sequence, event), 0);
	ck_assert_int_eq(trn_queue_notify(queue, sequence, event), -ENOSPC);
	assert_says("256 eventfds");
	fake_reset();
	ck_assert_int_eq(poll(&wait, 1, 60000), 1);
	ck_assert_uint_eq(count_of(event), 4);
	ck_assert_int_eq(trn_queue_notify(queue, sequence, event), -EIO);
	assert_says("reset");
	close(event);
	stop();
}
END_TEST

/* ---- points of timelines --------------------------------------------- */

/* Submits a copy of 8 bytes within @memory that waits for one point and signals another. */
static uint64_t submit_copy(struct trn_queue *to, struct trn_buffer *memory, uint64_t from_word,
			    uint64_t to_word, struct trn_timeline *timeline, uint64_t wait,
			    uint64_t signal)
{
	const struct trn_sync syncs[2] = {
		{ .timeline = timeline, .point = wait, .kind = TRN_SYNC_WAIT },
		{ .timeline = timeline, .point = signal, .kind = TRN_SYNC_SIGNAL },
	};
	uint64_t address = trn_buffer_address(memory), sequence;

	trn_packet_copy(trn_queue_packet(to), address + 8 * to_word, address + 8 * from_word, 8);
	ck_assert_int_eq(trn_queue_submit_syncs(to, syncs, 2, &sequence), 0);
	return sequence;
}

/* One queue's packets begin when another's have finished. */
START_TEST(points_order_queues)
{
	struct trn_timeline *timeline;
	struct trn_buffer *memory;
	struct trn_queue *other;
	uint64_t *words, first, second;
	struct trn_sync gate;

	start(TRN_QUEUE_KERNEL, 16);
	ck_assert_int_eq(trn_queue_create(context, TRN_QUEUE_KERNEL, 16, &other), 0);
	ck_assert_int_eq(trn_timeline_create(device, &timeline), 0);
	memory = buffer(TRN_PLACEMENT_HOST, 4096);
	words = (uint64_t *)pointer(memory);
	words[0] = 77;

	/* A point that nobody was told to reach. */
	gate = (struct trn_sync){ .timeline = timeline, .point = 1, .kind = TRN_SYNC_WAIT };
	trn_packet_nop(trn_queue_packet(queue));
	ck_assert_int_eq(trn_queue_submit_syncs(queue, &gate, 1, NULL), -EINVAL);
	assert_says("was not added to its timeline");

	/* @other waits behind @queue, which is held; no packet is taken for point 2. */
	fake_hold(true);
	gate.kind = TRN_SYNC_SIGNAL;
	ck_assert_int_eq(trn_queue_submit_syncs(queue, &gate, 1, &first), 0);
	ck_assert_uint_eq(first, 1);
	first = submit_copy(queue, memory, 0, 1, timeline, 1, 2);
	second = submit_copy(other, memory, 1, 2, timeline, 2, 3);
	ck_assert_int_eq(trn_queue_poll(other, second), 0);
	fake_hold(false);
	ck_assert_int_eq(trn_timeline_wait(timeline, 3, TRN_FOREVER), 0);
	ck_assert_int_eq(trn_queue_wait(queue, first, 0), 0);
	ck_assert_int_eq(trn_queue_wait(other, second, 0), 0);
	ck_assert_uint_eq(words[2], 77);

	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	ck_assert_int_eq(trn_timeline_destroy(timeline), 0);
	ck_assert_int_eq(trn_queue_destroy(other), 0);
	stop();
}
END_TEST

/*
 * A submit whose point has an error does not run and has that error, for ever, though those
 * before and after it succeed and its fence has been used again many times.
 */
START_TEST(point_with_error)
{
	struct trn_timeline *timeline;
	struct trn_buffer *memory;
	struct trn_queue *bad;
	uint64_t *words, good[40], failed[40];
	struct trn_sync sync;
	int fd, i;

	start(TRN_QUEUE_KERNEL, 4);
	memory = buffer(TRN_PLACEMENT_HOST, 4096);
	words = (uint64_t *)pointer(memory);
	words[0] = 1;
	ck_assert_int_eq(trn_timeline_create(device, &timeline), 0);
	/* A point that a failing submit reaches. */
	ck_assert_int_eq(trn_queue_create(context, TRN_QUEUE_KERNEL, 16, &bad), 0);
	sync = (struct trn_sync){ .timeline = timeline, .point = 1, .kind = TRN_SYNC_SIGNAL };
	fake_stop_at_next_packet(TRN_STOP_TIME_LIMIT);
	trn_packet_nop(trn_queue_packet(bad));
	ck_assert_int_eq(trn_queue_submit_syncs(bad, &sync, 1, NULL), 0);
	ck_assert_int_eq(trn_timeline_wait(timeline, 1, TRN_FOREVER), -ETIMEDOUT);
	assert_says("time limit");
	ck_assert_int_eq(trn_timeline_export_fence(timeline, 1, &fd), 0);
	ck_assert_int_eq(trn_fence_wait(fd, TRN_FOREVER), -ETIMEDOUT);
	close(fd);

	for (i = 0; i < 40; i++) {
		good[i] = submit_nop();
		sync = (struct trn_sync){ .timeline = timeline, .point = 1, .kind = TRN_SYNC_WAIT };
		trn_packet_copy(trn_queue_packet(queue), trn_buffer_address(memory) + 8,
				trn_buffer_address(memory), 8);
		ck_assert_int_eq(trn_queue_submit_syncs(queue, &sync, 1, &failed[i]), 0);
		if (i % 3)
			ck_assert_int_eq(trn_queue_wait(queue, good[i], TRN_FOREVER), 0);
	}
	ck_assert_int_eq(trn_queue_wait(queue, submit_nop(), TRN_FOREVER), 0);
	for (i = 0; i < 40; i++) {
		ck_assert_int_eq(trn_queue_wait(queue, good[i], 0), 0);
		ck_assert_int_eq(trn_queue_wait(queue, failed[i], 0), -ETIMEDOUT);
		assert_says("a point that it waited for");
		ck_assert_int_eq(trn_queue_poll(queue, failed[i]), -ETIMEDOUT);
		fd = trn_queue_export_fence(queue, failed[i], &fd) ? -1 : fd;
		ck_assert_int_eq(fd >= 0 ? trn_fence_wait(fd, 0) : -ETIMEDOUT, -ETIMEDOUT);
		if (fd >= 0)
			close(fd);
	}
	/* It did not run. */
	ck_assert_uint_eq(words[1], 0);
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	ck_assert_int_eq(trn_queue_destroy(bad), 0);
	ck_assert_int_eq(trn_timeline_destroy(timeline), 0);
	stop();
}
END_TEST

START_TEST(wrong_points)
{
	struct trn_sync syncs[TRN_SYNCS_MAX] = { 0 };
	struct trn_timeline *timeline;
	uint64_t sequence;
	int i;

	start(modes[_i], 16);
	ck_assert_int_eq(trn_timeline_create(device, &timeline), 0);
	for (i = 0; i < TRN_SYNCS_MAX; i++)
		syncs[i] = (struct trn_sync){
			.timeline = timeline,
			.point = 1,
			.kind = TRN_SYNC_SIGNAL,
		};
	trn_packet_nop(trn_queue_packet(queue));
	if (modes[_i] == TRN_QUEUE_USER) {
		ck_assert_int_eq(trn_queue_submit_syncs(queue, syncs, 1, NULL), -EOPNOTSUPP);
		assert_says("use a kernel queue");
	} else {
		ck_assert_int_eq(trn_queue_submit_syncs(queue, syncs, TRN_SYNCS_MAX, NULL),
				 -EINVAL);
		assert_says("64 points at once are more than 63");
		syncs[0].kind = 7;
		ck_assert_int_eq(trn_queue_submit_syncs(queue, syncs, 1, NULL), -EINVAL);
		syncs[0].point = 0;
		ck_assert_int_eq(trn_queue_submit_syncs(queue, syncs, 1, NULL), -EINVAL);
		assert_says("point 0");
		fake_fail(DRM_IOCTL_TRN_SUBMIT, 0, -ENOSPC);
		trn_packet_nop(trn_queue_packet(queue));
		ck_assert_int_eq(trn_queue_submit(queue, NULL), -ENOSPC);
		assert_says("1024 submits wait");
	}
	/* The packet was dropped. */
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	ck_assert_uint_eq(sequence, 0);
	ck_assert_int_eq(trn_timeline_destroy(timeline), 0);
	stop();
}
END_TEST

/* ---- system calls ---------------------------------------------------- */

START_TEST(no_system_call_while_awake)
{
	unsigned int before, i;

	start(TRN_QUEUE_USER, 64);
	before = fake_ioctls();
	for (i = 0; i < 1000; i++) {
		uint64_t sequence = submit_nop();

		while (!trn_queue_poll(queue, sequence))
			sched_yield();
	}
	ck_assert_uint_eq(fake_ioctls(), before);
	stop();
}
END_TEST

/* ---- several threads ------------------------------------------------- */

static uint64_t submitted; /* atomic */

static void *wait_for_each(void *unused)
{
	uint64_t sequence;

	(void)unused;
	for (sequence = 1; sequence <= 3000; sequence++) {
		while (__atomic_load_n(&submitted, __ATOMIC_ACQUIRE) < sequence)
			sched_yield();
		ck_assert_int_eq(trn_queue_wait(queue, sequence, TRN_FOREVER), 0);
	}
	return NULL;
}

START_TEST(waiters_in_other_threads)
{
	pthread_t thread[2];
	int i;

	start(modes[_i], 64);
	submitted = 0;
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, wait_for_each, NULL), 0);
	for (i = 0; i < 3000; i++) {
		uint64_t sequence;

		ck_assert_int_eq(trn_queue_reserve(queue, 1, TRN_FOREVER), 0);
		sequence = submit_nop();
		__atomic_store_n(&submitted, sequence, __ATOMIC_RELEASE);
	}
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
	stop();
}
END_TEST

/* ---- fork ------------------------------------------------------------ */

/* In the child: exit status 0 if all is refused. */
static int use_in_child(struct trn_buffer *memory)
{
	struct trn_memory use;
	struct trn_device *own;
	uint64_t sequence;
	uint8_t byte = 0;
	void *pointer;

	return !(!trn_queue_packet(queue) && trn_queue_reserve(queue, 1, TRN_FOREVER) == -EPERM &&
		 trn_queue_submit(queue, &sequence) == -EPERM &&
		 trn_queue_wait(queue, 1, TRN_FOREVER) == -EPERM &&
		 trn_queue_poll(queue, 1) == -EPERM && trn_queue_notify(queue, 1, 0) == -EPERM &&
		 trn_queue_submit_syncs(queue, NULL, 0, NULL) == -EPERM &&
		 trn_context_status(context) == -EPERM &&
		 trn_write(queue, memory, 0, &byte, 1) == -EPERM &&
		 trn_buffer_map(memory, &pointer) == -EPERM &&
		 trn_device_memory(device, &use, 1) == -EPERM &&
		 trn_buffer_destroy(memory) == -EPERM && trn_queue_destroy(queue) == -EPERM &&
		 trn_context_destroy(context) == -EPERM && trn_device_close(device) == -EPERM &&
		 strstr(trn_error_message(), "fork") &&
		 !trn_device_open_path(fake_start(NULL), &own) &&
		 trn_device_memory(own, &use, 1) == FAKE_STACKS);
}

START_TEST(child_is_refused)
{
	struct trn_buffer *memory;
	int status;
	pid_t child;

	start(modes[_i], 16);
	memory = buffer(TRN_PLACEMENT_HOST, 4096);
	submit_nop();
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child)
		_exit(use_in_child(memory));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	/* The parent goes on. */
	ck_assert_int_eq(trn_queue_wait(queue, submit_nop(), TRN_FOREVER), 0);
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-queue");
	TCase *cases = tcase_create("queue");

	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, many_copies_in_order, 0, 2);
	tcase_add_loop_test(cases, ring_full_gives_null, 0, 2);
	tcase_add_loop_test(cases, wrong_arguments, 0, 2);
	tcase_add_loop_test(cases, failure_is_told, 0, 2);
	tcase_add_loop_test(cases, errors_are_exact, 0, 2);
	tcase_add_loop_test(cases, unknown_reason, 0, 2);
	tcase_add_test(cases, older_failure);
	tcase_add_loop_test(cases, gone, 0, 2);
	tcase_add_loop_test(cases, too_long, 0, 2);
	tcase_add_loop_test(cases, reset, 0, 2);
	tcase_add_loop_test(cases, attributes, 0, 2);
	tcase_add_loop_test(cases, refused, 0, 2);
	tcase_add_loop_test(cases, eventfd_is_told, 0, 2);
	tcase_add_test(cases, eventfds_are_limited);
	tcase_add_test(cases, points_order_queues);
	tcase_add_test(cases, point_with_error);
	tcase_add_loop_test(cases, wrong_points, 0, 2);
	tcase_add_test(cases, no_system_call_while_awake);
	tcase_add_loop_test(cases, waiters_in_other_threads, 0, 2);
	tcase_add_loop_test(cases, child_is_refused, 0, 2);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
