// SPDX-License-Identifier: MIT
/* LOAD_STATIONARY, MATMUL, TRANSPOSE.  Products are BLAS's. */
#include <cblas.h>
#include <endian.h>
#include <string.h>

#include <hw/trn_regs.h>

#include "../state.h"
#include "execute.h"
#include "float_format.h"

#define PACK_MX	     4
#define PACK_FP8     2

/* About how long this host takes: terms of a sum, and elements converted, in a ns. */
#define TERMS_PER_NS 16
#define LOADS_PER_NS 1

#define FP32_CYCLES  4 /* for each column */

struct matrix {
	struct trn_shape shape;
	struct trn_pattern in, scale;
	unsigned int columns, pack;
};

static bool is_mx(uint8_t dtype)
{
	return dtype == TRN_DTYPE_MXFP8 || dtype == TRN_DTYPE_FP4;
}

static bool is_fp8(uint8_t dtype)
{
	return dtype == TRN_DTYPE_FP8_E4M3 || dtype == TRN_DTYPE_FP8_E5M2;
}

static bool check_dtype(struct trn_core *core, const struct trn_instruction *instruction)
{
	uint8_t dtype = instruction->tensor.in.dtype, pack = instruction->tensor.pack;
	bool packs = core->chip->config.generation->tensor_packs_fp8;

	if (dtype == TRN_DTYPE_INT16 || dtype == TRN_DTYPE_INT32)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	if (is_mx(dtype) ? pack != PACK_MX || instruction->tensor.rows % (TRN_MX_BLOCK / PACK_MX)
			 : pack != 1 && !(pack == PACK_FP8 && is_fp8(dtype) && packs))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return true;
}

static bool find_scales(struct trn_core *core, const struct trn_instruction *instruction,
			struct matrix *matrix)
{
	struct trn_shape shape = matrix->shape;

	if (!is_mx(instruction->tensor.in.dtype))
		return trn_pattern_absent(&instruction->tensor.scale) ||
		       trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	if (instruction->tensor.scale.dtype != TRN_DTYPE_INT8)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	shape.partitions = matrix->shape.partitions * PACK_MX / TRN_MX_BLOCK;
	return trn_pattern_read(core, &instruction->tensor.scale, &shape, 1, &matrix->scale);
}

/* A matrix in SBUF, partitions along the contraction. */
static bool find_matrix(struct trn_core *core, const struct trn_instruction *instruction,
			unsigned int most_columns, struct matrix *matrix)
{
	if (!trn_shape_read(core, instruction->tensor.rows, instruction->tensor.size,
			    &matrix->shape) ||
	    !check_dtype(core, instruction))
		return false;
	matrix->columns = (unsigned int)trn_shape_elements(&matrix->shape);
	matrix->pack = instruction->tensor.pack;
	if (matrix->columns > most_columns ||
	    le32toh(instruction->tensor.in.place) & TRN_PLACE_PSUM)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return trn_pattern_read(core, &instruction->tensor.in, &matrix->shape, matrix->pack,
				&matrix->in) &&
	       find_scales(core, instruction, matrix);
}

/* FP32, and the elements of each partition are side by side: BLAS can use them where they are. */
static bool is_dense(const struct trn_shape *shape, const struct trn_pattern *pattern)
{
	ptrdiff_t step = sizeof(float);

	if (pattern->dtype != trn_dtype(TRN_DTYPE_FP32))
		return false;
	for (int i = 0; i < 3; i++) {
		if (shape->size[i] > 1 && pattern->step[i] != step)
			return false;
		step *= shape->size[i];
	}
	return true;
}

/* Row (r; …, j, k) of a matrix as FP32: values of term e at to + e × columns. */
static void load_row(const struct matrix *matrix, struct trn_row row, float *to)
{
	unsigned int count = matrix->shape.size[0], per = row.dtype->elements;
	float pairs[2 * TRN_MOVING_COLUMNS];

	for (unsigned int e = 0; e < matrix->pack; e += per) {
		const uint8_t *at = row.at + e / per * row.dtype->size;

		if (per == 1) {
			row.dtype->load(to + e * matrix->columns, at, row.step, count);
			continue;
		}
		row.dtype->load(pairs, at, row.step, count * 2);
		for (unsigned int i = 0; i < count; i++) {
			to[e * matrix->columns + i] = pairs[2 * i];
			to[(e + 1) * matrix->columns + i] = pairs[2 * i + 1];
		}
	}
}

static void scale_row(const struct matrix *matrix, struct trn_row row, float *to)
{
	for (unsigned int i = 0; i < matrix->shape.size[0]; i++) {
		float scale = trn_mx_scale(row.at[(ptrdiff_t)i * row.step]);

		for (unsigned int e = 0; e < PACK_MX; e++)
			to[e * matrix->columns + i] *= scale;
	}
}

static void load_matrix(struct trn_core *core, const struct matrix *matrix, float *values)
{
	const struct trn_shape *shape = &matrix->shape;

	for (unsigned int r = 0; r < shape->partitions; r++) {
		float *to = values + (size_t)r * matrix->pack * matrix->columns;

		for (unsigned int k = 0; k < shape->size[2]; k++) {
			for (unsigned int j = 0; j < shape->size[1]; j++) {
				load_row(matrix, trn_pattern_row(&matrix->in, r, j, k), to);
				if (matrix->scale.dtype)
					scale_row(matrix,
						  trn_pattern_row(&matrix->scale,
								  r * PACK_MX / TRN_MX_BLOCK, j, k),
						  to);
				to += shape->size[0];
			}
		}
	}
	core->work += (uint64_t)shape->partitions * matrix->pack * matrix->columns / LOADS_PER_NS;
}

bool trn_prepare_stationary(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_stationary *stationary = &core->stationary;
	struct matrix matrix = { 0 };

	if (!find_matrix(core, instruction, TRN_STATIONARY_COLUMNS, &matrix))
		return false;
	if (!trn_pattern_absent(&instruction->tensor.out))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	load_matrix(core, &matrix, stationary->values);
	stationary->loaded = true;
	stationary->rows = instruction->tensor.rows;
	stationary->columns = (uint8_t)matrix.columns;
	stationary->pack = instruction->tensor.pack;
	stationary->dtype = instruction->tensor.in.dtype;
	core->execution.cycles += instruction->tensor.rows / 2;
	return true;
}

/* ---- MATMUL ---------------------------------------------------------------------- */

static bool fits_stationary(struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct trn_stationary *stationary = &core->stationary;
	uint8_t dtype = instruction->tensor.in.dtype;

	return (stationary->loaded && stationary->rows == instruction->tensor.rows &&
		stationary->pack == instruction->tensor.pack &&
		(stationary->dtype == dtype || (is_fp8(stationary->dtype) && is_fp8(dtype)))) ||
	       trn_core_raise(core, TRN_EXCEPTION_NO_STATIONARY);
}

/* The places of the sums: in one bank of PSUM, partitions are columns of the stationary. */
static bool find_sums(struct trn_core *core, const struct trn_instruction *instruction,
		      const struct matrix *matrix, struct trn_pattern *out)
{
	bool integer = instruction->tensor.in.dtype == TRN_DTYPE_INT8;
	struct trn_shape shape = matrix->shape;
	size_t low, high;

	shape.partitions = core->stationary.columns;
	if (!(le32toh(instruction->tensor.out.place) & TRN_PLACE_PSUM))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	if (instruction->tensor.out.dtype != (integer ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	if (!trn_pattern_read(core, &instruction->tensor.out, &shape, 1, out))
		return false;
	low = high = (size_t)(out->base - core->psum) % out->partition_stride;
	for (int i = 0; i < 3; i++) {
		if (out->step[i] < 0)
			low -= (size_t)(-out->step[i]) * (shape.size[i] - 1);
		else
			high += (size_t)out->step[i] * (shape.size[i] - 1);
	}
	return low / TRN_PSUM_BANK_SIZE == high / TRN_PSUM_BANK_SIZE ||
	       trn_core_raise(core, TRN_EXCEPTION_OUT_OF_RANGE);
}

static int32_t saturate(int64_t value)
{
	return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static void write_float(uint8_t *at, float sum, bool accumulate)
{
	float value;

	if (accumulate) {
		memcpy(&value, at, sizeof(value));
		sum += value;
	}
	if (sum != sum)
		sum = trn_float_of_bits(TRN_FP32_NAN);
	memcpy(at, &sum, sizeof(sum));
}

/* INT8's sums of 128 products are exact in FP32. */
static void write_int(uint8_t *at, float sum, bool accumulate)
{
	int32_t value = 0;

	if (accumulate)
		memcpy(&value, at, sizeof(value));
	value = saturate((int64_t)value + (int64_t)sum);
	memcpy(at, &value, sizeof(value));
}

static void write_sums(const struct trn_core *core, const struct matrix *matrix,
		       const struct trn_pattern *out, bool accumulate)
{
	const float *sum = core->sums;

	for (unsigned int m = 0; m < core->stationary.columns; m++) {
		for (unsigned int k = 0; k < matrix->shape.size[2]; k++) {
			for (unsigned int j = 0; j < matrix->shape.size[1]; j++) {
				struct trn_row row = trn_pattern_row(out, m, j, k);

				for (unsigned int i = 0; i < matrix->shape.size[0]; i++) {
					uint8_t *at = row.at + (ptrdiff_t)i * row.step;

					if (out->dtype->integer)
						write_int(at, *sum++, accumulate);
					else
						write_float(at, *sum++, accumulate);
				}
			}
		}
	}
}

/* A matrix by rows, for BLAS. */
struct rows {
	float *values;
	int stride; /* floats between rows */
};

static struct rows rows_of(const struct trn_pattern *pattern)
{
	return (struct rows){ (float *)pattern->base,
			      (int)(pattern->partition_stride / sizeof(float)) };
}

static void set_canonical_nans(struct rows sums, unsigned int m, unsigned int n)
{
	for (unsigned int i = 0; i < m; i++) {
		float *row = sums.values + (size_t)i * (size_t)sums.stride;
		unsigned int nans = 0;

		/* Two at a time: all but the fewest products have none. */
		for (unsigned int j = 0; j < n - n / 2; j++)
			nans += __builtin_isunordered(row[j], row[j + n / 2]) != 0;
		for (unsigned int j = 0; nans && j < n; j++) {
			if (row[j] != row[j])
				row[j] = trn_float_of_bits(TRN_FP32_NAN);
		}
	}
}

static void multiply(const struct trn_stationary *stationary, struct rows moving, unsigned int n,
		     bool accumulate, struct rows sums)
{
	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, stationary->columns, (int)n,
		    stationary->rows * stationary->pack, 1, stationary->values, stationary->columns,
		    moving.values, moving.stride, accumulate, sums.values, sums.stride);
}

bool trn_prepare_matmul(struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct trn_stationary *stationary = &core->stationary;
	bool accumulate = instruction->flags & TRN_FLAG_ACCUMULATE;
	struct matrix matrix = { 0 };
	struct trn_pattern out;
	struct rows moving;
	unsigned int n;

	if (!find_matrix(core, instruction, TRN_MOVING_COLUMNS, &matrix) ||
	    !fits_stationary(core, instruction) || !find_sums(core, instruction, &matrix, &out))
		return false;
	n = matrix.columns;
	moving = (struct rows){ core->moving, (int)n };
	if (is_dense(&matrix.shape, &matrix.in))
		moving = rows_of(&matrix.in);
	else
		load_matrix(core, &matrix, core->moving);
	if (is_dense(&matrix.shape, &out)) {
		multiply(stationary, moving, n, accumulate, rows_of(&out));
		set_canonical_nans(rows_of(&out), stationary->columns, n);
	} else {
		multiply(stationary, moving, n, false, (struct rows){ core->sums, (int)n });
		write_sums(core, &matrix, &out, accumulate);
	}
	core->work += (uint64_t)stationary->columns * n * stationary->rows * stationary->pack /
		      TERMS_PER_NS;
	core->execution.cycles +=
		n * (instruction->tensor.in.dtype == TRN_DTYPE_FP32 ? FP32_CYCLES : 1);
	return true;
}

/* ---- TRANSPOSE -------------------------------------------------------------------- */

static bool find_transposed(struct trn_core *core, const struct trn_instruction *instruction,
			    struct trn_shape *shape, struct trn_pattern *in,
			    struct trn_pattern *out)
{
	struct trn_shape transposed = { 0, { instruction->tensor.rows, 1, 1 } };

	if (!trn_shape_read(core, instruction->tensor.rows, instruction->tensor.size, shape))
		return false;
	transposed.partitions = (unsigned int)trn_shape_elements(shape);
	if (transposed.partitions > TRN_PARTITIONS || instruction->tensor.pack != 1 ||
	    !(le32toh(instruction->tensor.out.place) & TRN_PLACE_PSUM) ||
	    le32toh(instruction->tensor.in.place) & TRN_PLACE_PSUM ||
	    !trn_pattern_absent(&instruction->tensor.scale))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	if (instruction->tensor.in.dtype == TRN_DTYPE_FP4 ||
	    instruction->tensor.in.dtype != instruction->tensor.out.dtype)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	return trn_pattern_read(core, &instruction->tensor.in, shape, 1, in) &&
	       trn_pattern_read(core, &instruction->tensor.out, &transposed, 1, out);
}

bool trn_prepare_transpose(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_pattern in, out;
	struct trn_shape shape;
	unsigned int n = 0;

	if (!find_transposed(core, instruction, &shape, &in, &out))
		return false;
	for (unsigned int r = 0; r < shape.partitions; r++) {
		n = 0;
		for (unsigned int k = 0; k < shape.size[2]; k++) {
			for (unsigned int j = 0; j < shape.size[1]; j++) {
				struct trn_row row = trn_pattern_row(&in, r, j, k);

				for (unsigned int i = 0; i < shape.size[0]; i++, n++)
					memcpy(trn_pattern_row(&out, n, 0, 0).at +
						       (ptrdiff_t)r * out.step[0],
					       row.at + (ptrdiff_t)i * row.step, in.dtype->size);
			}
		}
	}
	core->stationary.loaded = false;
	core->work += (uint64_t)shape.partitions * n;
	core->execution.cycles +=
		n * (instruction->tensor.in.dtype == TRN_DTYPE_FP32 ? FP32_CYCLES : 1);
	return true;
}
