// SPDX-License-Identifier: MIT
/* Random page tables: the chip's translation beside a plain walk of the specification. */
#include <inttypes.h>
#include <stdlib.h>

#include "rig.h"
#include "suites.h"

#define CHANGES	 6000
#define LOOKUPS	 12 /* after each change */
#define HBM_SIZE (3ULL << 30)
#define ASID	 7

static struct rig rig;
static struct rig_space space;

/* Few indexes of each level, so that addresses meet; the first and the last among them. */
static uint64_t random_va(void)
{
	static const unsigned int indexes[] = { 0, 1, 2, 510, 511 };
	uint64_t va = rig_below(4) ? 0 : rig_below(TRN_PAGE_SIZE);

	for (unsigned int level = 0; level < TRN_PT_LEVELS; level++)
		va |= (uint64_t)indexes[rig_below(level == 3 ? 2 : 5)] << TRN_PT_SHIFT(level);
	return va;
}

static uint64_t random_leaf(unsigned int level)
{
	uint64_t entry = TRN_PTE_VALID | TRN_PTE_LEAF | (1 + rig_below(3)) << 2;
	uint64_t address = rig_below(HBM_SIZE + (HBM_SIZE >> 3)) & TRN_PTE_ADDRESS_MASK;

	if (rig_below(8))
		address &= ~((1ULL << TRN_PT_SHIFT(level)) - 1);
	if (rig_below(2))
		entry |= TRN_PTE_TARGET_HOST;
	if (rig_below(16) == 0)
		entry ^= 1ULL << rig_below(64);
	return entry | address;
}

/* Writes an entry on the way to va; all that it changes is invalidated. */
static void change(void)
{
	uint64_t va = random_va(), table = space.root, value = 0;
	unsigned int level = TRN_PT_LEVELS - 1, target = rig_below(TRN_PT_LEVELS);
	uint64_t size;
	__le64 *entry;

	for (;; level--) {
		entry = (__le64 *)rig_pointer(&rig, table) +
			(va >> TRN_PT_SHIFT(level)) % TRN_PT_ENTRIES;
		if (level == target || level == 0)
			break;
		if ((le64toh(*entry) & 0xfff) != TRN_PTE_VALID || le64toh(*entry) >> 52)
			break; /* no table */
		table = le64toh(*entry) & TRN_PTE_ADDRESS_MASK;
	}
	if (level && rig_below(4))
		value = rig_alloc(&rig, TRN_PT_SIZE) | TRN_PTE_VALID;
	else if (rig_below(8))
		value = random_leaf(level);
	trn_store64(entry, value);
	size = 1ULL << TRN_PT_SHIFT(level);
	if (rig_below(8))
		trn_tlb_invalidate(&rig.chip->tlb, ASID, va & ~(size - 1), size);
	else
		trn_tlb_invalidate_asid(&rig.chip->tlb, ASID);
}

struct result {
	uint8_t reason; /* 0: good */
	bool hbm;
	uint64_t address;
};

/* As the specification says it, a byte at a time. */
static struct result walk(uint64_t va, bool write)
{
	uint64_t table = space.root;

	for (int level = 3; level >= 0; level--) {
		uint64_t size = 1ULL << (12 + 9 * level);
		uint64_t entry = trn_load64((__le64 *)rig_pointer(&rig, table) + va / size % 512);
		bool leaf = entry & 2, readable = entry & 4, writable = entry & 8;
		unsigned int destination = entry >> 4 & 3;
		uint64_t address = entry & 0x000ffffffffff000, rest = entry & 0xfff0000000000fc0;

		if (!(entry & 1))
			return (struct result){ TRN_STOP_FAULT_UNMAPPED, false, 0 };
		if (!leaf) {
			if (level == 0 || rest || readable || writable || destination)
				return (struct result){ TRN_STOP_FAULT_ENTRY, false, 0 };
			table = address;
			continue;
		}
		if (level == 3 || rest || (!readable && !writable) || destination > 1 ||
		    address % size || (destination == 0 && address >= HBM_SIZE))
			return (struct result){ TRN_STOP_FAULT_ENTRY, false, 0 };
		if (write ? !writable : !readable)
			return (struct result){ TRN_STOP_FAULT_PERMISSION, false, 0 };
		address += va % size;
		if (destination == 0 && address >= HBM_SIZE)
			return (struct result){ TRN_STOP_FAULT_ENTRY, false, 0 };
		return (struct result){ 0, destination == 0, address };
	}
	ck_abort_msg("the walk has no end");
}

static void check_byte(uint64_t va, bool write, const struct trn_extent *extent, uint64_t offset)
{
	struct result expected = walk(va + offset, write);

	if (expected.reason || expected.hbm != extent->hbm ||
	    expected.address != extent->address + offset)
		ck_abort_msg("%#" PRIx64 " + %#" PRIx64 ": reason %u, address %#" PRIx64
			     " instead of %#" PRIx64,
			     va, offset, expected.reason, extent->address + offset,
			     expected.address);
}

static void look_up(void)
{
	uint64_t va = random_va(), length = 1 + rig_below(rig_below(2) ? 8 : 3 << 20);
	bool write = rig_below(2);
	struct result expected = walk(va, write);
	struct trn_extent extent;
	struct trn_fault fault;

	if (length > (1ULL << 48) - va)
		length = (1ULL << 48) - va;
	if (!trn_translate(rig.chip, ASID, va, length, write ? TRN_ACCESS_WRITE : TRN_ACCESS_READ,
			   &extent, &fault)) {
		if (fault.reason != expected.reason || fault.address != va)
			ck_abort_msg("%#" PRIx64 ": reason %u instead of %u", va, fault.reason,
				     expected.reason);
		return;
	}
	ck_assert_uint_gt(extent.length, 0);
	check_byte(va, write, &extent, 0);
	check_byte(va, write, &extent, extent.length - 1);
	for (unsigned int i = 0; i < 8; i++)
		check_byte(va, write, &extent, rig_below(extent.length));
}

START_TEST(random_tables)
{
	/* The loop's index is the seed: a failure names it. */
	rig_random_seed(0x9e3779b97f4a7c15ULL * ((uint64_t)_i + 1));
	rig_create(&rig, "trn1", HBM_SIZE, 0);
	rig_enable(&rig, 16);
	rig_space_create(&rig, &space, ASID);
	for (unsigned int i = 0; i < CHANGES; i++) {
		change();
		for (unsigned int j = 0; j < LOOKUPS; j++)
			look_up();
	}
	rig_destroy(&rig);
}
END_TEST

Suite *walk_suite(void)
{
	Suite *suite = suite_create("walk");
	TCase *tcase = tcase_create("walk");

	tcase_set_timeout(tcase, 250);
	tcase_add_loop_test(tcase, random_tables, 0, getenv("TRN_LONG") ? 50 : 4);
	suite_add_tcase(suite, tcase);
	return suite;
}
