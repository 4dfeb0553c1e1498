/* SPDX-License-Identifier: MIT */
/*
 * Softmax and layer norm of the rows of a matrix.  Rows are partitions; columns go through SBUF in
 * chunks.  Rows that fit into SBUF are loaded once, longer ones once for each pass.
 */
#include "example.h"
#include "pipeline.h"

enum {
	ROWS,
	COLUMNS,
	DTYPE,
	EPSILON
};

#define VECTOR	   TRN_ENGINE_VECTOR
#define SCALAR	   TRN_ENGINE_SCALAR
#define STORER	   TRN_ENGINE_GPSIMD

#define CHUNK	   2048
#define CHUNK_SIZE (CHUNK * 4)
#define IN_SLOTS   12
#define OUT_SLOTS  2
#define CHUNKS_MAX 1024

struct rows {
	struct pipeline pipeline;
	uint32_t dtype, columns, chunks;
	uint32_t x, y;	     /* bindings */
	struct pool in, out; /* of FP32: DMA converts */
	bool kept;	     /* a row's chunks stay in SBUF from pass to pass */
	/* of the rows at work */
	uint32_t first, count;
	uint32_t turn; /* of chunk 0, if kept */
};

static void begin_rows(struct rows *rows, struct trn_builder *builder, const double *values)
{
	const uint64_t shape[2] = { (uint64_t)values[ROWS], (uint64_t)values[COLUMNS] };

	pipeline_begin(&rows->pipeline, builder);
	rows->dtype = (uint32_t)values[DTYPE];
	rows->columns = (uint32_t)values[COLUMNS];
	rows->chunks = divide_up(rows->columns, CHUNK);
	rows->kept = rows->chunks <= IN_SLOTS;
	rows->x = trn_builder_variable(builder, TRN_NEFF_INPUT, "x", rows->dtype, 2, shape);
	rows->y = trn_builder_variable(builder, TRN_NEFF_OUTPUT, "y", rows->dtype, 2, shape);
	pool_create(&rows->in, &rows->pipeline, IN_SLOTS, CHUNK_SIZE);
	pool_create(&rows->out, &rows->pipeline, OUT_SLOTS, CHUNK_SIZE);
}

static struct trn_tile chunk_tile(const struct rows *rows, uint32_t chunk)
{
	return trn_tile(rows->count, smaller(rows->columns - chunk * CHUNK, CHUNK));
}

static struct trn_slice chunk_slice(const struct rows *rows, uint32_t variable, uint32_t chunk)
{
	uint32_t size = bytes_of(rows->dtype);
	struct trn_slice slice = trn_rows(variable, rows->dtype, (int32_t)(rows->columns * size));

	slice.offset = ((int64_t)rows->first * rows->columns + chunk * CHUNK) * size;
	return slice;
}

/* A chunk for a pass; the engine that uses it waits. */
static struct trn_operand get_chunk(struct rows *rows, uint32_t chunk, bool first_pass,
				    unsigned int engine)
{
	uint32_t turn = rows->turn + chunk;

	if (first_pass || !rows->kept) {
		turn = pool_fill(&rows->in);
		pool_load(&rows->in, chunk_tile(rows, chunk),
			  trn_sbuf(TRN_DTYPE_FP32, pool_offset(&rows->in, turn)),
			  chunk_slice(rows, rows->x, chunk));
		pool_wait(&rows->in, turn, engine);
	}
	return trn_sbuf(TRN_DTYPE_FP32, pool_offset(&rows->in, turn));
}

static void put_chunk(struct rows *rows, bool last_pass, unsigned int engine)
{
	if (last_pass || !rows->kept)
		pool_free(&rows->in, engine);
}

static void store_chunk(struct rows *rows, uint32_t turn, uint32_t chunk)
{
	pool_store(&rows->out, VECTOR, STORER, turn, chunk_tile(rows, chunk),
		   trn_sbuf(TRN_DTYPE_FP32, pool_offset(&rows->out, turn)),
		   chunk_slice(rows, rows->y, chunk));
}

/* ---- softmax -------------------------------------------------------------------------- */

/* Numbers of each partition. */
struct softmax {
	struct trn_operand parts;    /* of each chunk */
	struct trn_operand negative; /* −max */
	struct trn_operand sum;
};

static void reduce_parts(struct rows *rows, struct trn_operand parts, unsigned int operation,
			 struct trn_operand to)
{
	trn_emit_reduce(rows->pipeline.builder, trn_tile(rows->count, rows->chunks), operation,
			TRN_FLAG_AXIS_I, to, parts);
}

static struct trn_operand element(struct trn_operand operand, uint32_t number)
{
	operand.offset += number * 4;
	return operand;
}

/* exp(x − max) to where x was, when x is on its last pass; the vector engine waits for it. */
static void exponential(struct rows *rows, const struct softmax *softmax, uint32_t chunk,
			struct trn_operand x)
{
	struct trn_operand negative = trn_steps(softmax->negative, 0, 0, 0);

	trn_emit_activate(rows->pipeline.builder, chunk_tile(rows, chunk), TRN_FUNCTION_EXP, x, x,
			  trn_scalar(1), trn_scalar_of_partition(), &negative);
	hand_over(&rows->pipeline, SCALAR, VECTOR);
}

static void softmax_rows(struct rows *rows, const struct softmax *softmax)
{
	struct trn_builder *builder = rows->pipeline.builder;
	struct trn_operand sum = trn_steps(softmax->sum, 0, 0, 0);

	rows->turn = rows->in.turns;
	for (uint32_t c = 0; c < rows->chunks; c++) {
		struct trn_operand x = get_chunk(rows, c, true, VECTOR);

		trn_emit_reduce(builder, chunk_tile(rows, c), TRN_ALU_MAX, TRN_FLAG_AXIS_I,
				element(softmax->parts, c), x);
		put_chunk(rows, false, VECTOR);
	}
	reduce_parts(rows, softmax->parts, TRN_ALU_MAX, softmax->negative);
	trn_emit_tensor_scalar(builder, VECTOR, trn_tile(rows->count, 1), softmax->negative,
			       softmax->negative, TRN_ALU_MULTIPLY, trn_scalar(-1), TRN_ALU_BYPASS,
			       trn_scalar(0), NULL);
	hand_over(&rows->pipeline, VECTOR, SCALAR);
	for (uint32_t c = 0; c < rows->chunks; c++) {
		struct trn_operand x = get_chunk(rows, c, false, SCALAR);

		exponential(rows, softmax, c, x);
		trn_emit_reduce(builder, chunk_tile(rows, c), TRN_ALU_ADD, TRN_FLAG_AXIS_I,
				element(softmax->parts, c), x);
		put_chunk(rows, false, VECTOR);
	}
	reduce_parts(rows, softmax->parts, TRN_ALU_ADD, softmax->sum);
	for (uint32_t c = 0; c < rows->chunks; c++) {
		struct trn_operand x = get_chunk(rows, c, false, SCALAR);
		uint32_t turn;

		if (!rows->kept)
			exponential(rows, softmax, c, x);
		turn = pool_reuse(&rows->out, VECTOR);
		trn_emit_tensor_scalar(builder, VECTOR, chunk_tile(rows, c),
				       trn_sbuf(TRN_DTYPE_FP32, pool_offset(&rows->out, turn)), x,
				       TRN_ALU_DIVIDE, trn_scalar_of_partition(), TRN_ALU_BYPASS,
				       trn_scalar(0), &sum);
		put_chunk(rows, true, VECTOR);
		store_chunk(rows, turn, c);
	}
}

static void build_softmax(struct trn_builder *builder, const double *values)
{
	uint32_t all = (uint32_t)values[ROWS];
	struct softmax softmax;
	struct rows rows = { 0 };

	begin_rows(&rows, builder, values);
	softmax.parts = trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, CHUNKS_MAX * 4));
	softmax.negative = trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, 4));
	softmax.sum = trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, 4));
	for (rows.first = 0; rows.first < all; rows.first += rows.count) {
		rows.count = smaller(all - rows.first, TRN_PARTITIONS);
		softmax_rows(&rows, &softmax);
	}
}

const struct example example_softmax = {
	.name = "softmax",
	.help = "of each row of a matrix",
	.parameters = {
		{ "rows", "of the matrix", EXAMPLE_NUMBER, 128, 1, 1 << 24 },
		{ "columns", "of the matrix", EXAMPLE_NUMBER, 1024, 1, CHUNK * CHUNKS_MAX },
		{ "dtype", "of the matrix", EXAMPLE_DTYPE, TRN_DTYPE_FP32, 0, 0 },
	},
	.build = build_softmax,
};

/* ---- layer norm --------------------------------------------------------------------------- */

struct norm {
	struct pool weights;	    /* gamma and beta of a chunk, in all partitions */
	uint32_t gamma, beta;	    /* bindings */
	struct trn_operand triples; /* of each chunk */
	struct trn_operand moments; /* mean, and variance or 1 / its root */
	float epsilon;
};

/* Gamma and beta of a chunk: the same row to all partitions. */
static void load_weights(struct rows *rows, struct norm *norm, uint32_t chunk, uint32_t slot)
{
	const uint32_t variables[2] = { norm->gamma, norm->beta };

	for (int i = 0; i < 2; i++) {
		struct trn_slice slice = trn_rows(variables[i], rows->dtype, 0);

		slice.offset = (int64_t)chunk * CHUNK * bytes_of(rows->dtype);
		pool_load(&norm->weights, chunk_tile(rows, chunk),
			  trn_sbuf(TRN_DTYPE_FP32, slot + i * CHUNK_SIZE), slice);
	}
}

static void norm_chunk(struct rows *rows, struct norm *norm, uint32_t chunk)
{
	struct trn_builder *builder = rows->pipeline.builder;
	struct trn_tile tile = chunk_tile(rows, chunk);
	struct trn_operand x = get_chunk(rows, chunk, false, VECTOR), y;
	uint32_t weights = pool_fill(&norm->weights);
	uint32_t slot = pool_offset(&norm->weights, weights);
	uint32_t turn = pool_reuse(&rows->out, VECTOR);

	load_weights(rows, norm, chunk, slot);
	y = trn_sbuf(TRN_DTYPE_FP32, pool_offset(&rows->out, turn));
	trn_emit_tensor_scalar(builder, VECTOR, tile, y, x, TRN_ALU_SUBTRACT,
			       trn_scalar_of_partition(), TRN_ALU_MULTIPLY,
			       trn_scalar_of_partition(), &norm->moments);
	put_chunk(rows, true, VECTOR);
	pool_wait(&norm->weights, weights, VECTOR);
	trn_emit_tensor_tensor(builder, VECTOR, tile, TRN_ALU_MULTIPLY, y, y,
			       trn_sbuf(TRN_DTYPE_FP32, slot));
	trn_emit_tensor_tensor(builder, VECTOR, tile, TRN_ALU_ADD, y, y,
			       trn_sbuf(TRN_DTYPE_FP32, slot + CHUNK_SIZE));
	pool_free(&norm->weights, VECTOR);
	store_chunk(rows, turn, chunk);
}

static void norm_rows(struct rows *rows, struct norm *norm)
{
	struct trn_builder *builder = rows->pipeline.builder;
	struct trn_operand variance = element(norm->moments, 1);

	rows->turn = rows->in.turns;
	for (uint32_t c = 0; c < rows->chunks; c++) {
		struct trn_operand x = get_chunk(rows, c, true, VECTOR);

		trn_emit_bn_stats(builder, chunk_tile(rows, c), element(norm->triples, 3 * c), x);
		put_chunk(rows, false, VECTOR);
	}
	trn_emit_bn_aggregate(builder, rows->count, rows->chunks, norm->moments,
			      trn_steps(norm->triples, 3, 1, 0));
	hand_over(&rows->pipeline, VECTOR, SCALAR);
	trn_emit_activate(builder, trn_tile(rows->count, 1), TRN_FUNCTION_RSQRT, variance, variance,
			  trn_scalar(1), trn_scalar(norm->epsilon), NULL);
	hand_over(&rows->pipeline, SCALAR, VECTOR);
	for (uint32_t c = 0; c < rows->chunks; c++)
		norm_chunk(rows, norm, c);
}

static void build_layer_norm(struct trn_builder *builder, const double *values)
{
	const uint64_t columns = (uint64_t)values[COLUMNS];
	uint32_t all = (uint32_t)values[ROWS];
	struct rows rows = { 0 };
	struct norm norm;

	begin_rows(&rows, builder, values);
	norm.epsilon = (float)values[EPSILON];
	norm.gamma =
		trn_builder_variable(builder, TRN_NEFF_INPUT, "gamma", rows.dtype, 1, &columns);
	norm.beta = trn_builder_variable(builder, TRN_NEFF_INPUT, "beta", rows.dtype, 1, &columns);
	pool_create(&norm.weights, &rows.pipeline, 2, 2 * CHUNK_SIZE);
	norm.triples = trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, CHUNKS_MAX * 12));
	norm.moments = trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, 8));
	for (rows.first = 0; rows.first < all; rows.first += rows.count) {
		rows.count = smaller(all - rows.first, TRN_PARTITIONS);
		norm_rows(&rows, &norm);
	}
}

const struct example example_layer_norm = {
	.name = "layer-norm",
	.help = "of each row of a matrix: (x − mean) / √(variance + epsilon) × gamma + beta",
	.parameters = {
		{ "rows", "of the matrix", EXAMPLE_NUMBER, 128, 1, 1 << 24 },
		{ "columns", "of the matrix", EXAMPLE_NUMBER, 1024, 1, CHUNK * CHUNKS_MAX },
		{ "dtype", "of all tensors", EXAMPLE_DTYPE, TRN_DTYPE_FP32, 0, 0 },
		{ "epsilon", "keeps the root from 0", EXAMPLE_REAL, 1e-5, 1e-12, 1 },
	},
	.build = build_layer_norm,
};
