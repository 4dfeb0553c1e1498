/* SPDX-License-Identifier: MIT */
#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"

#define DUMPS "/sys/class/devcoredump/devcd*/data"

char dump[65536];

static void drop(const char *path)
{
	int file = open(path, O_WRONLY);

	/* A work of the kernel's deletes it, maybe just now. */
	if (file < 0) {
		ck_assert_int_eq(errno, ENOENT);
		return;
	}
	ck_assert_int_eq(write(file, "1", 1), 1);
	close(file);
}

void dump_drop(void)
{
	glob_t found;
	size_t i, tries;

	for (tries = 0; !glob(DUMPS, 0, NULL, &found); tries++) {
		for (i = 0; i < found.gl_pathc; i++)
			drop(found.gl_pathv[i]);
		globfree(&found);
		ck_assert_msg(tries < 1000, "the kernel keeps the dump");
		usleep(10000);
	}
	globfree(&found);
}

void dump_read(void)
{
	struct stat status;
	glob_t found;
	size_t length;
	FILE *file;
	int i;

	for (i = 0; glob(DUMPS, 0, NULL, &found); i++) {
		globfree(&found);
		ck_assert_msg(i < 3000, "no dump in 30 s");
		usleep(10000);
	}
	ck_assert_uint_eq(found.gl_pathc, 1);
	ck_assert_int_eq(stat(found.gl_pathv[0], &status), 0);
	ck_assert_uint_eq(status.st_uid, 0);
	ck_assert_uint_eq(status.st_mode & 077, 0);
	file = fopen(found.gl_pathv[0], "r");
	ck_assert_ptr_nonnull(file);
	length = fread(dump, 1, sizeof(dump) - 1, file);
	dump[length] = '\0';
	fclose(file);
	globfree(&found);
	dump_drop();
}

const char *dump_line(const char *start)
{
	static char line[1024];
	const char *at = dump;
	size_t length = strlen(start);

	while (strncmp(at, start, length)) {
		at = strchr(at, '\n');
		ck_assert_msg(at && at[1], "no line \"%s…\" in:\n%s", start, dump);
		at++;
	}
	length = strcspn(at, "\n");
	ck_assert_uint_lt(length, sizeof(line));
	memcpy(line, at, length);
	line[length] = '\0';
	return line;
}

void dump_has_line(const char *line)
{
	char start[1024];

	snprintf(start, sizeof(start), "%s\n", line);
	ck_assert_msg(strstr(dump, start), "no line \"%s\" in:\n%s", line, dump);
}

void dump_line_has(const char *start, const char *part)
{
	const char *line = dump_line(start);

	ck_assert_msg(strstr(line, part), "\"%s\" is not in \"%s\"", part, line);
}
