/* SPDX-License-Identifier: MIT */
/* Tensors as doubles, and how far results are from references. */
#ifndef TRN_TEST_EXAMPLES_TENSOR_H
#define TRN_TEST_EXAMPLES_TENSOR_H

#include <stddef.h>

#include "run.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Half of the distance of neighbours, relative: the error of rounding to the type. */
double unit_of(uint32_t dtype);
/* How far two numbers can be apart by rounding the smallest to the type. */
double least_of(uint32_t dtype);

/* Fills a tensor with random numbers between the two. */
void tensor_fill(const struct run *run, const char *name, double low, double high);
/* Its elements, for free(). */
double *tensor_read(const struct run *run, const char *name);

struct worst {
	double error;	 /* the largest */
	double in_bound; /* the largest in units of its bound */
};

/* Fails the test if result and exact are further apart than bound. */
void compare(struct worst *worst, size_t index, double result, double exact, double bound);
/* Says what a run was, and its worst. */
void report(const struct run *run, const struct example *example, const double *values,
	    const char *generation, const struct worst *worst);

Suite *matmul_suite(void);
Suite *rows_suite(void);
Suite *networks_suite(void);
Suite *adam_suite(void);

#endif /* TRN_TEST_EXAMPLES_TENSOR_H */
