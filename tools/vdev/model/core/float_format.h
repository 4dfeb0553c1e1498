/* SPDX-License-Identifier: MIT */
/*
 * Floating-point formats of 16 bits and less: one number to binary32, exactly, and back, rounded.
 * A code's magnitudes are in the order of their values, so that a carry out of the mantissa
 * leads to the next exponent, and from the largest number to infinity.
 */
#ifndef TRN_VDEV_FLOAT_FORMAT_H
#define TRN_VDEV_FLOAT_FORMAT_H

#include <stdint.h>
#include <string.h>

#define TRN_FP32_INFINITY 0x7f800000U
#define TRN_FP32_NAN	  0x7fc00000U /* the canonical one */

/* Codes are without sign. */
struct trn_float_format {
	uint8_t bits;	  /* with the sign */
	uint8_t mantissa; /* bits of it */
	uint8_t bias;
	uint16_t largest;  /* finite number; above it are infinity and NaNs */
	uint16_t limit;	   /* what finite numbers beyond the largest one become */
	uint16_t infinity; /* what infinity becomes */
	uint16_t nan;	   /* what a NaN becomes, without the NaN's sign */
};

static inline uint32_t trn_float_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float trn_float_of_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* 2 to the power of a normal binary32's exponent */
static inline float trn_float_power(int exponent)
{
	return trn_float_of_bits((uint32_t)(exponent + 127) << 23);
}

static inline float trn_float_decode(const struct trn_float_format *format, uint32_t code)
{
	uint32_t sign = code >> (format->bits - 1), magnitude = code ^ sign << (format->bits - 1);
	/* Right but for the bias, also if it is subnormal: the product becomes normal. */
	float scaled = trn_float_of_bits(magnitude << (23 - format->mantissa)) *
		       trn_float_power(127 - format->bias);
	uint32_t bits = trn_float_bits(scaled);

	/* The upper bits of a binary32, as they are. */
	if (format->bias == 127)
		return trn_float_of_bits(code << (32 - format->bits));
	if (magnitude > format->largest)
		bits |= TRN_FP32_INFINITY;
	return trn_float_of_bits(bits | sign << 31);
}

/* The code of what is no finite number, or else of the finite magnitude code. */
static inline uint32_t trn_float_finish(const struct trn_float_format *format, uint32_t bits,
					uint32_t code)
{
	uint32_t magnitude = bits & 0x7fffffff, sign = bits >> 31 << (format->bits - 1);

	code = code > format->limit ? format->limit : code;
	code = magnitude == TRN_FP32_INFINITY ? format->infinity : code;
	return magnitude > TRN_FP32_INFINITY ? format->nan : code | sign;
}

/* Rounds to nearest, ties to even. */
static inline uint32_t trn_float_encode(const struct trn_float_format *format, float x)
{
	uint32_t bits = trn_float_bits(x), magnitude = bits & 0x7fffffff;
	unsigned int shift = 23 - format->mantissa;
	uint32_t normal = magnitude - ((127U - format->bias) << 23);
	/* One unit of subnormals is this number's last place: the addition rounds. */
	float unit = trn_float_power(1 - format->bias - format->mantissa + 23);
	uint32_t subnormal =
		trn_float_bits(trn_float_of_bits(magnitude) + unit) - trn_float_bits(unit);

	normal = (normal + (1U << (shift - 1)) - 1 + (normal >> shift & 1)) >> shift;
	return trn_float_finish(format, bits,
				magnitude < (128U - format->bias) << 23 ? subnormal : normal);
}

/* Rounds away from zero if random is below the discarded part × 2³². */
static inline uint32_t trn_float_encode_stochastic(const struct trn_float_format *format, float x,
						   uint32_t random)
{
	uint32_t bits = trn_float_bits(x), magnitude = bits & 0x7fffffff;
	unsigned int shift = 23 - format->mantissa, exponent = magnitude >> 23;
	unsigned int smallest = 128 - format->bias; /* exponent of normal numbers */
	uint64_t threshold;
	uint32_t code;

	if (exponent >= smallest) {
		code = magnitude - ((smallest - 1) << 23);
	} else {
		code = (magnitude & 0x7fffff) | (exponent ? 0x800000 : 0);
		shift += smallest - (exponent ? exponent : 1);
	}
	if (shift <= 32) {
		threshold = (code & ((1ULL << shift) - 1)) << (32 - shift);
	} else {
		unsigned int below = shift - 32 < 24 ? shift - 32 : 24;

		threshold = (code + (1ULL << below) - 1) >> below;
	}
	code = shift < 32 ? code >> shift : 0;
	if (code >= format->largest) /* nothing above it to round to */
		return trn_float_encode(format, x);
	return trn_float_finish(format, bits, code + (random < threshold));
}

#endif /* TRN_VDEV_FLOAT_FORMAT_H */
