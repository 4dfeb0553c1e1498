// SPDX-License-Identifier: MIT
/*
 * Invalidate and destroy while a long copy runs in the executor's thread.  A copy is
 * caught in the middle of a unit, by the host's map function, and held there.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "rig.h"
#include "suites.h"
#include "tools/vdev/model/dma.h"

#define LENGTH	  (8ULL << 20)
#define PIECE	  (64ULL << 10) /* what the host gives at a time */
#define SOURCE_VA 0x10000000ULL
#define HBM_VA	  0x80000000ULL
#define CATCH_AT  (3 * LENGTH / 8 + 5 * PIECE)
#define LIMIT_S	  20

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue;
static uint64_t old_dma, new_dma;

/* What the executor's thread meets; lock guards all of it. */
static struct trap {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t catch_dma; /* the first map here or behind is caught; 0: none */
	uint64_t caught_at; /* offset in old memory; 0: not yet */
	bool released;
	unsigned int completions; /* interrupts of vector 0 since the release */
	unsigned int maps_until_completion;
	unsigned int old_maps; /* maps of old memory after the first completion */
} trap = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void on_map(void *data, uint64_t dma)
{
	(void)data;
	pthread_mutex_lock(&trap.lock);
	if (trap.catch_dma && dma >= trap.catch_dma && dma < old_dma + LENGTH) {
		trap.catch_dma = 0;
		trap.caught_at = dma - old_dma;
		pthread_cond_broadcast(&trap.changed);
		while (!trap.released)
			pthread_cond_wait(&trap.changed, &trap.lock);
	}
	if (trap.released && !trap.completions)
		trap.maps_until_completion++;
	if (trap.completions && dma >= old_dma && dma < old_dma + LENGTH)
		trap.old_maps++;
	pthread_mutex_unlock(&trap.lock);
}

static void on_interrupt(void *data, unsigned int vector)
{
	(void)data;
	if (vector)
		return;
	pthread_mutex_lock(&trap.lock);
	trap.completions += trap.released;
	pthread_mutex_unlock(&trap.lock);
}

static void setup(void)
{
	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 5);
	rig_queue_create(&rig, &queue, 0, &kernel, &space, 4);
	old_dma = rig_alloc(&rig, LENGTH);
	new_dma = rig_alloc(&rig, LENGTH);
	memset(rig_pointer(&rig, old_dma), 0x01, LENGTH);
	memset(rig_pointer(&rig, new_dma), 0x02, LENGTH);
	rig_map(&rig, &space, SOURCE_VA, TRN_PTE_TARGET_HOST, old_dma, LENGTH);
	rig_map_leaves(&rig, &space, HBM_VA, TRN_PTE_TARGET_HBM, 0, LENGTH, 1);
	rig.map_limit = PIECE;
	rig.on_map = on_map;
	rig.on_interrupt = on_interrupt;
	trap.catch_dma = old_dma + CATCH_AT;
	trap.caught_at = 0;
	trap.released = false;
	trap.completions = trap.maps_until_completion = trap.old_maps = 0;
}

static void teardown(void)
{
	trn_chip_stop(rig.chip);
	rig_destroy(&rig);
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Starts the executor on a copy, which is caught when this returns. */
static void catch_copy(void)
{
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	rig_submit(&rig, &queue, rig_copy(SOURCE_VA, HBM_VA, LENGTH));
	pthread_mutex_lock(&trap.lock);
	while (!trap.caught_at)
		pthread_cond_wait(&trap.changed, &trap.lock);
	pthread_mutex_unlock(&trap.lock);
}

static void release(void)
{
	pthread_mutex_lock(&trap.lock);
	trap.released = true;
	pthread_cond_broadcast(&trap.changed);
	pthread_mutex_unlock(&trap.lock);
}

static void put_invalidate(void)
{
	const struct trn_admin_command command = {
		.opcode = TRN_ADMIN_TLB_INVALIDATE,
		.invalidate = { .asid = htole16(space.asid),
				.va = htole64(SOURCE_VA),
				.length = htole64(LENGTH) },
	};

	rig_admin_put(&rig, &command);
}

static void put_destroys(void)
{
	const struct trn_admin_command destroy_queue = {
		.opcode = TRN_ADMIN_QUEUE_DESTROY,
		.queue = { .queue = htole16(queue.id) },
	};
	const struct trn_admin_command destroy_context = {
		.opcode = TRN_ADMIN_CONTEXT_DESTROY,
		.context = { .asid = htole16(space.asid) },
	};

	rig_admin_put(&rig, &destroy_queue);
	rig_admin_put(&rig, &destroy_context);
}

/* No command completes while the copy is caught, however often one looks. */
static void assert_waits(void)
{
	struct trn_admin_completion completion;
	const struct timespec moment = { .tv_nsec = 1000000 };

	for (unsigned int i = 0; i < 20; i++) {
		ck_assert(!rig_admin_get(&rig, &completion));
		nanosleep(&moment, NULL);
	}
}

static void wait_for_success(void)
{
	struct trn_admin_completion completion;
	time_t limit = seconds() + LIMIT_S;

	while (!rig_admin_get(&rig, &completion))
		ck_assert_int_lt(seconds(), limit);
	ck_assert_uint_eq(le16toh(completion.status), TRN_ADMIN_SUCCESS);
}

static void wait_for_head(uint32_t head)
{
	time_t limit = seconds() + LIMIT_S;

	while (rig_head(&queue) != head)
		ck_assert_int_lt(seconds(), limit);
}

static struct trap trap_now(void)
{
	struct trap copy;

	pthread_mutex_lock(&trap.lock);
	copy = trap;
	pthread_mutex_unlock(&trap.lock);
	return copy;
}

/* Maps that one unit of the copy makes, those of an admin command, and a packet's. */
#define MAPS_MAX (TRN_DMA_UNIT / PIECE + 16)

START_TEST(invalidate_waits_for_the_unit)
{
	const uint8_t *hbm = rig.chip->hbm.memory;

	catch_copy();
	rig_map(&rig, &space, SOURCE_VA, TRN_PTE_TARGET_HOST, new_dma, LENGTH);
	put_invalidate();
	rig_admin_ring(&rig);
	assert_waits();
	release();
	wait_for_success();
	/* The memory is software's again. */
	memset(rig_pointer(&rig, old_dma), 0xbd, LENGTH);
	wait_for_head(1);
	/* It waited for no more than that unit, and for one more that was its turn. */
	ck_assert_uint_le(trap_now().maps_until_completion, 2 * MAPS_MAX);
	ck_assert_uint_eq(trap_now().old_maps, 0);
	for (uint64_t i = 0; i < LENGTH; i++) {
		if (hbm[i] != 0x01 && hbm[i] != 0x02)
			ck_abort_msg("byte %#jx is %#x", (uintmax_t)i, hbm[i]);
	}
	ck_assert_uint_eq(hbm[CATCH_AT - 1], 0x01);
	ck_assert_uint_eq(hbm[LENGTH - 1], 0x02);
}
END_TEST

/* The same by software that forgets its invalidate: the old memory is read to the end. */
START_TEST(without_invalidate_the_copy_reads_old_memory)
{
	const uint8_t *hbm = rig.chip->hbm.memory;
	uint64_t caught_at;

	/* All translations are cached by a first copy. */
	trap.catch_dma = 0;
	rig_execute(&rig, &queue, rig_copy(SOURCE_VA, HBM_VA, LENGTH));
	trap.catch_dma = old_dma + CATCH_AT;
	catch_copy();
	rig_map(&rig, &space, SOURCE_VA, TRN_PTE_TARGET_HOST, new_dma, LENGTH);
	caught_at = trap_now().caught_at;
	memset((uint8_t *)rig_pointer(&rig, old_dma) + caught_at, 0xbd, LENGTH - caught_at);
	release();
	wait_for_head(2);
	for (uint64_t i = 0; i < LENGTH; i++) {
		if (hbm[i] != (i < caught_at ? 0x01 : 0xbd))
			ck_abort_msg("byte %#jx is %#x", (uintmax_t)i, hbm[i]);
	}
}
END_TEST

START_TEST(destroy_waits_for_the_unit)
{
	struct rig_space again;
	struct rig_queue successor;

	catch_copy();
	put_destroys();
	rig_admin_ring(&rig);
	assert_waits();
	release();
	wait_for_success();
	wait_for_success();
	ck_assert_uint_le(trap_now().maps_until_completion, 2 * MAPS_MAX);
	ck_assert_uint_eq(trap_now().old_maps, 0);
	ck_assert_uint_eq(rig_head(&queue), 0);

	/* Nothing of the context is cached: the ASID is used again, with empty tables. */
	trn_chip_stop(rig.chip);
	rig_space_create(&rig, &again, space.asid);
	rig_queue_create(&rig, &successor, queue.id + 1, &kernel, &again, 4);
	rig_execute(&rig, &successor, rig_fill(HBM_VA, 1, 1, 0));
	rig_assert_fault(&rig, &successor, TRN_STOP_FAULT_UNMAPPED, space.asid, TRN_ACCESS_WRITE,
			 HBM_VA);
	ck_assert_uint_eq(trap_now().old_maps, 0);
}
END_TEST

/* Step by step: the commands come soon, and another queue gets on meanwhile. */
START_TEST(others_get_on)
{
	struct trn_admin_completion completion;
	struct rig_queue other;
	unsigned int completions = 0, completed_at = 0, steps = 0;

	trap.catch_dma = 0;
	rig_queue_create(&rig, &other, 1, &kernel, &space, 4);
	rig_submit(&rig, &queue, rig_copy(SOURCE_VA, HBM_VA, LENGTH));
	while (!rig.chip->queue[0]->done)
		rig_step(&rig);
	for (unsigned int i = 0; i < 2; i++)
		rig_submit(&rig, &other, rig_nop());
	for (unsigned int i = 0; i < 8; i++)
		put_invalidate();
	rig_admin_ring(&rig);
	while (completions < 8 || rig_head(&other) < 2) {
		rig_step(&rig);
		steps++;
		ck_assert_uint_lt(steps, 60);
		if (rig_admin_get(&rig, &completion)) {
			ck_assert_uint_eq(le16toh(completion.status), TRN_ADMIN_SUCCESS);
			completions++;
			completed_at = steps;
		}
	}
	/* Two steps for each command, and a queue's between any two. */
	ck_assert_uint_le(completed_at, 4 * 8 + 2);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

Suite *invalidate_suite(void)
{
	Suite *suite = suite_create("invalidate");
	TCase *tcase = tcase_create("invalidate");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, LIMIT_S + 10);
	tcase_add_test(tcase, invalidate_waits_for_the_unit);
	tcase_add_test(tcase, without_invalidate_the_copy_reads_old_memory);
	tcase_add_test(tcase, destroy_waits_for_the_unit);
	tcase_add_test(tcase, others_get_on);
	suite_add_tcase(suite, tcase);
	return suite;
}
