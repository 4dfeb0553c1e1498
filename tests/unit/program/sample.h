/* SPDX-License-Identifier: MIT */
/* Programs of hand for tests of the loader, which the fake chip accepts and does not execute. */
#ifndef TRN_TESTS_PROGRAM_SAMPLE_H
#define TRN_TESTS_PROGRAM_SAMPLE_H

#include <hw/trn_isa.h>
#include <hw/trn_regs.h>
#include <trn/trn_program.h>

/* Instructions of sample_single(): two of vector, one of sync. */
extern const struct trn_instruction sample_vector[2], sample_sync[1];
/* Its constant. */
extern const float sample_weights[4];

enum {
	SAMPLE_X,     /* input, bf16 (2, 3), 12 bytes, alignment 64 */
	SAMPLE_W,     /* file, fp32 (4) */
	SAMPLE_Y,     /* output, fp32 (5), 20 bytes, alignment 4 */
	SAMPLE_COUNT, /* state, int32, 4 bytes */
	SAMPLE_T,     /* temporary, int8 (100), alignment 2 MiB */
	SAMPLE_VARIABLES,
};

/* One core, with a variable of each kind, in the order above. */
extern const struct trn_neff sample_single;
/*
 * Two cores: core 0 has "x", "sum" (state, alignment 4), "w"; core 1 has "w", "y", "sum" (alignment
 * 8192).  Both have the data type and shape of "sum" in common, and "w" of their own.
 */
extern const struct trn_neff sample_double;

#endif /* TRN_TESTS_PROGRAM_SAMPLE_H */
