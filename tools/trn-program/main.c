/* SPDX-License-Identifier: MIT */
/* trn-program: writes the examples as .neff files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trn/trn.h>

#include "example.h"

enum {
	EXIT_OK = 0,
	EXIT_OTHER = 1,
	EXIT_USAGE = 2
};

static void print_standard(const struct example_parameter *parameter)
{
	if (parameter->kind == EXAMPLE_DTYPE)
		printf(" (%s)\n", trn_neff_dtype_name((uint32_t)parameter->standard));
	else
		printf(" (%.12g)\n", parameter->standard);
}

static int print_help(void)
{
	printf("Usage: trn-program PROGRAM [--PARAMETER VALUE]... -o FILE\n\n"
	       "Writes a program for NeuronCores to FILE, a .neff file.\n\n"
	       "Programs, their parameters, and the values that these have if not given:\n");
	for (int i = 0; examples[i]; i++) {
		const struct example_parameter *parameter = examples[i]->parameters;

		printf("  %s\n      %s\n", examples[i]->name, examples[i]->help);
		for (int n = 0; n < EXAMPLE_PARAMETERS_MAX && parameter[n].name; n++) {
			printf("      --%-10s %s", parameter[n].name, parameter[n].help);
			print_standard(&parameter[n]);
		}
	}
	printf("\nTypes: ");
	for (uint32_t i = 0; trn_neff_dtype_name(i); i++)
		printf("%s%s", i ? ", " : "", trn_neff_dtype_name(i));
	printf("\n\nOptions:\n  -o FILE  the file to write\n  --help   write this text\n\n"
	       "Exit codes:\n  %d  success\n  %d  the file cannot be written\n"
	       "  %d  wrong arguments\n",
	       EXIT_OK, EXIT_OTHER, EXIT_USAGE);
	return fflush(stdout) || ferror(stdout) ? EXIT_OTHER : EXIT_OK;
}

static int usage(const char *what, const char *argument, const char *expected)
{
	fprintf(stderr, "trn-program: %s%s: expected %s, see --help\n", what, argument, expected);
	return EXIT_USAGE;
}

static bool read_value(const struct example_parameter *parameter, const char *text, double *value)
{
	char *end;

	if (parameter->kind == EXAMPLE_DTYPE) {
		for (uint32_t i = 0; trn_neff_dtype_name(i); i++) {
			*value = i;
			if (!strcmp(text, trn_neff_dtype_name(i)))
				return true;
		}
		return false;
	}
	*value = strtod(text, &end);
	return end != text && !*end;
}

/* The parameter's number, or -1. */
static int find_parameter(const struct example *example, const char *name)
{
	for (int i = 0; i < EXAMPLE_PARAMETERS_MAX && example->parameters[i].name; i++)
		if (!strcmp(example->parameters[i].name, name))
			return i;
	return -1;
}

static int write_file(const struct trn_neff *neff, const char *path)
{
	uint64_t size;
	void *bytes;
	FILE *file;
	bool written;

	if (trn_neff_write(neff, &bytes, &size)) {
		fprintf(stderr, "trn-program: %s\n", trn_error_message());
		return EXIT_OTHER;
	}
	file = fopen(path, "wb");
	written = file && fwrite(bytes, 1, size, file) == size;
	if (file && fclose(file))
		written = false;
	free(bytes);
	if (written)
		return EXIT_OK;
	fprintf(stderr, "trn-program: %s: cannot be written: %s\n", path, strerror(errno));
	return EXIT_OTHER;
}

static int write_example(const struct example *example, const double *values, const char *path)
{
	const struct trn_neff *neff;
	struct trn_builder *builder;
	int status, error = example_build(example, values, &builder, &neff);

	if (error) {
		fprintf(stderr, "trn-program: %s\n", trn_error_message());
		return error == -EINVAL ? EXIT_USAGE : EXIT_OTHER;
	}
	status = write_file(neff, path);
	trn_builder_destroy(builder);
	return status;
}

static int run(const struct example *example, int count, char **arguments)
{
	double values[EXAMPLE_PARAMETERS_MAX];
	const char *path = NULL;

	for (int i = 0; i < EXAMPLE_PARAMETERS_MAX; i++)
		values[i] = example->parameters[i].standard;
	for (int i = 0; i < count; i += 2) {
		const char *name = arguments[i];
		int parameter = strncmp(name, "--", 2) ? -1 : find_parameter(example, name + 2);

		if (parameter < 0 && strcmp(name, "-o"))
			return usage("unknown argument ", name,
				     "--PARAMETER of the program, or -o");
		if (i + 1 == count)
			return usage("no value after ", name, "one");
		if (parameter < 0)
			path = arguments[i + 1];
		else if (!read_value(&example->parameters[parameter], arguments[i + 1],
				     &values[parameter]))
			return usage("bad value ", arguments[i + 1],
				     example->parameters[parameter].kind == EXAMPLE_DTYPE
					     ? "a type, such as bf16"
					     : "a number");
	}
	if (!path)
		return usage("no file", "", "-o FILE");
	return write_example(example, values, path);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return print_help();
	if (argc < 2)
		return usage("no program", "",
			     "trn-program PROGRAM [--PARAMETER VALUE]... -o FILE");
	for (int i = 0; examples[i]; i++)
		if (!strcmp(examples[i]->name, argv[1]))
			return run(examples[i], argc - 2, argv + 2);
	return usage("unknown program ", argv[1], "a program");
}
