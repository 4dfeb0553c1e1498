/* SPDX-License-Identifier: MIT */
/*
 * c = aᵀ × b, of any size, on one core or several.
 *
 * Both matrices have the contraction first, for it goes along the array's partitions: a is K × M, b
 * is K × N, c is M × N.  With pack q, or MXFP8, q neighbours of the contraction are neighbours
 * in memory: a is K/q × M × q.
 *
 * The product is made in blocks of 256 × 1024, which take half of PSUM, so that one half is
 * copied out while the other is summed up.  Within a block the contraction is the outer loop: the
 * first tiles that have arrived can be multiplied.  A panel of b, 1024 columns, stays in SBUF for
 * all blocks that need it, if it has room; a streams by.
 */
#include <stdio.h>

#include "example.h"
#include "pipeline.h"

enum {
	M,
	N,
	K,
	DTYPE,
	OUT,
	PACK,
	CORES
};

#define TENSOR	      TRN_ENGINE_TENSOR
#define VECTOR	      TRN_ENGINE_VECTOR
#define STORER	      TRN_ENGINE_GPSIMD

#define ROWS	      128
#define TILE_M	      128
#define TILE_N	      512
#define BLOCK_M	      256
#define BLOCK_N	      1024
#define TILES_M	      (BLOCK_M / TILE_M)
#define TILES_N	      (BLOCK_N / TILE_N)
#define BANKS	      8
#define A_SLOTS	      16
#define C_SLOTS	      8
#define B_SLOTS_MAX   96
#define C_SLOT_SIZE   (TILE_N * 4)
#define SBUF_RESERVED 512 /* by rounding */
#define MX_BLOCK_ROWS 8	  /* partitions that share scales */

/* One of the two inputs. */
struct matrix {
	uint32_t variable, scales; /* bindings */
	uint32_t columns;	   /* in memory */
	uint32_t block;		   /* columns in a slot */
	struct pool pool;
};

struct matmul {
	struct pipeline pipeline;
	uint32_t dtype, out, pack;
	uint32_t group; /* bytes of the neighbours of the contraction */
	uint32_t rows;	/* K / pack */
	bool scaled;	/* MXFP8 */
	struct matrix a, b;
	uint32_t c; /* binding */
	uint32_t n;
	struct pool stored;
	uint32_t units; /* parts of blocks that fill a bank, so far */
};

/* What a block covers. */
struct block {
	uint32_t m, n, size_m, size_n;
};

static bool is_fp8(uint32_t dtype)
{
	return dtype == TRN_DTYPE_FP8_E4M3 || dtype == TRN_DTYPE_FP8_E5M2;
}

static uint32_t tiles_k(const struct matmul *matmul)
{
	return divide_up(matmul->rows, ROWS);
}

static uint32_t rows_of(const struct matmul *matmul, uint32_t k)
{
	return smaller(matmul->rows - k * ROWS, ROWS);
}

/* ---- loads ---------------------------------------------------------------------------- */

/* Columns of rows k × 128 … to the next slot. */
static void load_tile(struct matmul *matmul, struct matrix *matrix, uint32_t k, uint32_t column,
		      uint32_t columns)
{
	uint32_t rows = rows_of(matmul, k),
		 slot = pool_offset(&matrix->pool, pool_fill(&matrix->pool));
	bool bytes = matmul->pack > 1;
	uint32_t dtype = bytes ? TRN_DTYPE_INT8 : matmul->dtype;
	struct trn_slice from =
		trn_rows(matrix->variable, dtype, (int32_t)(matrix->columns * matmul->group));

	from.offset = ((int64_t)k * ROWS * matrix->columns + column) * matmul->group;
	pool_load(&matrix->pool, trn_tile(rows, bytes ? columns * matmul->group : columns),
		  trn_sbuf(dtype, slot), from);
	if (!matmul->scaled)
		return;
	from = trn_rows(matrix->scales, TRN_DTYPE_INT8, (int32_t)matrix->columns);
	from.offset = (int64_t)k * (ROWS / MX_BLOCK_ROWS) * matrix->columns + column;
	pool_load(&matrix->pool, trn_tile(rows / MX_BLOCK_ROWS, columns),
		  trn_sbuf(TRN_DTYPE_INT8, slot + matrix->block * matmul->group), from);
}

/* ---- the block ---------------------------------------------------------------------------- */

static struct trn_operand tile_operand(const struct matmul *matmul, const struct matrix *matrix,
				       uint32_t turn, uint32_t column)
{
	return trn_sbuf(matmul->dtype, pool_offset(&matrix->pool, turn) + column * matmul->group);
}

static struct trn_operand scale_operand(const struct matmul *matmul, const struct matrix *matrix,
					uint32_t turn, uint32_t column)
{
	return trn_sbuf(TRN_DTYPE_INT8,
			pool_offset(&matrix->pool, turn) + matrix->block * matmul->group + column);
}

static uint32_t bank_of(uint32_t unit)
{
	return unit % BANKS * TRN_PSUM_BANK_SIZE;
}

static uint32_t sum_dtype(const struct matmul *matmul)
{
	return matmul->dtype == TRN_DTYPE_INT8 ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32;
}

/* All products of one tile of a and one of b. */
static void multiply_tiles(struct matmul *matmul, const struct block *block, uint32_t k,
			   uint32_t turn_a, uint32_t turn_b)
{
	struct trn_builder *builder = matmul->pipeline.builder;
	uint32_t rows = rows_of(matmul, k), unit = matmul->units;

	for (uint32_t m = 0; m < block->size_m; m += TILE_M) {
		struct trn_operand scale = scale_operand(matmul, &matmul->a, turn_a, m);

		trn_emit_load_stationary(builder,
					 trn_tile(rows, smaller(block->size_m - m, TILE_M)),
					 matmul->pack, tile_operand(matmul, &matmul->a, turn_a, m),
					 matmul->scaled ? &scale : NULL);
		for (uint32_t n = 0; n < block->size_n; n += TILE_N, unit++) {
			scale = scale_operand(matmul, &matmul->b, turn_b, n);
			if (!k && unit >= BANKS)
				take(&matmul->pipeline, VECTOR, TENSOR);
			trn_emit_matmul(builder, trn_tile(rows, smaller(block->size_n - n, TILE_N)),
					matmul->pack, trn_psum(sum_dtype(matmul), bank_of(unit)),
					tile_operand(matmul, &matmul->b, turn_b, n),
					matmul->scaled ? &scale : NULL, k);
			if (k == tiles_k(matmul) - 1)
				hand(&matmul->pipeline, TENSOR, VECTOR);
		}
	}
}

/* The block's sums to memory. */
static void store_block(struct matmul *matmul, const struct block *block)
{
	struct trn_builder *builder = matmul->pipeline.builder;
	uint32_t size = bytes_of(matmul->out);

	for (uint32_t m = 0; m < block->size_m; m += TILE_M) {
		for (uint32_t n = 0; n < block->size_n; n += TILE_N, matmul->units++) {
			struct trn_tile extent = trn_tile(smaller(block->size_m - m, TILE_M),
							  smaller(block->size_n - n, TILE_N));
			uint32_t turn = pool_reuse(&matmul->stored, VECTOR);
			struct trn_operand slot =
				trn_sbuf(matmul->out, pool_offset(&matmul->stored, turn));
			struct trn_slice to =
				trn_rows(matmul->c, matmul->out, (int32_t)(matmul->n * size));

			to.offset = ((int64_t)(block->m + m) * matmul->n + block->n + n) * size;
			take(&matmul->pipeline, TENSOR, VECTOR);
			trn_emit_copy(builder, VECTOR, extent, slot,
				      trn_psum(sum_dtype(matmul), bank_of(matmul->units)));
			hand(&matmul->pipeline, VECTOR, TENSOR);
			pool_store(&matmul->stored, VECTOR, STORER, turn, extent, slot, to);
		}
	}
}

/*
 * @first and @last: b's tiles are loaded for this block, and not needed after it.  @turn_b: of
 * the first of them.
 */
static void emit_block(struct matmul *matmul, const struct block *block, bool first, bool last,
		       uint32_t turn_b)
{
	uint32_t count = tiles_k(matmul), turn_a = matmul->a.pool.turns;

	/* Streams are separate: in each, only its own order counts. */
	for (uint32_t k = 0; k < count; k++) {
		if (first)
			load_tile(matmul, &matmul->b, k, block->n, block->size_n);
		load_tile(matmul, &matmul->a, k, block->m, block->size_m);
		if (first)
			pool_wait(&matmul->b.pool, turn_b + k, TENSOR);
		pool_wait(&matmul->a.pool, turn_a + k, TENSOR);
		multiply_tiles(matmul, block, k, turn_a + k, turn_b + k);
		pool_free(&matmul->a.pool, TENSOR);
		if (last)
			pool_free(&matmul->b.pool, TENSOR);
	}
	store_block(matmul, block);
}

/* What of c this core makes. */
static void emit_part(struct matmul *matmul, const struct block *part)
{
	bool kept = tiles_k(matmul) <= matmul->b.pool.slots;
	uint32_t end_m = part->m + part->size_m, end_n = part->n + part->size_n;

	for (uint32_t n = part->n; n < end_n; n += BLOCK_N) {
		uint32_t turn_b = matmul->b.pool.turns;

		for (uint32_t m = part->m; m < end_m; m += BLOCK_M) {
			struct block block = { m, n, smaller(end_m - m, BLOCK_M),
					       smaller(end_n - n, BLOCK_N) };

			if (!kept)
				turn_b = matmul->b.pool.turns;
			emit_block(matmul, &block, !kept || m == part->m,
				   !kept || m + BLOCK_M >= end_m, turn_b);
		}
	}
}

/* ---- variables ---------------------------------------------------------------------------- */

static void declare(struct matmul *matmul, struct matrix *matrix, const char *name,
		    uint32_t columns, uint32_t block, uint32_t slots)
{
	struct trn_builder *builder = matmul->pipeline.builder;
	uint64_t shape[3] = { matmul->rows, columns, matmul->pack };
	char scales[16];

	matrix->columns = columns;
	matrix->block = block;
	matrix->variable = trn_builder_variable(builder, TRN_NEFF_INPUT, name, matmul->dtype,
						matmul->pack > 1 ? 3 : 2, shape);
	if (matmul->scaled) {
		shape[0] = matmul->rows / MX_BLOCK_ROWS;
		snprintf(scales, sizeof(scales), "%s_scales", name);
		matrix->scales = trn_builder_variable(builder, TRN_NEFF_INPUT, scales,
						      TRN_DTYPE_INT8, 2, shape);
	}
	pool_create(&matrix->pool, &matmul->pipeline, slots,
		    block * (matmul->group + matmul->scaled));
}

static void begin_core(struct matmul *matmul, const double *values)
{
	uint64_t shape[2] = { (uint64_t)values[M], (uint64_t)values[N] };
	uint32_t size_a = BLOCK_M * (matmul->group + matmul->scaled);
	uint32_t size_b = BLOCK_N * (matmul->group + matmul->scaled);
	uint32_t room =
		TRN_BUILDER_SBUF_SIZE - A_SLOTS * size_a - C_SLOTS * C_SLOT_SIZE - SBUF_RESERVED;

	pipeline_begin(&matmul->pipeline, matmul->pipeline.builder);
	declare(matmul, &matmul->a, "a", (uint32_t)values[M], BLOCK_M, A_SLOTS);
	declare(matmul, &matmul->b, "b", (uint32_t)values[N], BLOCK_N,
		smaller(room / size_b, B_SLOTS_MAX));
	matmul->c = trn_builder_variable(matmul->pipeline.builder, TRN_NEFF_OUTPUT, "c",
					 matmul->out, 2, shape);
	matmul->n = (uint32_t)values[N];
	matmul->units = 0;
	pool_create(&matmul->stored, &matmul->pipeline, C_SLOTS, C_SLOT_SIZE);
}

/* Reads the values that both programs have; false if they do not go together. */
static bool read_values(struct matmul *matmul, struct trn_builder *builder, const double *values)
{
	uint32_t k = (uint32_t)values[K];

	matmul->pipeline.builder = builder;
	matmul->dtype = (uint32_t)values[DTYPE];
	matmul->out = (uint32_t)values[OUT];
	matmul->scaled = matmul->dtype == TRN_DTYPE_MXFP8;
	matmul->pack = matmul->scaled ? 4 : (uint32_t)values[PACK];
	matmul->group = bytes_of(matmul->dtype) * matmul->pack;
	matmul->rows = k / matmul->pack;
	if (matmul->dtype == TRN_DTYPE_INT8)
		matmul->out = TRN_DTYPE_INT32;
	if (matmul->dtype == TRN_DTYPE_INT16 || matmul->dtype == TRN_DTYPE_INT32 ||
	    matmul->dtype == TRN_DTYPE_FP4)
		trn_builder_fail(builder, "dtype must be another than int16, int32 and fp4");
	else if (matmul->out == TRN_DTYPE_MXFP8 || matmul->out == TRN_DTYPE_FP4 ||
		 (matmul->out == TRN_DTYPE_INT32) != (matmul->dtype == TRN_DTYPE_INT8))
		trn_builder_fail(builder, "out must be fp32, bf16, fp16, fp8_e4m3 or fp8_e5m2");
	else if (!matmul->scaled && matmul->pack != 1 &&
		 !(matmul->pack == 2 && is_fp8(matmul->dtype)))
		trn_builder_fail(builder, "pack must be 1, or 2 for fp8_e4m3 and fp8_e5m2");
	else if (k % (matmul->scaled ? TRN_MX_BLOCK : matmul->pack))
		trn_builder_fail(builder, "k is %u, must be a multiple of %u", k,
				 matmul->scaled ? TRN_MX_BLOCK : matmul->pack);
	else
		return true;
	return false;
}

/* Cores share the columns as long as each has a panel, and then the rows: so b is loaded once. */
static void build(struct trn_builder *builder, const double *values)
{
	uint32_t m = (uint32_t)values[M], n = (uint32_t)values[N], cores = (uint32_t)values[CORES];
	struct matmul matmul = { 0 };
	uint32_t parts_n = 1, parts_m;

	if (!read_values(&matmul, builder, values))
		return;
	for (uint32_t i = 1; i <= cores; i++)
		if (cores % i == 0 && n / i >= BLOCK_N)
			parts_n = i;
	parts_m = cores / parts_n;
	for (uint32_t i = 0; i < cores; i++) {
		uint32_t x = i % parts_n, y = i / parts_n;
		struct block part = { (uint32_t)((uint64_t)m * y / parts_m),
				      (uint32_t)((uint64_t)n * x / parts_n), 0, 0 };

		part.size_m = (uint32_t)((uint64_t)m * (y + 1) / parts_m) - part.m;
		part.size_n = (uint32_t)((uint64_t)n * (x + 1) / parts_n) - part.n;
		if (i)
			trn_builder_core(builder);
		begin_core(&matmul, values);
		emit_part(&matmul, &part);
	}
}

const struct example example_matmul = {
	.name = "matmul",
	.help = "c = aᵀ × b; a is K × M, b is K × N",
	.parameters = {
		{ "m", "rows of c", EXAMPLE_NUMBER, 1024, 1, 1 << 24 },
		{ "n", "columns of c", EXAMPLE_NUMBER, 1024, 1, 1 << 24 },
		{ "k", "terms of each sum", EXAMPLE_NUMBER, 1024, 1, 1 << 24 },
		{ "dtype", "of a and b", EXAMPLE_DTYPE, TRN_DTYPE_BF16, 0, 0 },
		{ "out", "type of c, unless dtype is int8", EXAMPLE_DTYPE, TRN_DTYPE_FP32, 0, 0 },
		{ "pack", "terms that are neighbours: 2 doubles the rate of fp8, on trn2 and later",
		  EXAMPLE_NUMBER, 1, 1, 2 },
		{ "cores", "that share the work", EXAMPLE_NUMBER, 1, 1, TRN_NEFF_CORES_MAX },
	},
	.build = build,
};

/* ---- naive ------------------------------------------------------------------------------------
 */

/* One slot for everything, and one ring: each step waits for the one before it. */
static void build_naive(struct trn_builder *builder, const double *values)
{
	uint32_t m_all = (uint32_t)values[M], n_all = (uint32_t)values[N];
	struct matmul matmul = { 0 };

	if (!read_values(&matmul, builder, values))
		return;
	pipeline_begin(&matmul.pipeline, builder);
	for (unsigned int i = 1; i < TRN_ISA_DMA_RINGS; i++)
		matmul.pipeline.ring[i] = matmul.pipeline.ring[0];
	declare(&matmul, &matmul.a, "a", m_all, TILE_M, 1);
	declare(&matmul, &matmul.b, "b", n_all, TILE_N, 1);
	matmul.c = trn_builder_variable(builder, TRN_NEFF_OUTPUT, "c", matmul.out, 2,
					(uint64_t[]){ m_all, n_all });
	matmul.n = n_all;
	pool_create(&matmul.stored, &matmul.pipeline, 1, C_SLOT_SIZE);
	for (uint32_t m = 0; m < m_all; m += TILE_M) {
		for (uint32_t n = 0; n < n_all; n += TILE_N) {
			struct block block = { m, n, smaller(m_all - m, TILE_M),
					       smaller(n_all - n, TILE_N) };

			emit_block(&matmul, &block, true, true, matmul.b.pool.turns);
		}
	}
}

const struct example example_matmul_naive = {
	.name = "matmul-naive",
	.help = "the same, with one tile of each matrix in SBUF and nothing in parallel",
	.parameters = {
		{ "m", "rows of c", EXAMPLE_NUMBER, 1024, 1, 1 << 24 },
		{ "n", "columns of c", EXAMPLE_NUMBER, 1024, 1, 1 << 24 },
		{ "k", "terms of each sum", EXAMPLE_NUMBER, 1024, 1, 1 << 24 },
		{ "dtype", "of a and b", EXAMPLE_DTYPE, TRN_DTYPE_BF16, 0, 0 },
		{ "out", "type of c, unless dtype is int8", EXAMPLE_DTYPE, TRN_DTYPE_FP32, 0, 0 },
		{ "pack", "terms that are neighbours in memory: 1, or 2 for fp8", EXAMPLE_NUMBER, 1, 1, 2 },
	},
	.build = build_naive,
};
