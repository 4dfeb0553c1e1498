/* SPDX-License-Identifier: MIT */
#include <endian.h>
#include <string.h>

#include "internal.h"

void trn_packet_nop(struct trn_packet *packet)
{
	*packet = (struct trn_packet){ .opcode = TRN_PACKET_NOP };
}

void trn_packet_copy(struct trn_packet *packet, uint64_t destination, uint64_t source,
		     uint64_t length)
{
	*packet = (struct trn_packet){
		.opcode = TRN_PACKET_COPY,
		.copy = {
			.source = htole64(source),
			.destination = htole64(destination),
			.length = htole64(length),
		},
	};
}

void trn_packet_fill(struct trn_packet *packet, uint64_t destination, uint64_t length,
		     uint64_t pattern, uint32_t unit)
{
	*packet = (struct trn_packet){
		.opcode = TRN_PACKET_FILL,
		.fill = {
			.destination = htole64(destination),
			.length = htole64(length),
			.pattern = htole64(pattern),
			.unit_log2 = (uint8_t)__builtin_ctz(unit),
		},
	};
}
