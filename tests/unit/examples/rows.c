// SPDX-License-Identifier: MIT
/* Softmax and layer norm against double. */
#include <math.h>
#include <stdlib.h>

#include "tensor.h"

#define FP32  TRN_DTYPE_FP32
#define BF16  TRN_DTYPE_BF16
#define FP16  TRN_DTYPE_FP16

#define CHUNK 2048 /* columns that an instruction takes, and are summed up first */

enum {
	ROWS,
	COLUMNS,
	DTYPE,
	EPSILON,
	VALUES
};

static const double shapes[][VALUES] = {
	{ 1, 1, FP32, 1e-5 },	    { 1, 7, FP32, 1e-5 },      { 13, 1, FP32, 1e-5 },
	{ 127, 131, FP32, 1e-5 },   { 128, 2048, FP32, 1e-5 }, { 129, 2049, FP32, 1e-5 },
	{ 257, 509, BF16, 1e-5 },   { 64, 4099, BF16, 1e-3 },  { 31, 1031, FP16, 1e-5 },
	{ 5, 24593, FP32, 1e-5 },   { 2, 60013, FP32, 1e-5 }, /* rows too long for SBUF */
	{ 6151, 1031, FP32, 1e-5 },			      /* a matrix larger than SBUF */
};

/*
 * x − max has the relative error u, which is an error of up to |x − max| × u in the exponent; the
 * function adds 1.01 u, the sum of C terms (in chunks, whose sums are added up) at most (C +
 * chunks) × 2 u, and so the terms' own errors, division and conversion one rounding each.
 */
START_TEST(softmax)
{
	const double *values = shapes[_i];
	size_t rows = (size_t)values[ROWS], columns = (size_t)values[COLUMNS];
	double unit = unit_of((uint32_t)values[DTYPE]), *x, *y;
	double least = least_of((uint32_t)values[DTYPE]);
	struct worst worst = { 0 };
	struct run run;

	run_create(&run, "trn2", &example_softmax, values);
	tensor_fill(&run, "x", -20, 20);
	run_execute(&run);
	x = tensor_read(&run, "x");
	y = tensor_read(&run, "y");
	for (size_t r = 0; r < rows; r++) {
		const double *row = x + r * columns;
		double most = row[0], sum = 0, range = 0, relative;

		for (size_t c = 0; c < columns; c++)
			most = fmax(most, row[c]);
		for (size_t c = 0; c < columns; c++) {
			sum += exp(row[c] - most);
			range = fmax(range, most - row[c]);
		}
		relative = (double)(columns + columns / CHUNK + 1) * 0x1p-23 +
			   0x1p-24 * (2 * range + 4) * 1.01 + unit;
		for (size_t c = 0; c < columns; c++) {
			double exact = exp(row[c] - most) / sum;

			compare(&worst, r * columns + c, y[r * columns + c], exact,
				relative * exact + least);
		}
	}
	report(&run, &example_softmax, values, "trn2", &worst);
	free(x);
	free(y);
	run_destroy(&run);
}
END_TEST

struct moments {
	double mean, variance, size, square; /* size: mean of |x|, square: of x² */
};

static struct moments moments_of(const double *row, size_t columns)
{
	struct moments moments = { 0 };

	for (size_t c = 0; c < columns; c++) {
		moments.mean += row[c] / (double)columns;
		moments.size += fabs(row[c]) / (double)columns;
		moments.square += row[c] * row[c] / (double)columns;
	}
	for (size_t c = 0; c < columns; c++)
		moments.variance +=
			(row[c] - moments.mean) * (row[c] - moments.mean) / (double)columns;
	return moments;
}

/*
 * isa.rst bounds a mean's error by 2⁻²¹ of mean |x|, and that of the squares by 2⁻²¹ of Σ x²; twice
 * that, for aggregation.  1/√v has half of v's relative error; then there are seven roundings to
 * FP32, and one to y's type.
 */
static double norm_bound(const struct moments *moments, double x, double gamma, double beta,
			 double y, double epsilon, double unit)
{
	double variance = moments->variance + epsilon, root = 1 / sqrt(variance);
	double relative = 0x1p-21 * moments->square / variance + 6 * 0x1p-24;

	return fabs(gamma) * root * (0x1p-20 * moments->size + fabs(x - moments->mean) * relative) *
		       1.01 +
	       0x1p-23 * (fabs(y) + fabs(beta)) + unit * fabs(y);
}

START_TEST(layer_norm)
{
	const double *values = shapes[_i];
	size_t rows = (size_t)values[ROWS], columns = (size_t)values[COLUMNS];
	double unit = unit_of((uint32_t)values[DTYPE]), epsilon = (double)(float)values[EPSILON];
	double *x, *y, *gamma, *beta;
	struct worst worst = { 0 };
	struct run run;

	run_create(&run, "trn1", &example_layer_norm, values);
	tensor_fill(&run, "x", -3, 5);
	tensor_fill(&run, "gamma", -2, 2);
	tensor_fill(&run, "beta", -1, 1);
	run_execute(&run);
	x = tensor_read(&run, "x");
	y = tensor_read(&run, "y");
	gamma = tensor_read(&run, "gamma");
	beta = tensor_read(&run, "beta");
	for (size_t r = 0; r < rows; r++) {
		const struct moments moments = moments_of(x + r * columns, columns);

		for (size_t c = 0; c < columns; c++) {
			size_t i = r * columns + c;
			double exact = (x[i] - moments.mean) / sqrt(moments.variance + epsilon) *
					       gamma[c] +
				       beta[c];

			compare(&worst, i, y[i], exact,
				norm_bound(&moments, x[i], gamma[c], beta[c], exact, epsilon,
					   unit) +
					least_of((uint32_t)values[DTYPE]));
		}
	}
	report(&run, &example_layer_norm, values, "trn1", &worst);
	free(x);
	free(y);
	free(gamma);
	free(beta);
	run_destroy(&run);
}
END_TEST

Suite *rows_suite(void)
{
	Suite *suite = suite_create("rows");
	TCase *cases = tcase_create("rows");

	tcase_set_timeout(cases, 300);
	tcase_add_loop_test(cases, softmax, 0, COUNT(shapes));
	tcase_add_loop_test(cases, layer_norm, 0, COUNT(shapes));
	suite_add_tcase(suite, cases);
	return suite;
}
