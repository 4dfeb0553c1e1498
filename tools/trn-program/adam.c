/* SPDX-License-Identifier: MIT */
/*
 * A step of Adam (Kingma and Ba, 2015) for parameters that lie in a row.
 *
 * The moments m and v are state of the program, and so are 1 − β₁ᵗ and 1 − β₂ᵗ, which begin as 0
 * and become 1 − β + β × what they were in each execution.
 */
#include "example.h"
#include "pipeline.h"

enum {
	COUNT,
	RATE,
	BETA_1,
	BETA_2,
	EPSILON
};

#define VECTOR	  TRN_ENGINE_VECTOR
#define SCALAR	  TRN_ENGINE_SCALAR
#define STORER	  TRN_ENGINE_GPSIMD

#define ROW	  1024
#define ROW_SIZE  (ROW * 4)
#define TILE_SIZE (TRN_PARTITIONS * ROW_SIZE)
#define TENSORS	  4 /* p, gradient, m, v: in this order in a slot */
#define SLOTS	  3

enum {
	P,
	GRADIENT,
	FIRST,
	SECOND
};

struct adam {
	struct pipeline pipeline;
	uint32_t binding[TENSORS], result, corrections; /* bindings */
	struct pool in, out;				/* out: p, m, v, as in GRADIENT's place */
	struct trn_operand correction;			/* 1 − β₁ᵗ, 1 − β₂ᵗ, 1 / the second */
	float rate, beta[2], epsilon;
};

static struct trn_operand place(struct trn_operand base, uint32_t number)
{
	base.offset += number * ROW_SIZE;
	return base;
}

/* The corrections of this step, in all partitions; stored from one. */
static void emit_corrections(struct adam *adam)
{
	struct trn_builder *builder = adam->pipeline.builder;
	const struct trn_tile one = trn_tile(TRN_PARTITIONS, 1);
	uint32_t loaded = trn_builder_semaphore(builder);
	struct trn_operand inverse = adam->correction;

	trn_emit_load(builder, VECTOR, adam->pipeline.ring[0], trn_tile(TRN_PARTITIONS, 2),
		      adam->correction, trn_rows(adam->corrections, TRN_DTYPE_FP32, 0));
	trn_builder_release(builder, VECTOR, loaded, 1);
	trn_builder_acquire(builder, VECTOR, loaded, 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct trn_operand correction = adam->correction;

		correction.offset += 4 * i;
		trn_emit_tensor_scalar(builder, VECTOR, one, correction, correction,
				       TRN_ALU_MULTIPLY, trn_scalar(adam->beta[i]), TRN_ALU_ADD,
				       trn_scalar(1 - adam->beta[i]), NULL);
	}
	inverse.offset += 8;
	trn_emit_tensor_scalar(builder, VECTOR, one, inverse,
			       trn_sbuf(TRN_DTYPE_FP32, adam->correction.offset + 4),
			       TRN_ALU_REVERSE_DIVIDE, trn_scalar(1), TRN_ALU_BYPASS, trn_scalar(0),
			       NULL);
	hand_over(&adam->pipeline, VECTOR, STORER);
	trn_emit_store(builder, STORER, adam->pipeline.ring[0], trn_tile(1, 2), adam->correction,
		       trn_rows(adam->corrections, TRN_DTYPE_FP32, 0));
	hand_over(&adam->pipeline, VECTOR, SCALAR);
}

/* moment = β × moment + (1 − β) × term; term is lost. */
static void average(struct adam *adam, struct trn_tile tile, int number, struct trn_operand to,
		    struct trn_operand moment, struct trn_operand term)
{
	struct trn_builder *builder = adam->pipeline.builder;

	trn_emit_tensor_scalar(builder, VECTOR, tile, term, term, TRN_ALU_MULTIPLY,
			       trn_scalar(1 - adam->beta[number]), TRN_ALU_BYPASS, trn_scalar(0),
			       NULL);
	trn_emit_tensor_scalar(builder, VECTOR, tile, to, moment, TRN_ALU_MULTIPLY,
			       trn_scalar(adam->beta[number]), TRN_ALU_BYPASS, trn_scalar(0), NULL);
	trn_emit_tensor_tensor(builder, VECTOR, tile, TRN_ALU_ADD, to, to, term);
}

static void step(struct adam *adam, struct trn_tile tile, struct trn_operand in,
		 struct trn_operand out)
{
	struct trn_builder *builder = adam->pipeline.builder;
	struct trn_operand square = place(in, SECOND), inverse = adam->correction;
	const struct trn_operand root = place(out, GRADIENT);

	/* The square is needed before the gradient is lost. */
	trn_emit_tensor_tensor(builder, VECTOR, tile, TRN_ALU_MULTIPLY, root, place(in, GRADIENT),
			       place(in, GRADIENT));
	average(adam, tile, 0, place(out, FIRST), place(in, FIRST), place(in, GRADIENT));
	average(adam, tile, 1, place(out, SECOND), square, root);
	hand_over(&adam->pipeline, VECTOR, SCALAR);
	inverse.offset += 8;
	trn_emit_activate(builder, tile, TRN_FUNCTION_SQRT, root, place(out, SECOND),
			  trn_scalar_of_partition(), trn_scalar(0), &inverse);
	hand_over(&adam->pipeline, SCALAR, VECTOR);
	trn_emit_tensor_scalar(builder, VECTOR, tile, root, root, TRN_ALU_ADD,
			       trn_scalar(adam->epsilon), TRN_ALU_BYPASS, trn_scalar(0), NULL);
	trn_emit_tensor_scalar(builder, VECTOR, tile, place(in, FIRST), place(out, FIRST),
			       TRN_ALU_DIVIDE, trn_scalar_of_partition(), TRN_ALU_MULTIPLY,
			       trn_scalar(adam->rate), &adam->correction);
	trn_emit_tensor_tensor(builder, VECTOR, tile, TRN_ALU_DIVIDE, place(in, FIRST),
			       place(in, FIRST), root);
	trn_emit_tensor_tensor(builder, VECTOR, tile, TRN_ALU_SUBTRACT, place(out, P), place(in, P),
			       place(in, FIRST));
}

/* Loads, updates and stores a tile; @loop: at the engines' offset registers. */
static void emit_tile(struct adam *adam, struct trn_tile tile, int64_t offset,
		      uint32_t load_register, uint32_t store_register)
{
	const uint32_t results[TENSORS] = { adam->result, 0, adam->binding[FIRST],
					    adam->binding[SECOND] };
	uint32_t in = pool_fill(&adam->in), out;

	for (uint32_t i = 0; i < TENSORS; i++) {
		struct trn_slice slice = trn_rows(adam->binding[i], TRN_DTYPE_FP32, ROW_SIZE);

		slice.offset = offset;
		slice.offset_register = load_register;
		pool_load(&adam->in, tile,
			  place(trn_sbuf(TRN_DTYPE_FP32, pool_offset(&adam->in, in)), i), slice);
	}
	out = pool_reuse(&adam->out, VECTOR);
	pool_wait(&adam->in, in, VECTOR);
	step(adam, tile, trn_sbuf(TRN_DTYPE_FP32, pool_offset(&adam->in, in)),
	     trn_sbuf(TRN_DTYPE_FP32, pool_offset(&adam->out, out)));
	pool_free(&adam->in, VECTOR);
	for (uint32_t i = 0; i < TENSORS; i++) {
		struct trn_slice slice = trn_rows(results[i], TRN_DTYPE_FP32, ROW_SIZE);

		slice.offset = offset;
		slice.offset_register = store_register;
		if (i != GRADIENT)
			pool_store(&adam->out, VECTOR, STORER, out, tile,
				   place(trn_sbuf(TRN_DTYPE_FP32, pool_offset(&adam->out, out)), i),
				   slice);
	}
}

#define LOOP_ENGINES 4

/* SLOTS tiles in each turn of a loop, which all engines go through. */
static int64_t emit_loop(struct adam *adam, uint32_t turns)
{
	static const unsigned int engines[LOOP_ENGINES] = { LOADER, VECTOR, SCALAR, STORER };
	struct trn_builder *builder = adam->pipeline.builder;
	uint32_t label[LOOP_ENGINES], offset[LOOP_ENGINES];

	for (int i = 0; i < LOOP_ENGINES; i++) {
		label[i] = trn_builder_label(builder, engines[i]);
		offset[i] = trn_builder_register(builder, engines[i]);
		trn_builder_place_label(builder, label[i]);
	}
	for (int i = 0; i < SLOTS; i++)
		emit_tile(adam, trn_tile(TRN_PARTITIONS, ROW), (int64_t)i * TILE_SIZE, offset[0],
			  offset[3]);
	for (int i = 0; i < LOOP_ENGINES; i++) {
		trn_emit_move(builder, engines[i], offset[i], offset[i], SLOTS * TILE_SIZE);
		trn_emit_branch(builder, engines[i], offset[i], TRN_ALU_LESS, 0,
				(int64_t)turns * SLOTS * TILE_SIZE, label[i]);
	}
	return (int64_t)turns * SLOTS * TILE_SIZE;
}

static void declare(struct adam *adam, struct trn_builder *builder, const double *values)
{
	static const char *const names[TENSORS] = { "p", "gradient", "m", "v" };
	const uint64_t count = (uint64_t)values[COUNT], two = 2;

	for (int i = 0; i < TENSORS; i++)
		adam->binding[i] = trn_builder_variable(
			builder, i < FIRST ? TRN_NEFF_INPUT : TRN_NEFF_STATE_BUFFER, names[i],
			TRN_DTYPE_FP32, 1, &count);
	adam->corrections = trn_builder_variable(builder, TRN_NEFF_STATE_BUFFER, "corrections",
						 TRN_DTYPE_FP32, 1, &two);
	adam->result =
		trn_builder_variable(builder, TRN_NEFF_OUTPUT, "p_new", TRN_DTYPE_FP32, 1, &count);
	adam->rate = (float)values[RATE];
	adam->beta[0] = (float)values[BETA_1];
	adam->beta[1] = (float)values[BETA_2];
	adam->epsilon = (float)values[EPSILON];
}

static void build(struct trn_builder *builder, const double *values)
{
	uint32_t count = (uint32_t)values[COUNT], rows = count / ROW;
	uint32_t turns = rows / (SLOTS * TRN_PARTITIONS);
	struct adam adam = { 0 };
	int64_t offset = 0;

	pipeline_begin(&adam.pipeline, builder);
	declare(&adam, builder, values);
	pool_create(&adam.in, &adam.pipeline, SLOTS, TENSORS * ROW_SIZE);
	pool_create(&adam.out, &adam.pipeline, SLOTS, TENSORS * ROW_SIZE);
	adam.correction = trn_sbuf(TRN_DTYPE_FP32, trn_builder_sbuf(builder, 12));
	emit_corrections(&adam);
	/* Slots are free before the first turn as after each. */
	if (turns) {
		trn_emit_nop(builder, VECTOR);
		trn_builder_release(builder, VECTOR, adam.in.freed, SLOTS);
		adam.in.turns = adam.out.turns = SLOTS;
		for (int i = 0; i < SLOTS; i++) {
			unsigned int pieces = TRN_ISA_DMA_RINGS * (TENSORS - 1);

			adam.out.pieces[i] = pieces;
			trn_emit_nop(builder, STORER);
			trn_builder_release(builder, STORER, adam.out.moved[i], pieces);
		}
		offset = emit_loop(&adam, turns);
		rows -= turns * SLOTS * TRN_PARTITIONS;
	}
	for (; rows; offset += TILE_SIZE) {
		uint32_t part = smaller(rows, TRN_PARTITIONS);

		emit_tile(&adam, trn_tile(part, ROW), offset, 0, 0);
		rows -= part;
	}
	if (count % ROW)
		emit_tile(&adam, trn_tile(1, count % ROW), (int64_t)(count / ROW) * ROW_SIZE, 0, 0);
}

const struct example example_adam = {
	.name = "adam",
	.help = "a step of Adam: p_new from p and its gradient; moments are state",
	.parameters = {
		{ "count", "parameters", EXAMPLE_NUMBER, 65536, 1, 1 << 30 },
		{ "rate", "of learning", EXAMPLE_REAL, 1e-3, 0, 1 },
		{ "beta1", "of the first moment", EXAMPLE_REAL, 0.9, 0, 0.9999999 },
		{ "beta2", "of the second moment", EXAMPLE_REAL, 0.999, 0, 0.9999999 },
		{ "epsilon", "keeps the quotient from infinity", EXAMPLE_REAL, 1e-8, 1e-30, 1 },
	},
	.build = build,
};
