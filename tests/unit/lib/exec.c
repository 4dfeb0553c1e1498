/* SPDX-License-Identifier: MIT */
/* Queues of type EXEC: their packets, and what is said when a program fails. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include <hw/trn_admin.h>
#include <hw/trn_isa.h>
#include <tests/check_run.h>

#include "fake.h"
#include "fake_queue.h"

static const struct trn_exec exec_all = {
	.program = 0x1122334455667740,
	.bindings = 0x2122232425262728,
	.num_bindings = 0x31323334,
	.core = 0x4142,
	.seed = 0x5152535455565758,
	.result = 0x6162636465666768,
	.profile = 0x7172737475767778,
	.profile_size = 0x8182838485868788,
};

static struct trn_queue *exec_queue(enum trn_queue_mode mode)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = mode,
		.entries = 16,
		.type = TRN_QUEUE_EXEC,
	};
	struct trn_queue *made;

	ck_assert_int_eq(trn_queue_create_attributes(context, &attributes, &made), 0);
	ck_assert_uint_eq(fake_last_queue().type, 2);
	return made;
}

static void start_exec(enum trn_queue_mode mode)
{
	start(mode, 16);
	ck_assert_uint_eq(fake_last_queue().type, 1);
	ck_assert_int_eq(trn_queue_destroy(queue), 0);
	queue = exec_queue(mode);
}

static int run(void)
{
	uint64_t sequence;

	trn_packet_exec(trn_queue_packet(queue), &exec_all);
	ck_assert_int_eq(trn_queue_submit(queue, &sequence), 0);
	return trn_queue_wait(queue, sequence, TRN_FOREVER);
}

static void assert_says(const char *text)
{
	ck_assert_msg(strstr(trn_error_message(), text), "\"%s\" lacks \"%s\"", trn_error_message(),
		      text);
}

/* Byte for byte what Documentation/isa.rst and hw/trn_queue.h say. */
START_TEST(packet)
{
	static const uint8_t expected[64] = {
		0x20, 0,    0,	  0,	0,    0,    0,	  0,
		0x40, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* program */
		0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, /* bindings */
		0x34, 0x33, 0x32, 0x31, 0x42, 0x41, 0,	  0,	/* num_bindings, core */
		0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51, /* seed */
		0x68, 0x67, 0x66, 0x65, 0x64, 0x63, 0x62, 0x61, /* result */
		0x78, 0x77, 0x76, 0x75, 0x74, 0x73, 0x72, 0x71, /* profile */
		0x88, 0x87, 0x86, 0x85, 0x84, 0x83, 0x82, 0x81, /* profile_size */
	};
	struct trn_packet seen;

	start_exec(modes[_i]);
	ck_assert_int_eq(run(), 0);
	seen = fake_last_exec();
	ck_assert_mem_eq(&seen, expected, sizeof(expected));
	stop();
}
END_TEST

static const struct {
	uint32_t exception, engine, instruction;
	const char *text;
} failures[] = {
	{ TRN_EXCEPTION_ILLEGAL_OPCODE, TRN_ENGINE_TENSOR, 5, "tensor engine at instruction 5: " },
	{ TRN_EXCEPTION_BAD_FIELD, TRN_ENGINE_VECTOR, 0,
	  "vector engine at instruction 0: a field" },
	{ TRN_EXCEPTION_BAD_DTYPE, TRN_ENGINE_SCALAR, 1, "scalar engine at instruction 1: a data" },
	{ TRN_EXCEPTION_OUT_OF_RANGE, TRN_ENGINE_VECTOR, 17,
	  "program stopped on the vector engine at instruction 17: operand out of range" },
	{ TRN_EXCEPTION_UNALIGNED, TRN_ENGINE_GPSIMD, 2, "gpsimd engine at instruction 2: " },
	{ TRN_EXCEPTION_BAD_BINDING, TRN_ENGINE_SYNC, 3, "sync engine at instruction 3: there is" },
	{ TRN_EXCEPTION_BAD_INDEX, TRN_ENGINE_GPSIMD, 4, "an index" },
	{ TRN_EXCEPTION_BAD_TARGET, TRN_ENGINE_SYNC, 1u << 31, "at instruction 2147483648: " },
	{ TRN_EXCEPTION_SEMAPHORE_OVERFLOW, TRN_ENGINE_SYNC, 1, "released too often" },
	{ TRN_EXCEPTION_NO_STATIONARY, TRN_ENGINE_TENSOR, 1, "stationary matrix" },
	{ TRN_EXCEPTION_DEADLOCK, TRN_ENGINE_VECTOR, 9, "deadlock" },
	{ TRN_EXCEPTION_PROGRAM, 0, 0, "packet 0: what it names is not the image of a program" },
	{ TRN_EXCEPTION_MEMORY, TRN_ENGINE_GPSIMD, 12,
	  "read from 0x1234000, where nothing is bound: gpsimd engine, instruction 12" },
	/* Of a later chip. */
	{ 200, 7, 1, "unknown engine at instruction 1: an exception that this library does not" },
};

START_TEST(failure)
{
	const enum trn_queue_mode mode = modes[_i % 2];
	struct trn_queue_error error;
	int expected = -EIO;
	size_t row = _i / 2;

	start_exec(mode);
	fake_fail_next_program(failures[row].exception, failures[row].engine,
			       failures[row].instruction);
	if (failures[row].exception == TRN_EXCEPTION_MEMORY && mode == TRN_QUEUE_KERNEL)
		expected = -EFAULT;
	ck_assert_int_eq(run(), expected);
	assert_says(failures[row].text);
	assert_says("destroy it and make a new one");
	ck_assert_int_eq(trn_queue_error(queue, &error), 0);
	ck_assert_uint_eq(error.exception, failures[row].exception);
	ck_assert_uint_eq(error.engine, failures[row].engine);
	ck_assert_uint_eq(error.instruction, failures[row].instruction);
	stop();
}
END_TEST

START_TEST(transfers_are_refused)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = modes[_i],
		.entries = 16,
		.type = 2,
	};
	struct trn_buffer *memory;
	struct trn_queue *none;
	uint64_t word = 0;

	start_exec(modes[_i]);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	ck_assert_int_eq(trn_write(queue, memory, 0, &word, 8), -EINVAL);
	assert_says("TRN_QUEUE_DMA");
	ck_assert_int_eq(trn_read(queue, &word, memory, 0, 8), -EINVAL);
	ck_assert_int_eq(trn_copy(queue, memory, 0, memory, 8, 8), -EINVAL);
	ck_assert_int_eq(trn_fill(queue, memory, 0, 8, 0, 8), -EINVAL);
	ck_assert_int_eq(trn_queue_create_attributes(context, &attributes, &none), -EINVAL);
	assert_says("type 2");
	fake_fail(DRM_IOCTL_TRN_SUBMIT, 0, -EINVAL);
	trn_packet_exec(trn_queue_packet(queue), &exec_all);
	if (modes[_i] == TRN_QUEUE_KERNEL) {
		ck_assert_int_eq(trn_queue_submit(queue, NULL), -EINVAL);
		assert_says("program a multiple of 64");
	}
	ck_assert_int_eq(trn_buffer_destroy(memory), 0);
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-exec");
	TCase *cases = tcase_create("exec");

	tcase_add_loop_test(cases, packet, 0, 2);
	tcase_add_loop_test(cases, failure, 0, 2 * sizeof(failures) / sizeof(failures[0]));
	tcase_add_loop_test(cases, transfers_are_refused, 0, 2);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
