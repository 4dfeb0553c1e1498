// SPDX-License-Identifier: MIT
/* Adam against double, step by step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor.h"

enum {
	NUMBER,
	RATE,
	BETA_1,
	BETA_2,
	EPSILON,
	VALUES
};

#define STEPS 2
#define U     0x1p-24

static const double shapes[][VALUES] = {
	{ 1, 1e-3, 0.9, 0.999, 1e-8 },
	{ 7, 1e-2, 0.9, 0.999, 1e-8 },
	{ 1023, 1e-3, 0.9, 0.999, 1e-8 },
	{ 1024, 1e-3, 0, 0, 1e-8 },
	{ 1031, 1e-3, 0.95, 0.98, 1e-3 },
	{ 131071, 1e-3, 0.9, 0.999, 1e-8 },
	{ 131072, 1e-3, 0.9, 0.999, 1e-8 },
	{ 131101, 1, 0.9, 0.999, 1e-8 },
	{ 393216, 1e-3, 0.9, 0.999, 1e-8 }, /* a turn of the loop */
	{ 394241, 1e-3, 0.9, 0.999, 1e-8 },
	{ 1600033, 1e-4, 0.5, 0.9, 1e-6 }, /* p, gradient, m, v: more than SBUF */
};

struct state {
	double *p, *gradient, *m, *v, *corrections;
};

static struct state read_state(const struct run *run)
{
	return (struct state){ tensor_read(run, "p"), tensor_read(run, "gradient"),
			       tensor_read(run, "m"), tensor_read(run, "v"),
			       tensor_read(run, "corrections") };
}

static void free_state(struct state *state)
{
	free(state->p);
	free(state->gradient);
	free(state->m);
	free(state->v);
	free(state->corrections);
}

static double average(double beta, double before, double term)
{
	return (double)(1 - (float)beta) * term + (double)(float)beta * before;
}

/*
 * One step from what was in memory.  m has three roundings, of numbers not larger than s = β |m| +
 * (1 − β) |g|; v, a sum of positive numbers, 4 u; its root, corrected, then 5 u, the sum with
 * epsilon 6 u; the quotient of m has 5 roundings more, and the correction's own 3.
 */
static void check_step(const struct run *run, const double *values, const struct state *before,
		       struct worst *worst)
{
	double rate = (double)(float)values[RATE], epsilon = (double)(float)values[EPSILON];
	double beta[2] = { (double)(float)values[BETA_1], (double)(float)values[BETA_2] };
	struct state after = read_state(run);
	double *p = tensor_read(run, "p_new"), correction[2];

	for (int i = 0; i < 2; i++) {
		correction[i] = average(beta[i], before->corrections[i], 1);
		compare(worst, (size_t)i, after.corrections[i], correction[i],
			2 * U * correction[i]);
	}
	for (size_t i = 0; i < (size_t)values[NUMBER]; i++) {
		double gradient = before->gradient[i];
		double m = average(beta[0], before->m[i], gradient);
		double v = average(beta[1], before->v[i], gradient * gradient);
		double size = average(beta[0], fabs(before->m[i]), fabs(gradient));
		double root = sqrt(v / correction[1]) + epsilon;
		double scale = rate / correction[0] / root, change = scale * m;

		compare(worst, i, after.m[i], m, 3 * U * size + 0x1p-140);
		compare(worst, i, after.v[i], v, 4 * U * v + 0x1p-140);
		compare(worst, i, p[i], before->p[i] - change,
			scale * 3 * U * size * 1.01 + 16 * U * fabs(change) +
				U * (fabs(before->p[i]) + fabs(change)));
	}
	free_state(&after);
	free(p);
}

START_TEST(steps)
{
	const double *values = shapes[_i];
	size_t bytes = (size_t)values[NUMBER] * sizeof(float);
	struct worst worst = { 0 };
	struct run run;

	run_create(&run, "trn2", &example_adam, values);
	tensor_fill(&run, "p", -1, 1);
	for (int step = 0; step < STEPS; step++) {
		struct state before;

		tensor_fill(&run, "gradient", -0.1, 0.1);
		before = read_state(&run);
		run_execute(&run);
		check_step(&run, values, &before, &worst);
		memcpy(run_tensor(&run, "p"), run_tensor(&run, "p_new"), bytes);
		free_state(&before);
	}
	report(&run, &example_adam, values, "trn2", &worst);
	run_destroy(&run);
}
END_TEST

Suite *adam_suite(void)
{
	Suite *suite = suite_create("adam");
	TCase *cases = tcase_create("adam");

	tcase_set_timeout(cases, 300);
	tcase_add_loop_test(cases, steps, 0, COUNT(shapes));
	suite_add_tcase(suite, cases);
	return suite;
}
