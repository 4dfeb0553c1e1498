// SPDX-License-Identifier: MIT
/* MLP, convolution and attention against double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor.h"

#define FP32 TRN_DTYPE_FP32
#define BF16 TRN_DTYPE_BF16
#define FP16 TRN_DTYPE_FP16

/* Of sums of n terms on the array, in tiles of 128: (n + tiles) × 2⁻²³ of Σ|a × b|. */
static double sum_bound(size_t terms)
{
	return (double)(terms + (terms + 127) / 128) * 0x1p-23;
}

/* ---- MLP ------------------------------------------------------------------------------ */

static const double mlps[][5] = {
	{ 1, 1, 1, 1, FP32 },	      { 1, 3, 5, 7, FP32 },	     { 2, 129, 127, 513, FP32 },
	{ 131, 64, 128, 64, FP32 },   { 17, 257, 263, 11, BF16 },    { 128, 128, 512, 128, BF16 },
	{ 129, 131, 137, 139, BF16 }, { 5, 512, 2048, 512, FP16 },   { 300, 31, 67, 1031, FP16 },
	{ 257, 1, 257, 1, BF16 },     { 2, 1031, 6151, 1031, BF16 }, /* weights: more than SBUF */
};

struct mlp {
	size_t tokens, inputs, hidden, outputs;
	double *x, *w1, *b1, *w2, *b2, *y;
};

static double gelu(double x)
{
	return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}

/* result[j] = Σ row[i] × matrix[i][j], and sizes[j] = Σ |…|, and what errors of row make of it. */
static void row_by_matrix(const double *row, const double *errors, const double *matrix,
			  size_t rows, size_t columns, double *result, double *sizes,
			  double *spread)
{
	memset(result, 0, columns * sizeof(*result));
	memset(sizes, 0, columns * sizeof(*sizes));
	memset(spread, 0, columns * sizeof(*spread));
	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < columns; j++) {
			double term = row[i] * matrix[i * columns + j];

			result[j] += term;
			sizes[j] += fabs(term);
			spread[j] += errors[i] * fabs(matrix[i * columns + j]);
		}
	}
}

/*
 * The hidden layer has the error of its sum and of adding the bias, times GELU's largest
 * slope, 1.13, and GELU's own (5 × 10⁻⁸, and 1 ulp), and is rounded to the type; these errors go
 * through the second product, which adds its own.
 */
static void check_token(const struct mlp *mlp, size_t token, double unit, struct worst *worst)
{
	size_t most = mlp->hidden > mlp->outputs ? mlp->hidden : mlp->outputs;
	double *zero = calloc(mlp->inputs, sizeof(*zero)), *errors = malloc(most * sizeof(*errors));
	double *hidden = malloc(most * sizeof(*hidden)), *sizes = malloc(most * sizeof(*sizes));
	double *spread = malloc(most * sizeof(*spread)), *y = malloc(most * sizeof(*y));

	row_by_matrix(mlp->x + token * mlp->inputs, zero, mlp->w1, mlp->inputs, mlp->hidden, hidden,
		      sizes, spread);
	for (size_t h = 0; h < mlp->hidden; h++) {
		double before = hidden[h] + mlp->b1[h];
		double error = sum_bound(mlp->inputs) * sizes[h] + 0x1p-24 * fabs(before);

		hidden[h] = gelu(before);
		errors[h] =
			1.13 * error + 5e-8 + (0x1p-23 + unit) * (fabs(hidden[h]) + 1.13 * error);
	}
	row_by_matrix(hidden, errors, mlp->w2, mlp->hidden, mlp->outputs, y, sizes, spread);
	for (size_t o = 0; o < mlp->outputs; o++) {
		double exact = y[o] + mlp->b2[o];
		double error = (sum_bound(mlp->hidden) * (sizes[o] + spread[o])) + spread[o];

		compare(worst, token * mlp->outputs + o, mlp->y[token * mlp->outputs + o], exact,
			error + (0x1p-24 + unit) * (fabs(exact) + error));
	}
	free(zero);
	free(errors);
	free(hidden);
	free(sizes);
	free(spread);
	free(y);
}

START_TEST(mlp)
{
	const double *values = mlps[_i];
	struct worst worst = { 0 };
	struct mlp mlp;
	struct run run;

	run_create(&run, "trn2", &example_mlp, values);
	tensor_fill(&run, "x", -2, 2);
	tensor_fill(&run, "w1", -0.2, 0.2);
	tensor_fill(&run, "b1", -1, 1);
	tensor_fill(&run, "w2", -0.2, 0.2);
	tensor_fill(&run, "b2", -1, 1);
	run_execute(&run);
	mlp = (struct mlp){ (size_t)values[0],	     (size_t)values[1],
			    (size_t)values[2],	     (size_t)values[3],
			    tensor_read(&run, "x"),  tensor_read(&run, "w1"),
			    tensor_read(&run, "b1"), tensor_read(&run, "w2"),
			    tensor_read(&run, "b2"), tensor_read(&run, "y") };
	for (size_t token = 0; token < mlp.tokens; token++)
		check_token(&mlp, token, unit_of((uint32_t)values[4]), &worst);
	report(&run, &example_mlp, values, "trn2", &worst);
	free(mlp.x);
	free(mlp.w1);
	free(mlp.b1);
	free(mlp.w2);
	free(mlp.b2);
	free(mlp.y);
	run_destroy(&run);
}
END_TEST

/* ---- convolution ------------------------------------------------------------------------ */

enum {
	IMAGES,
	CHANNELS,
	HEIGHT,
	WIDTH,
	FILTERS,
	KERNEL,
	STRIDE,
	PADDING,
	DTYPE,
	VALUES
};

static const double convolutions[][VALUES] = {
	{ 1, 1, 1, 1, 1, 1, 1, 0, FP32 },	{ 1, 3, 7, 11, 5, 3, 1, 1, FP32 },
	{ 2, 5, 13, 13, 7, 5, 2, 2, FP32 },	{ 1, 131, 9, 9, 129, 3, 1, 1, FP32 },
	{ 1, 2, 3, 1031, 2, 3, 1, 1, FP32 },	{ 1, 3, 64, 64, 16, 7, 2, 3, BF16 },
	{ 1, 64, 28, 28, 64, 3, 1, 1, BF16 },	{ 3, 17, 19, 23, 31, 1, 3, 0, BF16 },
	{ 1, 37, 11, 11, 41, 11, 1, 5, FP16 },	{ 2, 128, 8, 8, 128, 2, 2, 0, FP16 },
	{ 1, 4, 1531, 1031, 1, 3, 4, 1, FP32 }, /* x is larger than SBUF */
};

/* One pixel of y: sum, and sum of sizes. */
static double pixel(const double *values, const double *x, const double *w, size_t filter, long row,
		    long column, double *size)
{
	long height = (long)values[HEIGHT], width = (long)values[WIDTH],
	     kernel = (long)values[KERNEL];
	size_t channels = (size_t)values[CHANNELS], filters = (size_t)values[FILTERS];
	double sum = 0;

	*size = 0;
	for (long i = 0; i < kernel; i++) {
		for (long j = 0; j < kernel; j++) {
			long from = row + i, to = column + j;

			if (from < 0 || from >= height || to < 0 || to >= width)
				continue;
			for (size_t c = 0; c < channels; c++) {
				double term =
					x[(c * (size_t)height + (size_t)from) * (size_t)width +
					  (size_t)to] *
					w[((size_t)(i * kernel + j) * channels + c) * filters +
					  filter];

				sum += term;
				*size += fabs(term);
			}
		}
	}
	return sum;
}

/* Each tap of the kernel, and each 128 channels, is a MATMUL: so many tiles has the sum. */
START_TEST(convolution)
{
	const double *values = convolutions[_i];
	long padding = (long)values[PADDING], stride = (long)values[STRIDE],
	     kernel = (long)values[KERNEL];
	long height = ((long)values[HEIGHT] + 2 * padding - kernel) / stride + 1;
	long width = ((long)values[WIDTH] + 2 * padding - kernel) / stride + 1;
	size_t channels = (size_t)values[CHANNELS], filters = (size_t)values[FILTERS], i = 0;
	size_t image_size = channels * (size_t)values[HEIGHT] * (size_t)values[WIDTH];
	double terms =
		(double)(channels + (channels + 127) / 128) * (double)(kernel * kernel) * 0x1p-23;
	double unit = unit_of((uint32_t)values[DTYPE]), *x, *w, *y, size;
	struct worst worst = { 0 };
	struct run run;

	run_create(&run, "trn2", &example_convolution, values);
	tensor_fill(&run, "x", -2, 2);
	tensor_fill(&run, "w", -1, 1);
	run_execute(&run);
	x = tensor_read(&run, "x");
	w = tensor_read(&run, "w");
	y = tensor_read(&run, "y");
	for (size_t image = 0; image < (size_t)values[IMAGES]; image++) {
		for (size_t f = 0; f < filters; f++) {
			for (long pixels = 0; pixels < height * width; pixels++, i++) {
				double exact = pixel(values, x + image * image_size, w, f,
						     pixels / width * stride - padding,
						     pixels % width * stride - padding, &size);

				compare(&worst, i, y[i], exact,
					terms * size * (1 + unit) + unit * fabs(exact));
			}
		}
	}
	report(&run, &example_convolution, values, "trn2", &worst);
	free(x);
	free(w);
	free(y);
	run_destroy(&run);
}
END_TEST

/* ---- attention ---------------------------------------------------------------------------- */

static const double attentions[][4] = {
	{ 1, 1, 1, FP32 },     { 1, 2, 3, FP32 },
	{ 3, 127, 31, FP32 },  { 1, 128, 64, FP32 },
	{ 2, 129, 128, FP32 }, { 1, 521, 17, FP32 },
	{ 2, 257, 61, BF16 },  { 1, 640, 128, BF16 },
	{ 5, 7, 128, BF16 },   { 1, 383, 1, FP16 },
	{ 2, 131, 96, FP16 },  { 1, 2579, 8, FP32 }, /* scores: more than SBUF */
};

struct attention {
	size_t length, width;
	const double *q, *k, *v;
	double *weights;
	double unit;
};

/*
 * A score has the error of its sum, and two roundings; so its exponential, relatively, and that of
 * x − max and of the function, and it is rounded to the type.  If each weight's relative error is
 * at most δ, that of the weighted mean is at most 2 δ Σ w|v|; the two sums add theirs.
 */
static void check_query(const struct attention *attention, size_t query, const double *o,
			struct worst *worst, size_t index)
{
	size_t width = attention->width;
	double scale = 1 / sqrt((double)width), most = -INFINITY, least = INFINITY, delta = 0,
	       sum = 0;
	double *weights = attention->weights, sums;

	for (size_t key = 0; key <= query; key++) {
		double score = 0, size = 0;

		for (size_t i = 0; i < width; i++) {
			double term =
				attention->q[query * width + i] * attention->k[key * width + i];

			score += term;
			size += fabs(term);
		}
		weights[key] = score * scale;
		most = fmax(most, weights[key]);
		least = fmin(least, weights[key]);
		delta = fmax(delta, scale * size * (sum_bound(width) + 3 * 0x1p-24));
	}
	delta += 0x1p-24 * (most - least + 3) + attention->unit;
	for (size_t key = 0; key <= query; key++)
		sum += weights[key] = exp(weights[key] - most);
	sums = sum_bound(query + 1);
	for (size_t i = 0; i < width; i++) {
		double exact = 0, size = 0;

		for (size_t key = 0; key <= query; key++) {
			double term = weights[key] / sum * attention->v[key * width + i];

			exact += term;
			size += fabs(term);
		}
		compare(worst, index + i, o[i], exact,
			(2.02 * delta + 2 * sums) * size +
				(attention->unit + 0x1p-24) * fabs(exact) +
				least_of(TRN_DTYPE_FP16));
	}
}

START_TEST(attention)
{
	const double *values = attentions[_i];
	size_t heads = (size_t)values[0], length = (size_t)values[1], width = (size_t)values[2];
	struct attention attention = { length, width, NULL, NULL, NULL, NULL, 0 };
	double *q, *k, *v, *o;
	struct worst worst = { 0 };
	struct run run;

	run_create(&run, "trn3", &example_attention, values);
	tensor_fill(&run, "q", -2, 2);
	tensor_fill(&run, "k", -2, 2);
	tensor_fill(&run, "v", -1, 1);
	run_execute(&run);
	q = tensor_read(&run, "q");
	k = tensor_read(&run, "k");
	v = tensor_read(&run, "v");
	o = tensor_read(&run, "o");
	attention.weights = malloc(length * sizeof(double));
	attention.unit = unit_of((uint32_t)values[3]);
	for (size_t head = 0; head < heads; head++) {
		size_t offset = head * length * width;

		attention.q = q + offset;
		attention.k = k + offset;
		attention.v = v + offset;
		for (size_t query = 0; query < length; query++)
			check_query(&attention, query, o + offset + query * width, &worst,
				    offset + query * width);
	}
	report(&run, &example_attention, values, "trn3", &worst);
	free(q);
	free(k);
	free(v);
	free(o);
	free(attention.weights);
	run_destroy(&run);
}
END_TEST

Suite *networks_suite(void)
{
	Suite *suite = suite_create("networks");
	TCase *cases = tcase_create("networks");

	tcase_set_timeout(cases, 300);
	tcase_add_loop_test(cases, mlp, 0, COUNT(mlps));
	tcase_add_loop_test(cases, convolution, 0, COUNT(convolutions));
	tcase_add_loop_test(cases, attention, 0, COUNT(attentions));
	suite_add_tcase(suite, cases);
	return suite;
}
