// SPDX-License-Identifier: MIT
#include "alu_reference.h"

#include <math.h>

#include "numerics.h"

bool alu_is_of_floats(unsigned int op)
{
	return op == TRN_ALU_DIVIDE || op == TRN_ALU_REVERSE_DIVIDE;
}

bool alu_is_of_integers(unsigned int op)
{
	return op == TRN_ALU_AND || op == TRN_ALU_OR || op == TRN_ALU_XOR ||
	       op == TRN_ALU_SHIFT_LEFT || op == TRN_ALU_SHIFT_RIGHT;
}

/* IEEE 754-2019 maximum, of numbers that are no NaN */
static float maximum(float a, float b)
{
	if (a == 0 && b == 0)
		return signbit(a) && signbit(b) ? -0.0f : 0.0f;
	return a > b ? a : b;
}

/*
 * Sums, products and quotients of binary32 numbers rounded to binary64 and then to
 * binary32 are those rounded once: 53 ≥ 2 × 24 + 2 bits, and subnormals need fewer.
 */
float alu_float_reference(unsigned int op, float a, float b)
{
	bool unordered = isnan(a) || isnan(b);

	switch (op) {
	case TRN_ALU_BYPASS:
		return a;
	case TRN_ALU_ADD:
		return (float)((double)a + (double)b);
	case TRN_ALU_SUBTRACT:
		return (float)((double)a - (double)b);
	case TRN_ALU_MULTIPLY:
		return (float)((double)a * (double)b);
	case TRN_ALU_DIVIDE:
		return (float)((double)a / (double)b);
	case TRN_ALU_REVERSE_SUBTRACT:
		return (float)((double)b - (double)a);
	case TRN_ALU_REVERSE_DIVIDE:
		return (float)((double)b / (double)a);
	case TRN_ALU_MAX:
		return unordered ? NAN : maximum(a, b);
	case TRN_ALU_MIN:
		return unordered ? NAN : -maximum(-a, -b);
	case TRN_ALU_ABS_MAX:
		return unordered ? NAN : maximum(fabsf(a), fabsf(b));
	case TRN_ALU_EQUAL:
		return unordered ? 0 : a == b;
	case TRN_ALU_NOT_EQUAL:
		return unordered ? 1 : a != b;
	case TRN_ALU_LESS:
		return unordered ? 0 : a < b;
	case TRN_ALU_LESS_EQUAL:
		return unordered ? 0 : a <= b;
	case TRN_ALU_GREATER:
		return unordered ? 0 : a > b;
	case TRN_ALU_GREATER_EQUAL:
		return unordered ? 0 : a >= b;
	}
	ck_abort_msg("no operation %u of floats", op);
}

static int32_t saturated(__int128 x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

int32_t alu_int_reference(unsigned int op, __int128 a, __int128 b)
{
	__int128 power = (__int128)1 << (int)((b % 32 + 32) % 32);
	__int128 absolute_a = a < 0 ? -a : a, absolute_b = b < 0 ? -b : b;

	switch (op) {
	case TRN_ALU_BYPASS:
		return (int32_t)a;
	case TRN_ALU_ADD:
		return saturated(a + b);
	case TRN_ALU_SUBTRACT:
		return saturated(a - b);
	case TRN_ALU_REVERSE_SUBTRACT:
		return saturated(b - a);
	case TRN_ALU_MULTIPLY:
		return saturated(a * b);
	case TRN_ALU_MAX:
		return (int32_t)(a > b ? a : b);
	case TRN_ALU_MIN:
		return (int32_t)(a > b ? b : a);
	case TRN_ALU_ABS_MAX:
		return saturated(absolute_a > absolute_b ? absolute_a : absolute_b);
	case TRN_ALU_EQUAL:
		return a == b;
	case TRN_ALU_NOT_EQUAL:
		return a != b;
	case TRN_ALU_LESS:
		return a < b;
	case TRN_ALU_LESS_EQUAL:
		return a <= b;
	case TRN_ALU_GREATER:
		return a > b;
	case TRN_ALU_GREATER_EQUAL:
		return a >= b;
	case TRN_ALU_AND:
	case TRN_ALU_OR:
	case TRN_ALU_XOR: {
		uint32_t x = (uint32_t)a, y = (uint32_t)b, result = 0;

		for (uint32_t bit = 1; bit; bit <<= 1) {
			int set = !!(x & bit) + !!(y & bit);

			if (op == TRN_ALU_AND ? set == 2 : op == TRN_ALU_OR ? set >= 1 : set == 1)
				result += bit;
		}
		return (int32_t)result;
	}
	case TRN_ALU_SHIFT_LEFT:
		return (int32_t)(uint32_t)(a * power);
	case TRN_ALU_SHIFT_RIGHT: /* towards −∞ */
		return (int32_t)(a < 0 ? -((-a + power - 1) / power) : a / power);
	}
	ck_abort_msg("no operation %u of integers", op);
}
