/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "npy.h"

static int set_text(const struct neff_place *place, const char *what, const char *text, char *field,
		    size_t size)
{
	size_t length = text ? strnlen(text, size) : size;

	if (length == size || !neff_is_text(text))
		return neff_fail(place, NEFF_FIELD,
				 "%s must be at most %zu bytes of UTF-8 without control characters",
				 what, size - 1);
	memcpy(field, text, length);
	return 0;
}

static int make_header(const struct neff_place *place, const struct trn_neff *neff,
		       struct neff_header *header)
{
	int error;

	memset(header, 0, sizeof(*header));
	header->cores = neff->num_cores;
	error = set_text(place, "name", neff->name, header->name, sizeof(header->name));
	if (!error)
		error = set_text(place, "build_version", neff->build_version, header->build_version,
				 sizeof(header->build_version));
	return error;
}

static int make_constant(const struct neff_place *place, const struct trn_neff_variable *variable,
			 struct neff_member *member)
{
	uint8_t header[NEFF_NPY_HEADER_MAX], *file;
	size_t length;

	length = neff_npy_header(variable, header);
	file = malloc(length + variable->size);
	if (!file)
		return neff_fail_memory(place);
	memcpy(file, header, length);
	memcpy(file + length, variable->data, variable->size);
	member->data = file;
	member->size = length + variable->size;
	return 0;
}

static int make_stream(const struct neff_place *place, const struct trn_neff_stream *stream,
		       uint32_t engine, struct neff_members *members)
{
	struct neff_member *instructions = &members->member[NEFF_INSTRUCTIONS(engine)];

	if (!stream->count)
		return 0;
	instructions->data = stream->instructions;
	instructions->size = (uint64_t)stream->count * NEFF_INSTRUCTION;
	return neff_description_write(place, engine, stream->count,
				      &members->member[NEFF_DESCRIPTION(engine)]);
}

static int make_members(const struct neff_place *place, const struct trn_neff_core *core,
			struct neff_members *members)
{
	uint32_t i;
	int error;

	error = neff_definition_write(place, core, &members->member[NEFF_DEFINITION]);
	for (i = 0; i < TRN_NEFF_ENGINES && !error; i++)
		error = make_stream(place, &core->streams[i], i, members);
	for (i = 0; i < core->num_variables && !error; i++)
		if (core->variables[i].kind == TRN_NEFF_FILE)
			error = make_constant(place, &core->variables[i],
					      &members->member[NEFF_CONSTANT(i)]);
	return error;
}

/* All but the instructions, which are the caller's. */
static void free_members(struct neff_members *members)
{
	uint32_t i;

	free((void *)members->member[NEFF_DEFINITION].data);
	for (i = 0; i < TRN_NEFF_ENGINES; i++)
		free((void *)members->member[NEFF_DESCRIPTION(i)].data);
	for (i = 0; i < TRN_NEFF_VARIABLES_MAX; i++)
		free((void *)members->member[NEFF_CONSTANT(i)].data);
}

static int make_file(const struct neff_place *place, const struct neff_header *header,
		     const struct neff_members *members, void **file, uint64_t *size)
{
	uint64_t archive = neff_archive_size(members, header->cores);
	uint8_t *bytes = malloc(NEFF_HEADER_SIZE + archive);
	int error;

	if (!bytes)
		return neff_fail_memory(place);
	error = neff_archive_write(place, members, header->cores, bytes + NEFF_HEADER_SIZE,
				   archive);
	if (!error)
		error = neff_header_write(place, header, bytes, NEFF_HEADER_SIZE + archive);
	if (error) {
		free(bytes);
		return error;
	}
	*file = bytes;
	*size = NEFF_HEADER_SIZE + archive;
	return 0;
}

int trn_neff_write(const struct trn_neff *neff, void **file, uint64_t *size)
{
	const struct neff_place place = { neff_program_name(neff), NULL };
	struct neff_members *members;
	struct neff_header header;
	uint32_t i;
	int error;

	error = neff_program_check(&place, neff);
	if (error)
		return error;
	error = make_header(&place, neff, &header);
	if (error)
		return -EINVAL;
	members = calloc(neff->num_cores, sizeof(*members));
	if (!members)
		return neff_fail_memory(&place);
	for (i = 0; i < neff->num_cores && !error; i++)
		error = make_members(&place, &neff->cores[i], &members[i]);
	if (!error)
		error = make_file(&place, &header, members, file, size);
	for (i = 0; i < neff->num_cores; i++)
		free_members(&members[i]);
	free(members);
	return error;
}
