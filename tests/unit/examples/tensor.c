// SPDX-License-Identifier: MIT
#include "tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vdev/model/core/dtype.h"

double unit_of(uint32_t dtype)
{
	switch (dtype) {
	case TRN_DTYPE_FP32:
		return 0x1p-24;
	case TRN_DTYPE_BF16:
		return 0x1p-8;
	case TRN_DTYPE_FP16:
		return 0x1p-11;
	default:
		ck_abort_msg("no results of type %u", dtype);
	}
}

double least_of(uint32_t dtype)
{
	return dtype == TRN_DTYPE_FP16 ? 0x1p-24 : 0x1p-126;
}

static const struct trn_neff_variable *variable(const struct run *run, const char *name)
{
	const struct trn_neff_core *core = &run->neff->cores[0];

	for (uint32_t i = 0; i < core->num_variables; i++) {
		if (!strcmp(core->variables[i].name, name))
			return &core->variables[i];
	}
	ck_abort_msg("the program has no %s", name);
}

static size_t elements(const struct trn_neff_variable *tensor)
{
	size_t count = 1;

	for (uint32_t i = 0; i < tensor->dimensions; i++)
		count *= tensor->shape[i];
	return count;
}

void tensor_fill(const struct run *run, const char *name, double low, double high)
{
	const struct trn_neff_variable *tensor = variable(run, name);
	const struct trn_dtype *dtype = trn_dtype(
		(uint8_t)(tensor->dtype == TRN_DTYPE_MXFP8 ? TRN_DTYPE_FP8_E4M3 : tensor->dtype));
	uint8_t *memory = run_tensor(run, name);
	size_t count = elements(tensor);

	for (size_t i = 0; i < count; i++) {
		float value = (float)(low + (high - low) * (double)(rig_random() >> 11) * 0x1p-53);
		int32_t integer = (int32_t)lrintf(value);

		if (dtype->integer)
			dtype->store_int(memory + i * dtype->size, 0, &integer, 1);
		else
			dtype->store(memory + i * dtype->size, 0, &value, NULL, 1);
	}
}

double *tensor_read(const struct run *run, const char *name)
{
	const struct trn_neff_variable *tensor = variable(run, name);
	const struct trn_dtype *dtype = trn_dtype(
		(uint8_t)(tensor->dtype == TRN_DTYPE_MXFP8 ? TRN_DTYPE_FP8_E4M3 : tensor->dtype));
	const uint8_t *memory = run_tensor(run, name);
	size_t count = elements(tensor);
	double *numbers = malloc(count * sizeof(*numbers));

	ck_assert_ptr_nonnull(numbers);
	for (size_t i = 0; i < count; i++) {
		int32_t integer;
		float value;

		if (dtype->integer) {
			dtype->load_int(&integer, memory + i * dtype->size, 0, 1);
			numbers[i] = integer;
		} else {
			dtype->load(&value, memory + i * dtype->size, 0, 1);
			numbers[i] = (double)value;
		}
	}
	return numbers;
}

void compare(struct worst *worst, size_t index, double result, double exact, double bound)
{
	double error = fabs(result - exact);

	ck_assert_msg(error <= bound, "element %zu is %.9g, not %.9g: error %.3g, bound %.3g",
		      index, result, exact, error, bound);
	if (worst->error < error)
		worst->error = error;
	if (bound > 0 && worst->in_bound < error / bound)
		worst->in_bound = error / bound;
}

void report(const struct run *run, const struct example *example, const double *values,
	    const char *generation, const struct worst *worst)
{
	printf("%s on %s:", example->name, generation);
	for (int i = 0; i < EXAMPLE_PARAMETERS_MAX && example->parameters[i].name; i++) {
		if (example->parameters[i].kind == EXAMPLE_DTYPE)
			printf(" %s", trn_neff_dtype_name((uint32_t)values[i]));
		else
			printf(" %s=%.9g", example->parameters[i].name, values[i]);
	}
	printf(": error %.3g, %.3f of its bound; %.1f us modelled\n", worst->error, worst->in_bound,
	       (double)run->picoseconds * 1e-6);
}
