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

void trn_packet_copy_nd(struct trn_packet *packet, uint64_t destination,
			const uint32_t destination_strides[3], uint64_t source,
			const uint32_t source_strides[3], const uint32_t sizes[4])
{
	int i;

	*packet = (struct trn_packet){
		.opcode = TRN_PACKET_COPY_ND,
		.copy_nd = {
			.source = htole64(source),
			.destination = htole64(destination),
		},
	};
	for (i = 0; i < 4; i++)
		packet->copy_nd.size[i] = htole32(sizes[i]);
	for (i = 0; i < 3; i++) {
		packet->copy_nd.source_stride[i] = htole32(source_strides[i]);
		packet->copy_nd.destination_stride[i] = htole32(destination_strides[i]);
	}
}

void trn_packet_exec(struct trn_packet *packet, const struct trn_exec *exec)
{
	*packet = (struct trn_packet){
		.opcode = TRN_PACKET_EXEC,
		.exec = {
			.program = htole64(exec->program),
			.bindings = htole64(exec->bindings),
			.num_bindings = htole32(exec->num_bindings),
			.core = htole16(exec->core),
			.seed = htole64(exec->seed),
			.result = htole64(exec->result),
			.profile = htole64(exec->profile),
			.profile_size = htole64(exec->profile_size),
		},
	};
}
