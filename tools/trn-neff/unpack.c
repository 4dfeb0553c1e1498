/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lib/internal.h>
#include <lib/neff/neff.h>

#include "commands.h"

static int fail(const char *directory, const char *name)
{
	int error = errno;

	return trn_fail(-error, "%s%s%s: cannot be written: %s", directory, name ? "/" : "",
			name ? name : "", strerror(error));
}

static int write_all(int fd, const uint8_t *data, uint64_t size)
{
	ssize_t length;

	while (size) {
		length = write(fd, data, size);
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return -1;
		data += length;
		size -= length;
	}
	return 0;
}

static int write_member(int root, const char *directory, const char *name,
			const struct neff_member *member)
{
	int fd, error = 0;

	fd = openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail(directory, name);
	if (write_all(fd, member->data, member->size))
		error = fail(directory, name);
	if (close(fd) && !error)
		error = fail(directory, name);
	return error;
}

static int write_core(int root, const char *directory, uint32_t core,
		      const struct neff_members *members)
{
	char name[NEFF_MEMBER_NAME];
	uint32_t i;
	int error = 0;

	snprintf(name, sizeof(name), "sg%02u", core);
	if (mkdirat(root, name, 0777))
		return fail(directory, name);
	for (i = 0; i < NEFF_MEMBERS && !error; i++) {
		if (!members->member[i].data)
			continue;
		neff_member_name(name, core, i);
		error = write_member(root, directory, name, &members->member[i]);
	}
	return error;
}

static int write_cores(const char *directory, const struct neff_members *members, uint32_t cores)
{
	int root, error = 0;
	uint32_t i;

	/* New, so that nothing of anybody is overwritten. */
	if (mkdir(directory, 0777))
		return fail(directory, NULL);
	root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return fail(directory, NULL);
	for (i = 0; i < cores && !error; i++)
		error = write_core(root, directory, i, &members[i]);
	close(root);
	return error;
}

int neff_unpack(const char *path, const char *directory)
{
	const struct neff_place place = { path, NULL };
	const struct trn_neff *neff;
	struct neff_members *members;
	uint8_t *bytes = NULL;
	uint64_t size = 0;
	int error;

	error = neff_load(path, &bytes, &size);
	if (error)
		return error;
	error = trn_neff_parse(path, bytes, size, &neff);
	if (error)
		goto free_bytes;
	members = calloc(neff->num_cores, sizeof(*members));
	if (members)
		error = neff_archive_read(path, bytes + NEFF_HEADER_SIZE, size - NEFF_HEADER_SIZE,
					  neff->num_cores, members);
	else
		error = neff_fail_memory(&place);
	if (!error)
		error = write_cores(directory, members, neff->num_cores);
	free(members);
	trn_neff_close(neff);
free_bytes:
	free(bytes);
	return error;
}
