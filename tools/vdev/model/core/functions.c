// SPDX-License-Identifier: MIT
#include "functions.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <hw/trn_isa.h>

/*
 * Every operation here counts: they are in the order of the specification, and none is
 * contracted (build.mk).  Of libm there are sqrt, rint, ceil, fabs and frexp, which are exact
 * or rounded once.
 */
#define PI	       0x1.921fb54442d18p+1
#define PI_1	       0x1.921fb544p+1 /* bits 1 … 32 */
#define PI_2	       0x1.0b4611ap-33 /* bits 33 … 64 */
#define PI_3	       0x1.898cc51701b84p-63
#define LN2	       0x1.62e42fefa39efp-1
#define LN2_1	       0x1.62e42fefap-1
#define LN2_2	       0x1.cf79abc9e3b3ap-40
#define LOG2_E	       0x1.71547652b82fep+0
#define SQRT2	       0x1.6a09e667f3bcdp+0
#define SQRT_HALF      0x1.6a09e667f3bcdp-1
#define TWO_BY_SQRT_PI 0x1.20dd750429b6dp+0

#define TERMS(c)       (sizeof(c) / sizeof(*(c)))

/* Σ c[k] × xᵏ */
static inline double horner(const double *c, size_t terms, double x)
{
	double sum = c[terms - 1];

	for (size_t k = terms - 1; k--;)
		sum = sum * x + c[k];
	return sum;
}

/* 2ⁿ, a normal number */
static inline double power_of_two(int n)
{
	uint64_t bits = (uint64_t)(n + 1023) << 52;
	double power;

	memcpy(&power, &bits, sizeof(power));
	return power;
}

static double exponential(double x)
{
	/* 1 / k! */
	static const double c[] = {
		1.0,
		1.0,
		1.0 / 2,
		1.0 / 6,
		1.0 / 24,
		1.0 / 120,
		1.0 / 720,
		1.0 / 5040,
		1.0 / 40320,
		1.0 / 362880,
		1.0 / 3628800,
		1.0 / 39916800,
		1.0 / 479001600,
		1.0 / 6227020800,
	};
	double n, r;

	if (isnan(x))
		return x;
	x = x > 200 ? 200 : x < -200 ? -200 : x;
	n = rint(x * LOG2_E);
	r = (x - n * LN2_1) - n * LN2_2;
	return power_of_two((int)n) * horner(c, TERMS(c), r);
}

static double logarithm(double x)
{
	/* 1 / (2 k + 1) */
	static const double c[] = {
		1.0,	  1.0 / 3,  1.0 / 5,  1.0 / 7,	1.0 / 9,  1.0 / 11,
		1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21,
	};
	double m, f;
	int e;

	if (x == 0)
		return -INFINITY;
	if (x < 0)
		return NAN;
	if (isnan(x) || isinf(x))
		return x;
	m = frexp(x, &e);
	if (m < SQRT_HALF) {
		m *= 2;
		e--;
	}
	f = (m - 1) / (m + 1);
	return e * LN2 + 2 * f * horner(c, TERMS(c), f * f);
}

static double error_function(double x)
{
	double q = 2 * x * x, term = 1, sum = 1;
	int terms;

	if (isnan(x))
		return x;
	if (fabs(x) >= 4)
		return x < 0 ? -1 : 1;
	terms = 16 + 6 * (int)ceil(x * x);
	for (int k = 1; k <= terms; k++) {
		term = term * q / (2 * k + 1);
		sum += term;
	}
	return sum * (TWO_BY_SQRT_PI * x * exponential(-x * x));
}

static double identity(double x)
{
	return x;
}

static double relu(double x)
{
	return x > 0 || isnan(x) ? x : 0;
}

static double square(double x)
{
	return x * x;
}

static double square_root(double x)
{
	return sqrt(x);
}

static double reciprocal_root(double x)
{
	return 1 / sqrt(x);
}

static double reciprocal(double x)
{
	return 1 / x;
}

static double sigmoid(double x)
{
	return 1 / (1 + exponential(-x));
}

static double silu(double x)
{
	return x == -INFINITY ? -0.0 : x / (1 + exponential(-x));
}

static double hyperbolic_tangent(double x)
{
	double q, u;

	if (x == 0)
		return x;
	if (fabs(x) < 0x1p-6) {
		q = x * x;
		return x + x * q * (-1.0 / 3 + q * (2.0 / 15 - q * (17.0 / 315)));
	}
	u = exponential(2 * x);
	return (u - 1) / (u + 1);
}

static double gelu(double x)
{
	return x == -INFINITY ? -0.0 : 0.5 * x * (1 + error_function(x / SQRT2));
}

static double softplus(double x)
{
	double u;

	if (x > 40)
		return x;
	u = exponential(x);
	return x < -12 ? u - u * u / 2 : logarithm(1 + u);
}

static double sine(double x)
{
	/* (−1)ᵏ / (2 k + 1)! */
	static const double c[] = {
		1.0,
		-1.0 / 6,
		1.0 / 120,
		-1.0 / 5040,
		1.0 / 362880,
		-1.0 / 39916800,
		1.0 / 6227020800,
		-1.0 / 1307674368000,
		1.0 / 355687428096000,
		-1.0 / 121645100408832000,
		1.0 / 51090942171709440000.0,
	};
	double n, r;

	if (x == 0 || isnan(x))
		return x;
	if (fabs(x) > 0x1p20)
		return NAN;
	n = rint(x / PI);
	r = ((x - n * PI_1) - n * PI_2) - n * PI_3;
	r *= horner(c, TERMS(c), r * r);
	return (int)n & 1 ? -r : r;
}

#define FUNCTIONS(X)                                                                               \
	X(IDENTITY, identity)                                                                      \
	X(RELU, relu)                                                                              \
	X(SQUARE, square)                                                                          \
	X(SQRT, square_root)                                                                       \
	X(RSQRT, reciprocal_root)                                                                  \
	X(RECIPROCAL, reciprocal)                                                                  \
	X(EXP, exponential)                                                                        \
	X(LOG, logarithm)                                                                          \
	X(SIGMOID, sigmoid)                                                                        \
	X(SILU, silu)                                                                              \
	X(TANH, hyperbolic_tangent)                                                                \
	X(ERF, error_function)                                                                     \
	X(GELU, gelu)                                                                              \
	X(SOFTPLUS, softplus)                                                                      \
	X(SIN, sine)

/* The conversion of the result is its one rounding to binary32. */
#define DEFINE_ROW(number, function)                                                               \
	static void function##_row(float *out, const float *in, size_t count)                      \
	{                                                                                          \
		for (size_t i = 0; i < count; i++)                                                 \
			out[i] = (float)function(in[i]);                                           \
	}
#define ENTRY_ROW(number, function) [TRN_FUNCTION_##number] = function##_row,

FUNCTIONS(DEFINE_ROW)

trn_function_row *trn_function(unsigned int function)
{
	static trn_function_row *const rows[] = { FUNCTIONS(ENTRY_ROW) };

	return function < sizeof(rows) / sizeof(*rows) ? rows[function] : NULL;
}
