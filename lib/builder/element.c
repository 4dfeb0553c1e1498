/* SPDX-License-Identifier: MIT */
/* Instructions of the vector, scalar and gpsimd engines. */
#include <endian.h>
#include <string.h>

#include "builder.h"

#define TRIPLE 3 /* numbers of BN_STATS */

static __le32 bits_of(struct trn_scalar scalar)
{
	uint32_t bits;

	if (scalar.integer)
		bits = (uint32_t)scalar.bits;
	else
		memcpy(&bits, &scalar.value, sizeof(bits));
	return htole32(bits);
}

static bool check_operation(struct trn_builder *builder, unsigned int operation)
{
	if (operation <= TRN_ALU_REVERSE_DIVIDE)
		return true;
	trn_builder_fail(builder, "there is no operation %u, use TRN_ALU_", operation);
	return false;
}

/* Begins an instruction with an output. */
static bool element(struct trn_builder *builder, unsigned int engine, uint8_t opcode,
		    const struct trn_tile *extent, struct trn_instruction *instruction)
{
	*instruction = (struct trn_instruction){ .opcode = opcode };
	return builder_begin(builder, engine, opcode) &&
	       builder_extent(builder, extent, &instruction->element.partitions,
			      instruction->element.size);
}

static bool out(struct trn_builder *builder, const struct trn_operand *operand,
		const struct trn_tile *extent, struct trn_instruction *instruction)
{
	return builder_operand(builder, "out", operand, extent, 1, &instruction->element.out);
}

static bool in(struct trn_builder *builder, unsigned int number, const struct trn_operand *operand,
	       const struct trn_tile *extent, struct trn_instruction *instruction)
{
	return builder_operand(builder, number ? "second input" : "input", operand, extent, 1,
			       &instruction->element.in[number]);
}

/* ---- three engines ------------------------------------------------------------------------ */

void trn_emit_copy(struct trn_builder *builder, unsigned int engine, struct trn_tile extent,
		   struct trn_operand to, struct trn_operand from)
{
	struct trn_instruction instruction;

	if (element(builder, engine, TRN_OP_COPY, &extent, &instruction) &&
	    out(builder, &to, &extent, &instruction) &&
	    in(builder, 0, &from, &extent, &instruction))
		builder_append(builder, instruction);
}

void trn_emit_fill(struct trn_builder *builder, unsigned int engine, struct trn_tile extent,
		   struct trn_operand to, struct trn_scalar value)
{
	struct trn_instruction instruction;

	if (!element(builder, engine, TRN_OP_FILL, &extent, &instruction) ||
	    !out(builder, &to, &extent, &instruction))
		return;
	if (value.of_partition) {
		trn_builder_fail(builder, "the value cannot be of a partition: use copy");
		return;
	}
	instruction.element.scalar[0] = bits_of(value);
	builder_append(builder, instruction);
}

void trn_emit_tensor_tensor(struct trn_builder *builder, unsigned int engine,
			    struct trn_tile extent, unsigned int operation, struct trn_operand to,
			    struct trn_operand a, struct trn_operand b)
{
	struct trn_instruction instruction;

	if (!element(builder, engine, TRN_OP_TENSOR_TENSOR, &extent, &instruction) ||
	    !check_operation(builder, operation) || !out(builder, &to, &extent, &instruction) ||
	    !in(builder, 0, &a, &extent, &instruction) ||
	    !in(builder, 1, &b, &extent, &instruction))
		return;
	instruction.op[0] = (uint8_t)operation;
	builder_append(builder, instruction);
}

/* The scalars, and in[1] with those that are of each partition. */
static bool scalars(struct trn_builder *builder, const struct trn_tile *extent,
		    const struct trn_scalar scalar[2], const struct trn_operand *of_partitions,
		    struct trn_instruction *instruction)
{
	struct trn_tile pair = trn_tile(extent->partitions, scalar[1].of_partition ? 2 : 1);
	struct trn_operand operand;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (scalar[i].of_partition)
			instruction->flags |= i ? TRN_FLAG_SCALAR_1 : TRN_FLAG_SCALAR_0;
		else
			instruction->element.scalar[i] = bits_of(scalar[i]);
	}
	if (!instruction->flags == !of_partitions) {
		if (!of_partitions)
			return true;
		operand = trn_steps(*of_partitions, of_partitions->step[0], 0, 0);
		return in(builder, 1, &operand, &pair, instruction);
	}
	trn_builder_fail(builder, "scalars: an operand is needed if, and only if, one of them is "
				  "of a partition");
	return false;
}

void trn_emit_tensor_scalar(struct trn_builder *builder, unsigned int engine,
			    struct trn_tile extent, struct trn_operand to, struct trn_operand from,
			    unsigned int operation0, struct trn_scalar scalar0,
			    unsigned int operation1, struct trn_scalar scalar1,
			    const struct trn_operand *of_partitions)
{
	const struct trn_scalar scalar[2] = { scalar0, scalar1 };
	struct trn_instruction instruction;

	if (!element(builder, engine, TRN_OP_TENSOR_SCALAR, &extent, &instruction) ||
	    !check_operation(builder, operation0) || !check_operation(builder, operation1) ||
	    !out(builder, &to, &extent, &instruction) ||
	    !in(builder, 0, &from, &extent, &instruction) ||
	    !scalars(builder, &extent, scalar, of_partitions, &instruction))
		return;
	instruction.op[0] = (uint8_t)operation0;
	instruction.op[1] = (uint8_t)operation1;
	builder_append(builder, instruction);
}

/* ---- vector -----------------------------------------------------------------------------------
 */

void trn_emit_reduce(struct trn_builder *builder, struct trn_tile extent, unsigned int operation,
		     unsigned int axes, struct trn_operand to, struct trn_operand from)
{
	static const unsigned int axis[3] = { TRN_FLAG_AXIS_I, TRN_FLAG_AXIS_J, TRN_FLAG_AXIS_K };
	struct trn_tile reduced = extent;
	struct trn_instruction instruction;
	unsigned int i, all = 0;

	for (i = 0; i < 3; i++) {
		all |= axis[i];
		if (axes & axis[i])
			reduced.size[i] = 1;
	}
	if (!element(builder, TRN_ENGINE_VECTOR, TRN_OP_REDUCE, &extent, &instruction) ||
	    !out(builder, &to, &reduced, &instruction) ||
	    !in(builder, 0, &from, &extent, &instruction))
		return;
	if (!axes || axes & ~all ||
	    (operation != TRN_ALU_ADD && operation != TRN_ALU_MULTIPLY &&
	     operation != TRN_ALU_MAX && operation != TRN_ALU_MIN &&
	     operation != TRN_ALU_ABS_MAX)) {
		trn_builder_fail(builder,
				 "operation %u along axes %#x: add, multiply, max, min or abs_max, "
				 "along one TRN_FLAG_AXIS_ or more",
				 operation, axes);
		return;
	}
	instruction.flags = (uint8_t)axes;
	instruction.op[0] = (uint8_t)operation;
	builder_append(builder, instruction);
}

void trn_emit_select(struct trn_builder *builder, struct trn_tile extent, struct trn_operand to,
		     struct trn_operand condition, struct trn_operand from)
{
	struct trn_instruction instruction;

	if (element(builder, TRN_ENGINE_VECTOR, TRN_OP_SELECT, &extent, &instruction) &&
	    out(builder, &to, &extent, &instruction) &&
	    in(builder, 0, &condition, &extent, &instruction) &&
	    in(builder, 1, &from, &extent, &instruction))
		builder_append(builder, instruction);
}

static void statistics(struct trn_builder *builder, uint8_t opcode, const struct trn_tile *extent,
		       uint32_t results, const struct trn_operand *to,
		       const struct trn_operand *from)
{
	const struct trn_tile result = trn_tile(extent->partitions, results);
	struct trn_instruction instruction;

	if (element(builder, TRN_ENGINE_VECTOR, opcode, extent, &instruction) &&
	    out(builder, to, &result, &instruction) && in(builder, 0, from, extent, &instruction))
		builder_append(builder, instruction);
}

void trn_emit_bn_stats(struct trn_builder *builder, struct trn_tile extent, struct trn_operand to,
		       struct trn_operand from)
{
	statistics(builder, TRN_OP_BN_STATS, &extent, TRIPLE, &to, &from);
}

void trn_emit_bn_aggregate(struct trn_builder *builder, uint32_t partitions, uint32_t triples,
			   struct trn_operand to, struct trn_operand from)
{
	const struct trn_tile extent = trn_tile_3d(partitions, triples, TRIPLE, 1);

	statistics(builder, TRN_OP_BN_AGGREGATE, &extent, 2, &to, &from);
}

/* ---- scalar
 * --------------------------------------------------------------------------------------- */

void trn_emit_activate(struct trn_builder *builder, struct trn_tile extent, unsigned int function,
		       struct trn_operand to, struct trn_operand from, struct trn_scalar scale,
		       struct trn_scalar bias, const struct trn_operand *of_partitions)
{
	const struct trn_scalar scalar[2] = { scale, bias };
	struct trn_instruction instruction;

	if (!element(builder, TRN_ENGINE_SCALAR, TRN_OP_ACTIVATE, &extent, &instruction) ||
	    !out(builder, &to, &extent, &instruction) ||
	    !in(builder, 0, &from, &extent, &instruction) ||
	    !scalars(builder, &extent, scalar, of_partitions, &instruction))
		return;
	if (function > TRN_FUNCTION_SIN) {
		trn_builder_fail(builder, "there is no function %u, use TRN_FUNCTION_", function);
		return;
	}
	instruction.op[0] = (uint8_t)function;
	builder_append(builder, instruction);
}

/* ---- gpsimd
 * --------------------------------------------------------------------------------------- */

static bool affine(struct trn_builder *builder, uint8_t opcode, const struct trn_tile *extent,
		   const struct trn_operand *to, int32_t base, const int32_t step[4],
		   struct trn_instruction *instruction)
{
	unsigned int i;

	*instruction = (struct trn_instruction){
		.opcode = opcode,
		.affine = { .base = htole32((uint32_t)base) },
	};
	for (i = 0; i < 4; i++)
		instruction->affine.step[i] = htole32((uint32_t)step[i]);
	return builder_begin(builder, TRN_ENGINE_GPSIMD, opcode) &&
	       builder_extent(builder, extent, &instruction->affine.partitions,
			      instruction->affine.size) &&
	       builder_operand(builder, "out", to, extent, 1, &instruction->affine.out);
}

void trn_emit_iota(struct trn_builder *builder, struct trn_tile extent, struct trn_operand to,
		   int32_t base, const int32_t step[4])
{
	struct trn_instruction instruction;

	if (affine(builder, TRN_OP_IOTA, &extent, &to, base, step, &instruction))
		builder_append(builder, instruction);
}

void trn_emit_mask(struct trn_builder *builder, struct trn_tile extent, struct trn_operand to,
		   struct trn_operand from, int32_t base, const int32_t step[4],
		   struct trn_scalar fill)
{
	struct trn_instruction instruction;

	if (!affine(builder, TRN_OP_MASK, &extent, &to, base, step, &instruction) ||
	    !builder_operand(builder, "input", &from, &extent, 1, &instruction.affine.in))
		return;
	if (fill.of_partition) {
		trn_builder_fail(builder, "the fill cannot be of a partition");
		return;
	}
	instruction.affine.fill = bits_of(fill);
	builder_append(builder, instruction);
}

/* Moves elements from place to place; the device checks the indexes. */
static void move(struct trn_builder *builder, uint8_t opcode, const struct trn_tile *extent,
		 const struct trn_operand *to, const struct trn_tile *to_extent,
		 const struct trn_operand *from, const struct trn_tile *from_extent,
		 const struct trn_operand *index, const struct trn_tile *index_extent,
		 uint32_t count)
{
	struct trn_instruction instruction;

	if (!element(builder, TRN_ENGINE_GPSIMD, opcode, extent, &instruction) ||
	    !out(builder, to, to_extent, &instruction) ||
	    !in(builder, 0, from, from_extent, &instruction) ||
	    (index && !in(builder, 1, index, index_extent, &instruction)))
		return;
	instruction.element.scalar[0] = htole32(count);
	builder_append(builder, instruction);
}

void trn_emit_gather(struct trn_builder *builder, struct trn_tile extent, struct trn_operand to,
		     struct trn_operand from, struct trn_operand index, uint32_t count)
{
	const struct trn_tile table = trn_tile(extent.partitions, count);

	move(builder, TRN_OP_GATHER, &extent, &to, &extent, &from, &table, &index, &extent, count);
}

void trn_emit_scatter(struct trn_builder *builder, struct trn_tile extent, struct trn_operand to,
		      struct trn_operand from, struct trn_operand index, uint32_t count)
{
	const struct trn_tile table = trn_tile(extent.partitions, count);

	move(builder, TRN_OP_SCATTER, &extent, &to, &table, &from, &extent, &index, &extent, count);
}

void trn_emit_partition_shuffle(struct trn_builder *builder, struct trn_tile extent,
				struct trn_operand to, struct trn_operand from,
				struct trn_operand index, uint32_t count)
{
	const struct trn_tile map = trn_tile(extent.partitions, 1);
	struct trn_tile source = extent;

	source.partitions = count;
	move(builder, TRN_OP_PARTITION_SHUFFLE, &extent, &to, &extent, &from, &source, &index, &map,
	     count);
}

void trn_emit_partition_broadcast(struct trn_builder *builder, struct trn_tile extent,
				  struct trn_operand to, struct trn_operand from)
{
	struct trn_tile source = extent;

	source.partitions = 1;
	move(builder, TRN_OP_PARTITION_BROADCAST, &extent, &to, &extent, &from, &source, NULL, NULL,
	     0);
}

void trn_emit_top_k(struct trn_builder *builder, struct trn_tile extent, struct trn_operand to,
		    struct trn_operand index, struct trn_operand from, uint32_t count)
{
	const struct trn_tile found = trn_tile(extent.partitions, count);
	struct trn_instruction instruction;

	if (!element(builder, TRN_ENGINE_GPSIMD, TRN_OP_TOP_K, &extent, &instruction) ||
	    !out(builder, &to, &found, &instruction) ||
	    !in(builder, 0, &from, &extent, &instruction) ||
	    !in(builder, 1, &index, &found, &instruction))
		return;
	instruction.element.scalar[0] = htole32(count);
	builder_append(builder, instruction);
}
