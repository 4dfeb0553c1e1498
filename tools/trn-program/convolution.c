/* SPDX-License-Identifier: MIT */
/*
 * 2-D convolution (without mirroring, as neural networks have it).
 *
 * x is images × channels × height × width, w is kernel × kernel × channels × filters, y is images ×
 * filters × height × width of what results.  Channels are the contraction: for each tap of the
 * kernel the array adds the product of a matrix of weights and a window of x, whose rows are
 * strided in SBUF.
 */
#include "example.h"
#include "pipeline.h"

enum {
	IMAGES,
	CHANNELS,
	HEIGHT,
	WIDTH,
	FILTERS,
	KERNEL,
	STRIDE,
	PADDING,
	DTYPE
};

#define TENSOR	    TRN_ENGINE_TENSOR
#define VECTOR	    TRN_ENGINE_VECTOR
#define STORER	    TRN_ENGINE_GPSIMD

#define TILE	    128
#define PIXELS	    512 /* of y, in a bank */
#define WEIGHTS_MAX 64	/* slots */

struct convolution {
	struct pipeline pipeline;
	uint32_t dtype, size;
	uint32_t images, channels, height, width, filters, kernel, stride, padding;
	uint32_t out_height, out_width, padded; /* padded: width of rows in SBUF */
	uint32_t rows, columns;			/* of y, in a bank */
	uint32_t in_rows;			/* of x, for them */
	uint32_t tiles;				/* of channels */
	uint32_t x, w, y;			/* bindings */
	struct pool in, weights, out;
	bool kept; /* weights of 128 filters stay in SBUF */
	uint32_t turn;
};

/* What one bank holds. */
struct window {
	uint32_t image, filter, filters, row, rows, column, columns;
};

static uint32_t tile_size(const struct convolution *conv)
{
	return conv->in_rows * conv->padded * conv->size;
}

/* Rows of x that the window's rows need, of all channels, zeros around them. */
static void load_rows(struct convolution *conv, const struct window *window)
{
	uint32_t slot = pool_offset(&conv->in, pool_fill(&conv->in));
	int64_t top = (int64_t)window->row * conv->stride - conv->padding;
	int64_t from = top < 0 ? 0 : top,
		to = top + (window->rows - 1) * conv->stride + conv->kernel;
	int32_t row_size = (int32_t)(conv->width * conv->size);

	if (to > conv->height)
		to = conv->height;
	if (conv->padding) {
		/* What was loaded before need not have arrived. */
		trn_emit_nop(conv->pipeline.builder, LOADER);
		hand_over(&conv->pipeline, LOADER, VECTOR);
		for (uint32_t t = 0; t < conv->tiles; t++)
			trn_emit_fill(conv->pipeline.builder, VECTOR,
				      trn_tile(TRN_PARTITIONS, tile_size(conv) / conv->size),
				      trn_sbuf(conv->dtype, slot + t * tile_size(conv)),
				      trn_scalar(0));
		hand_over(&conv->pipeline, VECTOR, LOADER);
	}
	for (uint32_t t = 0; t < conv->tiles && to > from; t++) {
		uint32_t channels = smaller(conv->channels - t * TILE, TILE);
		uint32_t place = (uint32_t)(from - top) * conv->padded + conv->padding;
		struct trn_slice slice =
			trn_rows(conv->x, conv->dtype, row_size * (int32_t)conv->height);

		slice.stride[2] = row_size;
		slice.offset =
			(((int64_t)window->image * conv->channels + t * TILE) * conv->height +
			 from) *
			row_size;
		pool_load(&conv->in, trn_tile_3d(channels, conv->width, (uint32_t)(to - from), 1),
			  trn_steps(trn_sbuf(conv->dtype,
					     slot + t * tile_size(conv) + place * conv->size),
				    1, (int32_t)conv->padded, 0),
			  slice);
	}
}

/* The weights of a tap; the array waits for them. */
static uint32_t load_weights(struct convolution *conv, const struct window *window, uint32_t tap,
			     uint32_t t, uint32_t channels)
{
	uint32_t turn = pool_fill(&conv->weights);
	struct trn_slice slice =
		trn_rows(conv->w, conv->dtype, (int32_t)(conv->filters * conv->size));

	slice.offset =
		(((int64_t)tap * conv->channels + t * TILE) * conv->filters + window->filter) *
		conv->size;
	pool_load(&conv->weights, trn_tile(channels, window->filters),
		  trn_sbuf(conv->dtype, pool_offset(&conv->weights, turn)), slice);
	pool_wait(&conv->weights, turn, TENSOR);
	return turn;
}

/* @first, @last: whether the weights are loaded for this window, and not needed after it. */
static void multiply(struct convolution *conv, const struct window *window, uint32_t bank,
		     uint32_t in, bool first, bool last)
{
	struct trn_builder *builder = conv->pipeline.builder;
	uint32_t taps = conv->kernel * conv->kernel, number = 0;

	for (uint32_t t = 0; t < conv->tiles; t++) {
		uint32_t channels = smaller(conv->channels - t * TILE, TILE);

		for (uint32_t tap = 0; tap < taps; tap++, number++) {
			uint32_t turn = conv->turn + number;
			uint32_t place = tap / conv->kernel * conv->padded + tap % conv->kernel +
					 window->column * conv->stride;

			if (first)
				turn = load_weights(conv, window, tap, t, channels);
			trn_emit_load_stationary(
				builder, trn_tile(channels, window->filters), 1,
				trn_sbuf(conv->dtype, pool_offset(&conv->weights, turn)), NULL);
			trn_emit_matmul(builder,
					trn_tile_3d(channels, window->columns, window->rows, 1), 1,
					trn_steps(trn_psum(TRN_DTYPE_FP32, bank), 1,
						  (int32_t)window->columns, 0),
					trn_steps(trn_sbuf(conv->dtype, in + t * tile_size(conv) +
										place * conv->size),
						  (int32_t)conv->stride,
						  (int32_t)(conv->stride * conv->padded), 0),
					NULL, number);
			if (last)
				pool_free(&conv->weights, TENSOR);
		}
	}
}

static void store(struct convolution *conv, const struct window *window, uint32_t bank)
{
	uint32_t turn = pool_reuse(&conv->out, VECTOR);
	struct trn_operand slot = trn_sbuf(TRN_DTYPE_FP32, pool_offset(&conv->out, turn));
	uint32_t pixels = conv->out_height * conv->out_width;
	struct trn_slice slice = trn_rows(conv->y, conv->dtype, (int32_t)(pixels * conv->size));

	trn_emit_copy(conv->pipeline.builder, VECTOR,
		      trn_tile(window->filters, window->columns * window->rows), slot,
		      trn_psum(TRN_DTYPE_FP32, bank));
	bank_end(&conv->pipeline, VECTOR);
	slice.stride[2] = (int32_t)(conv->out_width * conv->size);
	slice.offset = (((int64_t)window->image * conv->filters + window->filter) * pixels +
			window->row * conv->out_width + window->column) *
		       conv->size;
	pool_store(&conv->out, VECTOR, STORER, turn,
		   trn_tile_3d(window->filters, window->columns, window->rows, 1),
		   trn_steps(slot, 1, (int32_t)window->columns, 0), slice);
}

/* The windows of some rows of y, of 128 filters. */
static void emit_rows(struct convolution *conv, struct window *window)
{
	bool first = !window->image && !window->row;
	bool last =
		window->image == conv->images - 1 && window->row + window->rows == conv->out_height;
	uint32_t in = pool_offset(&conv->in, conv->in.turns), turn = conv->in.turns, bank;

	load_rows(conv, window);
	pool_wait(&conv->in, turn, TENSOR);
	for (window->column = 0; window->column < conv->out_width;
	     window->column += window->columns) {
		window->columns = smaller(conv->out_width - window->column, conv->columns);
		bank = bank_fill(&conv->pipeline);
		multiply(conv, window, bank, in, !conv->kept || (first && !window->column),
			 !conv->kept ||
				 (last && window->column + window->columns == conv->out_width));
		bank_pass(&conv->pipeline, VECTOR);
		store(conv, window, bank);
	}
	pool_free(&conv->in, TENSOR);
}

static void emit_all(struct convolution *conv)
{
	struct window window = { 0 };

	for (; window.filter < conv->filters; window.filter += window.filters) {
		window.filters = smaller(conv->filters - window.filter, TILE);
		conv->turn = conv->weights.turns;
		for (window.image = 0; window.image < conv->images; window.image++) {
			for (window.row = 0; window.row < conv->out_height;
			     window.row += window.rows) {
				window.rows = smaller(conv->out_height - window.row, conv->rows);
				emit_rows(conv, &window);
			}
		}
	}
}

static bool read_values(struct convolution *conv, struct trn_builder *builder, const double *values)
{
	uint32_t *const numbers[] = { &conv->images, &conv->channels, &conv->height,
				      &conv->width,  &conv->filters,  &conv->kernel,
				      &conv->stride, &conv->padding,  &conv->dtype };

	for (int i = 0; i <= DTYPE; i++)
		*numbers[i] = (uint32_t)values[i];
	conv->size = bytes_of(conv->dtype);
	conv->padded = conv->width + 2 * conv->padding;
	if (conv->kernel > conv->padded || conv->kernel > conv->height + 2 * conv->padding ||
	    conv->padding >= conv->kernel || conv->size == 1) {
		trn_builder_fail(builder,
				 "kernel is %u: at most the padded image, and larger than "
				 "padding; dtype is fp32, bf16 or fp16",
				 conv->kernel);
		return false;
	}
	conv->out_height = (conv->height + 2 * conv->padding - conv->kernel) / conv->stride + 1;
	conv->out_width = (conv->padded - conv->kernel) / conv->stride + 1;
	conv->columns = smaller(conv->out_width, PIXELS);
	conv->rows = smaller(conv->out_height, PIXELS / conv->columns);
	conv->in_rows = (conv->rows - 1) * conv->stride + conv->kernel;
	conv->tiles = divide_up(conv->channels, TILE);
	return true;
}

static void build(struct trn_builder *builder, const double *values)
{
	struct convolution conv = { 0 };
	uint32_t taps;

	if (!read_values(&conv, builder, values))
		return;
	taps = conv.tiles * conv.kernel * conv.kernel;
	pipeline_begin(&conv.pipeline, builder);
	banks_create(&conv.pipeline, PSUM_BANKS);
	conv.x = trn_builder_variable(
		builder, TRN_NEFF_INPUT, "x", conv.dtype, 4,
		(uint64_t[]){ conv.images, conv.channels, conv.height, conv.width });
	conv.w = trn_builder_variable(
		builder, TRN_NEFF_INPUT, "w", conv.dtype, 4,
		(uint64_t[]){ conv.kernel, conv.kernel, conv.channels, conv.filters });
	conv.y = trn_builder_variable(
		builder, TRN_NEFF_OUTPUT, "y", conv.dtype, 4,
		(uint64_t[]){ conv.images, conv.filters, conv.out_height, conv.out_width });
	conv.kept = taps <= WEIGHTS_MAX;
	pool_create(&conv.weights, &conv.pipeline, smaller(taps, WEIGHTS_MAX), TILE * conv.size);
	pool_create(&conv.in, &conv.pipeline, 2, conv.tiles * tile_size(&conv));
	pool_create(&conv.out, &conv.pipeline, 2, PIXELS * 4);
	emit_all(&conv);
}

const struct example example_convolution = {
	.name = "convolution",
	.help = "2-D; x is images × channels × height × width, w is kernel × kernel × channels × filters",
	.parameters = {
		{ "images", "", EXAMPLE_NUMBER, 1, 1, 65536 },
		{ "channels", "of x", EXAMPLE_NUMBER, 64, 1, 16384 },
		{ "height", "of x", EXAMPLE_NUMBER, 32, 1, 16384 },
		{ "width", "of x", EXAMPLE_NUMBER, 32, 1, 16384 },
		{ "filters", "channels of y", EXAMPLE_NUMBER, 64, 1, 65536 },
		{ "kernel", "its height and width", EXAMPLE_NUMBER, 3, 1, 31 },
		{ "stride", "from pixel to pixel", EXAMPLE_NUMBER, 1, 1, 31 },
		{ "padding", "zeros on each side", EXAMPLE_NUMBER, 1, 0, 30 },
		{ "dtype", "of all tensors: fp32, bf16 or fp16", EXAMPLE_DTYPE, TRN_DTYPE_BF16, 0, 0 },
	},
	.build = build,
};
