/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "../internal.h"
#include "neff.h"

static const struct {
	const char *name;
	int error;
} errors[] = {
	[NEFF_TRUNCATED] = { "TRUNCATED", -EBADMSG }, [NEFF_TRAILING] = { "TRAILING", -EBADMSG },
	[NEFF_VERSION] = { "VERSION", -EOPNOTSUPP },  [NEFF_FEATURES] = { "FEATURES", -EOPNOTSUPP },
	[NEFF_HEADER] = { "HEADER", -EBADMSG },	      [NEFF_HASH] = { "HASH", -EBADMSG },
	[NEFF_UUID] = { "UUID", -EBADMSG },	      [NEFF_TAR] = { "TAR", -EBADMSG },
	[NEFF_TYPE] = { "TYPE", -EBADMSG },	      [NEFF_NAME] = { "NAME", -EBADMSG },
	[NEFF_DUPLICATE] = { "DUPLICATE", -EBADMSG }, [NEFF_MISSING] = { "MISSING", -EBADMSG },
	[NEFF_JSON] = { "JSON", -EBADMSG },	      [NEFF_FIELD] = { "FIELD", -EBADMSG },
	[NEFF_ISA_NAME] = { "ISA", -EOPNOTSUPP },     [NEFF_KIND] = { "KIND", -EOPNOTSUPP },
	[NEFF_DTYPE] = { "DTYPE", -EOPNOTSUPP },      [NEFF_SIZE] = { "SIZE", -EBADMSG },
	[NEFF_BINDING] = { "BINDING", -EBADMSG },     [NEFF_NPY] = { "NPY", -EBADMSG },
	[NEFF_UNUSED] = { "UNUSED", -EBADMSG },	      [NEFF_LIMIT] = { "LIMIT", -EFBIG },
};

/* Texts quote what a file says: nothing of it may move a terminal's cursor. */
int neff_fail(const struct neff_place *place, enum neff_error error, const char *format, ...)
{
	char text[768], *c;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (c = text; *c; c++)
		if (neff_is_control(*c))
			*c = '?';
	return trn_fail(errors[error].error, "%.200s: %s%s%s: %s", place->file,
			place->member ? place->member : "", place->member ? ": " : "",
			errors[error].name, text);
}

int neff_fail_memory(const struct neff_place *place)
{
	return trn_fail(-ENOMEM, "%.200s: no host memory left: end other programs", place->file);
}
