/* SPDX-License-Identifier: MIT */
/*
 * How fast the device model multiplies matrices, beside the BLAS that it uses, called directly.
 *
 * A program of one core loads A and B to SBUF; another one does C = A × B, adding up 128 rows of C
 * at a time in PSUM, 512 columns in each bank.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tests/unit/model/program.h>
#include <tools/vdev/model/core/dtype.h>

#include "timing.h"

#define PARTITIONS   TRN_PARTITIONS
#define COLUMNS	     TRN_MOVING_COLUMNS
#define BANKS	     8
#define SIZE_MAX_N   2048
#define REPEAT	     7
#define LIMIT	     0.8 /* of BLAS, from LIMIT_FROM on */
#define LIMIT_FROM   1024

#define BINDINGS_VA  0x800000ULL /* tests/unit/model/program.c's */
#define IMAGE_VA     0x10000000ULL
#define MATRIX_VA    0x20000000ULL
#define RESULT_BYTES (SIZE_MAX_N * SIZE_MAX_N * sizeof(float))
#define INSTRUCTIONS 8192

#define LOADED	     1 /* semaphores */
#define SUMMED	     2
#define STORED	     3

enum matrix {
	A, /* its transpose, [k][m] */
	B, /* [k][n] */
	C, /* [m][n], always FP32 */
	MATRICES
};

struct bench {
	struct rig rig;
	struct program program;
	struct trn_instruction *stream;
	uint32_t length;
	void *image;
	uint8_t *matrix[MATRICES]; /* that the model sees */
	float *values[MATRICES];   /* that BLAS sees */
};

static struct bench bench;

/* In pages of 2 MiB. */
static void *map(uint64_t va, size_t size)
{
	const uint64_t page = 1ULL << TRN_PT_SHIFT(1);
	uint64_t dma;

	bench.rig.ram_used = (bench.rig.ram_used + page - 1) & ~(page - 1);
	dma = rig_alloc(&bench.rig, size);
	rig_map_leaves(&bench.rig, &bench.program.space, va, TRN_PTE_TARGET_HOST, dma, size, 1);
	return rig_pointer(&bench.rig, dma);
}

static void set_up(void)
{
	rig_create(&bench.rig, "trn3", 0, 0); /* A and B just fit into its SBUF */
	rig_enable(&bench.rig, 16);
	program_create(&bench.program, &bench.rig, 1);
	bench.image = map(IMAGE_VA, INSTRUCTIONS * sizeof(*bench.stream));
	bench.stream = (struct trn_instruction *)bench.image + 1; /* behind the header */
	for (int i = 0; i < MATRICES; i++) {
		uint64_t va = MATRIX_VA + (uint64_t)i * RESULT_BYTES;

		bench.matrix[i] = map(va, RESULT_BYTES);
		bench.values[i] = malloc(RESULT_BYTES);
		ck_assert_ptr_nonnull(bench.values[i]);
		bench.program.bindings[i] =
			(struct trn_binding){ htole64(va), htole64(RESULT_BYTES) };
	}
}

/* ---- the program ------------------------------------------------------------------- */

static struct trn_instruction *emit(struct trn_instruction instruction)
{
	ck_assert_uint_lt(bench.length, INSTRUCTIONS - 2);
	bench.stream[bench.length] = instruction;
	return &bench.stream[bench.length++];
}

static void wait_for(uint8_t semaphore, unsigned int count)
{
	program_acquire(emit((struct trn_instruction){ .opcode = TRN_OP_NOP }), semaphore,
			(uint8_t)count);
}

/* Partitions × columns of a matrix with rows of n elements, from (row, column) on. */
static struct trn_instruction transfer(uint8_t opcode, enum matrix matrix, uint8_t dtype,
				       unsigned int n, unsigned int row, unsigned int column,
				       unsigned int columns, uint32_t place)
{
	uint32_t size = trn_dtype(dtype)->size;
	struct trn_instruction instruction = program_transfer(
		opcode, PARTITIONS, columns, program_tile(place, 0, dtype, columns, 1),
		((uint64_t)row * n + column) * size);

	instruction.dma.stride[0] = htole32(n * size);
	instruction.dma.binding = (uint8_t)matrix;
	return instruction;
}

/* Where a tile of A, 128 × 128, lies in SBUF: those that are added up are neighbours. */
static uint32_t place_of_a(uint8_t dtype, unsigned int n, unsigned int k, unsigned int row)
{
	return (row / PARTITIONS * (n / PARTITIONS) + k) * PARTITIONS * trn_dtype(dtype)->size;
}

/* Of a tile of B, 128 × n; B is behind A. */
static uint32_t place_of_b(uint8_t dtype, unsigned int n, unsigned int k)
{
	return (n / PARTITIONS + k) * n * trn_dtype(dtype)->size;
}

static void load_a(uint8_t dtype, unsigned int n)
{
	unsigned int tiles = n / PARTITIONS;

	for (unsigned int row = 0; row < n; row += PARTITIONS) {
		for (unsigned int k = 0; k < tiles; k++)
			program_release(
				emit(transfer(TRN_OP_DMA_LOAD, A, dtype, n, k * PARTITIONS, row,
					      PARTITIONS, place_of_a(dtype, n, k, row))),
				LOADED, 1);
		wait_for(LOADED, tiles);
	}
}

static void load_b(uint8_t dtype, unsigned int n)
{
	unsigned int tiles = n / PARTITIONS;

	for (unsigned int k = 0; k < tiles; k++)
		program_release(emit(transfer(TRN_OP_DMA_LOAD, B, dtype, n, k * PARTITIONS, 0, n,
					      place_of_b(dtype, n, k))),
				LOADED, 1);
	wait_for(LOADED, tiles);
}

static struct trn_instruction product(uint8_t opcode, uint8_t dtype, unsigned int columns,
				      uint32_t place)
{
	return (struct trn_instruction){
		.opcode = opcode,
		.tensor = {
			.rows = PARTITIONS,
			.pack = 1,
			.size = { htole16((uint16_t)columns), htole16(1), htole16(1) },
			.in = program_tile(place, 0, dtype, columns, 1),
		},
	};
}

static uint32_t bank_of(unsigned int tile)
{
	return TRN_PLACE_PSUM | tile % BANKS * TRN_PSUM_BANK_SIZE;
}

/* 128 rows of C: the sums over k in some banks of PSUM, and to memory. */
static void add_up(uint8_t dtype, unsigned int n, unsigned int row)
{
	unsigned int columns = n < COLUMNS ? n : COLUMNS, blocks = n / columns;
	uint32_t size = trn_dtype(dtype)->size, tiles = n / PARTITIONS;
	unsigned int first = row / PARTITIONS * blocks;

	for (unsigned int block = 0; first >= BANKS && block < blocks; block++)
		wait_for(STORED, 1);
	for (unsigned int k = 0; k < tiles; k++) {
		emit(product(TRN_OP_LOAD_STATIONARY, dtype, PARTITIONS,
			     place_of_a(dtype, n, k, row)));
		for (unsigned int block = 0; block < blocks; block++) {
			struct trn_instruction *matmul =
				emit(product(TRN_OP_MATMUL, dtype, columns,
					     place_of_b(dtype, n, k) + block * columns * size));

			matmul->tensor.out =
				program_tile(bank_of(first + block), 0, TRN_DTYPE_FP32, columns, 1);
			matmul->flags = k ? TRN_FLAG_ACCUMULATE : 0;
			if (k == tiles - 1)
				program_release(matmul, SUMMED, 1);
		}
	}
	for (unsigned int block = 0; block < blocks; block++) {
		struct trn_instruction *store =
			emit(transfer(TRN_OP_DMA_STORE, C, TRN_DTYPE_FP32, n, row, block * columns,
				      columns, bank_of(first + block)));

		program_acquire(store, SUMMED, 1);
		program_release(store, STORED, 1);
	}
}

static void end_program(void)
{
	struct trn_program_header *header = bench.image;

	emit((struct trn_instruction){ .opcode = TRN_OP_HALT });
	*header = (struct trn_program_header){
		.magic = htole32(TRN_PROGRAM_MAGIC),
		.version = htole32(TRN_PROGRAM_VERSION),
		.size = htole64(sizeof(*header) + bench.length * sizeof(*bench.stream)),
		.instructions = { [TRN_ENGINE_TENSOR] = htole32(bench.length) },
	};
}

/* A and, behind it, B to SBUF, where they remain. */
static void write_loads(unsigned int n, uint8_t dtype)
{
	bench.length = 0;
	load_a(dtype, n);
	load_b(dtype, n);
	end_program();
}

static void write_products(unsigned int n, uint8_t dtype)
{
	bench.length = 0;
	for (unsigned int row = 0; row < n; row += PARTITIONS)
		add_up(dtype, n, row);
	end_program();
}

/* ---- measuring --------------------------------------------------------------------- */

/* Small integers, exact in every type, and so are the sums. */
static void fill(unsigned int n, uint8_t dtype)
{
	const struct trn_dtype *type = trn_dtype(dtype);

	rig_random_seed(n);
	for (enum matrix i = A; i <= B; i++) {
		for (size_t j = 0; j < (size_t)n * n; j++)
			bench.values[i][j] = (float)rig_below(17) - 8;
		type->store(bench.matrix[i], type->size, bench.values[i], NULL, (size_t)n * n);
	}
	memset(bench.matrix[C], 0xff, RESULT_BYTES);
}

static uint64_t time_model(void)
{
	const struct trn_packet packet = {
		.opcode = TRN_PACKET_EXEC,
		.exec = {
			.program = htole64(IMAGE_VA),
			.bindings = htole64(BINDINGS_VA),
			.num_bindings = htole32(MATRICES),
		},
	};
	uint64_t begin = thread_ns();

	rig_execute(&bench.rig, &bench.program.queue, packet);
	begin = thread_ns() - begin;
	ck_assert_int_eq(rig_state(&bench.rig, &bench.program.queue), TRN_QUEUE_RUNNING);
	return begin;
}

static uint64_t time_blas(int n)
{
	uint64_t begin = thread_ns();

	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, n, 1, bench.values[A], n,
		    bench.values[B], n, 0, bench.values[C], n);
	return thread_ns() - begin;
}

static double gflops(unsigned int n, uint64_t ns)
{
	return 2.0 * n * n * n / (double)ns;
}

static void check_product(unsigned int n, const char *name)
{
	if (!memcmp(bench.matrix[C], bench.values[C], (size_t)n * n * sizeof(float)))
		return;
	fprintf(stderr, "matmul: %u, %s: the model's product is not BLAS's\n", n, name);
	exit(1);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool measure(unsigned int n, uint8_t dtype, const char *name)
{
	uint64_t loads = UINT64_MAX, products = UINT64_MAX, blas = UINT64_MAX;
	double model, ratio;
	bool limited;

	fill(n, dtype);
	/* In turns: what else the host does hits all. */
	for (int i = 0; i < REPEAT; i++) {
		write_loads(n, dtype);
		loads = least(loads, time_model());
		write_products(n, dtype);
		products = least(products, time_model());
		blas = least(blas, time_blas((int)n));
	}
	check_product(n, name);
	model = gflops(n, products);
	ratio = model / gflops(n, blas);
	printf("%5u  %-5s  %9.1f  %15.1f  %9.1f  %6.2f", n, name, model,
	       gflops(n, loads + products), gflops(n, blas), ratio);
	/* Other types are converted first. */
	limited = dtype == TRN_DTYPE_FP32 && n >= LIMIT_FROM;
	if (limited)
		printf("  %s", ratio >= LIMIT ? "ok" : "TOO SLOW");
	printf("\n");
	fflush(stdout);
	return !limited || ratio >= LIMIT;
}

static const char usage[] =
	"Usage: matmul\n"
	"GFLOP/s of square matmuls by a core of the device model, loads and "
	"stores included, beside\n"
	"the BLAS that it uses, called directly, in turns; the shortest of 7, "
	"CPU time of one thread.\n"
	"Exit code 1 if the model has less than 0.8 of BLAS in fp32 from 1024 on.\n";

int main(int argc, char **argv)
{
	bool good = true;

	take_no_arguments(argc, argv, usage);
	set_up();
	printf("    N  type       model  with its loads       BLAS   ratio  (fp32 from %d on: at "
	       "least "
	       "%.1f)\n",
	       LIMIT_FROM, LIMIT);
	for (unsigned int n = 128; n <= SIZE_MAX_N; n *= 2) {
		good &= measure(n, TRN_DTYPE_FP32, "fp32");
		good &= measure(n, TRN_DTYPE_BF16, "bf16");
	}
	rig_destroy(&bench.rig);
	for (int i = 0; i < MATRICES; i++)
		free(bench.values[i]);
	return good ? 0 : 1;
}
