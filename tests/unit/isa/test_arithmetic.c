// SPDX-License-Identifier: MIT
/* TENSOR_TENSOR, TENSOR_SCALAR and SELECT: every operation on edges of every type. */
#include "machine.h"
#include "suites.h"
#include "tests/unit/model/alu_reference.h"

#define PLACE 64 /* bytes: 16 elements of 4 bytes */

static struct machine machine;
static const struct shape shape = { 16, { 16, 1, 1 } };
static const unsigned int engines[] = { TRN_ENGINE_VECTOR, TRN_ENGINE_SCALAR, TRN_ENGINE_GPSIMD };

static void setup(void)
{
	machine_create(&machine, "trn3");
}

static void teardown(void)
{
	machine_destroy(&machine);
}

static bool valid(unsigned int op, bool integers)
{
	return integers || !alu_is_of_integers(op);
}

/* Outputs of a program lie in PSUM, one after the other. */
static struct trn_access_pattern result(unsigned int n, unsigned int dtype)
{
	return machine_rows(machine_slot(&machine, 4) + n * PLACE, 0, dtype, shape);
}

/* Two inputs of types a and b, all operations, results of all types */
static void two_inputs(unsigned int a, unsigned int b)
{
	for (unsigned int out = 0; out < TRN_DTYPE_MXFP8; out++) {
		struct trn_access_pattern in[2];

		machine_begin(&machine, engines[out % 3]);
		in[0] = machine_rows(machine_slot(&machine, 0), 3, a, shape);
		in[1] = machine_rows(machine_slot(&machine, 1), 5, b, shape);
		machine_fill(&machine, &in[0], shape, number_edge);
		machine_fill(&machine, &in[1], shape, number_edge);
		for (unsigned int op = 0; op < ALU_OPERATIONS; op++) {
			struct trn_instruction work = machine_element(TRN_OP_TENSOR_TENSOR, shape);
			bool integers = number_is_integer(a) && number_is_integer(b) &&
					number_is_integer(out);

			if (!valid(op, integers))
				continue;
			work.op[0] = (uint8_t)op;
			work.flags = op % 4 == 3 ? TRN_FLAG_STOCHASTIC : 0;
			if (number_is_integer(out))
				work.flags = 0;
			memcpy(work.element.in, in, sizeof(in));
			work.element.out = result(op, out);
			machine_add(&machine, work);
		}
		machine_run(&machine);
	}
}

START_TEST(tensor_tensor)
{
	for (unsigned int b = 0; b < TRN_DTYPE_MXFP8; b++)
		two_inputs(_i, b);
}
END_TEST

/* _i is the input's type: pairs of operations, scalars of the instruction or of partitions */
START_TEST(tensor_scalar)
{
	for (unsigned int round = 0; round < 50; round++) {
		unsigned int out = machine_below(&machine, TRN_DTYPE_MXFP8);
		unsigned int of_scalars = machine_below(&machine, TRN_DTYPE_MXFP8);
		struct shape pair = { shape.partitions, { 2, 1, 1 } };
		struct trn_access_pattern in, scalars;

		machine_begin(&machine, engines[round % 3]);
		in = machine_rows(machine_slot(&machine, 0), 0, _i, shape);
		scalars = machine_scattered(&machine, 1, 9, of_scalars, pair);
		scalars.step[1] = scalars.step[2] = 0;
		machine_fill(&machine, &in, shape, number_edge);
		machine_fill(&machine, &scalars, pair, number_edge);
		for (unsigned int n = 0; n < 32; n++) {
			struct trn_instruction work = machine_element(TRN_OP_TENSOR_SCALAR, shape);
			bool operand = n % 4, integers;
			unsigned int op[2];

			op[0] = round < ALU_OPERATIONS ? round : machine_below(&machine, 21);
			op[1] = n < ALU_OPERATIONS ? n : machine_below(&machine, 21);
			integers = number_is_integer(_i) && number_is_integer(out) &&
				   (!operand || number_is_integer(of_scalars)) &&
				   !alu_is_of_floats(op[0]) && !alu_is_of_floats(op[1]);
			if (!valid(op[0], integers) || !valid(op[1], integers))
				continue;
			for (int which = 0; which < 2; which++) {
				work.op[which] = (uint8_t)op[which];
				if (n >> which & 1)
					work.flags |= which ? TRN_FLAG_SCALAR_1 : TRN_FLAG_SCALAR_0;
				else
					work.element.scalar[which] = htole32(number_edge(
						integers ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32,
						machine_random(&machine)));
			}
			work.element.in[0] = in;
			if (operand)
				work.element.in[1] = scalars;
			work.element.out = result(n, out);
			machine_add(&machine, work);
		}
		machine_run(&machine);
	}
}
END_TEST

/* Operands at random steps, in SBUF and PSUM */
START_TEST(patterns)
{
	for (unsigned int round = 0; round < 100; round++) {
		struct shape random = machine_shape(&machine, TRN_PARTITIONS, 64);
		struct trn_instruction work;
		unsigned int first = machine_below(&machine, SLOTS);
		struct trn_access_pattern *operands[3];

		machine_begin(&machine, engines[round % 3]);
		work = machine_element(TRN_OP_TENSOR_TENSOR, random);
		work.op[0] = TRN_ALU_SUBTRACT;
		operands[0] = &work.element.in[0];
		operands[1] = &work.element.in[1];
		operands[2] = &work.element.out;
		for (unsigned int n = 0; n < 3; n++) {
			unsigned int partition =
				machine_below(&machine, TRN_PARTITIONS - random.partitions + 1);

			*operands[n] =
				machine_scattered(&machine, (first + n * 3) % SLOTS, partition,
						  machine_below(&machine, TRN_DTYPE_MXFP8), random);
			if (n < 2)
				machine_fill(&machine, operands[n], random, number_edge);
			machine_by_register(&machine, operands[n], 1 + n);
		}
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

/* _i is the type of what is selected. */
START_TEST(selection)
{
	for (unsigned int round = 0; round < 32; round++) {
		struct shape random = machine_shape(&machine, TRN_PARTITIONS, 64);
		struct trn_instruction work = machine_element(TRN_OP_SELECT, random);

		machine_begin(&machine, TRN_ENGINE_VECTOR);
		work.element.in[0] =
			machine_scattered(&machine, 0, 0, round % TRN_DTYPE_MXFP8, random);
		work.element.in[1] = machine_scattered(&machine, 1, 0, _i, random);
		work.element.out = machine_scattered(&machine, 6, 0, _i, random);
		machine_fill(&machine, &work.element.in[0], random, number_edge);
		FOR_EACH_INDEX(x, random)
		if (machine_below(&machine, 3) == 0)
			operand_set(&machine.reference, &work.element.in[0], x, 0);
		machine_fill(&machine, &work.element.in[1], random, number_edge);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

Suite *arithmetic_suite(void)
{
	Suite *suite = suite_create("arithmetic");
	TCase *tcase = tcase_create("arithmetic");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, tensor_tensor, 0, TRN_DTYPE_MXFP8);
	tcase_add_loop_test(tcase, tensor_scalar, 0, TRN_DTYPE_MXFP8);
	tcase_add_test(tcase, patterns);
	tcase_add_loop_test(tcase, selection, 0, TRN_DTYPE_MXFP8);
	suite_add_tcase(suite, tcase);
	return suite;
}
