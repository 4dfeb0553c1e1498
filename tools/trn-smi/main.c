/* SPDX-License-Identifier: MIT */
/*
 * trn-smi: look at the accelerators of this machine.
 *
 * Only data goes to stdout, and always one whole document; what is wrong goes to stderr.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trn/trn.h>

#include "model.h"
#include "render.h"

/* Exit codes; where nvidia-smi has the like, its number. */
enum {
	EXIT_OK = 0,
	EXIT_OTHER = 1,
	EXIT_USAGE = 2,
	EXIT_NO_DRIVER = 9,
};

struct command {
	const char *name;
	const char *help;
	int (*run)(const struct smi_renderer *renderer);
};

static int finish(int error)
{
	if (!error && !fflush(stdout) && !ferror(stdout))
		return EXIT_OK;
	fprintf(stderr, "trn-smi: output could not be written: %s\n",
		strerror(error ? -error : errno));
	return EXIT_OTHER;
}

static int run_list(const struct smi_renderer *renderer)
{
	struct smi_model model = { 0 };
	const char *text = NULL;
	int error, status = EXIT_OK;

	error = smi_model_read(&model, &text);
	if (error == -ENODEV) {
		text = "the driver is not loaded (modprobe trn)";
		status = EXIT_NO_DRIVER;
	} else if (error) {
		status = EXIT_OTHER;
	}
	if (error)
		fprintf(stderr, "trn-smi: %s\n", text);

	error = finish(renderer->list(stdout, &model, text));
	smi_model_clear(&model);
	return error ? error : status;
}

static int run_version(const struct smi_renderer *renderer)
{
	return finish(renderer->version(stdout, LIBTRN_VERSION));
}

static const struct command commands[] = {
	{ "list", "the accelerators: one line, or one object, for each", run_list },
	{ "version", "the version of this program", run_version },
};

static const struct {
	const char *name;
	const char *help;
} options[] = {
	{ "--json", "write a JSON document instead of text" },
	{ "--help", "write this text" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void print_help(void)
{
	size_t i;

	printf("Usage: trn-smi COMMAND [OPTION]...\n\nCommands:\n");
	for (i = 0; i < COUNT(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	printf("\nOptions:\n");
	for (i = 0; i < COUNT(options); i++)
		printf("  %-10s %s\n", options[i].name, options[i].help);
	printf("\nNo privileges are needed. Exit codes:\n"
	       "  %-3d success; also when there is no accelerator\n"
	       "  %-3d another failure\n"
	       "  %-3d wrong arguments\n"
	       "  %-3d the driver is not loaded\n",
	       EXIT_OK, EXIT_OTHER, EXIT_USAGE, EXIT_NO_DRIVER);
}

static int usage(const char *text, const char *argument)
{
	fprintf(stderr, "trn-smi: %s%s: expected trn-smi {", text, argument);
	for (size_t i = 0; i < COUNT(commands); i++)
		fprintf(stderr, "%s%s", i ? "|" : "", commands[i].name);
	fprintf(stderr, "} [--json], see --help\n");
	return EXIT_USAGE;
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct smi_renderer *renderer = &smi_text;
	const struct command *command = NULL;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			print_help();
			return finish(0);
		} else if (!strcmp(argv[i], "--json")) {
			renderer = &smi_json;
		} else if (argv[i][0] == '-') {
			return usage("unknown option ", argv[i]);
		} else if (command) {
			return usage("more than one command: ", argv[i]);
		} else {
			command = find_command(argv[i]);
			if (!command)
				return usage("unknown command ", argv[i]);
		}
	}
	if (!command)
		return usage("no command", "");
	return command->run(renderer);
}
