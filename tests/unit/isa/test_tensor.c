// SPDX-License-Identifier: MIT
/* LOAD_STATIONARY, MATMUL and TRANSPOSE: every type and packing, edges, accumulation */
#include <math.h>

#include "machine.h"
#include "suites.h"

static struct machine machine;

static void setup(void)
{
	machine_create(&machine, "trn4");
}

static void teardown(void)
{
	machine_destroy(&machine);
}

static const struct kind {
	uint8_t stationary, moving, pack;
} kinds[] = {
	{ TRN_DTYPE_FP32, TRN_DTYPE_FP32, 1 },
	{ TRN_DTYPE_BF16, TRN_DTYPE_BF16, 1 },
	{ TRN_DTYPE_FP16, TRN_DTYPE_FP16, 1 },
	{ TRN_DTYPE_FP8_E4M3, TRN_DTYPE_FP8_E4M3, 1 },
	{ TRN_DTYPE_FP8_E5M2, TRN_DTYPE_FP8_E4M3, 1 },
	{ TRN_DTYPE_FP8_E4M3, TRN_DTYPE_FP8_E5M2, 2 },
	{ TRN_DTYPE_FP8_E5M2, TRN_DTYPE_FP8_E5M2, 2 },
	{ TRN_DTYPE_INT8, TRN_DTYPE_INT8, 1 },
	{ TRN_DTYPE_MXFP8, TRN_DTYPE_MXFP8, 4 },
	{ TRN_DTYPE_FP4, TRN_DTYPE_FP4, 4 },
};

static bool is_mx(const struct kind *kind)
{
	return kind->pack == 4;
}

/* The type that has a group's size: what an operand of groups is laid out as */
static unsigned int group_dtype(unsigned int dtype, unsigned int pack)
{
	switch (number_bits(dtype) * pack) {
	case 8:
		return TRN_DTYPE_INT8;
	case 16:
		return TRN_DTYPE_INT16;
	}
	return TRN_DTYPE_INT32;
}

static struct trn_access_pattern groups(unsigned int slot, unsigned int partition,
					unsigned int dtype, unsigned int pack, struct shape shape)
{
	struct trn_access_pattern pattern =
		machine_scattered(&machine, slot, partition, group_dtype(dtype, pack), shape);

	pattern.dtype = (uint8_t)dtype;
	return pattern;
}

/* Every element of an operand of groups */
static void fill_groups(const struct trn_access_pattern *pattern, unsigned int pack,
			struct shape shape, uint32_t (*number)(unsigned int, uint64_t))
{
	FOR_EACH_INDEX(x, shape)
	for (unsigned int q = 0; q < pack; q++) {
		uint8_t *at = operand_at(&machine.reference, pattern, x, pack);

		element_set(pattern->dtype, at + q * number_bits(pattern->dtype) / 8, q % 2,
			    number(pattern->dtype, machine_random(&machine)));
	}
}

/* Scales of 2^-4 … 2^3 */
static uint32_t scale(unsigned int dtype, uint64_t random)
{
	(void)dtype;
	return 123 + (uint32_t)(random & 7);
}

static struct shape scales_shape(struct shape shape)
{
	shape.partitions = shape.partitions / 8;
	return shape;
}

static struct trn_instruction tensor(uint8_t opcode, unsigned int pack, struct shape shape)
{
	struct trn_instruction work = { .opcode = opcode };

	work.tensor.rows = (uint8_t)shape.partitions;
	work.tensor.pack = (uint8_t)pack;
	for (int axis = 0; axis < 3; axis++)
		work.tensor.size[axis] = htole16((uint16_t)shape.size[axis]);
	return work;
}

/* in and scale of the instruction, in two slots */
static void operands(struct trn_instruction *work, unsigned int slot, unsigned int dtype,
		     struct shape shape, uint32_t (*number)(unsigned int, uint64_t))
{
	unsigned int pack = work->tensor.pack;

	work->tensor.in =
		groups(slot, machine_below(&machine, TRN_PARTITIONS - shape.partitions + 1), dtype,
		       pack, shape);
	fill_groups(&work->tensor.in, pack, shape, number);
	if (dtype != TRN_DTYPE_MXFP8 && dtype != TRN_DTYPE_FP4)
		return;
	work->tensor.scale =
		machine_scattered(&machine, slot + 1, 3, TRN_DTYPE_INT8, scales_shape(shape));
	machine_fill(&machine, &work->tensor.scale, scales_shape(shape), scale);
}

static struct shape shape_of_kind(const struct kind *kind, unsigned int columns)
{
	struct shape shape = machine_shape(&machine, TRN_PARTITIONS, columns);

	if (is_mx(kind))
		shape.partitions = (shape.partitions + 7) / 8 * 8;
	return shape;
}

/* One LOAD_STATIONARY, two MATMULs to the same place, the second of which accumulates */
static void multiply(const struct kind *kind, unsigned int rows, unsigned int columns,
		     uint32_t (*number)(unsigned int, uint64_t), bool accumulates)
{
	struct shape of_stationary = shape_of_kind(kind, columns), of_moving, of_out;
	struct trn_instruction load, work;
	unsigned int m;

	if (rows)
		of_stationary.partitions = rows;
	of_moving = machine_shape(&machine, 1, columns);
	of_moving.partitions = of_stationary.partitions;
	m = of_stationary.size[0] * of_stationary.size[1] * of_stationary.size[2];
	of_out = of_moving;
	of_out.partitions = m;
	machine_begin(&machine, TRN_ENGINE_TENSOR);
	load = tensor(TRN_OP_LOAD_STATIONARY, kind->pack, of_stationary);
	operands(&load, 0, kind->stationary, of_stationary, number);
	work = tensor(TRN_OP_MATMUL, kind->pack, of_moving);
	operands(&work, 2, kind->moving, of_moving, number);
	work.tensor.out = machine_scattered(
		&machine, 5, machine_below(&machine, TRN_PARTITIONS - m + 1),
		kind->stationary == TRN_DTYPE_INT8 ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32, of_out);
	machine_fill(&machine, &work.tensor.out, of_out, number_moderate);
	machine_add(&machine, load);
	if (accumulates)
		work.flags = TRN_FLAG_ACCUMULATE;
	machine_by_register(&machine, &work.tensor.in, 1);
	machine_by_register(&machine, &work.tensor.out, 2);
	machine_add(&machine, work);
	machine_run(&machine);
}

START_TEST(shapes)
{
	for (unsigned int round = 0; round < 12; round++)
		multiply(&kinds[_i], 0, round % 4 ? 100 : 3, number_moderate, round % 2);
}
END_TEST

/* One or eight terms, so that rounding and overflow leave little room */
START_TEST(edges)
{
	for (unsigned int round = 0; round < 12; round++)
		multiply(&kinds[_i], is_mx(&kinds[_i]) ? 8 : 1, 60, number_edge, round % 4 == 3);
}
END_TEST

/* The largest: all partitions, 128 columns by a whole bank */
START_TEST(whole_array)
{
	static const uint8_t dtypes[] = { TRN_DTYPE_FP8_E4M3, TRN_DTYPE_INT8 };
	struct shape of_stationary = { 128, { 128, 1, 1 } }, of_moving = { 128, { 512, 1, 1 } };

	for (unsigned int n = 0; n < COUNT(dtypes); n++) {
		struct trn_instruction load, work;

		machine_begin(&machine, TRN_ENGINE_TENSOR);
		load = tensor(TRN_OP_LOAD_STATIONARY, 1, of_stationary);
		operands(&load, 0, dtypes[n], of_stationary,
			 dtypes[n] == TRN_DTYPE_INT8 ? number_edge : number_moderate);
		work = tensor(TRN_OP_MATMUL, 1, of_moving);
		operands(&work, 1, dtypes[n], of_moving,
			 dtypes[n] == TRN_DTYPE_INT8 ? number_edge : number_moderate);
		work.tensor.out = machine_rows(machine_slot(&machine, 4), 0,
					       n ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32, of_moving);
		machine_add(&machine, load);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

/* INT8 sums saturate when they are written: they reach INT32's ends by accumulation alone. */
START_TEST(int8_saturates)
{
	static const uint32_t befores[] = { INT32_MAX, INT32_MAX - 16384, 0x80000000, 0x80004000 };
	struct shape shape = { 1, { 3, 1, 1 } }, of_out = { 3, { 3, 1, 1 } };

	for (unsigned int n = 0; n < COUNT(befores); n++) {
		struct trn_instruction load = tensor(TRN_OP_LOAD_STATIONARY, 1, shape);
		struct trn_instruction work = tensor(TRN_OP_MATMUL, 1, shape);

		machine_begin(&machine, TRN_ENGINE_TENSOR);
		operands(&load, 0, TRN_DTYPE_INT8, shape, number_edge);
		operands(&work, 1, TRN_DTYPE_INT8, shape, number_edge);
		operand_set(&machine.reference, &load.tensor.in, (struct index){ 0 }, 0x80);
		operand_set(&machine.reference, &work.tensor.in, (struct index){ 0 }, 0x80);
		operand_set(&machine.reference, &work.tensor.in, (struct index){ .i = 1 }, 0x7f);
		work.flags = TRN_FLAG_ACCUMULATE;
		work.tensor.out =
			machine_rows(machine_slot(&machine, 4), 0, TRN_DTYPE_INT32, of_out);
		FOR_EACH_INDEX(x, of_out)
		operand_set(&machine.reference, &work.tensor.out, x, befores[n]);
		machine_add(&machine, load);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

/* Every scale, that of infinite values and of NaN too */
static uint32_t any_scale(unsigned int dtype, uint64_t random)
{
	(void)dtype;
	return (uint32_t)random & 0xff;
}

/* times 1, so that nothing overflows but what the scale does */
static uint32_t one(unsigned int dtype, uint64_t random)
{
	static const struct number_random nearest;

	(void)random;
	return number_encode(dtype, 1, nearest);
}

static uint32_t unscaled(unsigned int dtype, uint64_t random)
{
	(void)dtype, (void)random;
	return 127;
}

START_TEST(scales)
{
	const struct kind *kind = &kinds[_i];
	struct shape shape = { 8, { 8, 8, 1 } }, of_one = { 8, { 1, 1, 1 } };

	if (!is_mx(kind))
		return;
	for (unsigned int round = 0; round < 20; round++) {
		struct trn_instruction load = tensor(TRN_OP_LOAD_STATIONARY, 4, of_one);
		struct trn_instruction work = tensor(TRN_OP_MATMUL, 4, shape);

		machine_begin(&machine, TRN_ENGINE_TENSOR);
		operands(&load, 0, kind->stationary, of_one, one);
		machine_fill(&machine, &load.tensor.scale, scales_shape(of_one), unscaled);
		operands(&work, 2, kind->moving, shape, round % 2 ? number_moderate : number_edge);
		machine_fill(&machine, &work.tensor.scale, scales_shape(shape), any_scale);
		work.tensor.out = machine_scattered(&machine, 6, 9, TRN_DTYPE_FP32, shape);
		machine_add(&machine, load);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

/* _i is the type; bits, of NaNs too, stay. */
START_TEST(transpose)
{
	for (unsigned int round = 0; round < 20; round++) {
		unsigned int rows = 1 + machine_below(&machine, TRN_PARTITIONS);
		struct shape shape = machine_shape(&machine, 1, 100), of_out;
		struct trn_instruction work;

		shape.partitions = rows;
		of_out = (struct shape){ shape.size[0] * shape.size[1] * shape.size[2],
					 { rows, 1, 1 } };
		machine_begin(&machine, TRN_ENGINE_TENSOR);
		work = tensor(TRN_OP_TRANSPOSE, 1, shape);
		work.tensor.in = machine_scattered(&machine, 1, 0, _i, shape);
		work.tensor.out = machine_scattered(&machine, 5, 4, _i, of_out);
		work.tensor.out.step[1] = work.tensor.out.step[2] = 0;
		machine_fill(&machine, &work.tensor.in, shape, number_edge);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

Suite *tensor_suite(void)
{
	Suite *suite = suite_create("tensor");
	TCase *tcase = tcase_create("tensor");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, shapes, 0, COUNT(kinds));
	tcase_add_loop_test(tcase, edges, 0, COUNT(kinds));
	tcase_add_test(tcase, whole_array);
	tcase_add_test(tcase, int8_saturates);
	tcase_add_loop_test(tcase, scales, 0, COUNT(kinds));
	tcase_add_loop_test(tcase, transpose, 0, TRN_DTYPE_MXFP8);
	suite_add_tcase(suite, tcase);
	return suite;
}
