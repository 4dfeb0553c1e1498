// SPDX-License-Identifier: MIT
/*
 * TRN_ALU_*: each operation on all pairs of edges and on random numbers, against the
 * specification's words.
 */
#include <hw/trn_isa.h>
#include <math.h>
#include <stdbool.h>

#include "alu_reference.h"
#include "numerics.h"
#include "suites.h"
#include "tools/vdev/model/core/alu.h"

#define RANDOM_PAIRS 200000

START_TEST(operations_of_each_arithmetic)
{
	for (unsigned int op = 0; op < 256; op++) {
		bool reduces = op == TRN_ALU_ADD || op == TRN_ALU_MULTIPLY || op == TRN_ALU_MAX ||
			       op == TRN_ALU_MIN || op == TRN_ALU_ABS_MAX;

		ck_assert_int_eq(trn_alu_float(op) != NULL,
				 op < ALU_OPERATIONS && !alu_is_of_integers(op));
		ck_assert_int_eq(trn_alu_int(op) != NULL,
				 op < ALU_OPERATIONS && !alu_is_of_floats(op));
		ck_assert_int_eq(trn_alu_reduce_float(op) != NULL, reduces);
		ck_assert_int_eq(trn_alu_reduce_int(op) != NULL, reduces);
	}
}
END_TEST

static bool same(float a, float b)
{
	return isnan(a) ? isnan(b) : bits_of(a) == bits_of(b);
}

static void expect_float(unsigned int op, float a, float b, float result)
{
	float expected = alu_float_reference(op, a, b);

	EXPECT(same(result, expected), "%a op %u %a: %a, not %a", a, op, b, result, expected);
}

START_TEST(floats)
{
	const unsigned int op = _i;
	trn_alu_float_row *row = trn_alu_float(op);
	float a[256], b[256], out[256];
	uint64_t state = op;

	if (!row)
		return;
	for (size_t k = 0; k < COUNT(edge_floats); k++) {
		for (size_t i = 0; i < COUNT(edge_floats); i++)
			b[i] = edge_floats[k];
		row(out, edge_floats, b, COUNT(edge_floats));
		for (size_t i = 0; i < COUNT(edge_floats); i++)
			expect_float(op, edge_floats[i], b[i], out[i]);
	}
	for (unsigned int done = 0; done < RANDOM_PAIRS; done += 256) {
		/* Near to each other, near to 1, and anything */
		unsigned int first = done % 768 == 0 ? 100 : 0,
			     last = done % 768 == 256 ? 255 : 140;

		for (unsigned int i = 0; i < 256; i++) {
			a[i] = random_float(&state, first, last);
			b[i] = i % 8 ? random_float(&state, first, last)
				     : float_of(bits_of(a[i]) ^ (i & 8 ? 1 : 1U << 31));
		}
		row(out, a, b, 256);
		for (unsigned int i = 0; i < 256; i++)
			expect_float(op, a[i], b[i], out[i]);
	}
}
END_TEST

static void expect_int(unsigned int op, int32_t a, int32_t b, int32_t result)
{
	int32_t expected = alu_int_reference(op, a, b);

	EXPECT(result == expected, "%d op %u %d: %d, not %d", a, op, b, result, expected);
}

START_TEST(ints)
{
	const unsigned int op = _i;
	trn_alu_int_row *row = trn_alu_int(op);
	int32_t a[256], b[256], out[256];
	uint64_t state = op;

	if (!row)
		return;
	for (size_t k = 0; k < COUNT(edge_ints); k++) {
		for (size_t i = 0; i < COUNT(edge_ints); i++)
			b[i] = edge_ints[k];
		row(out, edge_ints, b, COUNT(edge_ints));
		for (size_t i = 0; i < COUNT(edge_ints); i++)
			expect_int(op, edge_ints[i], b[i], out[i]);
	}
	for (unsigned int done = 0; done < RANDOM_PAIRS; done += 256) {
		for (unsigned int i = 0; i < 256; i++) {
			uint64_t r = random_bits(&state);

			a[i] = (int32_t)(uint32_t)r >> (i & 31);
			b[i] = (int32_t)(uint32_t)(r >> 32) >> (done / 256 & 31);
		}
		row(out, a, b, 256);
		for (unsigned int i = 0; i < 256; i++)
			expect_int(op, a[i], b[i], out[i]);
	}
}
END_TEST

/* A row may be written over each of its inputs, or over both; none is written outside. */
START_TEST(in_place)
{
	const unsigned int op = _i;
	uint64_t state = 77;
	float a[65], b[65], out[65], place[66];

	if (!trn_alu_float(op))
		return;
	for (unsigned int i = 0; i < 65; i++) {
		a[i] = random_float(&state, 120, 130);
		b[i] = random_float(&state, 120, 130);
	}
	trn_alu_float(op)(out, a, b, 65);
	place[65] = 4711;
	memcpy(place, a, sizeof(a));
	trn_alu_float(op)(place, place, b, 65);
	ck_assert_mem_eq(place, out, sizeof(out));
	memcpy(place, b, sizeof(b));
	trn_alu_float(op)(place, a, place, 65);
	ck_assert_mem_eq(place, out, sizeof(out));
	memcpy(place, a, sizeof(a));
	trn_alu_float(op)(place, place, place, 65);
	for (unsigned int i = 0; i < 65; i++)
		expect_float(op, a[i], a[i], place[i]);
	ck_assert(place[65] == 4711);
}
END_TEST

/* One by one, from the first; the first alone stays what it is. */
START_TEST(folds)
{
	const unsigned int op = _i;
	trn_alu_float_fold *of_floats = trn_alu_reduce_float(op);
	trn_alu_int_fold *of_ints = trn_alu_reduce_int(op);
	uint64_t state = op;
	int32_t ints[100];
	float floats[100];

	if (!of_floats)
		return;
	ck_assert_uint_eq(bits_of(of_floats(-0.0f, NULL, 0)), bits_of(-0.0f));
	ck_assert_uint_eq(bits_of(of_floats(-3.0f, NULL, 0)), bits_of(-3.0f));
	ck_assert_int_eq(of_ints(INT32_MIN, NULL, 0), INT32_MIN);
	for (unsigned int round = 0; round < 1000; round++) {
		size_t count = round % 100 + 1;
		float x = random_float(&state, 124, 129);
		int32_t n = (int32_t)random_bits(&state) >> round % 32;
		float first = x;
		int32_t first_int = n;

		for (size_t i = 0; i < count; i++) {
			floats[i] = round % 10 == 9 && i == count / 2
					    ? edge_floats[round / 10 % COUNT(edge_floats)]
					    : random_float(&state, 124, 129);
			ints[i] = (int32_t)random_bits(&state) >> round % 32;
			x = alu_float_reference(op, x, floats[i]);
			n = alu_int_reference(op, n, ints[i]);
		}
		ck_assert(same(of_floats(first, floats, count), x));
		ck_assert_int_eq(of_ints(first_int, ints, count), n);
	}
}
END_TEST

Suite *alu_suite(void)
{
	Suite *suite = suite_create("alu");
	TCase *tcase = tcase_create("alu");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, operations_of_each_arithmetic);
	tcase_add_loop_test(tcase, floats, 0, ALU_OPERATIONS);
	tcase_add_loop_test(tcase, ints, 0, ALU_OPERATIONS);
	tcase_add_loop_test(tcase, in_place, 0, ALU_OPERATIONS);
	tcase_add_loop_test(tcase, folds, 0, ALU_OPERATIONS);
	suite_add_tcase(suite, tcase);
	return suite;
}
