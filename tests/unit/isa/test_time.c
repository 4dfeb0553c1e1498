// SPDX-License-Identifier: MIT
/* What instructions cost on the model clock, and TIMESTAMP */
#include "opcodes.h"
#include "suites.h"
#include "tests/unit/model/numerics.h"
#include "tests/unit/model/program.h"

#define CONTROL	    4
#define INSTRUCTION 16
#define COLUMNS	    5

static struct rig rig;
static struct program program;

static void setup(void)
{
	rig_create(&rig, "trn2", 0, 0);
	rig_enable(&rig, 16);
	program_create(&program, &rig, 1);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static unsigned int cost(const struct opcode *opcode, unsigned int elements)
{
	switch (opcode->number) {
	case TRN_OP_DMA_LOAD:
	case TRN_OP_DMA_STORE:
	case TRN_OP_TIMESTAMP:
		return INSTRUCTION;
	case TRN_OP_LOAD_STATIONARY:
		return INSTRUCTION + 64 / 2;
	case TRN_OP_MATMUL:
	case TRN_OP_TRANSPOSE:
		return INSTRUCTION + 4 * elements; /* FP32 */
	case TRN_OP_GATHER:
	case TRN_OP_SCATTER:
	case TRN_OP_TOP_K:
		return INSTRUCTION + 4 * elements;
	}
	return opcode->kind == KIND_CONTROL ? CONTROL : INSTRUCTION + elements;
}

/* _i is the opcode; 64 rows or partitions, 5 columns or elements */
START_TEST(busy)
{
	const struct opcode *opcode = &opcodes[_i];
	unsigned int engine = (unsigned int)__builtin_ctz(opcode->engines), elements = COLUMNS;
	struct trn_instruction work = opcode_instruction(opcode);
	unsigned int before = 0;

	if (opcode->kind != KIND_CONTROL && opcode->number != TRN_OP_TIMESTAMP) {
		work.element.partitions = 64;
		work.element.size[0] = htole16(COLUMNS);
	}
	if (opcode->number == TRN_OP_BN_AGGREGATE)
		elements *= 3;
	if (opcode->number == TRN_OP_MATMUL) {
		struct trn_instruction load =
			opcode_instruction(opcode_find(TRN_OP_LOAD_STATIONARY));

		load.tensor.rows = 64;
		program_add(&program, engine, load);
		before = INSTRUCTION + 64 / 2;
	}
	program_add(&program, engine, work);
	program_runs(&program);
	for (unsigned int other = 0; other < TRN_ENGINES; other++)
		ck_assert_uint_eq(le64toh(program.result->busy_cycles[other]),
				  other != engine ? 0
				  : opcode->number == TRN_OP_HALT
					  ? CONTROL
					  : before + cost(opcode, elements) + CONTROL);
}
END_TEST

/* Columns of other types than FP32 take one cycle each. */
START_TEST(narrow_columns)
{
	struct trn_instruction load = opcode_instruction(opcode_find(TRN_OP_LOAD_STATIONARY));
	struct trn_instruction matmul = opcode_instruction(opcode_find(TRN_OP_MATMUL));

	load.tensor.in.dtype = matmul.tensor.in.dtype = TRN_DTYPE_BF16;
	load.tensor.rows = matmul.tensor.rows = 128;
	matmul.tensor.size[0] = htole16(512);
	program_add(&program, TRN_ENGINE_TENSOR, load);
	program_add(&program, TRN_ENGINE_TENSOR, matmul);
	program_runs(&program);
	ck_assert_uint_eq(le64toh(program.result->busy_cycles[TRN_ENGINE_TENSOR]),
			  INSTRUCTION + 64 + INSTRUCTION + 512 + CONTROL);
}
END_TEST

/* Two timestamps with three NOPs between them; the device clock of both is within the program. */
START_TEST(timestamps)
{
	struct trn_instruction stamp = opcode_instruction(opcode_find(TRN_OP_TIMESTAMP));
	uint64_t stamps[5];

	memset(program.data, 0xee, sizeof(stamps));
	program_add(&program, TRN_ENGINE_SYNC, stamp);
	for (int n = 0; n < 3; n++)
		program_add(&program, TRN_ENGINE_SYNC,
			    (struct trn_instruction){ .opcode = TRN_OP_NOP });
	program_add(&program, TRN_ENGINE_SYNC,
		    (struct trn_instruction){
			    .opcode = TRN_OP_MOVE,
			    .control = { .destination = 4, .immediate = htole64(24) } });
	stamp.dma.address_register = 4;
	stamp.dma.offset = htole64((uint64_t)-8);
	program_add(&program, TRN_ENGINE_SYNC, stamp);
	program_runs(&program);
	memcpy(stamps, program.data, sizeof(stamps));
	ck_assert_uint_ge(stamps[0], le64toh(program.result->begin_ns));
	ck_assert_uint_ge(stamps[2], stamps[0]);
	ck_assert_uint_le(stamps[2], le64toh(program.result->end_ns));
	/* The sync engine's clock is half of the reference clock; times are rounded down. */
	ck_assert_uint_le(stamps[3] - stamps[1], 2 * (INSTRUCTION + 4 * CONTROL));
	ck_assert_uint_ge(stamps[3] - stamps[1], 2 * (INSTRUCTION + 4 * CONTROL) - 1);
	ck_assert_uint_eq(stamps[4], 0xeeeeeeeeeeeeeeeeULL);
}
END_TEST

/* A program's model time: a DMA begins 1.3 µs after its instruction, and HALT waits for it. */
START_TEST(transfer_time)
{
	struct trn_instruction load = opcode_instruction(opcode_find(TRN_OP_DMA_LOAD));
	uint64_t one, two;

	program_add(&program, TRN_ENGINE_SYNC, load);
	program_runs(&program);
	one = le64toh(program.result->picoseconds);
	ck_assert_uint_gt(one, 1300000);
	ck_assert_uint_lt(one, 1500000);
	ck_assert_uint_eq(le64toh(program.result->dma_bytes), 4);

	/* Another ring's is at the same time, but for the instruction; the same ring's is after it.
	 */
	load.dma.ring = 1;
	program.length[TRN_ENGINE_SYNC]--; /* HALT */
	program_add(&program, TRN_ENGINE_SYNC, load);
	program_runs(&program);
	two = le64toh(program.result->picoseconds);
	/* 16 cycles of 1.2 GHz */
	ck_assert_uint_ge(two, one + 13333);
	ck_assert_uint_le(two, one + 13335);
}
END_TEST

/* The same program takes the same time on every run; profile and host do not matter. */
START_TEST(model_time_is_deterministic)
{
	uint64_t first;

	for (unsigned int n = 0; n < OPCODES; n++) {
		const struct opcode *opcode = &opcodes[n];

		if (opcode->engines >> TRN_ENGINE_VECTOR & 1 && opcode->number != TRN_OP_HALT)
			program_add(&program, TRN_ENGINE_VECTOR, opcode_instruction(opcode));
	}
	program_runs(&program);
	first = le64toh(program.result->picoseconds);
	program.length[TRN_ENGINE_VECTOR]--; /* HALT */
	program_runs(&program);
	ck_assert_uint_eq(le64toh(program.result->picoseconds), first);
}
END_TEST

Suite *time_suite(void)
{
	Suite *suite = suite_create("time");
	TCase *tcase = tcase_create("time");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, busy, 0, OPCODES);
	tcase_add_test(tcase, narrow_columns);
	tcase_add_test(tcase, timestamps);
	tcase_add_test(tcase, transfer_time);
	tcase_add_test(tcase, model_time_is_deterministic);
	suite_add_tcase(suite, tcase);
	return suite;
}
