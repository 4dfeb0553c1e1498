// SPDX-License-Identifier: MIT
/*
 * Software that is out of its mind: random commands, page tables, packets, indexes
 * and registers, most of them nearly right.  The chip must not crash (sanitizers
 * watch), must not write where nobody told it to, and must work afterwards.
 */
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "suites.h"

#define ACTIONS	 40000 /* about ten steps each */
#define QUEUES	 6
#define CONTEXTS 4
#define PAGES	 256 /* of the pool that all addresses come from */

static struct rig rig;
static uint64_t pool;
static uint64_t fortress; /* RAM that no table and no command names */
static uint64_t ram_mark; /* where new rings go */
static bool rarely(void)
{
	return rig_below(20) == 0;
}

/* A page of the pool, or now and then something else. */
static uint64_t random_dma(void)
{
	switch (rig_below(30)) {
	case 0:
		return rig_random() & ~0xfffULL;
	case 1:
		return RIG_REMOTE + rig_below(RIG_REMOTE_SIZE / 4096) * 4096;
	case 2:
		return RIG_NOWHERE;
	case 3:
		return rig_random() >> rig_below(64);
	default:
		return pool + rig_below(PAGES) * 4096;
	}
}

/* Addresses in few pages, so that they meet; sometimes anything. */
static uint64_t random_va(void)
{
	uint64_t va = rig_below(4) << TRN_PT_SHIFT(3) | rig_below(2) << TRN_PT_SHIFT(2) |
		      rig_below(2) << TRN_PT_SHIFT(1) | rig_below(8) << TRN_PT_SHIFT(0);

	if (rarely())
		return rig_random() >> rig_below(64);
	return rarely() ? va + rig_below(4096) : va + rig_below(512) * 8;
}

static uint64_t random_length(void)
{
	if (rarely())
		return rig_random() >> rig_below(64);
	return 1 + rig_below(rarely() ? 1 << 16 : 9000);
}

static uint64_t random_entry(void)
{
	uint64_t entry = random_dma() | TRN_PTE_VALID;

	if (rig_below(2))
		entry |= TRN_PTE_LEAF | rig_below(4) << 2 | rig_below(2) << TRN_PTE_TARGET_SHIFT;
	if ((entry & TRN_PTE_LEAF) && !(entry & TRN_PTE_TARGET_MASK))
		entry = (entry & 0xfff) | rig_below(2 * RIG_HBM_SIZE / 4096) * 4096;
	/* Good as a large leaf of HBM; one of host memory would hold the fortress. */
	if ((entry & TRN_PTE_LEAF) && !(entry & TRN_PTE_TARGET_MASK) && rig_below(4) == 0)
		entry &= ~((1ULL << TRN_PT_SHIFT(1 + rig_below(2))) - 1) | 0xfff;
	if (rarely())
		entry ^= 1ULL << rig_below(64);
	return rarely() ? rig_random() : entry;
}

/* Contexts have their root in the first pages of the pool; entries go anywhere there. */
static void write_tables(void)
{
	for (unsigned int i = 0; i < 64; i++) {
		__le64 *table = rig_pointer(&rig, pool + rig_below(PAGES) * 4096);

		trn_store64(table + (rig_below(4) ? rig_below(8) : rig_below(512)), random_entry());
	}
}

static struct trn_packet random_copy_nd(void)
{
	uint32_t size[4], source_stride[3], destination_stride[3];

	for (unsigned int i = 0; i < 4; i++)
		size[i] = rarely() ? (uint32_t)rig_random() : 1 + rig_below(i ? 10 : 3000);
	for (unsigned int i = 0; i < 3; i++) {
		source_stride[i] = rarely() ? (uint32_t)rig_random() : rig_below(5000);
		destination_stride[i] = rarely() ? (uint32_t)rig_random() : rig_below(5000);
	}
	return rig_copy_nd(random_va(), random_va(), size, source_stride, destination_stride);
}

static void write_packet(void)
{
	struct trn_packet *ring = rig_pointer(&rig, pool + rig_below(PAGES) * 4096);
	struct trn_packet packet;

	switch (rig_below(7)) {
	case 0:
		packet = rig_nop();
		break;
	case 1:
		packet = rig_fence(TRN_PACKET_FENCE_WRITE, random_va() & ~7ULL, rig_below(100));
		break;
	case 2:
		packet = rig_fence(TRN_PACKET_FENCE_WAIT, random_va() & ~7ULL, rig_below(3));
		break;
	case 3:
		packet = rig_copy(random_va(), random_va(), random_length());
		break;
	case 4:
		packet = rig_fill(random_va() & ~7ULL, random_length() & ~7ULL, rig_random(),
				  rig_below(4));
		break;
	case 5:
		packet = random_copy_nd();
		break;
	default:
		for (size_t i = 0; i < sizeof(packet); i += 8) {
			uint64_t word = rig_random();

			memcpy((uint8_t *)&packet + i, &word, 8);
		}
		break;
	}
	if (rarely())
		((uint8_t *)&packet)[rig_below(64)] ^= 1 << rig_below(8);
	ring[rig_below(64)] = packet;
}

static struct trn_admin_command random_command(void)
{
	static const uint8_t opcodes[] = { 0x01, 0x02, 0x03, 0x10, 0x10, 0x11, 0x12,
					   0x20, 0x20, 0x20, 0x21, 0x22, 0x23, 0x23 };
	struct trn_admin_command command = { .opcode = opcodes[rig_below(sizeof(opcodes))] };

	switch (command.opcode) {
	case TRN_ADMIN_IDENTIFY:
	case TRN_ADMIN_EVENT:
		command.data.buffer = htole64(random_dma());
		break;
	case TRN_ADMIN_GET_LOG:
		command.log.buffer = htole64(random_dma());
		command.log.length = htole32(64 * rig_below(66));
		command.log.page = TRN_LOG_EVENTS;
		break;
	case TRN_ADMIN_CONTEXT_CREATE:
		command.context.root = htole64(pool + rig_below(16) * 4096);
		/* fall through */
	case TRN_ADMIN_CONTEXT_DESTROY:
		command.context.asid = htole16(rig_below(CONTEXTS));
		break;
	case TRN_ADMIN_TLB_INVALIDATE:
		command.invalidate.asid = htole16(rig_below(CONTEXTS));
		command.invalidate.va = htole64(random_va() & ~0xfffULL);
		command.invalidate.length = htole64(random_length() << 12);
		break;
	case TRN_ADMIN_QUEUE_CREATE:
		command.queue_create.queue = htole16(rig_below(QUEUES));
		command.queue_create.type = TRN_QUEUE_TYPE_DMA;
		command.queue_create.ring_log2 = 2 + rig_below(6);
		command.queue_create.ring_asid = htole16(rig_below(CONTEXTS));
		command.queue_create.asid = htole16(rig_below(CONTEXTS));
		command.queue_create.vector = htole16(1 + rig_below(TRN_VECTORS - 1));
		command.queue_create.ring_va = htole64(random_va() & ~0xfffULL);
		command.queue_create.control = htole64(random_dma());
		break;
	default:
		command.queue.queue = htole16(rig_below(QUEUES));
		break;
	}
	if (rarely())
		((uint8_t *)&command)[rig_below(64)] ^= 1 << rig_below(8);
	return command;
}

static void reinitialize(void)
{
	if (rig_below(2))
		trn_chip_reset(rig.chip);
	rig_write32(&rig, TRN_REG_CTRL, 0);
	rig_run(&rig);
	/* Software clears its rings. */
	memset(rig_pointer(&rig, ram_mark), 0, RIG_RAM + rig.ram_used - ram_mark);
	rig.ram_used = ram_mark - RIG_RAM;
	rig_enable(&rig, 16);
	ck_assert_uint_eq(rig_read32(&rig, TRN_REG_STATUS), TRN_STATUS_READY);
}

static void act(void)
{
	struct trn_admin_completion completion;
	struct trn_admin_command command;

	switch (rig_below(16)) {
	case 0:
	case 1:
		write_tables();
		break;
	case 2:
	case 3:
	case 4:
		write_packet();
		break;
	case 5:
	case 6:
	case 7:
		command = random_command();
		rig_admin_put(&rig, &command);
		rig_admin_ring(&rig);
		break;
	case 8:
		while (rig_admin_get(&rig, &completion))
			ck_assert_uint_le(le16toh(completion.status), TRN_ADMIN_BAD_STATE);
		break;
	case 9:
		/* Any word of the pool may be somebody's tail, wake_at or fence. */
		trn_store32(rig_pointer(&rig, pool + rig_below(PAGES) * 4096 + rig_below(3) * 64),
			    rig_below(20));
		break;
	case 10:
		rig_kick(&rig, rig_below(QUEUES + 1));
		break;
	case 11:
		if (rig_below(500) == 0)
			reinitialize();
		else if (rig_below(1000) == 0)
			rig_write32(&rig, TRN_REG_ADMIN_SQ_TAIL, (uint32_t)rig_random());
		break;
	default:
		rig_kick(&rig, rig_below(QUEUES));
		for (unsigned int i = rig_below(40); i; i--)
			rig_step(&rig);
		break;
	}
	if (rig_read32(&rig, TRN_REG_STATUS) & TRN_STATUS_FATAL)
		reinitialize();
}

static void check_invariants(void)
{
	const uint8_t *untouched = rig_pointer(&rig, fortress);
	unsigned int users[TRN_CONTEXTS] = { 0 };

	for (unsigned int i = 0; i < TRN_QUEUES; i++) {
		const struct trn_queue *queue = rig.chip->queue[i];

		if (!queue)
			continue;
		ck_assert_uint_eq(queue->id, i);
		users[queue->asid]++;
		users[queue->ring_asid]++;
	}
	for (unsigned int i = 0; i < TRN_CONTEXTS; i++) {
		ck_assert_uint_eq(rig.chip->context[i].users, users[i]);
		ck_assert(rig.chip->context[i].exists || !users[i]);
	}
	ck_assert_uint_le(rig.chip->admin.result_count, TRN_EVENT_COMMANDS + 1);
	ck_assert_uint_le(rig.chip->events.waiting_count, TRN_EVENT_COMMANDS);
	for (unsigned int i = 0; i < 4096; i++)
		ck_assert_uint_eq(untouched[i], 0x5f);
}

START_TEST(hostile_software)
{
	struct rig_space space;
	struct rig_queue queue;

	/* The loop's index is the seed: a failure names it. */
	rig_random_seed(0x9e3779b97f4a7c15ULL * ((uint64_t)_i + 1));
	rig_create(&rig, "trn1", 0, 0);
	pool = rig_alloc(&rig, PAGES * 4096);
	fortress = rig_alloc(&rig, 4096);
	memset(rig_pointer(&rig, fortress), 0x5f, 4096);
	ram_mark = RIG_RAM + rig.ram_used;
	rig_enable(&rig, 16);
	for (unsigned int i = 0; i < ACTIONS; i++) {
		act();
		if (i % 1000 == 0)
			check_invariants();
	}
	check_invariants();

	/* And after all that it works. */
	reinitialize();
	rig_space_create(&rig, &space, 0);
	rig_queue_create(&rig, &queue, 0, &space, &space, 4);
	rig_map(&rig, &space, 0x10000, TRN_PTE_TARGET_HOST, pool, 4096);
	rig_execute(&rig, &queue, rig_fence(TRN_PACKET_FENCE_WRITE, 0x10000, 4711));
	ck_assert_uint_eq(rig_head(&queue), 1);
	ck_assert_uint_eq(trn_load64(rig_pointer(&rig, pool)), 4711);
	rig_destroy(&rig);
}
END_TEST

Suite *random_suite(void)
{
	Suite *suite = suite_create("random");
	TCase *tcase = tcase_create("random");
	const char *long_counts = getenv("TRN_LONG");

	tcase_set_timeout(tcase, 250);
	tcase_add_loop_test(tcase, hostile_software, 0, long_counts ? 100 : 3);
	suite_add_tcase(suite, tcase);
	return suite;
}
