/* SPDX-License-Identifier: MIT */
/*
 * trn device architecture: NeuronCores: instructions, program images, what a core reports.
 *
 * Normative text: Documentation/isa.rst.
 */
#ifndef _HW_TRN_ISA_H
#define _HW_TRN_ISA_H

#include <linux/types.h>

#define TRN_PARTITIONS			128
#define TRN_PSUM_BANK_SIZE		2048	/* bytes of a partition */
#define TRN_ISA_REGISTERS		16	/* of each engine, 64 bits; register 0 is 0 */
#define TRN_ISA_DMA_RINGS		16	/* of each core */
#define TRN_ISA_SEMAPHORES		256	/* of each core */
#define TRN_SEMAPHORE_MAX		0x7fffffff
#define TRN_STATIONARY_COLUMNS		128
#define TRN_MOVING_COLUMNS		512
#define TRN_MX_BLOCK			32	/* values that share a scale */
#define TRN_PACK_MAX			4
#define TRN_ELEMENTS_MAX		65536	/* of one partition, in an instruction */
#define TRN_RING_TRANSFERS		64	/* that a ring holds */

/* Engines.  Also the order of streams in a program. */
#define TRN_ENGINE_TENSOR		0
#define TRN_ENGINE_VECTOR		1
#define TRN_ENGINE_SCALAR		2
#define TRN_ENGINE_GPSIMD		3
#define TRN_ENGINE_SYNC			4
#define TRN_ENGINES			5

/* A place in SBUF or PSUM, and how its elements lie in each partition.  Element
 * (i, j, k) is at the offset + i × step[0] + j × step[1] + k × step[2] elements.
 */
struct trn_access_pattern {
	__le32	place;
#define TRN_PLACE_OFFSET_MASK		0x000fffff	/* bytes in a partition */
#define TRN_PLACE_PSUM			0x00100000	/* else SBUF */
#define TRN_PLACE_REGISTER_SHIFT	24		/* this register is added to the offset */
#define TRN_PLACE_REGISTER_MASK		0x0f000000
	__u8	partition;		/* the first */
	__u8	dtype;			/* TRN_DTYPE_* */
	__le16	step[3];		/* two's complement */
};
_Static_assert(sizeof(struct trn_access_pattern) == 12, "access pattern is 12 bytes");

struct trn_instruction {
	__u8	opcode;			/* TRN_OP_* */
	__u8	flags;			/* TRN_FLAG_*, by opcode */
	__u8	acquire;		/* semaphore: wait until it is at least … */
	__u8	acquire_count;		/* … this, and subtract it; 0: do not wait */
	__u8	release;		/* semaphore: when the effects are visible, add … */
	__u8	release_count;		/* … this; 0: nothing */
	__u8	op[2];			/* TRN_ALU_*, TRN_FUNCTION_* and the like, by opcode */
	union {
		__u8	body[56];
		struct {		/* MOVE … BRANCH */
			__u8	destination;	/* registers */
			__u8	source[2];
			__u8	reserved0[5];
			__le64	immediate;	/* two's complement */
			__le32	target;		/* index of an instruction in the stream */
			__u8	reserved1[36];
		} control;
		struct {		/* of the vector, scalar and gpsimd engines */
			__u8	partitions;	/* 1 … 128 */
			__u8	reserved0;
			__le16	size[3];	/* elements of each partition, along i, j and k; not 0 */
			struct trn_access_pattern out;
			struct trn_access_pattern in[2];
			__le32	scalar[2];	/* fp32, or integers, by opcode */
			__u8	reserved1[4];
		} element;
		struct {		/* LOAD_STATIONARY, MATMUL, TRANSPOSE */
			__u8	rows;		/* partitions of the input, 1 … 128 */
			__u8	pack;		/* elements of one partition that are contracted: 1, 2, 4 */
			__le16	size[3];	/* columns, along i, j and k */
			struct trn_access_pattern out;
			struct trn_access_pattern in;
			struct trn_access_pattern scale;	/* MX types: e8m0 */
			__u8	reserved[12];
		} tensor;
		struct {		/* IOTA, MASK */
			__u8	partitions;
			__u8	reserved;
			__le16	size[3];
			struct trn_access_pattern out;
			struct trn_access_pattern in;	/* MASK */
			__le32	fill;		/* MASK: fp32 or int32 */
			__le32	base;
			__le32	step[4];	/* of partitions, along i, j and k; two's complement */
		} affine;
		struct {		/* DMA_LOAD, DMA_STORE, TIMESTAMP */
			__u8	partitions;
			__u8	ring;		/* 0 … 15 */
			__le16	size[3];
			struct trn_access_pattern local;
			__le32	stride[4];	/* bytes: of partitions, along i, j and k; two's complement */
			__u8	binding;	/* index in the table of EXEC */
			__u8	address_register;	/* added to offset */
			__u8	dtype;		/* in memory */
			__u8	reserved0;
			__le64	offset;		/* bytes from the binding's address */
			__u8	reserved1[8];
		} dma;
	};
};
_Static_assert(sizeof(struct trn_instruction) == 64, "instruction is 64 bytes");

/* Every engine */
#define TRN_OP_NOP			0x00
#define TRN_OP_HALT			0x01	/* the stream ends */
#define TRN_OP_MOVE			0x02	/* destination = source 0 + immediate */
#define TRN_OP_ADD			0x03	/* destination = source 0 + source 1 + immediate */
#define TRN_OP_MULTIPLY			0x04	/* destination = source 0 × immediate */
#define TRN_OP_BRANCH			0x05	/* to target if source 0 op[0] source 1 + immediate */
#define TRN_OP_DMA_LOAD			0x06	/* memory to SBUF or PSUM */
#define TRN_OP_DMA_STORE		0x07
/* Tensor engine */
#define TRN_OP_LOAD_STATIONARY		0x10
#define TRN_OP_MATMUL			0x11
#define TRN_OP_TRANSPOSE		0x12
/* Vector engine; the scalar and gpsimd engines have the first three too */
#define TRN_OP_COPY			0x20
#define TRN_OP_TENSOR_SCALAR		0x21
#define TRN_OP_TENSOR_TENSOR		0x22
#define TRN_OP_FILL			0x23
#define TRN_OP_REDUCE			0x24
#define TRN_OP_SELECT			0x25
#define TRN_OP_BN_STATS			0x26
#define TRN_OP_BN_AGGREGATE		0x27
/* Scalar engine */
#define TRN_OP_ACTIVATE			0x30
/* GpSimd engine */
#define TRN_OP_IOTA			0x40
#define TRN_OP_GATHER			0x41
#define TRN_OP_SCATTER			0x42
#define TRN_OP_PARTITION_SHUFFLE	0x43
#define TRN_OP_PARTITION_BROADCAST	0x44
#define TRN_OP_TOP_K			0x45
#define TRN_OP_MASK			0x46
/* Sync engine */
#define TRN_OP_TIMESTAMP		0x50

/* Flags */
#define TRN_FLAG_STOCHASTIC		0x01	/* what converts to a float: round stochastically */
#define TRN_FLAG_SCALAR_0		0x02	/* TENSOR_SCALAR, ACTIVATE: of each partition, */
#define TRN_FLAG_SCALAR_1		0x04	/* in in[1] */
#define TRN_FLAG_ACCUMULATE		0x08	/* MATMUL: add to what is in PSUM */
#define TRN_FLAG_AXIS_I			0x10	/* REDUCE */
#define TRN_FLAG_AXIS_J			0x20
#define TRN_FLAG_AXIS_K			0x40

/* op[] of TENSOR_SCALAR, TENSOR_TENSOR, REDUCE; the comparisons also of BRANCH */
#define TRN_ALU_BYPASS			0
#define TRN_ALU_ADD			1
#define TRN_ALU_SUBTRACT		2
#define TRN_ALU_MULTIPLY		3
#define TRN_ALU_DIVIDE			4
#define TRN_ALU_MAX			5
#define TRN_ALU_MIN			6
#define TRN_ALU_ABS_MAX			7
#define TRN_ALU_EQUAL			8
#define TRN_ALU_NOT_EQUAL		9
#define TRN_ALU_LESS			10
#define TRN_ALU_LESS_EQUAL		11
#define TRN_ALU_GREATER			12
#define TRN_ALU_GREATER_EQUAL		13
#define TRN_ALU_AND			14
#define TRN_ALU_OR			15
#define TRN_ALU_XOR			16
#define TRN_ALU_SHIFT_LEFT		17
#define TRN_ALU_SHIFT_RIGHT		18
#define TRN_ALU_REVERSE_SUBTRACT	19
#define TRN_ALU_REVERSE_DIVIDE		20

/* op[0] of ACTIVATE */
#define TRN_FUNCTION_IDENTITY		0
#define TRN_FUNCTION_RELU		1
#define TRN_FUNCTION_SQUARE		2
#define TRN_FUNCTION_SQRT		3
#define TRN_FUNCTION_RSQRT		4
#define TRN_FUNCTION_RECIPROCAL		5
#define TRN_FUNCTION_EXP		6
#define TRN_FUNCTION_LOG		7
#define TRN_FUNCTION_SIGMOID		8
#define TRN_FUNCTION_SILU		9
#define TRN_FUNCTION_TANH		10
#define TRN_FUNCTION_ERF		11
#define TRN_FUNCTION_GELU		12
#define TRN_FUNCTION_SOFTPLUS		13
#define TRN_FUNCTION_SIN		14

/* Program image: this header, at a VA that is a multiple of 64, and the streams. */
struct trn_program_header {
	__le32	magic;			/* TRN_PROGRAM_MAGIC */
#define TRN_PROGRAM_MAGIC		0x47505254	/* "TRPG", little-endian */
	__le32	version;		/* TRN_PROGRAM_VERSION */
#define TRN_PROGRAM_VERSION		1
	__le64	size;			/* bytes of the image, this included */
	__le32	instructions[TRN_ENGINES];	/* of each stream; the streams follow in this order */
	__u8	reserved[28];
};
_Static_assert(sizeof(struct trn_program_header) == 64, "program header is 64 bytes");

/* An entry of the table of bindings */
struct trn_binding {
	__le64	address;		/* VA */
	__le64	size;			/* bytes */
};
_Static_assert(sizeof(struct trn_binding) == 16, "binding is 16 bytes");
#define TRN_BINDINGS_MAX		256

/* What EXEC writes when the program has ended. */
struct trn_exec_result {
	__le64	begin_ns, end_ns;	/* device clock */
	__le64	cycles;			/* model clock: of the tensor engine's clock */
	__le64	picoseconds;		/* model clock */
	__le64	busy_cycles[TRN_ENGINES];	/* model clock: in cycles of each engine's own clock */
	__le64	dma_bytes;
	__le64	instructions;		/* executed, by all engines */
	__le64	profile_records;	/* that there were, with those that found no room */
	__le16	core;
	__u8	reserved[22];
};
_Static_assert(sizeof(struct trn_exec_result) == 120, "result is 120 bytes");

/* One instruction or transfer, in the profile. */
struct trn_profile_record {
	__le32	instruction;		/* index in its stream */
	__u8	engine;			/* whose instruction it was */
	__u8	opcode;
	__u8	ring;			/* of a DMA, or TRN_PROFILE_NO_RING */
#define TRN_PROFILE_NO_RING		0xff
	__u8	reserved;
	__le64	begin_ps, end_ps;	/* model clock */
	__le32	begin_ns, end_ns;	/* device clock, since begin_ns of the result */
};
_Static_assert(sizeof(struct trn_profile_record) == 32, "profile record is 32 bytes");

/* TRN_LOG_CORE: the program that a core runs, or ran last. */
struct trn_core_program {
	__u8	state;			/* TRN_CORE_STATE_* */
#define TRN_CORE_STATE_NEW		0	/* no program since it was reset; all is 0 */
#define TRN_CORE_STATE_RUNNING		1
#define TRN_CORE_STATE_ENDED		2
	__u8	reserved0;
	__le16	queue;			/* whose packet it is */
	__le16	asid;
	__u8	reserved1[2];
	__le32	packet;			/* free-running index in the queue */
	__u8	reserved2[52];
};
_Static_assert(sizeof(struct trn_core_program) == 64, "whose program it is takes 64 bytes");

struct trn_log_engine {
	__u8	state;			/* TRN_ENGINE_STATE_* */
#define TRN_ENGINE_STATE_HALTED		0
#define TRN_ENGINE_STATE_RUNNING	1
#define TRN_ENGINE_STATE_WAITING	2	/* for the semaphore of its next instruction */
	__u8	reserved[3];
	__le32	instruction;		/* index in its stream: being executed, or the next */
	__le64	issued;			/* instructions */
	__le64	reg[TRN_ISA_REGISTERS];
};
_Static_assert(sizeof(struct trn_log_engine) == 144, "engine log is 144 bytes");

struct trn_log_core {
	struct trn_core_program program;
	struct trn_log_engine engine[TRN_ENGINES];
	__le32	semaphore[TRN_ISA_SEMAPHORES];
	__u8	reserved[48];
};
_Static_assert(sizeof(struct trn_log_core) == 1856, "core log is 1856 bytes");

/* Exceptions: event and queue log of a queue that stopped with TRN_STOP_PROGRAM, or a fault. */
#define TRN_EXCEPTION_ILLEGAL_OPCODE	1
#define TRN_EXCEPTION_BAD_FIELD		2
#define TRN_EXCEPTION_BAD_DTYPE		3
#define TRN_EXCEPTION_OUT_OF_RANGE	4
#define TRN_EXCEPTION_UNALIGNED		5
#define TRN_EXCEPTION_BAD_BINDING	6
#define TRN_EXCEPTION_BAD_INDEX		7
#define TRN_EXCEPTION_BAD_TARGET	8
#define TRN_EXCEPTION_SEMAPHORE_OVERFLOW 9
#define TRN_EXCEPTION_NO_STATIONARY	10
#define TRN_EXCEPTION_DEADLOCK		11
#define TRN_EXCEPTION_PROGRAM		12
#define TRN_EXCEPTION_MEMORY		13

#endif /* _HW_TRN_ISA_H */
