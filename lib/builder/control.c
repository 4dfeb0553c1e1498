/* SPDX-License-Identifier: MIT */
/* Instructions of every engine: control and DMA; TIMESTAMP, whose encoding is DMA's. */
#include <endian.h>

#include "../neff/neff.h"
#include "builder.h"

void trn_emit_nop(struct trn_builder *builder, unsigned int engine)
{
	if (builder_begin(builder, engine, TRN_OP_NOP))
		builder_append(builder, (struct trn_instruction){ .opcode = TRN_OP_NOP });
}

void trn_emit_halt(struct trn_builder *builder, unsigned int engine)
{
	if (builder_begin(builder, engine, TRN_OP_HALT))
		builder_append(builder, (struct trn_instruction){ .opcode = TRN_OP_HALT });
}

static void arithmetic(struct trn_builder *builder, unsigned int engine, uint8_t opcode,
		       uint32_t destination, uint32_t a, uint32_t b, int64_t immediate)
{
	if (!builder_begin(builder, engine, opcode) || !builder_register(builder, destination) ||
	    !builder_register(builder, a) || !builder_register(builder, b))
		return;
	if (!destination) {
		trn_builder_fail(builder, "register 0 cannot be written");
		return;
	}
	builder_append(builder, (struct trn_instruction){
					.opcode = opcode,
					.control = {
						.destination = (uint8_t)destination,
						.source = { (uint8_t)a, (uint8_t)b },
						.immediate = htole64((uint64_t)immediate),
					},
				});
}

void trn_emit_move(struct trn_builder *builder, unsigned int engine, uint32_t destination,
		   uint32_t source, int64_t immediate)
{
	arithmetic(builder, engine, TRN_OP_MOVE, destination, source, 0, immediate);
}

void trn_emit_add(struct trn_builder *builder, unsigned int engine, uint32_t destination,
		  uint32_t a, uint32_t b, int64_t immediate)
{
	arithmetic(builder, engine, TRN_OP_ADD, destination, a, b, immediate);
}

void trn_emit_multiply(struct trn_builder *builder, unsigned int engine, uint32_t destination,
		       uint32_t source, int64_t immediate)
{
	arithmetic(builder, engine, TRN_OP_MULTIPLY, destination, source, 0, immediate);
}

void trn_emit_branch(struct trn_builder *builder, unsigned int engine, uint32_t a,
		     unsigned int comparison, uint32_t b, int64_t immediate, uint32_t label)
{
	if (!builder_begin(builder, engine, TRN_OP_BRANCH) || !builder_register(builder, a) ||
	    !builder_register(builder, b))
		return;
	if (comparison < TRN_ALU_EQUAL || comparison > TRN_ALU_GREATER_EQUAL) {
		trn_builder_fail(builder,
				 "operation %u is none of TRN_ALU_EQUAL to TRN_ALU_GREATER_EQUAL",
				 comparison);
		return;
	}
	if (label >= builder->num_labels || builder->labels[label].engine != engine ||
	    builder->labels[label].core != builder->num_cores - 1) {
		trn_builder_fail(builder, "label %u is not of this engine", label);
		return;
	}
	/* Until the end of the program, the target is the label. */
	builder_append(builder, (struct trn_instruction){
					.opcode = TRN_OP_BRANCH,
					.op = { (uint8_t)comparison },
					.control = {
						.source = { (uint8_t)a, (uint8_t)b },
						.immediate = htole64((uint64_t)immediate),
						.target = htole32(label),
					},
				});
}

/* ---- DMA ------------------------------------------------------------------------------ */

/* Without a register it is known which bytes of the variable are moved. */
static bool check_memory(struct trn_builder *builder, const struct trn_tile *extent,
			 const struct trn_slice *memory)
{
	const struct trn_neff_variable *variable =
		&builder_core(builder)->variables[memory->variable];
	const uint32_t count[4] = { extent->partitions, extent->size[0], extent->size[1],
				    extent->size[2] };
	int64_t low = memory->offset, high = memory->offset + neff_dtype(memory->dtype)->bits / 8;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		int64_t way = (int64_t)memory->stride[i] * (count[i] - 1);

		if (way < 0)
			low += way;
		else
			high += way;
	}
	if (memory->offset_register || (low >= 0 && high <= (int64_t)variable->size))
		return true;
	trn_builder_fail(builder, "bytes %lld to %lld of %.64s, which has %llu", (long long)low,
			 (long long)high, variable->name, (unsigned long long)variable->size);
	return false;
}

static bool is_moved(uint32_t dtype)
{
	return neff_dtype(dtype) && dtype != TRN_DTYPE_MXFP8 && dtype != TRN_DTYPE_FP4;
}

static void transfer(struct trn_builder *builder, unsigned int engine, uint8_t opcode,
		     uint32_t ring, const struct trn_tile *extent, const struct trn_operand *local,
		     const struct trn_slice *memory)
{
	struct trn_instruction instruction = {
		.opcode = opcode,
		.dma = {
			.ring = (uint8_t)ring,
			.binding = (uint8_t)memory->variable,
			.address_register = (uint8_t)memory->offset_register,
			.dtype = (uint8_t)memory->dtype,
			.offset = htole64((uint64_t)memory->offset),
		},
	};
	unsigned int i;

	if (!builder_begin(builder, engine, opcode))
		return;
	if (ring >= builder_core(builder)->num_rings) {
		trn_builder_fail(builder, "ring %u: the core has taken %u", ring,
				 builder_core(builder)->num_rings);
		return;
	}
	if (!is_moved(memory->dtype) || !is_moved(local->dtype)) {
		trn_builder_fail(builder,
				 "types %u and %u: mxfp8 and fp4 are moved as TRN_DTYPE_INT8",
				 local->dtype, memory->dtype);
		return;
	}
	if (!builder_extent(builder, extent, &instruction.dma.partitions, instruction.dma.size) ||
	    !builder_operand(builder, "operand", local, extent, 1, &instruction.dma.local) ||
	    !builder_register(builder, memory->offset_register) ||
	    !builder_variable(builder, memory->variable) || !check_memory(builder, extent, memory))
		return;
	for (i = 0; i < 4; i++)
		instruction.dma.stride[i] = htole32((uint32_t)memory->stride[i]);
	builder_append(builder, instruction);
}

void trn_emit_load(struct trn_builder *builder, unsigned int engine, uint32_t ring,
		   struct trn_tile extent, struct trn_operand to, struct trn_slice from)
{
	transfer(builder, engine, TRN_OP_DMA_LOAD, ring, &extent, &to, &from);
}

void trn_emit_store(struct trn_builder *builder, unsigned int engine, uint32_t ring,
		    struct trn_tile extent, struct trn_operand from, struct trn_slice to)
{
	transfer(builder, engine, TRN_OP_DMA_STORE, ring, &extent, &from, &to);
}

void trn_emit_timestamp(struct trn_builder *builder, uint32_t variable, int64_t offset,
			uint32_t offset_register)
{
	if (!builder_begin(builder, TRN_ENGINE_SYNC, TRN_OP_TIMESTAMP) ||
	    !builder_register(builder, offset_register) || !builder_variable(builder, variable))
		return;
	builder_append(builder, (struct trn_instruction){
					.opcode = TRN_OP_TIMESTAMP,
					.dma = {
						.binding = (uint8_t)variable,
						.address_register = (uint8_t)offset_register,
						.offset = htole64((uint64_t)offset),
					},
				});
}
