// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page-table builder against a walk as Documentation/device.rst, chapter
 * "Address translation", describes it.
 */
#include <kunit/test.h>

#include "trn_mmu.c"

#define MAX_TABLES	64
/* Where the fake tables' DMA addresses begin: above 4 GiB, as real ones may be. */
#define DMA_BASE	0x123400000000ULL

/* Memory for tables, at made-up DMA addresses. */
struct memory {
	struct kunit *test;
	__le64 *table[MAX_TABLES];
	unsigned int allocated;
	unsigned int left;	/* allocations until they fail */
};

static __le64 *memory_alloc(void *arg, dma_addr_t *dma)
{
	struct memory *memory = arg;
	int i;

	if (!memory->left)
		return NULL;
	memory->left--;
	for (i = 0; i < MAX_TABLES; i++) {
		if (!memory->table[i])
			break;
	}
	if (i == MAX_TABLES)
		return NULL;
	memory->table[i] = kzalloc(TRN_PT_SIZE, GFP_KERNEL);
	memory->allocated++;
	*dma = DMA_BASE + i * TRN_PT_SIZE;
	return memory->table[i];
}

static void memory_free(void *arg, __le64 *entries, dma_addr_t dma)
{
	struct memory *memory = arg;
	u64 i = (dma - DMA_BASE) / TRN_PT_SIZE;

	KUNIT_ASSERT_LT(memory->test, i, (u64)MAX_TABLES);
	KUNIT_EXPECT_PTR_EQ(memory->test, memory->table[i], entries);
	kfree(entries);
	memory->table[i] = NULL;
	memory->allocated--;
}

static const struct trn_mmu_allocator memory_allocator = {
	.alloc = memory_alloc,
	.free = memory_free,
};

enum walk_result { UNMAPPED, MAPPED, BAD_ENTRY };

struct translation {
	u64 address;	/* with the offset in the page */
	u64 target;
	bool read;
	bool write;
};

/* Bit numbers and widths are device.rst's, on purpose not the header's macros. */
static enum walk_result walk(struct memory *memory, u64 root, u64 va, struct translation *result)
{
	static const int shifts[] = { 39, 30, 21, 12 };
	u64 table = root;
	int i;

	for (i = 0; i < 4; i++) {
		u64 n = (table - DMA_BASE) / 4096;
		u64 entry, address;

		if (table < DMA_BASE || n >= MAX_TABLES || !memory->table[n])
			return BAD_ENTRY;
		entry = le64_to_cpu(memory->table[n][(va >> shifts[i]) & 511]);
		if (!(entry & 1))
			return UNMAPPED;
		address = entry & 0x000ffffffffff000ULL;
		if (i < 3) {
			if (entry != (address | 1))
				return BAD_ENTRY;
			table = address;
			continue;
		}
		result->read = entry & 4;
		result->write = entry & 8;
		result->target = (entry >> 4) & 3;
		result->address = address | (va & 4095);
		if (!(entry & 2) || !(entry & 12) || result->target > 1 ||
		    entry != (address | (entry & 0x3f)))
			return BAD_ENTRY;
	}
	return MAPPED;
}

struct fixture {
	struct memory memory;
	struct trn_mmu mmu;
};

static int trn_mmu_test_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->memory.test = test;
	f->memory.left = UINT_MAX;
	test->priv = f;
	return trn_mmu_init(&f->mmu, &memory_allocator, &f->memory);
}

static void trn_mmu_test_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	trn_mmu_fini(&f->mmu);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 0u);
}

static void map(struct kunit *test, u64 va, u64 size, u64 address, u64 bits)
{
	struct fixture *f = test->priv;
	struct trn_mmu_spare spare;
	int i;

	trn_mmu_spare_init(&spare);
	KUNIT_ASSERT_EQ(test, trn_mmu_prepare(&f->mmu, va, size, &spare), 0);
	trn_mmu_map(&f->mmu, va, size, address, bits, &spare);
	for (i = 0; i < ARRAY_SIZE(spare.tables); i++)
		KUNIT_EXPECT_TRUE(test, list_empty(&spare.tables[i]));
}

/* Returns the range that was to be invalidated. */
static struct trn_mmu_gather unmap(struct kunit *test, u64 va, u64 size)
{
	struct fixture *f = test->priv;
	struct trn_mmu_gather gather, range;

	trn_mmu_gather_init(&gather);
	trn_mmu_unmap(&f->mmu, va, size, &gather);
	range = gather;
	trn_mmu_gather_free(&f->mmu, &gather);
	return range;
}

static void expect_unmapped(struct kunit *test, u64 va)
{
	struct fixture *f = test->priv;
	struct translation t;

	KUNIT_EXPECT_EQ_MSG(test, walk(&f->memory, f->mmu.root->dma, va, &t), UNMAPPED,
			    "va 0x%llx", va);
}

static void expect_mapped(struct kunit *test, u64 va, u64 address, u64 target, bool write)
{
	struct fixture *f = test->priv;
	struct translation t = {};

	KUNIT_EXPECT_EQ_MSG(test, walk(&f->memory, f->mmu.root->dma, va, &t), MAPPED,
			    "va 0x%llx", va);
	KUNIT_EXPECT_EQ_MSG(test, t.address, address, "va 0x%llx", va);
	KUNIT_EXPECT_EQ(test, t.target, target);
	KUNIT_EXPECT_TRUE(test, t.read);
	KUNIT_EXPECT_EQ(test, t.write, write);
}

#define RO	TRN_PTE_READ
#define RW	(TRN_PTE_READ | TRN_PTE_WRITE)
#define HBM	0
#define HOST	1

static void trn_mmu_empty(struct kunit *test)
{
	expect_unmapped(test, 0);
	expect_unmapped(test, 0x123456789000);
	expect_unmapped(test, 0xfffffffff000);
}

static void trn_mmu_one_page(struct kunit *test)
{
	map(test, 0x7fff12345000, 0x1000, 0x3456789000, RW | TRN_PTE_TARGET_HOST);
	expect_mapped(test, 0x7fff12345000, 0x3456789000, HOST, true);
	expect_mapped(test, 0x7fff12345abc, 0x3456789abc, HOST, true);
	expect_unmapped(test, 0x7fff12344fff);
	expect_unmapped(test, 0x7fff12346000);
	/* Each index of the walk differs in one of these. */
	expect_unmapped(test, 0x7fff12345000 ^ 1ULL << 21);
	expect_unmapped(test, 0x7fff12345000 ^ 1ULL << 30);
	expect_unmapped(test, 0x7fff12345000 ^ 1ULL << 39);
}

static void trn_mmu_permissions_and_targets(struct kunit *test)
{
	map(test, 0x1000, 0x1000, 0xaaaa000, RO | TRN_PTE_TARGET_HBM);
	map(test, 0x2000, 0x1000, 0xbbbb000, RW | TRN_PTE_TARGET_HBM);
	map(test, 0x3000, 0x1000, 0xccccccccc000, RO | TRN_PTE_TARGET_HOST);
	expect_mapped(test, 0x1000, 0xaaaa000, HBM, false);
	expect_mapped(test, 0x2000, 0xbbbb000, HBM, true);
	expect_mapped(test, 0x3000, 0xccccccccc000, HOST, false);
}

/* A range over the seam between two tables of each level. */
static void trn_mmu_seams(struct kunit *test)
{
	static const int shifts[] = { 21, 30, 39 };
	int i, page;

	for (i = 0; i < ARRAY_SIZE(shifts); i++) {
		u64 va = (3ULL << shifts[i]) - 3 * 0x1000;

		map(test, va, 7 * 0x1000, 0x5000000, RW | TRN_PTE_TARGET_HBM);
		expect_unmapped(test, va - 1);
		for (page = 0; page < 7; page++)
			expect_mapped(test, va + page * 0x1000, 0x5000000 + page * 0x1000,
				      HBM, true);
		expect_unmapped(test, va + 7 * 0x1000);
		unmap(test, va, 7 * 0x1000);
		for (page = 0; page < 7; page++)
			expect_unmapped(test, va + page * 0x1000);
	}
}

static void trn_mmu_ends_of_space(struct kunit *test)
{
	u64 last = (1ULL << 48) - 0x1000;

	map(test, 0, 0x1000, 0x1000, RW | TRN_PTE_TARGET_HBM);
	map(test, last, 0x1000, 0x2000, RW | TRN_PTE_TARGET_HBM);
	expect_mapped(test, 0, 0x1000, HBM, true);
	expect_mapped(test, last + 0xfff, 0x2fff, HBM, true);
	KUNIT_EXPECT_EQ(test, unmap(test, last, 0x1000).end, 1ULL << 48);
	expect_unmapped(test, last);
	expect_mapped(test, 0, 0x1000, HBM, true);
}

/* 5 MiB: whole tables in the middle. */
static void trn_mmu_large(struct kunit *test)
{
	u64 va = 0x40000000 - 0x3000, size = 5 << 20, offset;

	map(test, va, size, 0x100000000, RW | TRN_PTE_TARGET_HBM);
	for (offset = 0; offset < size; offset += 0x1000)
		expect_mapped(test, va + offset, 0x100000000 + offset, HBM, true);
	expect_unmapped(test, va - 1);
	expect_unmapped(test, va + size);
}

/* Extents of one object: prepared once, mapped piece by piece. */
static void trn_mmu_extents(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 va = 0x200000 - 0x2000;
	struct trn_mmu_spare spare;

	trn_mmu_spare_init(&spare);
	KUNIT_ASSERT_EQ(test, trn_mmu_prepare(&f->mmu, va, 0x4000, &spare), 0);
	trn_mmu_map(&f->mmu, va, 0x1000, 0x9000, RW | TRN_PTE_TARGET_HOST, &spare);
	trn_mmu_map(&f->mmu, va + 0x1000, 0x3000, 0x50000, RW | TRN_PTE_TARGET_HOST, &spare);
	expect_mapped(test, va, 0x9000, HOST, true);
	expect_mapped(test, va + 0x1000, 0x50000, HOST, true);
	expect_mapped(test, va + 0x3000, 0x52000, HOST, true);
}

static void trn_mmu_unmap_keeps_neighbours(struct kunit *test)
{
	struct trn_mmu_gather range;

	map(test, 0x10000, 0x1000, 0x1000, RW | TRN_PTE_TARGET_HBM);
	map(test, 0x11000, 0x2000, 0x8000, RW | TRN_PTE_TARGET_HBM);
	map(test, 0x13000, 0x1000, 0x2000, RW | TRN_PTE_TARGET_HBM);
	range = unmap(test, 0x11000, 0x2000);
	KUNIT_EXPECT_EQ(test, range.start, 0x11000ULL);
	KUNIT_EXPECT_EQ(test, range.end, 0x13000ULL);
	expect_mapped(test, 0x10000, 0x1000, HBM, true);
	expect_unmapped(test, 0x11000);
	expect_unmapped(test, 0x12000);
	expect_mapped(test, 0x13000, 0x2000, HBM, true);
}

/* Empty tables go, and all that they translated is to be invalidated. */
static void trn_mmu_unmap_frees_tables(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct trn_mmu_gather range;

	KUNIT_EXPECT_EQ(test, f->memory.allocated, 1u);
	map(test, 0x8080604000, 0x1000, 0x1000, RW | TRN_PTE_TARGET_HBM);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
	map(test, 0x8080805000, 0x1000, 0x1000, RW | TRN_PTE_TARGET_HBM);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 5u);

	range = unmap(test, 0x8080805000, 0x1000);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
	KUNIT_EXPECT_EQ(test, range.start, 0x8080800000ULL);
	KUNIT_EXPECT_EQ(test, range.end, 0x8080a00000ULL);

	range = unmap(test, 0x8080604000, 0x1000);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 1u);
	KUNIT_EXPECT_EQ(test, range.start, 0x8000000000ULL);
	KUNIT_EXPECT_EQ(test, range.end, 0x10000000000ULL);
	expect_unmapped(test, 0x8080604000);
}

/* Tables stay allocated until the gathered range has been invalidated. */
static void trn_mmu_gather_defers_free(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct trn_mmu_gather gather;

	map(test, 0x5000, 0x1000, 0x1000, RW | TRN_PTE_TARGET_HBM);
	trn_mmu_gather_init(&gather);
	trn_mmu_unmap(&f->mmu, 0x5000, 0x1000, &gather);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
	expect_unmapped(test, 0x5000);
	/* The same range again, before the old tables are gone. */
	map(test, 0x5000, 0x1000, 0x7000, RW | TRN_PTE_TARGET_HBM);
	expect_mapped(test, 0x5000, 0x7000, HBM, true);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 7u);
	trn_mmu_gather_free(&f->mmu, &gather);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
	expect_mapped(test, 0x5000, 0x7000, HBM, true);
}

static void trn_mmu_out_of_memory(struct kunit *test)
{
	struct fixture *f = test->priv;
	/* Needs two tables of each level but the root's. */
	u64 va = (1ULL << 39) - 0x1000, size = 0x2000;
	struct trn_mmu_spare spare;
	unsigned int left;

	for (left = 0; left < 6; left++) {
		f->memory.left = left;
		trn_mmu_spare_init(&spare);
		KUNIT_EXPECT_EQ(test, trn_mmu_prepare(&f->mmu, va, size, &spare), -ENOMEM);
		KUNIT_EXPECT_EQ(test, f->memory.allocated, 1u);
		expect_unmapped(test, va);
	}
	f->memory.left = 6;
	map(test, va, size, 0x1000, RW | TRN_PTE_TARGET_HBM);
	expect_mapped(test, va, 0x1000, HBM, true);
	expect_mapped(test, va + 0x1000, 0x2000, HBM, true);
}

static struct kunit_case trn_mmu_cases[] = {
	KUNIT_CASE(trn_mmu_empty),
	KUNIT_CASE(trn_mmu_one_page),
	KUNIT_CASE(trn_mmu_permissions_and_targets),
	KUNIT_CASE(trn_mmu_seams),
	KUNIT_CASE(trn_mmu_ends_of_space),
	KUNIT_CASE(trn_mmu_large),
	KUNIT_CASE(trn_mmu_extents),
	KUNIT_CASE(trn_mmu_unmap_keeps_neighbours),
	KUNIT_CASE(trn_mmu_unmap_frees_tables),
	KUNIT_CASE(trn_mmu_gather_defers_free),
	KUNIT_CASE(trn_mmu_out_of_memory),
	{}
};

static struct kunit_suite trn_mmu_suite = {
	.name = "trn_mmu",
	.init = trn_mmu_test_init,
	.exit = trn_mmu_test_exit,
	.test_cases = trn_mmu_cases,
};

kunit_test_suite(trn_mmu_suite);
