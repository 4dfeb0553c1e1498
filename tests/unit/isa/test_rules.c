// SPDX-License-Identifier: MIT
/* Exceptions that depend on more than one instruction's fields: on data, bindings, other
 * instructions */
#include "opcodes.h"
#include "suites.h"
#include "tests/unit/model/numerics.h"
#include "verdict.h"

static struct rig rig;
static struct program program;

static void setup(void)
{
	rig_create(&rig, "trn3", 0, 0);
	rig_enable(&rig, 16);
	program_create(&program, &rig, 1);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static struct trn_instruction right(uint8_t opcode)
{
	return opcode_instruction(opcode_find(opcode));
}

static void expect(const struct trn_instruction *instruction, uint8_t exception, const char *what)
{
	const struct opcode *opcode = opcode_find(instruction->opcode);

	verdict_expect(&program, (unsigned int)__builtin_ctz(opcode->engines), instruction,
		       exception, what, 0);
}

/* Loaded is one term and one column, of the type of MATMUL's input. */
START_TEST(no_stationary)
{
	struct trn_instruction matmul = right(TRN_OP_MATMUL);

	expect(&matmul, 0, "fits");
	matmul.tensor.rows = 2;
	expect(&matmul, TRN_EXCEPTION_NO_STATIONARY, "rows");
	matmul = right(TRN_OP_MATMUL);
	matmul.tensor.in.dtype = TRN_DTYPE_FP8_E4M3;
	matmul.tensor.pack = 2;
	expect(&matmul, TRN_EXCEPTION_NO_STATIONARY, "pack");

	program_clear(&program);
	program_add(&program, TRN_ENGINE_TENSOR, right(TRN_OP_LOAD_STATIONARY));
	matmul = right(TRN_OP_MATMUL);
	matmul.tensor.in.dtype = TRN_DTYPE_BF16;
	program_add(&program, TRN_ENGINE_TENSOR, matmul);
	program_fails(&program, TRN_EXCEPTION_NO_STATIONARY, TRN_ENGINE_TENSOR, 1);
}
END_TEST

START_TEST(transpose_loses_it)
{
	program_add(&program, TRN_ENGINE_TENSOR, right(TRN_OP_LOAD_STATIONARY));
	program_add(&program, TRN_ENGINE_TENSOR, right(TRN_OP_TRANSPOSE));
	program_add(&program, TRN_ENGINE_TENSOR, right(TRN_OP_MATMUL));
	program_fails(&program, TRN_EXCEPTION_NO_STATIONARY, TRN_ENGINE_TENSOR, 2);
}
END_TEST

/* What one program loaded, the next does not have. */
START_TEST(programs_begin_without)
{
	program_add(&program, TRN_ENGINE_TENSOR, right(TRN_OP_LOAD_STATIONARY));
	program_runs(&program);
	program_clear(&program);
	program_add(&program, TRN_ENGINE_TENSOR, right(TRN_OP_MATMUL));
	program_fails(&program, TRN_EXCEPTION_NO_STATIONARY, TRN_ENGINE_TENSOR, 0);
}
END_TEST

START_TEST(columns)
{
	struct trn_instruction load = right(TRN_OP_LOAD_STATIONARY);
	struct trn_instruction matmul = right(TRN_OP_MATMUL);
	struct trn_instruction transpose = right(TRN_OP_TRANSPOSE);

	load.tensor.size[1] = htole16(TRN_STATIONARY_COLUMNS);
	expect(&load, 0, "most columns");
	load.tensor.size[1] = htole16(TRN_STATIONARY_COLUMNS + 1);
	expect(&load, TRN_EXCEPTION_BAD_FIELD, "too many columns");
	matmul.tensor.size[2] = htole16(TRN_MOVING_COLUMNS);
	expect(&matmul, 0, "most columns");
	matmul.tensor.size[2] = htole16(TRN_MOVING_COLUMNS + 1);
	expect(&matmul, TRN_EXCEPTION_BAD_FIELD, "too many columns");
	transpose.tensor.size[0] = htole16(TRN_PARTITIONS);
	expect(&transpose, 0, "most columns");
	transpose.tensor.size[0] = htole16(TRN_PARTITIONS + 1);
	expect(&transpose, TRN_EXCEPTION_BAD_FIELD, "too many columns");
}
END_TEST

/* "out must not leave one bank of PSUM": up, down, and by the last column alone */
START_TEST(bank)
{
	struct trn_instruction matmul = right(TRN_OP_MATMUL);

	matmul.tensor.size[0] = htole16(2);
	matmul.tensor.out.step[0] = htole16(1);
	matmul.tensor.out.place = htole32(TRN_PLACE_PSUM + 3 * TRN_PSUM_BANK_SIZE - 8);
	expect(&matmul, 0, "end of a bank");
	matmul.tensor.out.place = htole32(TRN_PLACE_PSUM + 3 * TRN_PSUM_BANK_SIZE - 4);
	expect(&matmul, TRN_EXCEPTION_OUT_OF_RANGE, "over the end");
	matmul.tensor.out.step[0] = htole16((uint16_t)-1);
	expect(&matmul, 0, "down in a bank");
	matmul.tensor.out.place = htole32(TRN_PLACE_PSUM + 3 * TRN_PSUM_BANK_SIZE);
	expect(&matmul, TRN_EXCEPTION_OUT_OF_RANGE, "down out of a bank");
}
END_TEST

/* out's partitions are columns of the stationary. */
START_TEST(columns_are_partitions)
{
	struct trn_instruction load = right(TRN_OP_LOAD_STATIONARY);
	struct trn_instruction matmul = right(TRN_OP_MATMUL);

	load.tensor.size[0] = htole16(2);
	matmul.tensor.out.partition = 126;
	program_add(&program, TRN_ENGINE_TENSOR, load);
	program_add(&program, TRN_ENGINE_TENSOR, matmul);
	matmul.tensor.out.partition = 127;
	program_add(&program, TRN_ENGINE_TENSOR, matmul);
	program_fails(&program, TRN_EXCEPTION_OUT_OF_RANGE, TRN_ENGINE_TENSOR, 2);
}
END_TEST

static const uint8_t indexed[] = { TRN_OP_GATHER, TRN_OP_SCATTER, TRN_OP_PARTITION_SHUFFLE };

/* An index of value, of a type, that is read as data: limit is scalar[0]. */
static void expect_index(uint8_t opcode, unsigned int dtype, int32_t value, unsigned int limit,
			 uint8_t exception)
{
	struct trn_instruction fill = right(TRN_OP_FILL), move = right(opcode);

	move.element.in[1].dtype = (uint8_t)dtype;
	move.element.scalar[0] = htole32(limit);
	fill.element.out = move.element.in[1];
	fill.element.scalar[0] = htole32((uint32_t)value);
	program_clear(&program);
	program_add(&program, TRN_ENGINE_GPSIMD, fill);
	program_runs(&program);
	expect(&move, exception, "index");
}

START_TEST(indices)
{
	static const unsigned int types[] = { TRN_DTYPE_INT16, TRN_DTYPE_INT32 };

	for (unsigned int n = 0; n < COUNT(types); n++) {
		expect_index(indexed[_i], types[n], 0, 1, 0);
		expect_index(indexed[_i], types[n], 99, 100, 0);
		expect_index(indexed[_i], types[n], 100, 100, TRN_EXCEPTION_BAD_INDEX);
		expect_index(indexed[_i], types[n], -1, 100, TRN_EXCEPTION_BAD_INDEX);
		expect_index(indexed[_i], types[n], -32768, 100, TRN_EXCEPTION_BAD_INDEX);
	}
	expect_index(indexed[_i], TRN_DTYPE_INT32, INT32_MAX, 100, TRN_EXCEPTION_BAD_INDEX);
	expect_index(indexed[_i], TRN_DTYPE_INT32, INT32_MIN, 100, TRN_EXCEPTION_BAD_INDEX);
}
END_TEST

/* Everything an index could reach is within the partition, and within the partitions. */
START_TEST(reach)
{
	struct trn_instruction gather = right(TRN_OP_GATHER), top = right(TRN_OP_TOP_K);
	struct trn_instruction shuffle = right(TRN_OP_PARTITION_SHUFFLE);
	uint32_t size = rig_read32(&rig, TRN_REG_CAP_SBUF_SIZE) / TRN_PARTITIONS;

	gather.element.in[0].place = htole32(size - 40);
	gather.element.in[0].step[0] = htole16(1);
	gather.element.scalar[0] = htole32(10);
	expect(&gather, 0, "all of it");
	gather.element.scalar[0] = htole32(11);
	expect(&gather, TRN_EXCEPTION_OUT_OF_RANGE, "one too many");
	shuffle.element.in[0].partition = 100;
	shuffle.element.scalar[0] = htole32(28);
	expect(&shuffle, 0, "all partitions");
	shuffle.element.scalar[0] = htole32(29);
	expect(&shuffle, TRN_EXCEPTION_OUT_OF_RANGE, "one partition too many");
	top.element.scalar[0] = 0;
	expect(&top, TRN_EXCEPTION_BAD_FIELD, "none of one");
	top.element.scalar[0] = htole32(2);
	expect(&top, TRN_EXCEPTION_BAD_FIELD, "two of one");
}
END_TEST

/* Of a transfer of 3 FP32, 10 bytes apart, and a timestamp */
START_TEST(bindings)
{
	struct trn_instruction load = right(TRN_OP_DMA_LOAD), stamp = right(TRN_OP_TIMESTAMP);

	load.dma.size[1] = htole16(3);
	load.dma.stride[2] = htole32(10);
	load.dma.offset = htole64(PROGRAM_DATA_SIZE - 24);
	expect(&load, 0, "end of the binding");
	load.dma.offset = htole64(PROGRAM_DATA_SIZE - 23);
	expect(&load, TRN_EXCEPTION_BAD_BINDING, "one byte over");
	load.dma.offset = htole64(UINT64_MAX);
	expect(&load, TRN_EXCEPTION_BAD_BINDING, "before the beginning");
	load.dma.stride[2] = htole32((uint32_t)-10);
	load.dma.offset = htole64(20);
	expect(&load, 0, "down to the beginning");
	load.dma.offset = htole64(19);
	expect(&load, TRN_EXCEPTION_BAD_BINDING, "down below the beginning");
	load.dma.offset = htole64(PROGRAM_DATA_SIZE - 4);
	expect(&load, 0, "down from the end");
	load.dma.binding = 1;
	expect(&load, TRN_EXCEPTION_BAD_BINDING, "no binding");
	load = right(TRN_OP_DMA_LOAD);
	load.dma.partitions = 3;
	load.dma.stride[0] = htole32(INT32_MAX);
	expect(&load, TRN_EXCEPTION_BAD_BINDING, "far partitions");
	load.dma.stride[0] = htole32(1U << 31);
	expect(&load, TRN_EXCEPTION_BAD_BINDING, "far partitions before");
	stamp.dma.offset = htole64(PROGRAM_DATA_SIZE - 16);
	expect(&stamp, 0, "end of the binding");
	stamp.dma.offset = htole64(PROGRAM_DATA_SIZE - 15);
	expect(&stamp, TRN_EXCEPTION_BAD_BINDING, "one byte over");
	stamp.dma.binding = 255;
	expect(&stamp, TRN_EXCEPTION_BAD_BINDING, "no binding");
}
END_TEST

/* A stream that goes on where it has nothing: by a branch, and without HALT */
START_TEST(targets)
{
	struct trn_instruction branch = right(TRN_OP_BRANCH);
	static const uint32_t beyond[] = { 3, 1000, INT32_MAX, UINT32_MAX };

	branch.op[0] = TRN_ALU_EQUAL;
	program_add(&program, TRN_ENGINE_SCALAR, right(TRN_OP_NOP));
	program_add(&program, TRN_ENGINE_SCALAR, branch);
	/* HALT follows: the stream has instructions 0, 1, 2. */
	program.stream[TRN_ENGINE_SCALAR][1].control.target = htole32(beyond[_i]);
	program_fails(&program, TRN_EXCEPTION_BAD_TARGET, TRN_ENGINE_SCALAR, beyond[_i]);
}
END_TEST

/* Several engines wait in a circle, and one has halted. */
START_TEST(deadlock_of_engines)
{
	struct trn_instruction wait = right(TRN_OP_NOP);

	for (unsigned int engine = TRN_ENGINE_VECTOR; engine < TRN_ENGINE_SYNC; engine++) {
		program_acquire(&wait, (uint8_t)engine, 1);
		program_release(&wait, (uint8_t)(engine % 3 + 1), 1);
		program_add(&program, engine, wait);
	}
	program_add(&program, TRN_ENGINE_SYNC, right(TRN_OP_NOP));
	program_fails(&program, TRN_EXCEPTION_DEADLOCK, TRN_ENGINE_VECTOR, 0);
}
END_TEST

/* A transfer under way is no deadlock: it changes a semaphore when it ends. */
START_TEST(transfer_is_no_deadlock)
{
	struct trn_instruction load = right(TRN_OP_DMA_LOAD), wait = right(TRN_OP_NOP);

	program_release(&load, 8, 3);
	program_add(&program, TRN_ENGINE_GPSIMD, load);
	program_acquire(&wait, 8, 1);
	for (unsigned int engine = 0; engine < 3; engine++)
		program_add(&program, engine, wait);
	program_runs(&program);
}
END_TEST

Suite *rules_suite(void)
{
	Suite *suite = suite_create("rules");
	TCase *tcase = tcase_create("rules");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, no_stationary);
	tcase_add_test(tcase, transpose_loses_it);
	tcase_add_test(tcase, programs_begin_without);
	tcase_add_test(tcase, columns);
	tcase_add_test(tcase, bank);
	tcase_add_test(tcase, columns_are_partitions);
	tcase_add_loop_test(tcase, indices, 0, COUNT(indexed));
	tcase_add_test(tcase, reach);
	tcase_add_test(tcase, bindings);
	tcase_add_loop_test(tcase, targets, 0, 4);
	tcase_add_test(tcase, deadlock_of_engines);
	tcase_add_test(tcase, transfer_is_no_deadlock);
	suite_add_tcase(suite, tcase);
	return suite;
}
