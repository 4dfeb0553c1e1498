/* SPDX-License-Identifier: MIT */
/*
 * Several contexts and processes on one NeuronCore: a program finds nothing of another context's
 * there, and programs of different processes, on one core and on different ones, do what they are
 * to do.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <hw/trn_admin.h>
#include <tests/check_run.h>

#include "guest_memory.h"
#include "image.h"
#include "rig.h"

#define CORE	    1
#define OTHER_CORE  2
/* Of a partition, moved by one DMA. */
#define CHUNK	    32768
#define CHUNK_BYTES ((uint64_t)CHUNK * TRN_PARTITIONS)
#define PATTERN	    0xa5

/* A context with a queue for programs, and memory for them. */
#define BINDINGS_AT UINT64_C(8192)
#define DATA_AT	    UINT64_C(16384)

struct owner {
	struct rig rig;
	struct trn_buffer *memory;
	uint8_t *bytes;
	uint64_t data_size;
};

static struct trn_queue *exec_queue(struct owner *owner)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = TRN_QUEUE_USER,
		.entries = 16,
		.type = TRN_QUEUE_EXEC,
	};
	struct trn_queue *queue;

	guest_ok(trn_queue_create_attributes(owner->rig.context, &attributes, &queue));
	return queue;
}

static void owner_make(struct owner *owner, uint64_t data_size)
{
	struct trn_binding *binding;
	void *pointer;

	owner->data_size = data_size;
	guest_ok(trn_device_open(0, &owner->rig.device));
	guest_ok(trn_context_create(owner->rig.device, &owner->rig.context));
	owner->rig.queue = exec_queue(owner);
	owner->memory = rig_buffer(&owner->rig, TRN_PLACEMENT_HOST, DATA_AT + data_size, 0);
	guest_ok(trn_buffer_map(owner->memory, &pointer));
	owner->bytes = pointer;
	binding = (struct trn_binding *)(owner->bytes + BINDINGS_AT);
	*binding = (struct trn_binding){ trn_buffer_address(owner->memory) + DATA_AT, data_size };
}

static void owner_free(struct owner *owner)
{
	guest_ok(trn_buffer_destroy(owner->memory));
	rig_free(&owner->rig);
}

/* What the program ends with. */
static int run(struct owner *owner, const struct image *image, uint16_t core)
{
	const uint64_t address = trn_buffer_address(owner->memory);
	const struct trn_exec exec = {
		.program = address,
		.bindings = address + BINDINGS_AT,
		.num_bindings = 1,
		.core = core,
	};
	uint64_t sequence;

	image_write(image, owner->bytes);
	trn_packet_exec(trn_queue_packet(owner->rig.queue), &exec);
	guest_ok(trn_queue_submit(owner->rig.queue, &sequence));
	return trn_queue_wait(owner->rig.queue, sequence, trn_deadline(60 * SECOND));
}

/* ---- what is left in a core --------------------------------------------- */

/* All of a core's memory, chunk by chunk, between it and the data. */
static void move_memory(struct owner *owner, uint8_t opcode, uint32_t place, uint32_t size)
{
	uint32_t offset, chunk;

	for (offset = 0; offset < size; offset += chunk) {
		struct image image = { 0 };

		chunk = size - offset < CHUNK ? size - offset : CHUNK;
		image_transfer(&image, TRN_ENGINE_SYNC, opcode, 0,
			       (uint64_t)offset * TRN_PARTITIONS, place | offset, TRN_PARTITIONS,
			       (uint16_t)chunk);
		image_add(&image, TRN_ENGINE_SYNC, TRN_OP_HALT);
		guest_ok(run(owner, &image, CORE));
	}
}

static uint32_t sbuf(const struct owner *owner)
{
	return trn_device_info(owner->rig.device)->sbuf_size / TRN_PARTITIONS;
}

static uint32_t psum(const struct owner *owner)
{
	return trn_device_info(owner->rig.device)->psum_size / TRN_PARTITIONS;
}

static void expect_bytes(const struct owner *owner, uint64_t size, uint8_t value)
{
	const uint8_t *data = owner->bytes + DATA_AT;
	uint64_t i;

	if (data[0] == value && !memcmp(data, data + 1, size - 1))
		return;
	for (i = 0; i < size; i++)
		if (data[i] != value)
			ck_abort_msg("byte %llu is 0x%02x, not 0x%02x", (unsigned long long)i,
				     data[i], value);
}

static void expect_memory(struct owner *owner, uint32_t place, uint32_t size, uint8_t value)
{
	memset(owner->bytes + DATA_AT, ~value, owner->data_size);
	move_memory(owner, TRN_OP_DMA_STORE, place, size);
	expect_bytes(owner, (uint64_t)size * TRN_PARTITIONS, value);
}

static void fill_memory(struct owner *owner)
{
	memset(owner->bytes + DATA_AT, PATTERN, owner->data_size);
	move_memory(owner, TRN_OP_DMA_LOAD, 0, sbuf(owner));
	move_memory(owner, TRN_OP_DMA_LOAD, TRN_PLACE_PSUM, psum(owner));
}

/* Ends with all registers and semaphores of the core other than 0. */
static void use_registers(struct owner *owner)
{
	unsigned int engine, i;
	struct image image;

	for (i = 1; i < TRN_ISA_REGISTERS; i++) {
		image = (struct image){ 0 };
		for (engine = 0; engine < TRN_ENGINES; engine++) {
			struct trn_instruction *move = image_add(&image, engine, TRN_OP_MOVE);

			move->control.destination = (uint8_t)i;
			move->control.immediate = 77;
			image_release(move, (uint8_t)(i * TRN_ENGINES + engine), 1);
			image_add(&image, engine, TRN_OP_HALT);
		}
		guest_ok(run(owner, &image, CORE));
	}
}

/* A register that is not 0 leads to an illegal instruction. */
static void expect_registers(struct owner *owner)
{
	unsigned int engine, i;
	struct image image;

	for (i = 1; i < TRN_ISA_REGISTERS; i++) {
		image = (struct image){ 0 };
		for (engine = 0; engine < TRN_ENGINES; engine++) {
			struct trn_instruction *branch = image_add(&image, engine, TRN_OP_BRANCH);

			branch->op[0] = TRN_ALU_NOT_EQUAL;
			branch->control.source[0] = (uint8_t)i;
			branch->control.target = 2;
			image_add(&image, engine, TRN_OP_HALT);
			image_add(&image, engine, 0xee);
		}
		guest_ok(run(owner, &image, CORE));
	}
}

/* Who waits for a semaphore that is 0 waits for ever. */
static void expect_semaphores(struct owner *owner)
{
	struct trn_queue_error error;
	unsigned int semaphore;

	/* One of each engine, the first and the last of use_registers(). */
	for (semaphore = TRN_ENGINES; semaphore < 16 * TRN_ENGINES; semaphore += 15) {
		struct image image = { 0 };

		image_acquire(image_add(&image, TRN_ENGINE_SYNC, TRN_OP_NOP), (uint8_t)semaphore,
			      1);
		image_add(&image, TRN_ENGINE_SYNC, TRN_OP_HALT);
		ck_assert_int_eq(run(owner, &image, CORE), -EIO);
		guest_ok(trn_queue_error(owner->rig.queue, &error));
		ck_assert_uint_eq(error.exception, TRN_EXCEPTION_DEADLOCK);
		guest_ok(trn_queue_destroy(owner->rig.queue));
		owner->rig.queue = exec_queue(owner);
	}
}

static uint64_t memory_size(void)
{
	int fd = guest_open(0);
	uint64_t size = guest_info(fd).sbuf_size;

	close(fd);
	return size;
}

START_TEST(nothing_is_left)
{
	struct owner first, second;
	uint64_t size = memory_size();

	owner_make(&first, size);
	owner_make(&second, size);
	fill_memory(&first);
	use_registers(&first);
	/* What the context's own programs have left is there still, but for registers. */
	expect_memory(&first, 0, sbuf(&first), PATTERN);
	expect_memory(&first, TRN_PLACE_PSUM, psum(&first), PATTERN);
	expect_registers(&first);
	expect_semaphores(&first);

	use_registers(&first);
	expect_memory(&second, 0, sbuf(&second), 0);
	expect_memory(&second, TRN_PLACE_PSUM, psum(&second), 0);
	use_registers(&first);
	expect_registers(&second);
	use_registers(&first);
	expect_semaphores(&second);
	/* Nor does the first find anything after the second. */
	fill_memory(&second);
	expect_memory(&first, TRN_PLACE_PSUM, psum(&first), 0);
	expect_memory(&first, 0, sbuf(&first), 0);
	owner_free(&first);
	owner_free(&second);
}
END_TEST

/* A new context may have the address space's number of one that is gone. */
START_TEST(nothing_is_left_of_the_dead)
{
	uint64_t size = memory_size();
	struct owner owner;
	int i;

	for (i = 0; i < 3; i++) {
		owner_make(&owner, size);
		expect_memory(&owner, 0, sbuf(&owner), 0);
		expect_memory(&owner, TRN_PLACE_PSUM, psum(&owner), 0);
		fill_memory(&owner);
		owner_free(&owner);
	}
}
END_TEST

/* ---- processes ------------------------------------------------------------ */

#define NUMBERS	 (TRN_PARTITIONS * 256)
#define ROUNDS	 50
#define OUT_AT	 ((uint64_t)NUMBERS * 4)
#define LOADED	 1
#define COMPUTED 2

/* Numbers as INT32, loaded to SBUF, worked on by an engine of each process's own, and stored. */
static void add_program(struct image *image, unsigned int engine, uint8_t operation,
			uint32_t operand)
{
	const struct trn_access_pattern tile = {
		.dtype = TRN_DTYPE_INT32,
		.step = { 1, 1, 1 },
	};
	struct trn_instruction *work;
	int i;

	for (i = 0; i < 2; i++) {
		struct trn_instruction *move = image_transfer(
			image, TRN_ENGINE_SYNC, i ? TRN_OP_DMA_STORE : TRN_OP_DMA_LOAD, 0,
			i ? OUT_AT : 0, 0, TRN_PARTITIONS, NUMBERS / TRN_PARTITIONS);

		move->dma.local = tile;
		move->dma.dtype = TRN_DTYPE_INT32;
		move->dma.stride[0] = NUMBERS / TRN_PARTITIONS * 4;
		move->dma.stride[1] = 4;
		if (i)
			image_acquire(move, COMPUTED, 1);
		else
			image_release(move, LOADED, 1);
	}
	image_add(image, TRN_ENGINE_SYNC, TRN_OP_HALT);
	work = image_add(image, engine, TRN_OP_TENSOR_SCALAR);
	work->op[0] = operation;
	work->op[1] = TRN_ALU_BYPASS;
	work->element.partitions = TRN_PARTITIONS;
	work->element.size[0] = NUMBERS / TRN_PARTITIONS;
	work->element.size[1] = 1;
	work->element.size[2] = 1;
	work->element.out = tile;
	work->element.in[0] = tile;
	work->element.scalar[0] = operand;
	image_acquire(work, LOADED, 1);
	image_release(work, COMPUTED, 1);
	image_add(image, engine, TRN_OP_HALT);
}

static const struct {
	unsigned int engine;
	uint8_t operation;
	int32_t operand;
	uint16_t core;
} programs[] = {
	{ TRN_ENGINE_VECTOR, TRN_ALU_ADD, 1000000, CORE },
	{ TRN_ENGINE_GPSIMD, TRN_ALU_MULTIPLY, -3, CORE },
	{ TRN_ENGINE_SCALAR, TRN_ALU_SUBTRACT, 77, OTHER_CORE },
	{ TRN_ENGINE_VECTOR, TRN_ALU_XOR, 0x5555, TRN_CORE_ANY },
};
#define PROCESSES (sizeof(programs) / sizeof(programs[0]))

static int32_t expected(uint8_t operation, int32_t a, int32_t b)
{
	switch (operation) {
	case TRN_ALU_ADD:
		return a + b;
	case TRN_ALU_MULTIPLY:
		return a * b;
	case TRN_ALU_SUBTRACT:
		return a - b;
	default:
		return a ^ b;
	}
}

static void run_process(size_t index)
{
	static int32_t wanted[NUMBERS];
	struct image image = { 0 };
	struct owner owner;
	int32_t *in, *out;
	int round, i;

	owner_make(&owner, 2 * OUT_AT);
	in = (int32_t *)(owner.bytes + DATA_AT);
	out = in + NUMBERS;
	add_program(&image, programs[index].engine, programs[index].operation,
		    (uint32_t)programs[index].operand);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < NUMBERS; i++) {
			in[i] = i + round * 1000 - 5000;
			wanted[i] =
				expected(programs[index].operation, in[i], programs[index].operand);
		}
		memset(out, 0, OUT_AT);
		guest_ok(run(&owner, &image, programs[index].core));
		ck_assert_mem_eq(out, wanted, OUT_AT);
	}
	owner_free(&owner);
}

START_TEST(processes)
{
	pid_t child[PROCESSES];
	size_t i;

	for (i = 0; i < PROCESSES; i++) {
		child[i] = fork();
		ck_assert_int_ge(child[i], 0);
		if (!child[i]) {
			run_process(i);
			_exit(0);
		}
	}
	for (i = 0; i < PROCESSES; i++)
		guest_child_passed(child[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("core-share");
	TCase *cases = tcase_create("core-share");

	tcase_set_timeout(cases, 300);
	tcase_add_test(cases, nothing_is_left);
	tcase_add_test(cases, nothing_is_left_of_the_dead);
	tcase_add_test(cases, processes);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
