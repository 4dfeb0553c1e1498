// SPDX-License-Identifier: MIT
/* ACTIVATE: every function of every type to every type, scale and bias in both forms */
#include "machine.h"
#include "suites.h"
#include "tests/unit/model/function_formulas.h"

static struct machine machine;

static void setup(void)
{
	machine_create(&machine, "trn1");
}

static void teardown(void)
{
	machine_destroy(&machine);
}

/* Edges of the type, and half of the time numbers around 1 */
static uint32_t number(unsigned int dtype, uint64_t random)
{
	return random >> 33 & 1 ? number_edge(dtype, random) : number_moderate(dtype, random);
}

/* Scale and bias: of partitions by two bits of n, or of the instruction, where 4 means 1 and 0. */
static void scale_and_bias(struct trn_instruction *work, unsigned int n)
{
	static const float plain[2] = { 1, 0 };
	struct shape pair = { 64, { 2, 1, 1 } };
	struct trn_access_pattern *scalars = &work->element.in[1];

	for (unsigned int which = 0; which < 2; which++)
		if (n >> which & 1)
			work->flags |= which ? TRN_FLAG_SCALAR_1 : TRN_FLAG_SCALAR_0;
		else
			work->element.scalar[which] =
				htole32(n == 4 ? bits_of(plain[which])
					       : number(TRN_DTYPE_FP32, machine_random(&machine)));
	if (!(n & 3))
		return;
	*scalars =
		machine_scattered(&machine, 5, 64, machine_below(&machine, TRN_DTYPE_MXFP8), pair);
	scalars->step[1] = scalars->step[2] = 0;
	machine_fill(&machine, scalars, pair, number);
}

/* _i is the function. */
START_TEST(activate)
{
	for (unsigned int round = 0; round < 64; round++) {
		struct shape shape = machine_shape(&machine, 64, 64);
		unsigned int in = round % TRN_DTYPE_MXFP8, out = round / 8 % TRN_DTYPE_MXFP8;
		struct trn_instruction work = machine_element(TRN_OP_ACTIVATE, shape);

		machine_begin(&machine, TRN_ENGINE_SCALAR);
		work.op[0] = (uint8_t)_i;
		if (!number_is_integer(out) && round % 2)
			work.flags |= TRN_FLAG_STOCHASTIC;
		scale_and_bias(&work, machine_below(&machine, 5));
		work.element.in[0] = machine_scattered(&machine, 1, 3, in, shape);
		machine_fill(&machine, &work.element.in[0], shape, number);
		work.element.out = machine_scattered(&machine, 6, 64, out, shape);
		machine_by_register(&machine, &work.element.out, 1);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

Suite *activate_suite(void)
{
	Suite *suite = suite_create("activate");
	TCase *tcase = tcase_create("activate");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, activate, 0, FUNCTIONS);
	suite_add_tcase(suite, tcase);
	return suite;
}
