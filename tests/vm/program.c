/* SPDX-License-Identifier: MIT */
/* Compiled programs through libtrn on a chip: load, bind by name, execute, and what goes wrong. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hw/trn_regs.h>
#include <tests/check_run.h>
#include <trn/trn_program.h>

#include "image.h"
#include "rig.h"

#define ROWS	 128
#define COLUMNS	 16
#define ELEMENTS (ROWS * COLUMNS)
#define SIZE	 (ELEMENTS * sizeof(float))
#define ROW	 (COLUMNS * sizeof(float))
#define TIMEOUT	 trn_deadline(60 * SECOND)

static const enum trn_queue_mode modes[] = { TRN_QUEUE_KERNEL, TRN_QUEUE_USER };

/* ---- the programs ------------------------------------------------------------ */

/* Bindings of the program "add": y = x + w by way of t; n = count = count + 1. */
enum {
	X,
	W,
	Y,
	N,
	COUNT,
	T,
	VARIABLES
};

static float weights[ELEMENTS];

static const struct trn_neff_variable add_variables[VARIABLES] = {
	[X] = { "x", 0, TRN_NEFF_INPUT, TRN_DTYPE_FP32, 2, { ROWS, COLUMNS }, SIZE, 64, NULL },
	[W] = { "w", 1, TRN_NEFF_FILE, TRN_DTYPE_FP32, 2, { ROWS, COLUMNS }, SIZE, 64, weights },
	[Y] = { "y", 2, TRN_NEFF_OUTPUT, TRN_DTYPE_FP32, 2, { ROWS, COLUMNS }, SIZE, 64, NULL },
	[N] = { "n", 3, TRN_NEFF_OUTPUT, TRN_DTYPE_INT32, 0, { 0 }, 4, 4, NULL },
	[COUNT] = { "count", 4, TRN_NEFF_STATE_BUFFER, TRN_DTYPE_INT32, 0, { 0 }, 4, 4, NULL },
	[T] = { "t", 5, TRN_NEFF_TMP_BUF, TRN_DTYPE_FP32, 2, { ROWS, COLUMNS }, SIZE, 4096, NULL },
};

/* Where in a partition of SBUF. */
#define AT_X	 0
#define AT_W	 64
#define AT_SUM	 128
#define AT_AGAIN 192
#define AT_COUNT 256

static struct trn_access_pattern place(uint32_t offset, uint8_t dtype)
{
	return (struct trn_access_pattern){ .place = offset, .dtype = dtype, .step = { 1 } };
}

static struct trn_instruction *add_element(struct image *image, uint8_t opcode, uint8_t partitions,
					   uint16_t columns)
{
	struct trn_instruction *added = image_add(image, TRN_ENGINE_VECTOR, opcode);

	added->op[0] = TRN_ALU_ADD;
	added->element.partitions = partitions;
	added->element.size[0] = columns;
	added->element.size[1] = 1;
	added->element.size[2] = 1;
	return added;
}

static struct trn_instruction *add_dma(struct image *image, uint8_t opcode, uint8_t binding,
				       uint32_t at)
{
	bool word = at == AT_COUNT;

	return image_transfer(image, TRN_ENGINE_SYNC, opcode, binding, 0, at, word ? 1 : ROWS,
			      word ? 4 : ROW);
}

/* Semaphores: 0 loaded, 1 computed, 2 t is written, 3 t is read. */
static void make_add(struct image *image)
{
	struct trn_instruction *made;

	image_release(add_dma(image, TRN_OP_DMA_LOAD, X, AT_X), 0, 1);
	image_release(add_dma(image, TRN_OP_DMA_LOAD, W, AT_W), 0, 1);
	image_release(add_dma(image, TRN_OP_DMA_LOAD, COUNT, AT_COUNT), 0, 1);
	made = add_dma(image, TRN_OP_DMA_STORE, T, AT_SUM);
	image_acquire(made, 1, 1);
	image_release(made, 2, 1);
	made = add_dma(image, TRN_OP_DMA_LOAD, T, AT_AGAIN);
	image_acquire(made, 2, 1);
	image_release(made, 3, 1);
	image_acquire(add_dma(image, TRN_OP_DMA_STORE, Y, AT_AGAIN), 3, 1);
	add_dma(image, TRN_OP_DMA_STORE, COUNT, AT_COUNT);
	add_dma(image, TRN_OP_DMA_STORE, N, AT_COUNT);
	image_add(image, TRN_ENGINE_SYNC, TRN_OP_HALT);

	made = add_element(image, TRN_OP_TENSOR_TENSOR, ROWS, COLUMNS);
	made->element.out = place(AT_SUM, TRN_DTYPE_FP32);
	made->element.in[0] = place(AT_X, TRN_DTYPE_FP32);
	made->element.in[1] = place(AT_W, TRN_DTYPE_FP32);
	image_acquire(made, 0, 3);
	made = add_element(image, TRN_OP_TENSOR_SCALAR, 1, 1);
	made->element.out = place(AT_COUNT, TRN_DTYPE_INT32);
	made->element.in[0] = place(AT_COUNT, TRN_DTYPE_INT32);
	made->element.scalar[0] = 1;
	image_release(made, 1, 1);
	image_add(image, TRN_ENGINE_VECTOR, TRN_OP_HALT);
}

/* A program for one core, or for two with the same variables. */
struct source {
	struct image image;
	struct trn_neff_core core[2];
	struct trn_neff neff;
};

static void make_source(struct source *source, const char *name,
			const struct trn_neff_variable *variables, uint32_t count, uint32_t cores)
{
	uint32_t i, engine;

	for (i = 0; i < cores; i++) {
		source->core[i] = (struct trn_neff_core){
			.variables = variables,
			.num_variables = count,
		};
		for (engine = 0; engine < TRN_ENGINES; engine++)
			source->core[i].streams[engine] = (struct trn_neff_stream){
				source->image.stream[engine],
				source->image.length[engine],
			};
	}
	source->neff = (struct trn_neff){
		.name = name,
		.build_version = "test",
		.cores = source->core,
		.num_cores = cores,
	};
}

/* @constant: what it adds; its variables are the caller's memory. */
static void make_adder(struct source *source, float constant, float *values,
		       struct trn_neff_variable *variables)
{
	int i;

	for (i = 0; i < ELEMENTS; i++)
		values[i] = constant + (float)i;
	memcpy(variables, add_variables, sizeof(add_variables));
	variables[W].data = values;
	*source = (struct source){ 0 };
	make_add(&source->image);
	make_source(source, "add", variables, VARIABLES, 1);
}

/* ---- a chip with it ---------------------------------------------------------- */

struct bench {
	struct rig rig; /* its queue copies */
	struct trn_queue *queue;
	struct trn_program *program;
	struct trn_tensor_set *set;
	struct trn_buffer *memory; /* x, y, n, in pages of their own */
};

#define X_AT	     UINT64_C(0)
#define Y_AT	     (X_AT + SIZE)
#define N_AT	     (Y_AT + SIZE)
#define MEMORY	     (N_AT + 4096)
#define LOOP_TIMEOUT 3000 /* ms */

static struct trn_queue *make_queue(struct trn_context *context, enum trn_queue_mode mode,
				    uint32_t timeout_ms)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = mode,
		.entries = 32,
		.timeout_ms = timeout_ms,
		.type = TRN_QUEUE_EXEC,
	};
	struct trn_queue *queue;

	guest_ok(trn_queue_create_attributes(context, &attributes, &queue));
	return queue;
}

static void bind_at(struct trn_tensor_set *set, const struct trn_program *program, const char *name,
		    struct trn_buffer *memory, uint64_t offset)
{
	const struct trn_tensor_info *info = trn_program_find_tensor(program, name);
	const struct trn_tensor tensor = { memory, offset, info->size, info->dtype };

	guest_ok(trn_tensor_set_bind(set, name, &tensor));
}

static void bind_all(struct bench *bench)
{
	bind_at(bench->set, bench->program, "x", bench->memory, X_AT);
	bind_at(bench->set, bench->program, "y", bench->memory, Y_AT);
	bind_at(bench->set, bench->program, "n", bench->memory, N_AT);
}

/* @constant: what its program adds. */
static void bench_make_adding(struct bench *bench, enum trn_queue_mode mode, float constant)
{
	struct trn_neff_variable variables[VARIABLES];
	struct source source;

	bench->rig = rig_make(0, TRN_QUEUE_KERNEL);
	bench->queue = make_queue(bench->rig.context, mode, 0);
	make_adder(&source, constant, weights, variables);
	guest_ok(trn_program_load(bench->rig.queue, &source.neff, &bench->program));
	guest_ok(trn_tensor_set_create(bench->program, &bench->set));
	bench->memory = rig_buffer(&bench->rig, TRN_PLACEMENT_HBM, MEMORY, 0);
	bind_all(bench);
	/* The loader has copied it all. */
	memset(&source, 0xff, sizeof(source));
	memset(variables, 0xff, sizeof(variables));
	memset(weights, 0xff, sizeof(weights));
}

static void bench_make(struct bench *bench, enum trn_queue_mode mode)
{
	bench_make_adding(bench, mode, 0.5f);
}

static void bench_free(struct bench *bench)
{
	guest_ok(trn_tensor_set_destroy(bench->set));
	guest_ok(trn_program_unload(bench->program));
	guest_ok(trn_buffer_destroy(bench->memory));
	guest_ok(trn_queue_destroy(bench->queue));
	rig_free(&bench->rig);
}

static void set_x(struct bench *bench, float first)
{
	static const float minus[ELEMENTS];
	float x[ELEMENTS];
	int i;

	for (i = 0; i < ELEMENTS; i++)
		x[i] = first - (float)(2 * i);
	guest_ok(trn_write(bench->rig.queue, bench->memory, X_AT, x, SIZE));
	guest_ok(trn_write(bench->rig.queue, bench->memory, Y_AT, minus, SIZE));
}

/* y = x + w with the w of make_adder(), exactly: all are small. */
static void expect_y(struct bench *bench, float first, float constant)
{
	float y[ELEMENTS];
	int i;

	guest_ok(trn_read(bench->rig.queue, y, bench->memory, Y_AT, SIZE));
	for (i = 0; i < ELEMENTS; i++)
		ck_assert_msg(y[i] == first - (float)i + constant, "element %d is %f", i, y[i]);
}

static void expect_n(struct bench *bench, int32_t expected)
{
	int32_t n;

	guest_ok(trn_read(bench->rig.queue, &n, bench->memory, N_AT, sizeof(n)));
	ck_assert_int_eq(n, expected);
}

static void expect_text(const char *text)
{
	ck_assert_msg(strstr(trn_error_message(), text), "\"%s\" lacks \"%s\"", trn_error_message(),
		      text);
}

/* ---- executing --------------------------------------------------------------- */

START_TEST(every_core)
{
	struct trn_execution execution = { .size = sizeof(execution) };
	struct trn_execution_result result;
	struct bench bench;
	uint32_t cores;
	uint16_t core;

	bench_make(&bench, modes[_i]);
	guest_fails(trn_tensor_set_result(bench.set, 0, &result), -ENODATA);
	cores = trn_device_info(bench.rig.device)->cores;
	execution.cores = &core;
	for (core = 0; core < cores; core++) {
		set_x(&bench, core);
		guest_ok(trn_execute(bench.queue, bench.set, &execution));
		expect_y(&bench, core, 0.5f);
		expect_n(&bench, core + 1);
		guest_ok(trn_tensor_set_result(bench.set, 0, &result));
		ck_assert_uint_eq(result.core, core);
		ck_assert_uint_eq(result.instructions, 12);
		ck_assert_uint_eq(result.dma_bytes, 5 * SIZE + 3 * 4);
		ck_assert_uint_gt(result.end_ns, result.begin_ns);
		ck_assert_uint_gt(result.picoseconds, 0);
		ck_assert_uint_gt(result.cycles, 0);
		ck_assert_uint_gt(result.busy_cycles[TRN_ENGINE_VECTOR], 0);
		ck_assert_uint_eq(result.busy_cycles[TRN_ENGINE_TENSOR], 0);
		ck_assert_uint_eq(result.profile_records, 12);
	}
	set_x(&bench, 100);
	guest_ok(trn_execute(bench.queue, bench.set, NULL));
	expect_y(&bench, 100, 0.5f);
	expect_n(&bench, (int32_t)cores + 1);
	bench_free(&bench);
}
END_TEST

/* From a file, and unloaded again and again: all memory comes back. */
START_TEST(from_a_file)
{
	char path[] = "/tmp/program-XXXXXX";
	struct trn_neff_variable variables[VARIABLES];
	static float values[ELEMENTS];
	struct trn_program *program;
	struct source source;
	struct bench bench;
	uint64_t size, free_before;
	int fd, node, round;
	void *file;

	make_adder(&source, 3, values, variables);
	guest_ok(trn_neff_write(&source.neff, &file, &size));
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, file, size), (ssize_t)size);
	close(fd);
	free(file);
	bench_make(&bench, modes[_i]);
	node = guest_open(0);
	free_before = guest_free(node);
	for (round = 0; round < 5; round++) {
		struct bench other = bench;

		guest_ok(trn_program_load_file(bench.rig.queue, path, &program));
		ck_assert_str_eq(trn_program_info(program)->name, "add");
		ck_assert(trn_program_info(program)->has_state);
		other.program = program;
		guest_ok(trn_tensor_set_create(program, &other.set));
		ck_assert_uint_lt(guest_free(node), free_before);
		guest_fails(trn_program_unload(program), -EBUSY);
		expect_text("add: it has 1 tensor sets");
		bind_all(&other);
		/* Two programs are loaded, and take turns. */
		set_x(&bench, 7);
		guest_ok(trn_execute(bench.queue, other.set, NULL));
		expect_y(&bench, 7, 3);
		expect_n(&bench, 1); /* state of a new program */
		guest_ok(trn_execute(bench.queue, bench.set, NULL));
		expect_y(&bench, 7, 0.5f);
		expect_n(&bench, round + 1);
		guest_ok(trn_tensor_set_destroy(other.set));
		guest_ok(trn_program_unload(program));
		ck_assert_uint_eq(guest_free(node), free_before);
	}
	close(node);
	unlink(path);
	bench_free(&bench);
}
END_TEST

#define SETS 6

/* Several sets in flight on one queue. */
START_TEST(pipeline)
{
	struct trn_tensor_set *sets[SETS];
	struct bench bench, one[SETS];
	uint64_t sequence[SETS];
	int i;

	bench_make(&bench, modes[_i]);
	for (i = 0; i < SETS; i++) {
		one[i] = bench;
		guest_ok(trn_tensor_set_create(bench.program, &sets[i]));
		one[i].set = sets[i];
		one[i].memory = rig_buffer(&bench.rig, TRN_PLACEMENT_HBM, MEMORY, 0);
		bind_all(&one[i]);
		set_x(&one[i], (float)(i * 10));
	}
	for (i = 0; i < SETS; i++) {
		guest_ok(trn_execute_async(bench.queue, sets[i], NULL, &sequence[i]));
		ck_assert_uint_eq(sequence[i], (uint64_t)i + 1);
	}
	guest_ok(trn_queue_wait(bench.queue, sequence[SETS - 1], TIMEOUT));
	for (i = 0; i < SETS; i++) {
		ck_assert_int_eq(trn_queue_poll(bench.queue, sequence[i]), 1);
		expect_y(&one[i], (float)(i * 10), 0.5f);
		/* One queue: state in order. */
		expect_n(&one[i], i + 1);
		guest_ok(trn_tensor_set_destroy(sets[i]));
		guest_ok(trn_buffer_destroy(one[i].memory));
	}
	bench_free(&bench);
}
END_TEST

/* One program on two cores at the same time.  Its state, which is one, is nobody's then. */
START_TEST(at_once)
{
	struct bench bench, one[2];
	uint64_t sequence[2];
	int i, round;

	bench_make(&bench, modes[_i]);
	for (i = 0; i < 2; i++) {
		one[i] = bench;
		guest_ok(trn_tensor_set_create(bench.program, &one[i].set));
		one[i].memory = rig_buffer(&bench.rig, TRN_PLACEMENT_HBM, MEMORY, 0);
		one[i].queue = make_queue(bench.rig.context, modes[_i], 0);
		bind_all(&one[i]);
	}
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 2; i++)
			set_x(&one[i], (float)(round * 10 + i));
		for (i = 0; i < 2; i++) {
			const uint16_t core = (uint16_t)i;
			const struct trn_execution execution = {
				.size = sizeof(execution),
				.cores = &core,
			};

			guest_ok(trn_execute_async(one[i].queue, one[i].set, &execution,
						   &sequence[i]));
		}
		for (i = 0; i < 2; i++) {
			guest_ok(trn_queue_wait(one[i].queue, sequence[i], TIMEOUT));
			expect_y(&one[i], (float)(round * 10 + i), 0.5f);
		}
	}
	for (i = 0; i < 2; i++) {
		guest_ok(trn_queue_destroy(one[i].queue));
		guest_ok(trn_tensor_set_destroy(one[i].set));
		guest_ok(trn_buffer_destroy(one[i].memory));
	}
	bench_free(&bench);
}
END_TEST

/* A copy to device memory, an execution and a copy back, ordered by a timeline alone. */
START_TEST(timeline)
{
	struct trn_timeline *order;
	struct trn_packet *packet;
	struct trn_buffer *host;
	struct bench bench;
	uint64_t sequence, address;
	void *pointer;
	float *x;
	int i;
	struct trn_sync syncs[] = {
		{ .point = 1, .kind = TRN_SYNC_WAIT },
		{ .point = 2, .kind = TRN_SYNC_SIGNAL },
	};
	const struct trn_execution execution = {
		.size = sizeof(execution),
		.syncs = syncs,
		.sync_count = 2,
	};
	struct trn_sync copied = { .point = 1, .kind = TRN_SYNC_SIGNAL };
	struct trn_sync executed = { .point = 2, .kind = TRN_SYNC_WAIT };

	bench_make(&bench, TRN_QUEUE_KERNEL);
	guest_ok(trn_timeline_create(bench.rig.device, &order));
	syncs[0].timeline = syncs[1].timeline = copied.timeline = executed.timeline = order;
	host = rig_buffer(&bench.rig, TRN_PLACEMENT_HOST, 2 * SIZE, 0);
	guest_ok(trn_buffer_map(host, &pointer));
	x = pointer;
	for (i = 0; i < ELEMENTS; i++)
		x[i] = (float)(5 * i);
	address = trn_buffer_address(bench.memory);
	packet = trn_queue_packet(bench.rig.queue);
	trn_packet_copy(packet, address + X_AT, trn_buffer_address(host), SIZE);
	guest_ok(trn_queue_submit_syncs(bench.rig.queue, &copied, 1, NULL));
	guest_ok(trn_execute_async(bench.queue, bench.set, &execution, NULL));
	packet = trn_queue_packet(bench.rig.queue);
	trn_packet_copy(packet, trn_buffer_address(host) + SIZE, address + Y_AT, SIZE);
	guest_ok(trn_queue_submit_syncs(bench.rig.queue, &executed, 1, &sequence));
	guest_ok(trn_queue_wait(bench.rig.queue, sequence, TIMEOUT));
	for (i = 0; i < ELEMENTS; i++)
		ck_assert_msg(x[ELEMENTS + i] == (float)(6 * i) + 0.5f, "element %d", i);
	guest_ok(trn_buffer_destroy(host));
	guest_ok(trn_timeline_destroy(order));
	bench_free(&bench);
}
END_TEST

/* ---- several cores ----------------------------------------------------------- */

static const struct trn_neff_variable loop_variables[] = {
	{ "out", 0, TRN_NEFF_OUTPUT, TRN_DTYPE_INT8, 1, { 64 }, 64, 1, NULL },
};

static void make_loop(struct source *source)
{
	*source = (struct source){ 0 };
	image_loop(&source->image, TRN_ENGINE_SYNC);
	make_source(source, "loop", loop_variables, 1, 1);
}

/* Two parts at once on two cores, each from a queue of its own. */
START_TEST(two_parts)
{
	struct trn_neff_variable variables[2][VARIABLES];
	static float values[2][ELEMENTS];
	static const char *const names[2][2] = { { "y", "n" }, { "z", "m" } };
	struct trn_execution execution = { .size = sizeof(execution) };
	struct trn_execution_result result;
	struct trn_tensor_set *set;
	struct trn_program *program;
	struct trn_queue *queue[2];
	struct trn_buffer *memory[2];
	struct source source, other;
	struct bench bench, seen;
	uint64_t sequence[2];
	uint16_t cores[2] = { 1, 0 };
	int i;

	bench_make(&bench, modes[_i]);
	make_adder(&source, 1, values[0], variables[0]);
	make_adder(&other, 2, values[1], variables[1]);
	source.core[1] = other.core[0];
	source.neff.num_cores = 2;
	variables[1][Y].name = names[1][0];
	variables[1][N].name = names[1][1];
	variables[1][COUNT].name = "other count";
	variables[1][T].name = "u";
	guest_ok(trn_program_load(bench.rig.queue, &source.neff, &program));
	ck_assert_uint_eq(trn_program_info(program)->parts, 2);
	guest_ok(trn_tensor_set_create(program, &set));
	set_x(&bench, 11);
	bind_at(set, program, "x", bench.memory, X_AT);
	for (i = 0; i < 2; i++) {
		memory[i] = rig_buffer(&bench.rig, TRN_PLACEMENT_HBM, MEMORY, 0);
		bind_at(set, program, names[i][0], memory[i], Y_AT);
		bind_at(set, program, names[i][1], memory[i], N_AT);
		queue[i] = make_queue(bench.rig.context, modes[_i], 0);
	}
	for (i = 0; i < 2; i++) {
		execution.first_part = (uint32_t)i;
		execution.num_parts = 1;
		execution.cores = &cores[i];
		guest_ok(trn_execute_async(queue[i], set, &execution, &sequence[i]));
	}
	for (i = 0; i < 2; i++)
		guest_ok(trn_queue_wait(queue[i], sequence[i], TIMEOUT));
	/* Both again on one queue, one after the other. */
	execution = (struct trn_execution){ .size = sizeof(execution), .cores = cores };
	guest_ok(trn_execute(bench.queue, set, &execution));
	for (i = 0; i < 2; i++) {
		guest_ok(trn_tensor_set_result(set, (uint32_t)i, &result));
		ck_assert_uint_eq(result.core, cores[i]);
		seen = bench;
		seen.memory = memory[i];
		expect_y(&seen, 11, (float)(i + 1));
		expect_n(&seen, 2);
		guest_ok(trn_queue_destroy(queue[i]));
	}
	guest_ok(trn_tensor_set_destroy(set));
	guest_ok(trn_program_unload(program));
	for (i = 0; i < 2; i++)
		guest_ok(trn_buffer_destroy(memory[i]));
	bench_free(&bench);
}
END_TEST

/* ---- several processes ------------------------------------------------------- */

#define ROUNDS 20

static pid_t start_process(float constant, uint16_t core, enum trn_queue_mode mode)
{
	const struct trn_execution execution = { .size = sizeof(execution), .cores = &core };
	struct bench bench;
	int round;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child)
		return child;
	bench_make_adding(&bench, mode, constant);
	for (round = 0; round < ROUNDS; round++) {
		set_x(&bench, (float)round);
		guest_ok(trn_execute(bench.queue, bench.set, &execution));
		expect_y(&bench, (float)round, constant);
		expect_n(&bench, round + 1);
	}
	bench_free(&bench);
	_exit(0);
}

/* Different programs at the same time, on one core and on two. */
START_TEST(two_processes)
{
	pid_t child[2];
	int i, status;
	uint16_t cores;

	for (cores = 1; cores <= 2; cores++) {
		for (i = 0; i < 2; i++)
			child[i] = start_process((float)(i + 1), (uint16_t)(i % cores), modes[_i]);
		for (i = 0; i < 2; i++) {
			ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
			ck_assert_int_eq(status, 0);
		}
	}
}
END_TEST

/* ---- what goes wrong --------------------------------------------------------- */

static void start_loop(struct bench *bench, struct trn_program **program,
		       struct trn_tensor_set **set, struct trn_queue **queue, uint64_t *sequence)
{
	struct source source;

	make_loop(&source);
	guest_ok(trn_program_load(bench->rig.queue, &source.neff, program));
	guest_ok(trn_tensor_set_create(*program, set));
	bind_at(*set, *program, "out", bench->memory, 0);
	*queue = make_queue(bench->rig.context, modes[0], LOOP_TIMEOUT);
	guest_ok(trn_execute_async(*queue, *set, NULL, sequence));
	guest_fails(trn_queue_wait(*queue, *sequence, trn_deadline(50 * MS)), -ETIME);
}

/* Others go on, and nothing waits for the program that is gone. */
START_TEST(unload_while_executing)
{
	struct trn_tensor_set *set;
	struct trn_program *program;
	struct trn_queue *queue;
	struct bench bench;
	uint64_t sequence;
	int error;

	bench_make(&bench, modes[_i]);
	start_loop(&bench, &program, &set, &queue, &sequence);
	guest_ok(trn_tensor_set_destroy(set));
	guest_ok(trn_program_unload(program));
	/* The device has read its instructions, or it finds that they are gone. */
	error = trn_queue_wait(queue, sequence, TIMEOUT);
	ck_assert_msg(error == -EFAULT || error == -ETIMEDOUT, "%d: %s", error,
		      trn_error_message());
	guest_ok(trn_queue_destroy(queue));
	set_x(&bench, 1);
	guest_ok(trn_execute(bench.queue, bench.set, NULL));
	expect_y(&bench, 1, 0.5f);
	bench_free(&bench);
}
END_TEST

/* A program that writes to its own constant cannot. */
START_TEST(constants_are_protected)
{
	struct trn_neff_variable variables[VARIABLES];
	static float values[ELEMENTS];
	struct trn_tensor_set *set;
	struct trn_program *program;
	struct source source;
	struct bench bench;
	struct trn_queue *queue;
	int round;

	bench_make(&bench, modes[_i]);
	make_adder(&source, 9, values, variables);
	for (round = 0; round < 2; round++) {
		if (round) {
			source.image = (struct image){ 0 };
			add_dma(&source.image, TRN_OP_DMA_STORE, W, AT_X);
			image_add(&source.image, TRN_ENGINE_SYNC, TRN_OP_HALT);
			make_source(&source, "vandal", variables, VARIABLES, 1);
		}
		guest_ok(trn_program_load(bench.rig.queue, &source.neff, &program));
		guest_ok(trn_tensor_set_create(program, &set));
		bind_at(set, program, "x", bench.memory, X_AT);
		bind_at(set, program, "y", bench.memory, Y_AT);
		bind_at(set, program, "n", bench.memory, N_AT);
		queue = make_queue(bench.rig.context, modes[_i], 0);
		set_x(&bench, 2);
		if (!round) {
			guest_ok(trn_execute(queue, set, NULL));
			expect_y(&bench, 2, 9);
		} else {
			guest_fails(trn_execute(queue, set, NULL),
				    modes[_i] == TRN_QUEUE_KERNEL ? -EFAULT : -EIO);
			expect_text("bound without that access: sync engine, instruction 0");
		}
		guest_ok(trn_queue_destroy(queue));
		guest_ok(trn_tensor_set_destroy(set));
		guest_ok(trn_program_unload(program));
	}
	bench_free(&bench);
}
END_TEST

START_TEST(binding_mistakes)
{
	struct trn_tensor tensor = { .size = SIZE, .dtype = TRN_DTYPE_FP32 };
	struct trn_buffer *other;
	struct bench bench;
	struct rig second;

	bench_make(&bench, modes[_i]);
	guest_ok(trn_tensor_set_bind(bench.set, "x", NULL));
	guest_fails(trn_execute(bench.queue, bench.set, NULL), -EINVAL);
	expect_text("add: input \"x\" has no memory");
	tensor.buffer = bench.memory;
	tensor.dtype = TRN_DTYPE_INT32;
	guest_fails(trn_tensor_set_bind(bench.set, "x", &tensor), -EINVAL);
	expect_text("add: tensor \"x\" is fp32, not int32");
	tensor.dtype = TRN_DTYPE_FP32;
	tensor.size = SIZE / 2;
	guest_fails(trn_tensor_set_bind(bench.set, "x", &tensor), -EINVAL);
	expect_text("add: tensor \"x\" has 8192 bytes, not 4096");
	tensor.size = SIZE;

	second = rig_make(guest_chips() > 1, TRN_QUEUE_KERNEL);
	tensor.buffer = rig_buffer(&second, TRN_PLACEMENT_HBM, SIZE, 0);
	guest_fails(trn_tensor_set_bind(bench.set, "x", &tensor), -EINVAL);
	expect_text(guest_chips() > 1 ? "add: tensor \"x\": the buffer is of /dev/accel/"
				      : "add: tensor \"x\": the buffer is of ");
	guest_ok(trn_buffer_destroy(tensor.buffer));
	rig_free(&second);

	other = rig_buffer(&bench.rig, TRN_PLACEMENT_HBM, SIZE, 0);
	tensor.buffer = other;
	guest_ok(trn_tensor_set_bind(bench.set, "x", &tensor));
	guest_ok(trn_buffer_destroy(other));
	guest_fails(trn_execute(bench.queue, bench.set, NULL), -EINVAL);
	expect_text("add: the buffer of tensor \"x\" was destroyed");
	bind_all(&bench);
	set_x(&bench, 3);
	guest_ok(trn_execute(bench.queue, bench.set, NULL));
	expect_y(&bench, 3, 0.5f);
	bench_free(&bench);
}
END_TEST

START_TEST(what_the_chip_lacks)
{
	struct trn_neff_variable variables[VARIABLES];
	const struct trn_device_info *info;
	struct trn_neff_core *cores;
	struct trn_program *program;
	struct source source;
	struct bench bench;
	uint32_t i;

	bench_make(&bench, TRN_QUEUE_KERNEL);
	info = trn_device_info(bench.rig.device);
	make_adder(&source, 0, weights, variables);
	cores = calloc(info->cores + 1, sizeof(*cores));
	for (i = 0; i <= info->cores; i++)
		cores[i] = source.core[0];
	source.neff.cores = cores;
	source.neff.num_cores = info->cores + 1;
	guest_fails(trn_program_load(bench.rig.queue, &source.neff, &program), -EOPNOTSUPP);
	expect_text("add: it needs ");
	source.neff.num_cores = info->cores;
	guest_ok(trn_program_load(bench.rig.queue, &source.neff, &program));
	guest_ok(trn_program_unload(program));
	free(cores);

	if (info->dtypes & 1U << TRN_DTYPE_MXFP8) {
		printf("what_the_chip_lacks: skipped for MX types: %s has them\n",
		       info->generation);
	} else {
		make_adder(&source, 0, weights, variables);
		source.image.stream[TRN_ENGINE_SYNC][0].dma.dtype = TRN_DTYPE_MXFP8;
		guest_fails(trn_program_load(bench.rig.queue, &source.neff, &program), -EOPNOTSUPP);
		expect_text("add: core 0, engine sync, instruction 0 uses mxfp8");
	}
	bench_free(&bench);
}
END_TEST

START_TEST(child_is_refused)
{
	struct bench bench;
	int status;
	pid_t child;

	bench_make(&bench, modes[_i]);
	child = fork();
	if (!child)
		_exit(trn_execute(bench.queue, bench.set, NULL) != -EPERM ||
		      trn_tensor_set_bind(bench.set, "x", NULL) != -EPERM ||
		      trn_tensor_set_destroy(bench.set) != -EPERM ||
		      trn_program_unload(bench.program) != -EPERM);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	set_x(&bench, 4);
	guest_ok(trn_execute(bench.queue, bench.set, NULL));
	expect_y(&bench, 4, 0.5f);
	bench_free(&bench);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("program");
	TCase *executing = tcase_create("executing");
	TCase *wrong = tcase_create("wrong");

	tcase_set_timeout(executing, 120);
	tcase_set_timeout(wrong, 120);
	tcase_add_loop_test(executing, every_core, 0, 2);
	tcase_add_loop_test(executing, from_a_file, 0, 2);
	tcase_add_loop_test(executing, pipeline, 0, 2);
	tcase_add_loop_test(executing, at_once, 0, 2);
	tcase_add_test(executing, timeline);
	tcase_add_loop_test(executing, two_parts, 0, 2);
	tcase_add_loop_test(executing, two_processes, 0, 2);
	tcase_add_loop_test(wrong, unload_while_executing, 0, 2);
	tcase_add_loop_test(wrong, constants_are_protected, 0, 2);
	tcase_add_loop_test(wrong, binding_mistakes, 0, 2);
	tcase_add_test(wrong, what_the_chip_lacks);
	tcase_add_loop_test(wrong, child_is_refused, 0, 2);
	suite_add_tcase(suite, executing);
	suite_add_tcase(suite, wrong);
	return check_run(suite);
}
