/* SPDX-License-Identifier: MIT */
/* The list of examples, and their values. */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "example.h"

const struct example *const examples[] = {
	&example_matmul,     &example_matmul_naive, &example_softmax,
	&example_layer_norm, &example_mlp,	    &example_convolution,
	&example_attention,  &example_adam,	    NULL,
};

static void check_value(struct trn_builder *builder, const struct example_parameter *parameter,
			double value)
{
	if (parameter->kind == EXAMPLE_DTYPE) {
		if (!trn_neff_dtype_name((uint32_t)value))
			trn_builder_fail(builder, "%s: there is no type %g", parameter->name,
					 value);
		return;
	}
	if (!(value >= parameter->least && value <= parameter->most) ||
	    (parameter->kind == EXAMPLE_NUMBER && value != floor(value)))
		trn_builder_fail(builder, "%s is %.12g, must be %.12g to %.12g", parameter->name,
				 value, parameter->least, parameter->most);
}

int example_build(const struct example *example, const double *values, struct trn_builder **builder,
		  const struct trn_neff **neff)
{
	int error = trn_builder_create(example->name, 0, builder);

	if (error)
		return error;
	for (int i = 0; i < EXAMPLE_PARAMETERS_MAX && example->parameters[i].name; i++)
		check_value(*builder, &example->parameters[i], values[i]);
	example->build(*builder, values);
	error = trn_builder_finish(*builder, neff);
	if (error)
		trn_builder_destroy(*builder);
	return error;
}
