// SPDX-License-Identifier: MIT
/* The builder: what it emits, what mistakes it finds, and that it does the same every time. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tests/check_run.h>
#include <trn/trn.h>
#include <trn/trn_builder.h>

#include <tools/trn-program/example.h>

#define SYNC   TRN_ENGINE_SYNC
#define VECTOR TRN_ENGINE_VECTOR

static struct trn_builder *builder;
static uint32_t x, ring, semaphore;

static void setup(void)
{
	static const uint64_t shape[2] = { 128, 64 };

	ck_assert_int_eq(trn_builder_create("test", 0, &builder), 0);
	x = trn_builder_variable(builder, TRN_NEFF_INPUT, "x", TRN_DTYPE_FP32, 2, shape);
	ring = trn_builder_ring(builder, "data", TRN_NEFF_DATA);
	semaphore = trn_builder_semaphore(builder);
}

static void teardown(void)
{
	trn_builder_destroy(builder);
}

static const struct trn_instruction *stream(const struct trn_neff *neff, unsigned int engine)
{
	return neff->cores[0].streams[engine].instructions;
}

static const struct trn_neff *finish(void)
{
	const struct trn_neff *neff;

	ck_assert_msg(!trn_builder_finish(builder, &neff), "%s", trn_error_message());
	return neff;
}

static struct trn_operand tile(void)
{
	return trn_sbuf(TRN_DTYPE_FP32, 0);
}

static void load(void)
{
	trn_emit_load(builder, SYNC, ring, trn_tile(128, 64), tile(),
		      trn_rows(x, TRN_DTYPE_FP32, 256));
}

static void copy(void)
{
	trn_emit_copy(builder, VECTOR, trn_tile(128, 64), tile(), tile());
}

START_TEST(order)
{
	const struct trn_instruction *vector;
	const struct trn_neff *neff;

	load();
	trn_builder_release(builder, SYNC, semaphore, 2);
	trn_builder_acquire(builder, VECTOR, semaphore, 1);
	trn_builder_acquire(builder, VECTOR, semaphore, 1);
	copy();
	trn_builder_release(builder, VECTOR, semaphore, 3);
	trn_builder_acquire(builder, VECTOR, semaphore, 4);
	trn_builder_release(builder, VECTOR, semaphore, 5);
	copy();
	neff = finish();
	ck_assert_uint_eq(neff->cores[0].streams[SYNC].count, 2);
	ck_assert_uint_eq(stream(neff, SYNC)[0].release_count, 2);
	ck_assert_uint_eq(stream(neff, SYNC)[1].opcode, TRN_OP_HALT);
	/* acquire alone, copy, a second release without the acquire, copy */
	vector = stream(neff, VECTOR);
	ck_assert_uint_eq(neff->cores[0].streams[VECTOR].count, 5);
	ck_assert_uint_eq(vector[0].opcode, TRN_OP_NOP);
	ck_assert_uint_eq(vector[0].acquire_count, 1);
	ck_assert_uint_eq(vector[1].opcode, TRN_OP_COPY);
	ck_assert_uint_eq(vector[1].acquire_count, 1);
	ck_assert_uint_eq(vector[1].release_count, 3);
	ck_assert_uint_eq(vector[2].opcode, TRN_OP_NOP);
	ck_assert_uint_eq(vector[2].acquire_count, 0);
	ck_assert_uint_eq(vector[2].release_count, 5);
	ck_assert_uint_eq(vector[3].opcode, TRN_OP_COPY);
	ck_assert_uint_eq(vector[3].acquire_count, 4);
}
END_TEST

START_TEST(loop)
{
	uint32_t counter = trn_builder_register(builder, VECTOR);
	uint32_t again = trn_builder_label(builder, VECTOR),
		 end = trn_builder_label(builder, VECTOR);
	const struct trn_instruction *vector;

	trn_emit_nop(builder, VECTOR);
	trn_builder_place_label(builder, again);
	trn_emit_move(builder, VECTOR, counter, counter, 1);
	trn_emit_branch(builder, VECTOR, counter, TRN_ALU_EQUAL, 0, 100, end);
	trn_emit_branch(builder, VECTOR, counter, TRN_ALU_LESS, 0, 10, again);
	trn_builder_release(builder, VECTOR, semaphore, 1);
	trn_builder_place_label(builder, end);
	vector = stream(finish(), VECTOR);
	ck_assert_uint_eq(le32toh(vector[2].control.target), 5);
	ck_assert_uint_eq(le32toh(vector[3].control.target), 1);
	/* The loop's branch does not release in each turn. */
	ck_assert_uint_eq(vector[3].release_count, 0);
	ck_assert_uint_eq(vector[4].opcode, TRN_OP_NOP);
	ck_assert_uint_eq(vector[5].opcode, TRN_OP_HALT);
}
END_TEST

static void bad_engine(void)
{
	trn_emit_copy(builder, SYNC, trn_tile(1, 1), tile(), tile());
}

static void bad_partitions(void)
{
	trn_emit_copy(builder, VECTOR, trn_tile(129, 1), tile(), tile());
}

static void bad_offset(void)
{
	trn_emit_copy(builder, VECTOR, trn_tile(1, 2), tile(),
		      trn_sbuf(TRN_DTYPE_FP32, TRN_BUILDER_SBUF_SIZE - 4));
}

static void bad_alignment(void)
{
	trn_emit_copy(builder, VECTOR, trn_tile(1, 1), trn_sbuf(TRN_DTYPE_FP32, 2), tile());
}

static void bad_memory(void)
{
	trn_emit_load(builder, SYNC, ring, trn_tile(128, 65), tile(),
		      trn_rows(x, TRN_DTYPE_FP32, 256));
}

static void bad_variable(void)
{
	trn_emit_load(builder, SYNC, ring, trn_tile(1, 1), tile(),
		      trn_rows(x + 1, TRN_DTYPE_FP32, 4));
}

static void bad_bank(void)
{
	trn_emit_matmul(builder, trn_tile(128, 512), 1, trn_psum(TRN_DTYPE_FP32, 4), tile(), NULL,
			false);
}

static void bad_second_release(void)
{
	load();
	trn_builder_release(builder, SYNC, semaphore, 1);
	trn_builder_release(builder, SYNC, semaphore, 1);
}

static void bad_semaphore(void)
{
	trn_builder_acquire(builder, VECTOR, semaphore + 1, 1);
}

static void bad_register(void)
{
	trn_emit_move(builder, VECTOR, 1, 0, 5);
}

static void bad_label(void)
{
	uint32_t label = trn_builder_label(builder, VECTOR);

	trn_builder_place_label(builder, label);
	trn_builder_place_label(builder, label);
}

static void bad_scalars(void)
{
	trn_emit_activate(builder, trn_tile(1, 1), TRN_FUNCTION_EXP, tile(), tile(),
			  trn_scalar_of_partition(), trn_scalar(0), NULL);
}

static void bad_sbuf(void)
{
	trn_builder_sbuf(builder, TRN_BUILDER_SBUF_SIZE);
	trn_builder_sbuf(builder, 1);
}

static void bad_rounding(void)
{
	trn_emit_nop(builder, VECTOR);
	trn_builder_stochastic(builder, VECTOR);
}

static const struct {
	void (*make)(void);
	const char *text;
} mistakes[] = {
	{ bad_engine, "core 0, sync, instruction 0 (copy): the sync engine has no such" },
	{ bad_partitions, "core 0, vector, instruction 0 (copy): shape (129; 1, 1, 1): 1 to 128" },
	{ bad_offset, "input: bytes 196604 to 196612 of a partition: SBUF has 196608" },
	{ bad_alignment, "out: offset 2 is no multiple of the element's 4 bytes" },
	{ bad_memory, "bytes 0 to 32772 of x, which has 32768" },
	{ bad_variable, "variable 1: the core has declared 1" },
	{ bad_bank, "out: bytes 4 to 2052 are not in one bank of 2048" },
	{ bad_second_release, "the transfer before this has a release already" },
	{ bad_semaphore, "semaphore 1 by 1: the core has taken 1" },
	{ bad_register, "register 1: the engine has taken 0" },
	{ bad_label, "label 0 is not of this core, or was placed before" },
	{ bad_scalars, "(activate): scalars: an operand is needed" },
	{ bad_sbuf, "1 bytes of SBUF in a partition are needed, 0 of 196608 are left" },
	{ bad_rounding, "the instruction before this does not round" },
};

/* The first mistake is told, whatever comes after it. */
START_TEST(mistake)
{
	const struct trn_neff *neff;

	mistakes[_i].make();
	bad_engine();
	bad_partitions();
	ck_assert_int_eq(trn_builder_finish(builder, &neff), -EINVAL);
	ck_assert_msg(strstr(trn_error_message(), mistakes[_i].text) != NULL, "%s",
		      trn_error_message());
}
END_TEST

START_TEST(label_nowhere)
{
	const struct trn_neff *neff;

	trn_emit_branch(builder, VECTOR, 0, TRN_ALU_EQUAL, 0, 0,
			trn_builder_label(builder, VECTOR));
	ck_assert_int_eq(trn_builder_finish(builder, &neff), -EINVAL);
	ck_assert_ptr_nonnull(
		strstr(trn_error_message(), "label 0, target of a branch, is nowhere"));
}
END_TEST

START_TEST(finished)
{
	const struct trn_neff *neff;

	copy();
	finish();
	copy();
	ck_assert_int_eq(trn_builder_finish(builder, &neff), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "the program is finished"));
}
END_TEST

static void write_example(const struct example *example, void **file, uint64_t *size)
{
	double values[EXAMPLE_PARAMETERS_MAX];
	const struct trn_neff *neff;
	struct trn_builder *made;

	for (int i = 0; i < EXAMPLE_PARAMETERS_MAX; i++)
		values[i] = example->parameters[i].standard;
	ck_assert_msg(!example_build(example, values, &made, &neff), "%s", trn_error_message());
	ck_assert_msg(!trn_neff_write(neff, file, size), "%s", trn_error_message());
	trn_builder_destroy(made);
}

/* Building twice gives the same file, and one that can be read. */
START_TEST(same_bytes)
{
	for (int i = 0; examples[i]; i++) {
		const struct trn_neff *neff;
		uint64_t size[2];
		void *file[2];

		write_example(examples[i], &file[0], &size[0]);
		write_example(examples[i], &file[1], &size[1]);
		ck_assert_uint_eq(size[0], size[1]);
		ck_assert_mem_eq(file[0], file[1], size[0]);
		ck_assert_msg(!trn_neff_parse(examples[i]->name, file[0], size[0], &neff), "%s",
			      trn_error_message());
		trn_neff_close(neff);
		free(file[0]);
		free(file[1]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("builder");
	TCase *cases = tcase_create("builder");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, order);
	tcase_add_test(cases, loop);
	tcase_add_loop_test(cases, mistake, 0, sizeof(mistakes) / sizeof(mistakes[0]));
	tcase_add_test(cases, label_nowhere);
	tcase_add_test(cases, finished);
	tcase_add_test(cases, same_bytes);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
