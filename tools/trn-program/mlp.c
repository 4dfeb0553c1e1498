/* SPDX-License-Identifier: MIT */
/*
 * y = gelu(x × w1 + b1) × w2 + b2, for 128 tokens at a time.
 *
 * The hidden layer is made transposed, one of its elements in a partition: so its bias is one of
 * each partition, and it is what the second product needs as its stationary matrix.
 */
#include "example.h"
#include "pipeline.h"

enum {
	TOKENS,
	INPUTS,
	HIDDEN,
	OUTPUTS,
	DTYPE
};

#define TENSOR		   TRN_ENGINE_TENSOR
#define VECTOR		   TRN_ENGINE_VECTOR
#define SCALAR		   TRN_ENGINE_SCALAR
#define STORER		   TRN_ENGINE_GPSIMD

#define TILE		   128
#define CHUNK		   512	 /* columns of y */
#define SIZE_MAX_OF_LAYERS 98304 /* bytes of a partition, for inputs and hidden layer */

struct mlp {
	struct pipeline pipeline;
	uint32_t dtype, size;
	uint32_t tokens, inputs, hidden, outputs;
	uint32_t x, w1, b1, w2, b2, y;		    /* bindings */
	struct pool in, weights, bias, biases, out; /* bias: of the hidden layer, biases: of y */
	uint32_t x_tiles, h_tiles;		    /* SBUF: transposed */
	uint32_t first, count;			    /* tokens at work */
};

static struct trn_operand tile_of(const struct mlp *mlp, uint32_t offset, uint32_t number)
{
	return trn_sbuf(mlp->dtype, offset + number * TILE * mlp->size);
}

static void load(struct mlp *mlp, struct pool *pool, uint32_t variable, uint32_t row, uint32_t rows,
		 uint32_t column, uint32_t columns, uint32_t width)
{
	struct trn_slice from = trn_rows(variable, mlp->dtype, (int32_t)(width * mlp->size));

	from.offset = ((int64_t)row * width + column) * mlp->size;
	pool_load(pool, trn_tile(rows, columns),
		  trn_sbuf(mlp->dtype, pool_offset(pool, pool->turns - 1)), from);
}

static void transpose_inputs(struct mlp *mlp)
{
	struct trn_builder *builder = mlp->pipeline.builder;

	for (uint32_t d = 0; d < mlp->inputs; d += TILE) {
		uint32_t rows = smaller(mlp->inputs - d, TILE), turn = pool_fill(&mlp->in), bank;

		load(mlp, &mlp->in, mlp->x, mlp->first, mlp->count, d, rows, mlp->inputs);
		pool_wait(&mlp->in, turn, TENSOR);
		bank = bank_fill(&mlp->pipeline);
		trn_emit_transpose(builder, trn_tile(mlp->count, rows), trn_psum(mlp->dtype, bank),
				   trn_sbuf(mlp->dtype, pool_offset(&mlp->in, turn)));
		pool_free(&mlp->in, TENSOR);
		bank_pass(&mlp->pipeline, VECTOR);
		trn_emit_copy(builder, VECTOR, trn_tile(rows, mlp->count),
			      tile_of(mlp, mlp->x_tiles, d / TILE), trn_psum(mlp->dtype, bank));
		bank_end(&mlp->pipeline, VECTOR);
	}
	hand_over(&mlp->pipeline, VECTOR, TENSOR);
}

/* Elements h … of the hidden layer. */
static void make_hidden(struct mlp *mlp, uint32_t h)
{
	struct trn_builder *builder = mlp->pipeline.builder;
	uint32_t columns = smaller(mlp->hidden - h, TILE), bank = bank_fill(&mlp->pipeline), bias;
	struct trn_operand scalars;
	struct trn_slice from = trn_rows(mlp->b1, mlp->dtype, (int32_t)mlp->size);

	for (uint32_t d = 0; d < mlp->inputs; d += TILE) {
		uint32_t rows = smaller(mlp->inputs - d, TILE), turn = pool_fill(&mlp->weights);

		load(mlp, &mlp->weights, mlp->w1, d, rows, h, columns, mlp->hidden);
		pool_wait(&mlp->weights, turn, TENSOR);
		trn_emit_load_stationary(builder, trn_tile(rows, columns), 1,
					 trn_sbuf(mlp->dtype, pool_offset(&mlp->weights, turn)),
					 NULL);
		trn_emit_matmul(builder, trn_tile(rows, mlp->count), 1,
				trn_psum(TRN_DTYPE_FP32, bank),
				tile_of(mlp, mlp->x_tiles, d / TILE), NULL, d);
		pool_free(&mlp->weights, TENSOR);
	}
	bias = pool_fill(&mlp->bias);
	from.offset = (int64_t)h * mlp->size;
	scalars = trn_steps(trn_sbuf(TRN_DTYPE_FP32, pool_offset(&mlp->bias, bias)), 0, 0, 0);
	pool_load(&mlp->bias, trn_tile(columns, 1), scalars, from);
	bank_pass(&mlp->pipeline, SCALAR);
	pool_wait(&mlp->bias, bias, SCALAR);
	trn_emit_activate(builder, trn_tile(columns, mlp->count), TRN_FUNCTION_GELU,
			  tile_of(mlp, mlp->h_tiles, h / TILE), trn_psum(TRN_DTYPE_FP32, bank),
			  trn_scalar(1), trn_scalar_of_partition(), &scalars);
	bank_end(&mlp->pipeline, SCALAR);
	pool_free(&mlp->bias, SCALAR);
}

/* Columns o … of y. */
static void make_outputs(struct mlp *mlp, uint32_t o)
{
	struct trn_builder *builder = mlp->pipeline.builder;
	uint32_t columns = smaller(mlp->outputs - o, CHUNK), bank = bank_fill(&mlp->pipeline);
	struct trn_tile tile = trn_tile(mlp->count, columns);
	struct trn_slice slice = trn_rows(mlp->b2, mlp->dtype, 0);
	struct trn_operand bias, out;
	uint32_t turn;

	for (uint32_t h = 0; h < mlp->hidden; h += TILE) {
		uint32_t rows = smaller(mlp->hidden - h, TILE);

		turn = pool_fill(&mlp->weights);
		load(mlp, &mlp->weights, mlp->w2, h, rows, o, columns, mlp->outputs);
		pool_wait(&mlp->weights, turn, TENSOR);
		trn_emit_load_stationary(builder, trn_tile(rows, mlp->count), 1,
					 tile_of(mlp, mlp->h_tiles, h / TILE), NULL);
		trn_emit_matmul(builder, trn_tile(rows, columns), 1, trn_psum(TRN_DTYPE_FP32, bank),
				trn_sbuf(mlp->dtype, pool_offset(&mlp->weights, turn)), NULL, h);
		pool_free(&mlp->weights, TENSOR);
	}
	bank_pass(&mlp->pipeline, VECTOR);
	turn = pool_fill(&mlp->biases);
	bias = trn_sbuf(TRN_DTYPE_FP32, pool_offset(&mlp->biases, turn));
	slice.offset = (int64_t)o * mlp->size;
	pool_load(&mlp->biases, tile, bias, slice);
	pool_wait(&mlp->biases, turn, VECTOR);
	turn = pool_reuse(&mlp->out, VECTOR);
	out = trn_sbuf(TRN_DTYPE_FP32, pool_offset(&mlp->out, turn));
	trn_emit_tensor_tensor(builder, VECTOR, tile, TRN_ALU_ADD, out,
			       trn_psum(TRN_DTYPE_FP32, bank), bias);
	bank_end(&mlp->pipeline, VECTOR);
	pool_free(&mlp->biases, VECTOR);
	slice = trn_rows(mlp->y, mlp->dtype, (int32_t)(mlp->outputs * mlp->size));
	slice.offset = ((int64_t)mlp->first * mlp->outputs + o) * mlp->size;
	pool_store(&mlp->out, VECTOR, STORER, turn, tile, out, slice);
}

static void declare(struct mlp *mlp, struct trn_builder *builder, const double *values)
{
	const uint64_t t = (uint64_t)values[TOKENS], d = (uint64_t)values[INPUTS];
	const uint64_t h = (uint64_t)values[HIDDEN], o = (uint64_t)values[OUTPUTS];
	const uint32_t dtype = (uint32_t)values[DTYPE];

	mlp->dtype = dtype;
	mlp->size = bytes_of(dtype);
	mlp->tokens = (uint32_t)t;
	mlp->inputs = (uint32_t)d;
	mlp->hidden = (uint32_t)h;
	mlp->outputs = (uint32_t)o;
	mlp->x = trn_builder_variable(builder, TRN_NEFF_INPUT, "x", dtype, 2, (uint64_t[]){ t, d });
	mlp->w1 =
		trn_builder_variable(builder, TRN_NEFF_INPUT, "w1", dtype, 2, (uint64_t[]){ d, h });
	mlp->b1 = trn_builder_variable(builder, TRN_NEFF_INPUT, "b1", dtype, 1, &h);
	mlp->w2 =
		trn_builder_variable(builder, TRN_NEFF_INPUT, "w2", dtype, 2, (uint64_t[]){ h, o });
	mlp->b2 = trn_builder_variable(builder, TRN_NEFF_INPUT, "b2", dtype, 1, &o);
	mlp->y =
		trn_builder_variable(builder, TRN_NEFF_OUTPUT, "y", dtype, 2, (uint64_t[]){ t, o });
}

static void build(struct trn_builder *builder, const double *values)
{
	struct mlp mlp = { 0 };
	uint32_t layers;

	pipeline_begin(&mlp.pipeline, builder);
	declare(&mlp, builder, values);
	layers = (divide_up(mlp.inputs, TILE) + divide_up(mlp.hidden, TILE)) * TILE * mlp.size;
	if (layers > SIZE_MAX_OF_LAYERS || mlp.size == 1) {
		trn_builder_fail(builder,
				 "inputs and hidden, rounded up to multiples of %d, take %u bytes "
				 "together: at most %u, of fp32, bf16 or fp16",
				 TILE, layers, SIZE_MAX_OF_LAYERS);
		return;
	}
	banks_create(&mlp.pipeline, PSUM_BANKS);
	pool_create(&mlp.in, &mlp.pipeline, 4, TILE * mlp.size);
	pool_create(&mlp.weights, &mlp.pipeline, 16, CHUNK * mlp.size);
	pool_create(&mlp.bias, &mlp.pipeline, 4, 4);
	pool_create(&mlp.biases, &mlp.pipeline, 2, CHUNK * 4);
	pool_create(&mlp.out, &mlp.pipeline, 2, CHUNK * 4);
	mlp.x_tiles = trn_builder_sbuf(builder, divide_up(mlp.inputs, TILE) * TILE * mlp.size);
	mlp.h_tiles = trn_builder_sbuf(builder, divide_up(mlp.hidden, TILE) * TILE * mlp.size);
	for (mlp.first = 0; mlp.first < mlp.tokens; mlp.first += mlp.count) {
		mlp.count = smaller(mlp.tokens - mlp.first, TILE);
		transpose_inputs(&mlp);
		for (uint32_t h = 0; h < mlp.hidden; h += TILE)
			make_hidden(&mlp, h);
		hand_over(&mlp.pipeline, SCALAR, TENSOR);
		for (uint32_t o = 0; o < mlp.outputs; o += CHUNK)
			make_outputs(&mlp, o);
	}
}

const struct example example_mlp = {
	.name = "mlp",
	.help = "y = gelu(x × w1 + b1) × w2 + b2",
	.parameters = {
		{ "tokens", "rows of x and y", EXAMPLE_NUMBER, 128, 1, 1 << 20 },
		{ "inputs", "columns of x", EXAMPLE_NUMBER, 512, 1, 1 << 16 },
		{ "hidden", "columns of w1", EXAMPLE_NUMBER, 2048, 1, 1 << 16 },
		{ "outputs", "columns of y", EXAMPLE_NUMBER, 512, 1, 1 << 20 },
		{ "dtype", "of all tensors: fp32, bf16 or fp16", EXAMPLE_DTYPE, TRN_DTYPE_BF16, 0, 0 },
	},
	.build = build,
};
