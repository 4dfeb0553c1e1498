/* SPDX-License-Identifier: MIT */
/*
 * The submit protocol against a device made of a thread, which follows
 * Documentation/device.rst ("Queues") and nothing else.  Both see the same
 * addresses, so the thread sanitizer checks the ordering too.
 */
#include <check.h>
#include <hw/trn_queue.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trn/trn.h>

#include <lib/ring.h>
#include <tests/check_run.h>

#define ENTRIES_MAX   64
#define FENCE_ADDRESS UINT64_C(0x123456789000)

struct fake_device {
	struct trn_packet packets[ENTRIES_MAX];
	struct trn_control control;
	uint32_t doorbell;
	uint64_t fence;
	uint32_t entries;
	uint64_t serial; /* of the last copy; what it has to count up */
	uint32_t sleeps;
	bool stop;
	bool failed;
};

static void execute(struct fake_device *device, const struct trn_packet *packet)
{
	switch (packet->opcode) {
	case TRN_PACKET_COPY:
		if (packet->copy.length != device->serial + 1)
			device->failed = true;
		device->serial = packet->copy.length;
		break;
	case TRN_PACKET_FENCE_WRITE:
		if (packet->fence.address != FENCE_ADDRESS)
			device->failed = true;
		__atomic_store_n(&device->fence, packet->fence.value, __ATOMIC_RELEASE);
		break;
	default:
		device->failed = true;
	}
}

static void *run_device(void *argument)
{
	struct fake_device *device = argument;
	struct trn_control *control = &device->control;
	uint32_t head = 0;

	for (;;) {
		uint32_t tail = __atomic_load_n(&control->tail, __ATOMIC_ACQUIRE);

		if (tail - head > device->entries)
			device->failed = true;
		if (device->failed)
			return NULL;
		if (head != tail) {
			struct trn_packet packet = device->packets[head & (device->entries - 1)];

			execute(device, &packet);
			__atomic_store_n(&control->head, ++head, __ATOMIC_RELEASE);
			continue;
		}
		/* To sleep: say so, then look a last time. */
		__atomic_store_n(&control->need_kick, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&control->tail, __ATOMIC_SEQ_CST) != head) {
			__atomic_store_n(&control->need_kick, 0, __ATOMIC_SEQ_CST);
			continue;
		}
		device->sleeps++;
		while (!__atomic_exchange_n(&device->doorbell, 0, __ATOMIC_ACQUIRE)) {
			if (__atomic_load_n(&device->stop, __ATOMIC_ACQUIRE))
				return NULL;
			sched_yield();
		}
		__atomic_store_n(&control->need_kick, 0, __ATOMIC_SEQ_CST);
	}
}

static struct trn_ring make_ring(struct fake_device *device, uint32_t entries)
{
	memset(device, 0, sizeof(*device));
	device->entries = entries;
	device->control.need_kick = 1;
	device->control.generation = 7;
	return (struct trn_ring){
		.packets = device->packets,
		.control = &device->control,
		.doorbell = &device->doorbell,
		.fence = &device->fence,
		.fence_address = FENCE_ADDRESS,
		.entries = entries,
		.generation = 7,
	};
}

/* Submits @submits batches of random size; the indexes start just before they wrap. */
static void stress(uint32_t entries, uint64_t submits)
{
	static struct fake_device device;
	struct trn_ring ring = make_ring(&device, entries);
	int64_t deadline = trn_deadline(INT64_C(15000000000));
	uint64_t sequence, serial = 0;
	uint32_t tail = 0;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, run_device, &device), 0);
	for (sequence = 1; sequence <= submits; sequence++) {
		uint32_t count = 1 + (uint32_t)rand() % (entries - 1);

		while ((int32_t)(trn_ring_limit(&ring) - tail) < (int32_t)count) {
			ck_assert_msg(trn_deadline(0) < deadline, "a kick was lost");
			sched_yield();
		}
		while (count--)
			trn_packet_copy(&ring.packets[tail++ & (entries - 1)], 0, 0, ++serial);
		tail = trn_ring_submit(&ring, tail, sequence);

		/* Now and then the device may go to sleep. */
		if (rand() % 4)
			continue;
		while (trn_ring_completed(&ring) < sequence) {
			ck_assert_msg(trn_deadline(0) < deadline, "a kick was lost");
			sched_yield();
		}
		ck_assert_uint_eq(device.serial, serial);
	}
	while (trn_ring_completed(&ring) < submits) {
		ck_assert_msg(trn_deadline(0) < deadline, "a kick was lost");
		sched_yield();
	}
	__atomic_store_n(&device.stop, true, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(!device.failed);
	ck_assert_uint_eq(device.serial, serial);
	ck_assert_uint_gt(device.sleeps, 0);
}

START_TEST(no_kick_is_lost)
{
	srand(1);
	stress(4, 20000);
	stress(ENTRIES_MAX, 5000);
}
END_TEST

/*
 * One packet at a time, given a moment after the one before it has finished: the moment in
 * which the device goes to sleep.
 */
START_TEST(submit_meets_sleep)
{
	static struct fake_device device;
	struct trn_ring ring = make_ring(&device, 4);
	int64_t deadline = trn_deadline(INT64_C(60000000000));
	uint64_t sequence, spins;
	pthread_t thread;
	uint32_t tail = 0;
	volatile int delay;

	ck_assert_int_eq(pthread_create(&thread, NULL, run_device, &device), 0);
	for (sequence = 1; sequence <= 100000; sequence++) {
		tail = trn_ring_submit(&ring, tail, sequence);
		for (spins = 1; trn_ring_completed(&ring) < sequence; spins++)
			if (spins % 4096 == 0) {
				ck_assert_msg(trn_deadline(0) < deadline, "a kick was lost");
				sched_yield();
			}
		for (delay = rand() % 64; delay > 0; delay--)
			;
	}
	__atomic_store_n(&device.stop, true, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(!device.failed);
}
END_TEST

START_TEST(fence_packet)
{
	struct fake_device device;
	struct trn_ring ring = make_ring(&device, 4);
	const struct trn_packet *packet = &device.packets[3];

	/* Index 2^32 - 1 is the last place of the ring, and the next tail is 0. */
	ck_assert_uint_eq(trn_ring_submit(&ring, UINT32_MAX, 0x1122334455667788), 0);
	ck_assert_uint_eq(packet->opcode, TRN_PACKET_FENCE_WRITE);
	ck_assert_uint_eq(packet->fence.address, FENCE_ADDRESS);
	ck_assert_uint_eq(packet->fence.value, 0x1122334455667788);
	ck_assert_uint_eq(device.control.tail, 0);
}
END_TEST

START_TEST(doorbell_only_when_asked_for)
{
	struct fake_device device;
	struct trn_ring ring = make_ring(&device, 4);

	device.control.need_kick = 0;
	trn_ring_submit(&ring, 0, 1);
	ck_assert_uint_eq(device.doorbell, 0);
	device.control.need_kick = 1;
	trn_ring_submit(&ring, 1, 2);
	ck_assert_uint_ne(device.doorbell, 0);
}
END_TEST

START_TEST(states)
{
	static const struct {
		uint32_t status;
		uint32_t generation;
		uint32_t result;
	} rows[] = {
		{ TRN_CONTROL_RUNNING, 7, TRN_CONTROL_RUNNING },
		{ TRN_CONTROL_RUNNING, 8, TRN_CONTROL_GONE },
		{ TRN_CONTROL_STOPPED, 8, TRN_CONTROL_STOPPED },
		{ TRN_CONTROL_DESTROYED, 8, TRN_CONTROL_DESTROYED },
		{ TRN_CONTROL_RESET, 8, TRN_CONTROL_RESET },
		{ TRN_CONTROL_GONE, 8, TRN_CONTROL_GONE },
		/* Status comes first, generation after it. */
		{ TRN_CONTROL_STOPPED, 7, TRN_CONTROL_STOPPED },
		{ TRN_CONTROL_GONE + 1, 8, TRN_CONTROL_GONE },
		{ UINT32_MAX, 7, TRN_CONTROL_GONE },
	};
	struct fake_device device;
	struct trn_ring ring = make_ring(&device, 4);
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		device.control.status = rows[i].status;
		device.control.generation = rows[i].generation;
		ck_assert_uint_eq(trn_ring_status(&ring), rows[i].result);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-ring");
	TCase *cases = tcase_create("ring");

	tcase_set_timeout(cases, 240);
	tcase_add_test(cases, no_kick_is_lost);
	tcase_add_test(cases, submit_meets_sleep);
	tcase_add_test(cases, fence_packet);
	tcase_add_test(cases, doorbell_only_when_asked_for);
	tcase_add_test(cases, states);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
