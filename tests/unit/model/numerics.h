/* SPDX-License-Identifier: MIT */
/* What the tests of the NeuronCore's arithmetic share: bits of numbers, and random ones. */
#ifndef TRN_TEST_NUMERICS_H
#define TRN_TEST_NUMERICS_H

#include <check.h>
#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static inline uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * As ck_assert_msg(), for what is done millions of times: that of Check leaves a mark in a file
 * each time.
 */
#define EXPECT(condition, ...)                                                                     \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

/* splitmix64 */
static inline uint64_t random_bits(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* A random float of any sign with an exponent field of first … last */
static inline float random_float(uint64_t *state, unsigned int first, unsigned int last)
{
	uint64_t r = random_bits(state);
	uint32_t exponent = first + (uint32_t)(r >> 32 & 0x7fffffff) % (last - first + 1);

	return float_of((uint32_t)(r & 0x807fffff) | exponent << 23);
}

/* Edges of binary32 */
static const float edge_floats[] = {
	0.0f,
	-0.0f,
	0x1p-149f,
	-0x1p-149f,
	0x1.fffffcp-127f,
	-0x1.fffffcp-127f,
	0x1p-126f,
	-0x1p-126f,
	0x1.000002p-126f,
	0x1p-127f,
	0x1p-64f,
	-0x1p-64f,
	0x1p-24f,
	0x1.fffffep-25f,
	0.25f,
	0.5f,
	-0.5f,
	0x1.fffffep-1f,
	1.0f,
	-1.0f,
	0x1.000002p+0f,
	-0x1.000002p+0f,
	1.5f,
	-1.5f,
	2.0f,
	-2.0f,
	2.5f,
	-2.5f,
	3.0f,
	-3.0f,
	127.0f,
	127.5f,
	-128.0f,
	-128.5f,
	-129.0f,
	0x1p+23f,
	0x1.000002p+23f,
	0x1p+24f,
	-0x1p+24f,
	0x1p+31f,
	-0x1p+31f,
	0x1.fffffep+30f,
	0x1p+63f,
	0x1p+64f,
	-0x1p+64f,
	0x1p+127f,
	-0x1p+127f,
	0x1.fffffep+127f,
	-0x1.fffffep+127f,
	__builtin_inff(),
	-__builtin_inff(),
	__builtin_nanf(""),
	-__builtin_nanf("1"),
};

/* Edges of 32-bit integers */
static const int32_t edge_ints[] = {
	0,
	1,
	-1,
	2,
	-2,
	3,
	-3,
	5,
	31,
	32,
	33,
	-31,
	-32,
	-33,
	127,
	-128,
	32767,
	-32768,
	46340,
	46341,
	-46341,
	65536,
	-65536,
	0x12345678,
	-0x12345678,
	0x3fffffff,
	0x40000000,
	-0x40000000,
	0x55555555,
	-0x55555556,
	INT32_MAX - 1,
	INT32_MAX,
	INT32_MIN,
	INT32_MIN + 1,
};

#endif /* TRN_TEST_NUMERICS_H */
