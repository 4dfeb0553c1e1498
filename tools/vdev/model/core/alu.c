// SPDX-License-Identifier: MIT
#include "alu.h"

#include <math.h>

#include <hw/trn_isa.h>

#include "float_format.h"

/* Operations of floats.  Each is rounded to binary32 by the language: no contraction (build.mk). */

static inline float float_bypass(float a, float b)
{
	(void)b;
	return a;
}

static inline float float_add(float a, float b)
{
	return a + b;
}

static inline float float_subtract(float a, float b)
{
	return a - b;
}

static inline float float_multiply(float a, float b)
{
	return a * b;
}

static inline float float_divide(float a, float b)
{
	return a / b;
}

static inline float float_reverse_subtract(float a, float b)
{
	return b - a;
}

static inline float float_reverse_divide(float a, float b)
{
	return b / a;
}

/* The sum of a NaN is one.  Numbers that are equal have equal bits, but for the sign of zero. */
static inline float float_max(float a, float b)
{
	float same = trn_float_of_bits(trn_float_bits(a) & trn_float_bits(b));

	return a > b ? a : a < b ? b : a == b ? same : a + b;
}

static inline float float_min(float a, float b)
{
	float same = trn_float_of_bits(trn_float_bits(a) | trn_float_bits(b));

	return a < b ? a : a > b ? b : a == b ? same : a + b;
}

static inline float float_abs_max(float a, float b)
{
	return float_max(fabsf(a), fabsf(b));
}

static inline float float_equal(float a, float b)
{
	return a == b;
}

static inline float float_not_equal(float a, float b)
{
	return a != b;
}

static inline float float_less(float a, float b)
{
	return a < b;
}

static inline float float_less_equal(float a, float b)
{
	return a <= b;
}

static inline float float_greater(float a, float b)
{
	return a > b;
}

static inline float float_greater_equal(float a, float b)
{
	return a >= b;
}

/* Operations of integers */

static inline int32_t saturate(int64_t x)
{
	x = x > INT32_MAX ? INT32_MAX : x;
	return (int32_t)(x < INT32_MIN ? INT32_MIN : x);
}

static inline int32_t int_bypass(int32_t a, int32_t b)
{
	(void)b;
	return a;
}

static inline int32_t int_add(int32_t a, int32_t b)
{
	return saturate((int64_t)a + b);
}

static inline int32_t int_subtract(int32_t a, int32_t b)
{
	return saturate((int64_t)a - b);
}

static inline int32_t int_multiply(int32_t a, int32_t b)
{
	return saturate((int64_t)a * b);
}

static inline int32_t int_reverse_subtract(int32_t a, int32_t b)
{
	return int_subtract(b, a);
}

static inline int32_t int_max(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static inline int32_t int_min(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

static inline int32_t int_abs(int32_t a)
{
	return a < 0 ? int_subtract(0, a) : a;
}

static inline int32_t int_abs_max(int32_t a, int32_t b)
{
	return int_max(int_abs(a), int_abs(b));
}

static inline int32_t int_equal(int32_t a, int32_t b)
{
	return a == b;
}

static inline int32_t int_not_equal(int32_t a, int32_t b)
{
	return a != b;
}

static inline int32_t int_less(int32_t a, int32_t b)
{
	return a < b;
}

static inline int32_t int_less_equal(int32_t a, int32_t b)
{
	return a <= b;
}

static inline int32_t int_greater(int32_t a, int32_t b)
{
	return a > b;
}

static inline int32_t int_greater_equal(int32_t a, int32_t b)
{
	return a >= b;
}

static inline int32_t int_and(int32_t a, int32_t b)
{
	return a & b;
}

static inline int32_t int_or(int32_t a, int32_t b)
{
	return a | b;
}

static inline int32_t int_xor(int32_t a, int32_t b)
{
	return a ^ b;
}

static inline int32_t int_shift_left(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a << (b & 31));
}

static inline int32_t int_shift_right(int32_t a, int32_t b)
{
	return a >> (b & 31);
}

/* A row function of each operation */
#define DEFINE_ROW(type, operation, op)                                                            \
	static void operation##_row(type *out, const type *a, const type *b, size_t count)         \
	{                                                                                          \
		for (size_t i = 0; i < count; i++)                                                 \
			out[i] = operation(a[i], b[i]);                                            \
	}

#define DEFINE_FOLD(type, operation, op)                                                           \
	static type operation##_fold(type first, const type *a, size_t count)                      \
	{                                                                                          \
		for (size_t i = 0; i < count; i++)                                                 \
			first = operation(first, a[i]);                                            \
		return first;                                                                      \
	}

#define COMMON_OPERATIONS(X, type, prefix)                                                         \
	X(type, prefix##_bypass, BYPASS)                                                           \
	X(type, prefix##_add, ADD)                                                                 \
	X(type, prefix##_subtract, SUBTRACT)                                                       \
	X(type, prefix##_multiply, MULTIPLY)                                                       \
	X(type, prefix##_max, MAX)                                                                 \
	X(type, prefix##_min, MIN)                                                                 \
	X(type, prefix##_abs_max, ABS_MAX)                                                         \
	X(type, prefix##_equal, EQUAL)                                                             \
	X(type, prefix##_not_equal, NOT_EQUAL)                                                     \
	X(type, prefix##_less, LESS)                                                               \
	X(type, prefix##_less_equal, LESS_EQUAL)                                                   \
	X(type, prefix##_greater, GREATER)                                                         \
	X(type, prefix##_greater_equal, GREATER_EQUAL)                                             \
	X(type, prefix##_reverse_subtract, REVERSE_SUBTRACT)

#define FLOAT_OPERATIONS(X)                                                                        \
	COMMON_OPERATIONS(X, float, float)                                                         \
	X(float, float_divide, DIVIDE)                                                             \
	X(float, float_reverse_divide, REVERSE_DIVIDE)

#define INT_OPERATIONS(X)                                                                          \
	COMMON_OPERATIONS(X, int32_t, int)                                                         \
	X(int32_t, int_and, AND)                                                                   \
	X(int32_t, int_or, OR)                                                                     \
	X(int32_t, int_xor, XOR)                                                                   \
	X(int32_t, int_shift_left, SHIFT_LEFT)                                                     \
	X(int32_t, int_shift_right, SHIFT_RIGHT)

#define REDUCE_OPERATIONS(X, type, prefix)                                                         \
	X(type, prefix##_add, ADD)                                                                 \
	X(type, prefix##_multiply, MULTIPLY)                                                       \
	X(type, prefix##_max, MAX)                                                                 \
	X(type, prefix##_min, MIN)                                                                 \
	X(type, prefix##_abs_max, ABS_MAX)

#define ENTRY_ROW(type, operation, op)	[TRN_ALU_##op] = operation##_row,
#define ENTRY_FOLD(type, operation, op) [TRN_ALU_##op] = operation##_fold,
#define FIND(table, op)			((op) < sizeof(table) / sizeof(*(table)) ? (table)[op] : NULL)

FLOAT_OPERATIONS(DEFINE_ROW)
INT_OPERATIONS(DEFINE_ROW)
REDUCE_OPERATIONS(DEFINE_FOLD, float, float)
REDUCE_OPERATIONS(DEFINE_FOLD, int32_t, int)

trn_alu_float_row *trn_alu_float(unsigned int op)
{
	static trn_alu_float_row *const rows[] = { FLOAT_OPERATIONS(ENTRY_ROW) };

	return FIND(rows, op);
}

trn_alu_int_row *trn_alu_int(unsigned int op)
{
	static trn_alu_int_row *const rows[] = { INT_OPERATIONS(ENTRY_ROW) };

	return FIND(rows, op);
}

trn_alu_float_fold *trn_alu_reduce_float(unsigned int op)
{
	static trn_alu_float_fold *const folds[] = { REDUCE_OPERATIONS(ENTRY_FOLD, float, float) };

	return FIND(folds, op);
}

trn_alu_int_fold *trn_alu_reduce_int(unsigned int op)
{
	static trn_alu_int_fold *const folds[] = { REDUCE_OPERATIONS(ENTRY_FOLD, int32_t, int) };

	return FIND(folds, op);
}
