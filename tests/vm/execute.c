/* SPDX-License-Identifier: MIT */
/* Programs on NeuronCores, through queues of both modes: what they do, and how they fail. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_admin.h>
#include <tests/check_run.h>

#include "image.h"
#include "rig.h"

/* Offsets in the memory of a run. */
#define BINDINGS_AT  UINT64_C(8192) /* the image is at 0 */
#define RESULT_AT    UINT64_C(9216)
#define PROFILE_AT   UINT64_C(12288)
#define PROFILE_SIZE UINT64_C(4096)
#define DATA_AT	     UINT64_C(16384)
#define ROWS	     128
#define ROW	     64
#define DATA_SIZE    (ROWS * ROW)
#define MEMORY	     (DATA_AT + 2 * DATA_SIZE)
/* Where nothing is bound. */
#define NOWHERE	     UINT64_C(0x123456789000)

/* A program, and memory for it: binding 0 is what it reads, binding 1 what it writes. */
struct run {
	struct rig rig;
	struct trn_buffer *memory;
	uint8_t *bytes;
	struct image image;
	struct trn_exec exec;
};

static const enum trn_queue_mode modes[] = { TRN_QUEUE_KERNEL, TRN_QUEUE_USER };

static struct trn_queue *make_queue(struct run *run, enum trn_queue_mode mode, uint32_t timeout_ms)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = mode,
		.entries = 16,
		.timeout_ms = timeout_ms,
		.type = TRN_QUEUE_EXEC,
	};
	struct trn_queue *queue;

	guest_ok(trn_queue_create_attributes(run->rig.context, &attributes, &queue));
	return queue;
}

static void run_make(struct run *run, enum trn_queue_mode mode, uint32_t timeout_ms)
{
	struct trn_binding *bindings;
	uint64_t address;
	void *pointer;

	*run = (struct run){ 0 };
	guest_ok(trn_device_open(0, &run->rig.device));
	guest_ok(trn_context_create(run->rig.device, &run->rig.context));
	run->rig.queue = make_queue(run, mode, timeout_ms);
	run->memory = rig_buffer(&run->rig, TRN_PLACEMENT_HOST, MEMORY, 0);
	guest_ok(trn_buffer_map(run->memory, &pointer));
	run->bytes = pointer;
	address = trn_buffer_address(run->memory);
	bindings = (struct trn_binding *)(run->bytes + BINDINGS_AT);
	bindings[0] = (struct trn_binding){ address + DATA_AT, DATA_SIZE };
	bindings[1] = (struct trn_binding){ address + DATA_AT + DATA_SIZE, DATA_SIZE };
	run->exec = (struct trn_exec){
		.program = address,
		.bindings = address + BINDINGS_AT,
		.num_bindings = 2,
		.core = TRN_CORE_ANY,
		.result = address + RESULT_AT,
	};
}

static void run_free(struct run *run)
{
	guest_ok(trn_buffer_destroy(run->memory));
	rig_free(&run->rig);
}

/* What the run ends with. */
static int run_once(struct run *run)
{
	uint64_t sequence;

	image_write(&run->image, run->bytes);
	trn_packet_exec(trn_queue_packet(run->rig.queue), &run->exec);
	guest_ok(trn_queue_submit(run->rig.queue, &sequence));
	return trn_queue_wait(run->rig.queue, sequence, trn_deadline(60 * SECOND));
}

static void expect_text(const char *text)
{
	ck_assert_msg(strstr(trn_error_message(), text), "\"%s\" lacks \"%s\"", trn_error_message(),
		      text);
}

/* A program that copies binding 0 to binding 1 by way of SBUF. */
static void add_copy(struct image *image)
{
	struct trn_instruction *load, *store;

	load = image_transfer(image, TRN_ENGINE_SYNC, TRN_OP_DMA_LOAD, 0, 0, 256, ROWS, ROW);
	image_release(load, 7, 1);
	store = image_transfer(image, TRN_ENGINE_SYNC, TRN_OP_DMA_STORE, 1, 0, 256, ROWS, ROW);
	image_acquire(store, 7, 1);
	image_add(image, TRN_ENGINE_SYNC, TRN_OP_HALT);
}

static void expect_copy(struct run *run, uint64_t seed)
{
	uint8_t *from = run->bytes + DATA_AT, *to = from + DATA_SIZE;

	guest_pattern(from, DATA_SIZE, seed);
	memset(to, 0, DATA_SIZE);
	guest_ok(run_once(run));
	ck_assert_mem_eq(from, to, DATA_SIZE);
}

START_TEST(moves_data_on_every_core)
{
	struct trn_exec_result *result;
	struct trn_profile_record *profile;
	uint32_t cores, core;
	struct run run;

	run_make(&run, modes[_i], 0);
	result = (struct trn_exec_result *)(run.bytes + RESULT_AT);
	profile = (struct trn_profile_record *)(run.bytes + PROFILE_AT);
	cores = trn_device_info(run.rig.device)->cores;
	add_copy(&run.image);
	run.exec.profile = trn_buffer_address(run.memory) + PROFILE_AT;
	run.exec.profile_size = PROFILE_SIZE;
	for (core = 0; core < cores; core++) {
		run.exec.core = (uint16_t)core;
		expect_copy(&run, core);
		ck_assert_uint_eq(result->core, core);
		ck_assert_uint_eq(result->instructions, 3);
		ck_assert_uint_eq(result->dma_bytes, 2 * DATA_SIZE);
		ck_assert_uint_eq(result->profile_records, 3);
		ck_assert_uint_eq(profile[0].opcode, TRN_OP_DMA_LOAD);
		ck_assert_uint_eq(profile[0].engine, TRN_ENGINE_SYNC);
	}
	run.exec.core = TRN_CORE_ANY;
	expect_copy(&run, cores);
	ck_assert_uint_lt(result->core, cores);
	run_free(&run);
}
END_TEST

/* ---- programs that fail ------------------------------------------------ */

static void add_illegal(struct image *image)
{
	image_add(image, TRN_ENGINE_VECTOR, TRN_OP_NOP);
	/* An opcode of another engine. */
	image_add(image, TRN_ENGINE_VECTOR, TRN_OP_IOTA);
}

static void add_unbound(struct image *image)
{
	image_transfer(image, TRN_ENGINE_GPSIMD, TRN_OP_DMA_LOAD, 2, 0, 0, 1, 1);
}

static void add_beyond(struct image *image)
{
	image_transfer(image, TRN_ENGINE_GPSIMD, TRN_OP_DMA_STORE, 0, DATA_SIZE - 1, 0, 1, 2);
}

static void add_out_of_range(struct image *image)
{
	image_add(image, TRN_ENGINE_SCALAR, TRN_OP_NOP);
	image_add(image, TRN_ENGINE_SCALAR, TRN_OP_NOP);
	/* The last byte that a place can name is beyond any chip's SBUF. */
	image_transfer(image, TRN_ENGINE_SCALAR, TRN_OP_DMA_LOAD, 0, 0, TRN_PLACE_OFFSET_MASK, 1,
		       1);
}

static void add_deadlock(struct image *image)
{
	image_add(image, TRN_ENGINE_TENSOR, TRN_OP_HALT);
	image_add(image, TRN_ENGINE_SYNC, TRN_OP_NOP);
	image_acquire(image_add(image, TRN_ENGINE_SYNC, TRN_OP_NOP), 3, 1);
}

static void add_no_halt(struct image *image)
{
	image_add(image, TRN_ENGINE_TENSOR, TRN_OP_NOP);
}

static const struct {
	void (*add)(struct image *image);
	uint32_t exception, engine, instruction;
	const char *text;
} failures[] = {
	{ add_illegal, TRN_EXCEPTION_ILLEGAL_OPCODE, TRN_ENGINE_VECTOR, 1,
	  "vector engine at instruction 1: the engine has no such opcode" },
	{ add_unbound, TRN_EXCEPTION_BAD_BINDING, TRN_ENGINE_GPSIMD, 0,
	  "gpsimd engine at instruction 0: there is no such binding" },
	{ add_beyond, TRN_EXCEPTION_BAD_BINDING, TRN_ENGINE_GPSIMD, 0, "not within its size" },
	{ add_out_of_range, TRN_EXCEPTION_OUT_OF_RANGE, TRN_ENGINE_SCALAR, 2,
	  "scalar engine at instruction 2: operand out of range" },
	{ add_deadlock, TRN_EXCEPTION_DEADLOCK, TRN_ENGINE_SYNC, 1,
	  "sync engine at instruction 1: deadlock" },
	{ add_no_halt, TRN_EXCEPTION_BAD_TARGET, TRN_ENGINE_TENSOR, 1,
	  "tensor engine at instruction 1: there is no such instruction" },
};
#define FAILURES (sizeof(failures) / sizeof(failures[0]))

/* The queue has stopped; a new one of the context works. */
static void expect_recovery(struct run *run, enum trn_queue_mode mode)
{
	uint64_t sequence;

	trn_packet_nop(trn_queue_packet(run->rig.queue));
	ck_assert_int_eq(trn_queue_submit(run->rig.queue, &sequence), -EIO);
	guest_ok(trn_queue_destroy(run->rig.queue));
	run->rig.queue = make_queue(run, mode, 0);
	run->image = (struct image){ 0 };
	add_copy(&run->image);
	expect_copy(run, 1);
}

START_TEST(failures_are_named)
{
	size_t row = _i / 2;
	struct trn_queue_error error;
	struct run run;

	run_make(&run, modes[_i % 2], 0);
	failures[row].add(&run.image);
	ck_assert_int_eq(run_once(&run), -EIO);
	expect_text(failures[row].text);
	guest_ok(trn_queue_error(run.rig.queue, &error));
	ck_assert_uint_eq(error.reason, TRN_STOP_PROGRAM);
	ck_assert_uint_eq(error.exception, failures[row].exception);
	ck_assert_uint_eq(error.engine, failures[row].engine);
	ck_assert_uint_eq(error.instruction, failures[row].instruction);
	ck_assert_uint_eq(error.packet, 0);
	expect_recovery(&run, modes[_i % 2]);
	run_free(&run);
}
END_TEST

START_TEST(no_program)
{
	struct trn_queue_error error;
	struct run run;

	run_make(&run, modes[_i], 0);
	run.exec.program += DATA_AT;
	ck_assert_int_eq(run_once(&run), -EIO);
	expect_text("not the image of a program");
	guest_ok(trn_queue_error(run.rig.queue, &error));
	ck_assert_uint_eq(error.reason, TRN_STOP_PROGRAM);
	ck_assert_uint_eq(error.exception, TRN_EXCEPTION_PROGRAM);
	run.exec.program -= DATA_AT;
	expect_recovery(&run, modes[_i]);
	run_free(&run);
}
END_TEST

/* An access of an instruction, and one that is nobody's. */
START_TEST(faults_are_named)
{
	bool of_instruction = _i / 2;
	enum trn_queue_mode mode = modes[_i % 2];
	struct trn_queue_error error;
	struct trn_binding *bindings;
	struct run run;

	run_make(&run, mode, 0);
	bindings = (struct trn_binding *)(run.bytes + BINDINGS_AT);
	add_copy(&run.image);
	if (of_instruction)
		bindings[1].address = NOWHERE;
	else
		run.exec.bindings = NOWHERE;
	ck_assert_int_eq(run_once(&run), mode == TRN_QUEUE_KERNEL ? -EFAULT : -EIO);
	guest_ok(trn_queue_error(run.rig.queue, &error));
	ck_assert_uint_eq(error.reason, TRN_STOP_FAULT_UNMAPPED);
	ck_assert_uint_eq(error.address, NOWHERE);
	if (of_instruction) {
		expect_text("wrote to 0x123456789000, where nothing is bound: sync engine, "
			    "instruction 1");
		ck_assert_uint_eq(error.access, TRN_ACCESS_WRITE);
		ck_assert_uint_eq(error.exception, TRN_EXCEPTION_MEMORY);
		ck_assert_uint_eq(error.engine, TRN_ENGINE_SYNC);
		ck_assert_uint_eq(error.instruction, 1);
		bindings[1].address = trn_buffer_address(run.memory) + DATA_AT + DATA_SIZE;
	} else {
		expect_text("read from 0x123456789000, where nothing is bound: destroy");
		ck_assert_uint_eq(error.access, TRN_ACCESS_READ);
		ck_assert_uint_eq(error.exception, 0);
		run.exec.bindings = trn_buffer_address(run.memory) + BINDINGS_AT;
	}
	expect_recovery(&run, mode);
	run_free(&run);
}
END_TEST

START_TEST(time_limit)
{
	enum trn_queue_mode mode = modes[_i];
	struct trn_queue_error error;
	int64_t begin;
	struct run run;

	run_make(&run, mode, 200);
	image_loop(&run.image, TRN_ENGINE_SYNC);
	begin = trn_deadline(0);
	ck_assert_int_eq(run_once(&run), mode == TRN_QUEUE_KERNEL ? -ETIMEDOUT : -EIO);
	ck_assert_int_lt(trn_deadline(0) - begin, 10 * SECOND);
	expect_text("longer than the queue's time limit");
	guest_ok(trn_queue_error(run.rig.queue, &error));
	ck_assert_uint_eq(error.reason, TRN_STOP_TIME_LIMIT);
	ck_assert_uint_eq(error.exception, 0);
	expect_recovery(&run, mode);
	run_free(&run);
}
END_TEST

/* ---- what is refused ---------------------------------------------------- */

static int submit_bad(struct run *run, struct trn_exec exec)
{
	trn_packet_exec(trn_queue_packet(run->rig.queue), &exec);
	return trn_queue_submit(run->rig.queue, NULL);
}

START_TEST(kernel_checks_packets)
{
	struct trn_exec exec;
	struct run run;

	run_make(&run, TRN_QUEUE_KERNEL, 0);
	exec = run.exec;
	exec.program += 32;
	ck_assert_int_eq(submit_bad(&run, exec), -EINVAL);
	expect_text("program a multiple of 64");
	exec = run.exec;
	exec.core = (uint16_t)trn_device_info(run.rig.device)->cores;
	ck_assert_int_eq(submit_bad(&run, exec), -EINVAL);
	exec = run.exec;
	exec.num_bindings = TRN_BINDINGS_MAX + 1;
	ck_assert_int_eq(submit_bad(&run, exec), -EINVAL);
	trn_packet_copy(trn_queue_packet(run.rig.queue), exec.result, exec.bindings, 8);
	ck_assert_int_eq(trn_queue_submit(run.rig.queue, NULL), -EINVAL);
	/* The queue goes on. */
	add_copy(&run.image);
	expect_copy(&run, 2);
	run_free(&run);
}
END_TEST

/* A packet for queues of the other type, where the chip is who finds it. */
START_TEST(chip_checks_packets)
{
	struct trn_queue *exec_queue;
	struct trn_queue_error error;
	uint64_t sequence;
	struct run run;

	run_make(&run, TRN_QUEUE_USER, 0);
	exec_queue = run.rig.queue;
	if (_i)
		guest_ok(trn_queue_create(run.rig.context, TRN_QUEUE_USER, 16, &run.rig.queue));
	if (_i)
		trn_packet_exec(trn_queue_packet(run.rig.queue), &run.exec);
	else
		trn_packet_copy(trn_queue_packet(run.rig.queue), run.exec.result, run.exec.bindings,
				8);
	guest_ok(trn_queue_submit(run.rig.queue, &sequence));
	ck_assert_int_eq(trn_queue_wait(run.rig.queue, sequence, trn_deadline(60 * SECOND)), -EIO);
	guest_ok(trn_queue_error(run.rig.queue, &error));
	ck_assert_uint_eq(error.reason, TRN_STOP_BAD_OPCODE);
	if (_i)
		guest_ok(trn_queue_destroy(exec_queue));
	run_free(&run);
}
END_TEST

START_TEST(types)
{
	int fd = guest_open(0);
	struct drm_trn_queue_create create = {
		.context = guest_context(fd),
		.ring_entries = 16,
	};
	uint64_t word = 0;
	struct run run;

	for (create.type = 0; create.type < 300; create.type++) {
		if (create.type == TRN_QUEUE_TYPE_DMA || create.type == TRN_QUEUE_TYPE_EXEC)
			continue;
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), -EINVAL);
	}
	run_make(&run, TRN_QUEUE_KERNEL, 0);
	ck_assert_int_eq(trn_write(run.rig.queue, run.memory, 0, &word, 8), -EINVAL);
	expect_text("TRN_QUEUE_DMA");
	ck_assert_int_eq(trn_fill(run.rig.queue, run.memory, 0, 8, 0, 8), -EINVAL);
	/* Of the second generation, which is the first to pack two. */
	ck_assert_str_eq(trn_device_info(run.rig.device)->generation, "trn2");
	ck_assert_uint_eq(trn_device_info(run.rig.device)->tensor_pack >> 2 & 1, 1);
	run_free(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("execute");
	TCase *cases = tcase_create("execute");

	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, moves_data_on_every_core, 0, 2);
	tcase_add_loop_test(cases, failures_are_named, 0, 2 * FAILURES);
	tcase_add_loop_test(cases, no_program, 0, 2);
	tcase_add_loop_test(cases, faults_are_named, 0, 4);
	tcase_add_loop_test(cases, time_limit, 0, 2);
	tcase_add_test(cases, kernel_checks_packets);
	tcase_add_loop_test(cases, chip_checks_packets, 0, 2);
	tcase_add_test(cases, types);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
