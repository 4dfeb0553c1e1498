/* SPDX-License-Identifier: MIT */
/*
 * libtrn: programs made by code.
 *
 * A builder collects variables, and instructions of the five engines of one or several cores, and
 * makes a struct trn_neff of them, which trn_neff_write() writes and trn_program_load() loads.
 * What an instruction does is said in Documentation/isa.rst; here is how it is written down.
 * Engines are TRN_ENGINE_*, types TRN_DTYPE_*, operations TRN_ALU_* and TRN_FUNCTION_*.
 *
 *	trn_builder_create("double", 0, &builder);
 *	x = trn_builder_variable(builder, TRN_NEFF_INPUT, "x", TRN_DTYPE_FP32, 2, shape);
 *	y = trn_builder_variable(builder, TRN_NEFF_OUTPUT, "y", TRN_DTYPE_FP32, 2, shape);
 *	ring = trn_builder_ring(builder, "data", TRN_NEFF_DATA);
 *	loaded = trn_builder_semaphore(builder);
 *	done = trn_builder_semaphore(builder);
 *	trn_emit_load(builder, TRN_ENGINE_SYNC, ring, trn_tile(128, 64), tile,
 *		      trn_rows(x, TRN_DTYPE_FP32, 64 * 4));
 *	trn_builder_release(builder, TRN_ENGINE_SYNC, loaded, 1);
 *	trn_builder_acquire(builder, TRN_ENGINE_VECTOR, loaded, 1);
 *	trn_emit_tensor_tensor(builder, TRN_ENGINE_VECTOR, trn_tile(128, 64), TRN_ALU_ADD,
 *			       tile, tile, tile);
 *	…
 *	error = trn_builder_finish(builder, &neff);
 *
 * Errors: only trn_builder_create() and trn_builder_finish() report them.  The first mistake is
 *kept, with the core, engine and instruction where it was made; from then on nothing has an effect,
 *and what returns a number returns 0.
 *
 * The same calls make the same program.  A builder belongs to one thread at a time; it needs no
 *device.
 */
#ifndef TRN_TRN_BUILDER_H
#define TRN_TRN_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hw/trn_isa.h>
#include <hw/trn_regs.h>
#include <trn/trn_neff.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A program that is being made. */
struct trn_builder;

/** Bytes of SBUF in each partition that all chips have. */
#define TRN_BUILDER_SBUF_SIZE 196608
/** Bytes of PSUM in each partition. */
#define TRN_BUILDER_PSUM_SIZE 16384

/* ---- Program --------------------------------------------------------- */

/**
 * trn_builder_create - begin a program, and its first core
 * @name: of the program, as of struct trn_neff
 * @sbuf_size: bytes of SBUF in each partition that the program may use; 0 =
 *	TRN_BUILDER_SBUF_SIZE.  At most 1 MiB.
 * @builder: out: the builder, freed by trn_builder_destroy()
 *
 * -EINVAL: @sbuf_size is too large.  -ENOMEM.
 */
int trn_builder_create(const char *name, uint32_t sbuf_size, struct trn_builder **builder);

/**
 * trn_builder_core - begin the next core
 * @builder: the builder
 *
 * Variables, rings, semaphores, registers, labels, SBUF and instructions belong to the core that
 * was begun last.  Variables of one name and several cores are one tensor.
 */
void trn_builder_core(struct trn_builder *builder);

/**
 * trn_builder_finish - end the program
 * @builder: the builder
 * @neff: out: the program, valid until trn_builder_destroy()
 *
 * Ends each stream with HALT.  Nothing can be added afterwards.
 * -EINVAL: a mistake was made, which trn_error_message() tells.
 * -ENOMEM: there was not enough memory for the program.
 */
int trn_builder_finish(struct trn_builder *builder, const struct trn_neff **neff);

/**
 * trn_builder_destroy - free a builder and its program
 * @builder: the builder, or NULL
 */
void trn_builder_destroy(struct trn_builder *builder);

/**
 * trn_builder_fail - record a mistake of the caller's own
 * @builder: the builder
 * @format: as for printf(): what is wrong, what would be right
 *
 * As if a function of the builder had found it: for code on top of the builder.
 */
void trn_builder_fail(struct trn_builder *builder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- Resources of a core --------------------------------------------- */

/**
 * trn_builder_variable - declare memory that instructions reach
 * @builder: the builder
 * @kind: who gives it memory; not TRN_NEFF_FILE
 * @name: its name, as of struct trn_neff_variable
 * @dtype: type of its elements
 * @dimensions: elements of @shape
 * @shape: elements in each dimension; the last varies fastest
 *
 * The number of its binding, for struct trn_slice.  Its address is aligned to 64 bytes.
 */
uint32_t trn_builder_variable(struct trn_builder *builder, enum trn_neff_kind kind,
			      const char *name, uint32_t dtype, uint32_t dimensions,
			      const uint64_t *shape);

/**
 * trn_builder_constant - declare a constant (TRN_NEFF_FILE)
 * @builder: the builder
 * @name: as in trn_builder_variable(), and so on
 * @dtype: type of its elements
 * @dimensions: elements of @shape
 * @shape: elements in each dimension
 * @data: the elements, which are copied
 */
uint32_t trn_builder_constant(struct trn_builder *builder, const char *name, uint32_t dtype,
			      uint32_t dimensions, const uint64_t *shape, const void *data);

/**
 * trn_builder_ring - take a DMA ring
 * @builder: the builder
 * @name: for people and profiles; no other ring of the core has it
 * @direction: what it is for
 *
 * Its number.  A core has 16.
 */
uint32_t trn_builder_ring(struct trn_builder *builder, const char *name,
			  enum trn_neff_direction direction);

/**
 * trn_builder_semaphore - take a semaphore
 * @builder: the builder
 *
 * Its number.  A core has 256.  It is 0 when the program starts.
 */
uint32_t trn_builder_semaphore(struct trn_builder *builder);

/**
 * trn_builder_register - take a register of an engine
 * @builder: the builder
 * @engine: whose
 *
 * Its number, 1 … 15.  It is 0 when the program starts.  Register 0 always is.
 */
uint32_t trn_builder_register(struct trn_builder *builder, unsigned int engine);

/**
 * trn_builder_sbuf - take SBUF
 * @builder: the builder
 * @size: bytes of each partition
 *
 * Its offset, a multiple of 64.
 */
uint32_t trn_builder_sbuf(struct trn_builder *builder, uint32_t size);

/* ---- Order ------------------------------------------------------------ */

/**
 * trn_builder_acquire - the engine's next instruction waits
 * @builder: the builder
 * @engine: whose
 * @semaphore: waits until it is at least @count, and subtracts @count
 * @count: 1 … 255
 *
 * Several calls before one instruction wait for one after the other, with NOPs.
 */
void trn_builder_acquire(struct trn_builder *builder, unsigned int engine, uint32_t semaphore,
			 unsigned int count);

/**
 * trn_builder_release - the engine's last instruction releases
 * @builder: the builder
 * @engine: whose
 * @semaphore: @count is added to it when the effects of the instruction, and of those before
 *	it, are visible; of a transfer, when its own are
 * @count: 1 … 255
 *
 * A second release of one instruction needs a NOP, which is made.  A transfer has one release
 *alone.
 */
void trn_builder_release(struct trn_builder *builder, unsigned int engine, uint32_t semaphore,
			 unsigned int count);

/**
 * trn_builder_stochastic - the engine's last instruction rounds stochastically
 * @builder: the builder
 * @engine: whose
 */
void trn_builder_stochastic(struct trn_builder *builder, unsigned int engine);

/**
 * trn_builder_label - make a label
 * @builder: the builder
 * @engine: in whose stream it will be
 *
 * Its number, for trn_emit_branch() and trn_builder_place_label(), in any order.
 */
uint32_t trn_builder_label(struct trn_builder *builder, unsigned int engine);

/**
 * trn_builder_place_label - the engine's next instruction is the label's
 * @builder: the builder
 * @label: the label; it is placed once
 */
void trn_builder_place_label(struct trn_builder *builder, uint32_t label);

/* ---- Operands ---------------------------------------------------------- */

/**
 * struct trn_tile - the shape of an instruction
 * @partitions: 1 … 128
 * @size: elements of each partition, along i, j and k, 1 or more; at most 65535 along one, and
 * 65536 together
 */
struct trn_tile {
	uint32_t partitions;
	uint32_t size[3];
};

/** Rows of @i elements. */
static inline struct trn_tile trn_tile(uint32_t partitions, uint32_t i)
{
	struct trn_tile extent = { partitions, { i, 1, 1 } };

	return extent;
}

/** Rows of @i × @j × @k elements. */
static inline struct trn_tile trn_tile_3d(uint32_t partitions, uint32_t i, uint32_t j, uint32_t k)
{
	struct trn_tile extent = { partitions, { i, j, k } };

	return extent;
}

/**
 * struct trn_operand - a place in SBUF or PSUM
 * @dtype: type of the elements
 * @psum: in PSUM, else in SBUF
 * @partition: the first
 * @offset: bytes in each partition
 * @offset_register: register whose value is added to @offset; 0 = none
 * @step: elements from one to the next, along i, j and k
 */
struct trn_operand {
	uint32_t dtype;
	bool psum;
	uint32_t partition;
	uint32_t offset;
	uint32_t offset_register;
	int32_t step[3];
};

/** Neighbouring elements in SBUF, from partition 0 on. */
static inline struct trn_operand trn_sbuf(uint32_t dtype, uint32_t offset)
{
	struct trn_operand operand = { dtype, false, 0, offset, 0, { 1, 0, 0 } };

	return operand;
}

/** Neighbouring elements in PSUM, from partition 0 on. */
static inline struct trn_operand trn_psum(uint32_t dtype, uint32_t offset)
{
	struct trn_operand operand = { dtype, true, 0, offset, 0, { 1, 0, 0 } };

	return operand;
}

/** The operand with other steps. */
static inline struct trn_operand trn_steps(struct trn_operand operand, int32_t i, int32_t j,
					   int32_t k)
{
	operand.step[0] = i;
	operand.step[1] = j;
	operand.step[2] = k;
	return operand;
}

/** The operand from another partition on. */
static inline struct trn_operand trn_at_partition(struct trn_operand operand, uint32_t partition)
{
	operand.partition = partition;
	return operand;
}

/**
 * struct trn_slice - a place in a variable
 * @variable: number of the binding
 * @dtype: type of the elements; if it is not the operand's, they are converted
 * @offset: bytes from the variable's beginning
 * @offset_register: register whose value is added to @offset; 0 = none
 * @stride: bytes from one element to the next: of partitions, along i, j and k
 */
struct trn_slice {
	uint32_t variable;
	uint32_t dtype;
	int64_t offset;
	uint32_t offset_register;
	int32_t stride[4];
};

/** A row of neighbouring elements for each partition, @stride bytes from row to row. */
static inline struct trn_slice trn_rows(uint32_t variable, uint32_t dtype, int32_t stride)
{
	struct trn_slice memory = { variable, dtype, 0, 0, { stride, 0, 0, 0 } };

	memory.stride[1] =
		dtype == TRN_DTYPE_FP32 || dtype == TRN_DTYPE_INT32 ? 4
		: dtype == TRN_DTYPE_BF16 || dtype == TRN_DTYPE_FP16 || dtype == TRN_DTYPE_INT16
			? 2
			: 1;
	return memory;
}

/**
 * struct trn_scalar - a scalar of TENSOR_SCALAR and ACTIVATE
 * @of_partition: each partition has one of its own, in the operand @scalars of the instruction
 * @value: else this
 * @integer: @value is bits of an INT32, in @bits
 * @bits: the integer
 */
struct trn_scalar {
	bool of_partition;
	bool integer;
	float value;
	int32_t bits;
};

/** One number for all. */
static inline struct trn_scalar trn_scalar(float value)
{
	struct trn_scalar scalar = { false, false, value, 0 };

	return scalar;
}

/** One integer for all, of integer arithmetic. */
static inline struct trn_scalar trn_scalar_integer(int32_t value)
{
	struct trn_scalar scalar = { false, true, 0, value };

	return scalar;
}

/** One of each partition: element 0 of the instruction's scalars for the first, 1 for the second.
 */
static inline struct trn_scalar trn_scalar_of_partition(void)
{
	struct trn_scalar scalar = { true, false, 0, 0 };

	return scalar;
}

/* ---- Control: every engine ---------------------------------------------- */

/** NOP. */
void trn_emit_nop(struct trn_builder *builder, unsigned int engine);
/** HALT, before the stream's end. */
void trn_emit_halt(struct trn_builder *builder, unsigned int engine);
/** @destination = @source + @immediate. */
void trn_emit_move(struct trn_builder *builder, unsigned int engine, uint32_t destination,
		   uint32_t source, int64_t immediate);
/** @destination = @a + @b + @immediate. */
void trn_emit_add(struct trn_builder *builder, unsigned int engine, uint32_t destination,
		  uint32_t a, uint32_t b, int64_t immediate);
/** @destination = @source × @immediate. */
void trn_emit_multiply(struct trn_builder *builder, unsigned int engine, uint32_t destination,
		       uint32_t source, int64_t immediate);
/** Goes on at @label if @a @comparison (@b + @immediate), @comparison of TRN_ALU_EQUAL …
 * _GREATER_EQUAL. */
void trn_emit_branch(struct trn_builder *builder, unsigned int engine, uint32_t a,
		     unsigned int comparison, uint32_t b, int64_t immediate, uint32_t label);

/* ---- DMA: every engine ---------------------------------------------------- */

/** Memory to SBUF or PSUM, on ring @ring. */
void trn_emit_load(struct trn_builder *builder, unsigned int engine, uint32_t ring,
		   struct trn_tile extent, struct trn_operand to, struct trn_slice from);
/** SBUF or PSUM to memory, on ring @ring. */
void trn_emit_store(struct trn_builder *builder, unsigned int engine, uint32_t ring,
		    struct trn_tile extent, struct trn_operand from, struct trn_slice to);

/* ---- Tensor engine ---------------------------------------------------------- */

/** Loads the stationary matrix; @pack as in isa.rst, @scale for MX types, else NULL. */
void trn_emit_load_stationary(struct trn_builder *builder, struct trn_tile extent,
			      unsigned int pack, struct trn_operand in,
			      const struct trn_operand *scale);
/** Multiplies; @extent and @in are of the moving matrix; @accumulate adds to what is in @out. */
void trn_emit_matmul(struct trn_builder *builder, struct trn_tile extent, unsigned int pack,
		     struct trn_operand out, struct trn_operand in, const struct trn_operand *scale,
		     bool accumulate);
/** @extent is @in's; @out has its partitions as columns. */
void trn_emit_transpose(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
			struct trn_operand in);

/* ---- Vector, scalar and gpsimd engine ---------------------------------------- */

/** @out = @in, converted. */
void trn_emit_copy(struct trn_builder *builder, unsigned int engine, struct trn_tile extent,
		   struct trn_operand out, struct trn_operand in);
/** @out = @value, which must not be of a partition. */
void trn_emit_fill(struct trn_builder *builder, unsigned int engine, struct trn_tile extent,
		   struct trn_operand out, struct trn_scalar value);
/** @out = @a @operation @b. */
void trn_emit_tensor_tensor(struct trn_builder *builder, unsigned int engine,
			    struct trn_tile extent, unsigned int operation, struct trn_operand out,
			    struct trn_operand a, struct trn_operand b);
/** @out = (@in @operation0 @scalar0) @operation1 @scalar1; @scalars is NULL if none is of a
 * partition. */
void trn_emit_tensor_scalar(struct trn_builder *builder, unsigned int engine,
			    struct trn_tile extent, struct trn_operand out, struct trn_operand in,
			    unsigned int operation0, struct trn_scalar scalar0,
			    unsigned int operation1, struct trn_scalar scalar1,
			    const struct trn_operand *scalars);

/* ---- Vector engine -------------------------------------------------------------- */

/** @axes: TRN_FLAG_AXIS_*, which @out has size 1 along. */
void trn_emit_reduce(struct trn_builder *builder, struct trn_tile extent, unsigned int operation,
		     unsigned int axes, struct trn_operand out, struct trn_operand in);
/** @out = @condition ≠ 0 ? @in : @out. */
void trn_emit_select(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
		     struct trn_operand condition, struct trn_operand in);
/** @out: count, mean, and sum of squared differences, along i. */
void trn_emit_bn_stats(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
		       struct trn_operand in);
/** @out: mean and variance, along i, of @triples of bn_stats, that are along i of @in, and their
 * numbers along j. */
void trn_emit_bn_aggregate(struct trn_builder *builder, uint32_t partitions, uint32_t triples,
			   struct trn_operand out, struct trn_operand in);

/* ---- Scalar engine ---------------------------------------------------------------- */

/** @out = @function(@in × @scale + @bias); @scalars as for tensor_scalar. */
void trn_emit_activate(struct trn_builder *builder, struct trn_tile extent, unsigned int function,
		       struct trn_operand out, struct trn_operand in, struct trn_scalar scale,
		       struct trn_scalar bias, const struct trn_operand *scalars);

/* ---- GpSimd engine ------------------------------------------------------------------ */

/** Numbers @base + p × @step[0] + i × @step[1] + j × @step[2] + k × @step[3]. */
void trn_emit_iota(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
		   int32_t base, const int32_t step[4]);
/** @out = that number ≥ 0 ? @in : @fill. */
void trn_emit_mask(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
		   struct trn_operand in, int32_t base, const int32_t step[4],
		   struct trn_scalar fill);
/** @out = element number @index of @in, which has @count along i. */
void trn_emit_gather(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
		     struct trn_operand in, struct trn_operand index, uint32_t count);
/** Element number @index of @out, which has @count along i, = @in. */
void trn_emit_scatter(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
		      struct trn_operand in, struct trn_operand index, uint32_t count);
/** @out = partition number @index of @in, which has @count. */
void trn_emit_partition_shuffle(struct trn_builder *builder, struct trn_tile extent,
				struct trn_operand out, struct trn_operand in,
				struct trn_operand index, uint32_t count);
/** @out = first partition of @in, in all partitions. */
void trn_emit_partition_broadcast(struct trn_builder *builder, struct trn_tile extent,
				  struct trn_operand out, struct trn_operand in);
/** @out: the @count largest along i, @index: which they were. */
void trn_emit_top_k(struct trn_builder *builder, struct trn_tile extent, struct trn_operand out,
		    struct trn_operand index, struct trn_operand in, uint32_t count);

/* ---- Sync engine ----------------------------------------------------------------------- */

/** Device clock and model clock to 16 bytes of memory. */
void trn_emit_timestamp(struct trn_builder *builder, uint32_t variable, int64_t offset,
			uint32_t offset_register);

#ifdef __cplusplus
}
#endif

#endif /* TRN_TRN_BUILDER_H */
