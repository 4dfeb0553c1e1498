/* SPDX-License-Identifier: MIT */
/*
 * Data types as Documentation/isa.rst, "Data types", defines them: one element's bits to its number
 * and back.
 */
#ifndef TRN_TEST_NUMBER_H
#define TRN_TEST_NUMBER_H

#include <hw/trn_regs.h>
#include <stdbool.h>
#include <stdint.h>

#define DTYPES (TRN_DTYPE_FP4 + 1)

struct number_random {
	bool stochastic;
	uint32_t random;
};

extern const char *const number_names[DTYPES];

bool number_is_integer(unsigned int dtype);
/* 4 for FP4 */
unsigned int number_bits(unsigned int dtype);

/* FP32 of an element's bits; an MX type's without its scale. */
float number_decode(unsigned int dtype, uint32_t bits);
/* Bits of the result's type that x is rounded to. */
uint32_t number_encode(unsigned int dtype, float x, struct number_random random);
/* Integer types alone */
int32_t number_decode_int(unsigned int dtype, uint32_t bits);
uint32_t number_saturate(unsigned int dtype, int64_t x);
/* A conversion between any two types; equal ones keep all bits. */
uint32_t number_convert(unsigned int to, unsigned int from, uint32_t bits,
			struct number_random random);

/* Bits of an edge of the type or, one time in four, any. */
uint32_t number_edge(unsigned int dtype, uint64_t random);
/* Bits of a number that is neither large nor infinite nor NaN: magnitude 2^-3 … 4. */
uint32_t number_moderate(unsigned int dtype, uint64_t random);

#endif /* TRN_TEST_NUMBER_H */
