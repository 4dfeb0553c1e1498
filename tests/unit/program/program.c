/* SPDX-License-Identifier: MIT */
/* Programs of libtrn on the fake chip: what the device would see, and mistakes. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hw/trn_queue.h>
#include <tests/check_run.h>
#include <tests/unit/lib/fake.h>
#include <tests/unit/lib/fake_queue.h>
#include <tests/unit/neff/meter.h>

#include "sample.h"

static struct trn_queue *exec_queue;
static struct trn_program *program;
static struct trn_tensor_set *set;

static void assert_says(const char *text)
{
	ck_assert_msg(strstr(trn_error_message(), text), "\"%s\" lacks \"%s\"", trn_error_message(),
		      text);
}

#define ok(call) ck_assert_msg(!(call), "%s: %s", #call, trn_error_message())

static struct trn_queue *make_exec_queue(struct trn_context *of, enum trn_queue_mode mode)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = mode,
		.entries = 8,
		.type = TRN_QUEUE_EXEC,
	};
	struct trn_queue *made;

	ok(trn_queue_create_attributes(of, &attributes, &made));
	return made;
}

/* A chip with a program and a set that has nothing bound. */
static void begin(const struct trn_neff *neff, enum trn_queue_mode mode)
{
	start(TRN_QUEUE_KERNEL, 16);
	exec_queue = make_exec_queue(context, mode);
	ok(trn_program_load(queue, neff, &program));
	ok(trn_tensor_set_create(program, &set));
}

static void end(void)
{
	ok(trn_tensor_set_destroy(set));
	ok(trn_program_unload(program));
	ok(trn_queue_destroy(exec_queue));
	stop();
}

static struct trn_tensor tensor(const char *name, struct trn_buffer *memory, uint64_t offset)
{
	const struct trn_tensor_info *info = trn_program_find_tensor(program, name);

	return (struct trn_tensor){ memory, offset, info->size, info->dtype };
}

static void bind(const char *name, struct trn_buffer *memory, uint64_t offset)
{
	const struct trn_tensor where = tensor(name, memory, offset);

	ok(trn_tensor_set_bind(set, name, &where));
}

/* ---- what a program is ------------------------------------------------------- */

START_TEST(describes)
{
	static const char *const names[] = { "x", "w", "y", "count", "t" };
	const struct trn_program_info *info;
	const struct trn_tensor_info *x;
	uint32_t i;

	begin(&sample_single, TRN_QUEUE_KERNEL);
	info = trn_program_info(program);
	ck_assert_str_eq(info->name, "single");
	ck_assert_mem_eq(info->uuid, sample_single.uuid, 16);
	ck_assert_uint_eq(info->parts, 1);
	ck_assert_uint_eq(info->tensors, SAMPLE_VARIABLES);
	ck_assert(info->has_state);
	/* 64 of header, three instructions, and the constant at the next 512; 4 of state. */
	ck_assert_uint_eq(info->device_size, 512 + 16 + 4);
	/* To be at a multiple of 2 MiB, from a page on. */
	ck_assert_uint_eq(info->set_size, 100 + (2 << 20) - 4096);
	for (i = 0; i < SAMPLE_VARIABLES; i++)
		ck_assert_str_eq(trn_program_tensor(program, i)->name, names[i]);
	ck_assert_ptr_null(trn_program_tensor(program, SAMPLE_VARIABLES));
	x = trn_program_find_tensor(program, "x");
	ck_assert_ptr_eq(x, trn_program_tensor(program, 0));
	ck_assert_int_eq(x->kind, TRN_NEFF_INPUT);
	ck_assert_uint_eq(x->dtype, TRN_DTYPE_BF16);
	ck_assert_uint_eq(x->dimensions, 2);
	ck_assert_uint_eq(x->shape[0], 2);
	ck_assert_uint_eq(x->shape[1], 3);
	ck_assert_uint_eq(x->size, 12);
	ck_assert_uint_eq(x->alignment, 64);
	ck_assert_ptr_null(trn_program_find_tensor(program, "X"));
	end();
}
END_TEST

/* ---- what the device sees ---------------------------------------------------- */

static void check_image(uint64_t va)
{
	struct trn_program_header header;
	struct trn_instruction instructions[3];
	static const uint8_t zero[28];

	ck_assert_uint_eq(va % 64, 0);
	fake_peek(va, &header, sizeof(header), true);
	ck_assert_mem_eq(&header.magic, "TRPG", 4);
	ck_assert_uint_eq(header.version, 1);
	ck_assert_uint_eq(header.size, 64 + 3 * 64);
	ck_assert_uint_eq(header.instructions[TRN_ENGINE_TENSOR], 0);
	ck_assert_uint_eq(header.instructions[TRN_ENGINE_VECTOR], 2);
	ck_assert_uint_eq(header.instructions[TRN_ENGINE_SCALAR], 0);
	ck_assert_uint_eq(header.instructions[TRN_ENGINE_GPSIMD], 0);
	ck_assert_uint_eq(header.instructions[TRN_ENGINE_SYNC], 1);
	ck_assert_mem_eq(header.reserved, zero, sizeof(zero));
	fake_peek(va + 64, instructions, sizeof(instructions), true);
	ck_assert_mem_eq(&instructions[0], sample_vector, sizeof(sample_vector));
	ck_assert_mem_eq(&instructions[2], sample_sync, sizeof(sample_sync));
}

START_TEST(device_sees)
{
	struct trn_binding bindings[SAMPLE_VARIABLES];
	struct trn_buffer *memory;
	struct trn_packet packet;
	float weights[4];
	int32_t count;
	uint8_t byte;
	uint64_t at;
	const struct trn_execution execution = {
		.size = sizeof(execution),
		.cores = (const uint16_t[]){ 1 },
		.seed = 0x1234567890abcdef,
	};

	begin(&sample_single, modes[_i]);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	at = trn_buffer_address(memory);
	bind("x", memory, 64);
	bind("y", memory, 100);
	ok(trn_execute(exec_queue, set, &execution));
	packet = fake_last_exec();
	ck_assert_uint_eq(packet.exec.core, 1);
	ck_assert_uint_eq(packet.exec.seed, 0x1234567890abcdef);
	ck_assert_uint_eq(packet.exec.num_bindings, SAMPLE_VARIABLES);
	ck_assert_uint_eq(packet.exec.profile, 0);
	ck_assert_uint_eq(packet.exec.profile_size, 0);
	check_image(packet.exec.program);
	fake_peek(packet.exec.bindings, bindings, sizeof(bindings), false);
	ck_assert_uint_eq(bindings[SAMPLE_X].address, at + 64);
	ck_assert_uint_eq(bindings[SAMPLE_X].size, 12);
	ck_assert_uint_eq(bindings[SAMPLE_Y].address, at + 100);
	ck_assert_uint_eq(bindings[SAMPLE_Y].size, 20);
	ck_assert_uint_eq(bindings[SAMPLE_W].address % 512, 0);
	ck_assert_uint_eq(bindings[SAMPLE_W].size, 16);
	fake_peek(bindings[SAMPLE_W].address, weights, sizeof(weights), true);
	ck_assert_mem_eq(weights, sample_weights, sizeof(weights));
	ck_assert_uint_eq(bindings[SAMPLE_COUNT].size, 4);
	fake_peek(bindings[SAMPLE_COUNT].address, &count, sizeof(count), false);
	ck_assert_int_eq(count, 0);
	ck_assert_uint_eq(bindings[SAMPLE_T].address % (1 << 21), 0);
	ck_assert_uint_eq(bindings[SAMPLE_T].size, 100);
	fake_peek(bindings[SAMPLE_T].address + 99, &byte, 1, false);
	ok(trn_execute(exec_queue, set, NULL));
	ck_assert_uint_eq(fake_last_exec().exec.core, TRN_CORE_ANY);
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

/* Constants and state are one; what is temporary, and tensors, are each set's own. */
START_TEST(sets_share)
{
	struct trn_binding one[SAMPLE_VARIABLES], other[SAMPLE_VARIABLES];
	struct trn_tensor_set *first;
	struct trn_buffer *memory;

	begin(&sample_single, TRN_QUEUE_KERNEL);
	first = set;
	memory = buffer(TRN_PLACEMENT_HOST, 4096);
	bind("x", memory, 0);
	bind("y", memory, 64);
	ok(trn_tensor_set_create(program, &set));
	bind("x", memory, 128);
	bind("y", memory, 192);
	ok(trn_execute(exec_queue, first, NULL));
	fake_peek(fake_last_exec().exec.bindings, one, sizeof(one), false);
	ok(trn_execute(exec_queue, set, NULL));
	fake_peek(fake_last_exec().exec.bindings, other, sizeof(other), false);
	ck_assert_uint_eq(one[SAMPLE_W].address, other[SAMPLE_W].address);
	ck_assert_uint_eq(one[SAMPLE_COUNT].address, other[SAMPLE_COUNT].address);
	ck_assert_uint_ne(one[SAMPLE_T].address, other[SAMPLE_T].address);
	ck_assert_uint_eq(one[SAMPLE_X].address, trn_buffer_address(memory));
	ck_assert_uint_eq(other[SAMPLE_X].address, trn_buffer_address(memory) + 128);
	ck_assert_int_eq(trn_program_unload(program), -EBUSY);
	assert_says("single: it has 2 tensor sets");
	ok(trn_tensor_set_destroy(first));
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

START_TEST(parts)
{
	struct trn_binding first[3], second[3];
	struct trn_buffer *memory;
	struct trn_packet packet;
	float weights[4];
	struct trn_execution execution = {
		.size = sizeof(execution),
		.cores = (const uint16_t[]){ 1, 0 },
	};

	begin(&sample_double, modes[_i]);
	ck_assert_uint_eq(trn_program_info(program)->parts, 2);
	ck_assert_uint_eq(trn_program_info(program)->tensors, 4);
	ck_assert_uint_eq(trn_program_find_tensor(program, "sum")->alignment, 8192);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	bind("x", memory, 0);
	bind("y", memory, 4);
	ok(trn_execute(exec_queue, set, &execution));
	packet = fake_earlier_exec(1);
	ck_assert_uint_eq(packet.exec.core, 1);
	ck_assert_uint_eq(packet.exec.num_bindings, 3);
	fake_peek(packet.exec.bindings, first, sizeof(first), false);
	packet = fake_last_exec();
	ck_assert_uint_eq(packet.exec.core, 0);
	fake_peek(packet.exec.bindings, second, sizeof(second), false);
	ck_assert_uint_eq(first[0].address, trn_buffer_address(memory));
	ck_assert_uint_eq(second[1].address, trn_buffer_address(memory) + 4);
	/* One name, one state; but constants of their own. */
	ck_assert_uint_eq(first[1].address, second[2].address);
	ck_assert_uint_eq(first[1].address % 8192, 0);
	fake_peek(first[2].address, weights, sizeof(weights), true);
	ck_assert(weights[0] == 1);
	fake_peek(second[0].address, weights, sizeof(weights), true);
	ck_assert(weights[0] == 5);

	/* One part alone. */
	execution.cores = NULL;
	execution.first_part = 1;
	execution.num_parts = 1;
	ok(trn_execute(exec_queue, set, &execution));
	ck_assert_uint_eq(fake_last_exec().exec.program, packet.exec.program);
	ck_assert_uint_eq(fake_earlier_exec(1).exec.program, packet.exec.program);
	execution.num_parts = 2;
	ck_assert_int_eq(trn_execute(exec_queue, set, &execution), -EINVAL);
	assert_says("double: parts 1 to 2 are not all of 0 to 1");
	execution.first_part = 2;
	execution.num_parts = 0;
	ck_assert_int_eq(trn_execute(exec_queue, set, &execution), -EINVAL);
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

/* Neither allocates nor makes a system call, on a user queue. */
START_TEST(costs_nothing)
{
	struct trn_buffer *memory;
	unsigned int ioctls;
	int i, error = 0;
	uint64_t sequence;
	size_t peak;

	begin(&sample_double, TRN_QUEUE_USER);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	bind("x", memory, 0);
	bind("y", memory, 64);
	fake_hold(true);
	ioctls = fake_ioctls();
	meter_start();
	for (i = 0; i < 2; i++)
		error |= trn_execute_async(exec_queue, set, NULL, &sequence);
	peak = meter_peak();
	ok(error);
	ck_assert_uint_eq(peak, 0);
	ck_assert_uint_eq(fake_ioctls(), ioctls);
	ck_assert_uint_eq(sequence, 2);
	fake_hold(false);
	ok(trn_queue_wait(exec_queue, sequence, TRN_FOREVER));
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

/* ---- results and profiles ---------------------------------------------------- */

START_TEST(result)
{
	const struct trn_exec_result written = {
		.begin_ns = 1000,
		.end_ns = 3500,
		.cycles = 77,
		.picoseconds = 88,
		.busy_cycles = { 1, 2, 3, 4, 5 },
		.dma_bytes = 99,
		.instructions = 111,
		.profile_records = 122,
		.core = 1,
	};
	struct trn_execution_result result;
	struct trn_buffer *memory;
	uint32_t i;

	begin(&sample_double, modes[_i]);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	bind("x", memory, 0);
	bind("y", memory, 64);
	ck_assert_int_eq(trn_tensor_set_result(set, 0, &result), -ENODATA);
	assert_says("double: no execution of part 0 has ended");
	ck_assert_int_eq(trn_tensor_set_result(set, 2, &result), -EINVAL);
	fake_set_result(&written);
	ok(trn_execute(exec_queue, set, NULL));
	for (i = 0; i < 2; i++) {
		ok(trn_tensor_set_result(set, i, &result));
		ck_assert_uint_eq(result.begin_ns, 1000);
		ck_assert_uint_eq(result.end_ns, 3500);
		ck_assert_uint_eq(result.cycles, 77);
		ck_assert_uint_eq(result.picoseconds, 88);
		ck_assert_uint_eq(result.busy_cycles[TRN_ENGINE_SYNC], 5);
		ck_assert_uint_eq(result.dma_bytes, 99);
		ck_assert_uint_eq(result.instructions, 111);
		ck_assert_uint_eq(result.profile_records, 122);
		ck_assert_uint_eq(result.core, 1);
	}
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

START_TEST(profile)
{
	struct trn_buffer *memory;
	struct trn_execution execution = { .size = sizeof(execution) };

	begin(&sample_double, TRN_QUEUE_KERNEL);
	memory = buffer(TRN_PLACEMENT_HOST, 4096);
	bind("x", memory, 0);
	bind("y", memory, 64);
	execution.profile = memory;
	execution.profile_offset = 512;
	execution.profile_size = 320;
	ok(trn_execute(exec_queue, set, &execution));
	ck_assert_uint_eq(fake_earlier_exec(1).exec.profile, trn_buffer_address(memory) + 512);
	ck_assert_uint_eq(fake_last_exec().exec.profile, trn_buffer_address(memory) + 512 + 320);
	ck_assert_uint_eq(fake_last_exec().exec.profile_size, 320);
	execution.profile_size = 1824;
	ck_assert_int_eq(trn_execute(exec_queue, set, &execution), -EINVAL);
	assert_says("double: profile: 2 times 1824 bytes at offset 512 pass the end of a buffer");
	execution.profile_size = 33;
	ck_assert_int_eq(trn_execute(exec_queue, set, &execution), -EINVAL);
	execution.profile_size = 32;
	execution.profile_offset = 4;
	ck_assert_int_eq(trn_execute(exec_queue, set, &execution), -EINVAL);
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

/* ---- mistakes with tensors --------------------------------------------------- */

START_TEST(missing)
{
	struct trn_buffer *memory;

	begin(&sample_single, modes[_i]);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	ck_assert_int_eq(trn_execute(exec_queue, set, NULL), -EINVAL);
	assert_says("single: input \"x\" has no memory");
	bind("x", memory, 0);
	ck_assert_int_eq(trn_execute(exec_queue, set, NULL), -EINVAL);
	assert_says("single: output \"y\" has no memory");
	bind("y", memory, 64);
	ok(trn_execute(exec_queue, set, NULL));
	bind("x", memory, 128);
	ok(trn_execute(exec_queue, set, NULL));
	ok(trn_tensor_set_bind(set, "x", NULL));
	ok(trn_tensor_set_bind(set, "x", NULL));
	ck_assert_int_eq(trn_execute(exec_queue, set, NULL), -EINVAL);
	assert_says("input \"x\"");
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

START_TEST(destroyed)
{
	struct trn_buffer *memory, *other;

	begin(&sample_single, TRN_QUEUE_KERNEL);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	other = buffer(TRN_PLACEMENT_HBM, 4096);
	bind("x", memory, 0);
	bind("y", other, 0);
	ok(trn_buffer_destroy(other));
	/* As likely as not at the same address. */
	other = buffer(TRN_PLACEMENT_HBM, 4096);
	ck_assert_int_eq(trn_execute(exec_queue, set, NULL), -EINVAL);
	assert_says("single: the buffer of tensor \"y\" was destroyed");
	bind("y", other, 0);
	ok(trn_execute(exec_queue, set, NULL));
	ok(trn_buffer_destroy(memory));
	ok(trn_buffer_destroy(other));
	end();
}
END_TEST

static void refuse(const char *name, const struct trn_tensor *where, int error, const char *text)
{
	ck_assert_int_eq(trn_tensor_set_bind(set, name, where), error);
	assert_says("single: ");
	assert_says(name);
	assert_says(text);
}

START_TEST(wrong_tensors)
{
	struct trn_buffer *memory, *nowhere, *fixed;
	struct trn_context *elsewhere;
	struct trn_tensor where;

	begin(&sample_single, TRN_QUEUE_KERNEL);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	refuse("z", NULL, -ENOENT, "there is no tensor");
	refuse("w", NULL, -ENOENT, "is of kind file");
	refuse("count", NULL, -ENOENT, "is of kind state-buffer");
	where = tensor("x", memory, 0);
	where.size = 24;
	refuse("x", &where, -EINVAL, "has 12 bytes, not 24");
	where = tensor("x", memory, 0);
	where.dtype = TRN_DTYPE_FP16;
	refuse("x", &where, -EINVAL, "is bf16, not fp16");
	where.dtype = 77;
	refuse("x", &where, -EINVAL, "is bf16, not a data type that does not exist");
	where = tensor("x", memory, 32);
	refuse("x", &where, -EINVAL, "must be a multiple of 64");
	where = tensor("y", memory, 4080);
	refuse("y", &where, -EINVAL, "20 bytes at offset 4080 pass the end of a buffer of 4096");
	where = tensor("y", memory, UINT64_MAX - 3);
	refuse("y", &where, -EINVAL, "pass the end");
	where = tensor("y", NULL, 0);
	refuse("y", &where, -EINVAL, "NULL");

	ok(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 4096, TRN_BUFFER_UNBOUND,
			     &nowhere));
	where = tensor("x", nowhere, 0);
	refuse("x", &where, -EINVAL, "has no address");
	ok(trn_buffer_create(context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, 4096, TRN_BUFFER_READONLY,
			     &fixed));
	where = tensor("y", fixed, 0);
	refuse("y", &where, -EACCES, "TRN_BUFFER_READONLY");
	bind("x", fixed, 0);
	ok(trn_buffer_destroy(memory));
	ok(trn_buffer_destroy(nowhere));
	ok(trn_buffer_destroy(fixed));

	ok(trn_context_create(device, &elsewhere));
	ok(trn_buffer_create(elsewhere, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 4096, 0, &memory));
	where = tensor("x", memory, 0);
	refuse("x", &where, -EINVAL, "is of another context");
	ok(trn_buffer_destroy(memory));
	ok(trn_context_destroy(elsewhere));
	end();
}
END_TEST

/* ---- mistakes with everything else ------------------------------------------- */

START_TEST(wrong_executions)
{
	struct trn_execution execution = { .size = sizeof(execution) };
	struct trn_buffer *memory;
	struct trn_context *elsewhere;
	struct trn_queue *other;
	struct trn_program *none;

	begin(&sample_single, TRN_QUEUE_USER);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	bind("x", memory, 0);
	bind("y", memory, 64);
	ck_assert_int_eq(trn_execute(queue, set, NULL), -EINVAL);
	assert_says("moves data");
	ck_assert_int_eq(trn_program_load(exec_queue, &sample_single, &none), -EINVAL);
	assert_says("type DMA");
	execution.cores = (const uint16_t[]){ 2 };
	ck_assert_int_eq(trn_execute(exec_queue, set, &execution), -EINVAL);
	assert_says("single: core 2 is not 0 to 1");
	execution.cores = NULL;
	execution.size = 8;
	ck_assert_int_eq(trn_execute(exec_queue, set, &execution), -EINVAL);
	assert_says("sizeof(struct trn_execution)");
	execution.size = sizeof(execution);
	execution.sync_count = 1;
	execution.syncs = &(const struct trn_sync){ 0 };
	ck_assert_int_eq(trn_execute(exec_queue, set, &execution), -EOPNOTSUPP);
	ok(trn_context_create(device, &elsewhere));
	other = make_exec_queue(elsewhere, TRN_QUEUE_KERNEL);
	ck_assert_int_eq(trn_execute(other, set, NULL), -EINVAL);
	assert_says("another context");
	ok(trn_queue_destroy(other));
	ok(trn_context_destroy(elsewhere));
	/* Nothing of that has harmed the queue. */
	ok(trn_execute(exec_queue, set, NULL));
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

/* A copy of the program with one thing changed, which must be refused. */
static void refuse_program(const struct trn_neff *neff, int error, const char *text)
{
	struct trn_program *none = NULL;

	ck_assert_int_eq(trn_program_load(queue, neff, &none), error);
	ck_assert_ptr_null(none);
	assert_says(neff->name);
	assert_says(text);
}

static void refuse_variable(struct trn_neff_variable variable, int error, const char *text)
{
	struct trn_neff_core core = sample_single.cores[0];
	struct trn_neff neff = sample_single;

	core.variables = &variable;
	core.num_variables = 1;
	neff.cores = &core;
	refuse_program(&neff, error, text);
}

static void refuse_instruction(struct trn_instruction instruction, int error, const char *text)
{
	struct trn_neff_core core = sample_single.cores[0];
	struct trn_instruction stream[2] = { { .opcode = TRN_OP_NOP }, instruction };
	struct trn_neff neff = sample_single;

	core.streams[TRN_ENGINE_TENSOR] = (struct trn_neff_stream){ stream, 2 };
	neff.cores = &core;
	refuse_program(&neff, error, text);
}

START_TEST(wrong_programs)
{
	struct trn_neff_variable variable = sample_single.cores[0].variables[SAMPLE_X];
	struct trn_neff_core cores[3];
	struct trn_neff neff = sample_double;
	struct trn_neff_variable changed[3];

	start(TRN_QUEUE_KERNEL, 16);
	neff.num_cores = 3;
	memcpy(cores, sample_double.cores, 2 * sizeof(cores[0]));
	cores[2] = cores[0];
	neff.cores = cores;
	refuse_program(&neff, -EOPNOTSUPP, "it needs 3 cores, but");

	variable.dtype = TRN_DTYPE_MXFP8;
	variable.size = 6;
	refuse_variable(variable, -EOPNOTSUPP, "tensor \"x\" is mxfp8, which");
	variable.size = 5;
	refuse_variable(variable, -EINVAL, "x: \"size\" is 5");

	refuse_instruction(
		(struct trn_instruction){ .opcode = TRN_OP_MATMUL,
					  .tensor = { .in = { .dtype = TRN_DTYPE_MXFP8 } } },
		-EOPNOTSUPP, "core 0, engine tensor, instruction 1 uses mxfp8, which");
	refuse_instruction(
		(struct trn_instruction){ .opcode = TRN_OP_COPY,
					  .element = { .in = { { .dtype = TRN_DTYPE_FP4 } } } },
		-EOPNOTSUPP, "instruction 1 uses fp4");
	refuse_instruction((struct trn_instruction){ .opcode = TRN_OP_DMA_STORE,
						     .dma = { .dtype = TRN_DTYPE_FP4 } },
			   -EOPNOTSUPP, "instruction 1 uses fp4");
	refuse_instruction((struct trn_instruction){ .opcode = TRN_OP_MASK,
						     .affine = { .in = { .dtype = 200 } } },
			   -EOPNOTSUPP, "instruction 1 uses a data type that does not exist");
	refuse_instruction((struct trn_instruction){ .opcode = TRN_OP_LOAD_STATIONARY,
						     .tensor = { .pack = 2 } },
			   -EOPNOTSUPP, "instruction 1 packs 2 fp8 terms");

	/* "sum" with another shape on core 1. */
	memcpy(changed, cores[1].variables, sizeof(changed));
	changed[2].shape[0] = 4;
	changed[2].size = 16;
	cores[1].variables = changed;
	neff.num_cores = 2;
	refuse_program(&neff, -EBADMSG, "tensor \"sum\" has another kind, data type or shape");

	neff.num_cores = 0;
	refuse_program(&neff, -EINVAL, "num_cores is 0");
	ck_assert_int_eq(trn_program_load_file(queue, "/nonexistent/a.neff", &program), -ENOENT);
	assert_says("/nonexistent/a.neff");
	ck_assert_uint_eq(fake_objects(), 0);
	stop();
}
END_TEST

/* Each system call of loading and of a set may fail, and nothing is left of either. */
START_TEST(failing_calls)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_TRN_BO_CREATE,
		DRM_IOCTL_TRN_VM_BIND,
		DRM_IOCTL_TRN_SUBMIT,
	};
	unsigned int failures = 0, skip;
	size_t i;

	start(TRN_QUEUE_KERNEL, 16);
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		for (skip = 0; skip < 12; skip++) {
			fake_fail(requests[i], skip, -ENOMEM);
			if (trn_program_load(queue, &sample_single, &program)) {
				failures++;
				continue;
			}
			if (trn_tensor_set_create(program, &set)) {
				failures++;
				set = NULL;
			}
			fake_fail(0, 0, 0);
			ok(trn_tensor_set_destroy(set));
			ok(trn_program_unload(program));
		}
	}
	ck_assert_uint_ge(failures, 8);
	stop();
}
END_TEST

START_TEST(chip_is_gone)
{
	struct trn_buffer *memory;

	begin(&sample_single, modes[_i]);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	bind("x", memory, 0);
	bind("y", memory, 64);
	fake_kill();
	ck_assert_int_eq(trn_execute(exec_queue, set, NULL), -ENODEV);
	ck_assert_int_eq(trn_tensor_set_create(program, &(struct trn_tensor_set *){ NULL }),
			 -ENODEV);
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

START_TEST(child_is_refused)
{
	struct trn_tensor_set *none;
	struct trn_buffer *memory;
	struct trn_tensor where;
	int status;
	pid_t child;

	begin(&sample_single, modes[_i]);
	memory = buffer(TRN_PLACEMENT_HBM, 4096);
	bind("x", memory, 0);
	bind("y", memory, 64);
	where = tensor("x", memory, 0);
	child = fork();
	if (!child) {
		bool refused = trn_execute(exec_queue, set, NULL) == -EPERM &&
			       trn_tensor_set_bind(set, "x", &where) == -EPERM &&
			       trn_tensor_set_create(program, &none) == -EPERM &&
			       trn_tensor_set_destroy(set) == -EPERM &&
			       trn_program_unload(program) == -EPERM;

		_exit(!refused);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ok(trn_execute(exec_queue, set, NULL));
	ok(trn_buffer_destroy(memory));
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("program");
	TCase *seen = tcase_create("seen");
	TCase *mistakes = tcase_create("mistakes");

	tcase_add_test(seen, describes);
	tcase_add_loop_test(seen, device_sees, 0, 2);
	tcase_add_test(seen, sets_share);
	tcase_add_loop_test(seen, parts, 0, 2);
	tcase_add_test(seen, costs_nothing);
	tcase_add_loop_test(seen, result, 0, 2);
	tcase_add_test(seen, profile);
	tcase_add_loop_test(mistakes, missing, 0, 2);
	tcase_add_test(mistakes, destroyed);
	tcase_add_test(mistakes, wrong_tensors);
	tcase_add_test(mistakes, wrong_executions);
	tcase_add_test(mistakes, wrong_programs);
	tcase_add_test(mistakes, failing_calls);
	tcase_add_loop_test(mistakes, chip_is_gone, 0, 2);
	tcase_add_loop_test(mistakes, child_is_refused, 0, 2);
	suite_add_tcase(suite, seen);
	suite_add_tcase(suite, mistakes);
	return check_run(suite);
}
