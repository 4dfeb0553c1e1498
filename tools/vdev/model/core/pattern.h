/* SPDX-License-Identifier: MIT */
/* Access patterns: where the elements of an operand lie in SBUF or PSUM. */
#ifndef TRN_VDEV_PATTERN_H
#define TRN_VDEV_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hw/trn_isa.h>

#include "dtype.h"

struct trn_core;

/* The shape of an instruction. */
struct trn_shape {
	unsigned int partitions;
	unsigned int size[3];
};

struct trn_pattern {
	const struct trn_dtype *dtype;
	uint8_t *base; /* element (0; 0, 0, 0) */
	size_t partition_stride;
	ptrdiff_t step[3]; /* bytes; of pairs along i if the type has them */
};

/* Elements of one partition. */
static inline size_t trn_shape_elements(const struct trn_shape *shape)
{
	return (size_t)shape->size[0] * shape->size[1] * shape->size[2];
}

/* Reads the shape: false with BAD_FIELD if it is none. */
bool trn_shape_read(struct trn_core *core, uint8_t partitions, const __le16 size[3],
		    struct trn_shape *shape);

/* An element of the type can be an operand here: BAD_DTYPE otherwise. */
bool trn_pattern_dtype(struct trn_core *core, uint8_t dtype, const struct trn_dtype **found);

/*
 * All elements of the shape, units of pack elements, are within the core's memories: false with an
 * exception otherwise.
 */
bool trn_pattern_read(struct trn_core *core, const struct trn_access_pattern *access,
		      const struct trn_shape *shape, unsigned int pack,
		      struct trn_pattern *pattern);

/* The row (p; 0 …, j, k). */
static inline struct trn_row trn_pattern_row(const struct trn_pattern *pattern, unsigned int p,
					     unsigned int j, unsigned int k)
{
	return (struct trn_row){
		.dtype = pattern->dtype,
		.at = pattern->base + p * pattern->partition_stride +
		      (ptrdiff_t)j * pattern->step[1] + (ptrdiff_t)k * pattern->step[2],
		.step = pattern->step[0],
	};
}

/* No access pattern: all of it 0. */
bool trn_pattern_absent(const struct trn_access_pattern *access);

#endif /* TRN_VDEV_PATTERN_H */
