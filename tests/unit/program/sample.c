/* SPDX-License-Identifier: MIT */
#include "sample.h"

const struct trn_instruction sample_vector[2] = {
	{
		.opcode = TRN_OP_COPY,
		.element = { .partitions = 1,
			     .size = { 1, 1, 1 },
			     .out = { .dtype = TRN_DTYPE_BF16 } },
	},
	{ .opcode = TRN_OP_HALT },
};
const struct trn_instruction sample_sync[1] = { { .opcode = TRN_OP_HALT } };
const float sample_weights[4] = { 1, 2, 3, 4 };
static const float other_weights[4] = { 5, 6, 7, 8 };

static const struct trn_neff_variable variables[SAMPLE_VARIABLES] = {
	[SAMPLE_X] = { "x", 10, TRN_NEFF_INPUT, TRN_DTYPE_BF16, 2, { 2, 3 }, 12, 64, NULL },
	[SAMPLE_W] = { "w", 11, TRN_NEFF_FILE, TRN_DTYPE_FP32, 1, { 4 }, 16, 512, sample_weights },
	[SAMPLE_Y] = { "y", 12, TRN_NEFF_OUTPUT, TRN_DTYPE_FP32, 1, { 5 }, 20, 4, NULL },
	[SAMPLE_COUNT] = { "count",
			   13,
			   TRN_NEFF_STATE_BUFFER,
			   TRN_DTYPE_INT32,
			   0,
			   { 0 },
			   4,
			   4,
			   NULL },
	[SAMPLE_T] = { "t", 14, TRN_NEFF_TMP_BUF, TRN_DTYPE_INT8, 1, { 100 }, 100, 1 << 21, NULL },
};

static const struct trn_neff_core core = {
	.streams = {
		[TRN_ENGINE_VECTOR] = { sample_vector, 2 },
		[TRN_ENGINE_SYNC] = { sample_sync, 1 },
	},
	.variables = variables,
	.num_variables = SAMPLE_VARIABLES,
};

const struct trn_neff sample_single = {
	.name = "single",
	.build_version = "by hand",
	.uuid = { 1, 2, 3 },
	.cores = &core,
	.num_cores = 1,
};

static const struct trn_neff_variable first_variables[] = {
	{ "x", 1, TRN_NEFF_INPUT, TRN_DTYPE_FP32, 1, { 2 }, 8, 4, NULL },
	{ "sum", 2, TRN_NEFF_STATE_BUFFER, TRN_DTYPE_FP32, 1, { 8 }, 32, 4, NULL },
	{ "w", 3, TRN_NEFF_FILE, TRN_DTYPE_FP32, 1, { 4 }, 16, 4, sample_weights },
};

static const struct trn_neff_variable second_variables[] = {
	{ "w", 1, TRN_NEFF_FILE, TRN_DTYPE_FP32, 1, { 4 }, 16, 4, other_weights },
	{ "y", 2, TRN_NEFF_OUTPUT, TRN_DTYPE_FP32, 1, { 2 }, 8, 4, NULL },
	{ "sum", 3, TRN_NEFF_STATE_BUFFER, TRN_DTYPE_FP32, 1, { 8 }, 32, 8192, NULL },
};

static const struct trn_neff_core cores[2] = {
	{
		.streams = { [TRN_ENGINE_SYNC] = { sample_sync, 1 } },
		.variables = first_variables,
		.num_variables = 3,
	},
	{
		.streams = { [TRN_ENGINE_VECTOR] = { sample_vector, 2 } },
		.variables = second_variables,
		.num_variables = 3,
	},
};

const struct trn_neff sample_double = {
	.name = "double",
	.build_version = "by hand",
	.cores = cores,
	.num_cores = 2,
};
