/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include <hw/trn_regs.h>

#include "npy.h"

#define MAGIC	     "\x93NUMPY\x01\x00"
#define MAGIC_SIZE   8
#define LENGTH_SIZE  2
#define ALIGNMENT    64
#define ELEMENTS_MAX (UINT64_C(1) << 41)

/* The dictionary: what is left of it. */
struct cursor {
	const char *next, *end;
};

static void skip_space(struct cursor *cursor)
{
	while (cursor->next < cursor->end && strchr(" \t\n", *cursor->next) && *cursor->next)
		cursor->next++;
}

/* Takes @text, after white space, if it is there. */
static bool take(struct cursor *cursor, const char *text)
{
	size_t length = strlen(text);

	skip_space(cursor);
	if ((size_t)(cursor->end - cursor->next) < length || memcmp(cursor->next, text, length))
		return false;
	cursor->next += length;
	return true;
}

/* A string in either kind of quotes, without escapes. */
static bool take_string(struct cursor *cursor, char *text, size_t size)
{
	const char *quote = take(cursor, "'") ? "'" : take(cursor, "\"") ? "\"" : NULL;
	size_t length = 0;

	if (!quote)
		return false;
	while (cursor->next < cursor->end && *cursor->next != *quote) {
		if (*cursor->next == '\\' || length + 1 == size)
			return false;
		text[length++] = *cursor->next++;
	}
	text[length] = 0;
	return take(cursor, quote);
}

static bool take_dimension(struct cursor *cursor, uint64_t *value)
{
	const char *first;

	skip_space(cursor);
	first = cursor->next;
	for (*value = 0; cursor->next < cursor->end; cursor->next++) {
		if (*cursor->next < '0' || *cursor->next > '9')
			break;
		*value = *value * 10 + (*cursor->next - '0');
		if (*value > ELEMENTS_MAX)
			return false;
	}
	return cursor->next > first;
}

/* (), (3,), (3, 4) or (3, 4,) */
static bool take_shape(struct cursor *cursor, struct neff_npy *npy)
{
	bool comma = true;

	if (!take(cursor, "("))
		return false;
	for (npy->dimensions = 0; !take(cursor, ")"); npy->dimensions++) {
		if (!comma || npy->dimensions == TRN_NEFF_DIMENSIONS_MAX ||
		    !take_dimension(cursor, &npy->shape[npy->dimensions]))
			return false;
		comma = take(cursor, ",");
	}
	return npy->dimensions != 1 || comma;
}

enum {
	DESCR = 1,
	ORDER = 2,
	SHAPE = 4,
};

/* The keys that were found, or 0 if it is no dictionary as in the document. */
static unsigned int take_dictionary(struct cursor *cursor, struct neff_npy *npy)
{
	unsigned int keys = 0, key;
	bool comma = true;
	char name[16];

	if (!take(cursor, "{"))
		return 0;
	while (!take(cursor, "}")) {
		if (!comma || !take_string(cursor, name, sizeof(name)) || !take(cursor, ":"))
			return 0;
		if (!strcmp(name, "descr") && take_string(cursor, npy->descr, sizeof(npy->descr)))
			key = DESCR;
		else if (!strcmp(name, "fortran_order") && take(cursor, "False"))
			key = ORDER;
		else if (!strcmp(name, "shape") && take_shape(cursor, npy))
			key = SHAPE;
		else
			return 0;
		if (keys & key)
			return 0;
		keys |= key;
		comma = take(cursor, ",");
	}
	skip_space(cursor);
	return cursor->next == cursor->end ? keys : 0;
}

int neff_npy_read(const struct neff_place *place, const struct neff_member *file,
		  struct neff_npy *npy)
{
	const uint8_t *bytes = file->data;
	struct cursor cursor;
	size_t start;

	if (file->size < MAGIC_SIZE + LENGTH_SIZE || memcmp(bytes, MAGIC, MAGIC_SIZE))
		return neff_fail(place, NEFF_NPY,
				 "not a .npy file of version 1.0: save it with numpy.save()");
	start = MAGIC_SIZE + LENGTH_SIZE + bytes[MAGIC_SIZE] + bytes[MAGIC_SIZE + 1] * 256;
	if (file->size < start)
		return neff_fail(place, NEFF_NPY, "the file ends within its header: copy it again");
	cursor.next = (const char *)bytes + MAGIC_SIZE + LENGTH_SIZE;
	cursor.end = (const char *)bytes + start;
	if (take_dictionary(&cursor, npy) != (DESCR | ORDER | SHAPE))
		return neff_fail(
			place, NEFF_NPY,
			"the header must have 'descr', 'fortran_order': False and 'shape' of "
			"at most %d dimensions, and nothing else: save a C-ordered array "
			"with numpy.save()",
			TRN_NEFF_DIMENSIONS_MAX);
	npy->data = bytes + start;
	npy->size = file->size - start;
	return 0;
}

/* A variable's dimension as an array of bytes has it: FP4 has two elements in one. */
static uint64_t file_dimension(const struct trn_neff_variable *variable, uint32_t dimension)
{
	bool pairs = variable->dtype == TRN_DTYPE_FP4 && dimension + 1 == variable->dimensions;

	return variable->shape[dimension] / (pairs ? 2 : 1);
}

int neff_npy_check(const struct neff_place *place, const struct neff_npy *npy,
		   const struct trn_neff_variable *variable)
{
	const struct neff_dtype *dtype = neff_dtype(variable->dtype);
	uint32_t i;

	if (strcmp(npy->descr, dtype->descr))
		return neff_fail(place, NEFF_NPY,
				 "%.64s is %s, so 'descr' must be '%s', but it is '%s'",
				 variable->name, dtype->name, dtype->descr, npy->descr);
	if (npy->dimensions != variable->dimensions)
		return neff_fail(place, NEFF_NPY,
				 "%.64s has %u dimensions, but the array in the file %u",
				 variable->name, variable->dimensions, npy->dimensions);
	for (i = 0; i < npy->dimensions; i++)
		if (npy->shape[i] != file_dimension(variable, i))
			return neff_fail(
				place, NEFF_NPY,
				"%.64s: dimension %u must be %llu, but in the file it is %llu",
				variable->name, i, (unsigned long long)file_dimension(variable, i),
				(unsigned long long)npy->shape[i]);
	if (npy->size != variable->size)
		return neff_fail(place, NEFF_SIZE,
				 "%.64s has %llu bytes, but %llu follow the header in the file",
				 variable->name, (unsigned long long)variable->size,
				 (unsigned long long)npy->size);
	return 0;
}

size_t neff_npy_header(const struct trn_neff_variable *variable,
		       uint8_t header[NEFF_NPY_HEADER_MAX])
{
	char *text = (char *)header + MAGIC_SIZE + LENGTH_SIZE;
	size_t room = NEFF_NPY_HEADER_MAX - MAGIC_SIZE - LENGTH_SIZE, length, total;
	uint32_t i;

	length = snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (",
			  neff_dtype(variable->dtype)->descr);
	for (i = 0; i < variable->dimensions; i++)
		length += snprintf(text + length, room - length, "%s%llu", i ? ", " : "",
				   (unsigned long long)file_dimension(variable, i));
	length += snprintf(text + length, room - length, "%s), }",
			   variable->dimensions == 1 ? "," : "");
	total = (MAGIC_SIZE + LENGTH_SIZE + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	memset(text + length, ' ', total - MAGIC_SIZE - LENGTH_SIZE - length);
	header[total - 1] = '\n';
	memcpy(header, MAGIC, MAGIC_SIZE);
	header[MAGIC_SIZE] = (total - MAGIC_SIZE - LENGTH_SIZE) & 0xff;
	header[MAGIC_SIZE + 1] = (total - MAGIC_SIZE - LENGTH_SIZE) >> 8;
	return total;
}
