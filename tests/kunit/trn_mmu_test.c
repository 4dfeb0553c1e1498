// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page-table builder against a walk as Documentation/device.rst, chapter
 * "Address translation", describes it.
 */
#include <kunit/test.h>

#include "trn_mmu.c"

#define MAX_TABLES	600
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
	u64 size;	/* of the leaf */
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
		u64 size = 1ULL << shifts[i];
		u64 entry, address;

		if (table < DMA_BASE || n >= MAX_TABLES || !memory->table[n])
			return BAD_ENTRY;
		entry = le64_to_cpu(memory->table[n][(va >> shifts[i]) & 511]);
		if (!(entry & 1))
			return UNMAPPED;
		address = entry & 0x000ffffffffff000ULL;
		if (!(entry & 2)) {
			if (entry != (address | 1))
				return BAD_ENTRY;
			table = address;
			continue;
		}
		result->read = entry & 4;
		result->write = entry & 8;
		result->target = (entry >> 4) & 3;
		result->size = size;
		result->address = address | (va & (size - 1));
		if (!i || (address & (size - 1)) || !(entry & 12) || result->target > 1 ||
		    entry != (address | (entry & 0x3f)))
			return BAD_ENTRY;
		return MAPPED;
	}
	return BAD_ENTRY;
}

struct fixture {
	struct memory memory;
	struct trn_mmu mmu;
};

#define K4	BIT_ULL(12)
#define M2	BIT_ULL(21)
#define G1	BIT_ULL(30)

static int trn_mmu_test_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->memory.test = test;
	f->memory.left = UINT_MAX;
	test->priv = f;
	return trn_mmu_init(&f->mmu, &memory_allocator, &f->memory, K4 | M2 | G1);
}

static void trn_mmu_test_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	trn_mmu_fini(&f->mmu);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 0u);
}

static void expect_no_spare(struct kunit *test, struct trn_mmu_spare *spare)
{
	int level;

	for (level = 0; level < TRN_MMU_LEVELS; level++)
		KUNIT_EXPECT_TRUE(test, list_empty(&spare->tables[level]));
}

static void map(struct kunit *test, u64 va, u64 size, u64 address, u64 bits)
{
	struct fixture *f = test->priv;
	struct trn_mmu_demand demand;
	struct trn_mmu_spare spare;

	trn_mmu_demand_init(&demand);
	trn_mmu_demand_map(&f->mmu, va, size, address, &demand);
	trn_mmu_spare_init(&spare);
	KUNIT_ASSERT_EQ(test, trn_mmu_spare_alloc(&f->mmu, &demand, &spare), 0);
	trn_mmu_map(&f->mmu, va, size, address, bits, &spare);
	trn_mmu_spare_free(&f->mmu, &spare);
}

static void unmap_into(struct kunit *test, u64 va, u64 size, struct trn_mmu_gather *gather)
{
	struct fixture *f = test->priv;
	struct trn_mmu_demand demand;
	struct trn_mmu_spare spare;

	trn_mmu_demand_init(&demand);
	trn_mmu_demand_unmap(&f->mmu, va, size, &demand);
	trn_mmu_spare_init(&spare);
	KUNIT_ASSERT_EQ(test, trn_mmu_spare_alloc(&f->mmu, &demand, &spare), 0);
	trn_mmu_unmap(&f->mmu, va, size, &spare, gather);
	trn_mmu_spare_free(&f->mmu, &spare);
}

/* The gathered range has been invalidated. */
static void flush(struct kunit *test, struct trn_mmu_gather *gather)
{
	struct fixture *f = test->priv;
	struct trn_mmu_spare spare;

	trn_mmu_spare_init(&spare);
	trn_mmu_gather_reuse(gather, &spare);
	trn_mmu_spare_free(&f->mmu, &spare);
}

/* Returns the range that was to be invalidated. */
static struct trn_mmu_gather unmap(struct kunit *test, u64 va, u64 size)
{
	struct trn_mmu_gather gather, range;

	trn_mmu_gather_init(&gather);
	unmap_into(test, va, size, &gather);
	range = gather;
	flush(test, &gather);
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

static void expect_leaf(struct kunit *test, u64 va, u64 address, u64 size)
{
	struct fixture *f = test->priv;
	struct translation t = {};

	KUNIT_EXPECT_EQ_MSG(test, walk(&f->memory, f->mmu.root->dma, va, &t), MAPPED,
			    "va 0x%llx", va);
	KUNIT_EXPECT_EQ_MSG(test, t.address, address, "va 0x%llx", va);
	KUNIT_EXPECT_EQ_MSG(test, t.size, size, "va 0x%llx", va);
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

/* 5 MiB of small leaves: whole tables in the middle. */
static void trn_mmu_large(struct kunit *test)
{
	u64 va = 0x40000000 - 0x3000, size = 5 << 20, offset;

	map(test, va, size, 0x100000000, RW | TRN_PTE_TARGET_HBM);
	for (offset = 0; offset < size; offset += 0x1000)
		expect_mapped(test, va + offset, 0x100000000 + offset, HBM, true);
	expect_unmapped(test, va - 1);
	expect_unmapped(test, va + size);
}

/* Extents of one object: counted and allocated together, mapped piece by piece. */
static void trn_mmu_extents(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 va = 0x200000 - 0x2000;
	struct trn_mmu_demand demand;
	struct trn_mmu_spare spare;

	trn_mmu_demand_init(&demand);
	trn_mmu_demand_map(&f->mmu, va, 0x1000, 0x9000, &demand);
	trn_mmu_demand_map(&f->mmu, va + 0x1000, 0x3000, 0x50000, &demand);
	/* Two tables of 4 KiB leaves, one of each level above. */
	KUNIT_EXPECT_EQ(test, demand.tables[0], 2ul);
	KUNIT_EXPECT_EQ(test, demand.tables[1], 1ul);
	KUNIT_EXPECT_EQ(test, demand.tables[2], 1ul);
	trn_mmu_spare_init(&spare);
	KUNIT_ASSERT_EQ(test, trn_mmu_spare_alloc(&f->mmu, &demand, &spare), 0);
	trn_mmu_map(&f->mmu, va, 0x1000, 0x9000, RW | TRN_PTE_TARGET_HOST, &spare);
	trn_mmu_map(&f->mmu, va + 0x1000, 0x3000, 0x50000, RW | TRN_PTE_TARGET_HOST, &spare);
	expect_no_spare(test, &spare);
	expect_mapped(test, va, 0x9000, HOST, true);
	expect_mapped(test, va + 0x1000, 0x50000, HOST, true);
	expect_mapped(test, va + 0x3000, 0x52000, HOST, true);
}

/* A range of 4 KiB, 2 MiB and 1 GiB leaves, and what each of them needs. */
static void trn_mmu_largest_leaves(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 va = 8 * G1 - M2 - K4, address = 4 * G1 - M2 - K4;
	u64 size = 2 * G1 + 2 * M2 + 2 * K4;

	map(test, va, size, address, RW | TRN_PTE_TARGET_HBM);
	expect_unmapped(test, va - 1);
	expect_leaf(test, va, address, K4);
	expect_leaf(test, va + K4, address + K4, M2);
	expect_leaf(test, 8 * G1, 4 * G1, G1);
	expect_leaf(test, 9 * G1 + 0x12345678, 5 * G1 + 0x12345678, G1);
	expect_leaf(test, 10 * G1, 6 * G1, M2);
	expect_leaf(test, 10 * G1 + M2, 6 * G1 + M2, K4);
	expect_unmapped(test, va + size);
	KUNIT_EXPECT_EQ(test, f->mmu.leaves[0], 2ul);
	KUNIT_EXPECT_EQ(test, f->mmu.leaves[1], 2ul);
	KUNIT_EXPECT_EQ(test, f->mmu.leaves[2], 2ul);
	/* Before and behind one of 4 KiB and one of 2 MiB leaves, all in one of 1 GiB. */
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 6u);
	unmap(test, va, size);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 1u);
	KUNIT_EXPECT_EQ(test, f->mmu.leaves[0] + f->mmu.leaves[1] + f->mmu.leaves[2], 0ul);
}

/* The address decides too, and so does what the chip knows. */
static void trn_mmu_small_leaves_when_needed(struct kunit *test)
{
	struct fixture *f = test->priv;

	map(test, 4 * M2, M2, 7 * M2 + K4, RW | TRN_PTE_TARGET_HBM);
	expect_leaf(test, 4 * M2, 7 * M2 + K4, K4);
	expect_leaf(test, 5 * M2 - 1, 8 * M2 + K4 - 1, K4);
	map(test, G1, G1, G1 + M2, RW | TRN_PTE_TARGET_HBM);
	expect_leaf(test, G1, G1 + M2, M2);
	expect_leaf(test, 2 * G1 - 1, 2 * G1 + M2 - 1, M2);
	unmap(test, 4 * M2, M2);
	unmap(test, G1, G1);

	trn_mmu_fini(&f->mmu);
	KUNIT_ASSERT_EQ(test, trn_mmu_init(&f->mmu, &memory_allocator, &f->memory, K4 | M2), 0);
	map(test, G1, G1, 3 * G1, RW | TRN_PTE_TARGET_HBM);
	expect_leaf(test, G1 + M2, 3 * G1 + M2, M2);

	trn_mmu_fini(&f->mmu);
	KUNIT_ASSERT_EQ(test, trn_mmu_init(&f->mmu, &memory_allocator, &f->memory, K4), 0);
	map(test, G1, 2 * M2, 3 * G1, RW | TRN_PTE_TARGET_HBM);
	expect_leaf(test, G1 + M2, 3 * G1 + M2, K4);
}

static void trn_mmu_split_2m(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct trn_mmu_gather range;

	map(test, 4 * M2, 2 * M2, 8 * M2, RO | TRN_PTE_TARGET_HOST);
	range = unmap(test, 4 * M2 + 5 * K4, 2 * K4);
	/* An address in the old leaf: that is enough for the chip to forget it. */
	KUNIT_EXPECT_EQ(test, range.start, 4 * M2 + 5 * K4);
	KUNIT_EXPECT_EQ(test, range.end, 4 * M2 + 7 * K4);
	expect_leaf(test, 4 * M2, 8 * M2, K4);
	expect_mapped(test, 4 * M2 + 4 * K4 + 0xabc, 8 * M2 + 4 * K4 + 0xabc, HOST, false);
	expect_unmapped(test, 4 * M2 + 5 * K4);
	expect_unmapped(test, 4 * M2 + 7 * K4 - 1);
	expect_mapped(test, 4 * M2 + 7 * K4, 8 * M2 + 7 * K4, HOST, false);
	expect_mapped(test, 5 * M2 - 1, 9 * M2 - 1, HOST, false);
	expect_leaf(test, 5 * M2, 9 * M2, M2);
	KUNIT_EXPECT_EQ(test, f->mmu.leaves[0], 510ul);
	KUNIT_EXPECT_EQ(test, f->mmu.leaves[1], 1ul);

	unmap(test, 4 * M2, 5 * K4);
	unmap(test, 4 * M2 + 7 * K4, 2 * M2 - 7 * K4);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 1u);
}

/* In the middle of 1 GiB: a table of 2 MiB leaves and one of 4 KiB leaves for each end. */
static void trn_mmu_split_1g(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 start = 3 * G1 + 10 * M2 + K4, end = 3 * G1 + 20 * M2 + 3 * K4;

	map(test, 3 * G1, G1, 5 * G1, RW | TRN_PTE_TARGET_HBM);
	expect_leaf(test, start, 5 * G1 + 10 * M2 + K4, G1);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 2u);
	unmap(test, start, end - start);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 5u);
	expect_leaf(test, 3 * G1, 5 * G1, M2);
	expect_leaf(test, 3 * G1 + 10 * M2, 5 * G1 + 10 * M2, K4);
	expect_unmapped(test, start);
	expect_unmapped(test, 3 * G1 + 15 * M2);
	expect_unmapped(test, end - 1);
	expect_leaf(test, end, 5 * G1 + 20 * M2 + 3 * K4, K4);
	expect_leaf(test, 3 * G1 + 21 * M2, 5 * G1 + 21 * M2, M2);
	expect_leaf(test, 4 * G1 - 1, 6 * G1 - 1, M2);

	unmap(test, 3 * G1, start - 3 * G1);
	unmap(test, end, 4 * G1 - end);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 1u);
}

/* Both ends in different leaves; whole leaves between them go without tables. */
static void trn_mmu_split_across(struct kunit *test)
{
	struct fixture *f = test->priv;

	map(test, 2 * G1, 3 * G1, 0, RW | TRN_PTE_TARGET_HBM);
	unmap(test, 3 * G1 - M2, G1 + 2 * M2);
	expect_leaf(test, 3 * G1 - 2 * M2, G1 - 2 * M2, M2);
	expect_unmapped(test, 3 * G1 - M2);
	expect_unmapped(test, 3 * G1 + 12345);
	expect_unmapped(test, 4 * G1 + M2 - 1);
	expect_leaf(test, 4 * G1 + M2, 2 * G1 + M2, M2);
	/* The root, one below it, and one for each leaf that was cut. */
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
	unmap(test, 2 * G1, G1 - M2);
	unmap(test, 4 * G1 + M2, G1 - M2);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 1u);
}

/* A whole leaf: all that it translated, and no table. */
static void trn_mmu_gather_large_leaf(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct trn_mmu_gather range;

	map(test, M2, 3 * M2, 0, RW | TRN_PTE_TARGET_HBM);
	range = unmap(test, 2 * M2, M2);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 3u);
	KUNIT_EXPECT_EQ(test, range.start, 2 * M2);
	KUNIT_EXPECT_EQ(test, range.end, 3 * M2);
	expect_leaf(test, M2, 0, M2);
	expect_leaf(test, 3 * M2, 2 * M2, M2);
}

/* Leaf after table or table after leaf: only after an invalidate. */
static void trn_mmu_gather_blocks(struct kunit *test)
{
	struct trn_mmu_gather gather;

	trn_mmu_gather_init(&gather);
	KUNIT_EXPECT_FALSE(test, trn_mmu_gather_blocks_map(&gather, 0, 1ULL << 48));

	/* Small leaves in a table that stays do not matter. */
	map(test, M2, 3 * K4, 0, RW | TRN_PTE_TARGET_HBM);
	unmap_into(test, M2 + K4, K4, &gather);
	KUNIT_EXPECT_FALSE(test, trn_mmu_gather_blocks_map(&gather, 0, 1ULL << 48));

	/* A table goes. */
	map(test, 4 * M2, K4, 0, RW | TRN_PTE_TARGET_HBM);
	unmap_into(test, 4 * M2, K4, &gather);
	KUNIT_EXPECT_TRUE(test, trn_mmu_gather_blocks_map(&gather, 4 * M2, M2));
	KUNIT_EXPECT_TRUE(test, trn_mmu_gather_blocks_map(&gather, 5 * M2 - K4, K4));
	KUNIT_EXPECT_FALSE(test, trn_mmu_gather_blocks_map(&gather, 3 * M2, M2));
	KUNIT_EXPECT_FALSE(test, trn_mmu_gather_blocks_map(&gather, 5 * M2, M2));

	/* A large leaf goes. */
	map(test, 5 * M2, M2, 0, RW | TRN_PTE_TARGET_HBM);
	unmap_into(test, 5 * M2, M2, &gather);
	KUNIT_EXPECT_TRUE(test, trn_mmu_gather_blocks_map(&gather, 5 * M2, M2));
	KUNIT_EXPECT_FALSE(test, trn_mmu_gather_blocks_map(&gather, 6 * M2, M2));

	flush(test, &gather);
	KUNIT_EXPECT_FALSE(test, trn_mmu_gather_blocks_map(&gather, 0, 1ULL << 48));
}

/* Tables are shared only with ranges before that are lower. */
static void trn_mmu_demand_of_sequences(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct trn_mmu_demand demand;

	trn_mmu_demand_init(&demand);
	trn_mmu_demand_map(&f->mmu, 5 * M2, K4, 0, &demand);
	trn_mmu_demand_map(&f->mmu, 5 * M2 + 7 * K4, K4, 0, &demand);
	trn_mmu_demand_map(&f->mmu, 6 * M2, 2 * M2, 0, &demand);
	KUNIT_EXPECT_EQ(test, demand.tables[0], 1ul);
	trn_mmu_demand_map(&f->mmu, 3 * M2, K4, 0, &demand);
	KUNIT_EXPECT_EQ(test, demand.tables[0], 2ul);
	trn_mmu_demand_map(&f->mmu, 3 * M2 + K4, M2, 0, &demand);
	KUNIT_EXPECT_EQ(test, demand.tables[0], 3ul);

	/* Only ends that are not aligned to a leaf's size can cut one. */
	trn_mmu_demand_init(&demand);
	trn_mmu_demand_unmap(&f->mmu, G1, G1, &demand);
	KUNIT_EXPECT_EQ(test, demand.tables[0] + demand.tables[1] + demand.tables[2], 0ul);
	trn_mmu_demand_unmap(&f->mmu, G1, M2, &demand);
	KUNIT_EXPECT_EQ(test, demand.tables[0], 0ul);
	KUNIT_EXPECT_EQ(test, demand.tables[1], 1ul);
	trn_mmu_demand_unmap(&f->mmu, K4, K4, &demand);
	KUNIT_EXPECT_EQ(test, demand.tables[0], 2ul);
	KUNIT_EXPECT_EQ(test, demand.tables[1], 3ul);
	KUNIT_EXPECT_EQ(test, demand.tables[2], 0ul);
}

/* What is counted is enough whatever there is, also after an unmap in the sequence. */
static void trn_mmu_demand_is_enough(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct trn_mmu_demand demand;
	struct trn_mmu_gather gather;
	struct trn_mmu_spare spare;

	trn_mmu_demand_init(&demand);
	trn_mmu_demand_map(&f->mmu, M2, K4, 0, &demand);
	trn_mmu_demand_map(&f->mmu, M2 + K4, K4, 0x10000, &demand);
	KUNIT_EXPECT_EQ(test, demand.tables[0], 1ul);
	trn_mmu_demand_unmap(&f->mmu, M2, 2 * K4, &demand);
	trn_mmu_demand_map(&f->mmu, M2, K4, 0, &demand);

	trn_mmu_spare_init(&spare);
	KUNIT_ASSERT_EQ(test, trn_mmu_spare_alloc(&f->mmu, &demand, &spare), 0);
	trn_mmu_gather_init(&gather);
	trn_mmu_map(&f->mmu, M2, K4, 0, RW, &spare);
	trn_mmu_map(&f->mmu, M2 + K4, K4, 0x10000, RW, &spare);
	trn_mmu_unmap(&f->mmu, M2, 2 * K4, &spare, &gather);
	trn_mmu_map(&f->mmu, M2, K4, 0x20000, RW, &spare);
	expect_mapped(test, M2, 0x20000, HBM, true);
	expect_unmapped(test, M2 + K4);
	flush(test, &gather);
	trn_mmu_spare_free(&f->mmu, &spare);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
}

/* Tables that were in use and were given back serve again. */
static void trn_mmu_tables_are_reused(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct trn_mmu_gather gather;
	struct trn_mmu_spare spare;

	map(test, M2, 3 * K4, K4, RW | TRN_PTE_TARGET_HBM);
	trn_mmu_gather_init(&gather);
	KUNIT_EXPECT_TRUE(test, trn_mmu_gather_empty(&gather));
	unmap_into(test, M2, 3 * K4, &gather);
	KUNIT_EXPECT_FALSE(test, trn_mmu_gather_empty(&gather));
	trn_mmu_spare_init(&spare);
	trn_mmu_gather_reuse(&gather, &spare);
	KUNIT_EXPECT_TRUE(test, trn_mmu_gather_empty(&gather));

	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
	trn_mmu_map(&f->mmu, 5 * M2 + K4, K4, 0x7000, RW, &spare);
	expect_no_spare(test, &spare);
	expect_mapped(test, 5 * M2 + K4, 0x7000, HBM, true);
	expect_unmapped(test, 5 * M2);
	expect_unmapped(test, 5 * M2 + 2 * K4);
	expect_unmapped(test, M2);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
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
	unmap_into(test, 0x5000, 0x1000, &gather);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
	expect_unmapped(test, 0x5000);
	/* The same range again, before the old tables are gone. */
	map(test, 0x5000, 0x1000, 0x7000, RW | TRN_PTE_TARGET_HBM);
	expect_mapped(test, 0x5000, 0x7000, HBM, true);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 7u);
	flush(test, &gather);
	KUNIT_EXPECT_EQ(test, f->memory.allocated, 4u);
	expect_mapped(test, 0x5000, 0x7000, HBM, true);
}

static void trn_mmu_out_of_memory(struct kunit *test)
{
	struct fixture *f = test->priv;
	/* Needs two tables of each level but the root's. */
	u64 va = (1ULL << 39) - 0x1000, size = 0x2000;
	struct trn_mmu_demand demand;
	struct trn_mmu_spare spare;
	unsigned int left;

	trn_mmu_demand_init(&demand);
	trn_mmu_demand_map(&f->mmu, va, size, 0x1000, &demand);
	for (left = 0; left < 6; left++) {
		f->memory.left = left;
		trn_mmu_spare_init(&spare);
		KUNIT_EXPECT_EQ(test, trn_mmu_spare_alloc(&f->mmu, &demand, &spare), -ENOMEM);
		expect_no_spare(test, &spare);
		KUNIT_EXPECT_EQ(test, f->memory.allocated, 1u);
		expect_unmapped(test, va);
	}
	f->memory.left = 6;
	map(test, va, size, 0x1000, RW | TRN_PTE_TARGET_HBM);
	expect_mapped(test, va, 0x1000, HBM, true);
	expect_mapped(test, va + 0x1000, 0x2000, HBM, true);
}

/* What a dump shows of an address: entries from the root down to where it ends. */
static void trn_mmu_walk_ends(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct trn_mmu_walk found;
	int level;

	trn_mmu_walk(&f->mmu, 0x123456789000, &found);
	KUNIT_EXPECT_EQ(test, found.last_level, 3);
	KUNIT_EXPECT_EQ(test, found.entries[3], 0ull);

	map(test, 0x123456789000, 0x1000, 0xabcde000, RO | TRN_PTE_TARGET_HOST);
	trn_mmu_walk(&f->mmu, 0x123456789abc, &found);
	KUNIT_EXPECT_EQ(test, found.last_level, 0);
	/* VALID, LEAF, READ and TARGET HOST. */
	KUNIT_EXPECT_EQ(test, found.entries[0], 0xabcde017ull);
	for (level = 1; level < 4; level++)
		KUNIT_EXPECT_EQ(test, found.entries[level] & 0xfff, 1ull);
	KUNIT_EXPECT_EQ(test, found.entries[3], f->mmu.root->child[0x24]->dma | 1);

	/* The next page has the same tables, other addresses share fewer of them. */
	trn_mmu_walk(&f->mmu, 0x12345678a000, &found);
	KUNIT_EXPECT_EQ(test, found.last_level, 0);
	KUNIT_EXPECT_EQ(test, found.entries[0], 0ull);
	trn_mmu_walk(&f->mmu, 0x123456789000 ^ 1ULL << 21, &found);
	KUNIT_EXPECT_EQ(test, found.last_level, 1);
	KUNIT_EXPECT_EQ(test, found.entries[1], 0ull);
	trn_mmu_walk(&f->mmu, 0x123456789000 ^ 1ULL << 30, &found);
	KUNIT_EXPECT_EQ(test, found.last_level, 2);
	trn_mmu_walk(&f->mmu, 0x123456789000 ^ 1ULL << 39, &found);
	KUNIT_EXPECT_EQ(test, found.last_level, 3);

	/* A large leaf ends it early. */
	map(test, 0x40000000, 0x40000000, 0x80000000, RW | TRN_PTE_TARGET_HBM);
	trn_mmu_walk(&f->mmu, 0x7fffffff, &found);
	KUNIT_EXPECT_EQ(test, found.last_level, 2);
	KUNIT_EXPECT_EQ(test, found.entries[2], 0x8000000full);
}

static struct kunit_case trn_mmu_cases[] = {
	KUNIT_CASE(trn_mmu_empty),
	KUNIT_CASE(trn_mmu_one_page),
	KUNIT_CASE(trn_mmu_permissions_and_targets),
	KUNIT_CASE(trn_mmu_seams),
	KUNIT_CASE(trn_mmu_ends_of_space),
	KUNIT_CASE(trn_mmu_large),
	KUNIT_CASE(trn_mmu_extents),
	KUNIT_CASE(trn_mmu_largest_leaves),
	KUNIT_CASE(trn_mmu_small_leaves_when_needed),
	KUNIT_CASE(trn_mmu_split_2m),
	KUNIT_CASE(trn_mmu_split_1g),
	KUNIT_CASE(trn_mmu_split_across),
	KUNIT_CASE(trn_mmu_gather_large_leaf),
	KUNIT_CASE(trn_mmu_gather_blocks),
	KUNIT_CASE(trn_mmu_demand_of_sequences),
	KUNIT_CASE(trn_mmu_demand_is_enough),
	KUNIT_CASE(trn_mmu_tables_are_reused),
	KUNIT_CASE(trn_mmu_unmap_keeps_neighbours),
	KUNIT_CASE(trn_mmu_unmap_frees_tables),
	KUNIT_CASE(trn_mmu_gather_defers_free),
	KUNIT_CASE(trn_mmu_out_of_memory),
	KUNIT_CASE(trn_mmu_walk_ends),
	{}
};

static struct kunit_suite trn_mmu_suite = {
	.name = "trn_mmu",
	.init = trn_mmu_test_init,
	.exit = trn_mmu_test_exit,
	.test_cases = trn_mmu_cases,
};

kunit_test_suite(trn_mmu_suite);
