// SPDX-License-Identifier: MIT
/* Queues: packets, stops, parked waits, suspend and resume, fairness. */
#include <string.h>

#include "rig.h"
#include "suites.h"

#define FENCE_VA  0x10000ULL	/* in kernel: fences */
#define DATA_VA	  0x80000000ULL /* in space: 8 MiB of HBM */
#define DATA_SIZE (8ULL << 20)

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue, other;
static __le64 *fence;

static void setup(void)
{
	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 1);
	rig_queue_create(&rig, &queue, 0, &kernel, &space, 3);
	rig_queue_create(&rig, &other, 1, &kernel, &space, 3);
	fence = rig_map_host_page(&rig, &kernel, FENCE_VA);
	rig_map(&rig, &space, DATA_VA, TRN_PTE_TARGET_HBM, 0, DATA_SIZE);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static enum trn_queue_phase phase(const struct rig_queue *of)
{
	return rig.chip->queue[of->id]->phase;
}

static void assert_other_works(void)
{
	uint32_t head = rig_head(&other);

	rig_execute(&rig, &other, rig_nop());
	ck_assert_uint_eq(rig_head(&other), head + 1);
}

START_TEST(order)
{
	/* Each packet uses what the one before it has done. */
	rig_put(&queue, rig_fill(DATA_VA, 4096, 1, 0));
	rig_put(&queue, rig_copy(DATA_VA, DATA_VA + (3 << 20), 4096));
	rig_put(&queue, rig_fill(DATA_VA, 4096, 2, 0));
	rig_put(&queue, rig_copy(DATA_VA + (3 << 20), DATA_VA + (5 << 20), 4096));
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 7));
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 5);
	ck_assert_uint_eq(trn_load64(fence), 7);
	ck_assert_uint_eq(rig.chip->hbm.memory[0], 2);
	ck_assert_uint_eq(rig.chip->hbm.memory[(5 << 20) + 4095], 1);
}
END_TEST

START_TEST(full_ring)
{
	for (unsigned int i = 0; i < 8; i++)
		rig_put(&queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA + 8 * i, i + 1));
	rig_store_tail(&queue);
	rig_kick(&rig, queue.id);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 8);
	for (unsigned int i = 0; i < 8; i++)
		ck_assert_uint_eq(trn_load64(fence + i), i + 1);
}
END_TEST

START_TEST(tail_is_looked_at_after_each_packet)
{
	rig_submit(&rig, &queue, rig_nop());
	while (phase(&queue) != TRN_PHASE_FETCH)
		rig_step(&rig);
	/* No kick: the device is awake. */
	rig_put(&queue, rig_nop());
	rig_store_tail(&queue);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 2);
}
END_TEST

START_TEST(kick_of_an_empty_ring)
{
	for (unsigned int i = 0; i < 5; i++) {
		rig_kick(&rig, queue.id);
		rig_run(&rig);
		ck_assert_uint_eq(rig_head(&queue), 0);
		ck_assert_uint_eq(trn_load32(&queue.control->need_kick), 1);
	}
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
}
END_TEST

static const uint32_t bad_tails[] = { 9, 10, 4096, 0x80000000, UINT32_MAX };

START_TEST(bad_tail)
{
	trn_store32(&queue.control->tail, bad_tails[_i]);
	rig_kick(&rig, queue.id);
	rig_run(&rig);
	rig_assert_stopped(&rig, &queue, TRN_STOP_BAD_TAIL);
	ck_assert_uint_eq(rig_head(&queue), 0);
	assert_other_works();
}
END_TEST

/*
 * 2^32 packets would take hours: start just before the wrap, as if they had been
 * executed.  The test owns the chip's state between two steps.
 */
START_TEST(indexes_wrap)
{
	const uint32_t start = UINT32_MAX - 20;

	rig.chip->queue[queue.id]->head = start;
	trn_store32(&queue.control->head, start);
	queue.tail = start;
	rig_store_tail(&queue);
	for (unsigned int i = 1; i <= 50; i++) {
		rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, i));
		ck_assert_uint_eq(rig_head(&queue), start + i);
		ck_assert_uint_eq(trn_load64(fence), i);
	}
	/* Full and overfull across the wrap. */
	rig.chip->queue[queue.id]->head = UINT32_MAX - 3;
	queue.tail = UINT32_MAX - 3;
	for (unsigned int i = 0; i < 8; i++)
		rig_put(&queue, rig_nop());
	rig_store_tail(&queue);
	ck_assert_uint_eq(queue.tail, 4);
	rig_kick(&rig, queue.id);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 4);
	rig.chip->queue[queue.id]->head = UINT32_MAX - 3;
	trn_store32(&queue.control->head, UINT32_MAX - 3);
	trn_store32(&queue.control->tail, 5);
	rig_kick(&rig, queue.id);
	rig_run(&rig);
	rig_assert_stopped(&rig, &queue, TRN_STOP_BAD_TAIL);
}
END_TEST

START_TEST(bad_opcodes)
{
	static const uint8_t known[] = { 0x00, 0x01, 0x02, 0x10, 0x11 };

	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		struct rig_queue victim;

		if (memchr(known, (int)opcode, sizeof(known)))
			continue;
		rig_queue_create(&rig, &victim, 2, &kernel, &space, 2);
		rig_execute(&rig, &victim, (struct trn_packet){ .opcode = opcode });
		rig_assert_stopped(&rig, &victim, TRN_STOP_BAD_OPCODE);
		ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, 2),
				  TRN_ADMIN_SUCCESS);
	}
	assert_other_works();
}
END_TEST

/* Every byte that must be 0, in every packet. */
START_TEST(reserved_bytes)
{
	const struct trn_packet packets[] = {
		rig_nop(),
		rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1),
		rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 0),
		rig_copy(DATA_VA, DATA_VA + 4096, 1),
		rig_fill(DATA_VA, 1, 0, 0),
	};
	static const unsigned int body[] = { 8, 24, 24, 32, 33 }; /* first reserved byte */

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		for (unsigned int byte = 1; byte < 64; byte++) {
			struct trn_packet packet = packets[i];
			struct rig_queue victim;

			if (byte >= 8 && byte < body[i])
				continue;
			((uint8_t *)&packet)[byte] = 0x40;
			rig_queue_create(&rig, &victim, 2, &kernel, &space, 2);
			rig_execute(&rig, &victim, packet);
			rig_assert_stopped(&rig, &victim, TRN_STOP_BAD_FIELD);
			ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, 2),
					  TRN_ADMIN_SUCCESS);
		}
	}
	ck_assert_uint_eq(trn_load64(fence), 0);
}
END_TEST

START_TEST(unaligned_fences)
{
	for (unsigned int offset = 1; offset < 8; offset++) {
		struct rig_queue victim;

		rig_queue_create(&rig, &victim, (uint16_t)(10 + offset), &kernel, &space, 2);
		rig_execute(&rig, &victim,
			    rig_fence(offset % 2 ? TRN_PACKET_FENCE_WRITE : TRN_PACKET_FENCE_WAIT,
				      FENCE_VA + offset, 1));
		rig_assert_stopped(&rig, &victim, TRN_STOP_BAD_FIELD);
	}
}
END_TEST

/* Ring and fences are addresses of ring_asid, operands of asid. */
START_TEST(fence_faults)
{
	struct rig_queue victim;

	rig_queue_create(&rig, &victim, 2, &kernel, &space, 2);
	rig_execute(&rig, &victim, rig_fence(TRN_PACKET_FENCE_WRITE, DATA_VA, 1));
	rig_assert_fault(&rig, &victim, TRN_STOP_FAULT_UNMAPPED, 0, TRN_ACCESS_WRITE, DATA_VA);

	rig_queue_create(&rig, &victim, 3, &kernel, &space, 2);
	rig_execute(&rig, &victim, rig_fence(TRN_PACKET_FENCE_WAIT, DATA_VA, 1));
	rig_assert_fault(&rig, &victim, TRN_STOP_FAULT_UNMAPPED, 0, TRN_ACCESS_READ, DATA_VA);

	rig_queue_create(&rig, &victim, 4, &kernel, &space, 2);
	rig_execute(&rig, &victim, rig_fence(TRN_PACKET_FENCE_WRITE, 1ULL << 48, 1));
	rig_assert_fault(&rig, &victim, TRN_STOP_FAULT_RANGE, 0, TRN_ACCESS_WRITE, 1ULL << 48);

	rig_queue_create(&rig, &victim, 5, &kernel, &space, 2);
	rig_execute(&rig, &victim, rig_copy(FENCE_VA, DATA_VA, 8));
	rig_assert_fault(&rig, &victim, TRN_STOP_FAULT_UNMAPPED, 1, TRN_ACCESS_READ, FENCE_VA);
}
END_TEST

START_TEST(fetch_faults)
{
	struct rig_queue victim;

	rig_queue_create(&rig, &victim, 2, &kernel, &space, 7); /* two pages */
	trn_store64(rig_entry(&rig, &kernel, victim.ring_va + TRN_PAGE_SIZE), 0);
	for (unsigned int i = 0; i < 65; i++)
		rig_put(&victim, rig_nop());
	rig_store_tail(&victim);
	rig_kick(&rig, victim.id);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&victim), 64);
	rig_assert_fault(&rig, &victim, TRN_STOP_FAULT_UNMAPPED, 0, TRN_ACCESS_FETCH,
			 victim.ring_va + TRN_PAGE_SIZE);
	assert_other_works();
}
END_TEST

START_TEST(ring_beyond_the_end)
{
	struct trn_admin_command command = {
		.opcode = TRN_ADMIN_QUEUE_CREATE,
		.queue_create = {
			.queue = htole16(2),
			.type = TRN_QUEUE_TYPE_DMA,
			.ring_log2 = 2,
			.vector = htole16(1),
			.ring_va = htole64(1ULL << 48),
			.control = htole64(rig_alloc(&rig, TRN_CONTROL_PAGE_SIZE)),
		},
	};
	struct rig_queue victim = { .id = 2 };

	victim.control = rig_pointer(&rig, le64toh(command.queue_create.control));
	ck_assert_uint_eq(rig_admin(&rig, command), TRN_ADMIN_SUCCESS);
	trn_store32(&victim.control->tail, 1);
	rig_kick(&rig, 2);
	rig_run(&rig);
	rig_assert_fault(&rig, &victim, TRN_STOP_FAULT_RANGE, 0, TRN_ACCESS_FETCH, 1ULL << 48);
}
END_TEST

/* The control page vanishes at every point of the queue's life. */
START_TEST(control_page_refused)
{
	rig_submit(&rig, &queue, rig_nop());
	rig_put(&queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	rig_store_tail(&queue);
	for (int i = 0; i < _i; i++)
		rig_step(&rig);
	rig_deny(&rig, queue.control_dma, RIG_DENY_WRITE);
	rig_kick(&rig, queue.id);
	rig_run(&rig);
	/* It was asleep already, or it stopped. */
	rig_deny(&rig, queue.control_dma, 0);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_STOPPED);
	ck_assert_uint_eq(rig_last_event(&rig).reason, TRN_STOP_CONTROL);
	assert_other_works();
}
END_TEST

START_TEST(stopped_queue_stays)
{
	rig_put(&queue, rig_nop());
	rig_put(&queue, (struct trn_packet){ .opcode = 0x77 });
	rig_submit(&rig, &queue, rig_nop());
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	rig_assert_stopped(&rig, &queue, TRN_STOP_BAD_OPCODE);
	/* Kicks, repaired packets and new ones change nothing. */
	queue.ring[1] = rig_nop();
	for (unsigned int i = 0; i < 3; i++) {
		rig_put(&queue, rig_nop());
		rig_store_tail(&queue);
		rig_kick(&rig, queue.id);
		rig_run(&rig);
	}
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(rig_event_count(&rig), 1);
	assert_other_works();
}
END_TEST

START_TEST(packet_is_read_once)
{
	rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	while (!rig.chip->queue[queue.id]->done)
		rig_step(&rig);
	memset(queue.ring, 0xff, sizeof(struct trn_packet));
	rig_run(&rig);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(rig.chip->hbm.memory[DATA_SIZE - 1], 1);
}
END_TEST

/* Parked waits */

START_TEST(wait_that_is_reached)
{
	static const uint64_t values[][2] = {
		{ 0, 0 },	  { 5, 5 }, { 6, 5 }, { UINT64_MAX, 5 }, { UINT64_MAX, UINT64_MAX },
		{ 1ULL << 63, 1 }
	};

	for (uint32_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		trn_store64(fence, values[i][0]);
		rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, values[i][1]));
		ck_assert_uint_eq(rig_head(&queue), i + 1);
	}
}
END_TEST

START_TEST(parked_queue_waits)
{
	uint64_t wait;

	trn_store64(fence, 4);
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 5));
	wait = rig_run(&rig);
	/* The device wants to look again within a millisecond, */
	ck_assert_uint_gt(wait, 0);
	ck_assert_uint_le(wait, 1000000);
	ck_assert_uint_eq(rig_head(&queue), 0);
	ck_assert_int_eq(phase(&queue), TRN_PHASE_PARKED);
	/* occupies nothing, */
	assert_other_works();
	/* and is not a stop. */
	ck_assert_uint_eq(rig_event_count(&rig), 0);
	/* The CPU stores: a kick makes the device look at once. */
	trn_store64(fence, 5);
	rig_kick(&rig, queue.id);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(parked_queue_looks_by_itself)
{
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	rig_run(&rig);
	trn_store64(fence, 1);
	/* A millisecond later, without any help. */
	rig_pass(&rig, 1000000);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(fence_write_wakes_the_parked)
{
	uint64_t looks;

	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 2));
	rig_run(&rig);
	/* An hour until the next look of its own. */
	looks = rig.chip->now + 3600000000000ULL;
	rig.chip->queue[queue.id]->look_at = looks;
	rig_execute(&rig, &other, rig_nop());
	ck_assert_uint_eq(rig.chip->queue[queue.id]->look_at, looks);
	rig_execute(&rig, &other, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	ck_assert_uint_eq(rig_head(&queue), 0);
	ck_assert_uint_lt(rig.chip->queue[queue.id]->look_at, looks);
	rig.chip->queue[queue.id]->look_at = looks;
	rig_execute(&rig, &other, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 2));
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(fence_in_hbm)
{
	rig_map(&rig, &kernel, FENCE_VA + TRN_PAGE_SIZE, TRN_PTE_TARGET_HBM, 4096, TRN_PAGE_SIZE);
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA + TRN_PAGE_SIZE, 9));
	rig_run(&rig);
	rig_execute(&rig, &other, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA + TRN_PAGE_SIZE, 9));
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(trn_load64((__le64 *)(rig.chip->hbm.memory + 4096)), 9);
}
END_TEST

START_TEST(fence_without_mapping)
{
	rig_map(&rig, &kernel, FENCE_VA + TRN_PAGE_SIZE, TRN_PTE_TARGET_HOST, RIG_REMOTE,
		TRN_PAGE_SIZE);
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA + TRN_PAGE_SIZE, 9));
	rig_run(&rig);
	rig_execute(&rig, &other, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA + TRN_PAGE_SIZE, 9));
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(parked_wait_whose_page_goes_away)
{
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	rig_run(&rig);
	trn_store64(rig_entry(&rig, &kernel, FENCE_VA), 0);
	rig_invalidate(&rig, 0, FENCE_VA, TRN_PAGE_SIZE);
	rig_kick(&rig, queue.id);
	rig_run(&rig);
	rig_assert_fault(&rig, &queue, TRN_STOP_FAULT_UNMAPPED, 0, TRN_ACCESS_READ, FENCE_VA);
}
END_TEST

/* Suspend, resume, destroy: at every point of the execution of two packets. */

START_TEST(suspend_anywhere)
{
	struct trn_control before;

	rig_put(&queue, rig_fill(DATA_VA, 3 << 20, 0x31, 0));
	rig_put(&queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	rig_store_tail(&queue);
	rig_kick(&rig, queue.id);
	for (int i = 0; i < _i; i++)
		rig_step(&rig);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_SUCCESS);
	/* Nothing moves, even with kicks; the control page is software's. */
	before = *queue.control;
	memset(rig.chip->hbm.memory, 0, 3 << 20);
	rig_kick(&rig, queue.id);
	assert_other_works();
	ck_assert_mem_eq(queue.control, &before, sizeof(before));
	ck_assert_uint_eq(rig.chip->hbm.memory[0], 0);
	ck_assert_uint_eq(rig.chip->hbm.memory[(3 << 20) - 1], 0);

	/* The packet that ran has finished, or begins again from its start. */
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 2);
	ck_assert_uint_eq(trn_load64(fence), 1);
	if (le32toh(before.head) == 0) {
		ck_assert_uint_eq(rig.chip->hbm.memory[0], 0x31);
		ck_assert_uint_eq(rig.chip->hbm.memory[(3 << 20) - 1], 0x31);
	}
}
END_TEST

/* A fence that was written is not written again: its memory may hold a later value. */
START_TEST(suspend_does_not_turn_a_fence_back)
{
	trn_store64(&queue.control->wake_at, 1);
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	for (int i = 0; i < _i; i++)
		rig_step(&rig);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_SUCCESS);
	if (trn_load64(fence)) {
		ck_assert_uint_eq(rig_head(&queue), 1);
		ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
		trn_store64(fence, 2);
	}
	rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_ge(trn_load64(fence), 1);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
	if (_i > 8)
		ck_assert_uint_eq(trn_load64(fence), 2);
}
END_TEST

START_TEST(suspend_a_parked_queue)
{
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	rig_run(&rig);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_SUCCESS);
	trn_store64(fence, 1);
	rig_kick(&rig, queue.id);
	ck_assert_uint_eq(rig_run(&rig), UINT64_MAX);
	ck_assert_uint_eq(rig_head(&queue), 0);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(submitted_while_suspended)
{
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 0);
	/* RESUME is as if kicked. */
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(destroy_anywhere)
{
	rig_put(&queue, rig_fill(DATA_VA, 3 << 20, 0x31, 0));
	rig_put(&queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	rig_store_tail(&queue);
	rig_kick(&rig, queue.id);
	for (int i = 0; i < _i; i++)
		rig_step(&rig);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, queue.id),
			  TRN_ADMIN_SUCCESS);
	memset(rig.chip->hbm.memory, 0, 3 << 20);
	memset(queue.control, 0xaa, sizeof(*queue.control));
	trn_store64(fence, 0);
	rig_kick(&rig, queue.id);
	assert_other_works();
	for (size_t i = 0; i < sizeof(*queue.control); i++)
		ck_assert_uint_eq(((uint8_t *)queue.control)[i], 0xaa);
	ck_assert_uint_eq(trn_load64(fence), 0);
	ck_assert_uint_eq(rig.chip->hbm.memory[0], 0);
	ck_assert_uint_eq(rig.chip->hbm.memory[(3 << 20) - 1], 0);
	/* The id is free, and begins at 0. */
	rig_queue_create(&rig, &queue, queue.id, &kernel, &space, 3);
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(fairness)
{
	/* Eight queues with long work: none gets two units ahead of another. */
	struct rig_queue many[8];
	uint64_t low, high;

	for (uint16_t i = 0; i < 8; i++)
		rig_queue_create(&rig, &many[i], 10 + i, &kernel, &space, 2);
	for (unsigned int i = 0; i < 8; i++)
		rig_submit(&rig, &many[i], rig_fill(DATA_VA, DATA_SIZE, i + 1, 0));
	do {
		rig_step(&rig);
		low = UINT64_MAX;
		high = 0;
		for (unsigned int i = 0; i < 8; i++) {
			const struct trn_queue *state = rig.chip->queue[10 + i];
			uint64_t done = rig_head(&many[i]) ? DATA_SIZE : state->done;

			low = done < low ? done : low;
			high = done > high ? done : high;
		}
		ck_assert_uint_le(high - low, 1 << 20);
	} while (low < DATA_SIZE);
}
END_TEST

START_TEST(parked_queue_looks_under_load)
{
	struct rig_queue many[8];

	for (uint16_t i = 0; i < 8; i++)
		rig_queue_create(&rig, &many[i], 10 + i, &kernel, &space, 2);
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	rig_run(&rig);
	for (unsigned int i = 0; i < 8; i++)
		rig_submit(&rig, &many[i], rig_fill(DATA_VA, DATA_SIZE, i, 0));
	while (!rig.chip->queue[17]->done)
		rig_step(&rig);
	trn_store64(fence, 1);
	rig_pass(&rig, 1000000);
	rig_step(&rig);
	ck_assert_int_eq(phase(&queue), TRN_PHASE_RETIRE);
	/* Looks that fail do not hold up the others. */
	rig_run(&rig);
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 2));
	rig_submit(&rig, &other, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 2));
	rig_execute(&rig, &many[0], rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	ck_assert_uint_eq(rig_head(&many[0]), 2);
}
END_TEST

START_TEST(admin_goes_on_under_load)
{
	unsigned int steps = 0;
	struct trn_admin_completion completion;
	const struct trn_admin_command command = { .opcode = TRN_ADMIN_TLB_INVALIDATE };

	rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	rig_step(&rig);
	rig_admin_put(&rig, &command);
	rig_admin_ring(&rig);
	while (!rig_admin_get(&rig, &completion)) {
		rig_step(&rig);
		ck_assert_uint_lt(++steps, 6);
	}
	/* And a flood of commands does not stop the queue. */
	steps = 0;
	while (rig_head(&queue) == 0) {
		while (rig_admin_get(&rig, &completion))
			;
		rig_admin_put(&rig, &command);
		rig_admin_ring(&rig);
		rig_step(&rig);
		ck_assert_uint_lt(++steps, 60);
	}
}
END_TEST

Suite *queue_suite(void)
{
	Suite *suite = suite_create("queue");
	TCase *tcase = tcase_create("queue");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, order);
	tcase_add_test(tcase, full_ring);
	tcase_add_test(tcase, tail_is_looked_at_after_each_packet);
	tcase_add_test(tcase, kick_of_an_empty_ring);
	tcase_add_loop_test(tcase, bad_tail, 0, sizeof(bad_tails) / sizeof(bad_tails[0]));
	tcase_add_test(tcase, indexes_wrap);
	tcase_add_test(tcase, bad_opcodes);
	tcase_add_test(tcase, reserved_bytes);
	tcase_add_test(tcase, unaligned_fences);
	tcase_add_test(tcase, fence_faults);
	tcase_add_test(tcase, fetch_faults);
	tcase_add_test(tcase, ring_beyond_the_end);
	tcase_add_loop_test(tcase, control_page_refused, 0, 16);
	tcase_add_test(tcase, stopped_queue_stays);
	tcase_add_test(tcase, packet_is_read_once);
	tcase_add_test(tcase, wait_that_is_reached);
	tcase_add_test(tcase, parked_queue_waits);
	tcase_add_test(tcase, parked_queue_looks_by_itself);
	tcase_add_test(tcase, fence_write_wakes_the_parked);
	tcase_add_test(tcase, fence_in_hbm);
	tcase_add_test(tcase, fence_without_mapping);
	tcase_add_test(tcase, parked_wait_whose_page_goes_away);
	tcase_add_loop_test(tcase, suspend_anywhere, 0, 20);
	tcase_add_loop_test(tcase, suspend_does_not_turn_a_fence_back, 0, 12);
	tcase_add_test(tcase, suspend_a_parked_queue);
	tcase_add_test(tcase, submitted_while_suspended);
	tcase_add_loop_test(tcase, destroy_anywhere, 0, 20);
	tcase_add_test(tcase, fairness);
	tcase_add_test(tcase, parked_queue_looks_under_load);
	tcase_add_test(tcase, admin_goes_on_under_load);
	suite_add_tcase(suite, tcase);
	return suite;
}
