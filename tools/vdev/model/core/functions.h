/* SPDX-License-Identifier: MIT */
/*
 * The activation functions, TRN_FUNCTION_*, on rows.  Computed operation by operation as
 * Documentation/isa.rst, "Scalar engine", says, with nothing of libm whose result could
 * depend on the machine: the same bits everywhere.
 */
#ifndef TRN_VDEV_FUNCTIONS_H
#define TRN_VDEV_FUNCTIONS_H

#include <stddef.h>

/* out[i] = f(in[i]); out may be in.  A NaN that results is any. */
typedef void trn_function_row(float *out, const float *in, size_t count);

/* NULL: no such function. */
trn_function_row *trn_function(unsigned int function);

#endif /* TRN_VDEV_FUNCTIONS_H */
