/* SPDX-License-Identifier: MIT */
/*
 * Programs for NeuronCores, made by libtrn's builder.
 *
 * Each is a table of parameters and a function that emits the program for their values.  They show
 * how engines work together, and are what the tests of the instruction set's models run.
 */
#ifndef TRN_EXAMPLES_EXAMPLE_H
#define TRN_EXAMPLES_EXAMPLE_H

#include <trn/trn_builder.h>

#define EXAMPLE_PARAMETERS_MAX 10

enum example_kind {
	EXAMPLE_NUMBER, /* an integer */
	EXAMPLE_DTYPE,	/* a type of elements, TRN_DTYPE_* */
	EXAMPLE_REAL,
};

struct example_parameter {
	const char *name;
	const char *help;
	enum example_kind kind;
	double standard, least, most;
};

struct example {
	const char *name;
	const char *help;
	struct example_parameter parameters[EXAMPLE_PARAMETERS_MAX];
	/* Emits the program; values are in the order of parameters. */
	void (*build)(struct trn_builder *builder, const double *values);
};

/* All examples; the end has no name. */
extern const struct example *const examples[];

/*
 * Makes the example's program with these values, which are checked: 0, with *builder to be
 * destroyed when *neff is not needed any more, or negative errno with trn_error_message().
 */
int example_build(const struct example *example, const double *values, struct trn_builder **builder,
		  const struct trn_neff **neff);

extern const struct example example_matmul, example_matmul_naive, example_softmax,
	example_layer_norm, example_mlp, example_convolution, example_attention, example_adam;

#endif /* TRN_EXAMPLES_EXAMPLE_H */
