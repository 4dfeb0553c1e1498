// SPDX-License-Identifier: MIT
/* COPY and FILL: every conversion of edges, rounded to nearest and stochastically, at any steps. */
#include "machine.h"
#include "suites.h"

static struct machine machine;

static void setup(void)
{
	machine_create(&machine, "trn4");
}

static void teardown(void)
{
	machine_destroy(&machine);
}

static const unsigned int engines[] = { TRN_ENGINE_VECTOR, TRN_ENGINE_SCALAR, TRN_ENGINE_GPSIMD };

static bool exists(unsigned int dtype)
{
	return dtype != TRN_DTYPE_MXFP8;
}

/* _i is the type of the input. */
START_TEST(edges)
{
	struct shape shape = { TRN_PARTITIONS, { 64, 1, 1 } };

	if (!exists(_i))
		return;
	for (unsigned int round = 0; round < 3; round++) {
		struct trn_access_pattern in;

		machine_begin(&machine, engines[round]);
		in = machine_rows(machine_slot(&machine, 0), 0, _i, shape);
		machine_fill(&machine, &in, shape, number_edge);
		for (unsigned int to = 0; to < DTYPES; to++) {
			struct trn_instruction copy = machine_element(TRN_OP_COPY, shape);

			if (!exists(to))
				continue;
			copy.flags = round ? TRN_FLAG_STOCHASTIC : 0;
			copy.element.in[0] = in;
			copy.element.out = machine_rows(machine_slot(&machine, 4) + 256 * (to % 8),
							0, to, shape);
			if (to >= 8)
				copy.element.out.place = htole32(machine_slot(&machine, 1));
			machine_add(&machine, copy);
		}
		machine_run(&machine);
	}
}
END_TEST

/* Random shapes and steps, offsets by registers, outputs whose elements share places */
START_TEST(patterns)
{
	for (unsigned int round = 0; round < 120; round++) {
		struct trn_instruction copy;

		machine_begin(&machine, engines[round % 3]);
		for (unsigned int n = 0; n < 4; n++) {
			struct shape shape = machine_shape(&machine, TRN_PARTITIONS, 64);
			unsigned int room = TRN_PARTITIONS - shape.partitions + 1;
			unsigned int from, to;

			do {
				from = machine_below(&machine, DTYPES);
				to = machine_below(&machine, DTYPES);
			} while (!exists(from) || !exists(to));
			if (from == TRN_DTYPE_FP4 || to == TRN_DTYPE_FP4)
				shape.size[0] += shape.size[0] % 2;
			copy = machine_element(TRN_OP_COPY, shape);
			copy.element.in[0] = machine_scattered(&machine, n, 0, from, shape);
			copy.element.in[0].partition = (uint8_t)machine_below(&machine, room);
			copy.element.out = machine_scattered(&machine, 7 - n, 0, to, shape);
			copy.element.out.partition = (uint8_t)machine_below(&machine, room);
			for (unsigned int axis = 0; axis < 3; axis++) {
				if (machine_below(&machine, 8) == 0)
					copy.element.out.step[axis] = 0;
				if (machine_below(&machine, 8) == 0)
					copy.element.in[0].step[axis] = 0;
			}
			if (machine_below(&machine, 2))
				machine_by_register(&machine, &copy.element.in[0], 1 + n);
			if (machine_below(&machine, 2))
				machine_by_register(&machine, &copy.element.out, 15 - n);
			machine_add(&machine, copy);
		}
		machine_run(&machine);
	}
}
END_TEST

START_TEST(fill)
{
	static const struct shape shape = { TRN_PARTITIONS, { 2, 1, 1 } };

	for (unsigned int to = 0; to < TRN_DTYPE_MXFP8; to++) {
		machine_begin(&machine, engines[to % 3]);
		for (unsigned int n = 0; n < 120; n++) {
			struct trn_instruction fill = machine_element(TRN_OP_FILL, shape);
			unsigned int dtype =
				number_is_integer(to) ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32;

			fill.flags = n % 2 ? TRN_FLAG_STOCHASTIC : 0;
			fill.element.scalar[0] =
				htole32(number_edge(dtype, machine_random(&machine)));
			fill.element.out = machine_rows(machine_slot(&machine, n % 2 * 4) + 8 * n,
							0, to, shape);
			machine_add(&machine, fill);
		}
		machine_run(&machine);
	}
}
END_TEST

/* An operand that is read where it is written */
START_TEST(in_place)
{
	for (unsigned int dtype = 0; dtype < TRN_DTYPE_MXFP8; dtype++) {
		struct shape shape = machine_shape(&machine, TRN_PARTITIONS, 64);
		struct trn_instruction add = machine_element(TRN_OP_TENSOR_TENSOR, shape);

		machine_begin(&machine, engines[dtype % 3]);
		add.op[0] = TRN_ALU_ADD;
		add.element.out = machine_scattered(&machine, dtype, 0, dtype, shape);
		add.element.in[0] = add.element.out;
		add.element.in[1] = add.element.out;
		machine_fill(&machine, &add.element.out, shape, number_edge);
		machine_add(&machine, add);
		machine_run(&machine);
	}
}
END_TEST

Suite *copy_suite(void)
{
	Suite *suite = suite_create("copy");
	TCase *tcase = tcase_create("copy");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, edges, 0, DTYPES);
	tcase_add_test(tcase, patterns);
	tcase_add_test(tcase, fill);
	tcase_add_test(tcase, in_place);
	suite_add_tcase(suite, tcase);
	return suite;
}
