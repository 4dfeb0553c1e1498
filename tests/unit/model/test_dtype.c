// SPDX-License-Identifier: MIT
/*
 * Data types.  The reference is a table of all values of a type, made from its definition
 * in the specification, and finds a number's neighbours there; comparisons are exact in binary64.
 */
#include <hw/trn_regs.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "numerics.h"
#include "suites.h"
#include "tools/vdev/model/core/dtype.h"
#include "tools/vdev/model/core/philox.h"

#define ROW	      256
#define RANDOM_FLOATS 2000000

enum beyond {
	INFINITE,
	LARGEST,
	LARGEST_BUT_INFINITY
};

static const struct type {
	const char *name;
	unsigned int dtype, bits, exponent_bits, mantissa_bits, bias;
	unsigned int nans; /* how many magnitudes are NaN */
	bool has_infinity;
	enum beyond beyond;
	uint32_t canonical_nan;
} types[] = {
	{ "bf16", TRN_DTYPE_BF16, 16, 8, 7, 127, 127, true, INFINITE, 0x7fc0 },
	{ "fp16", TRN_DTYPE_FP16, 16, 5, 10, 15, 1023, true, INFINITE, 0x7e00 },
	{ "e4m3", TRN_DTYPE_FP8_E4M3, 8, 4, 3, 7, 1, false, LARGEST, 0x7f },
	{ "e5m2", TRN_DTYPE_FP8_E5M2, 8, 5, 2, 15, 3, true, LARGEST_BUT_INFINITY, 0x7f },
	{ "e2m1", TRN_DTYPE_FP4, 4, 2, 1, 1, 0, false, LARGEST, 0 },
};

/* Of the type under test: the finite magnitudes in order; the code is the index. */
static const struct type *type;
static double value[1 << 15];
static uint32_t values;		 /* how many */
static double after_the_largest; /* what would follow if the exponent went on */
static uint32_t sign_bit;

static void use_type(int index)
{
	type = &types[index];
	sign_bit = 1U << (type->bits - 1);
	values = sign_bit - type->nans - type->has_infinity;
	for (uint32_t code = 0; code < values; code++) {
		uint32_t exponent = code >> type->mantissa_bits;
		uint32_t mantissa = code - (exponent << type->mantissa_bits);
		double fraction = ldexp(mantissa, -(int)type->mantissa_bits);

		value[code] = exponent ? ldexp(1 + fraction, (int)exponent - (int)type->bias)
				       : ldexp(fraction, 1 - (int)type->bias);
		EXPECT(code == 0 || value[code] > value[code - 1], "code 0x%x", code);
	}
	after_the_largest = 2 * value[values - 1] - value[values - 2];
}

static void store(const float *from, const uint32_t *random, uint32_t *codes, size_t count)
{
	const struct trn_dtype *dtype = trn_dtype(type->dtype);
	uint8_t row[ROW * 2];

	EXPECT(count <= ROW, "%zu elements", count);
	dtype->store(row, dtype->size, from, random, count);
	for (size_t i = 0; i < count; i++)
		codes[i] = type->bits == 16  ? row[2 * i] | (uint32_t)row[2 * i + 1] << 8
			   : type->bits == 8 ? row[i]
					     : row[i / 2] >> (4 * (i % 2)) & 0xf;
}

/* count codes from first on */
static void load(uint32_t first, float *to, size_t count)
{
	const struct trn_dtype *dtype = trn_dtype(type->dtype);
	uint8_t row[ROW * 2] = { 0 };

	EXPECT(count <= ROW, "%zu elements", count);
	for (size_t i = 0; i < count; i++) {
		uint32_t code = first + (uint32_t)i;

		if (type->bits == 16) {
			row[2 * i] = (uint8_t)code;
			row[2 * i + 1] = (uint8_t)(code >> 8);
		} else if (type->bits == 8) {
			row[i] = (uint8_t)code;
		} else {
			row[i / 2] |= (uint8_t)(code << (4 * (i % 2)));
		}
	}
	dtype->load(to, row, dtype->size, count);
}

/* The last value that is not above x */
static uint32_t value_below(double x)
{
	uint32_t low = 0, high = values;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (value[middle] <= x)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t nearest(float x)
{
	double magnitude = fabs((double)x), middle;
	uint32_t sign = signbit(x) ? sign_bit : 0, below;

	if (isnan(x))
		return type->canonical_nan;
	if (isinf(x))
		return (type->beyond == LARGEST ? values - 1 : values) | sign;
	below = value_below(magnitude);
	if (below == values - 1) {
		middle = (value[below] + after_the_largest) / 2;
		/* The largest number is odd: a tie goes beyond. */
		return (type->beyond == INFINITE && magnitude >= middle ? values : below) | sign;
	}
	/* Twice the middle is exact, and so is twice x. */
	middle = value[below] + value[below + 1];
	if (2 * magnitude > middle || (2 * magnitude == middle && below % 2))
		below++;
	return below | sign;
}

static uint32_t stochastic(float x, uint32_t random)
{
	double magnitude = fabs((double)x);
	uint32_t below;

	if (isnan(x) || magnitude >= value[values - 1])
		return nearest(x);
	below = value_below(magnitude);
	/* R < φ × 2³², both sides times |b| − |a|, a power of two */
	if (random * (value[below + 1] - value[below]) < (magnitude - value[below]) * 0x1p32)
		below++;
	return below | (signbit(x) ? sign_bit : 0);
}

static void expect(const float *from, const uint32_t *random, size_t count)
{
	uint32_t codes[ROW];

	store(from, random, codes, count);
	for (size_t i = 0; i < count; i++) {
		uint32_t expected = random ? stochastic(from[i], random[i]) : nearest(from[i]);

		EXPECT(codes[i] == expected, "%s of %a (0x%08x), random 0x%x: 0x%x, not 0x%x",
		       type->name, from[i], bits_of(from[i]), random ? random[i] : 0, codes[i],
		       expected);
	}
}

START_TEST(every_code_loads_and_round_trips)
{
	uint32_t codes = 1U << type->bits, stored[ROW], magnitude;
	float x[ROW];

	for (uint32_t first = 0; first < codes; first += ROW) {
		size_t count = codes < ROW ? codes : ROW;

		load(first, x, count);
		store(x, NULL, stored, count);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t code = first + i;
			bool good;

			magnitude = code & ~sign_bit;
			if (magnitude < values) {
				good = fabs((double)x[i]) == value[magnitude];
			} else if (magnitude == values && type->has_infinity) {
				good = isinf(x[i]);
			} else {
				good = isnan(x[i]);
				code = type->canonical_nan;
			}
			if (!isnan(x[i]))
				good = good && !signbit(x[i]) == !(code & sign_bit);
			EXPECT(good && stored[i] == code, "%s: 0x%x is %a, and that 0x%x",
			       type->name, first + i, x[i], stored[i]);
		}
	}
}
END_TEST

START_TEST(values_and_middles_and_their_neighbours)
{
	for (uint32_t code = 0; code < values; code++) {
		double next = code + 1 < values ? value[code + 1] : after_the_largest;
		float at = (float)value[code], middle = (float)((value[code] + next) / 2);
		float x[] = {
			at,
			nextafterf(at, INFINITY),
			nextafterf(at, -INFINITY),
			(float)next,
			middle,
			nextafterf(middle, INFINITY),
			nextafterf(middle, 0),
			0,
			-at,
			-nextafterf(at, INFINITY),
			-nextafterf(at, -INFINITY),
			-middle,
			-nextafterf(middle, INFINITY),
			-nextafterf(middle, 0),
		};

		EXPECT((double)middle == (value[code] + next) / 2, "code 0x%x", code);
		expect(x, NULL, COUNT(x));
	}
}
END_TEST

START_TEST(edges)
{
	float x[COUNT(edge_floats) + 1] = { 0 };
	/* NaNs: quiet and signalling, both signs, smallest and largest payload */
	const uint32_t nans[] = { 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc00001,
				  0x7fffffff, 0xff800001, 0xffc00000, 0xffffffff };

	memcpy(x, edge_floats, sizeof(edge_floats));
	expect(x, NULL, COUNT(edge_floats) & ~1U);
	expect(x + 1, NULL, COUNT(edge_floats) & ~1U);
	for (size_t i = 0; i < COUNT(nans); i++)
		x[i] = float_of(nans[i]);
	expect(x, NULL, COUNT(nans));
}
END_TEST

START_TEST(random_floats)
{
	unsigned int least = type->bias + type->mantissa_bits + 3, most = type->bias + 4;
	unsigned int first = least < 127 ? 127 - least : 0;
	unsigned int last = most < 127 ? 127 + most : 254;
	uint64_t state = type->dtype;
	uint32_t random[ROW];
	float x[ROW];

	for (unsigned int done = 0; done < RANDOM_FLOATS; done += ROW) {
		for (unsigned int i = 0; i < ROW; i++) {
			x[i] = i % 4 ? random_float(&state, first, last)
				     : float_of((uint32_t)random_bits(&state));
			random[i] = (uint32_t)random_bits(&state) >> random_bits(&state) % 32;
		}
		expect(x, NULL, ROW);
		expect(x, random, ROW);
	}
}
END_TEST

/* Around φ × 2³²: the last random number that rounds away from zero, and the first that does not */
START_TEST(stochastic_thresholds)
{
	const uint32_t step = values > 1000 ? 37 : 1;
	const double parts[] = { 0, 0x1p-20, 0.25, 0.5, 0.75, 1 - 0x1p-12 };

	for (uint32_t code = 0; code + 1 < values; code += step) {
		for (size_t k = 0; k < COUNT(parts); k++) {
			double exact = value[code] + parts[k] * (value[code + 1] - value[code]);
			float near = (float)exact, x[12];
			double phi = ((double)near - value[code]) / (value[code + 1] - value[code]);
			/* phi has few enough bits to be exact, with its smallest operands too. */
			uint32_t threshold = (uint32_t)ceil(phi * 0x1p32), codes[12];
			uint32_t random[12] = { 0,	   UINT32_MAX,	  threshold - 1,
						threshold, threshold + 1, threshold / 2 };

			memcpy(random + 6, random, 6 * sizeof(*random));
			for (unsigned int i = 0; i < 12; i++)
				x[i] = i < 6 ? near : -near;
			expect(x, random, 12);
			/* In words, apart from the reference */
			store(x, random, codes, 12);
			EXPECT(phi < 1 && codes[0] == (phi > 0 ? code + 1 : code) &&
				       codes[1] == code &&
				       codes[2] == (phi > 0 ? code + 1 : code) &&
				       codes[3] == code && codes[9] == (code | sign_bit),
			       "%s of %a, threshold 0x%x", type->name, near, threshold);
		}
	}
	/* As small as can be: one number of 2³² rounds away from zero. */
	expect((float[]){ 0x1p-149f, 0x1p-149f, -0x1p-149f, -0x1p-149f },
	       (uint32_t[]){ 0, 1, 0, 1 }, 4);
	/* Beyond the largest, and NaNs: the rule for nearest */
	for (size_t i = 0; i + 2 <= COUNT(edge_floats); i++)
		for (uint32_t random = 0; random < 2; random++)
			expect(edge_floats + i, (uint32_t[]){ 0 - random, 0 - random }, 2);
	for (unsigned int part = 0; part < 64; part++) {
		float x = (float)(value[values - 1] +
				  part / 32.0 * (after_the_largest - value[values - 1]));

		expect((float[]){ x, -x, x, -x }, (uint32_t[]){ 0, 0, UINT32_MAX, UINT32_MAX }, 4);
	}
}
END_TEST

/*
 * How often the larger neighbour results is binomially distributed with probability φ: within six
 * standard deviations, which chance exceeds twice in 10⁹.
 */
START_TEST(stochastic_mean)
{
	const double parts[] = { 1.0 / 1024, 0.1, 0.25, 0.5, 2.0 / 3, 0.9, 1023.0 / 1024 };
	const unsigned int trials = 1 << 17;
	uint32_t codes[ROW], random[ROW];
	float row[ROW];

	for (size_t k = 0; k < COUNT(parts); k++) {
		uint32_t code = type->bits == 4 ? 4 : values / 2, larger = 0;
		double gap = value[code + 1] - value[code];
		float x = (float)(value[code] + parts[k] * gap);
		double phi = (x - value[code]) / gap, mean = trials * phi;
		struct trn_random whose = { .seed = 1, .instruction = (uint32_t)k, .engine = 1 };

		for (unsigned int i = 0; i < ROW; i++)
			row[i] = x;
		for (uint32_t done = 0; done < trials; done += ROW) {
			trn_random_row(&whose, done, random, ROW);
			store(row, random, codes, ROW);
			for (unsigned int i = 0; i < ROW; i++) {
				EXPECT(codes[i] == code || codes[i] == code + 1, "%s of %a: 0x%x",
				       type->name, x, codes[i]);
				larger += codes[i] - code;
			}
		}
		ck_assert_msg(fabs(larger - mean) <= 6 * sqrt(mean * (1 - phi)),
			      "%s: %u of %u, expected %f", type->name, larger, trials, mean);
	}
}
END_TEST

START_TEST(fp32)
{
	const struct trn_dtype *dtype = trn_dtype(TRN_DTYPE_FP32);
	uint64_t state = 32;

	ck_assert_uint_eq(dtype->size, 4);
	for (unsigned int k = 0; k < 100000; k++) {
		uint32_t bits = (uint32_t)random_bits(&state), stored;
		uint8_t at[5];
		float x;

		if (k % 4 == 0)
			bits |= 0x7f800000;
		memcpy(at + 1, &bits, 4); /* not aligned */
		dtype->load(&x, at + 1, 4, 1);
		EXPECT(bits_of(x) == bits, "0x%08x: 0x%08x", bits, bits_of(x));
		dtype->store(at + 1, 4, &x, k % 2 ? &bits : NULL, 1);
		memcpy(&stored, at + 1, 4);
		EXPECT(stored == ((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits),
		       "0x%08x: 0x%08x", bits, stored);
	}
}
END_TEST

static const struct {
	unsigned int dtype, size;
	int64_t low, high;
} int_types[] = {
	{ TRN_DTYPE_INT8, 1, -128, 127 },
	{ TRN_DTYPE_INT16, 2, -32768, 32767 },
	{ TRN_DTYPE_INT32, 4, INT32_MIN, INT32_MAX },
};

static int64_t within(int64_t x, unsigned int index)
{
	return x < int_types[index].low	   ? int_types[index].low
	       : x > int_types[index].high ? int_types[index].high
					   : x;
}

static int64_t stored_int(const uint8_t *at, unsigned int index)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < int_types[index].size; i++)
		value += (uint64_t)at[i] << (8 * i);
	return value > (uint64_t)int_types[index].high
		       ? (int64_t)value - (1LL << (8 * int_types[index].size))
		       : (int64_t)value;
}

static int64_t nearest_int(float x, unsigned int index)
{
	double below, part;

	if (isnan(x))
		return 0;
	if (fabs((double)x) >= 0x1p40)
		return x < 0 ? int_types[index].low : int_types[index].high;
	below = floor(x);
	part = x - below;
	if (part > 0.5 || (part == 0.5 && (int64_t)below % 2))
		below++;
	return within((int64_t)below, index);
}

static void expect_ints(const float *from, size_t count, unsigned int index)
{
	const struct trn_dtype *dtype = trn_dtype(int_types[index].dtype);
	const uint32_t random[ROW] = { 0 };
	uint8_t row[ROW * 4], stochastically[ROW * 4];

	dtype->store(row, dtype->size, from, NULL, count);
	for (size_t i = 0; i < count; i++)
		EXPECT(stored_int(row + i * dtype->size, index) == nearest_int(from[i], index),
		       "int%u of %a: %ld, not %ld", 8 * dtype->size, from[i],
		       (long)stored_int(row + i * dtype->size, index),
		       (long)nearest_int(from[i], index));
	dtype->store(stochastically, dtype->size, from, random, count);
	ck_assert_mem_eq(stochastically, row, count * dtype->size);
}

START_TEST(ints_from_floats)
{
	uint64_t state = 5;
	float x[ROW];

	expect_ints(edge_floats, COUNT(edge_floats), _i);
	for (unsigned int k = 0; k < 3; k++) {
		for (int side = -1; side <= 1; side += 2) {
			double limit = side < 0 ? int_types[k].low : int_types[k].high;

			for (int i = 0; i < ROW; i++)
				x[i] = (float)(limit + (i - 128) / 8.0);
			expect_ints(x, ROW, _i);
			x[0] = (float)limit;
			for (int i = 1; i < ROW; i++)
				x[i] = nextafterf(x[i - 1], i < 20 ? 0 : side * INFINITY);
			expect_ints(x, ROW, _i);
		}
	}
	for (unsigned int k = 0; k < 4000; k++) {
		for (int i = 0; i < ROW; i++)
			x[i] = i % 2 ? random_float(&state, 120, 160)
				     : (float)((int)(random_bits(&state) % (1 << 18)) - (1 << 17)) /
					       2;
		expect_ints(x, ROW, _i);
	}
}
END_TEST

START_TEST(floats_from_ints)
{
	const struct trn_dtype *dtype = trn_dtype(int_types[_i].dtype);
	uint64_t state = 6;

	ck_assert(dtype->integer);
	ck_assert_uint_eq(dtype->size, int_types[_i].size);
	for (unsigned int k = 0; k < 200000; k++) {
		/* All of 16 bits, and INT32's of all sizes and around its limits */
		int32_t wanted = _i < 2	       ? (int32_t)(k % 65536) - 32768
				 : k % 16 == 0 ? INT32_MAX - (int32_t)k / 16
				 : k % 16 == 1 ? INT32_MIN + (int32_t)k / 16
					       : (int32_t)random_bits(&state) >> k % 32;
		char text[20];
		uint8_t at[4];
		int32_t n;
		float x;

		dtype->store_int(at, dtype->size, &wanted, 1);
		EXPECT(stored_int(at, _i) == within(wanted, _i), "%d", wanted);
		dtype->load_int(&n, at, dtype->size, 1);
		EXPECT(n == within(wanted, _i), "%d: %d", wanted, n);
		/* strtof() rounds to nearest. */
		snprintf(text, sizeof(text), "%d", n);
		dtype->load(&x, at, dtype->size, 1);
		EXPECT(x == strtof(text, NULL), "%s: %a", text, x);
	}
}
END_TEST

START_TEST(no_other_types)
{
	ck_assert_ptr_null(trn_dtype(TRN_DTYPE_FP4 + 1));
	ck_assert_ptr_null(trn_dtype(255));
	for (unsigned int number = 0; number <= TRN_DTYPE_FP4; number++) {
		const struct trn_dtype *dtype = trn_dtype(number);
		bool integer = number == TRN_DTYPE_INT8 || number == TRN_DTYPE_INT16 ||
			       number == TRN_DTYPE_INT32;

		ck_assert_uint_eq(dtype->elements, number == TRN_DTYPE_FP4 ? 2 : 1);
		ck_assert_int_eq(dtype->integer, integer);
		ck_assert_int_eq(dtype->load_int && dtype->store_int, integer);
		ck_assert_ptr_nonnull(dtype->load);
		ck_assert_int_eq(dtype->store != NULL, number != TRN_DTYPE_MXFP8);
	}
}
END_TEST

/* Rows at any step are what neighbouring elements are, and nothing else is touched. */
START_TEST(steps)
{
	const struct trn_dtype *dtype = trn_dtype(_i);
	const ptrdiff_t all[] = { 1, 2, 3, 7, -1, -2, -5 };
	uint8_t memory[2048], dense[256];
	float x[64], back[64], dense_back[64];
	uint64_t state = 9;

	if (!dtype->store)
		return;
	for (unsigned int i = 0; i < 64; i++)
		x[i] = random_float(&state, 124, 133);
	dtype->store(dense, dtype->size, x, NULL, 64);
	dtype->load(dense_back, dense, dtype->size, 64);
	for (size_t k = 0; k < COUNT(all); k++) {
		ptrdiff_t step = all[k] * dtype->size;
		uint8_t *at = memory + 1023; /* not aligned */

		memset(memory, 0xee, sizeof(memory));
		/* 16 places of 4 bytes 7 apart are within half of the memory. */
		dtype->store(at, step, x, NULL, 32);
		dtype->load(back, at, step, 32);
		ck_assert_mem_eq(back, dense_back, 32 * sizeof(*back));
		for (ptrdiff_t place = 0; place < 32 / dtype->elements; place++) {
			ck_assert_mem_eq(at + place * step, dense + place * dtype->size,
					 dtype->size);
			memset(at + place * step, 0xee, dtype->size);
		}
		for (size_t i = 0; i < sizeof(memory); i++)
			EXPECT(memory[i] == 0xee, "step %td: byte %zu", step, i);
	}
	/* At one place the last remains, and is read for all. */
	dtype->store(memory, 0, x, NULL, 64);
	ck_assert_mem_eq(memory, dense + (64 / dtype->elements - 1) * dtype->size, dtype->size);
	dtype->load(back, memory, 0, 64);
	for (unsigned int i = 0; i < 64; i++)
		ck_assert(back[i] == dense_back[64 - dtype->elements + i % dtype->elements]);
}
END_TEST

/* Whatever is written then, nothing else is. */
START_TEST(overlap_is_survived)
{
	const struct trn_dtype *dtype = trn_dtype(_i);
	const ptrdiff_t size = dtype->size, count = 32 / dtype->elements;
	uint8_t memory[1024], same[1024];

	for (unsigned int i = 0; i < sizeof(memory); i++)
		memory[i] = same[i] = (uint8_t)(i * 7);
	for (ptrdiff_t shift = -3; shift <= 3; shift++) {
		uint8_t *from = memory + 400, *to = from + shift * size;

		trn_row_convert((struct trn_row){ dtype, to, size },
				(struct trn_row){ dtype, from, size }, NULL, 32);
		if (!shift)
			ck_assert_mem_eq(memory, same, sizeof(memory));
		memcpy(to, same + (to - memory), (size_t)(count * size));
		ck_assert_mem_eq(memory, same, sizeof(memory));
	}
}
END_TEST

/* Each type to each: bits stay, or by way of integers, or by way of FP32. */
START_TEST(conversions)
{
	enum {
		ELEMENTS = 1000
	};
	static uint8_t from[ELEMENTS * 4], to[ELEMENTS * 8], expected[ELEMENTS * 8];
	static uint32_t random[ELEMENTS];
	static float floats[ELEMENTS];
	static int32_t ints[ELEMENTS];
	const struct trn_dtype *source = trn_dtype(_i);
	uint64_t state = 10;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)random_bits(&state);
	for (size_t i = 0; i < ELEMENTS; i++)
		random[i] = (uint32_t)random_bits(&state);
	for (unsigned int number = 0; number <= TRN_DTYPE_FP4; number++) {
		const struct trn_dtype *target = trn_dtype(number);
		ptrdiff_t step = 2 * target->size;

		for (unsigned int is_stochastic = 0; is_stochastic < 2; is_stochastic++) {
			uint32_t *numbers = is_stochastic ? random : NULL;

			memset(to, 0, sizeof(to));
			memset(expected, 0, sizeof(expected));
			if (source == target) {
				for (size_t i = 0; i < ELEMENTS / target->elements; i++)
					memcpy(expected + i * step, from + i * target->size,
					       target->size);
			} else if (source->integer && target->integer) {
				source->load_int(ints, from, source->size, ELEMENTS);
				target->store_int(expected, step, ints, ELEMENTS);
			} else if (target->store) {
				source->load(floats, from, source->size, ELEMENTS);
				target->store(expected, step, floats, numbers, ELEMENTS);
			} else {
				continue; /* MXFP8 */
			}
			trn_row_convert((struct trn_row){ target, to, step },
					(struct trn_row){ source, from, source->size }, numbers,
					ELEMENTS);
			ck_assert_mem_eq(to, expected, sizeof(to));
			memcpy(to, from, sizeof(from));
		}
	}
	/* Neighbours to neighbours: all bits, signalling NaNs' too */
	trn_row_convert((struct trn_row){ source, to, source->size },
			(struct trn_row){ source, from, source->size }, NULL, ELEMENTS);
	ck_assert_mem_eq(to, from, ELEMENTS / source->elements * source->size);
}
END_TEST

/* 2²⁴ + 2¹⁶ + 1 is above the middle of two BF16 numbers, but FP32 rounds it to the middle. */
START_TEST(int32_to_bf16_by_way_of_fp32)
{
	int32_t from = (1 << 24) + (1 << 16) + 1;
	uint16_t to;

	trn_row_convert((struct trn_row){ trn_dtype(TRN_DTYPE_BF16), (uint8_t *)&to, 2 },
			(struct trn_row){ trn_dtype(TRN_DTYPE_INT32), (uint8_t *)&from, 4 }, NULL,
			1);
	ck_assert_uint_eq(to, 0x4b80);
}
END_TEST

START_TEST(mx_scales)
{
	for (int scale = 0; scale < 255; scale++)
		ck_assert((double)trn_mx_scale((uint8_t)scale) == ldexp(1, scale - 127));
	ck_assert_uint_eq(bits_of(trn_mx_scale(255)), 0x7fc00000);
}
END_TEST

static void setup_bf16(void)
{
	use_type(0);
}

static void setup_fp16(void)
{
	use_type(1);
}

static void setup_e4m3(void)
{
	use_type(2);
}

static void setup_e5m2(void)
{
	use_type(3);
}

static void setup_e2m1(void)
{
	use_type(4);
}

Suite *dtype_suite(void)
{
	static void (*const setups[])(void) = { setup_bf16, setup_fp16, setup_e4m3, setup_e5m2,
						setup_e2m1 };
	Suite *suite = suite_create("dtype");
	TCase *tcase = tcase_create("others");

	_Static_assert(COUNT(setups) == COUNT(types), "each type is set up");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, fp32);
	tcase_add_loop_test(tcase, ints_from_floats, 0, COUNT(int_types));
	tcase_add_loop_test(tcase, floats_from_ints, 0, COUNT(int_types));
	tcase_add_test(tcase, no_other_types);
	tcase_add_loop_test(tcase, steps, 0, TRN_DTYPE_FP4 + 1);
	tcase_add_loop_test(tcase, overlap_is_survived, 0, TRN_DTYPE_FP4 + 1);
	tcase_add_loop_test(tcase, conversions, 0, TRN_DTYPE_FP4 + 1);
	tcase_add_test(tcase, int32_to_bf16_by_way_of_fp32);
	tcase_add_test(tcase, mx_scales);
	suite_add_tcase(suite, tcase);

	for (size_t i = 0; i < COUNT(types); i++) {
		tcase = tcase_create(types[i].name);
		tcase_add_checked_fixture(tcase, setups[i], NULL);
		tcase_set_timeout(tcase, 60);
		tcase_add_test(tcase, every_code_loads_and_round_trips);
		tcase_add_test(tcase, values_and_middles_and_their_neighbours);
		tcase_add_test(tcase, edges);
		tcase_add_test(tcase, random_floats);
		tcase_add_test(tcase, stochastic_thresholds);
		tcase_add_test(tcase, stochastic_mean);
		suite_add_tcase(suite, tcase);
	}
	return suite;
}
