// SPDX-License-Identifier: MIT
/* Injected faults: each row of the table in Documentation/vdev.rst, and what ends it. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "rig.h"
#include "suites.h"

#define FENCE_VA  0x10000ULL	/* in kernel: fences */
#define DATA_VA	  0x80000000ULL /* in space: 8 MiB of HBM */
#define DATA_SIZE (8ULL << 20)
#define MS	  1000000ULL
#define HOUR_NS	  (3600000 * MS)
#define LIMIT_MS  3600000U

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue, other; /* the guilty one; another context's */
static __le64 *fence;

static void make_queues(void)
{
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 1);
	rig_queue_create_limited(&rig, &queue, 0, &kernel, &space, 3, 0, LIMIT_MS);
	rig_queue_create(&rig, &other, 1, &kernel, &kernel, 6);
	fence = rig_map_host_page(&rig, &kernel, FENCE_VA);
	rig_map(&rig, &space, DATA_VA, TRN_PTE_TARGET_HBM, 0, DATA_SIZE);
}

static void setup(void)
{
	rig_ready(&rig);
	make_queues();
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static int inject(struct trn_injection injection)
{
	return trn_chip_inject(rig.chip, &injection);
}

static void inject_queue(enum trn_inject fault, uint32_t ms)
{
	ck_assert_int_eq(
		inject((struct trn_injection){ .fault = fault, .queue = queue.id, .ms = ms }), 0);
}

static void inject_hang(enum trn_cure cure)
{
	ck_assert_int_eq(inject((struct trn_injection){
				 .fault = TRN_INJECT_HANG, .queue = queue.id, .cure = cure }),
			 0);
}

static void inject_chip(enum trn_inject fault, uint32_t ms)
{
	ck_assert_int_eq(inject((struct trn_injection){ .fault = fault, .ms = ms }), 0);
}

static uint16_t queue_command(uint8_t opcode)
{
	return rig_queue_command(&rig, opcode, queue.id);
}

static uint16_t context_reset(void)
{
	return rig_admin(&rig, (struct trn_admin_command){
				       .opcode = TRN_ADMIN_CONTEXT_RESET,
				       .context = { .asid = htole16(1) },
			       });
}

static void assert_other_works(void)
{
	uint32_t head = rig_head(&other);

	rig_execute(&rig, &other, rig_nop());
	ck_assert_uint_eq(rig_head(&other), head + 1);
}

/* The queue is destroyed, and a new one of the context works. */
static void assert_starts_anew(void)
{
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_DESTROY), TRN_ADMIN_SUCCESS);
	rig_queue_create(&rig, &queue, 2, &kernel, &space, 3);
	rig_execute(&rig, &queue, rig_fill(DATA_VA, 4096, 1, 0));
	ck_assert_uint_eq(rig_head(&queue), 1);
}

/* Hangs */

static const struct trn_running *running(void)
{
	const struct trn_log_running *log = rig_log(&rig, TRN_LOG_RUNNING, 0);

	ck_assert_uint_eq(le32toh(log->count), 1);
	ck_assert_uint_eq(le16toh(log->running[0].queue), queue.id);
	return &log->running[0];
}

/* It runs and runs, longer than its limit; nobody else notices. */
static void assert_hangs(void)
{
	uint64_t before, after;

	rig_run(&rig);
	before = le64toh(running()->packet_ns);
	rig_pass(&rig, 3 * HOUR_NS);
	rig_run(&rig);
	after = le64toh(running()->packet_ns);
	ck_assert_uint_ge(after, before + 3 * HOUR_NS);
	ck_assert_uint_lt(after, before + 4 * HOUR_NS);
	ck_assert_uint_ge(le64toh(running()->queue_ns), after);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
	rig_kick(&rig, queue.id);
	assert_other_works();
	ck_assert_uint_eq(rig_event_count(&rig), 0);
}

static void start_packet(unsigned int how)
{
	switch (how) {
	case 0:
		inject_hang(TRN_CURE_QUEUE);
		rig_submit(&rig, &queue, rig_nop());
		break;
	case 1: /* in progress */
		rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
		while (!rig.chip->queue[queue.id]->done)
			rig_step(&rig);
		inject_hang(TRN_CURE_QUEUE);
		break;
	case 2: /* parked */
		rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
		inject_hang(TRN_CURE_QUEUE);
		break;
	}
}

START_TEST(hang)
{
	start_packet(_i);
	assert_hangs();
	ck_assert_uint_eq(rig_head(&queue), 0);
	/* A fence does not help it. */
	trn_store64(fence, 1);
	assert_hangs();
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_RESET), TRN_ADMIN_SUCCESS);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_STOPPED);
	assert_other_works();
	assert_starts_anew();
}
END_TEST

/* Once a fence is stored its packet has finished: the next one hangs. */
START_TEST(hang_behind_a_fence)
{
	rig_put(&queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 3));
	rig_submit(&rig, &queue, rig_nop());
	while (trn_load64(fence) != 3)
		rig_step(&rig);
	inject_hang(TRN_CURE_QUEUE);
	assert_hangs();
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(hang_ends_with_destroy)
{
	inject_hang(TRN_CURE_QUEUE);
	rig_submit(&rig, &queue, rig_nop());
	assert_hangs();
	assert_starts_anew();
}
END_TEST

/* The packet begins again, and nothing hangs then. */
START_TEST(hang_ends_with_suspend)
{
	inject_hang(TRN_CURE_QUEUE);
	rig_submit(&rig, &queue, rig_nop());
	assert_hangs();
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_SUSPEND), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_RESUME), TRN_ADMIN_SUCCESS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

static void assert_engine_hung(void)
{
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_SUSPEND), TRN_ADMIN_ENGINE_HUNG);
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_RESET), TRN_ADMIN_ENGINE_HUNG);
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_DESTROY), TRN_ADMIN_ENGINE_HUNG);
	/* They have changed nothing. */
	assert_hangs();
}

START_TEST(hang_ends_with_context_reset)
{
	struct rig_queue sibling;

	rig_queue_create(&rig, &sibling, 3, &kernel, &space, 3);
	inject_hang(TRN_CURE_CONTEXT);
	rig_submit(&rig, &queue, rig_nop());
	assert_hangs();
	assert_engine_hung();
	rig_execute(&rig, &sibling, rig_nop());
	ck_assert_uint_eq(rig_head(&sibling), 1);
	ck_assert_uint_eq(context_reset(), TRN_ADMIN_SUCCESS);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_STOPPED);
	ck_assert_int_eq(rig_state(&rig, &sibling), TRN_QUEUE_STOPPED);
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_RESET), TRN_ADMIN_SUCCESS);
	assert_other_works();
	assert_starts_anew();
}
END_TEST

START_TEST(hang_ends_with_function_reset)
{
	struct rig_queue sibling;

	rig_queue_create(&rig, &sibling, 3, &kernel, &space, 3);
	inject_hang(TRN_CURE_FUNCTION);
	rig_submit(&rig, &queue, rig_nop());
	assert_hangs();
	assert_engine_hung();
	ck_assert_uint_eq(context_reset(), TRN_ADMIN_ENGINE_HUNG);
	/* What could be stopped is. */
	ck_assert_int_eq(rig_state(&rig, &sibling), TRN_QUEUE_STOPPED);
	assert_hangs();
	assert_engine_hung();
	trn_chip_reset(rig.chip);
	rig_enable(&rig, 16);
	make_queues();
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

/* One packet only. */
START_TEST(hang_is_used_up)
{
	inject_hang(TRN_CURE_CONTEXT);
	rig_submit(&rig, &queue, rig_nop());
	rig_run(&rig);
	ck_assert_uint_eq(context_reset(), TRN_ADMIN_SUCCESS);
	assert_starts_anew();
	for (unsigned int i = 0; i < 5; i++)
		rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 6);
}
END_TEST

/* Slow packets */

START_TEST(slow)
{
	uint64_t wait;

	inject_queue(TRN_INJECT_SLOW, 5000);
	rig_put(&queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 2));
	wait = rig_run(&rig);
	ck_assert_uint_le(wait, 5000 * MS);
	ck_assert_uint_gt(wait, 4000 * MS);
	assert_other_works();
	rig_pass(&rig, 4000 * MS);
	rig_run(&rig);
	ck_assert_uint_eq(trn_load64(fence), 0);
	ck_assert_uint_ge(le64toh(running()->packet_ns), 4000 * MS);
	rig_pass(&rig, 1000 * MS);
	rig_run(&rig);
	/* Only the first of them was slow. */
	ck_assert_uint_eq(rig_head(&queue), 2);
	ck_assert_uint_eq(trn_load64(fence), 2);
	ck_assert_uint_ge(rig.chip->queue[queue.id]->queue_ns, 5000 * MS);
}
END_TEST

START_TEST(slow_is_of_the_next_packet)
{
	rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	while (!rig.chip->queue[queue.id]->done)
		rig_step(&rig);
	inject_queue(TRN_INJECT_SLOW, 5000);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	rig_submit(&rig, &queue, rig_nop());
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	rig_pass(&rig, 5000 * MS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 2);
}
END_TEST

START_TEST(slower_than_the_limit)
{
	uint64_t wait;

	inject_queue(TRN_INJECT_SLOW, 2 * LIMIT_MS);
	rig_submit(&rig, &queue, rig_nop());
	wait = rig_run(&rig);
	/* The device comes back when the limit is exceeded, not at the end. */
	ck_assert_uint_le(wait, LIMIT_MS * MS + 1);
	rig_pass(&rig, wait);
	rig_run(&rig);
	rig_assert_stopped(&rig, &queue, TRN_STOP_TIME_LIMIT);
	ck_assert_uint_eq(rig_head(&queue), 0);
	assert_starts_anew();
}
END_TEST

static const uint8_t interrupters[] = { TRN_ADMIN_QUEUE_RESET, TRN_ADMIN_QUEUE_SUSPEND,
					TRN_ADMIN_QUEUE_DESTROY };

START_TEST(slow_can_be_interrupted)
{
	inject_queue(TRN_INJECT_SLOW, 5000);
	rig_submit(&rig, &queue, rig_nop());
	rig_run(&rig);
	ck_assert_uint_eq(queue_command(interrupters[_i]), TRN_ADMIN_SUCCESS);
	rig_pass(&rig, 5000 * MS);
	ck_assert_uint_eq(rig_run(&rig), UINT64_MAX);
	ck_assert_uint_eq(rig_head(&queue), 0);
	if (interrupters[_i] != TRN_ADMIN_QUEUE_SUSPEND)
		return;
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_RESUME), TRN_ADMIN_SUCCESS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

/* Stops */

START_TEST(bad_packet)
{
	rig_submit(&rig, &queue, rig_nop());
	rig_run(&rig);
	inject_queue(TRN_INJECT_BAD_PACKET, 0);
	rig_execute(&rig, &queue, rig_nop());
	rig_assert_stopped(&rig, &queue, TRN_STOP_BAD_OPCODE);
	ck_assert_uint_eq(rig_head(&queue), 1);
	/* What is in the ring is what was put there. */
	ck_assert_uint_eq(queue.ring[1].opcode, TRN_PACKET_NOP);
	assert_other_works();
	assert_starts_anew();
}
END_TEST

static const struct {
	enum trn_inject fault;
	uint8_t reason;
} operand_faults[] = {
	{ TRN_INJECT_PAGE_FAULT, TRN_STOP_FAULT_UNMAPPED },
	{ TRN_INJECT_DMA_ABORT, TRN_STOP_FAULT_HOST },
};

START_TEST(operand_fault)
{
	static const uint32_t size[4] = { 64, 4, 1, 1 }, stride[3] = { 128 };
	const uint8_t reason = operand_faults[_i].reason;

	inject_queue(operand_faults[_i].fault, 0);
	/* Fences and packets are no operands. */
	rig_execute(&rig, &queue, rig_nop());
	rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	ck_assert_uint_eq(rig_head(&queue), 3);
	rig_execute(&rig, &queue, rig_fill(DATA_VA + 4096, 4096, 1, 0));
	rig_assert_fault(&rig, &queue, reason, 1, TRN_ACCESS_WRITE, DATA_VA + 4096);
	ck_assert_uint_eq(rig.chip->hbm.memory[4096], 0);
	assert_other_works();
	assert_starts_anew();

	inject_queue(operand_faults[_i].fault, 0);
	rig_execute(&rig, &queue, rig_copy(DATA_VA + 64, DATA_VA + 8192, 64));
	rig_assert_fault(&rig, &queue, reason, 1, TRN_ACCESS_READ, DATA_VA + 64);
	ck_assert_uint_eq(queue_command(TRN_ADMIN_QUEUE_DESTROY), TRN_ADMIN_SUCCESS);

	rig_queue_create(&rig, &queue, 3, &kernel, &space, 3);
	inject_queue(operand_faults[_i].fault, 0);
	rig_execute(&rig, &queue, rig_copy_nd(DATA_VA + 64, DATA_VA + 8192, size, stride, stride));
	rig_assert_fault(&rig, &queue, reason, 1, TRN_ACCESS_READ, DATA_VA + 64);
}
END_TEST

START_TEST(operand_fault_amid_a_packet)
{
	uint64_t done;

	rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	while (!rig.chip->queue[queue.id]->done)
		rig_step(&rig);
	done = rig.chip->queue[queue.id]->done;
	inject_queue(TRN_INJECT_PAGE_FAULT, 0);
	rig_run(&rig);
	rig_assert_fault(&rig, &queue, TRN_STOP_FAULT_UNMAPPED, 1, TRN_ACCESS_WRITE,
			 DATA_VA + done);
}
END_TEST

/* Interrupts */

static void raise_vector(void)
{
	trn_store64(&queue.control->wake_at, 1);
	rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
}

static int inject_vector(enum trn_inject fault, unsigned int vector, uint32_t ms)
{
	return inject((struct trn_injection){ .fault = fault, .vector = vector, .ms = ms });
}

START_TEST(lost_interrupt)
{
	ck_assert_int_eq(inject_vector(TRN_INJECT_LOST_INTERRUPT, queue.vector, 0), 0);
	raise_vector();
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 0);
	raise_vector();
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
}
END_TEST

START_TEST(duplicate_interrupt)
{
	ck_assert_int_eq(inject_vector(TRN_INJECT_DUPLICATE_INTERRUPT, queue.vector, 0), 0);
	raise_vector();
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 2);
	raise_vector();
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 3);
}
END_TEST

START_TEST(late_interrupt)
{
	uint64_t wait;

	ck_assert_int_eq(inject_vector(TRN_INJECT_LATE_INTERRUPT, queue.vector, 700), 0);
	raise_vector();
	wait = rig_run(&rig);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 0);
	ck_assert_uint_le(wait, 700 * MS);
	/* It does not hold up the next one. */
	raise_vector();
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
	rig_pass(&rig, 700 * MS);
	ck_assert_uint_eq(rig_run(&rig), UINT64_MAX);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 2);
}
END_TEST

START_TEST(faults_of_the_admin_vector)
{
	unsigned int before = rig_interrupts(&rig, 0);

	ck_assert_int_eq(inject_vector(TRN_INJECT_LOST_INTERRUPT, 0, 0), 0);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, 0, 0), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_interrupts(&rig, 0), before);
	/* Even when all work has stopped. */
	ck_assert_int_eq(inject_vector(TRN_INJECT_LATE_INTERRUPT, 0, 100), 0);
	inject_chip(TRN_INJECT_FATAL, 0);
	ck_assert_uint_gt(rig_run(&rig), 0);
	ck_assert_uint_eq(rig_interrupts(&rig, 0), before);
	rig_pass(&rig, 100 * MS);
	rig_run(&rig);
	ck_assert_uint_eq(rig_interrupts(&rig, 0), before + 1);
}
END_TEST

/* Admin queue */

static const struct trn_admin_command invalidate = { .opcode = TRN_ADMIN_TLB_INVALIDATE };

START_TEST(lost_completion)
{
	struct trn_admin_command create = {
		.opcode = TRN_ADMIN_CONTEXT_CREATE,
		.context = { .asid = htole16(9), .root = htole64(RIG_RAM) },
	};
	struct trn_admin_completion completion;

	inject_chip(TRN_INJECT_LOST_COMPLETION, 0);
	rig_admin_put(&rig, &create);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert(!rig_admin_get(&rig, &completion));
	/* It was executed, and the next one completes. */
	ck_assert_uint_eq(rig_admin(&rig, create), TRN_ADMIN_EXISTS);
}
END_TEST

/* An EVENT command that begins to wait does not complete: it is not the one that is lost. */
START_TEST(lost_completion_is_not_an_event)
{
	const struct trn_admin_command event = {
		.opcode = TRN_ADMIN_EVENT,
		.data = { .buffer = htole64(rig_alloc(&rig, 4096)) },
	};
	struct trn_admin_completion completion;
	uint16_t id;

	inject_chip(TRN_INJECT_LOST_COMPLETION, 0);
	id = rig_admin_put(&rig, &event);
	rig_admin_put(&rig, &invalidate);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert(!rig_admin_get(&rig, &completion));
	rig_execute(&rig, &queue, (struct trn_packet){ .opcode = 0x7f });
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le16toh(completion.command_id), id);
}
END_TEST

START_TEST(garbage_completion)
{
	const struct trn_admin_command event = {
		.opcode = TRN_ADMIN_EVENT,
		.data = { .buffer = htole64(rig_alloc(&rig, 4096)) },
	};
	struct trn_admin_completion completion;
	uint16_t first, second;

	/* 65535 waits, 65534 is executed, 65533 … have been put into the ring. */
	rig.command_id = 65534;
	rig_admin_put(&rig, &event);
	rig.command_id = 65533;
	first = rig_admin_put(&rig, &invalidate);
	rig.command_id = 65532;
	second = rig_admin_put(&rig, &invalidate);
	inject_chip(TRN_INJECT_GARBAGE_COMPLETION, 0);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le16toh(completion.command_id), first);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_ne(le16toh(completion.command_id), second);
	ck_assert_uint_ne(le16toh(completion.command_id), 65535);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le16toh(completion.command_id), second);
	ck_assert(!rig_admin_get(&rig, &completion));
	/* That was all. */
	ck_assert_uint_eq(rig_admin(&rig, invalidate), TRN_ADMIN_SUCCESS);
	ck_assert(!rig_admin_get(&rig, &completion));
}
END_TEST

START_TEST(slow_completion)
{
	struct trn_admin_completion completion;
	uint16_t slow, next;
	uint64_t wait;

	inject_chip(TRN_INJECT_SLOW_COMPLETION, 900);
	slow = rig_admin_put(&rig, &invalidate);
	rig_admin_ring(&rig);
	wait = rig_run(&rig);
	ck_assert(!rig_admin_get(&rig, &completion));
	ck_assert_uint_le(wait, 900 * MS);
	/* Others need not wait for it. */
	next = rig_admin_put(&rig, &invalidate);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le16toh(completion.command_id), next);
	rig_pass(&rig, 900 * MS);
	rig_run(&rig);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le16toh(completion.command_id), slow);
	ck_assert_uint_eq(le16toh(completion.status), TRN_ADMIN_SUCCESS);
	ck_assert(!rig_admin_get(&rig, &completion));
}
END_TEST

/* All results that there can be at once: events, a command, a late one, garbage. */
START_TEST(most_results)
{
	struct trn_admin_command event = {
		.opcode = TRN_ADMIN_EVENT,
		.data = { .buffer = htole64(rig_alloc(&rig, 4096)) },
	};
	struct trn_admin_completion completion;
	struct rig_queue broken[8];
	unsigned int count = 0;

	for (uint16_t i = 0; i < 8; i++)
		rig_queue_create(&rig, &broken[i], 10 + i, &kernel, &kernel, 2);
	inject_chip(TRN_INJECT_SLOW_COMPLETION, 1000);
	rig_admin_put(&rig, &invalidate); /* slow */
	for (unsigned int i = 0; i < 8; i++)
		rig_admin_put(&rig, &event);
	rig_admin_ring(&rig);
	rig_run(&rig);
	inject_chip(TRN_INJECT_GARBAGE_COMPLETION, 0);
	/* Fill the completion ring, and one more. */
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int n = 0; n < 7; n++)
			rig_admin_put(&rig, &invalidate);
		rig_admin_ring(&rig);
		rig_run(&rig);
	}
	rig_admin_put(&rig, &invalidate);
	rig_admin_ring(&rig);
	rig_run(&rig);
	for (unsigned int i = 0; i < 8; i++)
		rig_execute(&rig, &broken[i], (struct trn_packet){ .opcode = 0x7f });
	rig_pass(&rig, 1000 * MS);
	rig_run(&rig);
	for (unsigned int i = 0; i < 40; i++) {
		while (rig_admin_get(&rig, &completion))
			count++;
		rig_run(&rig);
	}
	ck_assert_uint_eq(count, 1 + 8 + 15 + 1);
}
END_TEST

/* Chip */

START_TEST(heartbeat_stop)
{
	uint32_t beats;

	rig_pass(&rig, 10000 * MS);
	inject_chip(TRN_INJECT_HEARTBEAT_STOP, 0);
	beats = rig_read32(&rig, TRN_REG_HEARTBEAT);
	ck_assert_uint_ge(beats, 10000 / TRN_HEARTBEAT_MS);
	rig_pass(&rig, 10000 * MS);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_HEARTBEAT), beats);
	/* The rest of the chip lives. */
	assert_other_works();
	ck_assert_int_eq(inject((struct trn_injection){ .fault = TRN_INJECT_HEARTBEAT_STOP }),
			 -EALREADY);
	trn_chip_reset(rig.chip);
	beats = rig_read32(&rig, TRN_REG_HEARTBEAT);
	rig_pass(&rig, 10 * TRN_HEARTBEAT_MS * MS);
	ck_assert_uint_ge(rig_read32(&rig, TRN_REG_HEARTBEAT), beats + 10);
}
END_TEST

START_TEST(fatal)
{
	unsigned int interrupts = rig_interrupts(&rig, 0);

	rig_submit(&rig, &queue, rig_nop());
	inject_chip(TRN_INJECT_FATAL, 0);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS),
			  TRN_STATUS_FATAL | TRN_FATAL_ADMIN_DMA << TRN_STATUS_REASON_SHIFT);
	ck_assert_uint_eq(rig_interrupts(&rig, 0), interrupts + 1);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 0);
	ck_assert_int_eq(inject((struct trn_injection){ .fault = TRN_INJECT_FATAL }), -EAGAIN);
	rig_write32(&rig, TRN_REG_CTRL, 0);
	rig_run(&rig);
	rig_enable(&rig, 16);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), TRN_STATUS_READY);
}
END_TEST

START_TEST(death)
{
	unsigned int accesses;

	rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	while (!rig.chip->queue[queue.id]->done)
		rig_step(&rig);
	inject_chip(TRN_INJECT_DEATH, 0);
	accesses = rig_accesses(&rig);
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(rig_read32(&rig, TRN_REG_MAGIC), UINT32_MAX);
		ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), UINT32_MAX);
		ck_assert_uint_eq(rig_read32(&rig, TRN_REG_HEARTBEAT), UINT32_MAX);
		ck_assert_uint_eq(rig_read64(&rig, TRN_REG_CAP_HBM_STACK_SIZE), UINT64_MAX);
		ck_assert_uint_eq(rig_read32(&rig, 0x8000), UINT32_MAX);
		rig_kick(&rig, queue.id);
		rig_write32(&rig, TRN_REG_CTRL, 0);
		rig_write32(&rig, TRN_REG_CTRL, TRN_CTRL_ENABLE);
		rig_write32(&rig, TRN_REG_ADMIN_SQ_TAIL, 1);
		ck_assert_uint_eq(rig_run(&rig), UINT64_MAX);
		/* No reset brings it back. */
		trn_chip_reset(rig.chip);
	}
	ck_assert_uint_eq(rig_accesses(&rig), accesses);
	ck_assert_int_eq(inject((struct trn_injection){ .fault = TRN_INJECT_FATAL }), -ENODEV);
	ck_assert_int_eq(inject((struct trn_injection){ .fault = TRN_INJECT_DEATH }), -ENODEV);

	trn_chip_power_on(rig.chip);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_MAGIC), TRN_MAGIC);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_CTRL), 0);
	rig_enable(&rig, 16);
	make_queues();
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

/* Requests */

START_TEST(refused)
{
	static const enum trn_inject of_queue[] = { TRN_INJECT_HANG, TRN_INJECT_SLOW,
						    TRN_INJECT_PAGE_FAULT, TRN_INJECT_BAD_PACKET,
						    TRN_INJECT_DMA_ABORT };
	static const enum trn_inject of_vector[] = { TRN_INJECT_LOST_INTERRUPT,
						     TRN_INJECT_DUPLICATE_INTERRUPT,
						     TRN_INJECT_LATE_INTERRUPT };
	static const enum trn_inject of_chip[] = { TRN_INJECT_LOST_COMPLETION,
						   TRN_INJECT_GARBAGE_COMPLETION,
						   TRN_INJECT_SLOW_COMPLETION };

	for (size_t i = 0; i < sizeof(of_queue) / sizeof(of_queue[0]); i++) {
		struct trn_injection injection = { .fault = of_queue[i], .queue = 77, .ms = 1 };

		ck_assert_int_eq(inject(injection), -ENOENT);
		injection.queue = TRN_QUEUES;
		ck_assert_int_eq(inject(injection), -ENOENT);
		injection.queue = queue.id;
		ck_assert_int_eq(inject(injection), 0);
		ck_assert_int_eq(inject(injection), -EALREADY);
		injection.queue = other.id;
		ck_assert_int_eq(inject(injection), 0);
	}
	for (size_t i = 0; i < sizeof(of_vector) / sizeof(of_vector[0]); i++) {
		unsigned int vector = 5 + i;

		ck_assert_int_eq(inject_vector(of_vector[i], TRN_VECTORS, 1), -ENOENT);
		ck_assert_int_eq(inject_vector(of_vector[i], vector, 1), 0);
		/* One at a time, of whatever kind. */
		ck_assert_int_eq(inject_vector(of_vector[0], vector, 1), -EALREADY);
		ck_assert_int_eq(inject_vector(of_vector[2], vector, 1), -EALREADY);
	}
	for (size_t i = 0; i < sizeof(of_chip) / sizeof(of_chip[0]); i++) {
		inject_chip(of_chip[i], 1);
		ck_assert_int_eq(inject((struct trn_injection){ .fault = of_chip[i] }), -EALREADY);
	}
	ck_assert_int_eq(inject((struct trn_injection){ .fault = TRN_INJECT_NOTHING }), -EINVAL);
}
END_TEST

START_TEST(stopped_queue_is_refused)
{
	rig_execute(&rig, &queue, (struct trn_packet){ .opcode = 0x7f });
	ck_assert_int_eq(
		inject((struct trn_injection){ .fault = TRN_INJECT_HANG, .queue = queue.id }),
		-ESHUTDOWN);
}
END_TEST

/* What is on its way is not used up yet. */
START_TEST(in_progress_is_refused)
{
	ck_assert_int_eq(inject_vector(TRN_INJECT_LATE_INTERRUPT, queue.vector, 1000), 0);
	raise_vector();
	ck_assert_int_eq(inject_vector(TRN_INJECT_LATE_INTERRUPT, queue.vector, 1000), -EALREADY);
	rig_pass(&rig, 1000 * MS);
	rig_run(&rig);
	ck_assert_int_eq(inject_vector(TRN_INJECT_LATE_INTERRUPT, queue.vector, 1000), 0);

	inject_chip(TRN_INJECT_SLOW_COMPLETION, 1000);
	rig_admin_put(&rig, &invalidate);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert_int_eq(inject((struct trn_injection){ .fault = TRN_INJECT_SLOW_COMPLETION }),
			 -EALREADY);
	rig_pass(&rig, 1000 * MS);
	rig_run(&rig);
	inject_chip(TRN_INJECT_SLOW_COMPLETION, 1000);
}
END_TEST

/* A reset of the function ends every fault, whether it waits or has struck. */
START_TEST(reset_ends_all)
{
	unsigned int interrupts;

	if (_i) {
		inject_hang(TRN_CURE_FUNCTION);
		ck_assert_int_eq(inject_vector(TRN_INJECT_LATE_INTERRUPT, other.vector, 1), 0);
		inject_chip(TRN_INJECT_SLOW_COMPLETION, 1);
		rig_submit(&rig, &queue, rig_nop());
		trn_store64(&other.control->wake_at, 1);
		rig_submit(&rig, &other, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
		rig_admin_put(&rig, &invalidate);
		rig_admin_ring(&rig);
		rig_run(&rig);
	}
	inject_queue(TRN_INJECT_SLOW, 5000);
	inject_queue(TRN_INJECT_PAGE_FAULT, 0);
	inject_queue(TRN_INJECT_BAD_PACKET, 0);
	inject_queue(TRN_INJECT_DMA_ABORT, 0);
	ck_assert_int_eq(inject_vector(TRN_INJECT_LOST_INTERRUPT, queue.vector, 0), 0);
	ck_assert_int_eq(inject_vector(TRN_INJECT_DUPLICATE_INTERRUPT, 0, 0), 0);
	inject_chip(TRN_INJECT_LOST_COMPLETION, 0);
	inject_chip(TRN_INJECT_GARBAGE_COMPLETION, 0);
	inject_chip(TRN_INJECT_HEARTBEAT_STOP, 0);
	inject_chip(TRN_INJECT_FATAL, 0);
	trn_chip_reset(rig.chip);
	rig_enable(&rig, 16);
	rig_pass(&rig, 1000 * MS);
	interrupts = rig_interrupts(&rig, 0);
	make_queues();
	ck_assert_uint_eq(rig_interrupts(&rig, 0), interrupts + 4);
	interrupts = rig_interrupts(&rig, other.vector);
	raise_vector();
	rig_execute(&rig, &queue, rig_fill(DATA_VA, 4096, 1, 0));
	ck_assert_uint_eq(rig_head(&queue), 2);
	ck_assert_uint_eq(rig_interrupts(&rig, queue.vector), 1);
	ck_assert_uint_eq(rig_interrupts(&rig, other.vector), interrupts);
	ck_assert_uint_gt(rig_read32(&rig, TRN_REG_HEARTBEAT), 0);
}
END_TEST

/* Threads: faults come while an executor works. */

static void *injector(void *argument)
{
	int *stop = argument;

	while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
		inject((struct trn_injection){ .fault = TRN_INJECT_SLOW, .queue = other.id });
		inject_vector(TRN_INJECT_DUPLICATE_INTERRUPT, other.vector, 0);
		inject((struct trn_injection){ .fault = TRN_INJECT_HANG, .queue = 99 });
		inject((struct trn_injection){ .fault = TRN_INJECT_SLOW_COMPLETION });
	}
	return NULL;
}

START_TEST(injected_from_another_thread)
{
	pthread_t thread;
	int stop = 0;

	trn_store64(&other.control->wake_at, 1);
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, injector, &stop), 0);
	for (uint32_t i = 1; i <= 2000; i++) {
		rig_submit(&rig, &other, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, i));
		while (rig_head(&other) != i)
			;
	}
	for (unsigned int i = 0; i < 5; i++)
		trn_chip_reset(rig.chip);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	trn_chip_stop(rig.chip);
}
END_TEST

static struct {
	int wanted, reached; /* atomic */
} standstill;

static void stand_still(void *data, uint64_t dma)
{
	(void)data;
	(void)dma;
	while (__atomic_load_n(&standstill.wanted, __ATOMIC_ACQUIRE))
		__atomic_store_n(&standstill.reached, 1, __ATOMIC_RELEASE);
}

/* A step that waits for its host for ever holds up whoever injects for a while only. */
START_TEST(step_without_end)
{
	rig.on_map = stand_still;
	standstill.wanted = 1;
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	rig_submit(&rig, &queue, rig_nop());
	while (!__atomic_load_n(&standstill.reached, __ATOMIC_ACQUIRE))
		;
	ck_assert_int_eq(inject((struct trn_injection){ .fault = TRN_INJECT_LOST_COMPLETION }),
			 -ETIMEDOUT);
	__atomic_store_n(&standstill.wanted, 0, __ATOMIC_RELEASE);
	/* The chip goes on, without the fault. */
	while (rig_head(&queue) != 1)
		;
	inject_chip(TRN_INJECT_LOST_COMPLETION, 0);
}
END_TEST

/* An executor that sleeps hears of what it has to do later, and of the end. */
START_TEST(hang_with_an_executor)
{
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	inject_queue(TRN_INJECT_SLOW, 20);
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA, 1));
	while (trn_load64(fence) != 1)
		;
	inject_hang(TRN_CURE_FUNCTION);
	rig_submit(&rig, &queue, rig_nop());
	trn_chip_reset(rig.chip);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), 0);
}
END_TEST

Suite *inject_suite(void)
{
	Suite *suite = suite_create("inject");
	TCase *tcase = tcase_create("inject");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, hang, 0, 3);
	tcase_add_test(tcase, hang_behind_a_fence);
	tcase_add_test(tcase, hang_ends_with_destroy);
	tcase_add_test(tcase, hang_ends_with_suspend);
	tcase_add_test(tcase, hang_ends_with_context_reset);
	tcase_add_test(tcase, hang_ends_with_function_reset);
	tcase_add_test(tcase, hang_is_used_up);
	tcase_add_test(tcase, slow);
	tcase_add_test(tcase, slow_is_of_the_next_packet);
	tcase_add_test(tcase, slower_than_the_limit);
	tcase_add_loop_test(tcase, slow_can_be_interrupted, 0, sizeof(interrupters));
	tcase_add_test(tcase, bad_packet);
	tcase_add_loop_test(tcase, operand_fault, 0, 2);
	tcase_add_test(tcase, operand_fault_amid_a_packet);
	tcase_add_test(tcase, lost_interrupt);
	tcase_add_test(tcase, duplicate_interrupt);
	tcase_add_test(tcase, late_interrupt);
	tcase_add_test(tcase, faults_of_the_admin_vector);
	tcase_add_test(tcase, lost_completion);
	tcase_add_test(tcase, lost_completion_is_not_an_event);
	tcase_add_test(tcase, garbage_completion);
	tcase_add_test(tcase, slow_completion);
	tcase_add_test(tcase, most_results);
	tcase_add_test(tcase, heartbeat_stop);
	tcase_add_test(tcase, fatal);
	tcase_add_test(tcase, death);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, stopped_queue_is_refused);
	tcase_add_test(tcase, in_progress_is_refused);
	tcase_add_loop_test(tcase, reset_ends_all, 0, 2);
	tcase_add_test(tcase, injected_from_another_thread);
	tcase_add_test(tcase, step_without_end);
	tcase_add_test(tcase, hang_with_an_executor);
	suite_add_tcase(suite, tcase);
	return suite;
}
