// SPDX-License-Identifier: MIT
/* Programs on a core: engines, semaphores, transfers, exceptions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "suites.h"

#define LOADED 1 /* semaphores */
#define DONE   2
#define OUT    0x100000 /* offset in the data */

static struct rig rig;
static struct program program;

static void setup(void)
{
	rig_create(&rig, "trn2", 0, 0);
	rig_enable(&rig, 16);
	program_create(&program, &rig, 1);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static float *floats(size_t offset)
{
	return (float *)(program.data + offset);
}

/* Loads rows of FP32 to SBUF, has one instruction work on them, stores rows. */
static void load_work_store(unsigned int engine, uint8_t partitions, unsigned int count,
			    struct trn_instruction work)
{
	struct trn_access_pattern in = program_tile(0, 0, TRN_DTYPE_FP32, count, 1);
	struct trn_access_pattern out = program_tile(0x8000, 0, TRN_DTYPE_FP32, count, 1);

	program_release(program_add(&program, TRN_ENGINE_SYNC,
				    program_transfer(TRN_OP_DMA_LOAD, partitions, count, in, 0)),
			LOADED, 1);
	program_acquire(&work, LOADED, 1);
	program_release(&work, DONE, 1);
	program_add(&program, engine, work);
	program_acquire(
		program_add(&program, TRN_ENGINE_SYNC,
			    program_transfer(TRN_OP_DMA_STORE, partitions, count, out, OUT)),
		DONE, 1);
}

START_TEST(relu)
{
	struct trn_instruction work = program_element(
		TRN_OP_ACTIVATE, 128, 33, program_tile(0x8000, 0, TRN_DTYPE_FP32, 33, 1),
		program_tile(0, 0, TRN_DTYPE_FP32, 33, 1));
	float two = 2, one = 1;

	for (int i = 0; i < 128 * 33; i++)
		floats(0)[i] = (float)(i - 2000) / 8;
	work.op[0] = TRN_FUNCTION_RELU;
	memcpy(&work.element.scalar[0], &two, 4);
	memcpy(&work.element.scalar[1], &one, 4);
	load_work_store(TRN_ENGINE_SCALAR, 128, 33, work);
	program_runs(&program);
	for (int i = 0; i < 128 * 33; i++) {
		float wanted = floats(0)[i] * 2 + 1;

		ck_assert_float_eq(floats(OUT)[i], wanted > 0 ? wanted : 0);
	}
	/* of sync 3, of scalar 2 */
	ck_assert_uint_eq(le64toh(program.result->instructions), 5);
	/* DMA begins 1.3 µs after its instruction, twice. */
	ck_assert_uint_gt(le64toh(program.result->picoseconds), 2600000);
}
END_TEST

/* out = aᵀ × b, of K × M and K × N numbers. */
static void matmul(unsigned int k, unsigned int m, unsigned int n)
{
	struct trn_access_pattern a = program_tile(0, 0, TRN_DTYPE_FP32, m, 1);
	struct trn_access_pattern b = program_tile(0x1000, 0, TRN_DTYPE_FP32, n, 1);
	struct trn_access_pattern out = program_tile(TRN_PLACE_PSUM, 0, TRN_DTYPE_FP32, n, 1);
	struct trn_instruction load = { .opcode = TRN_OP_LOAD_STATIONARY };
	struct trn_instruction multiply = { .opcode = TRN_OP_MATMUL };

	program_clear(&program);
	for (unsigned int i = 0; i < k * (m + n); i++)
		floats(0)[i] = (float)((i * 7919) % 257) / 64 - 2;
	program_release(program_add(&program, TRN_ENGINE_SYNC,
				    program_transfer(TRN_OP_DMA_LOAD, (uint8_t)k, m, a, 0)),
			LOADED, 1);
	program_release(
		program_add(&program, TRN_ENGINE_SYNC,
			    program_transfer(TRN_OP_DMA_LOAD, (uint8_t)k, n, b, 4ULL * k * m)),
		LOADED, 1);
	load.tensor.rows = multiply.tensor.rows = (uint8_t)k;
	load.tensor.pack = multiply.tensor.pack = 1;
	load.tensor.size[0] = htole16((uint16_t)m);
	multiply.tensor.size[0] = htole16((uint16_t)n);
	for (int i = 1; i < 3; i++)
		load.tensor.size[i] = multiply.tensor.size[i] = htole16(1);
	load.tensor.in = a;
	multiply.tensor.in = b;
	multiply.tensor.out = out;
	program_acquire(&load, LOADED, 2);
	program_add(&program, TRN_ENGINE_TENSOR, load);
	program_add(&program, TRN_ENGINE_TENSOR, multiply);
	multiply.flags = TRN_FLAG_ACCUMULATE;
	program_release(&multiply, DONE, 1);
	program_add(&program, TRN_ENGINE_TENSOR, multiply);
	program_acquire(program_add(&program, TRN_ENGINE_SYNC,
				    program_transfer(TRN_OP_DMA_STORE, (uint8_t)m, n, out, OUT)),
			DONE, 1);
	program_runs(&program);
	for (unsigned int i = 0; i < m; i++) {
		for (unsigned int j = 0; j < n; j++) {
			double sum = 0, size = 0;

			for (unsigned int r = 0; r < k; r++) {
				double term =
					2.0 * floats(0)[r * m + i] * floats(4UL * k * m)[r * n + j];

				sum += term;
				size += fabs(term);
			}
			ck_assert_double_le(fabs(floats(OUT)[i * n + j] - sum),
					    (2 * k + 1) * 0x1p-23 * size);
		}
	}
}

START_TEST(matmul_shapes)
{
	matmul(1, 1, 1);
	matmul(128, 128, 512);
	matmul(3, 7, 5);
	matmul(127, 64, 511);
}
END_TEST

/* 2 × (3, 2) elements of b and of out lie as their steps say; the sums are the same anywhere. */
static void places_of_a_product(uint32_t i, uint32_t j)
{
	const float a[4] = { 1, 0, 2, INFINITY },
		    b[12] = { 1, -2, 3, -4, 5, -6, 1, 0, -1, 2, 0, NAN };
	struct trn_access_pattern in = program_tile(0x1000, 0, TRN_DTYPE_FP32, 1, 1);
	struct trn_access_pattern out = program_tile(TRN_PLACE_PSUM, 0, TRN_DTYPE_FP32, 1, 1);
	struct trn_instruction loads = program_transfer(
		TRN_OP_DMA_LOAD, 2, 2, program_tile(0, 0, TRN_DTYPE_FP32, 2, 1), 0);
	struct trn_instruction product = {
		.opcode = TRN_OP_LOAD_STATIONARY,
		.tensor = { .rows = 2, .pack = 1, .size = { htole16(2), htole16(1), htole16(1) } },
	};
	const __le16 size[3] = { htole16(3), htole16(2), htole16(1) };

	program_clear(&program);
	memcpy(floats(0), a, sizeof(a));
	memcpy(floats(64), b, sizeof(b));
	in.step[0] = out.step[0] = htole16((uint16_t)i);
	in.step[1] = out.step[1] = htole16((uint16_t)j);
	program_add(&program, TRN_ENGINE_TENSOR, loads);
	product.tensor.in = loads.dma.local;
	program_release(&loads, LOADED, 1);
	loads.dma.local = in;
	loads.dma.offset = htole64(64);
	memcpy(loads.dma.size, size, sizeof(size));
	loads.dma.stride[0] = htole32(24);
	loads.dma.stride[2] = htole32(12);
	program_add(&program, TRN_ENGINE_TENSOR, loads);
	program_acquire(&product, LOADED, 1);
	program_add(&program, TRN_ENGINE_TENSOR, product);
	product = (struct trn_instruction){ .opcode = TRN_OP_MATMUL, .tensor = product.tensor };
	memcpy(product.tensor.size, size, sizeof(size));
	product.tensor.in = in;
	product.tensor.out = out;
	program_add(&program, TRN_ENGINE_TENSOR, product);
	product.flags = TRN_FLAG_ACCUMULATE;
	program_release(&product, DONE, 1);
	program_add(&program, TRN_ENGINE_TENSOR, product);
	loads.opcode = TRN_OP_DMA_STORE;
	loads.dma.local = out;
	loads.dma.offset = htole64(OUT);
	program_acquire(&loads, DONE, 1);
	program_add(&program, TRN_ENGINE_TENSOR, loads);
	program_runs(&program);
	for (unsigned int column = 0; column < 6; column++) {
		for (unsigned int m = 0; m < 2; m++) {
			float wanted = 2 * (a[m] * b[column] + a[2 + m] * b[6 + column]);
			uint32_t bits, canonical = 0x7fc00000;

			memcpy(&bits, wanted != wanted ? (float *)&canonical : &wanted, 4);
			ck_assert_uint_eq(((uint32_t *)floats(OUT))[m * 6 + column], bits);
		}
	}
}

START_TEST(places_of_products)
{
	places_of_a_product(1, 3);
	places_of_a_product(2, 7); /* 0, 2, 4, 7, 9, 11 */
	places_of_a_product(4, 12);
}
END_TEST

START_TEST(loop_counts)
{
	struct trn_access_pattern tile = program_tile(0, 0, TRN_DTYPE_INT32, 1, 1);
	struct trn_instruction iota = { .opcode = TRN_OP_TENSOR_SCALAR };

	/* r1 counts to 10, and so does the element. */
	iota = program_element(TRN_OP_TENSOR_SCALAR, 1, 1, tile, tile);
	iota.op[0] = TRN_ALU_ADD;
	iota.op[1] = TRN_ALU_BYPASS;
	iota.element.scalar[0] = htole32(3);
	program_add(&program, TRN_ENGINE_VECTOR, iota);
	program_add(
		&program, TRN_ENGINE_VECTOR,
		(struct trn_instruction){
			.opcode = TRN_OP_MOVE,
			.control = { .destination = 1, .source = { 1 }, .immediate = htole64(1) },
		});
	program_add(&program, TRN_ENGINE_VECTOR,
		    (struct trn_instruction){
			    .opcode = TRN_OP_BRANCH,
			    .op = { TRN_ALU_LESS },
			    .control = { .source = { 1 }, .immediate = htole64(10), .target = 0 },
		    });
	program_add(&program, TRN_ENGINE_VECTOR,
		    program_transfer(TRN_OP_DMA_STORE, 1, 1, tile, OUT));
	program_runs(&program);
	ck_assert_int_eq(*(int32_t *)(program.data + OUT), 30);
	ck_assert_uint_eq(le64toh(program.result->instructions), 32);
}
END_TEST

START_TEST(deadlock)
{
	struct trn_instruction wait = { .opcode = TRN_OP_NOP };

	program_add(&program, TRN_ENGINE_VECTOR, (struct trn_instruction){ .opcode = TRN_OP_NOP });
	program_acquire(&wait, 5, 1);
	program_add(&program, TRN_ENGINE_VECTOR, wait);
	program_fails(&program, TRN_EXCEPTION_DEADLOCK, TRN_ENGINE_VECTOR, 1);
}
END_TEST

static const struct {
	uint8_t exception;
	unsigned int engine;
	struct trn_instruction instruction;
} bad[] = {
	{ TRN_EXCEPTION_ILLEGAL_OPCODE, TRN_ENGINE_SYNC, { .opcode = 0xee } },
	{ TRN_EXCEPTION_ILLEGAL_OPCODE, TRN_ENGINE_SYNC, { .opcode = TRN_OP_MATMUL } },
	{ TRN_EXCEPTION_BAD_FIELD, TRN_ENGINE_SYNC, { .opcode = TRN_OP_NOP, .flags = 1 } },
	{ TRN_EXCEPTION_BAD_FIELD, TRN_ENGINE_SYNC, { .opcode = TRN_OP_NOP, .acquire = 1 } },
	{ TRN_EXCEPTION_BAD_FIELD, TRN_ENGINE_SYNC, { .opcode = TRN_OP_MOVE } },
	{ TRN_EXCEPTION_NO_STATIONARY,
	  TRN_ENGINE_TENSOR,
	  { .opcode = TRN_OP_MATMUL, .tensor = { .rows = 1, .pack = 1, .size = { 1, 1, 1 } } } },
	{ TRN_EXCEPTION_BAD_FIELD, TRN_ENGINE_VECTOR, { .opcode = TRN_OP_FILL } },
	{ TRN_EXCEPTION_OUT_OF_RANGE,
	  TRN_ENGINE_VECTOR,
	  { .opcode = TRN_OP_FILL,
	    .element = { .partitions = 2, .size = { 1, 1, 1 }, .out = { .partition = 127 } } } },
	{ TRN_EXCEPTION_OUT_OF_RANGE,
	  TRN_ENGINE_VECTOR,
	  { .opcode = TRN_OP_FILL,
	    .element = { .partitions = 1, .size = { 2, 1, 1 }, .out = { .step = { 0xffff } } } } },
	{ TRN_EXCEPTION_UNALIGNED,
	  TRN_ENGINE_VECTOR,
	  { .opcode = TRN_OP_FILL,
	    .element = { .partitions = 1, .size = { 1, 1, 1 }, .out = { .place = 2 } } } },
	{ TRN_EXCEPTION_BAD_DTYPE,
	  TRN_ENGINE_VECTOR,
	  { .opcode = TRN_OP_FILL,
	    .element = { .partitions = 1, .size = { 1, 1, 1 }, .out = { .dtype = 77 } } } },
	{ TRN_EXCEPTION_BAD_DTYPE, /* trn2 has none */
	  TRN_ENGINE_VECTOR,
	  { .opcode = TRN_OP_COPY,
	    .element = { .partitions = 1,
			 .size = { 2, 1, 1 },
			 .out = { .dtype = TRN_DTYPE_FP4 } } } },
	{ TRN_EXCEPTION_BAD_BINDING,
	  TRN_ENGINE_SYNC,
	  { .opcode = TRN_OP_DMA_LOAD,
	    .dma = { .partitions = 1, .size = { 1, 1, 1 }, .binding = 1 } } },
	{ TRN_EXCEPTION_BAD_BINDING,
	  TRN_ENGINE_SYNC,
	  { .opcode = TRN_OP_DMA_LOAD,
	    .dma = { .partitions = 1, .size = { 1, 1, 1 }, .offset = PROGRAM_DATA_SIZE - 3 } } },
	{ TRN_EXCEPTION_BAD_TARGET,
	  TRN_ENGINE_SYNC,
	  { .opcode = TRN_OP_BRANCH, .op = { TRN_ALU_EQUAL }, .control = { .target = 1000 } } },
};

START_TEST(exceptions)
{
	struct trn_instruction instruction = bad[_i].instruction;
	bool jumps = bad[_i].exception == TRN_EXCEPTION_BAD_TARGET;

	program_add(&program, bad[_i].engine, (struct trn_instruction){ .opcode = TRN_OP_NOP });
	program_add(&program, bad[_i].engine, instruction);
	program_fails(&program, bad[_i].exception, bad[_i].engine, jumps ? 1000 : 1);
}
END_TEST

/* An access that faults is the instruction's; one before there are any is nobody's. */
START_TEST(fault)
{
	struct trn_instruction load = program_transfer(TRN_OP_DMA_LOAD, 1, 1,
						       program_tile(0, 0, TRN_DTYPE_INT8, 1, 1), 0);
	struct trn_event event;

	program_add(&program, TRN_ENGINE_GPSIMD, (struct trn_instruction){ .opcode = TRN_OP_NOP });
	program_add(&program, TRN_ENGINE_GPSIMD, load);
	program.bindings[0].address = htole64(UINT64_C(1) << 40);
	program_run(&program);
	rig_assert_fault(&rig, &program.queue, TRN_STOP_FAULT_UNMAPPED, 1, TRN_ACCESS_READ,
			 UINT64_C(1) << 40);
	event = rig_last_event(&rig);
	ck_assert_uint_eq(event.exception, TRN_EXCEPTION_MEMORY);
	ck_assert_uint_eq(event.engine, TRN_ENGINE_GPSIMD);
	ck_assert_uint_eq(le32toh(event.instruction), 1);

	rig_exec_queue_create(&rig, &program.queue, 2, &program.space);
	rig_execute(&rig, &program.queue,
		    (struct trn_packet){ .opcode = TRN_PACKET_EXEC,
					 .exec = { .program = htole64(UINT64_C(1) << 41) } });
	rig_assert_fault(&rig, &program.queue, TRN_STOP_FAULT_UNMAPPED, 1, TRN_ACCESS_FETCH,
			 UINT64_C(1) << 41);
	event = rig_last_event(&rig);
	ck_assert_uint_eq(event.exception, 0);
	ck_assert_uint_eq(event.engine, 0);
	ck_assert_uint_eq(le32toh(event.instruction), 0);
}
END_TEST

/* What one context leaves in a core, another does not see. */
START_TEST(scrub)
{
	struct trn_access_pattern tile = program_tile(0, 0, TRN_DTYPE_FP32, 64, 1);
	struct trn_instruction fill =
		program_element(TRN_OP_FILL, 128, 64, tile, (struct trn_access_pattern){ 0 });
	static struct program other;
	float one = 1;

	memcpy(&fill.element.scalar[0], &one, 4);
	program_add(&program, TRN_ENGINE_VECTOR, fill);
	tile.place = htole32(TRN_PLACE_PSUM);
	fill.element.out = tile;
	program_add(&program, TRN_ENGINE_VECTOR, fill);
	program_runs(&program);

	program_create(&other, &rig, 2);
	memset(other.data + OUT, 0xff, 2 * 4 * 128 * 64);
	program_add(&other, TRN_ENGINE_SYNC,
		    program_transfer(TRN_OP_DMA_STORE, 128, 64, tile, OUT));
	tile.place = 0;
	program_add(&other, TRN_ENGINE_SYNC,
		    program_transfer(TRN_OP_DMA_STORE, 128, 64, tile, OUT + 4 * 128 * 64));
	program_runs(&other);
	for (int i = 0; i < 2 * 4 * 128 * 64; i++)
		ck_assert_uint_eq(other.data[OUT + i], 0);
}
END_TEST

Suite *core_suite(void)
{
	Suite *suite = suite_create("core");
	TCase *cases = tcase_create("core");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, relu);
	tcase_add_test(cases, matmul_shapes);
	tcase_add_test(cases, places_of_products);
	tcase_add_test(cases, loop_counts);
	tcase_add_test(cases, deadlock);
	tcase_add_loop_test(cases, exceptions, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(cases, fault);
	tcase_add_test(cases, scrub);
	suite_add_tcase(suite, cases);
	return suite;
}
