/* SPDX-License-Identifier: MIT */
#include "array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/internal.h>
#include <lib/neff/npy.h>

static struct trn_neff_variable as_variable(const struct trn_tensor_info *info)
{
	struct trn_neff_variable variable = {
		.name = info->name,
		.kind = info->kind,
		.dtype = info->dtype,
		.dimensions = info->dimensions,
		.size = info->size,
		.alignment = info->alignment,
	};

	memcpy(variable.shape, info->shape, sizeof(variable.shape));
	return variable;
}

/*
 * Of types that NumPy has not, whose descr is bytes without meaning, an array of as large
 * unsigned integers will do, or one of bytes as NumPy itself writes them.
 */
static void accept_bits(const struct trn_tensor_info *info, struct neff_npy *npy)
{
	const char *wanted = neff_dtype(info->dtype)->descr;

	if (!strcmp(wanted, "<V2") && (!strcmp(npy->descr, "<u2") || !strcmp(npy->descr, "|V2")))
		strcpy(npy->descr, wanted);
	if (!strcmp(wanted, "|V1") && !strcmp(npy->descr, "|u1"))
		strcpy(npy->descr, wanted);
}

int run_read_array(const char *path, const struct trn_tensor_info *info, void **elements)
{
	const struct trn_neff_variable variable = as_variable(info);
	const struct neff_place place = { path, NULL };
	struct neff_member file;
	struct neff_npy npy;
	uint8_t *bytes = NULL;
	int error;

	error = neff_load(path, &bytes, &file.size);
	if (error)
		return error;
	file.data = bytes;
	error = neff_npy_read(&place, &file, &npy);
	if (!error) {
		accept_bits(info, &npy);
		error = neff_npy_check(&place, &npy, &variable);
	}
	if (error) {
		free(bytes);
		return error;
	}
	/* Whatever the header's length, the elements are to begin where malloc() says. */
	memmove(bytes, npy.data, npy.size);
	*elements = bytes;
	return 0;
}

int run_write_array(const char *path, const struct trn_tensor_info *info, const void *elements)
{
	const struct trn_neff_variable variable = as_variable(info);
	uint8_t header[NEFF_NPY_HEADER_MAX];
	size_t length = neff_npy_header(&variable, header);
	FILE *file = fopen(path, "we");
	bool written;

	if (!file)
		return trn_fail(-errno, "%.200s: cannot be created: %s", path, strerror(errno));
	written = fwrite(header, 1, length, file) == length &&
		  fwrite(elements, 1, info->size, file) == info->size;
	if (fclose(file) || !written)
		return trn_fail(errno ? -errno : -EIO, "%.200s: cannot be written: %s", path,
				strerror(errno));
	return 0;
}
