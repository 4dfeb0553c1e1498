// SPDX-License-Identifier: MIT
/* Log pages RUNNING and QUEUE. */
#include <string.h>

#include "rig.h"
#include "suites.h"

#define FENCE_VA  0x10000ULL	/* in kernel: a fence */
#define DATA_VA	  0x80000000ULL /* in space: 8 MiB of HBM */
#define DATA_SIZE (8ULL << 20)
#define HOUR_NS	  3600000000000ULL

static struct rig rig;
static struct rig_space kernel, space;

static void setup(void)
{
	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 1);
	rig_map_host_page(&rig, &kernel, FENCE_VA);
	rig_map(&rig, &space, DATA_VA, TRN_PTE_TARGET_HBM, 0, DATA_SIZE);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static const struct trn_log_running *running(void)
{
	return rig_log(&rig, TRN_LOG_RUNNING, 0);
}

static const struct trn_log_queue *queue_log(const struct rig_queue *queue)
{
	return rig_log(&rig, TRN_LOG_QUEUE, queue->id);
}

static void assert_zero(const void *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		ck_assert_uint_eq(((const uint8_t *)bytes)[i], 0);
}

static void start_long_packet(struct rig_queue *queue)
{
	rig_submit(&rig, queue, rig_fill(DATA_VA, DATA_SIZE, 0x11, 0));
	while (!rig.chip->queue[queue->id]->done)
		rig_step(&rig);
}

static uint16_t get_log(uint8_t page, uint16_t queue, uint32_t length, uint64_t buffer)
{
	return rig_admin(&rig, (struct trn_admin_command){
				       .opcode = TRN_ADMIN_GET_LOG,
				       .log = { .buffer = htole64(buffer),
						.length = htole32(length),
						.page = page,
						.id = htole16(queue) },
			       });
}

START_TEST(arguments)
{
	uint64_t buffer = rig_alloc(&rig, 4096);
	struct rig_queue queue;

	rig_queue_create(&rig, &queue, 3, &kernel, &space, 3);
	ck_assert_uint_eq(get_log(TRN_LOG_QUEUE, 2, 64, buffer), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(get_log(TRN_LOG_QUEUE, TRN_QUEUES, 64, buffer), TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(get_log(TRN_LOG_QUEUE, 3, 64, RIG_NOWHERE), TRN_ADMIN_DMA_ERROR);
	/* The field is the queue page's. */
	ck_assert_uint_eq(get_log(TRN_LOG_RUNNING, 3, 64, buffer), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(get_log(TRN_LOG_EVENTS, 3, 64, buffer), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(get_log(TRN_LOG_QUEUE, 3, 4096, buffer), TRN_ADMIN_SUCCESS);
	assert_zero((uint8_t *)rig_pointer(&rig, buffer) + sizeof(struct trn_log_queue),
		    4096 - sizeof(struct trn_log_queue));
}
END_TEST

START_TEST(nothing_runs)
{
	struct rig_queue idle, parked, stopped, suspended;

	ck_assert_uint_eq(le32toh(running()->count), 0);
	assert_zero(running(), 4096);
	rig_queue_create(&rig, &idle, 0, &kernel, &space, 3);
	rig_queue_create(&rig, &parked, 1, &kernel, &space, 3);
	rig_queue_create(&rig, &stopped, 2, &kernel, &space, 3);
	rig_queue_create(&rig, &suspended, 3, &kernel, &space, 3);
	rig_execute(&rig, &idle, rig_nop());
	rig_execute(&rig, &stopped, (struct trn_packet){ .opcode = 0x7f });
	start_long_packet(&suspended);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, suspended.id),
			  TRN_ADMIN_SUCCESS);
	rig_execute(&rig, &parked, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	ck_assert_int_eq(rig.chip->queue[parked.id]->phase, TRN_PHASE_PARKED);
	ck_assert_uint_eq(le32toh(running()->count), 0);
}
END_TEST

/* Longest running time of a packet first, not of a queue. */
START_TEST(order_of_running_queues)
{
	const struct trn_log_running *log;
	struct rig_queue queue[3];

	for (uint16_t i = 0; i < 3; i++)
		rig_queue_create(&rig, &queue[i], 10U * i, &kernel, &space, 3);
	/* The first has a past. */
	start_long_packet(&queue[0]);
	rig_pass(&rig, 9 * HOUR_NS);
	rig_run(&rig);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t done;

		start_long_packet(&queue[i]);
		done = rig.chip->queue[queue[i].id]->done;
		while (rig.chip->queue[queue[i].id]->done == done)
			rig_step(&rig);
		rig_pass(&rig, (i == 1 ? 3 : i == 2 ? 2 : 1) * HOUR_NS);
	}
	log = running();
	ck_assert_uint_eq(le32toh(log->count), 3);
	ck_assert_uint_eq(le16toh(log->running[0].queue), 10);
	ck_assert_uint_eq(le16toh(log->running[1].queue), 20);
	ck_assert_uint_eq(le16toh(log->running[2].queue), 0);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t ns = le64toh(log->running[i].packet_ns);
		uint64_t past = i == 2 ? 9 * HOUR_NS : 0;

		ck_assert_uint_eq(le16toh(log->running[i].asid), 1);
		ck_assert_uint_eq(le32toh(log->running[i].packet), i == 2 ? 1 : 0);
		ck_assert_uint_ge(ns, (3 - i) * HOUR_NS);
		ck_assert_uint_lt(ns, (3 - i) * HOUR_NS + HOUR_NS / 2);
		ck_assert_uint_ge(le64toh(log->running[i].queue_ns), past + ns);
		ck_assert_uint_lt(le64toh(log->running[i].queue_ns), past + ns + HOUR_NS / 2);
		assert_zero(log->running[i].reserved, sizeof(log->running[i].reserved));
	}
	assert_zero(&log->running[3], sizeof(log->running[3]) * (TRN_LOG_RUNNING_MAX - 3));
	assert_zero(log->reserved, sizeof(log->reserved));
}
END_TEST

/* More than the page holds: the longest are there. */
START_TEST(too_many_run)
{
	static struct rig_queue queue[130];
	const struct trn_log_running *log;
	bool seen[130] = { false };

	for (uint16_t i = 0; i < 130; i++) {
		rig_queue_create(&rig, &queue[i], i, &kernel, &space, 2);
		rig_submit(&rig, &queue[i], rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	}
	for (unsigned int i = 0; i < 130; i++) {
		while (!rig.chip->queue[i]->done)
			rig_step(&rig);
	}
	/* All but four of them have run for an hour. */
	for (unsigned int i = 0; i < 130; i++) {
		uint64_t done = rig.chip->queue[i]->done;

		while (rig.chip->queue[i]->done == done)
			rig_step(&rig);
		if (i % 40 != 3)
			rig_pass(&rig, HOUR_NS);
	}
	log = running();
	ck_assert_uint_eq(le32toh(log->count), TRN_LOG_RUNNING_MAX);
	for (unsigned int i = 0; i < TRN_LOG_RUNNING_MAX; i++) {
		uint16_t id = le16toh(log->running[i].queue);

		ck_assert_uint_lt(id, 130);
		ck_assert(!seen[id]);
		seen[id] = true;
		ck_assert_uint_ne(id % 40, 3);
		if (i)
			ck_assert_uint_le(le64toh(log->running[i].packet_ns),
					  le64toh(log->running[i - 1].packet_ns));
	}
}
END_TEST

START_TEST(life_of_a_queue)
{
	const struct trn_packet wait = rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1);
	const struct trn_packet fill = rig_fill(DATA_VA, DATA_SIZE, 0x11, 0);
	const struct trn_log_queue *log;
	struct rig_queue queue;

	rig_queue_create(&rig, &queue, 200, &kernel, &space, 3);
	assert_zero(queue_log(&queue), 4096); /* running, asleep, nothing done */

	rig_execute(&rig, &queue, rig_nop());
	log = queue_log(&queue);
	ck_assert_uint_eq(log->state, TRN_QUEUE_STATE_RUNNING);
	ck_assert_uint_eq(log->activity, TRN_QUEUE_ACTIVITY_ASLEEP);
	ck_assert_uint_eq(le32toh(log->head), 1);
	ck_assert_uint_eq(le32toh(log->tail), 1);
	ck_assert_uint_eq(le64toh(log->packet_ns), 0);
	assert_zero(log->packet, sizeof(log->packet));

	start_long_packet(&queue);
	log = queue_log(&queue);
	ck_assert_uint_eq(log->activity, TRN_QUEUE_ACTIVITY_EXECUTING);
	ck_assert_uint_eq(le32toh(log->head), 1);
	ck_assert_uint_eq(le32toh(log->tail), 2);
	ck_assert_uint_gt(le64toh(log->packet_ns), 0);
	ck_assert_uint_ge(le64toh(log->queue_ns), le64toh(log->packet_ns));
	ck_assert_uint_gt(le64toh(log->done), 0);
	ck_assert_uint_lt(le64toh(log->done), DATA_SIZE);
	ck_assert_mem_eq(log->packet, &fill, sizeof(fill));

	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(queue_log(&queue)->state, TRN_QUEUE_STATE_SUSPENDED);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_run(&rig);

	rig_execute(&rig, &queue, wait);
	log = queue_log(&queue);
	ck_assert_uint_eq(log->state, TRN_QUEUE_STATE_RUNNING);
	ck_assert_uint_eq(log->activity, TRN_QUEUE_ACTIVITY_PARKED);
	ck_assert_mem_eq(log->packet, &wait, sizeof(wait));

	ck_assert_uint_eq(rig_admin(&rig,
				    (struct trn_admin_command){
					    .opcode = TRN_ADMIN_QUEUE_MASK,
					    .queue = { .queue = htole16(200), .masked = 1 },
				    }),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(queue_log(&queue)->masked, 1);

	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESET, queue.id),
			  TRN_ADMIN_SUCCESS);
	log = queue_log(&queue);
	ck_assert_uint_eq(log->state, TRN_QUEUE_STATE_STOPPED);
	ck_assert_uint_eq(log->reason, 0);
	ck_assert_uint_eq(le32toh(log->head), 2);
	ck_assert_uint_eq(le64toh(log->packet_ns), 0);
	assert_zero(log->packet, sizeof(log->packet));
}
END_TEST

START_TEST(awake)
{
	struct rig_queue queue;

	rig_queue_create(&rig, &queue, 0, &kernel, &space, 3);
	rig_kick(&rig, queue.id);
	rig_step(&rig);
	ck_assert_uint_eq(queue_log(&queue)->activity, TRN_QUEUE_ACTIVITY_AWAKE);
}
END_TEST

/* What failed can be read, whether it was refused or went wrong later. */
START_TEST(packets_that_failed)
{
	const struct trn_packet bad = { .opcode = 0x7f, .reserved0 = { 1, 2, 3, 4, 5, 6, 7 } };
	const struct trn_packet fault = rig_fill(DATA_VA + DATA_SIZE - 4096, 8192, 1, 0);
	const struct trn_log_queue *log;
	struct rig_queue queue[4];

	for (uint16_t i = 0; i < 4; i++)
		rig_queue_create(&rig, &queue[i], i, &kernel, &space, 3);
	rig_execute(&rig, &queue[0], bad);
	log = queue_log(&queue[0]);
	ck_assert_uint_eq(log->state, TRN_QUEUE_STATE_STOPPED);
	ck_assert_uint_eq(log->reason, TRN_STOP_BAD_OPCODE);
	ck_assert_mem_eq(log->packet, &bad, sizeof(bad));

	rig_execute(&rig, &queue[1], fault);
	log = queue_log(&queue[1]);
	ck_assert_uint_eq(log->reason, TRN_STOP_FAULT_UNMAPPED);
	ck_assert_mem_eq(log->packet, &fault, sizeof(fault));
	/* A reset does not take it away. */
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESET, 1), TRN_ADMIN_SUCCESS);
	log = queue_log(&queue[1]);
	ck_assert_uint_eq(log->reason, TRN_STOP_FAULT_UNMAPPED);
	ck_assert_mem_eq(log->packet, &fault, sizeof(fault));

	/* A fetch that fails has no packet, nor has a bad tail. */
	trn_store64(rig_entry(&rig, &kernel, queue[2].ring_va), 0);
	rig_execute(&rig, &queue[2], rig_nop());
	log = queue_log(&queue[2]);
	ck_assert_uint_eq(log->reason, TRN_STOP_FAULT_UNMAPPED);
	assert_zero(log->packet, sizeof(log->packet));
	trn_store32(&queue[3].control->tail, 9);
	rig_kick(&rig, 3);
	rig_run(&rig);
	log = queue_log(&queue[3]);
	ck_assert_uint_eq(log->reason, TRN_STOP_BAD_TAIL);
	ck_assert_uint_eq(le32toh(log->tail), 9);
	assert_zero(log->packet, sizeof(log->packet));
}
END_TEST

Suite *logs_suite(void)
{
	Suite *suite = suite_create("logs");
	TCase *tcase = tcase_create("logs");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, arguments);
	tcase_add_test(tcase, nothing_runs);
	tcase_add_test(tcase, order_of_running_queues);
	tcase_add_test(tcase, too_many_run);
	tcase_add_test(tcase, life_of_a_queue);
	tcase_add_test(tcase, awake);
	tcase_add_test(tcase, packets_that_failed);
	suite_add_tcase(suite, tcase);
	return suite;
}
