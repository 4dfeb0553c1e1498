/* SPDX-License-Identifier: MIT */
#include <hw/trn_regs.h>

#include "neff.h"

static const struct neff_dtype dtypes[] = {
	[TRN_DTYPE_FP32] = { "fp32", "<f4", 32 },
	[TRN_DTYPE_BF16] = { "bf16", "<V2", 16 },
	[TRN_DTYPE_FP16] = { "fp16", "<f2", 16 },
	[TRN_DTYPE_FP8_E4M3] = { "fp8_e4m3", "|V1", 8 },
	[TRN_DTYPE_FP8_E5M2] = { "fp8_e5m2", "|V1", 8 },
	[TRN_DTYPE_INT8] = { "int8", "|i1", 8 },
	[TRN_DTYPE_INT16] = { "int16", "<i2", 16 },
	[TRN_DTYPE_INT32] = { "int32", "<i4", 32 },
	[TRN_DTYPE_MXFP8] = { "mxfp8", "|V1", 8 },
	[TRN_DTYPE_FP4] = { "fp4", "|V1", 4 },
};

const struct neff_dtype *neff_dtype(uint32_t number)
{
	return number < sizeof(dtypes) / sizeof(dtypes[0]) ? &dtypes[number] : NULL;
}

const char *trn_neff_dtype_name(uint32_t dtype)
{
	return neff_dtype(dtype) ? neff_dtype(dtype)->name : NULL;
}

static const char *const kinds[] = {
	[TRN_NEFF_INPUT] = "input",
	[TRN_NEFF_OUTPUT] = "output",
	[TRN_NEFF_STATE_BUFFER] = "state-buffer",
	[TRN_NEFF_FILE] = "file",
	[TRN_NEFF_TMP_BUF] = "tmp-buf",
};

const char *trn_neff_kind_name(enum trn_neff_kind kind)
{
	return (size_t)kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind] : NULL;
}

static const char *const directions[] = {
	[TRN_NEFF_DATA] = "data",
	[TRN_NEFF_IN] = "in",
	[TRN_NEFF_OUT] = "out",
};

const char *neff_direction_name(enum trn_neff_direction direction)
{
	return (size_t)direction < sizeof(directions) / sizeof(directions[0])
		       ? directions[direction]
		       : NULL;
}
