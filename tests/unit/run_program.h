/* SPDX-License-Identifier: MIT */
/* Runs a program of this build, found beside the test: <O>/tests/unit/TEST, <O>/bin/PROGRAM. */
#ifndef TRN_TESTS_RUN_PROGRAM_H
#define TRN_TESTS_RUN_PROGRAM_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct run_result {
	int status;
	char out[8192];
	char err[8192];
};

static inline void run_read(FILE *file, char text[8192])
{
	size_t length;

	rewind(file);
	length = fread(text, 1, 8191, file);
	text[length] = 0;
	fclose(file);
}

/* @command: program and arguments, as for a shell. */
static inline struct run_result run_program(const char *command)
{
	struct run_result result = { 0 };
	FILE *out = tmpfile(), *err = tmpfile();
	char self[4096], line[8192];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status, level;

	ck_assert_int_gt(length, 0);
	self[length] = 0;
	for (level = 0; level < 3; level++)
		*strrchr(self, '/') = 0;
	snprintf(line, sizeof(line), ">&%d 2>&%d %s/bin/%s", fileno(out), fileno(err), self,
		 command);
	status = system(line);
	ck_assert(WIFEXITED(status));
	result.status = WEXITSTATUS(status);
	run_read(out, result.out);
	run_read(err, result.err);
	return result;
}

/* Wrong arguments: exit 2, nothing on stdout, one line on stderr that has @text. */
static inline void assert_usage(const char *command, const char *text)
{
	struct run_result result = run_program(command);

	ck_assert_msg(result.status == 2, "%s: status %d", command, result.status);
	ck_assert_str_eq(result.out, "");
	ck_assert_msg(strstr(result.err, text) != NULL, "%s: \"%s\" lacks \"%s\"", command,
		      result.err, text);
	ck_assert_ptr_eq(strchr(result.err, '\n'), result.err + strlen(result.err) - 1);
}

#endif /* TRN_TESTS_RUN_PROGRAM_H */
