// SPDX-License-Identifier: MIT
#include "dtype.h"

#include <endian.h>
#include <string.h>

#include <hw/trn_regs.h>

#include "float_format.h"

#define CHUNK 256 /* elements between two conversions; even */

static const struct trn_float_format bf16 = {
	.bits = 16,
	.mantissa = 7,
	.bias = 127,
	.largest = 0x7f7f,
	.limit = 0x7f80,
	.infinity = 0x7f80,
	.nan = 0x7fc0,
};

static const struct trn_float_format fp16 = {
	.bits = 16,
	.mantissa = 10,
	.bias = 15,
	.largest = 0x7bff,
	.limit = 0x7c00,
	.infinity = 0x7c00,
	.nan = 0x7e00,
};

static const struct trn_float_format e4m3 = {
	.bits = 8,
	.mantissa = 3,
	.bias = 7,
	.largest = 0x7e,
	.limit = 0x7e,
	.infinity = 0x7e,
	.nan = 0x7f,
};

static const struct trn_float_format e5m2 = {
	.bits = 8,
	.mantissa = 2,
	.bias = 15,
	.largest = 0x7b,
	.limit = 0x7b,
	.infinity = 0x7c,
	.nan = 0x7f,
};

static const struct trn_float_format e2m1 = {
	.bits = 4,
	.mantissa = 1,
	.bias = 1,
	.largest = 0x7,
	.limit = 0x7,
	.infinity = 0x7,
	.nan = 0,
};

/* What is inlined here becomes a loop for each type. */
#define INLINE static inline __attribute__((always_inline))

/* size: 1, 2 or 4 bytes */
INLINE uint32_t get(const uint8_t *at, unsigned int size)
{
	uint16_t half;
	uint32_t word;

	if (size == 1)
		return *at;
	if (size == 2) {
		memcpy(&half, at, sizeof(half));
		return le16toh(half);
	}
	memcpy(&word, at, sizeof(word));
	return le32toh(word);
}

INLINE void put(uint8_t *at, uint32_t value, unsigned int size)
{
	uint16_t half = htole16((uint16_t)value);
	uint32_t word = htole32(value);

	if (size == 1)
		*at = (uint8_t)value;
	else if (size == 2)
		memcpy(at, &half, sizeof(half));
	else
		memcpy(at, &word, sizeof(word));
}

/* Of neighbours the step is a constant: compilers make vector code of that. */
#define BY_STEP(function, size, step, ...)                                                         \
	do {                                                                                       \
		if ((step) == (ptrdiff_t)(size))                                                   \
			function(size, (ptrdiff_t)(size), __VA_ARGS__);                            \
		else                                                                               \
			function(size, step, __VA_ARGS__);                                         \
	} while (0)

INLINE void load_float(unsigned int size, ptrdiff_t step, const struct trn_float_format *format,
		       float *to, const uint8_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = trn_float_decode(format, get(from + (ptrdiff_t)i * step, size));
}

INLINE void store_float(unsigned int size, ptrdiff_t step, const struct trn_float_format *format,
			uint8_t *to, const float *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(to + (ptrdiff_t)i * step, trn_float_encode(format, from[i]), size);
}

INLINE void store_stochastic(unsigned int size, ptrdiff_t step,
			     const struct trn_float_format *format, uint8_t *to, const float *from,
			     const uint32_t *random, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(to + (ptrdiff_t)i * step,
		    trn_float_encode_stochastic(format, from[i], random[i]), size);
}

#define FLOAT_TYPE(format)                                                                         \
	static void format##_load(float *to, const uint8_t *from, ptrdiff_t step, size_t count)    \
	{                                                                                          \
		BY_STEP(load_float, format.bits / 8, step, &format, to, from, count);              \
	}                                                                                          \
	static void format##_store(uint8_t *to, ptrdiff_t step, const float *from,                 \
				   const uint32_t *random, size_t count)                           \
	{                                                                                          \
		if (random)                                                                        \
			store_stochastic(format.bits / 8, step, &format, to, from, random, count); \
		else                                                                               \
			BY_STEP(store_float, format.bits / 8, step, &format, to, from, count);     \
	}

FLOAT_TYPE(bf16)
FLOAT_TYPE(fp16)
FLOAT_TYPE(e4m3)
FLOAT_TYPE(e5m2)

INLINE void load_fp32(unsigned int size, ptrdiff_t step, float *to, const uint8_t *from,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = trn_float_of_bits(get(from + (ptrdiff_t)i * step, size));
}

INLINE void store_fp32(unsigned int size, ptrdiff_t step, uint8_t *to, const float *from,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(to + (ptrdiff_t)i * step,
		    from[i] == from[i] ? trn_float_bits(from[i]) : TRN_FP32_NAN, size);
}

static void fp32_load(float *to, const uint8_t *from, ptrdiff_t step, size_t count)
{
	BY_STEP(load_fp32, sizeof(float), step, to, from, count);
}

static void fp32_store(uint8_t *to, ptrdiff_t step, const float *from, const uint32_t *random,
		       size_t count)
{
	(void)random; /* exact */
	BY_STEP(store_fp32, sizeof(float), step, to, from, count);
}

INLINE int32_t largest_int(unsigned int size)
{
	return INT32_MAX >> (32 - 8 * size);
}

/* Rounds to nearest, ties to even: in the sum a unit is the last place. */
INLINE int32_t round_int(float x, unsigned int size)
{
	const double high = largest_int(size), low = -high - 1, units = 0x1.8p52;
	double value = x == x ? x : 0;
	uint64_t bits;

	value = value > high ? high : value;
	value = (value < low ? low : value) + units;
	memcpy(&bits, &value, sizeof(bits));
	return (int32_t)(uint32_t)bits;
}

INLINE int32_t clamp_int(int32_t x, unsigned int size)
{
	int32_t high = largest_int(size), low = -high - 1;

	x = x > high ? high : x;
	return x < low ? low : x;
}

INLINE int32_t get_int(const uint8_t *at, unsigned int size)
{
	uint32_t value = get(at, size);

	return size == 1 ? (int8_t)value : size == 2 ? (int16_t)value : (int32_t)value;
}

INLINE void load_int(unsigned int size, ptrdiff_t step, int32_t *to, const uint8_t *from,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = get_int(from + (ptrdiff_t)i * step, size);
}

INLINE void store_int(unsigned int size, ptrdiff_t step, uint8_t *to, const int32_t *from,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(to + (ptrdiff_t)i * step, (uint32_t)clamp_int(from[i], size), size);
}

INLINE void load_int_as_float(unsigned int size, ptrdiff_t step, float *to, const uint8_t *from,
			      size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (float)get_int(from + (ptrdiff_t)i * step, size);
}

INLINE void store_float_as_int(unsigned int size, ptrdiff_t step, uint8_t *to, const float *from,
			       size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(to + (ptrdiff_t)i * step, (uint32_t)round_int(from[i], size), size);
}

#define INT_TYPE(name, size)                                                                       \
	static void name##_load(float *to, const uint8_t *from, ptrdiff_t step, size_t count)      \
	{                                                                                          \
		BY_STEP(load_int_as_float, size, step, to, from, count);                           \
	}                                                                                          \
	static void name##_store(uint8_t *to, ptrdiff_t step, const float *from,                   \
				 const uint32_t *random, size_t count)                             \
	{                                                                                          \
		(void)random; /* integers round to nearest */                                      \
		BY_STEP(store_float_as_int, size, step, to, from, count);                          \
	}                                                                                          \
	static void name##_load_int(int32_t *to, const uint8_t *from, ptrdiff_t step,              \
				    size_t count)                                                  \
	{                                                                                          \
		BY_STEP(load_int, size, step, to, from, count);                                    \
	}                                                                                          \
	static void name##_store_int(uint8_t *to, ptrdiff_t step, const int32_t *from,             \
				     size_t count)                                                 \
	{                                                                                          \
		BY_STEP(store_int, size, step, to, from, count);                                   \
	}

INT_TYPE(int8, 1)
INT_TYPE(int16, 2)
INT_TYPE(int32, 4)

static void fp4_load(float *to, const uint8_t *from, ptrdiff_t step, size_t count)
{
	for (size_t i = 0; i < count; i += 2) {
		uint8_t pair = from[(ptrdiff_t)(i / 2) * step];

		to[i] = trn_float_decode(&e2m1, pair & 0xf);
		to[i + 1] = trn_float_decode(&e2m1, pair >> 4);
	}
}

static void fp4_store(uint8_t *to, ptrdiff_t step, const float *from, const uint32_t *random,
		      size_t count)
{
	for (size_t i = 0; i < count; i += 2) {
		uint32_t low, high;

		if (random) {
			low = trn_float_encode_stochastic(&e2m1, from[i], random[i]);
			high = trn_float_encode_stochastic(&e2m1, from[i + 1], random[i + 1]);
		} else {
			low = trn_float_encode(&e2m1, from[i]);
			high = trn_float_encode(&e2m1, from[i + 1]);
		}
		to[(ptrdiff_t)(i / 2) * step] = (uint8_t)(low | high << 4);
	}
}

#define FLOAT_ROWS(name) .load = name##_load, .store = name##_store
#define INT_ROWS(name)	 FLOAT_ROWS(name), .load_int = name##_load_int, .store_int = name##_store_int

static const struct trn_dtype dtypes[] = {
	[TRN_DTYPE_FP32] = { .size = 4, .elements = 1, FLOAT_ROWS(fp32) },
	[TRN_DTYPE_BF16] = { .size = 2, .elements = 1, FLOAT_ROWS(bf16) },
	[TRN_DTYPE_FP16] = { .size = 2, .elements = 1, FLOAT_ROWS(fp16) },
	[TRN_DTYPE_FP8_E4M3] = { .size = 1, .elements = 1, FLOAT_ROWS(e4m3) },
	[TRN_DTYPE_FP8_E5M2] = { .size = 1, .elements = 1, FLOAT_ROWS(e5m2) },
	[TRN_DTYPE_INT8] = { .size = 1, .elements = 1, .integer = true, INT_ROWS(int8) },
	[TRN_DTYPE_INT16] = { .size = 2, .elements = 1, .integer = true, INT_ROWS(int16) },
	[TRN_DTYPE_INT32] = { .size = 4, .elements = 1, .integer = true, INT_ROWS(int32) },
	[TRN_DTYPE_MXFP8] = { .size = 1, .elements = 1, .load = e4m3_load },
	[TRN_DTYPE_FP4] = { .size = 1, .elements = 2, FLOAT_ROWS(fp4) },
};

const struct trn_dtype *trn_dtype(unsigned int number)
{
	return number < sizeof(dtypes) / sizeof(*dtypes) ? &dtypes[number] : NULL;
}

static void copy_row(struct trn_row to, struct trn_row from, size_t count)
{
	size_t size = to.dtype->size, places = count / to.dtype->elements;

	if (to.step == (ptrdiff_t)size && from.step == to.step) {
		memmove(to.at, from.at, places * size);
		return;
	}
	for (size_t i = 0; i < places; i++)
		memcpy(to.at + (ptrdiff_t)i * to.step, from.at + (ptrdiff_t)i * from.step, size);
}

static void advance(struct trn_row *row, size_t count)
{
	row->at += (ptrdiff_t)(count / row->dtype->elements) * row->step;
}

void trn_row_convert(struct trn_row to, struct trn_row from, const uint32_t *random, size_t count)
{
	bool integer = to.dtype->integer && from.dtype->integer;
	union {
		float floats[CHUNK];
		int32_t ints[CHUNK];
	} chunk;

	if (to.dtype == from.dtype) {
		copy_row(to, from, count);
		return;
	}
	while (count) {
		size_t n = count < CHUNK ? count : CHUNK;

		if (integer) {
			from.dtype->load_int(chunk.ints, from.at, from.step, n);
			to.dtype->store_int(to.at, to.step, chunk.ints, n);
		} else {
			from.dtype->load(chunk.floats, from.at, from.step, n);
			to.dtype->store(to.at, to.step, chunk.floats, random, n);
		}
		advance(&to, n);
		advance(&from, n);
		random = random ? random + n : NULL;
		count -= n;
	}
}

float trn_mx_scale(uint8_t scale)
{
	if (scale == 255)
		return trn_float_of_bits(TRN_FP32_NAN);
	/* 2⁻¹²⁷ is subnormal. */
	return scale ? trn_float_power(scale - 127) : 0x1p-127f;
}
