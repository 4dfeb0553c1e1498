/* SPDX-License-Identifier: MIT */
/* Tensors from and to .npy files (Documentation/run.rst, "Arrays"). */
#ifndef TRN_RUN_ARRAY_H
#define TRN_RUN_ARRAY_H

#include <trn/trn_program.h>

/*
 * The elements of a tensor, info->size bytes for free(), from a file whose array is of its type
 * and shape.  0, or negative errno with libtrn's text.
 */
int run_read_array(const char *path, const struct trn_tensor_info *info, void **elements);

/* Writes a file with a tensor's elements; likewise. */
int run_write_array(const char *path, const struct trn_tensor_info *info, const void *elements);

#endif /* TRN_RUN_ARRAY_H */
