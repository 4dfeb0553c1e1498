/* SPDX-License-Identifier: MIT */
/*
 * Attention with a causal mask: o = softmax(q × kᵀ / √width, of the keys up to the query) × v, for
 * each head. All tensors are heads × length × width.
 *
 * A head's keys, transposed, and values stay in SBUF while 128 queries at a time go by.
 */
#include <math.h>

#include "example.h"
#include "pipeline.h"

enum {
	HEADS,
	LENGTH,
	WIDTH,
	DTYPE
};

#define TENSOR	    TRN_ENGINE_TENSOR
#define VECTOR	    TRN_ENGINE_VECTOR
#define SCALAR	    TRN_ENGINE_SCALAR
#define GPSIMD	    TRN_ENGINE_GPSIMD

#define TILE	    128
#define CHUNK	    512
#define LENGTH_MAX  8192
/* The last bank is the output's, the others take turns. */
#define TURN_BANKS  7
#define OUTPUT_BANK (TURN_BANKS * TRN_PSUM_BANK_SIZE)

struct attention {
	struct pipeline pipeline;
	uint32_t dtype, size, heads, length, width;
	uint32_t q, k, v, o;		  /* bindings */
	struct pool in, values, out;	  /* in: queries and keys */
	uint32_t keys;			  /* SBUF: width × length */
	struct trn_operand query;	  /* width × 128 */
	struct trn_operand scores;	  /* 128 × length, FP32 */
	struct trn_operand weights;	  /* the same, exponentials */
	struct trn_operand turned;	  /* a tile of them, transposed */
	struct trn_operand negative, sum; /* −max, sum; of each query */
	uint32_t first_value;		  /* turn, of the head */
};

static struct trn_slice rows_of(const struct attention *attention, uint32_t variable, uint32_t head,
				uint32_t row)
{
	struct trn_slice slice =
		trn_rows(variable, attention->dtype, (int32_t)(attention->width * attention->size));

	slice.offset =
		((int64_t)head * attention->length + row) * attention->width * attention->size;
	return slice;
}

static struct trn_operand column(struct trn_operand operand, uint32_t number)
{
	operand.offset += number * bytes_of(operand.dtype);
	return operand;
}

/* SBUF to SBUF, by way of PSUM; the tensor engine goes on when it is there. */
static void transpose(struct attention *attention, struct trn_tile tile, struct trn_operand to,
		      struct trn_operand from)
{
	struct trn_operand psum = trn_psum(attention->dtype, bank_fill(&attention->pipeline));

	trn_emit_transpose(attention->pipeline.builder, tile, psum, from);
	bank_pass(&attention->pipeline, VECTOR);
	trn_emit_copy(attention->pipeline.builder, VECTOR, trn_tile(tile.size[0], tile.partitions),
		      to, psum);
	bank_end(&attention->pipeline, VECTOR);
	hand_over(&attention->pipeline, VECTOR, TENSOR);
}

/* 128 rows of queries or keys, transposed. */
static void load_transposed(struct attention *attention, uint32_t variable, uint32_t head,
			    uint32_t row, uint32_t rows, struct trn_operand to)
{
	uint32_t turn = pool_fill(&attention->in);
	struct trn_operand slot = trn_sbuf(attention->dtype, pool_offset(&attention->in, turn));
	struct trn_tile tile = trn_tile(rows, attention->width);

	pool_load(&attention->in, tile, slot, rows_of(attention, variable, head, row));
	pool_wait(&attention->in, turn, TENSOR);
	transpose(attention, tile, to, slot);
	pool_free(&attention->in, TENSOR);
}

static void load_head(struct attention *attention, uint32_t head)
{
	attention->first_value = attention->values.turns;
	for (uint32_t row = 0; row < attention->length; row += TILE) {
		uint32_t rows = smaller(attention->length - row, TILE);
		uint32_t turn = pool_fill(&attention->values);

		pool_load(&attention->values, trn_tile(rows, attention->width),
			  trn_sbuf(attention->dtype, pool_offset(&attention->values, turn)),
			  rows_of(attention, attention->v, head, row));
		pool_wait(&attention->values, turn, TENSOR);
		load_transposed(
			attention, attention->k, head, row, rows,
			trn_sbuf(attention->dtype, attention->keys + row * attention->size));
	}
}

/* Scores of the queries row … for all keys up to them. */
static void make_scores(struct attention *attention, uint32_t row, uint32_t rows)
{
	static const int32_t diagonal[4] = { 1, -1, 0, 0 };
	struct trn_builder *builder = attention->pipeline.builder;
	float scale = (float)(1 / sqrt(attention->width));
	struct trn_operand square = column(attention->scores, row);

	trn_emit_load_stationary(builder, trn_tile(attention->width, rows), 1, attention->query,
				 NULL);
	for (uint32_t key = 0; key < row + rows; key += CHUNK) {
		uint32_t keys = smaller(row + rows - key, CHUNK);
		struct trn_operand psum = trn_psum(TRN_DTYPE_FP32, bank_fill(&attention->pipeline));

		trn_emit_matmul(builder, trn_tile(attention->width, keys), 1, psum,
				trn_sbuf(attention->dtype, attention->keys + key * attention->size),
				NULL, false);
		bank_pass(&attention->pipeline, SCALAR);
		trn_emit_activate(builder, trn_tile(rows, keys), TRN_FUNCTION_IDENTITY,
				  column(attention->scores, key), psum, trn_scalar(scale),
				  trn_scalar(0), NULL);
		bank_end(&attention->pipeline, SCALAR);
	}
	hand_over(&attention->pipeline, SCALAR, GPSIMD);
	trn_emit_mask(builder, trn_tile(rows, rows), square, square, 0, diagonal,
		      trn_scalar(-INFINITY));
	hand_over(&attention->pipeline, GPSIMD, VECTOR);
}

static void exponentials(struct attention *attention, uint32_t rows, uint32_t keys)
{
	struct trn_builder *builder = attention->pipeline.builder;
	struct trn_operand negative = trn_steps(attention->negative, 0, 0, 0);

	trn_emit_reduce(builder, trn_tile(rows, keys), TRN_ALU_MAX, TRN_FLAG_AXIS_I,
			attention->negative, attention->scores);
	trn_emit_tensor_scalar(builder, VECTOR, trn_tile(rows, 1), attention->negative,
			       attention->negative, TRN_ALU_MULTIPLY, trn_scalar(-1),
			       TRN_ALU_BYPASS, trn_scalar(0), NULL);
	hand_over(&attention->pipeline, VECTOR, SCALAR);
	trn_emit_activate(builder, trn_tile(rows, keys), TRN_FUNCTION_EXP, attention->weights,
			  attention->scores, trn_scalar(1), trn_scalar_of_partition(), &negative);
	hand_over(&attention->pipeline, SCALAR, TENSOR);
	hand_over(&attention->pipeline, SCALAR, VECTOR);
	trn_emit_reduce(builder, trn_tile(rows, keys), TRN_ALU_ADD, TRN_FLAG_AXIS_I, attention->sum,
			attention->weights);
}

/* The sum of the values, by weights, divided by the weights' sum. */
static void make_output(struct attention *attention, uint32_t head, uint32_t row, uint32_t rows)
{
	struct trn_builder *builder = attention->pipeline.builder;
	struct trn_operand psum = trn_psum(TRN_DTYPE_FP32, OUTPUT_BANK), slot;
	struct trn_operand sum = trn_steps(attention->sum, 0, 0, 0);
	bool last = row + rows == attention->length;
	uint32_t turn;

	for (uint32_t key = 0; key < row + rows; key += TILE) {
		uint32_t keys = smaller(row + rows - key, TILE);

		turn = attention->first_value + key / TILE;
		transpose(attention, trn_tile(rows, keys), attention->turned,
			  column(attention->weights, key));
		trn_emit_load_stationary(builder, trn_tile(keys, rows), 1, attention->turned, NULL);
		trn_emit_matmul(builder, trn_tile(keys, attention->width), 1, psum,
				trn_sbuf(attention->dtype, pool_offset(&attention->values, turn)),
				NULL, key);
		if (last)
			pool_free(&attention->values, TENSOR);
	}
	hand_over(&attention->pipeline, TENSOR, VECTOR);
	turn = pool_reuse(&attention->out, VECTOR);
	slot = trn_sbuf(TRN_DTYPE_FP32, pool_offset(&attention->out, turn));
	trn_emit_tensor_scalar(builder, VECTOR, trn_tile(rows, attention->width), slot, psum,
			       TRN_ALU_DIVIDE, trn_scalar_of_partition(), TRN_ALU_BYPASS,
			       trn_scalar(0), &sum);
	pool_store(&attention->out, VECTOR, GPSIMD, turn, trn_tile(rows, attention->width), slot,
		   rows_of(attention, attention->o, head, row));
}

static void declare(struct attention *attention, struct trn_builder *builder, const double *values)
{
	const uint64_t shape[3] = { (uint64_t)values[HEADS], (uint64_t)values[LENGTH],
				    (uint64_t)values[WIDTH] };
	uint32_t dtype = (uint32_t)values[DTYPE];

	attention->dtype = dtype;
	attention->size = bytes_of(dtype);
	attention->heads = (uint32_t)shape[0];
	attention->length = (uint32_t)shape[1];
	attention->width = (uint32_t)shape[2];
	if (attention->size == 1)
		trn_builder_fail(builder, "dtype must be fp32, bf16 or fp16");
	attention->q = trn_builder_variable(builder, TRN_NEFF_INPUT, "q", dtype, 3, shape);
	attention->k = trn_builder_variable(builder, TRN_NEFF_INPUT, "k", dtype, 3, shape);
	attention->v = trn_builder_variable(builder, TRN_NEFF_INPUT, "v", dtype, 3, shape);
	attention->o = trn_builder_variable(builder, TRN_NEFF_OUTPUT, "o", dtype, 3, shape);
}

static void build(struct trn_builder *builder, const double *values)
{
	struct attention attention = { 0 };
	uint32_t size, row_size;

	pipeline_begin(&attention.pipeline, builder);
	declare(&attention, builder, values);
	banks_create(&attention.pipeline, TURN_BANKS);
	size = attention.size;
	row_size = attention.width * 4;
	pool_create(&attention.in, &attention.pipeline, 4, row_size);
	pool_create(&attention.values, &attention.pipeline, divide_up(attention.length, TILE),
		    attention.width * size);
	pool_create(&attention.out, &attention.pipeline, 2, row_size);
	attention.keys = trn_builder_sbuf(builder, attention.length * size);
	attention.query = trn_sbuf(attention.dtype, trn_builder_sbuf(builder, TILE * size));
	attention.turned = trn_sbuf(attention.dtype, trn_builder_sbuf(builder, TILE * size));
	attention.scores =
		trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, attention.length * 4));
	attention.weights =
		trn_sbuf(attention.dtype, trn_builder_sbuf(builder, attention.length * size));
	attention.negative = trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, 4));
	attention.sum = trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, 4));
	for (uint32_t head = 0; head < attention.heads; head++) {
		load_head(&attention, head);
		for (uint32_t row = 0; row < attention.length; row += TILE) {
			uint32_t rows = smaller(attention.length - row, TILE);

			load_transposed(&attention, attention.q, head, row, rows, attention.query);
			make_scores(&attention, row, rows);
			exponentials(&attention, rows, row + rows);
			make_output(&attention, head, row, rows);
		}
	}
}

const struct example example_attention = {
	.name = "attention",
	.help = "with a causal mask; all tensors are heads × length × width",
	.parameters = {
		{ "heads", "", EXAMPLE_NUMBER, 8, 1, 65536 },
		{ "length", "queries and keys of a head", EXAMPLE_NUMBER, 512, 1, LENGTH_MAX },
		{ "width", "of a query", EXAMPLE_NUMBER, 64, 1, TILE },
		{ "dtype", "of all tensors: fp32, bf16 or fp16", EXAMPLE_DTYPE, TRN_DTYPE_BF16, 0, 0 },
	},
	.build = build,
};
