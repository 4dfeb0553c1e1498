// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "trn_packet.c"

/* Types of queues, and NeuronCores of the chip. */
#define DMA	1
#define EXEC	2
#define CORES	8

static struct trn_packet copy_packet(u64 length)
{
	return (struct trn_packet) {
		.opcode = 0x10,
		.copy = {
			.source = cpu_to_le64(0x1001),
			.destination = cpu_to_le64(0x2003),
			.length = cpu_to_le64(length),
		},
	};
}

static struct trn_packet fill_packet(u64 destination, u64 length, u8 unit_log2)
{
	return (struct trn_packet) {
		.opcode = 0x11,
		.fill = {
			.destination = cpu_to_le64(destination),
			.length = cpu_to_le64(length),
			.pattern = cpu_to_le64(0x0123456789abcdef),
			.unit_log2 = unit_log2,
		},
	};
}

static struct trn_packet copy_nd_packet(u32 run, u32 first, u32 second, u32 third)
{
	return (struct trn_packet) {
		.opcode = 0x12,
		.copy_nd = {
			.size = { cpu_to_le32(run), cpu_to_le32(first), cpu_to_le32(second),
				  cpu_to_le32(third) },
		},
	};
}

static struct trn_packet exec_packet(void)
{
	return (struct trn_packet) {
		.opcode = 0x20,
		.exec = {
			.program = cpu_to_le64(0x123400),
			.bindings = cpu_to_le64(0x5678),
			.num_bindings = cpu_to_le32(256),
			.core = cpu_to_le16(CORES - 1),
			.seed = cpu_to_le64(U64_MAX),
			.result = cpu_to_le64(0x9ab8),
			.profile = cpu_to_le64(0xcde8),
			.profile_size = cpu_to_le64(U64_MAX),
		},
	};
}

static int check(struct trn_packet packet)
{
	return trn_packet_check(&packet, DMA, CORES);
}

static int check_exec(struct trn_packet packet)
{
	return trn_packet_check(&packet, EXEC, CORES);
}

static void trn_packet_opcodes(struct kunit *test)
{
	struct trn_packet packet = {};
	int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		packet.opcode = opcode;
		/* All zero is a good NOP; lengths of zero make bad copies and fills. */
		KUNIT_EXPECT_EQ_MSG(test, check(packet), opcode ? -EINVAL : 0,
				    "opcode %d", opcode);
		/* It is a good EXEC too, whatever is at address 0. */
		KUNIT_EXPECT_EQ_MSG(test, check_exec(packet),
				    opcode && opcode != 0x20 ? -EINVAL : 0, "opcode %d", opcode);
	}
}

/* The product is 1 ... 2^40, and is not fooled by products beyond 2^64. */
static void trn_packet_copy_nd_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1, 1, 1, 1)), 0);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(3, 5, 7, 11)), 0);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1u << 20, 1u << 20, 1, 1)), 0);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1, 1, 1u << 20, 1u << 20)), 0);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1u << 20, (1u << 20) + 1, 1, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1u << 20, 1u << 20, 2, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(0, 1, 1, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1, 0, 1, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1, 1, 0, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1, 1, 1, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1u << 31, 1u << 9, 1u << 31, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_nd_packet(1u << 16, 1u << 16, 1u << 16, 1u << 16)),
			-EINVAL);
}

/* Fences of a kernel queue are the driver's alone. */
static void trn_packet_no_fences(struct kunit *test)
{
	struct trn_packet packet = {};

	trn_packet_fence_write(&packet, 0x1000, 1);
	KUNIT_EXPECT_EQ(test, packet.opcode, 1);
	KUNIT_EXPECT_EQ(test, check(packet), -EINVAL);
	packet.opcode = 2;
	KUNIT_EXPECT_EQ(test, check(packet), -EINVAL);
}

static void trn_packet_fence_write_fields(struct kunit *test)
{
	struct trn_packet packet;
	u8 *bytes = (u8 *)&packet;
	int i;

	memset(&packet, 0xff, sizeof(packet));
	trn_packet_fence_write(&packet, 0x123456789008, 0xfedcba9876543210);
	KUNIT_EXPECT_EQ(test, bytes[0], 1);
	KUNIT_EXPECT_EQ(test, bytes[8], 0x08);
	KUNIT_EXPECT_EQ(test, bytes[13], 0x12);
	KUNIT_EXPECT_EQ(test, bytes[16], 0x10);
	KUNIT_EXPECT_EQ(test, bytes[23], 0xfe);
	for (i = 1; i < 8; i++)
		KUNIT_EXPECT_EQ(test, bytes[i], 0);
	for (i = 24; i < 64; i++)
		KUNIT_EXPECT_EQ(test, bytes[i], 0);
}

static void trn_packet_copy_lengths(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check(copy_packet(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_packet(1)), 0);
	KUNIT_EXPECT_EQ(test, check(copy_packet(1ULL << 40)), 0);
	KUNIT_EXPECT_EQ(test, check(copy_packet((1ULL << 40) + 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(copy_packet(U64_MAX)), -EINVAL);
}

static void trn_packet_fill_fields(struct kunit *test)
{
	int log2;

	for (log2 = 0; log2 <= 3; log2++) {
		u64 unit = 1ULL << log2;

		KUNIT_EXPECT_EQ(test, check(fill_packet(0, 0, log2)), -EINVAL);
		KUNIT_EXPECT_EQ(test, check(fill_packet(0x1000, unit, log2)), 0);
		KUNIT_EXPECT_EQ(test, check(fill_packet(0x1000 + unit, 7 * unit, log2)), 0);
		KUNIT_EXPECT_EQ(test, check(fill_packet(0, 1ULL << 40, log2)), 0);
		KUNIT_EXPECT_EQ(test, check(fill_packet(0, (1ULL << 40) + unit, log2)), -EINVAL);
		if (!log2)
			continue;
		KUNIT_EXPECT_EQ(test, check(fill_packet(0x1000, unit + 1, log2)), -EINVAL);
		KUNIT_EXPECT_EQ(test, check(fill_packet(0x1000 + unit / 2, unit, log2)), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, check(fill_packet(0, 16, 4)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(fill_packet(0, 16, 255)), -EINVAL);
}

/* Packets are for queues of one type. */
static void trn_packet_types(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check_exec(exec_packet()), 0);
	KUNIT_EXPECT_EQ(test, check(exec_packet()), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_exec(copy_packet(8)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_exec(fill_packet(8, 8, 3)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_exec(copy_nd_packet(1, 1, 1, 1)), -EINVAL);
}

static void trn_packet_exec_fields(struct kunit *test)
{
	struct trn_packet packet;
	int bit;

	for (bit = 0; bit < 6; bit++) {
		packet = exec_packet();
		packet.exec.program ^= cpu_to_le64(BIT(bit));
		KUNIT_EXPECT_EQ_MSG(test, check_exec(packet), -EINVAL, "bit %d", bit);
	}
	for (bit = 0; bit < 3; bit++) {
		packet = exec_packet();
		packet.exec.bindings ^= cpu_to_le64(BIT(bit));
		KUNIT_EXPECT_EQ_MSG(test, check_exec(packet), -EINVAL, "bit %d", bit);
		packet = exec_packet();
		packet.exec.result ^= cpu_to_le64(BIT(bit));
		KUNIT_EXPECT_EQ_MSG(test, check_exec(packet), -EINVAL, "bit %d", bit);
		packet = exec_packet();
		packet.exec.profile ^= cpu_to_le64(BIT(bit));
		KUNIT_EXPECT_EQ_MSG(test, check_exec(packet), -EINVAL, "bit %d", bit);
	}
	packet = exec_packet();
	packet.exec.num_bindings = cpu_to_le32(257);
	KUNIT_EXPECT_EQ(test, check_exec(packet), -EINVAL);
	packet = exec_packet();
	packet.exec.core = cpu_to_le16(CORES);
	KUNIT_EXPECT_EQ(test, check_exec(packet), -EINVAL);
	packet.exec.core = cpu_to_le16(0xffff);
	KUNIT_EXPECT_EQ(test, check_exec(packet), 0);
	packet.exec.core = cpu_to_le16(0xfffe);
	KUNIT_EXPECT_EQ(test, check_exec(packet), -EINVAL);
}

/* Each byte that is reserved is looked at. */
static void trn_packet_reserved_bytes(struct kunit *test)
{
	const struct {
		struct trn_packet packet;
		u8 type;
		int first_reserved;	/* of a range */
		int end_reserved;
	} kinds[] = {
		{ {}, DMA, 8, 64 },
		{ {}, EXEC, 8, 64 },
		{ copy_packet(8), DMA, 32, 64 },
		{ fill_packet(8, 8, 3), DMA, 33, 64 },
		{ exec_packet(), EXEC, 30, 32 },
	};
	int i, byte;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (byte = 1; byte < 64; byte++) {
			struct trn_packet packet = kinds[i].packet;
			u8 type = kinds[i].type;

			if (byte >= 8 &&
			    (byte < kinds[i].first_reserved || byte >= kinds[i].end_reserved))
				continue;
			KUNIT_EXPECT_EQ(test, trn_packet_check(&packet, type, CORES), 0);
			((u8 *)&packet)[byte] = 1;
			KUNIT_EXPECT_EQ_MSG(test, trn_packet_check(&packet, type, CORES), -EINVAL,
					    "opcode %u byte %d", packet.opcode, byte);
		}
	}
}

static struct kunit_case trn_packet_cases[] = {
	KUNIT_CASE(trn_packet_opcodes),
	KUNIT_CASE(trn_packet_copy_nd_sizes),
	KUNIT_CASE(trn_packet_no_fences),
	KUNIT_CASE(trn_packet_fence_write_fields),
	KUNIT_CASE(trn_packet_copy_lengths),
	KUNIT_CASE(trn_packet_fill_fields),
	KUNIT_CASE(trn_packet_types),
	KUNIT_CASE(trn_packet_exec_fields),
	KUNIT_CASE(trn_packet_reserved_bytes),
	{}
};

static struct kunit_suite trn_packet_suite = {
	.name = "trn_packet",
	.test_cases = trn_packet_cases,
};

kunit_test_suite(trn_packet_suite);
