/* SPDX-License-Identifier: MIT */
/*
 * A core in plain C, written from the words of Documentation/isa.rst alone: one element after the
 * other, one instruction after the other, of one engine. It takes programs that are right: what is
 * wrong is for lists of exceptions.
 */
#ifndef TRN_TEST_REFERENCE_H
#define TRN_TEST_REFERENCE_H

#include <hw/trn_isa.h>
#include <stdbool.h>
#include <stdint.h>

#define REFERENCE_SBUF_SIZE (256U << 10) /* bytes of a partition: the largest chip's */
#define REFERENCE_PSUM_SIZE (16U << 10)
#define REFERENCE_BOUNDS    65536

/* A result that only its bound is known of, in the place of bits. */
struct reference_bound {
	uint8_t *at;
	uint8_t dtype;
	long double exact, bound;
	long double largest; /* that a partial sum can be */
};

struct reference {
	uint8_t *sbuf, *psum; /* of 128 partitions, one after the other */
	uint8_t *memory;      /* binding 0 */
	int64_t registers[TRN_ISA_REGISTERS];
	uint64_t seed;
	unsigned int engine;
	uint32_t issued; /* instructions before this one */
	/* What LOAD_STATIONARY loaded: number of term and column, as FP32 or INT8 */
	long double stationary[TRN_PARTITIONS * TRN_PACK_MAX][TRN_STATIONARY_COLUMNS];
	unsigned int stationary_columns;
	struct reference_bound bounds[REFERENCE_BOUNDS];
	unsigned int num_bounds;
};

/* Zeros everything; gives back what was allocated. */
void reference_create(struct reference *reference);
void reference_destroy(struct reference *reference);

/* Executes a stream from instruction begin, of as many issued before it, to HALT or the end. */
void reference_run(struct reference *reference, const struct trn_instruction *stream,
		   uint32_t begin, uint32_t length);

/* Instructions by kind */
void reference_element(struct reference *reference, const struct trn_instruction *instruction);
void reference_reduce(struct reference *reference, const struct trn_instruction *instruction);
void reference_statistics(struct reference *reference, const struct trn_instruction *instruction);
void reference_move(struct reference *reference, const struct trn_instruction *instruction);
void reference_affine(struct reference *reference, const struct trn_instruction *instruction);
void reference_top_k(struct reference *reference, const struct trn_instruction *instruction);
void reference_tensor(struct reference *reference, const struct trn_instruction *instruction);

#endif /* TRN_TEST_REFERENCE_H */
