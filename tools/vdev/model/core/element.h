/* SPDX-License-Identifier: MIT */
/* What instructions of the vector, scalar and gpsimd engine have in common. */
#ifndef TRN_VDEV_ELEMENT_H
#define TRN_VDEV_ELEMENT_H

#include <endian.h>

#include "core.h"
#include "philox.h"

/* So many elements of a row are computed at a time. */
#define TRN_CHUNK 512

/* An operand of any type but the MX ones. */
bool trn_element_operand(struct trn_core *core, const struct trn_access_pattern *access,
			 const struct trn_shape *shape, struct trn_pattern *pattern);

/* Reads the instruction's shape; what it has beyond so many inputs and scalars must be 0. */
bool trn_element_shape(struct trn_core *core, const struct trn_instruction *instruction,
		       unsigned int inputs, unsigned int scalars);

/* The shape, out and so many inputs, all of that shape. */
bool trn_element_operands(struct trn_core *core, const struct trn_instruction *instruction,
			  unsigned int inputs, unsigned int scalars);

/* Elements i … of row (p; …, j, k). */
static inline struct trn_row trn_element_chunk(const struct trn_pattern *pattern, unsigned int p,
					       unsigned int i, unsigned int j, unsigned int k)
{
	struct trn_row row = trn_pattern_row(pattern, p, j, k);

	row.at += (ptrdiff_t)(i / pattern->dtype->elements) * row.step;
	return row;
}

/* One chunk of a partition's elements. */
struct trn_chunk {
	unsigned int p, i, j, k, count;
	uint32_t index; /* of the first in the shape's order */
};

/* Whether the operations are done with integers, which they can be if all operands are: false
 * with BAD_DTYPE if they cannot be done at all.
 */
bool trn_element_arithmetic(struct trn_core *core, const struct trn_instruction *instruction,
			    bool all_integer, unsigned int ops);

/* Calls the function for all of the current row, a partition, while it does not give false. */
bool trn_element_chunks(struct trn_core *core, const struct trn_instruction *instruction,
			bool (*function)(struct trn_core *core,
					 const struct trn_instruction *instruction,
					 const struct trn_chunk *chunk));

/* Random numbers for a chunk if the instruction rounds stochastically, or else NULL. */
const uint32_t *trn_element_random(const struct trn_core *core,
				   const struct trn_instruction *instruction,
				   const struct trn_chunk *chunk, uint32_t random[TRN_CHUNK]);

/* A chunk of an operand as numbers. */
void trn_element_load(const struct trn_pattern *pattern, const struct trn_chunk *chunk,
		      float *values);
void trn_element_load_int(const struct trn_pattern *pattern, const struct trn_chunk *chunk,
			  int32_t *values);

/* Stores integers or floats as out's elements. */
void trn_element_store_int(const struct trn_core *core, const struct trn_chunk *chunk,
			   const int32_t *values);
void trn_element_store(const struct trn_core *core, const struct trn_instruction *instruction,
		       const struct trn_chunk *chunk, const float *values);

static inline float trn_scalar_float(const struct trn_instruction *instruction, int number)
{
	union {
		uint32_t bits;
		float value;
	} scalar = { .bits = le32toh(instruction->element.scalar[number]) };

	return scalar.value;
}

static inline int32_t trn_scalar_int(const struct trn_instruction *instruction, int number)
{
	return (int32_t)le32toh(instruction->element.scalar[number]);
}

#endif /* TRN_VDEV_ELEMENT_H */
