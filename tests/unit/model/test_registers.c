// SPDX-License-Identifier: MIT
/* BAR 0 and BAR 4 as the bus sees them. */
#include <string.h>
#include <time.h>

#include "rig.h"
#include "suites.h"

static struct rig rig;

static void setup(void)
{
	rig_create(&rig, "trn1", 0, 0);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

/* Every read-only register of 32 bits, with its value for trn1 after reset. */
static const struct {
	uint64_t offset;
	uint32_t value;
} constants[] = {
	{ TRN_REG_MAGIC, 0x314e5254 },
	{ TRN_REG_VERSION, 0x10000 },
	{ TRN_REG_STATUS, 0 },
	{ TRN_REG_CAP_CORES, 2 },
	{ TRN_REG_CAP_HBM_STACKS, 2 },
	{ TRN_REG_CAP_HBM_STACK_SIZE, RIG_HBM_SIZE / 2 },
	{ TRN_REG_CAP_HBM_STACK_SIZE + 4, 0 },
	{ TRN_REG_CAP_HBM_APERTURE, 1 << 20 },
	{ TRN_REG_CAP_HBM_APERTURE + 4, 0 },
	{ TRN_REG_CAP_DMA_ENGINES, 32 },
	{ TRN_REG_CAP_COLL_CORES, 6 },
	{ TRN_REG_CAP_DTYPES, 0xff },
	{ TRN_REG_CAP_LINKS, 4 },
	{ TRN_REG_CAP_CONTEXTS, 256 },
	{ TRN_REG_CAP_QUEUES, 256 },
	{ TRN_REG_CAP_DOORBELL_STRIDE, 65536 },
	{ TRN_REG_CAP_VECTORS, 33 },
	{ TRN_REG_CAP_VA_BITS, 48 },
	{ TRN_REG_CAP_PAGE_SIZES, 1 << 12 | 1 << 21 | 1 << 30 },
	{ TRN_REG_CAP_RING_MAX, 4096 },
	{ TRN_REG_CAP_SBUF_SIZE, 24 << 20 },
	{ TRN_REG_CAP_PSUM_SIZE, 2 << 20 },
	{ TRN_REG_CAP_SEMAPHORES, 256 },
	{ TRN_REG_CAP_READY_TIMEOUT, 1000 },
	{ TRN_REG_CAP_HEARTBEAT_PERIOD, 100 },
	{ TRN_REG_CAP_ADMIN_TIMEOUT, 2000 },
	{ TRN_REG_CAP_EVENTS, 8 },
	{ TRN_REG_CAP_TENSOR_PACK, 1 << 1 },
};

#define COUNT (sizeof(constants) / sizeof(constants[0]))

START_TEST(read_only)
{
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_uint_eq(rig_read32(&rig, constants[i].offset), constants[i].value);
		rig_write32(&rig, constants[i].offset, ~constants[i].value);
		rig_write32(&rig, constants[i].offset, 0);
		ck_assert_uint_eq(rig_read32(&rig, constants[i].offset), constants[i].value);
	}
}
END_TEST

static bool is_constant(uint64_t offset)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (constants[i].offset == offset)
			return true;
	}
	return false;
}

START_TEST(offsets_without_register)
{
	for (uint64_t offset = 0; offset < TRN_BAR_REGS_SIZE + 64; offset += 4) {
		if (is_constant(offset) || offset == TRN_REG_HEARTBEAT)
			continue;
		/* Everything else is 0 after reset. */
		ck_assert_uint_eq(rig_read32(&rig, offset), 0);
		if (offset >= TRN_REG_CTRL && offset < TRN_REG_CAP_CORES)
			continue;
		rig_write32(&rig, offset, 0xffffffff);
		ck_assert_uint_eq(rig_read32(&rig, offset), 0);
	}
	ck_assert_uint_eq(rig_read32(&rig, UINT64_MAX - 3), 0);
	ck_assert_uint_eq(rig_read64(&rig, UINT64_MAX - 7), 0);
}
END_TEST

START_TEST(sizes_and_alignment)
{
	static const unsigned int sizes[] = { 0, 1, 2, 3, 5, 6, 7, 16, 4096 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_uint_eq(trn_chip_read_register(rig.chip, TRN_REG_MAGIC, sizes[i]), 0);
		trn_chip_write_register(rig.chip, TRN_REG_ADMIN_SIZE, sizes[i], 64);
		ck_assert_uint_eq(rig_read32(&rig, TRN_REG_ADMIN_SIZE), 0);
	}
	for (uint64_t offset = 1; offset < 4; offset++) {
		ck_assert_uint_eq(trn_chip_read_register(rig.chip, offset, 4), 0);
		trn_chip_write_register(rig.chip, TRN_REG_ADMIN_SIZE + offset, 4, 64);
	}
	ck_assert_uint_eq(trn_chip_read_register(rig.chip, 4, 8), 0);
	trn_chip_write_register(rig.chip, TRN_REG_ADMIN_SIZE - 4, 8, 64ULL << 32);
	trn_chip_write_register(rig.chip, TRN_REG_ADMIN_SQ_BASE + 4, 8, UINT64_MAX);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_ADMIN_SIZE), 0);
	ck_assert_uint_eq(rig_read64(&rig, TRN_REG_ADMIN_SQ_BASE), 0);
}
END_TEST

START_TEST(halves)
{
	static const uint64_t offsets[] = { TRN_REG_ADMIN_SQ_BASE, TRN_REG_ADMIN_CQ_BASE };

	for (size_t i = 0; i < 2; i++) {
		rig_write64(&rig, offsets[i], 0x1122334455667000ULL);
		ck_assert_uint_eq(rig_read64(&rig, offsets[i]), 0x1122334455667000ULL);
		ck_assert_uint_eq(rig_read32(&rig, offsets[i]), 0x55667000);
		ck_assert_uint_eq(rig_read32(&rig, offsets[i] + 4), 0x11223344);
		rig_write32(&rig, offsets[i], 0x89abc000);
		ck_assert_uint_eq(rig_read64(&rig, offsets[i]), 0x1122334489abc000ULL);
		rig_write32(&rig, offsets[i] + 4, 0x01234567);
		ck_assert_uint_eq(rig_read64(&rig, offsets[i]), 0x0123456789abc000ULL);
	}
	/* Two registers of 32 bits in one access. */
	ck_assert_uint_eq(rig_read64(&rig, TRN_REG_MAGIC), 0x10000ULL << 32 | TRN_MAGIC);
}
END_TEST

START_TEST(control_has_one_bit)
{
	rig_write32(&rig, TRN_REG_CTRL, 0xfffffffe);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_CTRL), 0);
	rig_write32(&rig, TRN_REG_CTRL, 0xffffffff);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_CTRL), TRN_CTRL_ENABLE);
}
END_TEST

START_TEST(admin_registers_are_fixed_while_enabled)
{
	rig_enable(&rig, 32);
	rig_write64(&rig, TRN_REG_ADMIN_SQ_BASE, 0x1000);
	rig_write64(&rig, TRN_REG_ADMIN_CQ_BASE, 0x1000);
	rig_write32(&rig, TRN_REG_ADMIN_SIZE, 2);
	ck_assert_uint_eq(rig_read64(&rig, TRN_REG_ADMIN_SQ_BASE), rig.sq);
	ck_assert_uint_eq(rig_read64(&rig, TRN_REG_ADMIN_CQ_BASE), rig.cq);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_ADMIN_SIZE), 32);
	/* Write-only. */
	rig_write32(&rig, TRN_REG_ADMIN_CQ_HEAD, 5);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_ADMIN_CQ_HEAD), 0);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_ADMIN_SQ_TAIL), 0);
	rig_write32(&rig, TRN_REG_CTRL, 0);
	rig_run(&rig);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), 0);
	/* Kept, and writable again. */
	ck_assert_uint_eq(rig_read64(&rig, TRN_REG_ADMIN_SQ_BASE), rig.sq);
	rig_write32(&rig, TRN_REG_ADMIN_SIZE, 2);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_ADMIN_SIZE), 2);
}
END_TEST

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

START_TEST(heartbeat_advances)
{
	uint64_t from = milliseconds(), to;
	uint32_t first = rig_read32(&rig, TRN_REG_HEARTBEAT), last;

	do {
		last = rig_read32(&rig, TRN_REG_HEARTBEAT);
		to = milliseconds();
		ck_assert_uint_lt(to - from, 5000);
	} while (last < first + 3);
	/* Three steps are more than two periods, whatever the machine was doing. */
	ck_assert_uint_gt(to - from + 2, 200);
	/* And no more than the time that passed allows. */
	ck_assert_uint_le(last - first, (to - from) / 100 + 1);
	/* Not touched by software. */
	rig_write32(&rig, TRN_REG_HEARTBEAT, 0);
	ck_assert_uint_ge(rig_read32(&rig, TRN_REG_HEARTBEAT), last);
	/* ENABLE = 0 leaves it running on, a reset of the function does not. */
	rig_enable(&rig, 16);
	rig_write32(&rig, TRN_REG_CTRL, 0);
	rig_run(&rig);
	ck_assert_uint_ge(rig_read32(&rig, TRN_REG_HEARTBEAT), last);
	from = milliseconds();
	trn_chip_reset(rig.chip);
	last = rig_read32(&rig, TRN_REG_HEARTBEAT);
	ck_assert_uint_le(last, (milliseconds() - from) / 100 + 1);
}
END_TEST

START_TEST(doorbells_that_are_none)
{
	struct rig_space space;
	struct rig_queue queue;

	rig_enable(&rig, 16);
	rig_space_create(&rig, &space, 0);
	rig_queue_create(&rig, &queue, 3, &space, &space, 2);
	rig_put(&queue, rig_nop());
	rig_store_tail(&queue);

	trn_chip_write_doorbell(rig.chip, 3 * 65536, 1, 1);
	trn_chip_write_doorbell(rig.chip, 3 * 65536, 2, 1);
	trn_chip_write_doorbell(rig.chip, 3 * 65536, 8, 1);
	trn_chip_write_doorbell(rig.chip, 3 * 65536 + 4, 4, 1);
	trn_chip_write_doorbell(rig.chip, 3 * 65536 + 1, 4, 1);
	trn_chip_write_doorbell(rig.chip, 3 * 65536 + 4096, 4, 1);
	trn_chip_write_doorbell(rig.chip, 2 * 65536, 4, 1);
	trn_chip_write_doorbell(rig.chip, 256ULL * 65536, 4, 1);
	trn_chip_write_doorbell(rig.chip, UINT64_MAX & ~0xffffULL, 4, 1);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 0);
	/* Any value kicks. */
	trn_chip_write_doorbell(rig.chip, 3 * 65536, 4, 0);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
}
END_TEST

/* Documentation/device.rst, "Generations", and the sizes that are published for the cores. */
static const struct {
	const char *name;
	uint16_t device;
	uint32_t cores, gib, stacks, dma_engines, coll_cores, links, sbuf_mib, dtypes;
} generations[] = {
	{ "inf2", 0x7412, 2, 32, 2, 32, 6, 2, 24, 0x0ff },
	{ "trn1", 0x7401, 2, 32, 2, 32, 6, 4, 24, 0x0ff },
	{ "trn2", 0x7402, 8, 96, 4, 128, 16, 4, 28, 0x0ff },
	{ "trn3", 0x7403, 8, 144, 4, 128, 16, 11, 32, 0x1ff },
	{ "trn4", 0x7404, 8, 288, 4, 128, 16, 11, 32, 0x3ff },
};

START_TEST(generation)
{
	const struct trn_generation *row = trn_generation_by_name(generations[_i].name);
	uint64_t size = (uint64_t)generations[_i].gib << 30;
	struct rig other;

	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->pci_device, generations[_i].device);
	ck_assert_uint_eq(row->hbm_size, size);
	rig_create(&other, generations[_i].name, row->hbm_size, 0);
	ck_assert_uint_eq(rig_read32(&other, TRN_REG_CAP_CORES), generations[_i].cores);
	ck_assert_uint_eq(rig_read32(&other, TRN_REG_CAP_HBM_STACKS), generations[_i].stacks);
	ck_assert_uint_eq(rig_read64(&other, TRN_REG_CAP_HBM_STACK_SIZE),
			  size / generations[_i].stacks);
	ck_assert_uint_eq(rig_read32(&other, TRN_REG_CAP_DMA_ENGINES), generations[_i].dma_engines);
	ck_assert_uint_eq(rig_read32(&other, TRN_REG_CAP_COLL_CORES), generations[_i].coll_cores);
	ck_assert_uint_eq(rig_read32(&other, TRN_REG_CAP_LINKS), generations[_i].links);
	ck_assert_uint_eq(rig_read32(&other, TRN_REG_CAP_DTYPES), generations[_i].dtypes);
	ck_assert_uint_eq(rig_read32(&other, TRN_REG_CAP_SBUF_SIZE),
			  generations[_i].sbuf_mib << 20);
	ck_assert_uint_eq(rig_read32(&other, TRN_REG_CAP_PSUM_SIZE), 2 << 20);
	rig_destroy(&other);
}
END_TEST

START_TEST(generation_names)
{
	ck_assert_uint_eq(trn_generations_count, 5);
	for (unsigned int i = 0; i < trn_generations_count; i++)
		ck_assert_ptr_eq(trn_generation_by_name(trn_generations[i].name),
				 &trn_generations[i]);
	ck_assert_ptr_null(trn_generation_by_name("trn5"));
	ck_assert_ptr_null(trn_generation_by_name("TRN1"));
	ck_assert_ptr_null(trn_generation_by_name(""));
}
END_TEST

Suite *registers_suite(void)
{
	Suite *suite = suite_create("registers");
	TCase *tcase = tcase_create("registers");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, read_only);
	tcase_add_test(tcase, offsets_without_register);
	tcase_add_test(tcase, sizes_and_alignment);
	tcase_add_test(tcase, halves);
	tcase_add_test(tcase, control_has_one_bit);
	tcase_add_test(tcase, admin_registers_are_fixed_while_enabled);
	tcase_add_test(tcase, heartbeat_advances);
	tcase_add_test(tcase, doorbells_that_are_none);
	tcase_add_loop_test(tcase, generation, 0, sizeof(generations) / sizeof(generations[0]));
	tcase_add_test(tcase, generation_names);
	suite_add_tcase(suite, tcase);
	return suite;
}
