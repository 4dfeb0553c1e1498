/* SPDX-License-Identifier: MIT */
/*
 * The data types that elements in SBUF, PSUM and memory have, TRN_DTYPE_*: rows of elements to
 * and from binary32 or 32-bit integers.  Documentation/isa.rst, "Data types", says how they are
 * rounded.
 */
#ifndef TRN_VDEV_DTYPE_H
#define TRN_VDEV_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A row is count elements, step bytes apart, with any alignment.  FP4 has pairs of elements step
 * bytes apart, and an even count.  Rows that a row is converted from and to may be the same; if
 * they overlap otherwise, what is written is any.
 */
struct trn_dtype {
	uint8_t size;	  /* bytes; FP4: of a pair */
	uint8_t elements; /* in so many bytes: 1, FP4: 2 */
	bool integer;

	/* Exact, but that INT32 is rounded to nearest.  MXFP8, FP4: without the scale. */
	void (*load)(float *to, const uint8_t *from, ptrdiff_t step, size_t count);
	/*
	 * Rounded to nearest if random is NULL, or else stochastically, with a random number
	 * for each element; integer types and FP32 do not use it.  NULL for MXFP8.
	 */
	void (*store)(uint8_t *to, ptrdiff_t step, const float *from, const uint32_t *random,
		      size_t count);
	/* Integer types alone */
	void (*load_int)(int32_t *to, const uint8_t *from, ptrdiff_t step, size_t count);
	void (*store_int)(uint8_t *to, ptrdiff_t step, const int32_t *from, size_t count);
};

/* NULL if there is no such type. */
const struct trn_dtype *trn_dtype(unsigned int number);

struct trn_row {
	const struct trn_dtype *dtype;
	uint8_t *at;
	ptrdiff_t step;
};

/*
 * Copies count elements to a row of any type but MXFP8.  Between equal types all bits stay; MXFP8
 * to MXFP8 too.  random as for trn_dtype.store.
 */
void trn_row_convert(struct trn_row to, struct trn_row from, const uint32_t *random, size_t count);

/* The value of an MX type's scale: 2^(scale − 127), exactly, or NaN. */
float trn_mx_scale(uint8_t scale);

#endif /* TRN_VDEV_DTYPE_H */
