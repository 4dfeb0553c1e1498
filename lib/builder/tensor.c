/* SPDX-License-Identifier: MIT */
/* Instructions of the tensor engine. */
#include <endian.h>

#include "builder.h"

#define MX_PACK 4

static bool check_bank(struct trn_builder *builder, const struct trn_operand *out,
		       const struct trn_tile *extent)
{
	int64_t low = out->offset, high = out->offset;
	unsigned int i;

	if (!out->psum) {
		trn_builder_fail(builder, "out: must be in PSUM");
		return false;
	}
	if (out->offset_register)
		return true;
	for (i = 0; i < 3; i++) {
		int64_t way = (int64_t)out->step[i] * (extent->size[i] - 1) * 4;

		if (way < 0)
			low += way;
		else
			high += way;
	}
	if (low / TRN_PSUM_BANK_SIZE == high / TRN_PSUM_BANK_SIZE)
		return true;
	trn_builder_fail(builder, "out: bytes %lld to %lld are not in one bank of %d",
			 (long long)low, (long long)high + 4, TRN_PSUM_BANK_SIZE);
	return false;
}

static uint32_t columns(const struct trn_tile *extent)
{
	return extent->size[0] * extent->size[1] * extent->size[2];
}

/* The matrix that both instructions have. */
static bool matrix(struct trn_builder *builder, const struct trn_tile *extent, unsigned int pack,
		   const struct trn_operand *in, const struct trn_operand *scale,
		   uint32_t most_columns, struct trn_instruction *instruction)
{
	struct trn_tile scales = *extent;

	if (pack != 1 && pack != 2 && pack != MX_PACK) {
		trn_builder_fail(builder, "pack is %u, must be 1, 2 or 4", pack);
		return false;
	}
	instruction->tensor.pack = (uint8_t)pack;
	if (!builder_extent(builder, extent, &instruction->tensor.rows, instruction->tensor.size))
		return false;
	if (columns(extent) > most_columns || in->psum) {
		trn_builder_fail(builder, "in: %u columns in %s: at most %u, in SBUF",
				 columns(extent), in->psum ? "PSUM" : "SBUF", most_columns);
		return false;
	}
	if (!builder_operand(builder, "in", in, extent, pack, &instruction->tensor.in))
		return false;
	if (!scale)
		return true;
	if (extent->partitions % (TRN_MX_BLOCK / MX_PACK)) {
		trn_builder_fail(builder, "%u rows: with scales, a multiple of %d",
				 extent->partitions, TRN_MX_BLOCK / MX_PACK);
		return false;
	}
	scales.partitions = extent->partitions * MX_PACK / TRN_MX_BLOCK;
	return builder_operand(builder, "scale", scale, &scales, 1, &instruction->tensor.scale);
}

void trn_emit_load_stationary(struct trn_builder *builder, struct trn_tile extent,
			      unsigned int pack, struct trn_operand in,
			      const struct trn_operand *scale)
{
	struct trn_instruction instruction = { .opcode = TRN_OP_LOAD_STATIONARY };

	if (builder_begin(builder, TRN_ENGINE_TENSOR, TRN_OP_LOAD_STATIONARY) &&
	    matrix(builder, &extent, pack, &in, scale, TRN_STATIONARY_COLUMNS, &instruction))
		builder_append(builder, instruction);
}

void trn_emit_matmul(struct trn_builder *builder, struct trn_tile extent, unsigned int pack,
		     struct trn_operand out, struct trn_operand in, const struct trn_operand *scale,
		     bool accumulate)
{
	struct trn_instruction instruction = {
		.opcode = TRN_OP_MATMUL,
		.flags = accumulate ? TRN_FLAG_ACCUMULATE : 0,
	};
	/* How many partitions it has is known of the stationary matrix alone. */
	struct trn_tile sums = extent;

	sums.partitions = 1;
	if (builder_begin(builder, TRN_ENGINE_TENSOR, TRN_OP_MATMUL) &&
	    matrix(builder, &extent, pack, &in, scale, TRN_MOVING_COLUMNS, &instruction) &&
	    builder_operand(builder, "out", &out, &sums, 1, &instruction.tensor.out) &&
	    check_bank(builder, &out, &sums))
		builder_append(builder, instruction);
}

void trn_emit_transpose(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
			struct trn_operand in)
{
	struct trn_instruction instruction = {
		.opcode = TRN_OP_TRANSPOSE,
		.tensor = { .pack = 1 },
	};
	struct trn_tile transposed = trn_tile(columns(&extent), extent.partitions);

	if (!builder_begin(builder, TRN_ENGINE_TENSOR, TRN_OP_TRANSPOSE) ||
	    !builder_extent(builder, &extent, &instruction.tensor.rows, instruction.tensor.size))
		return;
	if (columns(&extent) > TRN_PARTITIONS || in.psum || !out.psum || in.dtype != out.dtype) {
		trn_builder_fail(builder,
				 "%u columns, in: %s, out: %s, types %u and %u: at most %d, from "
				 "SBUF to PSUM, of one type",
				 columns(&extent), in.psum ? "PSUM" : "SBUF",
				 out.psum ? "PSUM" : "SBUF", in.dtype, out.dtype, TRN_PARTITIONS);
		return;
	}
	if (builder_operand(builder, "in", &in, &extent, 1, &instruction.tensor.in) &&
	    builder_operand(builder, "out", &out, &transposed, 1, &instruction.tensor.out))
		builder_append(builder, instruction);
}
