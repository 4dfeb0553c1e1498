// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue packets: which ones a job may have.  Addresses are left to the chip,
 * which checks each access.
 */
#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/errno.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include <hw/trn_isa.h>

#include "trn_packet.h"

#define TRN_PACKET_WORDS	(sizeof(struct trn_packet) / sizeof(u64))

/* Whether the words from @first on are zero. */
static bool trn_packet_zero_from(const struct trn_packet *packet, unsigned int first)
{
	const u64 *words = (const u64 *)packet;
	u64 any = 0;

	for (; first < TRN_PACKET_WORDS; first++)
		any |= words[first];
	return !any;
}

/* Whether the seven bytes behind @byte are zero; with it they are a word of a packet. */
static bool trn_packet_zero_behind(const u8 *byte)
{
	return le64_to_cpu(*(const __le64 *)byte) <= U8_MAX;
}

static bool trn_packet_length_valid(u64 length)
{
	return length && length <= TRN_PACKET_LENGTH_MAX;
}

static bool trn_packet_fill_valid(const struct trn_packet *packet)
{
	u64 length = le64_to_cpu(packet->fill.length);
	u64 mask;

	if (packet->fill.unit_log2 > 3)
		return false;
	mask = (1ULL << packet->fill.unit_log2) - 1;
	return trn_packet_length_valid(length) &&
	       !(length & mask) && !(le64_to_cpu(packet->fill.destination) & mask) &&
	       trn_packet_zero_behind(&packet->fill.unit_log2) && trn_packet_zero_from(packet, 5);
}

static bool trn_packet_copy_nd_valid(const struct trn_packet *packet)
{
	u64 length = 1;
	int i;

	for (i = 0; i < ARRAY_SIZE(packet->copy_nd.size); i++) {
		if (check_mul_overflow(length, le32_to_cpu(packet->copy_nd.size[i]), &length) ||
		    !trn_packet_length_valid(length))
			return false;
	}
	return true;
}

static bool trn_packet_exec_valid(const struct trn_packet *packet, u32 cores)
{
	u16 core = le16_to_cpu(packet->exec.core);
	__le64 words = packet->exec.bindings | packet->exec.result | packet->exec.profile;

	return IS_ALIGNED(le64_to_cpu(packet->exec.program), sizeof(struct trn_program_header)) &&
	       IS_ALIGNED(le64_to_cpu(words), sizeof(u64)) &&
	       le32_to_cpu(packet->exec.num_bindings) <= TRN_BINDINGS_MAX &&
	       (core < cores || core == TRN_CORE_ANY) &&
	       !packet->exec.reserved[0] && !packet->exec.reserved[1];
}

/**
 * trn_packet_check() - may this packet be part of a job?
 * @packet: in memory that user space cannot change
 * @type: of the queue, TRN_QUEUE_TYPE_*
 * @cores: NeuronCores of the chip
 *
 * Fences are not among them: those of a kernel queue are the driver's.
 *
 * Return: 0 or -EINVAL.
 */
int trn_packet_check(const struct trn_packet *packet, u8 type, u32 cores)
{
	bool valid;

	switch (packet->opcode) {
	case TRN_PACKET_NOP:
		valid = trn_packet_zero_from(packet, 1);
		break;
	case TRN_PACKET_COPY:
		valid = type == TRN_QUEUE_TYPE_DMA &&
			trn_packet_length_valid(le64_to_cpu(packet->copy.length)) &&
			trn_packet_zero_from(packet, 4);
		break;
	case TRN_PACKET_COPY_ND:
		valid = type == TRN_QUEUE_TYPE_DMA && trn_packet_copy_nd_valid(packet);
		break;
	case TRN_PACKET_FILL:
		valid = type == TRN_QUEUE_TYPE_DMA && trn_packet_fill_valid(packet);
		break;
	case TRN_PACKET_EXEC:
		valid = type == TRN_QUEUE_TYPE_EXEC && trn_packet_exec_valid(packet, cores);
		break;
	default:
		valid = false;
	}
	return valid && trn_packet_zero_behind(&packet->opcode) ? 0 : -EINVAL;
}

void trn_packet_fence_write(struct trn_packet *packet, u64 address, u64 value)
{
	*packet = (struct trn_packet) {
		.opcode = TRN_PACKET_FENCE_WRITE,
		.fence = {
			.address = cpu_to_le64(address),
			.value = cpu_to_le64(value),
		},
	};
}

/* Zeroes; all of it 8-byte aligned, @length at most TRN_PACKET_LENGTH_MAX. */
void trn_packet_clear(struct trn_packet *packet, u64 address, u64 length)
{
	*packet = (struct trn_packet) {
		.opcode = TRN_PACKET_FILL,
		.fill = {
			.destination = cpu_to_le64(address),
			.length = cpu_to_le64(length),
			.unit_log2 = 3,
		},
	};
}
