// SPDX-License-Identifier: MIT
/* The chip as a whole: life cycle, executor, and the memory that HBM takes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"
#include "suites.h"

#define DATA_VA	  0x80000000ULL
#define DATA_SIZE RIG_HBM_SIZE
#define LIMIT_MS  20000

static struct rig rig;
static struct rig_space space;
static struct rig_queue queue;

static void enable_and_map(void)
{
	rig_enable(&rig, 16);
	rig_space_create(&rig, &space, 0);
	rig_queue_create(&rig, &queue, 0, &space, &space, 4);
	rig_map(&rig, &space, DATA_VA, TRN_PTE_TARGET_HBM, 0, DATA_SIZE);
}

static void setup(void)
{
	rig_create(&rig, "trn1", 0, 0);
	enable_and_map();
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits for an executor; a test fails rather than hangs. */
static void wait_for_status(uint32_t status)
{
	uint64_t limit = nanoseconds(CLOCK_MONOTONIC) + LIMIT_MS * 1000000ULL;

	while (rig_read32(&rig, TRN_REG_STATUS) != status)
		ck_assert_uint_lt(nanoseconds(CLOCK_MONOTONIC), limit);
}

static void wait_for_head(const struct rig_queue *of, uint32_t head)
{
	uint64_t limit = nanoseconds(CLOCK_MONOTONIC) + LIMIT_MS * 1000000ULL;

	while (rig_head(of) != head)
		ck_assert_uint_lt(nanoseconds(CLOCK_MONOTONIC), limit);
}

START_TEST(bad_configurations)
{
	const struct trn_chip_config good = {
		.generation = trn_generation_by_name("trn2"),
		.hbm_size = 96ULL << 30,
		.aperture = 256 << 20,
		.page_sizes = TRN_CHIP_PAGE_SIZES,
	};
	struct trn_chip_config bad[] = { good, good, good, good, good, good, good, good, good };

	bad[0].generation = NULL;
	bad[1].hbm_size = 0;
	bad[2].hbm_size = (96ULL << 30) + (2 << 20); /* four stacks */
	bad[3].aperture = 0;
	bad[4].aperture = 3 << 20;
	bad[5].aperture = 256ULL << 30;
	bad[6].aperture = 2048;
	bad[7].page_sizes = 1 << 21;
	bad[8].page_sizes |= 1 << 13;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		ck_assert_ptr_null(trn_chip_create(&bad[i], NULL, NULL));
		ck_assert_int_eq(errno, EINVAL);
	}
}
END_TEST

/* An aperture of HBM rounded up to a power of two. */
START_TEST(aperture_beyond_hbm)
{
	const struct trn_chip_config config = {
		.generation = trn_generation_by_name("trn2"),
		.hbm_size = 96 << 20,
		.aperture = 128 << 20,
		.page_sizes = TRN_CHIP_PAGE_SIZES,
	};
	struct trn_chip *chip = trn_chip_create(&config, NULL, NULL);
	struct stat status;

	ck_assert_ptr_nonnull(chip);
	ck_assert_uint_eq(trn_chip_read_register(chip, TRN_REG_CAP_HBM_APERTURE, 8), 96 << 20);
	/* All of BAR 2 can be mapped. */
	ck_assert_int_eq(fstat(trn_chip_hbm_fd(chip), &status), 0);
	ck_assert_int_ge(status.st_size, 128 << 20);
	/* Whoever maps it cannot cut it off. */
	ck_assert_int_eq(ftruncate(trn_chip_hbm_fd(chip), 0), -1);
	trn_chip_destroy(chip);
}
END_TEST

START_TEST(disable_drops_everything)
{
	unsigned int accesses;

	rig_submit(&rig, &queue, rig_fill(DATA_VA, DATA_SIZE, 0x3c, 0));
	while (!rig.chip->queue[0]->done)
		rig_step(&rig);
	rig_write32(&rig, TRN_REG_CTRL, 0);
	rig_step(&rig);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), 0);
	accesses = rig_accesses(&rig);
	rig_kick(&rig, 0);
	rig_write32(&rig, TRN_REG_ADMIN_SQ_TAIL, 3);
	rig_write32(&rig, TRN_REG_ADMIN_CQ_HEAD, 99);
	rig_run(&rig);
	ck_assert_uint_eq(rig_accesses(&rig), accesses);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), 0);
	/* HBM is kept; contexts, queues and events are not. */
	ck_assert_uint_eq(rig.chip->hbm.memory[0], 0x3c);
	rig_enable(&rig, 16);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, 0), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, 0, 0), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(rig_event_count(&rig), 0);
}
END_TEST

START_TEST(disable_and_enable_at_once)
{
	/* Software must not, but the device must not mix the old and the new life. */
	rig_write32(&rig, TRN_REG_CTRL, 0);
	rig_write32(&rig, TRN_REG_CTRL, TRN_CTRL_ENABLE);
	rig_run(&rig);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), TRN_STATUS_READY);
	ck_assert_ptr_null(rig.chip->queue[0]);
	ck_assert(!rig.chip->context[0].exists);
}
END_TEST

START_TEST(reset)
{
	struct stat status;

	rig_execute(&rig, &queue, rig_fill(DATA_VA, 1 << 20, 0x3c, 0));
	rig_execute(&rig, &queue, (struct trn_packet){ .opcode = 0xff });
	ck_assert_uint_eq(rig_event_count(&rig), 1);
	trn_chip_reset(rig.chip);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_CTRL), 0);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), 0);
	ck_assert_uint_eq(rig_read64(&rig, TRN_REG_ADMIN_SQ_BASE), 0);
	ck_assert_uint_eq(rig_read64(&rig, TRN_REG_ADMIN_CQ_BASE), 0);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_ADMIN_SIZE), 0);
	ck_assert_uint_eq(rig_run(&rig), UINT64_MAX);
	/* What the last user left in HBM is not for the next one. */
	ck_assert_int_eq(fstat(trn_chip_hbm_fd(rig.chip), &status), 0);
	ck_assert_int_eq(status.st_blocks, 0);
	enable_and_map();
	ck_assert_uint_eq(rig_event_count(&rig), 0);
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(reset_of_a_running_executor)
{
	for (unsigned int i = 0; i < 10; i++) {
		unsigned int accesses;

		ck_assert_int_eq(trn_chip_start(rig.chip), 0);
		rig_submit(&rig, &queue, rig_fill(DATA_VA, 16 << 20, i, 0));
		if (i % 2)
			wait_for_head(&queue, 1);
		trn_chip_reset(rig.chip);
		accesses = rig_accesses(&rig);
		rig_kick(&rig, 0);
		trn_chip_stop(rig.chip);
		ck_assert_uint_eq(rig_accesses(&rig), accesses);
		enable_and_map();
	}
}
END_TEST

START_TEST(executor_life_cycle)
{
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	for (unsigned int i = 0; i < 50; i++) {
		rig_write32(&rig, TRN_REG_CTRL, 0);
		wait_for_status(0);
		rig_write32(&rig, TRN_REG_CTRL, TRN_CTRL_ENABLE);
		wait_for_status(TRN_STATUS_READY);
	}
	trn_chip_stop(rig.chip);
	trn_chip_stop(rig.chip);
	/* It can be started again. */
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	rig_write32(&rig, TRN_REG_CTRL, 0);
	wait_for_status(0);
}
END_TEST

/* The processor time that the executor takes while nothing happens. */
static uint64_t idle_cost(void)
{
	const struct timespec second = { .tv_nsec = 300000000 };
	uint64_t start = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);

	nanosleep(&second, NULL);
	return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

START_TEST(idle_chip_sleeps)
{
	rig.chip->poll_ns = 100000;
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	rig_submit(&rig, &queue, rig_nop());
	wait_for_head(&queue, 1);
	/* 300 ms: polling for all of it would take them all. */
	ck_assert_uint_lt(idle_cost(), 30000000);
	/* A parked wait looks now and then, and no more. */
	rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, queue.ring_va + 8, UINT64_MAX));
	ck_assert_uint_lt(idle_cost(), 150000000);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

START_TEST(parked_wait_is_woken_by_time)
{
	uint64_t dma = rig_alloc(&rig, TRN_PAGE_SIZE);

	rig_map(&rig, &space, 0x10000, TRN_PTE_TARGET_HOST, dma, TRN_PAGE_SIZE);
	ck_assert_int_eq(trn_chip_start(rig.chip), 0);
	for (unsigned int i = 1; i <= 50; i++) {
		rig_submit(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WAIT, 0x10000, i));
		trn_store64(rig_pointer(&rig, dma), i);
		wait_for_head(&queue, i);
	}
}
END_TEST

/* Memory */

static uint64_t hbm_allocated(void)
{
	struct stat status;

	ck_assert_int_eq(fstat(trn_chip_hbm_fd(rig.chip), &status), 0);
	return (uint64_t)status.st_blocks * 512;
}

START_TEST(hbm_follows_what_is_written)
{
	uint64_t host = rig_alloc(&rig, DATA_SIZE);

	rig_map(&rig, &space, 0x200000000, TRN_PTE_TARGET_HOST, host, DATA_SIZE);
	ck_assert_uint_eq(hbm_allocated(), 0);
	memset(rig_pointer(&rig, host), 0xee, 8 << 20);
	/* Reading all of HBM allocates nothing, and gives zero. */
	rig_execute(&rig, &queue, rig_copy(DATA_VA, 0x200000000, DATA_SIZE));
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(hbm_allocated(), 0);
	for (uint64_t i = 0; i < 8 << 20; i++) {
		if (((uint8_t *)rig_pointer(&rig, host))[i])
			ck_abort_msg("byte %#jx is not 0", (uintmax_t)i);
	}
	/* Writing three pages allocates three; data and holes are told apart. */
	rig_execute(&rig, &queue,
		    rig_fill(DATA_VA + 5 * TRN_PAGE_SIZE + 1, 2 * TRN_PAGE_SIZE, 0x21, 0));
	ck_assert_uint_eq(hbm_allocated(), 3 * TRN_PAGE_SIZE);
	memset(rig_pointer(&rig, host), 0xee, TRN_PAGE_SIZE * 16);
	rig_execute(&rig, &queue, rig_copy(DATA_VA, 0x200000000, 16 * TRN_PAGE_SIZE));
	for (uint64_t i = 0; i < 16 * TRN_PAGE_SIZE; i++) {
		bool written = i > 5 * TRN_PAGE_SIZE && i <= 7 * TRN_PAGE_SIZE;

		ck_assert_uint_eq(((uint8_t *)rig_pointer(&rig, host))[i], written ? 0x21 : 0);
	}
}
END_TEST

START_TEST(four_large_chips_are_small)
{
	static struct rig large[4];
	uint64_t before = rig_resident();

	for (unsigned int i = 0; i < 4; i++) {
		rig_create(&large[i], "trn3", 144ULL << 30, 0);
		rig_enable(&large[i], 64);
		ck_assert_int_eq(trn_chip_start(large[i].chip), 0);
	}
	ck_assert_uint_lt(rig_resident() - before, 64 << 20);
	for (unsigned int i = 0; i < 4; i++)
		rig_destroy(&large[i]);
}
END_TEST

Suite *chip_suite(void)
{
	Suite *suite = suite_create("chip");
	TCase *tcase = tcase_create("chip");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, bad_configurations);
	tcase_add_test(tcase, aperture_beyond_hbm);
	tcase_add_test(tcase, disable_drops_everything);
	tcase_add_test(tcase, disable_and_enable_at_once);
	tcase_add_test(tcase, reset);
	tcase_add_test(tcase, reset_of_a_running_executor);
	tcase_add_test(tcase, executor_life_cycle);
	tcase_add_test(tcase, idle_chip_sleeps);
	tcase_add_test(tcase, parked_wait_is_woken_by_time);
	tcase_add_test(tcase, hbm_follows_what_is_written);
	tcase_add_test(tcase, four_large_chips_are_small);
	suite_add_tcase(suite, tcase);
	return suite;
}
