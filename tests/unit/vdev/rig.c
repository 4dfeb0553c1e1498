/* SPDX-License-Identifier: MIT */
#include "rig.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = -1; /* dir's own */

	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

int make_file(size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, size), 0);
	return fd;
}

void wait_until(bool (*condition)(void *argument), void *argument)
{
	const struct timespec pause = { .tv_nsec = 200000 };

	for (int i = 0; i < 50000; i++) {
		if (condition(argument))
			return;
		nanosleep(&pause, NULL);
	}
	ck_abort_msg("waited for ten seconds");
}

void rig_begin(struct rig *rig, unsigned int defects)
{
	const struct trn_chip_config config = {
		.generation = trn_generation_by_name("trn2"),
		.hbm_size = RIG_HBM,
		.aperture = RIG_APERTURE,
		.page_sizes = TRN_CHIP_PAGE_SIZES,
		.defects = defects,
	};

	rig->fds_before = count_fds();
	rig->socket = -1;
	rig->saved_stderr = dup(STDERR_FILENO);
	rig->log = memfd_create("log", MFD_CLOEXEC);
	dup2(rig->log, STDERR_FILENO);
	rig->server = trn_server_create("chip", &config);
	ck_assert_ptr_nonnull(rig->server);
}

void rig_attach(struct rig *rig)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	rig->socket = pair[0];
	ck_assert_int_eq(trn_server_attach(rig->server, pair[1]), 0);
}

void rig_begin_attached(struct rig *rig)
{
	rig_begin(rig, 0);
	rig_attach(rig);
	client_negotiate(rig->socket);
}

static bool is_detached(void *argument)
{
	return !trn_server_attached(argument);
}

void rig_detach(struct rig *rig)
{
	if (rig->socket >= 0)
		close(rig->socket);
	rig->socket = -1;
	wait_until(is_detached, rig->server);
}

void rig_end(struct rig *rig)
{
	if (rig->socket >= 0)
		close(rig->socket);
	trn_server_destroy(rig->server);
	dup2(rig->saved_stderr, STDERR_FILENO);
	close(rig->saved_stderr);
	close(rig->log);
	ck_assert_int_eq(count_fds(), rig->fds_before);
}

unsigned int rig_log_lines(const struct rig *rig, const char *text)
{
	off_t size = lseek(rig->log, 0, SEEK_END);
	char *log = calloc(1, size + 1), *rest = log, *line;
	unsigned int count = 0;

	ck_assert_int_eq(pread(rig->log, log, size, 0), size);
	while ((line = strsep(&rest, "\n"))) {
		ck_assert(!*line || !strncmp(line, "trn-vdev: chip: ", 16));
		count += *line && strstr(line, text);
	}
	free(log);
	return count;
}
