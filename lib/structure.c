/* SPDX-License-Identifier: MIT */
#include "structure.h"

#include <errno.h>
#include <string.h>

#include "internal.h"

int trn_structure_read(const char *what, const char *type, const void *given, size_t first,
		       void *known, size_t size)
{
	const unsigned char *bytes = given;
	size_t given_size, i;

	memcpy(&given_size, given, sizeof(given_size));
	if (given_size < first)
		return trn_fail(-EINVAL, "%s: a structure of %zu bytes: size has to be sizeof(%s)",
				what, given_size, type);
	for (i = size; i < given_size; i++)
		if (bytes[i])
			return trn_fail(-E2BIG,
					"%s: a structure of %zu bytes, of which this library knows "
					"%zu: use the libtrn that the program was built for",
					what, given_size, size);
	memset(known, 0, size);
	memcpy(known, given, given_size < size ? given_size : size);
	return 0;
}
