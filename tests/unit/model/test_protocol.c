// SPDX-License-Identifier: MIT
/*
 * The two protocols on the control page, tried in every order: software's steps
 * between any two steps of the device.  A lost kick or a lost wake-up would leave
 * the device asleep with a packet in the ring, or a waiter asleep with its fence reached.
 */
#include <pthread.h>
#include <time.h>

#include "rig.h"
#include "suites.h"

#define FENCE_VA 0x10000ULL

static struct rig rig;
static struct rig_space space;
static struct rig_queue queue;
static __le64 *fence;

static void setup(void)
{
	rig_ready(&rig);
	rig_space_create(&rig, &space, 0);
	rig_queue_create(&rig, &queue, 0, &space, &space, 8);
	fence = rig_map_host_page(&rig, &space, FENCE_VA);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static enum trn_queue_phase phase(void)
{
	return rig.chip->queue[queue.id]->phase;
}

/*
 * Submit.  Software has four steps.  before[i] is the number of device steps that run
 * before software's step i; the fifth group runs after the doorbell.
 */
struct submitter {
	unsigned int step;
	bool kick;
	struct trn_packet packet;
};

static void software_step(struct submitter *submitter)
{
	switch (submitter->step++) {
	case 0:
		rig_put(&queue, submitter->packet);
		break;
	case 1:
		rig_store_tail(&queue);
		break;
	case 2:
		submitter->kick = rig_need_kick(&queue);
		break;
	case 3:
		if (submitter->kick)
			rig_kick(&rig, queue.id);
		break;
	}
}

/* More steps than a device that is awake takes until it sleeps, with a packet to execute. */
#define WINDOW 14

static void interleave_submit(unsigned int lead)
{
	unsigned int phases_seen = 0, total = 0;

	for (unsigned int a = 0; a <= WINDOW; a++) {
		for (unsigned int b = 0; a + b <= WINDOW; b++) {
			for (unsigned int c = 0; a + b + c <= WINDOW; c++) {
				for (unsigned int d = 0; a + b + c + d <= WINDOW; d++) {
					const unsigned int before[] = { a, b, c, d };
					struct submitter submitter = { .packet = rig_nop() };
					uint32_t head = rig_head(&queue);

					/* A packet earlier, so that the device is on its way to
					 * sleep. */
					rig_run(&rig);
					ck_assert_int_eq(phase(), TRN_PHASE_ASLEEP);
					rig_submit(&rig, &queue, rig_nop());
					for (unsigned int i = 0; i < lead; i++)
						rig_step(&rig);
					for (unsigned int i = 0; i < 4; i++) {
						for (unsigned int j = 0; j < before[i]; j++)
							rig_step(&rig);
						phases_seen |= 1U << phase();
						software_step(&submitter);
					}
					/* No more software: the device must finish by itself. */
					rig_run(&rig);
					ck_assert_uint_eq(rig_head(&queue), head + 2);
					ck_assert_int_eq(phase(), TRN_PHASE_ASLEEP);
					total++;
				}
			}
		}
	}
	/* All compositions of at most WINDOW into 4 parts: (WINDOW + 4 choose 4). */
	ck_assert_uint_eq(total, 18 * 17 * 16 * 15 / 24);
	/* Software met the device in every phase of going to sleep. */
	ck_assert_uint_ne(phases_seen & 1U << TRN_PHASE_ASLEEP, 0);
	ck_assert_uint_ne(phases_seen & 1U << TRN_PHASE_WAKE, 0);
	ck_assert_uint_ne(phases_seen & 1U << TRN_PHASE_POLL, 0);
	ck_assert_uint_ne(phases_seen & 1U << TRN_PHASE_ARM, 0);
	ck_assert_uint_ne(phases_seen & 1U << TRN_PHASE_RECHECK, 0);
}

START_TEST(submit_in_every_order)
{
	interleave_submit(0);
}
END_TEST

START_TEST(submit_in_every_order_late)
{
	/* wake, poll, fetch, execute, retire: the device is about to poll an empty ring */
	interleave_submit(5);
}
END_TEST

/* The same for a device that stays awake for a few polls. */
START_TEST(submit_while_polling)
{
	for (unsigned int steps = 0; steps < 40; steps++) {
		uint32_t head = rig_head(&queue);

		rig.chip->poll_ns = 2000;
		rig_submit(&rig, &queue, rig_nop());
		for (unsigned int i = 0; i < steps; i++)
			rig_step(&rig);
		rig_submit(&rig, &queue, rig_nop());
		rig_run(&rig);
		ck_assert_uint_eq(rig_head(&queue), head + 2);
	}
}
END_TEST

START_TEST(work_that_comes_soon_is_polled_for)
{
	const struct trn_queue *self = rig.chip->queue[queue.id];

	/* Any pause is long beside this time, */
	rig.chip->poll_ns = 1;
	rig_submit(&rig, &queue, rig_nop());
	rig_run(&rig);
	ck_assert_uint_eq(self->poll_ns, rig.chip->poll_ns);
	/* and none beside this. */
	rig.chip->poll_ns = 1000000000000;
	rig_submit(&rig, &queue, rig_nop());
	rig_step(&rig);
	ck_assert_uint_gt(self->poll_ns, rig.chip->poll_ns);
}
END_TEST

/* Two submitters' worth: a second packet whose software steps are split as well. */
START_TEST(submit_twice_without_waiting)
{
	for (unsigned int first = 0; first < WINDOW; first++) {
		for (unsigned int second = 0; second < WINDOW; second++) {
			for (unsigned int split = 0; split < 4; split++) {
				struct submitter submitter = { .packet = rig_nop() };
				uint32_t head = rig_head(&queue);

				rig_submit(&rig, &queue, rig_nop());
				for (unsigned int i = 0; i < first; i++)
					rig_step(&rig);
				while (submitter.step < split)
					software_step(&submitter);
				for (unsigned int i = 0; i < second; i++)
					rig_step(&rig);
				while (submitter.step < 4)
					software_step(&submitter);
				rig_run(&rig);
				ck_assert_uint_eq(rig_head(&queue), head + 2);
			}
		}
	}
}
END_TEST

/* What the interleavings rest on: the device goes through the phases of the specification. */
START_TEST(phases_of_going_to_sleep)
{
	static const enum trn_queue_phase phases[] = {
		TRN_PHASE_WAKE,	   TRN_PHASE_POLL,    TRN_PHASE_FETCH,
		TRN_PHASE_EXECUTE, TRN_PHASE_RETIRE,  TRN_PHASE_POLL,
		TRN_PHASE_ARM,	   TRN_PHASE_RECHECK, TRN_PHASE_ASLEEP,
	};

	ck_assert_uint_eq(trn_load32(&queue.control->need_kick), 1);
	rig_submit(&rig, &queue, rig_nop());
	trn_queue_kick(rig.chip->queue[0]);
	for (unsigned int i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		ck_assert_int_eq(phase(), phases[i]);
		/* need_kick is 1 from ARM to WAKE, and only then. */
		ck_assert_uint_eq(trn_load32(&queue.control->need_kick),
				  phases[i] == TRN_PHASE_WAKE || phases[i] == TRN_PHASE_RECHECK ||
					  phases[i] == TRN_PHASE_ASLEEP);
		ck_assert_uint_eq(rig_head(&queue), i > 4);
		rig_step(&rig);
	}
}
END_TEST

/*
 * Wait.  The waiter stores wake_at, then loads the fence and sleeps if it has not
 * been reached.  It sleeps for good unless an interrupt came after it had slept, or
 * one is pending: interrupts are counted from before the store of wake_at.
 */
START_TEST(wait_in_every_order)
{
	unsigned int slept = 0, reached = 0;

	for (unsigned int a = 0; a <= WINDOW; a++) {
		for (unsigned int b = 0; a + b <= WINDOW; b++) {
			uint64_t target = trn_load64(fence) + 1;
			unsigned int interrupts = rig_interrupts(&rig, queue.vector);
			bool sleeps;

			rig_submit(&rig, &queue,
				   rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, target));
			for (unsigned int i = 0; i < a; i++)
				rig_step(&rig);
			trn_store64(&queue.control->wake_at, target);
			for (unsigned int i = 0; i < b; i++)
				rig_step(&rig);
			trn_full_barrier();
			sleeps = trn_load64(fence) < target;
			rig_run(&rig);
			ck_assert_uint_eq(trn_load64(fence), target);
			if (sleeps) {
				/* Exactly one: it was armed for this value alone. */
				ck_assert_uint_eq(rig_interrupts(&rig, queue.vector),
						  interrupts + 1);
				slept++;
			} else {
				reached++;
			}
			trn_store64(&queue.control->wake_at, 0);
		}
	}
	ck_assert_uint_gt(slept, 0);
	ck_assert_uint_gt(reached, 0);
}
END_TEST

/* A waiter that already sleeps on a later value must not be forgotten by an earlier one. */
START_TEST(wait_for_a_later_value)
{
	trn_store64(&queue.control->wake_at, 3);
	for (uint64_t value = 1; value <= 4; value++) {
		rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, value));
		ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), value < 3 ? 0 : value - 2);
	}
}
END_TEST

START_TEST(no_interrupt_unless_armed)
{
	rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, UINT64_MAX));
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 0);
	trn_store64(&queue.control->wake_at, UINT64_MAX);
	rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, UINT64_MAX - 1));
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 0);
	rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, UINT64_MAX));
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
}
END_TEST

/*
 * The same two protocols against a real executor.  Whoever loses a kick or an
 * interrupt here waits for ever; LIMIT tells that from a slow machine.
 */
#define LIMIT_S 60

static uint64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

static void pause_briefly(unsigned int i)
{
	/* From nothing to well beyond the device's polling time. */
	const struct timespec time = { .tv_nsec = (long)(i % 8) * 20000 };

	if (time.tv_nsec)
		nanosleep(&time, NULL);
}

START_TEST(stress_submit)
{
	const unsigned int count = 4000;
	uint64_t limit;

	rig.chip->poll_ns = _i ? 4000 : 0;
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	for (unsigned int i = 0; i < count; i++) {
		rig_submit(&rig, &queue, rig_nop());
		if (i % 3 == 0)
			continue; /* up to two packets in flight */
		limit = seconds() + LIMIT_S;
		while (rig_head(&queue) != queue.tail)
			ck_assert_msg(seconds() < limit, "packet %u is never executed", i);
		pause_briefly(i / 3);
	}
	limit = seconds() + LIMIT_S;
	while (rig_head(&queue) != count)
		ck_assert_msg(seconds() < limit, "the last packet is never executed");
	trn_chip_stop(rig.chip);
}
END_TEST

START_TEST(stress_wait)
{
	const unsigned int count = 4000;
	unsigned int slept = 0;

	rig.chip->poll_ns = 20000;
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	for (unsigned int i = 1; i <= count; i++) {
		uint64_t limit = seconds() + LIMIT_S;
		unsigned int seen;

		rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, i));
		for (unsigned int spin = 0; spin < i * 7 % 300; spin++)
			trn_full_barrier();
		trn_store64(&queue.control->wake_at, i);
		trn_full_barrier();
		/* An interrupt may still be for the fence before: look again after each. */
		for (;;) {
			seen = rig_interrupts(&rig, queue.vector);
			trn_full_barrier();
			if (trn_load64(fence) >= i)
				break;
			slept++;
			while (rig_interrupts(&rig, queue.vector) == seen)
				ck_assert_msg(seconds() < limit, "wake-up for %u is lost", i);
		}
		trn_store64(&queue.control->wake_at, 0);
	}
	ck_assert_uint_gt(slept, 0);
	trn_chip_stop(rig.chip);
}
END_TEST

/* Many submitters, each on a queue of its own, with one chip. */
#define SUBMITTERS 4

static struct rig_queue many[SUBMITTERS];

static void *submit_many(void *data)
{
	struct rig_queue *own = data;

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t limit = seconds() + LIMIT_S;

		rig_submit(&rig, own, rig_nop());
		while (rig_head(own) != own->tail)
			ck_assert_msg(seconds() < limit, "queue %u, packet %u", own->id, i);
	}
	return NULL;
}

START_TEST(stress_queues)
{
	pthread_t thread[SUBMITTERS];

	for (uint16_t i = 0; i < SUBMITTERS; i++)
		rig_queue_create(&rig, &many[i], 10 + i, &space, &space, 4);
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	for (unsigned int i = 0; i < SUBMITTERS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, submit_many, &many[i]), 0);
	for (unsigned int i = 0; i < SUBMITTERS; i++)
		pthread_join(thread[i], NULL);
	trn_chip_stop(rig.chip);
}
END_TEST

Suite *protocol_suite(void)
{
	Suite *suite = suite_create("protocol");
	TCase *tcase = tcase_create("protocol");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 200);
	tcase_add_test(tcase, phases_of_going_to_sleep);
	tcase_add_test(tcase, submit_in_every_order);
	tcase_add_test(tcase, submit_in_every_order_late);
	tcase_add_test(tcase, submit_while_polling);
	tcase_add_test(tcase, work_that_comes_soon_is_polled_for);
	tcase_add_test(tcase, submit_twice_without_waiting);
	tcase_add_test(tcase, wait_in_every_order);
	tcase_add_test(tcase, wait_for_a_later_value);
	tcase_add_test(tcase, no_interrupt_unless_armed);
	tcase_add_loop_test(tcase, stress_submit, 0, 2);
	tcase_add_test(tcase, stress_wait);
	tcase_add_test(tcase, stress_queues);
	suite_add_tcase(suite, tcase);
	return suite;
}
