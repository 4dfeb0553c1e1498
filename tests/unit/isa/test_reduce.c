// SPDX-License-Identifier: MIT
/* REDUCE, BN_STATS and BN_AGGREGATE */
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

static const uint8_t operations[] = { TRN_ALU_ADD, TRN_ALU_MULTIPLY, TRN_ALU_MAX, TRN_ALU_MIN,
				      TRN_ALU_ABS_MAX };

static struct trn_instruction reduction(struct shape shape, unsigned int op, unsigned int axes)
{
	struct trn_instruction reduce = machine_element(TRN_OP_REDUCE, shape);

	reduce.op[0] = (uint8_t)op;
	reduce.flags = (uint8_t)(axes * TRN_FLAG_AXIS_I);
	return reduce;
}

/* Random shapes: _i is the operation. */
START_TEST(reduce)
{
	for (unsigned int round = 0; round < 80; round++) {
		struct shape shape = machine_shape(&machine, 64, round % 4 ? 64 : 4);
		unsigned int in = round % TRN_DTYPE_MXFP8;
		unsigned int out = round / 8 % TRN_DTYPE_MXFP8;
		struct trn_instruction work =
			reduction(shape, operations[_i], 1 + machine_below(&machine, 7));
		struct shape results = shape;

		for (int axis = 0; axis < 3; axis++)
			if (work.flags & TRN_FLAG_AXIS_I << axis)
				results.size[axis] = 1;
		machine_begin(&machine, TRN_ENGINE_VECTOR);
		work.element.in[0] = machine_scattered(&machine, round % 4, 64, in, shape);
		work.element.out = machine_scattered(&machine, 4 + round % 3, 7, out, results);
		machine_fill(&machine, &work.element.in[0], shape,
			     operations[_i] == TRN_ALU_ADD && !number_is_integer(in)
				     ? number_moderate
				     : number_edge);
		/* Sums of floats round in any order: what is stochastic there has no one result. */
		if (operations[_i] != TRN_ALU_ADD && !number_is_integer(out) && round % 3 == 0)
			work.flags |= TRN_FLAG_STOCHASTIC;
		machine_by_register(&machine, &work.element.in[0], 3);
		machine_by_register(&machine, &work.element.out, 4);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

/* Sums of edges, two at a time: one rounding, so that the result is known but for overflow. */
START_TEST(sums_of_edges)
{
	struct shape shape = { 32, { 2, 32, 1 } };

	for (unsigned int in = 0; in < TRN_DTYPE_MXFP8; in++) {
		struct trn_instruction work = reduction(shape, TRN_ALU_ADD, 1);

		machine_begin(&machine, TRN_ENGINE_VECTOR);
		work.element.in[0] = machine_rows(machine_slot(&machine, 0), 0, in, shape);
		work.element.out = machine_rows(machine_slot(&machine, 4), 0, TRN_DTYPE_FP32,
						(struct shape){ 32, { 1, 32, 1 } });
		machine_fill(&machine, &work.element.in[0], shape, number_edge);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

/* One element is the result, edges too; a NaN is the canonical one. */
START_TEST(one_element)
{
	struct shape shape = { 8, { 1, 8, 1 } };

	for (unsigned int n = 0; n < TRN_DTYPE_MXFP8 * COUNT(operations); n++) {
		struct trn_instruction work = reduction(shape, operations[n / TRN_DTYPE_MXFP8], 1);
		unsigned int dtype = n % TRN_DTYPE_MXFP8;

		machine_begin(&machine, TRN_ENGINE_VECTOR);
		work.element.in[0] = machine_rows(machine_slot(&machine, 0), 0, dtype, shape);
		work.element.out = machine_rows(machine_slot(&machine, 4), 0, dtype, shape);
		machine_fill(&machine, &work.element.in[0], shape, number_edge);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

static struct trn_access_pattern floats(unsigned int slot, unsigned int count)
{
	return machine_scattered(&machine, slot, 64, TRN_DTYPE_FP32,
				 (struct shape){ 1, { count, 1, 1 } });
}

START_TEST(statistics)
{
	for (unsigned int round = 0; round < 160; round++) {
		struct shape shape = machine_shape(&machine, 64, round % 2 ? 100 : 3);
		unsigned int dtype = round % TRN_DTYPE_MXFP8;
		struct trn_instruction work = machine_element(TRN_OP_BN_STATS, shape);

		machine_begin(&machine, TRN_ENGINE_VECTOR);
		work.element.in[0] = machine_scattered(&machine, 1, 0, dtype, shape);
		work.element.out = floats(4, 3);
		machine_fill(&machine, &work.element.in[0], shape, number_moderate);
		/* Far from 0, where what is spread around the mean is little */
		if (dtype == TRN_DTYPE_FP32 && round % 16 >= 8)
			FOR_EACH_INDEX(x, shape)
		operand_set(&machine.reference, &work.element.in[0], x,
			    bits_of(1000 + (float)machine_below(&machine, 999) / 999));
		work.element.out.step[1] = work.element.out.step[2] = 0;
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

START_TEST(aggregates)
{
	for (unsigned int round = 0; round < 100; round++) {
		struct shape shape = { 1 + machine_below(&machine, 64),
				       { 1 + machine_below(&machine, 20), 3, 1 } };
		struct trn_instruction work = machine_element(TRN_OP_BN_AGGREGATE, shape);
		struct trn_access_pattern *in = &work.element.in[0];

		machine_begin(&machine, TRN_ENGINE_VECTOR);
		*in = machine_scattered(&machine, 1, 0, TRN_DTYPE_FP32, shape);
		in->step[2] = 0;
		work.element.out = floats(4, 2);
		work.element.out.step[1] = work.element.out.step[2] = 0;
		machine_fill(&machine, in, shape, number_moderate);
		for (unsigned int p = 0; p < shape.partitions; p++)
			for (unsigned int t = 0; t < shape.size[0]; t++) {
				struct index x = { p, t, 0, 0 };

				/* An empty set may be among them. */
				operand_set(&machine.reference, in, x,
					    bits_of((float)(t ? machine_below(&machine, 99) : 1)));
				x.j = 2;
				operand_set(&machine.reference, in, x,
					    operand_get(&machine.reference, in, x) & INT32_MAX);
			}
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

Suite *reduce_suite(void)
{
	Suite *suite = suite_create("reduce");
	TCase *tcase = tcase_create("reduce");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, reduce, 0, COUNT(operations));
	tcase_add_test(tcase, sums_of_edges);
	tcase_add_test(tcase, one_element);
	tcase_add_test(tcase, statistics);
	tcase_add_test(tcase, aggregates);
	suite_add_tcase(suite, tcase);
	return suite;
}
