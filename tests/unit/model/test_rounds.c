// SPDX-License-Identifier: MIT
/* Rounds: 2^priority turns for each queue with work, whatever the others do. */
#include "rig.h"
#include "suites.h"

#define FENCE_VA      0x10000ULL    /* in all spaces: fences */
#define DATA_VA	      0x80000000ULL /* 16 MiB of HBM */
#define DATA_SIZE     (16ULL << 20)
#define PRIORITIES    (TRN_QUEUE_PRIORITY_MAX + 1)

#define PARKED	      100

/* WAKE, POLL, FETCH, EXECUTE, NOTIFY, INTERRUPT and RETIRE; before it all looks that are due. */
#define STEPS_OF_TURN 8

static struct rig rig;
static struct rig_space kernel, user;
static __le64 *fence;

static void setup(void)
{
	uint64_t dma;

	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &user, 1);
	dma = rig_alloc(&rig, TRN_PAGE_SIZE);
	fence = rig_pointer(&rig, dma);
	rig_map(&rig, &kernel, FENCE_VA, TRN_PTE_TARGET_HOST, dma, TRN_PAGE_SIZE);
	rig_map(&rig, &user, FENCE_VA, TRN_PTE_TARGET_HOST, dma, TRN_PAGE_SIZE);
	rig_map(&rig, &user, DATA_VA, TRN_PTE_TARGET_HBM, 0, DATA_SIZE);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

/* All that the ring holds, again and again. */
static void refill(struct rig_queue *queue)
{
	queue->tail = rig_head(queue) + queue->size;
	rig_store_tail(queue);
}

static void fill_ring(struct rig_queue *queue, struct trn_packet packet)
{
	for (unsigned int i = 0; i < queue->size; i++)
		rig_put(queue, packet);
	rig_store_tail(queue);
	rig_kick(&rig, queue->id);
}

/* Queues of all priorities that never run dry: none gets ahead of its share, or behind. */
START_TEST(shares)
{
	struct rig_queue queue[PRIORITIES];

	for (uint8_t i = 0; i < PRIORITIES; i++) {
		rig_queue_create_limited(&rig, &queue[i], 5U * i, &user, &user, 6, i, 0);
		fill_ring(&queue[i], rig_nop());
	}
	while (rig_head(&queue[0]) < 300) {
		uint32_t rounds;

		rig_step(&rig);
		rounds = rig_head(&queue[0]);
		for (unsigned int i = 1; i < PRIORITIES; i++) {
			ck_assert_uint_le(rig_head(&queue[i]), (rounds + 1) << i);
			if (rounds)
				ck_assert_uint_ge(rig_head(&queue[i]), (rounds - 1) << i);
		}
		for (unsigned int i = 0; i < PRIORITIES; i++)
			refill(&queue[i]);
	}
}
END_TEST

/* A turn of a long packet is a bounded part of it, so the share is that of the bytes. */
START_TEST(shares_of_long_packets)
{
	struct rig_queue low, high;
	const struct trn_queue *state;

	rig_queue_create_limited(&rig, &low, 0, &user, &user, 2, 0, 0);
	rig_queue_create_limited(&rig, &high, 1, &user, &user, 2, 2, 0);
	rig_submit(&rig, &low, rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	rig_submit(&rig, &high, rig_fill(DATA_VA, DATA_SIZE, 2, 0));
	while (!rig_head(&high))
		rig_step(&rig);
	state = rig.chip->queue[low.id];
	ck_assert_uint_ge(state->done, DATA_SIZE / 4 - (2 << 20));
	ck_assert_uint_le(state->done, DATA_SIZE / 4 + (2 << 20));
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&low), 1);
}
END_TEST

/* Priorities share what there is to share: alone, the lowest works as fast as any. */
START_TEST(lowest_alone)
{
	struct rig_queue low, idle;
	unsigned int steps = 0;

	rig_queue_create_limited(&rig, &low, 0, &user, &user, 6, 0, 0);
	rig_queue_create_limited(&rig, &idle, 1, &user, &user, 6, TRN_QUEUE_PRIORITY_MAX, 0);
	fill_ring(&low, rig_nop());
	while (rig_head(&low) < 64) {
		rig_step(&rig);
		ck_assert_uint_le(++steps, 64 * STEPS_OF_TURN);
	}
}
END_TEST

/* A queue that has slept takes no more than its share when it comes back. */
START_TEST(no_turns_are_saved)
{
	struct rig_queue busy, late;
	uint32_t head;

	rig_queue_create_limited(&rig, &busy, 0, &user, &user, 6, 0, 0);
	rig_queue_create_limited(&rig, &late, 1, &user, &user, 6, 1, 0);
	fill_ring(&busy, rig_nop());
	while (rig_head(&busy) < 1000) {
		rig_step(&rig);
		refill(&busy);
	}
	head = rig_head(&busy);
	fill_ring(&late, rig_nop());
	while (rig_head(&late) < 60) {
		rig_step(&rig);
		refill(&busy);
		ck_assert_uint_le(rig_head(&late), 2 * (rig_head(&busy) - head + 1));
	}
}
END_TEST

/*
 * What a bad neighbour does.  Each is given a queue of the highest priority, and is called
 * before every step.
 */
struct neighbour {
	void (*begin)(struct rig_queue *queue);
	void (*go_on)(struct rig_queue *queue);
};

static void begin_nops(struct rig_queue *queue)
{
	fill_ring(queue, rig_nop());
}

static void begin_reached_waits(struct rig_queue *queue)
{
	fill_ring(queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 0));
}

static void begin_endless_waits(struct rig_queue *queue)
{
	fill_ring(queue, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, UINT64_MAX));
}

static void begin_fence_writes(struct rig_queue *queue)
{
	fill_ring(queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA + 64, 1));
}

/* 2^40 bytes in runs of one, all valid. */
static void begin_tiny_runs(struct rig_queue *queue)
{
	static const uint32_t size[4] = { 1, 1 << 20, 1 << 20, 1 };
	static const uint32_t nowhere[3] = { 0 };

	fill_ring(queue, rig_copy_nd(DATA_VA, DATA_VA + 4096, size, nowhere, nowhere));
}

static void begin_garbage(struct rig_queue *queue)
{
	rig_pattern(queue->ring, queue->size * sizeof(struct trn_packet), queue->id);
	/* Garbage that begins well goes on longer. */
	queue->ring[0] = rig_nop();
	queue->ring[1] = rig_fill(DATA_VA, 1 << 20, queue->id, 0);
	refill(queue);
	rig_kick(&rig, queue->id);
}

static void go_on_nothing(struct rig_queue *queue)
{
	(void)queue;
}

static void go_on_kick(struct rig_queue *queue)
{
	refill(queue);
	rig_kick(&rig, queue->id);
}

static void go_on_garbage(struct rig_queue *queue)
{
	rig_pattern(queue->ring, queue->size * sizeof(struct trn_packet), rig_below(1 << 30));
	rig_pattern(queue->control, 64, rig_below(1 << 30));
	rig_kick(&rig, queue->id);
}

static const struct neighbour neighbours[] = {
	{ begin_nops, refill },
	{ begin_nops, go_on_kick },
	{ begin_reached_waits, go_on_kick },
	{ begin_endless_waits, go_on_nothing },
	{ begin_endless_waits, go_on_kick },
	{ begin_fence_writes, go_on_kick },
	{ begin_tiny_runs, refill },
	{ begin_garbage, go_on_nothing },
	{ begin_garbage, go_on_garbage },
};

#define NEIGHBOURS (sizeof(neighbours) / sizeof(neighbours[0]))

/*
 * A kernel queue of the lowest priority has packets rounds of work at most, and each round
 * has at most 2^priority turns of each other queue: so many steps, whatever those do.
 */
static void assert_kernel_queue_works(struct rig_queue *queue, unsigned int others,
				      void (*go_on)(void *data), void *data)
{
	const unsigned int packets = 3;
	const unsigned int round = (others << TRN_QUEUE_PRIORITY_MAX) + 1;
	const unsigned int bound = (packets + 1) * round * STEPS_OF_TURN;

	for (uint64_t i = 1; i <= 5; i++) {
		unsigned int steps = 0;
		uint32_t head = rig_head(queue);

		for (unsigned int n = 1; n < packets; n++)
			rig_put(queue, rig_nop());
		rig_submit(&rig, queue, rig_fence(TRN_PACKET_FENCE_WRITE, FENCE_VA + 128, i));
		while (rig_head(queue) != head + packets) {
			go_on(data);
			rig_step(&rig);
			ck_assert_uint_le(++steps, bound);
		}
		ck_assert_uint_eq(trn_load64(fence + 16), i);
	}
}

struct neighbourhood {
	const struct neighbour *kind;
	struct rig_queue queue[16];
	unsigned int count;
};

static void all_go_on(void *data)
{
	struct neighbourhood *others = data;

	for (unsigned int i = 0; i < others->count; i++)
		others->kind->go_on(&others->queue[i]);
}

START_TEST(bad_neighbours)
{
	static struct neighbourhood others;
	struct rig_queue kernel_queue;

	others.kind = &neighbours[_i];
	others.count = 16;
	rig_random_seed(7);
	rig_queue_create(&rig, &kernel_queue, 100, &kernel, &user, 4);
	for (unsigned int i = 0; i < others.count; i++) {
		rig_queue_create_limited(&rig, &others.queue[i], (uint16_t)(i * 16), &user, &user,
					 6, TRN_QUEUE_PRIORITY_MAX, 0);
		others.kind->begin(&others.queue[i]);
	}
	for (unsigned int i = 0; i < 300; i++) {
		all_go_on(&others);
		rig_step(&rig);
	}
	assert_kernel_queue_works(&kernel_queue, others.count, all_go_on, &others);
}
END_TEST

static void pass_a_millisecond(void *data)
{
	refill(data);
	rig_pass(&rig, 1000000);
}

/* Parked queues without number, whose looks are always due: by time, and by fence writes. */
START_TEST(many_looks)
{
	static struct rig_queue parked[PARKED];
	struct rig_queue kernel_queue, writer;

	rig_queue_create(&rig, &kernel_queue, 250, &kernel, &user, 4);
	rig_queue_create_limited(&rig, &writer, 251, &user, &user, 4, TRN_QUEUE_PRIORITY_MAX, 0);
	for (uint16_t i = 0; i < PARKED; i++) {
		rig_queue_create_limited(&rig, &parked[i], i, &user, &user, 2,
					 TRN_QUEUE_PRIORITY_MAX, 0);
		begin_endless_waits(&parked[i]);
	}
	begin_fence_writes(&writer);
	assert_kernel_queue_works(&kernel_queue, PARKED + 1, pass_a_millisecond, &writer);
	/* They have looked all the time: the next look finds the fence, and a turn each follows. */
	trn_store64(fence, UINT64_MAX);
	for (unsigned int i = 0; i < 2 * (PARKED + 1) * STEPS_OF_TURN; i++) {
		pass_a_millisecond(&writer);
		rig_step(&rig);
	}
	for (uint16_t i = 0; i < PARKED; i++)
		ck_assert_uint_ge(rig_head(&parked[i]), 1);
}
END_TEST

/* Fence waits under load are looked at each millisecond, though every queue has long work. */
START_TEST(looks_are_in_time)
{
	struct rig_queue parked, busy[8];

	rig_queue_create(&rig, &parked, 0, &user, &user, 2);
	rig_submit(&rig, &parked, rig_fence(TRN_PACKET_FENCE_WAIT, FENCE_VA, 1));
	rig_run(&rig);
	for (uint16_t i = 0; i < 8; i++) {
		rig_queue_create_limited(&rig, &busy[i], 1 + i, &user, &user, 2,
					 TRN_QUEUE_PRIORITY_MAX, 0);
		rig_submit(&rig, &busy[i], rig_fill(DATA_VA, DATA_SIZE, 1, 0));
	}
	while (!rig.chip->queue[8]->done)
		rig_step(&rig);
	trn_store64(fence, 1);
	rig_pass(&rig, 1000000);
	/* A turn may be under way. */
	for (unsigned int i = 0; i < STEPS_OF_TURN; i++)
		rig_step(&rig);
	ck_assert_int_ne(rig.chip->queue[0]->phase, TRN_PHASE_PARKED);
}
END_TEST

Suite *rounds_suite(void)
{
	Suite *suite = suite_create("rounds");
	TCase *tcase = tcase_create("rounds");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, shares);
	tcase_add_test(tcase, shares_of_long_packets);
	tcase_add_test(tcase, lowest_alone);
	tcase_add_test(tcase, no_turns_are_saved);
	tcase_add_loop_test(tcase, bad_neighbours, 0, NEIGHBOURS);
	tcase_add_test(tcase, many_looks);
	tcase_add_test(tcase, looks_are_in_time);
	suite_add_tcase(suite, tcase);
	return suite;
}
