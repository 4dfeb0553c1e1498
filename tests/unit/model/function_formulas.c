// SPDX-License-Identifier: MIT
#include "function_formulas.h"

#include <check.h>
#include <float.h>
#include <hw/trn_isa.h>
#include <math.h>

/* ln 2 = 0x0.b17217f7d 1cf79abc9e3b3980 3f…: L₁ is the first part. */
static double l1(void)
{
	return 0xb17217f7dp-36;
}

static double l2(void)
{
	return (double)0x1cf79abc9e3b3980p-100L;
}

static double factorial(int n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

static double formula_exp(double x)
{
	double n, r, sum = 0;

	x = fmax(-200, fmin(200, x));
	n = rint(x * (double)M_LOG2El);
	r = x - n * l1();
	r -= n * l2();
	for (int k = 13; k >= 0; k--)
		sum = 1 / factorial(k) + r * sum;
	return ldexp(sum, (int)n);
}

static double formula_log(double x)
{
	double m = x, f, sum = 0;
	int e = 0;

	if (x == 0)
		return -INFINITY;
	if (x < 0)
		return NAN;
	if (isinf(x))
		return x;
	for (; m < (double)sqrtl(0.5L); e--)
		m *= 2;
	for (; m >= (double)sqrtl(2); e++)
		m /= 2;
	f = (m - 1) / (m + 1);
	for (int k = 10; k >= 0; k--)
		sum = 1.0 / (2 * k + 1) + f * f * sum;
	return e * (double)M_LN2l + 2 * f * sum;
}

static double formula_erf(double x)
{
	double t[200] = { 1 }, q = 2 * x * x, sum = 0, rest;
	int last;

	if (fabs(x) >= 4)
		return copysign(1, x);
	last = 16 + 6 * (int)ceil(x * x);
	for (int k = 1; k <= last; k++) {
		t[k] = t[k - 1] * q;
		t[k] /= 2 * k + 1;
	}
	for (int k = 0; k <= last; k++)
		sum += t[k];
	rest = (double)M_2_SQRTPIl * x;
	rest *= formula_exp(-(x * x));
	return sum * rest;
}

/* π = 0x3.243f6a88 85a308d3 13198a2e03707344 …; 32 bits end before the last two of the first word.
 */
static double formula_sin(double x)
{
	const double p1 = 0x3243f6a88p-32, p2 = 0x85a308d0p-64;
	const double p3 = (double)(0x3p-64L + 0x13198a2e03707344p-128L);
	double n = rint(x / (double)M_PIl), r, sum = 0;

	if (fabs(x) > 1048576)
		return NAN;
	if (x == 0)
		return x;
	r = x - n * p1;
	r -= n * p2;
	r -= n * p3;
	for (int k = 10; k >= 0; k--)
		sum = (k % 2 ? -1 : 1) / factorial(2 * k + 1) + r * r * sum;
	return fmod(n, 2) ? -r * sum : r * sum;
}

static double formula_tanh(double x)
{
	double q = x * x, u;

	if (x == 0)
		return x;
	if (fabs(x) < 0.015625)
		return x + x * q * (-(1. / 3) + q * (2. / 15 - q * (17. / 315)));
	u = formula_exp(2 * x);
	return (u - 1) / (u + 1);
}

static double formula_softplus(double x)
{
	double u = formula_exp(x);

	if (x > 40)
		return x;
	return x < -12 ? u - u * u * 0.5 : formula_log(1 + u);
}

double function_formula(int function, double x)
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
		return sqrt(x);
	case TRN_FUNCTION_RSQRT:
		return 1 / sqrt(x);
	case TRN_FUNCTION_RECIPROCAL:
		return 1 / x;
	case TRN_FUNCTION_EXP:
		return formula_exp(x);
	case TRN_FUNCTION_LOG:
		return formula_log(x);
	case TRN_FUNCTION_SIGMOID:
		return 1 / (1 + formula_exp(-x));
	case TRN_FUNCTION_SILU:
		return x < -DBL_MAX ? -0.0 : x / (1 + formula_exp(-x));
	case TRN_FUNCTION_TANH:
		return formula_tanh(x);
	case TRN_FUNCTION_ERF:
		return formula_erf(x);
	case TRN_FUNCTION_GELU:
		return x < -DBL_MAX ? -0.0 : 0.5 * x * (1 + formula_erf(x / (double)sqrtl(2)));
	case TRN_FUNCTION_SOFTPLUS:
		return formula_softplus(x);
	case TRN_FUNCTION_SIN:
		return formula_sin(x);
	}
	ck_abort_msg("no function %d", function);
}
