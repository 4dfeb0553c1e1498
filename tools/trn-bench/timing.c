/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trn/trn.h>

#define PROGRESS_NS INT64_C(3000000000)
#define ROUNDS_MAX  1000 /* that the chip's process does */

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

/* All that a program writes to its standard output, cut off when it is too much. */
static void read_all(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t more;

	while (used < size - 1 && (more = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)more;
	text[used] = 0;
}

/* {"ok": true, "ns": 5312874} */
static int64_t reply_ns(const char *reply)
{
	json_t *object = json_loads(reply, JSON_REJECT_DUPLICATES, NULL);
	int64_t ns = 0;

	if (json_is_true(json_object_get(object, "ok")))
		ns = (int64_t)json_integer_value(json_object_get(object, "ns"));
	json_decref(object);
	return ns > 0 ? ns : 0;
}

extern char **environ;

int64_t bench_memcpy_ns(uint64_t size, uint32_t copies, uint32_t rounds)
{
	char request[128], reply[256];
	char *arguments[] = { "trn-vmctl", "vdev", request, NULL };
	posix_spawn_file_actions_t actions;
	int pipes[2], status, error;
	int64_t ns = 0;
	pid_t child;

	snprintf(request, sizeof(request),
		 "{\"verb\":\"memcpy\",\"bytes\":%" PRIu64 ",\"copies\":%" PRIu32
		 ",\"rounds\":%" PRIu32 "}",
		 size, copies, rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX);
	if (pipe2(pipes, O_CLOEXEC))
		return 0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	/* Where there is no such program or verb, that is no news to the user. */
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	if (!error) {
		read_all(pipes[0], reply, sizeof(reply));
		if (waitpid(child, &status, 0) == child && !status)
			ns = reply_ns(reply);
	}
	close(pipes[0]);
	return ns;
}
