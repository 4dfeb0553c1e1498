/* SPDX-License-Identifier: MIT */
/* Elements of operands, by their indices. */
#ifndef TRN_TEST_OPERAND_H
#define TRN_TEST_OPERAND_H

#include "number.h"
#include "reference.h"

/* A shape, and a place in it. */
struct shape {
	unsigned int partitions, size[3];
};

struct index {
	unsigned int p, i, j, k;
};

/* All places of a shape, in the order p, k, j, i: i fastest. */
#define FOR_EACH_INDEX(x, shape)                                                                   \
	for (struct index x = { 0 }; x.p < (shape).partitions; x.p++)                              \
		for (x.k = 0; x.k < (shape).size[2]; x.k++)                                        \
			for (x.j = 0; x.j < (shape).size[1]; x.j++)                                \
				for (x.i = 0; x.i < (shape).size[0]; x.i++)

struct shape shape_of(unsigned int partitions, const __le16 size[3]);
/* The number of a place in a shape in that order. */
uint32_t index_number(struct index x, struct shape shape);

/* The first byte of an element; group: how many elements are one, TRN_PACK_MAX at most. */
uint8_t *operand_at(struct reference *reference, const struct trn_access_pattern *pattern,
		    struct index x, unsigned int group);
uint32_t operand_get(struct reference *reference, const struct trn_access_pattern *pattern,
		     struct index x);
void operand_set(struct reference *reference, const struct trn_access_pattern *pattern,
		 struct index x, uint32_t bits);
/* Bits of the element at a byte, half 0 or 1 of FP4 */
uint32_t element_get(unsigned int dtype, const uint8_t *at, unsigned int half);
void element_set(unsigned int dtype, uint8_t *at, unsigned int half, uint32_t bits);

/* The random number of the output's element, if the instruction rounds stochastically. */
struct number_random operand_random(const struct reference *reference,
				    const struct trn_instruction *instruction, uint32_t element);
/* A sum of floats in any order: exactly, and what its rounding is bound by. */
struct sum {
	long double exact, magnitudes;
	unsigned int terms;
};

void sum_add(struct sum *sum, long double x);
/* Writes that the element is such a sum. */
void operand_sum(struct reference *reference, const struct trn_access_pattern *pattern,
		 struct index x, const struct sum *sum);
/* Writes that the element is within bound of exact. */
void operand_bound(struct reference *reference, const struct trn_access_pattern *pattern,
		   struct index x, long double exact, long double bound);

#endif /* TRN_TEST_OPERAND_H */
