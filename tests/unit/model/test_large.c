// SPDX-License-Identifier: MIT
/* Leaves of 2 MiB and 1 GiB: where they end, what is wrong with one, and their replacement. */
#include <string.h>

#include "rig.h"
#include "suites.h"

#define MIB	 (1ULL << 20)
#define GIB	 (1ULL << 30)
#define HBM_SIZE (GIB + 64 * MIB) /* ends within a leaf of 1 GiB */
#define LARGE_VA (8 * GIB)
#define HOST_VA	 0x10000000ULL

#define LEAF	 (TRN_PTE_VALID | TRN_PTE_LEAF | TRN_PTE_READ | TRN_PTE_WRITE)

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue;
static uint8_t *host; /* 8 MiB at HOST_VA */
static uint16_t next_queue;

static void setup(void)
{
	uint64_t dma;

	rig_create(&rig, "trn1", HBM_SIZE, 0);
	rig_enable(&rig, 16);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 3);
	next_queue = 0;
	rig_queue_create(&rig, &queue, next_queue++, &kernel, &space, 4);
	dma = rig_alloc(&rig, 8 * MIB);
	host = rig_pointer(&rig, dma);
	rig_map(&rig, &space, HOST_VA, TRN_PTE_TARGET_HOST, dma, 8 * MIB);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static uint8_t *hbm(uint64_t address)
{
	return rig.chip->hbm.memory + address;
}

static void works(struct trn_packet packet)
{
	uint32_t head = rig_head(&queue);

	rig_execute(&rig, &queue, packet);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
	ck_assert_uint_eq(rig_head(&queue), head + 1);
}

static void faults(struct trn_packet packet, uint8_t reason, uint8_t access, uint64_t address)
{
	struct rig_queue victim;

	rig_queue_create(&rig, &victim, next_queue++, &kernel, &space, 2);
	rig_execute(&rig, &victim, packet);
	rig_assert_fault(&rig, &victim, reason, space.asid, access, address);
}

static void set_leaf(unsigned int level, uint64_t va, uint64_t entry)
{
	trn_store64(rig_entry_at(&rig, &space, va, level), entry);
}

static void invalidate(uint64_t va, uint64_t length)
{
	ck_assert_uint_eq(rig_invalidate(&rig, space.asid, va, length), TRN_ADMIN_SUCCESS);
}

/* All tests of one leaf are made with both sizes: the loop's index + 1 is the level. */
static uint64_t leaf_size(unsigned int level)
{
	return 1ULL << TRN_PT_SHIFT(level);
}

START_TEST(first_and_last_byte)
{
	const unsigned int level = _i + 1;
	const uint64_t size = leaf_size(level);

	set_leaf(level, LARGE_VA, LEAF | TRN_PTE_TARGET_HBM | 0);
	works(rig_fill(LARGE_VA, 1, 0x11, 0));
	works(rig_fill(LARGE_VA + size - 1, 1, 0x22, 0));
	works(rig_fill(LARGE_VA + size / 2 - 3, 6, 0x33, 0));
	ck_assert_uint_eq(*hbm(0), 0x11);
	ck_assert_uint_eq(*hbm(1), 0);
	ck_assert_uint_eq(*hbm(size - 1), 0x22);
	ck_assert_uint_eq(*hbm(size), 0);
	ck_assert_uint_eq(*hbm(size / 2 - 4), 0);
	ck_assert_uint_eq(*hbm(size / 2 - 3), 0x33);
	ck_assert_uint_eq(*hbm(size / 2 + 2), 0x33);
	faults(rig_fill(LARGE_VA + size - 1, 2, 0x44, 0), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE,
	       LARGE_VA + size);
	faults(rig_fill(LARGE_VA - 1, 1, 0x44, 0), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE,
	       LARGE_VA - 1);
}
END_TEST

/* 4 KiB pages, then a leaf of 2 MiB, then one of 1 GiB, then pages again. */
START_TEST(crossing)
{
	const uint64_t base = LARGE_VA - 4 * MIB, length = 3 * MIB, end = LARGE_VA + GIB;

	rig_map(&rig, &space, base, TRN_PTE_TARGET_HBM, GIB + 8 * MIB, 2 * MIB);
	set_leaf(1, base + 2 * MIB, LEAF | TRN_PTE_TARGET_HBM | (GIB + 4 * MIB));
	set_leaf(2, LARGE_VA, LEAF | TRN_PTE_TARGET_HBM | 0);
	rig_map(&rig, &space, end, TRN_PTE_TARGET_HBM, GIB + 16 * MIB, MIB);

	rig_pattern(host, length, 1);
	works(rig_copy(HOST_VA, base + 2 * MIB - 5000, length));
	ck_assert_mem_eq(hbm(GIB + 10 * MIB - 5000), host, 5000);
	ck_assert_mem_eq(hbm(GIB + 4 * MIB), host + 5000, 2 * MIB);
	ck_assert_mem_eq(hbm(0), host + 5000 + 2 * MIB, length - 5000 - 2 * MIB);
	ck_assert_uint_eq(*hbm(length - 5000 - 2 * MIB), 0);
	ck_assert_uint_eq(*hbm(GIB + 6 * MIB), 0);

	works(rig_copy(HOST_VA, end - 7, 5000));
	ck_assert_mem_eq(hbm(GIB - 7), host, 7);
	ck_assert_mem_eq(hbm(GIB + 16 * MIB), host + 7, 4993);

	works(rig_copy(base + 2 * MIB - 5000, HOST_VA + 4 * MIB, length));
	ck_assert_mem_eq(host + 4 * MIB, host, length);
}
END_TEST

START_TEST(host_memory)
{
	uint64_t dma = RIG_RAM + 256 * MIB;
	uint8_t *memory = rig_pointer(&rig, dma);

	set_leaf(1, LARGE_VA, LEAF | TRN_PTE_TARGET_HOST | dma);
	rig_pattern(host, 2 * MIB, 7);
	works(rig_copy(HOST_VA, LARGE_VA + 3, 2 * MIB - 3));
	ck_assert_mem_eq(memory + 3, host, 2 * MIB - 3);
	rig_deny(&rig, dma + 300 * TRN_PAGE_SIZE, RIG_DENY_READ);
	faults(rig_copy(LARGE_VA, HOST_VA, 2 * MIB), TRN_STOP_FAULT_HOST, TRN_ACCESS_READ,
	       LARGE_VA + 300 * TRN_PAGE_SIZE);
	works(rig_fill(LARGE_VA + 300 * TRN_PAGE_SIZE, TRN_PAGE_SIZE, 0x4e, 0));
	/* 1 GiB, of which half is memory. */
	set_leaf(2, LARGE_VA + GIB, LEAF | TRN_PTE_TARGET_HOST | RIG_RAM);
	works(rig_fill(LARGE_VA + GIB + RIG_RAM_SIZE - 1, 1, 0x5e, 0));
	ck_assert_uint_eq(*(uint8_t *)rig_pointer(&rig, RIG_RAM + RIG_RAM_SIZE - 1), 0x5e);
	faults(rig_fill(LARGE_VA + GIB + RIG_RAM_SIZE - 1, 2, 0x5e, 0), TRN_STOP_FAULT_HOST,
	       TRN_ACCESS_WRITE, LARGE_VA + GIB + RIG_RAM_SIZE);
}
END_TEST

START_TEST(beyond_the_end_of_hbm)
{
	/* The leaf is good; its upper part is not. */
	set_leaf(2, LARGE_VA, LEAF | TRN_PTE_TARGET_HBM | GIB);
	works(rig_fill(LARGE_VA + 64 * MIB - 1, 1, 0x66, 0));
	ck_assert_uint_eq(*hbm(HBM_SIZE - 1), 0x66);
	faults(rig_fill(LARGE_VA + 64 * MIB - 1, 2, 0x66, 0), TRN_STOP_FAULT_ENTRY,
	       TRN_ACCESS_WRITE, LARGE_VA + 64 * MIB);
	faults(rig_copy(LARGE_VA + GIB - 1, HOST_VA, 1), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_READ,
	       LARGE_VA + GIB - 1);
	/* All of it is beyond. */
	set_leaf(2, LARGE_VA + GIB, LEAF | TRN_PTE_TARGET_HBM | 2 * GIB);
	faults(rig_fill(LARGE_VA + GIB, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE,
	       LARGE_VA + GIB);
	set_leaf(1, LARGE_VA + 2 * GIB, LEAF | TRN_PTE_TARGET_HBM | HBM_SIZE);
	faults(rig_fill(LARGE_VA + 2 * GIB + 5, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE,
	       LARGE_VA + 2 * GIB + 5);
}
END_TEST

START_TEST(malformed)
{
	const unsigned int level = _i + 1;
	const uint64_t good = LEAF | TRN_PTE_TARGET_HBM, va = LARGE_VA + 12345;

	/* ADDRESS is no multiple of the size. */
	for (unsigned int bit = TRN_PAGE_SHIFT; bit < TRN_PT_SHIFT(level); bit++) {
		set_leaf(level, LARGE_VA, good | 1ULL << bit);
		faults(rig_fill(va, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, va);
	}
	for (unsigned int bit = 5; bit < 64; bit++) {
		if (bit >= TRN_PAGE_SHIFT && bit < 52)
			continue;
		set_leaf(level, LARGE_VA, good | 1ULL << bit);
		faults(rig_fill(va, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, va);
	}
	set_leaf(level, LARGE_VA, good & ~(TRN_PTE_READ | TRN_PTE_WRITE));
	faults(rig_fill(va, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, va);
	/* None of them was cached. */
	set_leaf(level, LARGE_VA, good);
	works(rig_fill(va, 1, 0x77, 0));
	ck_assert_uint_eq(*hbm(12345), 0x77);
}
END_TEST

START_TEST(sizes_that_are_not_there)
{
	set_leaf(3, 1ULL << 39, LEAF | TRN_PTE_TARGET_HBM | 0);
	faults(rig_fill(1ULL << 39, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, 1ULL << 39);

	rig.chip->config.page_sizes = 1 << 12 | 1 << 21;
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_CAP_PAGE_SIZES), 1 << 12 | 1 << 21);
	set_leaf(2, LARGE_VA, LEAF | TRN_PTE_TARGET_HBM | 0);
	faults(rig_fill(LARGE_VA, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, LARGE_VA);
	set_leaf(1, LARGE_VA + GIB, LEAF | TRN_PTE_TARGET_HBM | 0);
	works(rig_fill(LARGE_VA + GIB, 1, 0, 0));

	rig.chip->config.page_sizes = 1 << 12;
	set_leaf(1, LARGE_VA + GIB + 2 * MIB, LEAF | TRN_PTE_TARGET_HBM | 0);
	faults(rig_fill(LARGE_VA + GIB + 2 * MIB, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE,
	       LARGE_VA + GIB + 2 * MIB);
}
END_TEST

START_TEST(permissions)
{
	const unsigned int level = _i + 1;

	set_leaf(level, LARGE_VA, (LEAF & ~TRN_PTE_WRITE) | TRN_PTE_TARGET_HBM);
	works(rig_copy(LARGE_VA + MIB, HOST_VA, 8));
	faults(rig_fill(LARGE_VA + MIB, 8, 1, 0), TRN_STOP_FAULT_PERMISSION, TRN_ACCESS_WRITE,
	       LARGE_VA + MIB);
	set_leaf(level, LARGE_VA + 4 * GIB, (LEAF & ~TRN_PTE_READ) | TRN_PTE_TARGET_HBM);
	works(rig_fill(LARGE_VA + 4 * GIB, 8, 1, 0));
	faults(rig_copy(LARGE_VA + 4 * GIB + MIB, HOST_VA, 8), TRN_STOP_FAULT_PERMISSION,
	       TRN_ACCESS_READ, LARGE_VA + 4 * GIB + MIB);
}
END_TEST

/* Software that leaves its invalidate out must see what it asked for: old memory. */
START_TEST(stale_until_any_address_is_invalidated)
{
	const unsigned int level = _i + 1;
	const uint64_t size = leaf_size(level);
	static const uint64_t places[] = { 0, 1, 255, 256, 511 };
	uint64_t dma = rig_alloc(&rig, 4 * MIB);
	uint64_t moved = (dma + 2 * MIB - 1) & ~(2 * MIB - 1);

	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const uint64_t old_value = 0x10 + i, new_value = 0x20 + i;
		/* 4 KiB pages where the leaf was: only its cached form translates to HBM. */
		const uint64_t va = LARGE_VA + i * 16 * GIB;

		set_leaf(level, va, LEAF | TRN_PTE_TARGET_HBM | 0);
		works(rig_fill(va + 5, 1, 0x01, 0));
		set_leaf(level, va, 0);
		rig_map(&rig, &space, va, TRN_PTE_TARGET_HOST, moved, TRN_PAGE_SIZE);

		*(uint8_t *)rig_pointer(&rig, moved + 5) = 0;
		works(rig_fill(va + 5, 1, old_value, 0));
		ck_assert_uint_eq(*hbm(5), old_value);
		ck_assert_uint_eq(*(uint8_t *)rig_pointer(&rig, moved + 5), 0);
		/* Beside it, and of another address space. */
		invalidate(va + size, TRN_PAGE_SIZE);
		invalidate(va - TRN_PAGE_SIZE, TRN_PAGE_SIZE);
		ck_assert_uint_eq(rig_invalidate(&rig, kernel.asid, 0, 0), TRN_ADMIN_SUCCESS);
		works(rig_fill(va + 5, 1, old_value + 0x40, 0));
		ck_assert_uint_eq(*hbm(5), old_value + 0x40);
		ck_assert_uint_eq(*(uint8_t *)rig_pointer(&rig, moved + 5), 0);

		invalidate(va + places[i] * (size / 512), TRN_PAGE_SIZE);
		works(rig_fill(va + 5, 1, new_value, 0));
		ck_assert_uint_eq(*hbm(5), old_value + 0x40);
		ck_assert_uint_eq(*(uint8_t *)rig_pointer(&rig, moved + 5), new_value);
	}
}
END_TEST

START_TEST(whole_asid_forgets_large_leaves)
{
	const unsigned int level = _i + 1;

	set_leaf(level, LARGE_VA, LEAF | TRN_PTE_TARGET_HBM | 0);
	works(rig_fill(LARGE_VA, 1, 1, 0));
	set_leaf(level, LARGE_VA, 0);
	works(rig_fill(LARGE_VA, 1, 2, 0));
	invalidate(0, 0);
	faults(rig_fill(LARGE_VA, 1, 3, 0), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE, LARGE_VA);
	ck_assert_uint_eq(*hbm(0), 2);
}
END_TEST

START_TEST(leaf_becomes_table_and_leaf_again)
{
	uint64_t pages, old;

	/* In three steps. */
	set_leaf(1, LARGE_VA, LEAF | TRN_PTE_TARGET_HBM | 0);
	works(rig_fill(LARGE_VA + MIB, 8, 1, 0));
	set_leaf(1, LARGE_VA, 0);
	invalidate(LARGE_VA, 2 * MIB);
	faults(rig_fill(LARGE_VA, 8, 2, 0), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE, LARGE_VA);
	rig_map(&rig, &space, LARGE_VA, TRN_PTE_TARGET_HBM, 8 * MIB, 2 * MIB);
	works(rig_fill(LARGE_VA, 2 * MIB, 3, 0));
	ck_assert_uint_eq(*hbm(MIB), 1);
	ck_assert_uint_eq(*hbm(8 * MIB), 3);
	ck_assert_uint_eq(*hbm(10 * MIB - 1), 3);

	/* And in one store where both translate alike; the table's memory is reused after that. */
	old = le64toh(*rig_entry_at(&rig, &space, LARGE_VA, 1)) & TRN_PTE_ADDRESS_MASK;
	set_leaf(1, LARGE_VA, LEAF | TRN_PTE_TARGET_HBM | 8 * MIB);
	works(rig_fill(LARGE_VA, 2 * MIB, 4, 0));
	invalidate(LARGE_VA + MIB, TRN_PAGE_SIZE);
	invalidate(LARGE_VA, 2 * MIB);
	memset(rig_pointer(&rig, old), 0xff, TRN_PT_SIZE);
	works(rig_fill(LARGE_VA, 2 * MIB, 5, 0));
	ck_assert_uint_eq(*hbm(8 * MIB), 5);
	ck_assert_uint_eq(*hbm(10 * MIB - 1), 5);

	/* The reverse: only a page of it moves afterwards. */
	pages = rig_alloc(&rig, TRN_PT_SIZE);
	for (unsigned int i = 0; i < TRN_PT_ENTRIES; i++)
		trn_store64((__le64 *)rig_pointer(&rig, pages) + i,
			    LEAF | TRN_PTE_TARGET_HBM | (8 * MIB + i * TRN_PAGE_SIZE));
	set_leaf(1, LARGE_VA, TRN_PTE_VALID | pages);
	set_leaf(0, LARGE_VA + 7 * TRN_PAGE_SIZE, LEAF | TRN_PTE_TARGET_HBM | 32 * MIB);
	invalidate(LARGE_VA + 7 * TRN_PAGE_SIZE, TRN_PAGE_SIZE);
	works(rig_fill(LARGE_VA, 2 * MIB, 6, 0));
	ck_assert_uint_eq(*hbm(32 * MIB), 6);
	ck_assert_uint_eq(*hbm(8 * MIB + 7 * TRN_PAGE_SIZE), 5);
	ck_assert_uint_eq(*hbm(8 * MIB + 8 * TRN_PAGE_SIZE), 6);
	ck_assert_uint_eq(*hbm(8 * MIB + 7 * TRN_PAGE_SIZE - 1), 6);
}
END_TEST

START_TEST(more_than_the_tlb_holds)
{
	const unsigned int leaves = 3 * TRN_TLB_SETS * TRN_TLB_WAYS;

	for (unsigned int i = 0; i < leaves; i++)
		set_leaf(1, LARGE_VA + i * 2 * MIB,
			 LEAF | TRN_PTE_TARGET_HBM | (i % 512) * 2 * MIB);
	for (unsigned int round = 1; round <= 2; round++) {
		for (unsigned int i = 0; i < leaves; i++)
			works(rig_fill(LARGE_VA + i * 2 * MIB + 8 * i, 8, i << 8 | round, 3));
	}
	for (unsigned int i = 0; i < leaves; i++) {
		uint64_t value;

		memcpy(&value, hbm((i % 512) * 2 * MIB + 8 * i), 8);
		ck_assert_uint_eq(le64toh(value), i << 8 | 2);
	}
}
END_TEST

Suite *large_suite(void)
{
	Suite *suite = suite_create("large leaves");
	TCase *tcase = tcase_create("large leaves");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, first_and_last_byte, 0, 2);
	tcase_add_test(tcase, crossing);
	tcase_add_test(tcase, host_memory);
	tcase_add_test(tcase, beyond_the_end_of_hbm);
	tcase_add_loop_test(tcase, malformed, 0, 2);
	tcase_add_test(tcase, sizes_that_are_not_there);
	tcase_add_loop_test(tcase, permissions, 0, 2);
	tcase_add_loop_test(tcase, stale_until_any_address_is_invalidated, 0, 2);
	tcase_add_loop_test(tcase, whole_asid_forgets_large_leaves, 0, 2);
	tcase_add_test(tcase, leaf_becomes_table_and_leaf_again);
	tcase_add_test(tcase, more_than_the_tlb_holds);
	suite_add_tcase(suite, tcase);
	return suite;
}
