/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../internal.h"
#include "npy.h"

/* What trn_neff_close() gets a pointer to the first member of. */
struct neff_program {
	struct trn_neff neff;
	struct neff_header header; /* neff's texts */
	struct trn_neff_core *cores;
	void *file; /* or NULL: the caller's */
};

static int read_stream(const struct neff_place *place, const struct neff_members *members,
		       uint32_t engine, struct trn_neff_stream *stream)
{
	const struct neff_member *description = &members->member[NEFF_DESCRIPTION(engine)];
	const struct neff_member *instructions = &members->member[NEFF_INSTRUCTIONS(engine)];
	int error;

	if (!description->data && !instructions->data)
		return 0;
	if (!description->data || !instructions->data)
		return neff_fail(place, NEFF_MISSING,
				 "%s.%s is there, %s.%s is not: write the file anew",
				 neff_engine_names[engine], description->data ? "json" : "bin",
				 neff_engine_names[engine], description->data ? "bin" : "json");
	error = neff_description_read(place, description, engine, &stream->count);
	if (error)
		return error;
	if (instructions->size != (uint64_t)stream->count * NEFF_INSTRUCTION)
		return neff_fail(place, NEFF_SIZE,
				 "\"instructions\" is %u, but %s.bin has %llu bytes, not %llu",
				 stream->count, neff_engine_names[engine],
				 (unsigned long long)instructions->size,
				 (unsigned long long)stream->count * NEFF_INSTRUCTION);
	stream->instructions = instructions->data;
	return 0;
}

static int read_constant(const struct neff_place *place, const struct neff_member *member,
			 struct trn_neff_variable *variable)
{
	struct neff_npy npy;
	int error;

	if (!member->data)
		return neff_fail(place, NEFF_MISSING,
				 "the constant of \"%.64s\" is missing: write the file anew",
				 variable->name);
	error = neff_npy_read(place, member, &npy);
	if (!error)
		error = neff_npy_check(place, &npy, variable);
	if (!error)
		variable->data = npy.data;
	return error;
}

static int read_core(const char *file, uint32_t number, const struct neff_members *members,
		     struct trn_neff_core *core)
{
	struct trn_neff_variable *variables;
	char name[NEFF_MEMBER_NAME];
	struct neff_place place = { file, name };
	uint32_t i;
	int error;

	neff_member_name(name, number, NEFF_DEFINITION);
	if (!members->member[NEFF_DEFINITION].data)
		return neff_fail(&place, NEFF_MISSING,
				 "the member is missing: write the file anew");
	error = neff_definition_read(&place, &members->member[NEFF_DEFINITION], core);
	for (i = 0; i < TRN_NEFF_ENGINES && !error; i++) {
		neff_member_name(name, number, NEFF_DESCRIPTION(i));
		error = read_stream(&place, members, i, &core->streams[i]);
	}
	variables = (struct trn_neff_variable *)core->variables;
	for (i = 0; i < TRN_NEFF_VARIABLES_MAX && !error; i++) {
		const struct neff_member *constant = &members->member[NEFF_CONSTANT(i)];

		neff_member_name(name, number, NEFF_CONSTANT(i));
		if (i < core->num_variables && variables[i].kind == TRN_NEFF_FILE)
			error = read_constant(&place, constant, &variables[i]);
		else if (constant->data)
			error = neff_fail(&place, NEFF_UNUSED,
					  "no variable of type \"file\" has binding %u: remove the "
					  "member",
					  i);
	}
	return error;
}

static int read_program(const char *file, const uint8_t *bytes, uint64_t size,
			struct neff_program *program)
{
	const struct neff_place place = { file, NULL };
	struct neff_members *members;
	uint32_t cores, i;
	int error;

	error = neff_header_read(&place, bytes, size, &program->header);
	if (error)
		return error;
	cores = program->header.cores;
	members = calloc(cores, sizeof(*members));
	program->cores = calloc(cores, sizeof(*program->cores));
	if (!members || !program->cores) {
		error = neff_fail_memory(&place);
		goto free_members;
	}
	program->neff.cores = program->cores;
	program->neff.num_cores = cores;
	program->neff.name = program->header.name;
	program->neff.build_version = program->header.build_version;
	memcpy(program->neff.uuid, program->header.uuid, sizeof(program->neff.uuid));
	error = neff_archive_read(file, bytes + NEFF_HEADER_SIZE, size - NEFF_HEADER_SIZE, cores,
				  members);
	for (i = 0; i < cores && !error; i++)
		error = read_core(file, i, &members[i], &program->cores[i]);
free_members:
	free(members);
	return error;
}

int trn_neff_parse(const char *name, const void *file, uint64_t size, const struct trn_neff **neff)
{
	const struct neff_place place = { name, NULL };
	struct neff_program *program = calloc(1, sizeof(*program));
	int error;

	if (!program)
		return neff_fail_memory(&place);
	error = read_program(name, file, size, program);
	if (error) {
		trn_neff_close(&program->neff);
		return error;
	}
	*neff = &program->neff;
	return 0;
}

void trn_neff_close(const struct trn_neff *neff)
{
	struct neff_program *program = (struct neff_program *)neff;
	uint32_t i;

	if (!program)
		return;
	for (i = 0; i < program->neff.num_cores; i++)
		neff_definition_free(&program->cores[i]);
	free(program->cores);
	free(program->file);
	free(program);
}

/* Reads all of a file whose size is known. */
static int read_bytes(const char *path, int fd, uint8_t *bytes, uint64_t size)
{
	uint64_t done = 0;
	ssize_t length;

	while (done < size) {
		length = pread(fd, bytes + done, size - done, done);
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return trn_fail(-errno, "%.200s: cannot be read: %s", path,
					strerror(errno));
		if (!length)
			return trn_fail(
				-EBADMSG,
				"%.200s: TRUNCATED: the file became shorter while it was read: "
				"try again",
				path);
		done += length;
	}
	return 0;
}

static int read_file(const char *path, int fd, uint8_t **bytes, uint64_t *size)
{
	struct stat status;
	int error;

	if (fstat(fd, &status))
		return trn_fail(-errno, "%.200s: cannot be read: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return trn_fail(-EINVAL, "%.200s: not a regular file: give the path of one", path);
	*size = status.st_size;
	*bytes = malloc(*size + 1);
	if (!*bytes)
		return trn_fail(-ENOMEM, "%.200s: no host memory for the file's %llu bytes", path,
				(unsigned long long)*size);
	error = read_bytes(path, fd, *bytes, *size);
	if (error)
		free(*bytes);
	return error;
}

int neff_load(const char *path, uint8_t **bytes, uint64_t *size)
{
	int fd, error;

	/* Does not wait for the other end of a fifo. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return trn_fail(-errno, "%.200s: cannot be opened: %s", path, strerror(errno));
	error = read_file(path, fd, bytes, size);
	close(fd);
	return error;
}

int trn_neff_open(const char *path, const struct trn_neff **neff)
{
	uint8_t *bytes = NULL;
	uint64_t size = 0;
	int error;

	error = neff_load(path, &bytes, &size);
	if (error)
		return error;
	error = trn_neff_parse(path, bytes, size, neff);
	if (error)
		free(bytes);
	else
		((struct neff_program *)*neff)->file = bytes;
	return error;
}
