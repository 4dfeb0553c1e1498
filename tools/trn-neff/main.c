/* SPDX-License-Identifier: MIT */
/*
 * trn-neff: make and look at files of compiled programs (Documentation/neff.rst).
 *
 * Only data goes to stdout; what is wrong goes to stderr.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <trn/trn.h>
#include <trn/trn_neff.h>

#include "commands.h"

enum {
	EXIT_OK = 0,
	EXIT_OTHER = 1,
	EXIT_USAGE = 2,
	EXIT_BAD_FILE = 3,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int run_asm(char **arguments)
{
	return neff_assemble(arguments[0], arguments[1]);
}

static int run_disasm(char **arguments)
{
	return neff_disassemble(arguments[0]);
}

static int run_info(char **arguments)
{
	return neff_info(arguments[0]);
}

static int run_verify(char **arguments)
{
	const struct trn_neff *neff;
	int error = trn_neff_open(arguments[0], &neff);

	if (!error)
		trn_neff_close(neff);
	return error;
}

static int run_unpack(char **arguments)
{
	return neff_unpack(arguments[0], arguments[1]);
}

static const struct command {
	const char *name;
	const char *arguments;
	int count; /* of arguments */
	const char *help;
	int (*run)(char **arguments);
} commands[] = {
	{ "asm", "TEXT FILE", 2, "make a file of a program's text", run_asm },
	{ "disasm", "FILE", 1, "write the text of a program, of which asm makes the same file",
	  run_disasm },
	{ "info", "FILE", 1, "describe the program: cores, streams, variables, rings", run_info },
	{ "verify", "FILE", 1, "check the whole file; says nothing if it is good", run_verify },
	{ "unpack", "FILE DIRECTORY", 2, "write the file's members below a new directory",
	  run_unpack },
};

static int finish(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_OK;
	fprintf(stderr, "trn-neff: output could not be written: %s\n", strerror(errno));
	return EXIT_OTHER;
}

static int print_help(void)
{
	size_t i;

	printf("Usage: trn-neff COMMAND ARGUMENT...\n\nCommands:\n");
	for (i = 0; i < COUNT(commands); i++)
		printf("  %-6s %-14s  %s\n", commands[i].name, commands[i].arguments,
		       commands[i].help);
	printf("\nOptions:\n  --help  write this text\n\nExit codes:\n"
	       "  %d  success\n"
	       "  %d  something cannot be read or written\n"
	       "  %d  wrong arguments\n"
	       "  %d  the file is damaged, no .neff file, or for another version; the text is "
	       "wrong\n",
	       EXIT_OK, EXIT_OTHER, EXIT_USAGE, EXIT_BAD_FILE);
	return finish();
}

static int usage(const char *text, const char *argument)
{
	fprintf(stderr, "trn-neff: %s%s: expected trn-neff {", text, argument);
	for (size_t i = 0; i < COUNT(commands); i++)
		fprintf(stderr, "%s%s %s", i ? " | " : "", commands[i].name, commands[i].arguments);
	fprintf(stderr, "}, see --help\n");
	return EXIT_USAGE;
}

static int run(const struct command *command, char **arguments)
{
	int error = command->run(arguments);

	if (!error)
		return finish();
	fprintf(stderr, "trn-neff: %s\n", trn_error_message());
	return error == -EBADMSG || error == -EOPNOTSUPP || error == -EFBIG ? EXIT_BAD_FILE
									    : EXIT_OTHER;
}

int main(int argc, char **argv)
{
	size_t i;
	int n;

	for (n = 1; n < argc; n++) {
		if (!strcmp(argv[n], "--help") || !strcmp(argv[n], "-h"))
			return print_help();
		if (argv[n][0] == '-')
			return usage("unknown option ", argv[n]);
	}
	if (argc < 2)
		return usage("no command", "");
	for (i = 0; i < COUNT(commands); i++) {
		if (strcmp(commands[i].name, argv[1]))
			continue;
		if (argc - 2 < commands[i].count)
			return usage("too few arguments for ", argv[1]);
		if (argc - 2 > commands[i].count)
			return usage("too many arguments: ", argv[2 + commands[i].count]);
		return run(&commands[i], argv + 2);
	}
	return usage("unknown command ", argv[1]);
}
