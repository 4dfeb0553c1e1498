// SPDX-License-Identifier: MIT
/* Address translation: every fault, permissions, and what the TLB may remember. */
#include <inttypes.h>
#include <string.h>

#include "rig.h"
#include "suites.h"

#define DATA_VA	 0x7654321000ULL
#define OTHER_VA 0x1000000000ULL
#define VA_END	 (1ULL << 48)

static struct rig rig;
static struct rig_space kernel, space;
static struct rig_queue queue;
static uint64_t data_dma, other_dma;
static uint8_t *data, *other;
static uint16_t next_queue;

static void setup(void)
{
	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
	rig_space_create(&rig, &space, 5);
	next_queue = 0;
	rig_queue_create(&rig, &queue, next_queue++, &kernel, &space, 4);
	data_dma = rig_alloc(&rig, 16 * TRN_PAGE_SIZE);
	data = rig_pointer(&rig, data_dma);
	other_dma = rig_alloc(&rig, 16 * TRN_PAGE_SIZE);
	other = rig_pointer(&rig, other_dma);
	rig_map(&rig, &space, DATA_VA, TRN_PTE_TARGET_HOST, data_dma, 16 * TRN_PAGE_SIZE);
	rig_map(&rig, &space, OTHER_VA, TRN_PTE_TARGET_HOST, other_dma, 16 * TRN_PAGE_SIZE);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

/* Executes a packet on a fresh queue and expects a fault in space. */
static void faults(struct trn_packet packet, uint8_t reason, uint8_t access, uint64_t address)
{
	struct rig_queue victim;

	rig_queue_create(&rig, &victim, next_queue++, &kernel, &space, 2);
	rig_execute(&rig, &victim, packet);
	rig_assert_fault(&rig, &victim, reason, space.asid, access, address);
	ck_assert_uint_eq(rig_head(&victim), 0);
	/* No other queue notices. */
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
}

static void works(struct trn_packet packet)
{
	uint32_t head = rig_head(&queue);

	rig_execute(&rig, &queue, packet);
	ck_assert_int_eq(rig_state(&rig, &queue), TRN_QUEUE_RUNNING);
	ck_assert_uint_eq(rig_head(&queue), head + 1);
}

static void set_entry(uint64_t va, uint64_t value)
{
	trn_store64(rig_entry(&rig, &space, va), value);
}

/* The entry of level that leads to va. */
static __le64 *table_entry(uint64_t va, unsigned int level)
{
	uint64_t table = space.root;

	for (unsigned int i = TRN_PT_LEVELS - 1; i > level; i--) {
		__le64 *entry = (__le64 *)rig_pointer(&rig, table) +
				(va >> TRN_PT_SHIFT(i)) % TRN_PT_ENTRIES;

		table = le64toh(*entry) & TRN_PTE_ADDRESS_MASK;
	}
	return (__le64 *)rig_pointer(&rig, table) + (va >> TRN_PT_SHIFT(level)) % TRN_PT_ENTRIES;
}

#define LEAF (TRN_PTE_VALID | TRN_PTE_LEAF | TRN_PTE_READ | TRN_PTE_WRITE)

START_TEST(unmapped)
{
	/* At each level. */
	faults(rig_fill(0xffff00000000, 8, 0, 0), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE,
	       0xffff00000000);
	faults(rig_copy(DATA_VA + 100 * (1ULL << 30), OTHER_VA, 8), TRN_STOP_FAULT_UNMAPPED,
	       TRN_ACCESS_READ, DATA_VA + 100 * (1ULL << 30));
	faults(rig_copy(DATA_VA + (64ULL << 21), OTHER_VA, 8), TRN_STOP_FAULT_UNMAPPED,
	       TRN_ACCESS_READ, DATA_VA + (64ULL << 21));
	/* The first byte that fails is in the middle of the operand. */
	faults(rig_copy(DATA_VA + 15 * TRN_PAGE_SIZE + 7, OTHER_VA, 2 * TRN_PAGE_SIZE),
	       TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_READ, DATA_VA + 16 * TRN_PAGE_SIZE);
	faults(rig_copy(DATA_VA, OTHER_VA + 15 * TRN_PAGE_SIZE + 7, 2 * TRN_PAGE_SIZE),
	       TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE, OTHER_VA + 16 * TRN_PAGE_SIZE);
	/* With VALID clear nothing else counts. */
	set_entry(DATA_VA, ~TRN_PTE_VALID);
	ck_assert_uint_eq(rig_invalidate(&rig, space.asid, DATA_VA, TRN_PAGE_SIZE),
			  TRN_ADMIN_SUCCESS);
	faults(rig_copy(DATA_VA + 1, OTHER_VA, 1), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_READ,
	       DATA_VA + 1);
}
END_TEST

START_TEST(never_caches_what_is_not_valid)
{
	const uint64_t va = DATA_VA + 16 * TRN_PAGE_SIZE;

	faults(rig_copy(va, OTHER_VA, 1), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_READ, va);
	rig_map(&rig, &space, va, TRN_PTE_TARGET_HOST, data_dma, TRN_PAGE_SIZE);
	works(rig_copy(va, OTHER_VA, 1));
	/* Nor what a neighbour's walk saw. */
	rig_map(&rig, &space, va + TRN_PAGE_SIZE, TRN_PTE_TARGET_HOST, data_dma, TRN_PAGE_SIZE);
	works(rig_copy(va + TRN_PAGE_SIZE, OTHER_VA, 1));
	/* Nor a table that was missing. */
	rig_map(&rig, &space, va + (1ULL << 39), TRN_PTE_TARGET_HOST, data_dma, TRN_PAGE_SIZE);
	works(rig_copy(va + (1ULL << 39), OTHER_VA, 1));
}
END_TEST

START_TEST(permissions)
{
	uint8_t old = other[5];

	set_entry(DATA_VA, data_dma | TRN_PTE_TARGET_HOST | (LEAF & ~TRN_PTE_READ));
	set_entry(OTHER_VA, other_dma | TRN_PTE_TARGET_HOST | (LEAF & ~TRN_PTE_WRITE));
	faults(rig_copy(DATA_VA + 5, OTHER_VA + TRN_PAGE_SIZE, 1), TRN_STOP_FAULT_PERMISSION,
	       TRN_ACCESS_READ, DATA_VA + 5);
	faults(rig_fill(OTHER_VA + 5, 1, 0x77, 0), TRN_STOP_FAULT_PERMISSION, TRN_ACCESS_WRITE,
	       OTHER_VA + 5);
	ck_assert_uint_eq(other[5], old);
	/* What is left is allowed, through the same cached entries. */
	works(rig_fill(DATA_VA + 5, 1, 0x77, 0));
	works(rig_copy(OTHER_VA + 5, DATA_VA + 6, 1));
	ck_assert_uint_eq(data[5], 0x77);
}
END_TEST

START_TEST(permission_in_the_middle)
{
	set_entry(DATA_VA + 3 * TRN_PAGE_SIZE,
		  (data_dma + 3 * TRN_PAGE_SIZE) | TRN_PTE_TARGET_HOST | (LEAF & ~TRN_PTE_WRITE));
	faults(rig_fill(DATA_VA + 100, 10 * TRN_PAGE_SIZE, 0x55, 0), TRN_STOP_FAULT_PERMISSION,
	       TRN_ACCESS_WRITE, DATA_VA + 3 * TRN_PAGE_SIZE);
	ck_assert_uint_eq(data[3 * TRN_PAGE_SIZE], 0);
	ck_assert_uint_eq(data[4 * TRN_PAGE_SIZE], 0);
	/* A page that may be read only does not stop a read. */
	works(rig_copy(DATA_VA + 100, OTHER_VA, 10 * TRN_PAGE_SIZE));
}
END_TEST

START_TEST(malformed_leaves)
{
	static const uint64_t flaws[] = {
		1 << 6,
		1 << 7,
		1 << 8,
		1 << 9,
		1 << 10,
		1 << 11,
		1ULL << 52,
		1ULL << 55,
		1ULL << 62,
		1ULL << 63,
		2ULL << TRN_PTE_TARGET_SHIFT, /* with HOST this is target 3 */
	};
	const uint64_t good = data_dma | TRN_PTE_TARGET_HOST | LEAF;

	for (size_t i = 0; i < sizeof(flaws) / sizeof(flaws[0]); i++) {
		set_entry(DATA_VA, good | flaws[i]);
		faults(rig_fill(DATA_VA, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, DATA_VA);
	}
	set_entry(DATA_VA, data_dma | LEAF | 2ULL << TRN_PTE_TARGET_SHIFT);
	faults(rig_fill(DATA_VA, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, DATA_VA);
	/* Neither readable nor writable; a table where the leaf must be. */
	set_entry(DATA_VA, data_dma | TRN_PTE_TARGET_HOST | TRN_PTE_VALID | TRN_PTE_LEAF);
	faults(rig_fill(DATA_VA, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, DATA_VA);
	set_entry(DATA_VA, data_dma | TRN_PTE_VALID);
	faults(rig_fill(DATA_VA, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE, DATA_VA);
	/* A malformed entry is not cached. */
	set_entry(DATA_VA, good);
	works(rig_fill(DATA_VA, 1, 0, 0));
}
END_TEST

START_TEST(malformed_tables)
{
	for (unsigned int level = 1; level < TRN_PT_LEVELS; level++) {
		__le64 *entry = table_entry(DATA_VA, level);
		const uint64_t good = le64toh(*entry);

		for (unsigned int bit = 1; bit < 64; bit++) {
			if (bit >= 12 && bit < 52)
				continue;
			trn_store64(entry, good | 1ULL << bit);
			faults(rig_fill(DATA_VA, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE,
			       DATA_VA);
		}
		trn_store64(entry, good);
	}
	works(rig_fill(DATA_VA, 1, 0, 0));
}
END_TEST

START_TEST(tables_that_cannot_be_read)
{
	struct rig_space lost;
	struct rig_queue victim;

	for (unsigned int level = 1; level < TRN_PT_LEVELS; level++) {
		__le64 *entry = table_entry(DATA_VA, level);
		const uint64_t good = le64toh(*entry);

		trn_store64(entry, RIG_NOWHERE | TRN_PTE_VALID);
		faults(rig_fill(DATA_VA, 1, 0, 0), TRN_STOP_FAULT_TABLE, TRN_ACCESS_WRITE, DATA_VA);
		trn_store64(entry, good);
	}
	/* The root. */
	rig_space_create(&rig, &lost, 9);
	rig_deny(&rig, lost.root, RIG_DENY_READ);
	rig_queue_create(&rig, &victim, next_queue++, &kernel, &lost, 2);
	rig_execute(&rig, &victim, rig_fill(0, 1, 0, 0));
	rig_assert_fault(&rig, &victim, TRN_STOP_FAULT_TABLE, 9, TRN_ACCESS_WRITE, 0);
}
END_TEST

START_TEST(tables_without_mapping)
{
	/* All of level 0 moves to memory that only read() reaches. */
	__le64 *entry = table_entry(DATA_VA, 1);

	memcpy(rig.remote, rig_pointer(&rig, le64toh(*entry) & TRN_PTE_ADDRESS_MASK), TRN_PT_SIZE);
	trn_store64(entry, RIG_REMOTE | TRN_PTE_VALID);
	works(rig_fill(DATA_VA + 100, 3 * TRN_PAGE_SIZE, 0x5a, 0));
	ck_assert_uint_eq(data[100], 0x5a);
	ck_assert_uint_eq(data[3 * TRN_PAGE_SIZE + 99], 0x5a);
}
END_TEST

START_TEST(hbm_bound)
{
	const uint64_t last = RIG_HBM_SIZE - TRN_PAGE_SIZE;

	set_entry(DATA_VA, last | TRN_PTE_TARGET_HBM | LEAF);
	set_entry(DATA_VA + TRN_PAGE_SIZE, RIG_HBM_SIZE | TRN_PTE_TARGET_HBM | LEAF);
	works(rig_fill(DATA_VA, TRN_PAGE_SIZE, 0x99, 0));
	ck_assert_uint_eq(rig.chip->hbm.memory[RIG_HBM_SIZE - 1], 0x99);
	faults(rig_fill(DATA_VA + TRN_PAGE_SIZE - 1, 2, 0, 0), TRN_STOP_FAULT_ENTRY,
	       TRN_ACCESS_WRITE, DATA_VA + TRN_PAGE_SIZE);
	set_entry(DATA_VA + TRN_PAGE_SIZE, TRN_PTE_ADDRESS_MASK | TRN_PTE_TARGET_HBM | LEAF);
	faults(rig_fill(DATA_VA + TRN_PAGE_SIZE, 1, 0, 0), TRN_STOP_FAULT_ENTRY, TRN_ACCESS_WRITE,
	       DATA_VA + TRN_PAGE_SIZE);
}
END_TEST

START_TEST(host_refuses)
{
	set_entry(DATA_VA, RIG_NOWHERE | TRN_PTE_TARGET_HOST | LEAF);
	faults(rig_copy(DATA_VA + 3, OTHER_VA, 1), TRN_STOP_FAULT_HOST, TRN_ACCESS_READ,
	       DATA_VA + 3);
	faults(rig_fill(DATA_VA, 1, 0, 0), TRN_STOP_FAULT_HOST, TRN_ACCESS_WRITE, DATA_VA);
	/* In the middle of a contiguous run; the page before it is complete. */
	rig_deny(&rig, other_dma + 2 * TRN_PAGE_SIZE, RIG_DENY_WRITE);
	faults(rig_fill(OTHER_VA, 8 * TRN_PAGE_SIZE, 0x11, 0), TRN_STOP_FAULT_HOST,
	       TRN_ACCESS_WRITE, OTHER_VA + 2 * TRN_PAGE_SIZE);
	ck_assert_uint_eq(other[2 * TRN_PAGE_SIZE - 1], 0x11);
	ck_assert_uint_eq(other[2 * TRN_PAGE_SIZE], 0);
	/* Reading it is still allowed. */
	works(rig_copy(OTHER_VA + 2 * TRN_PAGE_SIZE, DATA_VA + TRN_PAGE_SIZE, 100));
	/* Memory without a mapping whose other end says no. */
	set_entry(DATA_VA, (RIG_REMOTE + RIG_REMOTE_SIZE) | TRN_PTE_TARGET_HOST | LEAF);
	faults(rig_fill(DATA_VA, 1, 0, 0), TRN_STOP_FAULT_HOST, TRN_ACCESS_WRITE, DATA_VA);
}
END_TEST

START_TEST(ranges)
{
	rig_map(&rig, &space, VA_END - TRN_PAGE_SIZE, TRN_PTE_TARGET_HOST, data_dma, TRN_PAGE_SIZE);
	works(rig_fill(VA_END - TRN_PAGE_SIZE, TRN_PAGE_SIZE, 0x42, 0));
	ck_assert_uint_eq(data[TRN_PAGE_SIZE - 1], 0x42);

	faults(rig_fill(VA_END, 1, 0, 0), TRN_STOP_FAULT_RANGE, TRN_ACCESS_WRITE, VA_END);
	faults(rig_fill(VA_END - 1, 2, 0, 0), TRN_STOP_FAULT_RANGE, TRN_ACCESS_WRITE, VA_END);
	faults(rig_fill(UINT64_MAX, 1, 0, 0), TRN_STOP_FAULT_RANGE, TRN_ACCESS_WRITE, UINT64_MAX);
	faults(rig_fill(UINT64_MAX, 2, 0, 0), TRN_STOP_FAULT_RANGE, TRN_ACCESS_WRITE, UINT64_MAX);
	faults(rig_fill(DATA_VA | 1ULL << 63, 1, 0, 0), TRN_STOP_FAULT_RANGE, TRN_ACCESS_WRITE,
	       DATA_VA | 1ULL << 63);
	faults(rig_copy(VA_END - 8, OTHER_VA, 9), TRN_STOP_FAULT_RANGE, TRN_ACCESS_READ, VA_END);
	faults(rig_copy(OTHER_VA, UINT64_MAX - 3, 8), TRN_STOP_FAULT_RANGE, TRN_ACCESS_WRITE,
	       UINT64_MAX - 3);
	faults(rig_copy(VA_END - TRN_PACKET_LENGTH_MAX + 1, OTHER_VA, TRN_PACKET_LENGTH_MAX),
	       TRN_STOP_FAULT_RANGE, TRN_ACCESS_READ, VA_END);
}
END_TEST

/* Stale entries: the device caches, and forgets when it is told to. */

START_TEST(stale_until_invalidated)
{
	works(rig_fill(DATA_VA, 1, 1, 0));
	set_entry(DATA_VA, other_dma | TRN_PTE_TARGET_HOST | LEAF);
	works(rig_fill(DATA_VA, 1, 2, 0));
	ck_assert_uint_eq(data[0], 2); /* by the old translation: it was cached */
	ck_assert_uint_eq(other[0], 0);

	ck_assert_uint_eq(rig_invalidate(&rig, space.asid, DATA_VA, TRN_PAGE_SIZE),
			  TRN_ADMIN_SUCCESS);
	works(rig_fill(DATA_VA, 1, 3, 0));
	ck_assert_uint_eq(data[0], 2);
	ck_assert_uint_eq(other[0], 3);
}
END_TEST

START_TEST(invalidate_is_exact)
{
	works(rig_fill(DATA_VA, 16 * TRN_PAGE_SIZE, 1, 0));
	for (unsigned int i = 0; i < 16; i++)
		set_entry(DATA_VA + i * TRN_PAGE_SIZE, 0);
	/* Not this ASID, not this range. */
	ck_assert_uint_eq(rig_invalidate(&rig, 0, 0, 0), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(
		rig_invalidate(&rig, space.asid, DATA_VA + 16 * TRN_PAGE_SIZE, 1ULL << 30),
		TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_invalidate(&rig, space.asid, 0, DATA_VA), TRN_ADMIN_SUCCESS);
	works(rig_fill(DATA_VA, 16 * TRN_PAGE_SIZE, 2, 0));
	ck_assert_uint_eq(data[16 * TRN_PAGE_SIZE - 1], 2);
	/* Pages 4 to 7 alone. */
	ck_assert_uint_eq(
		rig_invalidate(&rig, space.asid, DATA_VA + 4 * TRN_PAGE_SIZE, 4 * TRN_PAGE_SIZE),
		TRN_ADMIN_SUCCESS);
	works(rig_fill(DATA_VA + 3 * TRN_PAGE_SIZE, TRN_PAGE_SIZE, 3, 0));
	works(rig_fill(DATA_VA + 8 * TRN_PAGE_SIZE, TRN_PAGE_SIZE, 3, 0));
	for (unsigned int i = 4; i < 8; i++)
		faults(rig_fill(DATA_VA + i * TRN_PAGE_SIZE, 1, 3, 0), TRN_STOP_FAULT_UNMAPPED,
		       TRN_ACCESS_WRITE, DATA_VA + i * TRN_PAGE_SIZE);
	/* The whole ASID. */
	ck_assert_uint_eq(rig_invalidate(&rig, space.asid, 0, 0), TRN_ADMIN_SUCCESS);
	faults(rig_fill(DATA_VA, 1, 3, 0), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE, DATA_VA);
}
END_TEST

START_TEST(invalidate_forgets_tables)
{
	/* A new level 0 table under the same address. */
	__le64 *entry = table_entry(DATA_VA, 1);
	uint64_t table = rig_alloc(&rig, TRN_PT_SIZE);

	works(rig_fill(DATA_VA, 1, 1, 0));
	memcpy(rig_pointer(&rig, table), rig_pointer(&rig, le64toh(*entry) & TRN_PTE_ADDRESS_MASK),
	       TRN_PT_SIZE);
	trn_store64(entry, table | TRN_PTE_VALID);
	set_entry(DATA_VA, other_dma | TRN_PTE_TARGET_HOST | LEAF);
	set_entry(DATA_VA + TRN_PAGE_SIZE, other_dma | TRN_PTE_TARGET_HOST | LEAF);
	ck_assert_uint_eq(rig_invalidate(&rig, space.asid, DATA_VA, 2 * TRN_PAGE_SIZE),
			  TRN_ADMIN_SUCCESS);
	works(rig_fill(DATA_VA, 1, 2, 0));
	works(rig_fill(DATA_VA + TRN_PAGE_SIZE + 1, 1, 3, 0));
	ck_assert_uint_eq(other[0], 2);
	ck_assert_uint_eq(other[1], 3);
}
END_TEST

START_TEST(context_destroy_forgets)
{
	const struct trn_admin_command destroy = {
		.opcode = TRN_ADMIN_CONTEXT_DESTROY,
		.context = { .asid = htole16(space.asid) },
	};

	works(rig_fill(DATA_VA, 1, 1, 0));
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, queue.id),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_admin(&rig, destroy), TRN_ADMIN_SUCCESS);
	/* The ASID again, with empty tables. */
	rig_space_create(&rig, &space, space.asid);
	rig_queue_create(&rig, &queue, queue.id, &kernel, &space, 4);
	faults(rig_fill(DATA_VA, 1, 2, 0), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE, DATA_VA);
	ck_assert_uint_eq(data[0], 1);
}
END_TEST

START_TEST(invalidate_in_the_middle_of_a_copy)
{
	const uint64_t length = 8ULL << 20, va = 0x500000000ULL;
	uint64_t target = rig_alloc(&rig, length), moved = rig_alloc(&rig, length);
	uint8_t *old = rig_pointer(&rig, target), *new = rig_pointer(&rig, moved);
	uint64_t before, after;

	rig_map(&rig, &space, va, TRN_PTE_TARGET_HOST, target, length);
	rig_submit(&rig, &queue, rig_fill(va, length, 0x77, 0));
	while (rig.chip->queue[queue.id]->done < 3 << 20)
		rig_step(&rig);
	ck_assert_uint_eq(rig_head(&queue), 0);
	before = rig.chip->queue[queue.id]->done;
	rig_map(&rig, &space, va, TRN_PTE_TARGET_HOST, moved, length);
	ck_assert_uint_eq(rig_invalidate(&rig, space.asid, va, length), TRN_ADMIN_SUCCESS);
	/* From here the old memory is software's again. */
	after = rig.chip->queue[queue.id]->done;
	ck_assert_uint_lt(after, length);
	memset(old, 0, length);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 1);
	for (uint64_t i = 0; i < length; i++) {
		/* In between the device was free to use either. */
		if (old[i] || (i < before && new[i]) || (i >= after && new[i] != 0x77))
			ck_abort_msg("byte %#" PRIx64 ": old %#x, new %#x", i, old[i], new[i]);
	}
}
END_TEST

/* More regions than the TLB has blocks: old ones are replaced, none is mixed up. */
START_TEST(more_than_the_tlb_holds)
{
	const unsigned int regions = 3 * TRN_TLB_SETS * TRN_TLB_WAYS;
	const uint64_t base = 0x200000000000ULL;

	for (unsigned int i = 0; i < regions; i++)
		rig_map(&rig, &space, base + i * (2ULL << 20), TRN_PTE_TARGET_HBM,
			(uint64_t)i * TRN_PAGE_SIZE, TRN_PAGE_SIZE);
	for (unsigned int round = 1; round <= 2; round++) {
		for (unsigned int i = 0; i < regions; i++)
			works(rig_fill(base + i * (2ULL << 20), 8, (uint64_t)i << 8 | round, 3));
	}
	for (unsigned int i = 0; i < regions; i++) {
		uint64_t value;

		memcpy(&value, rig.chip->hbm.memory + (uint64_t)i * TRN_PAGE_SIZE, 8);
		ck_assert_uint_eq(le64toh(value), (uint64_t)i << 8 | 2);
	}
}
END_TEST

START_TEST(contexts_are_apart)
{
	struct rig_space second;
	struct rig_queue second_queue;

	rig_space_create(&rig, &second, 6);
	rig_queue_create(&rig, &second_queue, next_queue++, &kernel, &second, 2);
	rig_map(&rig, &second, DATA_VA, TRN_PTE_TARGET_HOST, other_dma, TRN_PAGE_SIZE);
	works(rig_fill(DATA_VA, 1, 1, 0));
	rig_execute(&rig, &second_queue, rig_fill(DATA_VA, 1, 2, 0));
	ck_assert_uint_eq(rig_head(&second_queue), 1);
	ck_assert_uint_eq(data[0], 1);
	ck_assert_uint_eq(other[0], 2);
	/* The kernel's ring is out of reach of the context that the queue works for. */
	faults(rig_fill(queue.ring_va, 1, 0, 0), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE,
	       queue.ring_va);
}
END_TEST

Suite *translate_suite(void)
{
	Suite *suite = suite_create("translate");
	TCase *tcase = tcase_create("translate");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, unmapped);
	tcase_add_test(tcase, never_caches_what_is_not_valid);
	tcase_add_test(tcase, permissions);
	tcase_add_test(tcase, permission_in_the_middle);
	tcase_add_test(tcase, malformed_leaves);
	tcase_add_test(tcase, malformed_tables);
	tcase_add_test(tcase, tables_that_cannot_be_read);
	tcase_add_test(tcase, tables_without_mapping);
	tcase_add_test(tcase, hbm_bound);
	tcase_add_test(tcase, host_refuses);
	tcase_add_test(tcase, ranges);
	tcase_add_test(tcase, stale_until_invalidated);
	tcase_add_test(tcase, invalidate_is_exact);
	tcase_add_test(tcase, invalidate_forgets_tables);
	tcase_add_test(tcase, context_destroy_forgets);
	tcase_add_test(tcase, invalidate_in_the_middle_of_a_copy);
	tcase_add_test(tcase, more_than_the_tlb_holds);
	tcase_add_test(tcase, contexts_are_apart);
	suite_add_tcase(suite, tcase);
	return suite;
}
