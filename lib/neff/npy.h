/* SPDX-License-Identifier: MIT */
/* Files of NumPy, .npy, version 1.0 (Documentation/neff.rst, "Constants"). */
#ifndef TRN_NEFF_NPY_H
#define TRN_NEFF_NPY_H

#include "neff.h"

/* An array of a file. */
struct neff_npy {
	char descr[16]; /* type of the elements, as in the file */
	uint32_t dimensions;
	uint64_t shape[TRN_NEFF_DIMENSIONS_MAX];
	const void *data; /* in the file */
	uint64_t size;	  /* bytes of data */
};

/* Reads a file in memory.  0, or negative errno with a text. */
int neff_npy_read(const struct neff_place *place, const struct neff_member *file,
		  struct neff_npy *npy);

/* Whether an array is one of a variable's dtype and shape.  0, or negative errno with a text. */
int neff_npy_check(const struct neff_place *place, const struct neff_npy *npy,
		   const struct trn_neff_variable *variable);

/*
 * Writes what comes before the elements of a variable, which has been checked, and returns its
 * length.
 */
#define NEFF_NPY_HEADER_MAX 256
size_t neff_npy_header(const struct trn_neff_variable *variable,
		       uint8_t header[NEFF_NPY_HEADER_MAX]);

#endif /* TRN_NEFF_NPY_H */
