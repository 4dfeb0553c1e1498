// SPDX-License-Identifier: MIT
/* IOTA, MASK, GATHER, SCATTER, PARTITION_SHUFFLE, PARTITION_BROADCAST and TOP_K */
#include "machine.h"
#include "suites.h"

static struct machine machine;

static void setup(void)
{
	machine_create(&machine, "trn3");
}

static void teardown(void)
{
	machine_destroy(&machine);
}

static struct trn_instruction affine(uint8_t opcode, struct shape shape)
{
	struct trn_instruction work = { .opcode = opcode };

	work.affine.partitions = (uint8_t)shape.partitions;
	for (int axis = 0; axis < 3; axis++)
		work.affine.size[axis] = htole16((uint16_t)shape.size[axis]);
	work.affine.base = htole32(number_edge(TRN_DTYPE_INT32, machine_random(&machine)));
	for (int axis = 0; axis < 4; axis++)
		work.affine.step[axis] =
			htole32(machine_below(&machine, 2)
					? number_edge(TRN_DTYPE_INT32, machine_random(&machine))
					: (uint32_t)machine_below(&machine, 5) - 2);
	return work;
}

/* _i is the type of the output. */
START_TEST(iota)
{
	for (unsigned int round = 0; round < 20; round++) {
		struct shape shape = machine_shape(&machine, 64, 64);
		struct trn_instruction work = affine(TRN_OP_IOTA, shape);

		machine_begin(&machine, TRN_ENGINE_GPSIMD);
		if (!number_is_integer(_i) && round % 2)
			work.flags = TRN_FLAG_STOCHASTIC;
		work.affine.out = machine_scattered(&machine, round % SLOTS, 40, _i, shape);
		machine_by_register(&machine, &work.affine.out, 9);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

START_TEST(mask)
{
	for (unsigned int round = 0; round < 20; round++) {
		struct shape shape = machine_shape(&machine, 64, 64);
		struct trn_instruction work = affine(TRN_OP_MASK, shape);

		machine_begin(&machine, TRN_ENGINE_GPSIMD);
		work.affine.fill = htole32(
			number_edge(number_is_integer(_i) ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32,
				    machine_random(&machine)));
		if (round % 2) /* the causal mask */
			work.affine.base = 0;
		work.affine.in = machine_scattered(&machine, 1, 5, _i, shape);
		machine_fill(&machine, &work.affine.in, shape, number_edge);
		work.affine.out = machine_scattered(&machine, 3 + round % 5, 60, _i, shape);
		machine_by_register(&machine, &work.affine.in, 9);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

/* GATHER's input, SCATTER's output: count elements of each partition */
static struct trn_access_pattern line(unsigned int slot, unsigned int partition, unsigned int dtype,
				      unsigned int count)
{
	struct trn_access_pattern pattern = machine_scattered(&machine, slot, partition, dtype,
							      (struct shape){ 1, { count, 1, 1 } });

	pattern.step[1] = pattern.step[2] = 0;
	return pattern;
}

static void fill_indices(const struct trn_access_pattern *pattern, struct shape shape,
			 unsigned int limit)
{
	FOR_EACH_INDEX(x, shape)
	operand_set(&machine.reference, pattern, x, machine_below(&machine, limit));
}

static unsigned int index_dtype(void)
{
	return machine_below(&machine, 2) ? TRN_DTYPE_INT16 : TRN_DTYPE_INT32;
}

/* _i is the type that is moved. */
START_TEST(gather_and_scatter)
{
	for (unsigned int round = 0; round < 20; round++) {
		struct shape shape = machine_shape(&machine, 64, 64);
		unsigned int count = 1 + machine_below(&machine, 64);
		bool scatters = round % 2;
		struct trn_instruction work =
			machine_element(scatters ? TRN_OP_SCATTER : TRN_OP_GATHER, shape);
		struct trn_access_pattern *whole = &work.element.in[0], *lines = &work.element.out;

		if (scatters) {
			whole = &work.element.out;
			lines = &work.element.in[0];
		}
		machine_begin(&machine, TRN_ENGINE_GPSIMD);
		*whole = line(0, 17, _i, count);
		*lines = machine_scattered(&machine, 5, 30, _i, shape);
		work.element.in[1] = machine_scattered(&machine, 7, 50, index_dtype(), shape);
		work.element.scalar[0] = htole32(count);
		fill_indices(&work.element.in[1], shape, count);
		machine_by_register(&machine, &work.element.in[1], 2);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

START_TEST(between_partitions)
{
	for (unsigned int round = 0; round < 20; round++) {
		struct shape shape = machine_shape(&machine, TRN_PARTITIONS, 64);
		struct shape of_indices = { shape.partitions, { 1, 1, 1 } };
		bool shuffles = round % 2;
		struct trn_instruction work = machine_element(
			shuffles ? TRN_OP_PARTITION_SHUFFLE : TRN_OP_PARTITION_BROADCAST, shape);
		unsigned int first = machine_below(&machine, TRN_PARTITIONS);

		machine_begin(&machine, TRN_ENGINE_GPSIMD);
		work.element.in[0] = machine_scattered(&machine, 4, first, _i, shape);
		work.element.out = machine_scattered(
			&machine, 2, machine_below(&machine, TRN_PARTITIONS - shape.partitions + 1),
			_i, shape);
		if (shuffles) {
			unsigned int limit = 1 + machine_below(&machine, TRN_PARTITIONS - first);

			work.element.in[1] =
				machine_scattered(&machine, 7, 0, index_dtype(), of_indices);
			memset(work.element.in[1].step, 0, sizeof(work.element.in[1].step));
			work.element.scalar[0] = htole32(limit);
			fill_indices(&work.element.in[1], of_indices, limit);
		}
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

/* All orders of edges, with many that are equal */
START_TEST(top_k)
{
	for (unsigned int round = 0; round < 20; round++) {
		struct shape shape = machine_shape(&machine, 64, 64);
		unsigned int count = shape.size[0] * shape.size[1] * shape.size[2];
		unsigned int k = 1 + machine_below(&machine, count);
		struct trn_instruction work = machine_element(TRN_OP_TOP_K, shape);

		machine_begin(&machine, TRN_ENGINE_GPSIMD);
		work.element.scalar[0] = htole32(k);
		work.element.in[0] = machine_scattered(&machine, 0, 3, _i, shape);
		work.element.out = line(6, 64, _i, k);
		work.element.in[1] = line(2, 41, TRN_DTYPE_INT32, k);
		machine_fill(&machine, &work.element.in[0], shape, number_edge);
		machine_add(&machine, work);
		machine_run(&machine);
	}
}
END_TEST

Suite *gpsimd_suite(void)
{
	Suite *suite = suite_create("gpsimd");
	TCase *tcase = tcase_create("gpsimd");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, iota, 0, TRN_DTYPE_MXFP8);
	tcase_add_loop_test(tcase, mask, 0, TRN_DTYPE_MXFP8);
	tcase_add_loop_test(tcase, gather_and_scatter, 0, TRN_DTYPE_MXFP8);
	tcase_add_loop_test(tcase, between_partitions, 0, TRN_DTYPE_MXFP8);
	tcase_add_loop_test(tcase, top_k, 0, TRN_DTYPE_MXFP8);
	suite_add_tcase(suite, tcase);
	return suite;
}
