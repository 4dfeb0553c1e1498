// SPDX-License-Identifier: MIT
/* Products of matrices, against sums in double; and how much of the array they use. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor.h"

#define FP32 TRN_DTYPE_FP32
#define BF16 TRN_DTYPE_BF16
#define FP16 TRN_DTYPE_FP16
#define E4M3 TRN_DTYPE_FP8_E4M3
#define E5M2 TRN_DTYPE_FP8_E5M2
#define INT8 TRN_DTYPE_INT8
#define MX   TRN_DTYPE_MXFP8

enum {
	M,
	N,
	K,
	DTYPE,
	OUT,
	PACK,
	CORES,
	VALUES
};

static const struct shape {
	const char *generation;
	double values[VALUES];
} shapes[] = {
	{ "trn1", { 1, 1, 1, FP32, FP32, 1, 1 } },
	{ "trn1", { 7, 13, 5, FP32, FP32, 1, 1 } },
	{ "trn1", { 127, 509, 131, FP32, BF16, 1, 1 } },
	{ "trn1", { 128, 512, 128, BF16, FP32, 1, 1 } },
	{ "trn1", { 1, 2053, 257, BF16, FP32, 1, 1 } },
	{ "trn1", { 521, 1, 1031, BF16, BF16, 1, 1 } },
	{ "trn2", { 257, 1031, 263, FP16, FP16, 1, 1 } },
	{ "trn2", { 300, 1100, 640, E4M3, FP32, 1, 1 } },
	{ "trn2", { 300, 1100, 642, E4M3, FP32, 2, 1 } },
	{ "trn2", { 131, 600, 1000, E5M2, BF16, 2, 2 } },
	{ "trn2", { 1021, 2048, 61, BF16, FP32, 1, 8 } },
	{ "trn3", { 130, 1500, 96, INT8, FP32, 1, 1 } },
	{ "trn3", { 300, 1100, 1056, MX, FP32, 1, 1 } },
	{ "trn3", { 512, 2048, 512, MX, BF16, 1, 8 } },
	{ "trn1", { 31, 67, 12301, FP32, FP32, 1, 1 } },  /* contraction too long for SBUF */
	{ "trn1", { 24, 6151, 1031, FP32, FP32, 1, 2 } }, /* b is larger than SBUF */
};

/* Row r of the contraction of a tensor K/pack × columns × pack. */
static double at(const double *matrix, size_t columns, size_t pack, size_t r, size_t column)
{
	return matrix[(r / pack * columns + column) * pack + r % pack];
}

/* The tensor with its scales, as K × columns. */
static double *read_matrix(const struct run *run, const char *name, const char *scales,
			   const double *values, size_t columns)
{
	size_t k = (size_t)values[K], pack = values[DTYPE] == MX ? 4 : (size_t)values[PACK];
	double *packed = tensor_read(run, name), *matrix = malloc(k * columns * sizeof(*matrix));
	const uint8_t *scale = values[DTYPE] == MX ? run_tensor(run, scales) : NULL;

	for (size_t r = 0; r < k; r++) {
		for (size_t c = 0; c < columns; c++) {
			matrix[r * columns + c] = at(packed, columns, pack, r, c);
			if (scale)
				matrix[r * columns + c] =
					ldexp(matrix[r * columns + c],
					      scale[r / TRN_MX_BLOCK * columns + c] - 127);
		}
	}
	free(packed);
	return matrix;
}

/*
 * isa.rst bounds the sum of each MATMUL: of n terms, the earlier content one of them, by n × 2⁻²³ ×
 * Σ|a × b|. A sum of K terms in tiles is thus within (K + tiles) × 2⁻²³ × Σ|a × b|; then it is
 * rounded to c's type.
 */
static void check_product(const struct run *run, const double *values, struct worst *worst)
{
	size_t m = (size_t)values[M], n = (size_t)values[N], k = (size_t)values[K];
	double *a = read_matrix(run, "a", "a_scales", values, m);
	double *b = read_matrix(run, "b", "b_scales", values, n);
	double *c = tensor_read(run, "c"), *sum = malloc(n * sizeof(*sum));
	double *size = malloc(n * sizeof(*size));
	bool integer = values[DTYPE] == INT8;
	double terms = (double)(k + (k + 127) / 128) * 0x1p-23;

	for (size_t i = 0; i < m; i++) {
		memset(sum, 0, n * sizeof(*sum));
		memset(size, 0, n * sizeof(*size));
		for (size_t r = 0; r < k; r++) {
			double left = a[r * m + i];

			for (size_t j = 0; j < n; j++) {
				sum[j] += left * b[r * n + j];
				size[j] += fabs(left * b[r * n + j]);
			}
		}
		for (size_t j = 0; j < n; j++) {
			double unit =
				integer || values[OUT] == FP32 ? 0 : unit_of((uint32_t)values[OUT]);
			double bound =
				integer ? 0 : terms * size[j] * (1 + unit) + unit * fabs(sum[j]);

			compare(worst, i * n + j, c[i * n + j], sum[j], bound);
		}
	}
	free(a);
	free(b);
	free(c);
	free(sum);
	free(size);
}

static void fill_inputs(const struct run *run, const double *values)
{
	double most = values[DTYPE] == INT8 ? 127 : 2;

	tensor_fill(run, "a", -most, most);
	tensor_fill(run, "b", -most, most);
	if (values[DTYPE] != MX)
		return;
	tensor_fill(run, "a_scales", 120, 126);
	tensor_fill(run, "b_scales", 122, 127);
}

static void check_shape(const struct example *example, const struct shape *shape)
{
	struct worst worst = { 0 };
	struct run run;

	run_create(&run, shape->generation, example, shape->values);
	fill_inputs(&run, shape->values);
	run_execute(&run);
	check_product(&run, shape->values, &worst);
	report(&run, example, shape->values, shape->generation, &worst);
	run_destroy(&run);
}

START_TEST(products)
{
	check_shape(&example_matmul, &shapes[_i]);
}
END_TEST

static const struct shape naive[] = {
	{ "trn1", { 1, 1, 1, FP32, FP32, 1, 1 } },
	{ "trn2", { 200, 700, 300, BF16, FP32, 1, 1 } },
};

START_TEST(naive_products)
{
	check_shape(&example_matmul_naive, &naive[_i]);
}
END_TEST

/* ---- utilisation ---------------------------------------------------------------------- */

static double utilisation(const struct example *example, const struct shape *shape)
{
	const double *values = shape->values;
	double terms = values[M] * values[N] * values[K], share, pack;
	struct run run;

	run_create(&run, shape->generation, example, values);
	run_execute(&run);
	pack = values[DTYPE] == MX ? 4 : values[PACK];
	share = terms / (128 * 128 * pack * values[CORES] * (double)run.cycles);
	printf("%s %s: %gx%gx%g %s on %g cores: %.0f us, %.1f TFLOPS, %.1f %% of the array\n",
	       shape->generation, example->name, values[M], values[N], values[K],
	       trn_neff_dtype_name((uint32_t)values[DTYPE]), values[CORES],
	       (double)run.picoseconds * 1e-6, 2 * terms / (double)run.picoseconds, 100 * share);
	run_destroy(&run);
	return share;
}

static const struct shape full[] = {
	{ "trn1", { 1024, 2048, 2048, BF16, BF16, 1, 1 } },
	{ "trn2", { 1024, 2048, 2048, BF16, BF16, 1, 1 } },
	{ "trn3", { 1024, 2048, 2048, BF16, BF16, 1, 1 } },
};

START_TEST(uses_the_array)
{
	double share = utilisation(&example_matmul, &full[_i]);

	ck_assert_double_ge(share, 0.6);
	ck_assert_double_le(share, 1);
}
END_TEST

START_TEST(naive_does_not)
{
	ck_assert_double_le(utilisation(&example_matmul_naive, &full[_i]), 0.3);
}
END_TEST

/* What issue "Programs" asks for: TRN_LONG=1. */
static const struct shape large[] = {
	{ "trn1", { 4096, 4096, 4096, BF16, FP32, 1, 1 } },
	{ "trn2", { 4096, 4096, 4096, BF16, FP32, 1, 1 } },
	{ "trn3", { 4096, 4096, 4096, BF16, FP32, 1, 1 } },
};

START_TEST(large_uses_the_array)
{
	double share = utilisation(&example_matmul, &large[_i]);

	ck_assert_double_ge(share, 0.6);
	ck_assert_double_le(share, 1);
	ck_assert_double_le(utilisation(&example_matmul_naive, &large[_i]), 0.3);
}
END_TEST

/* 8 cores × 4 × 128² × 2 × 2.4 GHz are 2.52 PFLOPS. */
START_TEST(eight_cores_of_fp8)
{
	static const struct shape shape = { "trn3", { 4096, 4096, 4096, MX, FP32, 1, 8 } };

	ck_assert_double_ge(utilisation(&example_matmul, &shape) * 8 * 4 * 128 * 128 * 2 * 2.4e9,
			    2e15);
}
END_TEST

Suite *matmul_suite(void)
{
	Suite *suite = suite_create("matmul");
	TCase *cases = tcase_create("matmul"), *long_cases = tcase_create("large");

	tcase_set_timeout(cases, 300);
	tcase_set_timeout(long_cases, 600);
	tcase_add_loop_test(cases, products, 0, COUNT(shapes));
	tcase_add_loop_test(cases, naive_products, 0, COUNT(naive));
	tcase_add_loop_test(cases, uses_the_array, 0, COUNT(full));
	tcase_add_loop_test(cases, naive_does_not, 0, COUNT(full));
	if (getenv("TRN_LONG")) {
		tcase_add_loop_test(long_cases, large_uses_the_array, 0, COUNT(large));
		tcase_add_test(long_cases, eight_cores_of_fp8);
	}
	suite_add_tcase(suite, cases);
	suite_add_tcase(suite, long_cases);
	return suite;
}
