/* SPDX-License-Identifier: MIT */
/*
 * The tar archive.  Before libarchive sees a member's header its magic and type are checked here,
 * so that none of the many extensions of tar is ever interpreted, and a member's bytes are where
 * its header ends.
 */
#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#include "neff.h"

#define BLOCK		512
#define END_BLOCKS	2
#define MEMBER_SIZE_MAX ((UINT64_C(1) << 33) - 1) /* 11 octal digits */

/* Fields of a ustar header. */
#define TYPE_OFFSET	156
#define MAGIC_OFFSET	257
#define MAGIC		"ustar\00000"
#define MAGIC_SIZE	8

const char *const neff_engine_names[TRN_NEFF_ENGINES] = { "tensor", "vector", "scalar", "gpsimd",
							  "sync" };

static uint64_t padded(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

void neff_member_name(char name[NEFF_MEMBER_NAME], uint32_t core, uint32_t index)
{
	uint32_t engine = (index - 1) / 2;

	if (index == NEFF_DEFINITION)
		snprintf(name, NEFF_MEMBER_NAME, "sg%02u/def.json", core);
	else if (index >= NEFF_CONSTANT(0))
		snprintf(name, NEFF_MEMBER_NAME, "sg%02u/%03u.npy", core, index - NEFF_CONSTANT(0));
	else
		snprintf(name, NEFF_MEMBER_NAME, "sg%02u/%s.%s", core, neff_engine_names[engine],
			 index == NEFF_DESCRIPTION(engine) ? "json" : "bin");
}

/* The member that @name names, or NULL. */
static struct neff_member *find_member(const char *name, struct neff_members *members,
				       uint32_t cores)
{
	uint32_t core, index, last = NEFF_CONSTANT(0) - 1;
	char wanted[NEFF_MEMBER_NAME];
	unsigned int binding;

	if (sscanf(name, "sg%2u/", &core) != 1 || core >= cores)
		return NULL;
	index = 0;
	if (sscanf(name, "sg%*2u/%3u.npy", &binding) == 1 && binding < TRN_NEFF_VARIABLES_MAX)
		index = last = NEFF_CONSTANT(binding);
	for (; index <= last; index++) {
		neff_member_name(wanted, core, index);
		if (!strcmp(name, wanted))
			return &members[core].member[index];
	}
	return NULL;
}

/* What libarchive must not be asked to interpret. */
static int check_block(const struct neff_place *place, const uint8_t *block)
{
	static const struct {
		char type;
		const char *name;
	} types[] = {
		{ '1', "a hard link" },
		{ '2', "a symbolic link" },
		{ '3', "a character device" },
		{ '4', "a block device" },
		{ '5', "a directory" },
		{ '6', "a fifo" },
		{ 'x', "an extended header of pax" },
		{ 'g', "a global header of pax" },
		{ 'K', "a long name of GNU tar" },
		{ 'L', "a long name of GNU tar" },
		{ 'S', "a sparse file of GNU tar" },
	};
	char type = block[TYPE_OFFSET];
	size_t i;

	if (memcmp(block + MAGIC_OFFSET, MAGIC, MAGIC_SIZE))
		return neff_fail(place, NEFF_TAR,
				 "a member's header is not ustar: pack with tar --format=ustar");
	if (type == '0' || type == 0)
		return 0;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type)
			return neff_fail(place, NEFF_TYPE,
					 "is %s; there may be regular files alone: pack with tar "
					 "--format=ustar and the names of files",
					 types[i].name);
	return neff_fail(place, NEFF_TYPE,
			 "is of type 0x%02x; there may be regular files alone: pack with tar "
			 "--format=ustar and the names of files",
			 (unsigned char)type);
}

/* The end: two blocks of zeros and nothing more. */
static int check_end(const struct neff_place *place, const uint8_t *data, uint64_t size)
{
	if (size < END_BLOCKS * BLOCK || !neff_is_zero(data, END_BLOCKS * BLOCK))
		return neff_fail(
			place, NEFF_TAR,
			"the archive does not end with two blocks of zeros: write the file "
			"anew");
	if (size > END_BLOCKS * BLOCK)
		return neff_fail(place, NEFF_TAR,
				 "%llu bytes follow the archive's end: pack with tar "
				 "--blocking-factor=1",
				 (unsigned long long)(size - END_BLOCKS * BLOCK));
	return 0;
}

static int read_member(const char *file, struct archive *archive, const uint8_t *data,
		       uint64_t size, uint64_t *position, struct neff_members *members,
		       uint32_t cores)
{
	char quoted[256 + 1] = "";
	struct neff_place place = { file, quoted };
	const uint8_t *block = data + *position;
	struct archive_entry *entry;
	struct neff_member *member;
	uint64_t left, claimed;
	const char *name;
	int error, status;

	/* For errors, until the name is known. */
	snprintf(quoted, sizeof(quoted), "member at %llu",
		 (unsigned long long)*position + NEFF_HEADER_SIZE);
	if (size - *position < BLOCK)
		return neff_fail(&place, NEFF_TAR, "the archive ends within a header");
	error = check_block(&place, block);
	if (error)
		return error;
	status = archive_read_next_header(archive, &entry);
	if (status != ARCHIVE_OK || archive_read_header_position(archive) != (int64_t)*position)
		return neff_fail(&place, NEFF_TAR, "%s",
				 status != ARCHIVE_OK && archive_error_string(archive)
					 ? archive_error_string(archive)
					 : "not a header of tar");
	name = archive_entry_pathname(entry);
	if (!name || !neff_is_text(name))
		return neff_fail(&place, NEFF_NAME, "the name is no text");
	snprintf(quoted, sizeof(quoted), "%s", name);
	member = find_member(name, members, cores);
	if (!member)
		return neff_fail(&place, NEFF_NAME,
				 "there is no such member in a program of %u core%s; see "
				 "Documentation/neff.rst, \"Archive\"",
				 cores, cores > 1 ? "s" : "");
	if (member->data)
		return neff_fail(&place, NEFF_DUPLICATE, "the member is there twice: remove one");
	*position += BLOCK;
	left = size - *position;
	claimed = archive_entry_size(entry);
	if (claimed > left || padded(claimed) > left)
		return neff_fail(&place, NEFF_SIZE,
				 "the member has %llu bytes, but the archive ends after %llu",
				 (unsigned long long)claimed, (unsigned long long)left);
	if (!neff_is_zero(data + *position + claimed, padded(claimed) - claimed))
		return neff_fail(&place, NEFF_TAR,
				 "what follows up to the next block is not zeros");
	member->data = data + *position;
	member->size = claimed;
	*position += padded(claimed);
	return 0;
}

int neff_archive_read(const char *file, const uint8_t *data, uint64_t size, uint32_t cores,
		      struct neff_members *members)
{
	const struct neff_place place = { file, NULL };
	struct archive *archive = archive_read_new();
	uint64_t position = 0;
	int error = 0;

	/* The format is set, so that libarchive does not guess. */
	if (!archive || archive_read_set_format(archive, ARCHIVE_FORMAT_TAR) != ARCHIVE_OK ||
	    archive_read_open_memory(archive, data, size) != ARCHIVE_OK) {
		error = neff_fail_memory(&place);
		goto free;
	}
	while (!error && size - position >= BLOCK && !neff_is_zero(data + position, BLOCK))
		error = read_member(file, archive, data, size, &position, members, cores);
	if (!error)
		error = check_end(&place, data + position, size - position);
free:
	archive_read_free(archive);
	return error;
}

uint64_t neff_archive_size(const struct neff_members *members, uint32_t cores)
{
	uint64_t size = END_BLOCKS * BLOCK;
	uint32_t core, index;

	for (core = 0; core < cores; core++)
		for (index = 0; index < NEFF_MEMBERS; index++)
			if (members[core].member[index].data)
				size += BLOCK + padded(members[core].member[index].size);
	return size;
}

static int write_member(const struct neff_place *place, struct archive *archive,
			struct archive_entry *entry, const struct neff_member *member,
			const char *name)
{
	if (member->size > MEMBER_SIZE_MAX)
		return neff_fail(place, NEFF_LIMIT,
				 "%s has %llu bytes, a member may have at most %llu", name,
				 (unsigned long long)member->size,
				 (unsigned long long)MEMBER_SIZE_MAX);
	archive_entry_clear(entry);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_size(entry, member->size);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, 0, 0);
	if (archive_write_header(archive, entry) != ARCHIVE_OK ||
	    archive_write_data(archive, member->data, member->size) != (la_ssize_t)member->size)
		return neff_fail(place, NEFF_TAR, "%s: %s", name, archive_error_string(archive));
	return 0;
}

int neff_archive_write(const struct neff_place *place, const struct neff_members *members,
		       uint32_t cores, uint8_t *data, uint64_t size)
{
	struct archive_entry *entry = archive_entry_new();
	struct archive *archive = archive_write_new();
	char name[NEFF_MEMBER_NAME];
	uint32_t core, index;
	size_t written = 0;
	int error = 0;

	if (!archive || !entry || archive_write_set_format_ustar(archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(archive, 0) != ARCHIVE_OK ||
	    archive_write_open_memory(archive, data, size, &written) != ARCHIVE_OK) {
		error = neff_fail_memory(place);
		goto free;
	}
	for (core = 0; core < cores && !error; core++) {
		for (index = 0; index < NEFF_MEMBERS && !error; index++) {
			if (!members[core].member[index].data)
				continue;
			neff_member_name(name, core, index);
			error = write_member(place, archive, entry, &members[core].member[index],
					     name);
		}
	}
	if (!error && (archive_write_close(archive) != ARCHIVE_OK || written != size))
		error = neff_fail(place, NEFF_TAR, "libarchive wrote %llu bytes, not %llu",
				  (unsigned long long)written, (unsigned long long)size);
free:
	archive_write_free(archive);
	archive_entry_free(entry);
	return error;
}
