/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the reader of .neff files (Documentation/neff.rst), on all that a file can be.
 *
 * Sums that a fuzzer does not guess are made right: the tar headers' and the whole file's. The
 * first byte of the input says what the others are: a file, or the members of one (add_members()).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tests/unit/neff/craft.h>
#include <tests/unit/neff/meter.h>
#include <trn/trn.h>
#include <trn/trn_neff.h>

#define ALLOWANCE (64 << 20) /* bytes at once, beyond the file itself */
#define MEMBERS	  64	     /* at most */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A good program is written to a file that is read as the same program. */
static void check_written_again(const struct trn_neff *neff)
{
	const struct trn_neff *read;
	uint64_t size, size_again;
	void *file, *again;

	if (trn_neff_write(neff, &file, &size) || trn_neff_parse("again", file, size, &read) ||
	    trn_neff_write(read, &again, &size_again))
		abort();
	if (size != size_again || memcmp(file, again, size) != 0)
		abort();
	trn_neff_close(read);
	free(again);
	free(file);
}

static void read_file(const struct craft_file *file)
{
	const struct trn_neff *neff = NULL;
	int error;

	meter_start();
	error = trn_neff_parse("fuzz", file->bytes, file->size, &neff);
	if (meter_peak() > ALLOWANCE)
		abort();
	if (error < 0 ? neff || !*trn_error_message() : error || !neff)
		abort();
	if (!error)
		check_written_again(neff);
	trn_neff_close(neff);
}

/* Bytes of a member, as its header says. */
static size_t claimed(const uint8_t *block)
{
	char digits[12] = "";

	memcpy(digits, block + 124, 11);
	return strtoull(digits, NULL, 8);
}

static void correct_sums(struct craft_file *file)
{
	size_t at = CRAFT_HEADER;

	while (file->size >= CRAFT_BLOCK && at <= file->size - CRAFT_BLOCK &&
	       !memcmp(file->bytes + at + 257, "ustar", 5)) {
		size_t size = claimed(file->bytes + at);

		craft_checksum(file->bytes + at);
		at += CRAFT_BLOCK;
		if (size > file->size - at)
			break;
		at += (size + CRAFT_BLOCK - 1) / CRAFT_BLOCK * CRAFT_BLOCK;
	}
	craft_seal(file);
}

static void use_file(const uint8_t *data, size_t size)
{
	struct craft_file file = { 0 };

	craft_add_bytes(&file, data, size);
	read_file(&file);
	if (size >= CRAFT_HEADER) {
		correct_sums(&file);
		read_file(&file);
	}
	craft_free(&file);
}

/* How many cores, and the members: a name up to a newline, two bytes of size, so many bytes. */
static void add_members(struct craft_file *file, const uint8_t *data, size_t size)
{
	char name[101];
	int i;

	craft_begin(file, size ? *data : 1);
	data += !!size;
	size -= !!size;
	for (i = 0; i < MEMBERS && size; i++) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t length, bytes;

		length = end ? (size_t)(end - data) : size;
		if (length >= sizeof(name))
			length = sizeof(name) - 1;
		memcpy(name, data, length);
		name[length] = 0;
		length += end == data + length;
		data += length;
		size -= length;
		bytes = size < 2 ? 0 : data[0] | data[1] << 8;
		data += size < 2 ? size : 2;
		size -= size < 2 ? size : 2;
		if (bytes > size)
			bytes = size;
		craft_add(file, name, data, bytes);
		data += bytes;
		size -= bytes;
	}
	craft_end(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct craft_file file;

	if (!size)
		return 0;
	if (*data == 'f') {
		use_file(data + 1, size - 1);
	} else {
		add_members(&file, data + 1, size - 1);
		read_file(&file);
		craft_free(&file);
	}
	return 0;
}
