/* SPDX-License-Identifier: MIT */
/*
 * TRN_ALU_* on rows (Documentation/isa.rst, "Arithmetic"), in binary32 and in integers that
 * saturate. A NaN that results is any; that the canonical one is written is the data type's doing.
 */
#ifndef TRN_VDEV_ALU_H
#define TRN_VDEV_ALU_H

#include <stddef.h>
#include <stdint.h>

/* out[i] = a[i] op b[i]; out may be a or b. */
typedef void trn_alu_float_row(float *out, const float *a, const float *b, size_t count);
typedef void trn_alu_int_row(int32_t *out, const int32_t *a, const int32_t *b, size_t count);

/* (… ((first op a[0]) op a[1]) …) */
typedef float trn_alu_float_fold(float first, const float *a, size_t count);
typedef int32_t trn_alu_int_fold(int32_t first, const int32_t *a, size_t count);

/* NULL: no such operation, or not in this arithmetic. */
trn_alu_float_row *trn_alu_float(unsigned int op);
trn_alu_int_row *trn_alu_int(unsigned int op);

/* NULL: not an operation of REDUCE. */
trn_alu_float_fold *trn_alu_reduce_float(unsigned int op);
trn_alu_int_fold *trn_alu_reduce_int(unsigned int op);

#endif /* TRN_VDEV_ALU_H */
