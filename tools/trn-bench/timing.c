/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trn/trn.h>

#define PROGRESS_NS   INT64_C(3000000000)
#define MEMCPYS_MAX   5
#define NUMBER_DIGITS 20

static int compare(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

int64_t bench_median(int64_t *times, size_t count)
{
	qsort(times, count, sizeof(*times), compare);
	return times[count / 2];
}

void bench_progress(const char *format, ...)
{
	static int64_t last;
	int64_t now = trn_deadline(0);
	va_list arguments;

	if (!last)
		last = now;
	if (now - last < PROGRESS_NS)
		return;
	last = now;
	fputs("trn-bench: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/* The number that a program writes to its standard output, 0 if it does not. */
static int64_t read_number(int fd)
{
	char text[NUMBER_DIGITS + 2], *end;
	size_t used = 0;
	ssize_t more;
	long long number;

	while (used < sizeof(text) - 1 &&
	       (more = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)more;
	text[used] = 0;
	number = strtoll(text, &end, 10);
	return end != text && (*end == '\n' || !*end) && number > 0 ? number : 0;
}

extern char **environ;

static int64_t ask_peer(uint64_t size)
{
	char bytes[NUMBER_DIGITS + 1];
	char *arguments[] = { "trn-vmctl", "memcpy", bytes, NULL };
	posix_spawn_file_actions_t actions;
	int pipes[2], status, error;
	int64_t ns = 0;
	pid_t child;

	snprintf(bytes, sizeof(bytes), "%" PRIu64, size);
	if (pipe(pipes))
		return 0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, pipes[0]);
	posix_spawn_file_actions_addclose(&actions, pipes[1]);
	/* Where there is no such program or verb, that is no news to the user. */
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	if (!error) {
		ns = read_number(pipes[0]);
		if (waitpid(child, &status, 0) != child || status)
			ns = 0;
	}
	close(pipes[0]);
	return ns;
}

int64_t bench_memcpy_ns(uint64_t size, uint32_t repeat)
{
	int64_t times[MEMCPYS_MAX];
	uint32_t i;

	if (repeat > MEMCPYS_MAX)
		repeat = MEMCPYS_MAX;
	for (i = 0; i < repeat; i++) {
		times[i] = ask_peer(size);
		if (!times[i])
			return 0;
	}
	return bench_median(times, repeat);
}
