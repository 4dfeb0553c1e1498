// SPDX-License-Identifier: MIT
/*
 * Activation functions: the specification's formulas computed a second time, which must
 * give the same bits, and their error against libm's long double functions.
 */
#include <float.h>
#include <hw/trn_isa.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "function_formulas.h"
#include "numerics.h"
#include "suites.h"
#include "tools/vdev/model/core/functions.h"

#define ERROR_ULPS 0.501L /* of binary32, for all functions */
#define GELU_ERROR 5e-8L  /* instead, below −4 */

static const char *const names[FUNCTIONS] = {
	"identity", "relu", "square", "sqrt", "rsqrt", "reciprocal", "exp", "log",
	"sigmoid",  "silu", "tanh",   "erf",  "gelu",  "softplus",   "sin",
};

static long double exact(int function, long double x)
{
	if (isnan(x))
		return x;
	switch (function) {
	case TRN_FUNCTION_IDENTITY:
		return x;
	case TRN_FUNCTION_RELU:
		return x > 0 ? x : 0;
	case TRN_FUNCTION_SQUARE:
		return x * x;
	case TRN_FUNCTION_SQRT:
		return sqrtl(x);
	case TRN_FUNCTION_RSQRT:
		return 1 / sqrtl(x);
	case TRN_FUNCTION_RECIPROCAL:
		return 1 / x;
	case TRN_FUNCTION_EXP:
		return expl(x);
	case TRN_FUNCTION_LOG:
		return logl(x);
	case TRN_FUNCTION_SIGMOID:
		return 1 / (1 + expl(-x));
	case TRN_FUNCTION_SILU:
		return x / (1 + expl(-x));
	case TRN_FUNCTION_TANH:
		return tanhl(x);
	case TRN_FUNCTION_ERF:
		return erfl(x);
	case TRN_FUNCTION_GELU:
		return x / 2 * erfcl(-x / sqrtl(2));
	case TRN_FUNCTION_SOFTPLUS:
		return x > 100 ? x : log1pl(expl(x));
	case TRN_FUNCTION_SIN:
		return fabsl(x) > 0x1p20L ? NAN : sinl(x);
	}
	ck_abort_msg("no function %d", function);
}

/* What follows the largest finite number, if the exponent went on: ∞ stands for it. */
static long double bounded(long double x)
{
	return fminl(fmaxl(x, -0x1p128L), 0x1p128L);
}

/* A binary32's error, in units of the last place that the exact result has there */
static long double ulps(float result, long double expected)
{
	int exponent;

	expected = bounded(expected);
	if (expected == bounded(result))
		return 0;
	frexpl(expected, &exponent);
	if (fabsl(expected) == 0x1p128L)
		exponent = 128;
	return fabsl(bounded(result) - expected) /
	       ldexpl(1, (exponent < -125 ? -125 : exponent) - 24);
}

struct worst {
	long double ulps, gelu; /* GELU's below −4 apart */
	float at, gelu_at;
	unsigned long points;
};

static void check(int function, const float *x, size_t count, struct worst *worst)
{
	float out[512];

	EXPECT(count <= COUNT(out), "%zu points", count);
	trn_function(function)(out, x, count);
	for (size_t i = 0; i < count; i++) {
		float same = (float)function_formula(function, x[i]);
		long double expected = exact(function, x[i]), error;

		EXPECT(isnan(same) ? isnan(out[i]) : bits_of(out[i]) == bits_of(same),
		       "%s of %a: %a, the formula gives %a", names[function], x[i], out[i], same);
		worst->points++;
		if (isnan(expected) || isnan(out[i])) {
			/* −∞ × 0 is not what these are there. */
			bool limit = x[i] < -FLT_MAX && out[i] == 0;

			EXPECT((isnan(expected) && isnan(out[i])) || limit, "%s of %a: %a",
			       names[function], x[i], out[i]);
			continue;
		}
		if (function == TRN_FUNCTION_GELU && x[i] < -4) {
			error = fabsl(out[i] - expected);
			EXPECT(error < GELU_ERROR, "gelu of %a: error %Lg", x[i], error);
			if (error > worst->gelu) {
				worst->gelu = error;
				worst->gelu_at = x[i];
			}
			continue;
		}
		error = ulps(out[i], expected);
		EXPECT(error < ERROR_ULPS, "%s of %a: %a, exactly %La, error %Lf", names[function],
		       x[i], out[i], expected, error);
		if (error > worst->ulps) {
			worst->ulps = error;
			worst->at = x[i];
		}
	}
}

/* 512 neighbours, around x */
static void check_around(int function, float x, struct worst *worst)
{
	float row[512];

	for (unsigned int i = 0; i < 256; i++)
		x = nextafterf(x, -INFINITY);
	for (unsigned int i = 0; i < 512; i++) {
		row[i] = x;
		x = nextafterf(x, INFINITY);
	}
	check(function, row, 512, worst);
}

START_TEST(error)
{
	/* Where formulas change, and results become 1, infinite, subnormal or 0 */
	const float changes[] = { 0,	      1,	  -1,	      0x1p-6f,	-0x1p-6f,
				  4,	      -4,	  40,	      -12,	-15,
				  5.656854f,  88.72284f,  -88.72284f, -87.33f,	-103.28f,
				  -103.97f,   17,	  -17,	      9.01f,	-9.01f,
				  200,	      -200,	  100,	      -100,	0.7071068f,
				  1.4142135f, -5.656854f, 0x1p20f,    -0x1p20f, 0x1p64f,
				  0x1p-64f,   0x1p-75f };
	const unsigned int rows = getenv("TRN_LONG") ? 100 : 1;
	struct worst worst = { 0 };
	uint64_t state = (uint64_t)_i;
	float row[512];

	for (size_t i = 0; i < COUNT(changes); i++)
		check_around(_i, changes[i], &worst);
	check(_i, edge_floats, COUNT(edge_floats), &worst);
	for (unsigned int exponent = 0; exponent < 255; exponent++) {
		for (unsigned int k = 0; k < rows; k++) {
			for (unsigned int i = 0; i < 512; i++)
				row[i] = random_float(&state, exponent, exponent);
			check(_i, row, 512, &worst);
		}
	}
	for (unsigned int k = 0; k < 200 * rows; k++) {
		for (unsigned int i = 0; i < 512; i++)
			row[i] = ldexpf((float)(int32_t)random_bits(&state), (int)(k % 4) - 30);
		check(_i, row, 512, &worst);
	}
	if (_i == TRN_FUNCTION_SIN) {
		for (unsigned int k = 0; k < 333772; k += 166) {
			for (unsigned int i = 0; i < 166; i++) {
				float at = (float)((k + i) * M_PIl);

				row[3 * i] = at;
				row[3 * i + 1] = -nextafterf(at, 0);
				row[3 * i + 2] = nextafterf(at, INFINITY);
			}
			check(_i, row, 498, &worst);
		}
	}
	printf("%-10s %8lu points, error at most %.6Lf ulp, at %a\n", names[_i], worst.points,
	       worst.ulps, worst.at);
	if (_i == TRN_FUNCTION_GELU)
		printf("%-10s below -4: error at most %.3Lg, at %a\n", names[_i], worst.gelu,
		       worst.gelu_at);
	fflush(stdout);
}
END_TEST

static const struct {
	int function;
	float x, result;
} results[] = {
	{ TRN_FUNCTION_IDENTITY, -0.0f, -0.0f },
	{ TRN_FUNCTION_IDENTITY, INFINITY, INFINITY },
	{ TRN_FUNCTION_IDENTITY, -0x1p-149f, -0x1p-149f },
	{ TRN_FUNCTION_RELU, 0.0f, 0.0f },
	{ TRN_FUNCTION_RELU, -0.0f, 0.0f },
	{ TRN_FUNCTION_RELU, -1.0f, 0.0f },
	{ TRN_FUNCTION_RELU, -INFINITY, 0.0f },
	{ TRN_FUNCTION_RELU, INFINITY, INFINITY },
	{ TRN_FUNCTION_RELU, 0x1p-149f, 0x1p-149f },
	{ TRN_FUNCTION_SQUARE, -0.0f, 0.0f },
	{ TRN_FUNCTION_SQUARE, -INFINITY, INFINITY },
	{ TRN_FUNCTION_SQUARE, 0x1p-75f, 0.0f }, /* a tie */
	{ TRN_FUNCTION_SQUARE, 0x1.000002p-75f, 0x1p-149f },
	{ TRN_FUNCTION_SQUARE, 0x1p64f, INFINITY },
	{ TRN_FUNCTION_SQRT, 0.0f, 0.0f },
	{ TRN_FUNCTION_SQRT, -0.0f, -0.0f },
	{ TRN_FUNCTION_SQRT, -0x1p-149f, NAN },
	{ TRN_FUNCTION_SQRT, -INFINITY, NAN },
	{ TRN_FUNCTION_SQRT, INFINITY, INFINITY },
	{ TRN_FUNCTION_SQRT, 0x1p-148f, 0x1p-74f },
	{ TRN_FUNCTION_RSQRT, 0.0f, INFINITY },
	{ TRN_FUNCTION_RSQRT, -0.0f, -INFINITY },
	{ TRN_FUNCTION_RSQRT, INFINITY, 0.0f },
	{ TRN_FUNCTION_RSQRT, -1.0f, NAN },
	{ TRN_FUNCTION_RSQRT, -INFINITY, NAN },
	{ TRN_FUNCTION_RSQRT, 4.0f, 0.5f },
	{ TRN_FUNCTION_RECIPROCAL, 0.0f, INFINITY },
	{ TRN_FUNCTION_RECIPROCAL, -0.0f, -INFINITY },
	{ TRN_FUNCTION_RECIPROCAL, INFINITY, 0.0f },
	{ TRN_FUNCTION_RECIPROCAL, -INFINITY, -0.0f },
	{ TRN_FUNCTION_RECIPROCAL, 0x1p127f, 0x1p-127f },
	{ TRN_FUNCTION_RECIPROCAL, 0x1p-128f, INFINITY },
	{ TRN_FUNCTION_RECIPROCAL, -0x1p-149f, -INFINITY },
	{ TRN_FUNCTION_EXP, 0.0f, 1.0f },
	{ TRN_FUNCTION_EXP, -0.0f, 1.0f },
	{ TRN_FUNCTION_EXP, INFINITY, INFINITY },
	{ TRN_FUNCTION_EXP, FLT_MAX, INFINITY },
	{ TRN_FUNCTION_EXP, 88.8f, INFINITY },
	{ TRN_FUNCTION_EXP, -INFINITY, 0.0f },
	{ TRN_FUNCTION_EXP, -FLT_MAX, 0.0f },
	{ TRN_FUNCTION_EXP, -104.0f, 0.0f },
	{ TRN_FUNCTION_EXP, -103.9f, 0x1p-149f },
	{ TRN_FUNCTION_LOG, 0.0f, -INFINITY },
	{ TRN_FUNCTION_LOG, -0.0f, -INFINITY },
	{ TRN_FUNCTION_LOG, -0x1p-149f, NAN },
	{ TRN_FUNCTION_LOG, -1.0f, NAN },
	{ TRN_FUNCTION_LOG, -INFINITY, NAN },
	{ TRN_FUNCTION_LOG, INFINITY, INFINITY },
	{ TRN_FUNCTION_LOG, 1.0f, 0.0f },
	{ TRN_FUNCTION_SIGMOID, 0.0f, 0.5f },
	{ TRN_FUNCTION_SIGMOID, -0.0f, 0.5f },
	{ TRN_FUNCTION_SIGMOID, INFINITY, 1.0f },
	{ TRN_FUNCTION_SIGMOID, -INFINITY, 0.0f },
	{ TRN_FUNCTION_SIGMOID, -FLT_MAX, 0.0f },
	{ TRN_FUNCTION_SILU, 0.0f, 0.0f },
	{ TRN_FUNCTION_SILU, -0.0f, -0.0f },
	{ TRN_FUNCTION_SILU, INFINITY, INFINITY },
	{ TRN_FUNCTION_SILU, -INFINITY, -0.0f },
	{ TRN_FUNCTION_SILU, -FLT_MAX, -0.0f },
	{ TRN_FUNCTION_TANH, 0.0f, 0.0f },
	{ TRN_FUNCTION_TANH, -0.0f, -0.0f },
	{ TRN_FUNCTION_TANH, INFINITY, 1.0f },
	{ TRN_FUNCTION_TANH, -INFINITY, -1.0f },
	{ TRN_FUNCTION_TANH, 0x1p-149f, 0x1p-149f },
	{ TRN_FUNCTION_ERF, 0.0f, 0.0f },
	{ TRN_FUNCTION_ERF, -0.0f, -0.0f },
	{ TRN_FUNCTION_ERF, 4.0f, 1.0f },
	{ TRN_FUNCTION_ERF, -4.0f, -1.0f },
	{ TRN_FUNCTION_ERF, INFINITY, 1.0f },
	{ TRN_FUNCTION_ERF, -INFINITY, -1.0f },
	{ TRN_FUNCTION_ERF, 0x1p-149f, 0x1p-149f },
	{ TRN_FUNCTION_GELU, 0.0f, 0.0f },
	{ TRN_FUNCTION_GELU, -0.0f, -0.0f },
	{ TRN_FUNCTION_GELU, INFINITY, INFINITY },
	{ TRN_FUNCTION_GELU, -INFINITY, -0.0f },
	{ TRN_FUNCTION_GELU, -6.0f, -0.0f },
	{ TRN_FUNCTION_GELU, FLT_MAX, FLT_MAX },
	{ TRN_FUNCTION_GELU, -FLT_MAX, -0.0f },
	{ TRN_FUNCTION_SOFTPLUS, 0.0f, 0.693147180559945309f },
	{ TRN_FUNCTION_SOFTPLUS, INFINITY, INFINITY },
	{ TRN_FUNCTION_SOFTPLUS, FLT_MAX, FLT_MAX },
	{ TRN_FUNCTION_SOFTPLUS, -INFINITY, 0.0f },
	{ TRN_FUNCTION_SOFTPLUS, -FLT_MAX, 0.0f },
	{ TRN_FUNCTION_SIN, 0.0f, 0.0f },
	{ TRN_FUNCTION_SIN, -0.0f, -0.0f },
	{ TRN_FUNCTION_SIN, 0x1p-149f, 0x1p-149f },
	{ TRN_FUNCTION_SIN, 0x1.000002p20f, NAN },
	{ TRN_FUNCTION_SIN, -0x1.000002p20f, NAN },
	{ TRN_FUNCTION_SIN, INFINITY, NAN },
	{ TRN_FUNCTION_SIN, -INFINITY, NAN },
};

START_TEST(edges)
{
	float out;

	for (size_t i = 0; i < COUNT(results); i++) {
		float expected = results[i].result;

		trn_function((unsigned int)results[i].function)(&out, &results[i].x, 1);
		EXPECT(isnan(expected) ? isnan(out) : bits_of(out) == bits_of(expected),
		       "%s of %a: %a, not %a", names[results[i].function], results[i].x, out,
		       expected);
	}
}
END_TEST

START_TEST(nan_gives_nan)
{
	const uint32_t nans[] = { 0x7f800001, 0x7fc00000, 0x7fffffff,
				  0xff800001, 0xffc00000, 0xffffffff };
	float row[COUNT(nans)];

	memcpy(row, nans, sizeof(row));
	trn_function((unsigned int)_i)(row, row, COUNT(nans)); /* in place */
	for (size_t i = 0; i < COUNT(nans); i++)
		EXPECT(isnan(row[i]), "%s of 0x%08x: %a", names[_i], nans[i], row[i]);
}
END_TEST

START_TEST(no_other_functions)
{
	for (unsigned int function = 0; function < 256; function++)
		ck_assert_int_eq(trn_function(function) != NULL, function < FUNCTIONS);
}
END_TEST

Suite *functions_suite(void)
{
	Suite *suite = suite_create("functions");
	TCase *tcase = tcase_create("functions");

	tcase_set_timeout(tcase, getenv("TRN_LONG") ? 3600 : 60);
	tcase_add_loop_test(tcase, error, 0, FUNCTIONS);
	tcase_add_test(tcase, edges);
	tcase_add_loop_test(tcase, nan_gives_nan, 0, FUNCTIONS);
	tcase_add_test(tcase, no_other_functions);
	suite_add_tcase(suite, tcase);
	return suite;
}
