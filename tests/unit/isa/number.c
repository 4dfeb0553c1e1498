// SPDX-License-Identifier: MIT
#include "number.h"

#include <math.h>

#include "tests/unit/model/numerics.h"

enum beyond {
	INFINITE,
	LARGEST,
	LARGEST_BUT_INFINITY
};

static const struct format {
	int exponent_bits, mantissa_bits, bias;
	enum beyond beyond;
	uint32_t canonical_nan;
} formats[DTYPES] = {
	[TRN_DTYPE_FP32] = { 8, 23, 127, INFINITE, 0x7fc00000 },
	[TRN_DTYPE_BF16] = { 8, 7, 127, INFINITE, 0x7fc0 },
	[TRN_DTYPE_FP16] = { 5, 10, 15, INFINITE, 0x7e00 },
	[TRN_DTYPE_FP8_E4M3] = { 4, 3, 7, LARGEST, 0x7f },
	[TRN_DTYPE_FP8_E5M2] = { 5, 2, 15, LARGEST_BUT_INFINITY, 0x7f },
	[TRN_DTYPE_MXFP8] = { 4, 3, 7, LARGEST, 0x7f },
	[TRN_DTYPE_FP4] = { 2, 1, 1, LARGEST, 0 },
};

const char *const number_names[DTYPES] = { "fp32", "bf16",  "fp16",  "e4m3",  "e5m2",
					   "int8", "int16", "int32", "mxfp8", "fp4" };

bool number_is_integer(unsigned int dtype)
{
	return dtype == TRN_DTYPE_INT8 || dtype == TRN_DTYPE_INT16 || dtype == TRN_DTYPE_INT32;
}

unsigned int number_bits(unsigned int dtype)
{
	static const uint8_t integer_bits[DTYPES] = {
		[TRN_DTYPE_INT8] = 8, [TRN_DTYPE_INT16] = 16, [TRN_DTYPE_INT32] = 32
	};

	if (number_is_integer(dtype))
		return integer_bits[dtype];
	return 1U + (unsigned int)(formats[dtype].exponent_bits + formats[dtype].mantissa_bits);
}

/* E4M3 has NaN where others have infinities and NaNs, E2M1 has neither. */
static uint32_t infinity(unsigned int dtype)
{
	const struct format *format = &formats[dtype];

	return ((1U << format->exponent_bits) - 1) << format->mantissa_bits;
}

static uint32_t largest(unsigned int dtype)
{
	switch (dtype) {
	case TRN_DTYPE_FP8_E4M3:
	case TRN_DTYPE_MXFP8:
		return 0x7e;
	case TRN_DTYPE_FP4:
		return 7;
	}
	return infinity(dtype) - 1;
}

int32_t number_decode_int(unsigned int dtype, uint32_t bits)
{
	return dtype == TRN_DTYPE_INT8	  ? (int8_t)(uint8_t)bits
	       : dtype == TRN_DTYPE_INT16 ? (int16_t)(uint16_t)bits
					  : (int32_t)bits;
}

uint32_t number_saturate(unsigned int dtype, int64_t x)
{
	int64_t limit = (int64_t)1 << (number_bits(dtype) - 1);
	uint32_t bits = (uint32_t)(x >= limit ? limit - 1 : x < -limit ? -limit : x);

	return bits & (uint32_t)(2 * limit - 1);
}

float number_decode(unsigned int dtype, uint32_t bits)
{
	const struct format *format = &formats[dtype];
	uint32_t sign, magnitude, exponent, mantissa;
	double x;

	if (number_is_integer(dtype))
		return (float)number_decode_int(dtype, bits);
	sign = bits >> (number_bits(dtype) - 1);
	magnitude = bits & ((1U << (number_bits(dtype) - 1)) - 1);
	exponent = magnitude >> format->mantissa_bits;
	mantissa = magnitude & ((1U << format->mantissa_bits) - 1);
	if (magnitude > largest(dtype))
		x = format->beyond != LARGEST && magnitude == infinity(dtype) ? INFINITY : NAN;
	else if (exponent)
		x = ldexp((1U << format->mantissa_bits) + mantissa,
			  (int)exponent - format->bias - format->mantissa_bits);
	else
		x = ldexp(mantissa, 1 - format->bias - format->mantissa_bits);
	return (float)(sign ? -x : x);
}

/* The magnitude's bits, of a multiple of the last place; the exponent is allowed to go on. */
static uint32_t magnitude_bits(const struct format *format, double steps, int exponent)
{
	int last = 1 - format->bias; /* of subnormals, and of the first normal ones */
	uint32_t field = exponent > last ? (uint32_t)(exponent - last) : 0;

	return (uint32_t)steps + (field << format->mantissa_bits);
}

uint32_t number_encode(unsigned int dtype, float x, struct number_random random)
{
	const struct format *format = &formats[dtype];
	uint32_t sign, bits, over;
	int exponent;
	double steps;

	if (number_is_integer(dtype)) {
		if (isnan(x))
			return 0;
		return number_saturate(dtype, (int64_t)rint(fmin(fmax(x, -0x1p40), 0x1p40)));
	}
	if (isnan(x))
		return format->canonical_nan;
	sign = signbit(x) ? 1U << (number_bits(dtype) - 1) : 0;
	over = format->beyond == INFINITE ? infinity(dtype) : largest(dtype);
	if (isinf(x))
		return (format->beyond == LARGEST ? largest(dtype) : infinity(dtype)) | sign;
	frexp(x, &exponent);
	exponent--;
	if (x == 0 || exponent < 1 - format->bias)
		exponent = 1 - format->bias;
	/* |x| in units of the last place, exact */
	steps = ldexp(fabs((double)x), format->mantissa_bits - exponent);
	if (random.stochastic && fabsf(x) <= number_decode(dtype, largest(dtype)))
		steps = floor(steps) + (random.random < (steps - floor(steps)) * 0x1p32);
	else
		steps = rint(steps);
	bits = magnitude_bits(format, steps, exponent);
	return (bits > largest(dtype) ? over : bits) | sign;
}

uint32_t number_convert(unsigned int to, unsigned int from, uint32_t bits,
			struct number_random random)
{
	if (to == from)
		return bits;
	if (number_is_integer(to) && number_is_integer(from))
		return number_saturate(to, number_decode_int(from, bits));
	return number_encode(to, number_decode(from, bits), random);
}

static uint32_t edge_int(unsigned int dtype, uint64_t random)
{
	return number_saturate(dtype, edge_ints[random % COUNT(edge_ints)]);
}

/* Zero, the smallest and largest of subnormal, normal and infinite ones, NaNs, 1 and ½, ties. */
static uint32_t edge_float(unsigned int dtype, uint64_t random)
{
	const struct format *format = &formats[dtype];
	uint32_t one = (uint32_t)format->bias << format->mantissa_bits;
	uint32_t ulp = 1U << format->mantissa_bits;
	const uint32_t edges[] = {
		0,
		1,
		2,
		3,
		ulp / 2,
		ulp - 1,
		ulp,
		ulp + 1,
		largest(dtype),
		largest(dtype) - 1,
		infinity(dtype),
		infinity(dtype) + 1,
		infinity(dtype) | ulp / 2,
		one,
		one + 1,
		one - 1,
		one - ulp,
		one + ulp,
		one + ulp / 2,
		one + ulp + ulp / 2,
		one + ulp + ulp / 4,
		one + 7 * ulp,
		one + 7 * ulp + 1,
	};
	uint32_t mask = (1U << (number_bits(dtype) - 1)) - 1;
	uint32_t sign = random >> 40 & 1 ? mask + 1 : 0;

	if (dtype == TRN_DTYPE_FP32 && random >> 41 & 1)
		return bits_of(edge_floats[random % COUNT(edge_floats)]);
	return (edges[random % COUNT(edges)] & mask) | sign;
}

uint32_t number_edge(unsigned int dtype, uint64_t random)
{
	if (random >> 62 == 0)
		return (uint32_t)random & (uint32_t)((1ULL << number_bits(dtype)) - 1);
	return number_is_integer(dtype) ? edge_int(dtype, random) : edge_float(dtype, random);
}

uint32_t number_moderate(unsigned int dtype, uint64_t random)
{
	static const struct number_random nearest;
	float x;

	if (number_is_integer(dtype))
		return number_saturate(dtype, (int64_t)(random % 201) - 100);
	x = ldexpf(1 + (float)(random >> 8 & 0xffffff) * 0x1p-24f, (int)(random % 5) - 3);
	return number_encode(dtype, random >> 63 ? -x : x, nearest);
}
