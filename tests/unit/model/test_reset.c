// SPDX-License-Identifier: MIT
/* QUEUE_RESET, CONTEXT_RESET and QUEUE_MASK. */
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
	rig_queue_create(&rig, &other, 1, &kernel, &kernel, 3);
	fence = rig_map_host_page(&rig, &kernel, FENCE_VA);
	rig_map(&rig, &space, DATA_VA, TRN_PTE_TARGET_HBM, 0, DATA_SIZE);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static uint16_t reset(uint16_t id)
{
	return rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESET, id);
}

static uint16_t context_reset(uint16_t asid)
{
	return rig_admin(&rig, (struct trn_admin_command){
				       .opcode = TRN_ADMIN_CONTEXT_RESET,
				       .context = { .asid = htole16(asid) },
			       });
}

static uint16_t mask(uint16_t id, uint8_t masked)
{
	return rig_admin(&rig, (struct trn_admin_command){
				       .opcode = TRN_ADMIN_QUEUE_MASK,
				       .queue = { .queue = htole16(id), .masked = masked },
			       });
}

static void assert_other_works(void)
{
	uint32_t head = rig_head(&other);

	rig_execute(&rig, &other, rig_nop());
	ck_assert_uint_eq(rig_head(&other), head + 1);
}

/* Whatever the queue was doing: it stops, tells nobody, and touches nothing any more. */
START_TEST(reset_anywhere)
{
	rig_put(&queue, rig_fill(DATA_VA, 3 << 20, 0x31, 0));
	rig_put(&queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	rig_put(&queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA + 8, 1));
	rig_store_tail(&queue);
	trn_store64(&queue.control->wake_at, 1);
	rig_kick(&rig, queue.id);
	for (int i = 0; i < _i; i++)
		rig_step(&rig);
	ck_assert_uint_eq(reset(queue.id), TRN_ADMIN_SUCCESS);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_STOPPED);
	ck_assert_uint_eq(rig_event_count(&rig), 0);

	memset(rig.chip->hbm.memory, 0, 3 << 20);
	memset(queue.control, 0xaa, sizeof(*queue.control));
	trn_store64(fence, 0);
	trn_store64(fence + 1, 1);
	rig_kick(&rig, queue.id);
	assert_other_works();
	for (size_t i = 0; i < sizeof(*queue.control); i++)
		ck_assert_uint_eq(((uint8_t *)queue.control)[i], 0xaa);
	ck_assert_uint_eq(trn_load64(fence), 0);
	ck_assert_uint_eq(rig.chip->hbm.memory[0], 0);
	ck_assert_uint_eq(rig.chip->hbm.memory[(3 << 20) - 1], 0);

	/* STOPPED like any other. */
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_BAD_STATE);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, queue.id),
			  TRN_ADMIN_BAD_STATE);
	ck_assert_uint_eq(reset(queue.id), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_queue_create(&rig, &queue, queue.id, &kernel, &space, 3);
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(reset_in_every_state)
{
	ck_assert_uint_eq(reset(2), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(reset(TRN_QUEUES), TRN_ADMIN_INVALID_ID);
	/* Suspended */
	rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	rig_step(&rig);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, queue.id),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(reset(queue.id), TRN_ADMIN_SUCCESS);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_STOPPED);
	/* Stopped by itself */
	rig_execute(&rig, &other, (struct trn_packet){ .opcode = 0x7f });
	rig_assert_stopped(&rig, &other, TRN_STOP_BAD_OPCODE);
	ck_assert_uint_eq(reset(other.id), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_event_count(&rig), 1);
}
END_TEST

/* All queues whose asid it is, in every state; not those that only have their ring there. */
START_TEST(reset_of_a_context)
{
	struct rig_queue parked, suspended, stopped, ring_only;
	struct rig_space third;

	rig_space_create(&rig, &third, 2);
	rig_queue_create(&rig, &parked, 3, &kernel, &space, 3);
	rig_queue_create(&rig, &suspended, 4, &kernel, &space, 3);
	rig_queue_create(&rig, &stopped, 5, &kernel, &space, 3);
	rig_queue_create(&rig, &ring_only, 6, &space, &third, 3);
	rig_execute(&rig, &stopped, (struct trn_packet){ .opcode = 0x7f });
	rig_submit(&rig, &parked, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	rig_run(&rig);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, suspended.id),
			  TRN_ADMIN_SUCCESS);
	rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	while (!rig.chip->queue[queue.id]->done)
		rig_step(&rig);
	rig_submit(&rig, &other, rig_nop());

	ck_assert_uint_eq(context_reset(1), TRN_ADMIN_SUCCESS);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_STOPPED);
	ck_assert_int_eq(rig_state(&rig, &parked), TRN_QUEUE_STOPPED);
	ck_assert_int_eq(rig_state(&rig, &suspended), TRN_QUEUE_STOPPED);
	ck_assert_int_eq(rig_state(&rig, &stopped), TRN_QUEUE_STOPPED);
	ck_assert_uint_eq(rig_event_count(&rig), 1); /* the bad packet's */
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&other), 1);
	rig_execute(&rig, &ring_only, rig_nop());
	ck_assert_uint_eq(rig_head(&ring_only), 1);

	/* The context is as it was: its mappings stay, and new queues of it work. */
	rig_queue_create(&rig, &queue, 7, &kernel, &space, 3);
	rig_execute(&rig, &queue, rig_fill(DATA_VA, 4096, 0x77, 0));
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(rig.chip->hbm.memory[4095], 0x77);
}
END_TEST

START_TEST(context_reset_arguments)
{
	struct trn_admin_command command = {
		.opcode = TRN_ADMIN_CONTEXT_RESET,
		.context = { .asid = htole16(1), .root = htole64(4096) },
	};

	ck_assert_uint_eq(rig_admin(&rig, command), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(context_reset(2), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(context_reset(TRN_CONTEXTS), TRN_ADMIN_INVALID_ID);
	/* Without queues there is nothing to do. */
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, queue.id),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(context_reset(1), TRN_ADMIN_SUCCESS);
}
END_TEST

/* Interrupts */

static void write_fence(uint64_t value)
{
	rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, value));
}

START_TEST(masked_queue_is_silent)
{
	trn_store64(&queue.control->wake_at, 1);
	write_fence(1);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
	ck_assert_uint_eq(mask(queue.id, 1), TRN_ADMIN_SUCCESS);
	for (uint64_t i = 2; i < 10; i++)
		write_fence(i);
	ck_assert_uint_eq(rig_head(&queue), 9);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
	/* However many it owes, it raises one; and from then on as before. */
	ck_assert_uint_eq(mask(queue.id, 0), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 2);
	ck_assert_uint_eq(mask(queue.id, 0), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 2);
	write_fence(10);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 3);
}
END_TEST

/* What would have raised no interrupt is not owed. */
START_TEST(nothing_is_owed_for_nothing)
{
	ck_assert_uint_eq(mask(queue.id, 1), TRN_ADMIN_SUCCESS);
	trn_store64(&queue.control->wake_at, 5);
	write_fence(4);
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(mask(queue.id, 0), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 0);
}
END_TEST

/* Queues may share a vector: only the one that is masked is silent. */
START_TEST(mask_is_the_queues)
{
	struct rig_queue neighbour;

	rig_queue_create(&rig, &neighbour, 32, &kernel, &space, 3); /* 1 + 32 % 32 */
	ck_assert_uint_eq(neighbour.vector, queue.vector);
	trn_store64(&queue.control->wake_at, 1);
	trn_store64(&neighbour.control->wake_at, 1);
	ck_assert_uint_eq(mask(queue.id, 1), TRN_ADMIN_SUCCESS);
	rig_execute(&rig, &neighbour, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
	write_fence(2);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
}
END_TEST

START_TEST(mask_arguments)
{
	ck_assert_uint_eq(mask(2, 1), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(mask(TRN_QUEUES, 1), TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(mask(queue.id, 2), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(mask(queue.id, 0xff), TRN_ADMIN_INVALID_FIELD);
	/* In every state; a new queue of the same id is not masked. */
	ck_assert_uint_eq(reset(queue.id), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(mask(queue.id, 1), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_queue_create(&rig, &queue, queue.id, &kernel, &space, 3);
	trn_store64(&queue.control->wake_at, 1);
	write_fence(1);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
}
END_TEST

Suite *reset_suite(void)
{
	Suite *suite = suite_create("reset");
	TCase *tcase = tcase_create("reset");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, reset_anywhere, 0, 24);
	tcase_add_test(tcase, reset_in_every_state);
	tcase_add_test(tcase, reset_of_a_context);
	tcase_add_test(tcase, context_reset_arguments);
	tcase_add_test(tcase, masked_queue_is_silent);
	tcase_add_test(tcase, nothing_is_owed_for_nothing);
	tcase_add_test(tcase, mask_is_the_queues);
	tcase_add_test(tcase, mask_arguments);
	suite_add_tcase(suite, tcase);
	return suite;
}
