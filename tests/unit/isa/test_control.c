// SPDX-License-Identifier: MIT
/* Registers, loops and branches; semaphores between engines */
#include "machine.h"
#include "suites.h"

static struct machine machine;

static void setup(void)
{
	machine_create(&machine, "trn2");
}

static void teardown(void)
{
	machine_destroy(&machine);
}

static struct trn_instruction control(uint8_t opcode, unsigned int destination, unsigned int a,
				      unsigned int b, uint64_t immediate)
{
	return (struct trn_instruction){
		.opcode = opcode,
		.control = { .destination = (uint8_t)destination,
			     .source = { (uint8_t)a, (uint8_t)b },
			     .immediate = htole64(immediate) },
	};
}

/* A number of 64 bits that wraps and compares at its edges */
static uint64_t edge(void)
{
	static const uint64_t edges[] = { 0,
					  1,
					  2,
					  7,
					  UINT64_MAX,
					  UINT64_MAX - 1,
					  INT64_MAX,
					  UINT64_C(1) << 63,
					  (UINT64_C(1) << 63) + 1,
					  UINT64_C(1) << 32,
					  UINT32_MAX };

	return machine_below(&machine, 3) ? edges[machine_below(&machine, COUNT(edges))]
					  : machine_random(&machine);
}

/*
 * What a register holds, told bit by bit: where the bit is set, an element is filled. Only what
 * is below is known here: comparisons, and MULTIPLY by 2 for the next bit.
 */
static void tell(unsigned int number, struct trn_access_pattern *out)
{
	struct shape one = { 1, { 1, 1, 1 } };

	machine_add(&machine, control(TRN_OP_MOVE, 15, number, 0, 0));
	for (unsigned int bit = 0; bit < 64; bit++) {
		struct trn_instruction fill = machine_element(TRN_OP_FILL, one);
		struct trn_instruction branch = control(TRN_OP_BRANCH, 0, 15, 0, 0);

		branch.op[0] = TRN_ALU_GREATER_EQUAL;
		branch.control.target = htole32(machine.program.length[machine.engine] + 2);
		machine_add(&machine, branch);
		fill.element.out = *out;
		fill.element.scalar[0] = htole32(bit + 1);
		out->place = htole32(le32toh(out->place) + 1);
		machine_add(&machine, fill);
		machine_add(&machine, control(TRN_OP_MULTIPLY, 15, 15, 0, 2));
	}
}

static const uint8_t arithmetic[] = { TRN_OP_MOVE, TRN_OP_ADD, TRN_OP_MULTIPLY };

START_TEST(registers)
{
	static const unsigned int engines[] = { TRN_ENGINE_VECTOR, TRN_ENGINE_SCALAR,
						TRN_ENGINE_GPSIMD };

	for (unsigned int round = 0; round < 40; round++) {
		struct trn_access_pattern out;

		machine_begin(&machine, engines[round % 3]);
		out = machine_rows(machine_slot(&machine, 0), 5, TRN_DTYPE_INT8,
				   (struct shape){ 1, { 1, 1, 1 } });
		machine_add(&machine, control(TRN_OP_MOVE, 1, 0, 0, edge()));
		machine_add(&machine, control(TRN_OP_MOVE, 2, 0, 0, edge()));
		for (unsigned int n = 0; n < 20; n++) {
			uint8_t opcode = arithmetic[machine_below(&machine, COUNT(arithmetic))];
			unsigned int a = machine_below(&machine, 6), b = machine_below(&machine, 6);

			machine_add(&machine, control(opcode, 1 + machine_below(&machine, 5), a,
						      opcode == TRN_OP_ADD ? b : 0, edge()));
		}
		tell(1 + machine_below(&machine, 5), &out);
		machine_run(&machine);
	}
}
END_TEST

/* _i is the comparison: of all pairs of edges; a fill is skipped if it holds. */
START_TEST(branches)
{
	for (unsigned int round = 0; round < 8; round++) {
		struct trn_access_pattern out;

		machine_begin(&machine, TRN_ENGINE_VECTOR);
		out = machine_rows(machine_slot(&machine, 0), 5, TRN_DTYPE_INT8,
				   (struct shape){ 1, { 1, 1, 1 } });
		for (unsigned int n = 0; n < 40; n++) {
			struct trn_instruction branch, fill;

			machine_add(&machine, control(TRN_OP_MOVE, 1, 0, 0, edge()));
			machine_add(&machine, control(TRN_OP_MOVE, 2, 0, 0, edge()));
			branch = control(TRN_OP_BRANCH, 0, machine_below(&machine, 3),
					 machine_below(&machine, 3), n % 3 ? 0 : edge());
			branch.op[0] = (uint8_t)_i;
			branch.control.target = htole32(machine.program.length[machine.engine] + 2);
			machine_add(&machine, branch);
			fill = machine_element(TRN_OP_FILL, (struct shape){ 1, { 1, 1, 1 } });
			fill.element.out = out;
			fill.element.scalar[0] = htole32(n + 1);
			out.place = htole32(le32toh(out.place) + 1);
			machine_add(&machine, fill);
		}
		machine_run(&machine);
	}
}
END_TEST

/* Two loops, one in the other, over a tile by register offset; n of stochastic rounding counts
 * what is issued, not where.
 */
START_TEST(loops)
{
	struct shape shape = { 8, { 16, 1, 1 } };
	struct trn_instruction copy = machine_element(TRN_OP_COPY, shape), branch;
	uint32_t outer, inner;

	machine_begin(&machine, TRN_ENGINE_VECTOR);
	copy.flags = TRN_FLAG_STOCHASTIC;
	copy.element.in[0] = machine_rows(machine_slot(&machine, 0), 0, TRN_DTYPE_FP32, shape);
	copy.element.out = machine_rows(machine_slot(&machine, 4), 0, TRN_DTYPE_FP8_E4M3, shape);
	machine_fill(&machine, &copy.element.in[0], (struct shape){ 8, { 100, 1, 1 } },
		     number_moderate);
	copy.element.in[0].place =
		htole32(le32toh(copy.element.in[0].place) | 1U << TRN_PLACE_REGISTER_SHIFT);
	copy.element.out.place =
		htole32(le32toh(copy.element.out.place) | 2U << TRN_PLACE_REGISTER_SHIFT);
	outer = machine.program.length[machine.engine];
	machine_add(&machine, control(TRN_OP_MOVE, 1, 0, 0, 0));
	inner = machine.program.length[machine.engine];
	machine_add(&machine, copy);
	machine_add(&machine, control(TRN_OP_MOVE, 1, 1, 0, 64));
	machine_add(&machine, control(TRN_OP_ADD, 2, 2, 0, 16));
	branch = control(TRN_OP_BRANCH, 0, 1, 0, 256);
	branch.op[0] = TRN_ALU_LESS;
	branch.control.target = htole32(inner);
	machine_add(&machine, branch);
	branch = control(TRN_OP_BRANCH, 0, 2, 0, 256);
	branch.op[0] = TRN_ALU_NOT_EQUAL;
	branch.control.target = htole32(outer);
	machine_add(&machine, branch);
	machine_run(&machine);
	ck_assert_uint_eq(le64toh(machine.program.result->instructions),
			  3 + 4 * (1 + 4 * 4 + 1) + 3);
}
END_TEST

static struct trn_instruction nop(void)
{
	return (struct trn_instruction){ .opcode = TRN_OP_NOP };
}

/*
 * A value goes round all engines but the tensor engine: each waits, adds 1, and releases to the
 * next. Without the order that semaphores make, the sum would be another.
 */
START_TEST(semaphores_order_engines)
{
	static const unsigned int engines[] = { TRN_ENGINE_VECTOR, TRN_ENGINE_SCALAR,
						TRN_ENGINE_GPSIMD };
	struct program *program = &machine.program;
	struct trn_access_pattern cell = program_tile(0, 0, TRN_DTYPE_INT32, 1, 1);

	program_clear(program);
	for (unsigned int round = 0; round < 60; round++)
		for (unsigned int n = 0; n < COUNT(engines); n++) {
			struct trn_instruction work =
				program_element(TRN_OP_TENSOR_SCALAR, 1, 1, cell, cell);

			work.op[0] = n == 2 ? TRN_ALU_ADD : TRN_ALU_MULTIPLY;
			work.op[1] = TRN_ALU_XOR;
			work.element.scalar[0] = htole32(n == 2 ? 1 : 3 - n * 4);
			work.element.scalar[1] = htole32(round & 1);
			if (round || n)
				program_acquire(&work, (uint8_t)(20 + n), 2);
			program_release(&work, (uint8_t)(20 + (n + 1) % COUNT(engines)), 2);
			program_add(program, engines[n], work);
		}
	program_acquire(program_add(program, TRN_ENGINE_SYNC, nop()), 20, 2);
	program_add(program, TRN_ENGINE_SYNC,
		    program_transfer(TRN_OP_DMA_STORE, 1, 1, cell, MEMORY_BEGIN));
	program_runs(program);
	{
		int64_t value = 0;
		int32_t result;

		for (unsigned int round = 0; round < 60; round++)
			for (unsigned int n = 0; n < COUNT(engines); n++) {
				value = n == 2 ? value + 1 : value * (n ? -1 : 3);
				value = value > INT32_MAX   ? INT32_MAX
					: value < INT32_MIN ? INT32_MIN
							    : value;
				value ^= round & 1;
			}
		memcpy(&result, program->data + MEMORY_BEGIN, sizeof(result));
		ck_assert_int_eq(result, value);
	}
}
END_TEST

/* The barrier of the specification: all five engines, and what each stored before it is there. */
START_TEST(barrier)
{
	struct program *program = &machine.program;

	program_clear(program);
	for (unsigned int engine = 0; engine < TRN_ENGINES; engine++) {
		struct trn_instruction arrive = nop(), leave = nop();

		program_release(&arrive, 30, 1);
		program_add(program, engine, arrive);
		program_acquire(&leave, (uint8_t)(31 + engine), 1);
		if (engine != TRN_ENGINE_SYNC)
			program_add(program, engine, leave);
	}
	for (unsigned int engine = 0; engine < TRN_ENGINES - 1; engine++) {
		struct trn_instruction let = nop();

		if (!engine)
			program_acquire(&let, 30, TRN_ENGINES);
		program_release(&let, (uint8_t)(31 + engine), 1);
		program_add(program, TRN_ENGINE_SYNC, let);
	}
	program_runs(program);
	ck_assert_uint_eq(le64toh(program->result->instructions), 5 + 4 + 4 + 5);
}
END_TEST

/* Semaphores are 0 at the beginning of every program: the second would go on with what is left. */
START_TEST(semaphores_begin_at_0)
{
	struct program *program = &machine.program;
	struct trn_instruction work = nop();

	program_clear(program);
	program_release(&work, 200, 255);
	program_add(program, TRN_ENGINE_TENSOR, work);
	program_runs(program);
	program_clear(program);
	work = nop();
	program_acquire(&work, 200, 1);
	program_add(program, TRN_ENGINE_TENSOR, work);
	program_fails(program, TRN_EXCEPTION_DEADLOCK, TRN_ENGINE_TENSOR, 0);
}
END_TEST

/* By 255 at a time, 64 times in each turn of a loop: TRN_SEMAPHORE_MAX = 255 × 64 × 131586 + 127 */
START_TEST(semaphore_overflows)
{
	struct program *program = &machine.program;
	struct trn_instruction work = nop(), branch = control(TRN_OP_BRANCH, 0, 1, 0, 131586);

	program_clear(program);
	program_release(&work, 255, 255);
	for (unsigned int n = 0; n < 64; n++)
		program_add(program, TRN_ENGINE_SYNC, work);
	program_add(program, TRN_ENGINE_SYNC, control(TRN_OP_MOVE, 1, 1, 0, 1));
	branch.op[0] = TRN_ALU_LESS;
	program_add(program, TRN_ENGINE_SYNC, branch);
	program_release(&work, 255, 127);
	program_add(program, TRN_ENGINE_SYNC, work);
	program_release(&work, 255, 1);
	program_add(program, TRN_ENGINE_SYNC, work);
	program_fails(program, TRN_EXCEPTION_SEMAPHORE_OVERFLOW, TRN_ENGINE_SYNC, 67);
}
END_TEST

Suite *control_suite(void)
{
	Suite *suite = suite_create("control");
	TCase *tcase = tcase_create("control");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, registers);
	tcase_add_loop_test(tcase, branches, TRN_ALU_EQUAL, TRN_ALU_GREATER_EQUAL + 1);
	tcase_add_test(tcase, loops);
	tcase_add_test(tcase, semaphores_order_engines);
	tcase_add_test(tcase, barrier);
	tcase_add_test(tcase, semaphores_begin_at_0);
	tcase_add_test(tcase, semaphore_overflows);
	suite_add_tcase(suite, tcase);
	return suite;
}
