/* SPDX-License-Identifier: MIT */
/*
 * Structures of callers, which may be of another version of the library: they begin with their
 * size, and later versions add members at the end, with 0 = as before.
 */
#ifndef TRN_STRUCTURE_H
#define TRN_STRUCTURE_H

#include <stddef.h>

/*
 * Makes of @given the structure that this library knows, of @size bytes.  @first: bytes that the
 * first version had.  -EINVAL: @given is shorter than that; -E2BIG: it says something that this
 * library does not know.  @what and @type are for texts.
 */
int trn_structure_read(const char *what, const char *type, const void *given, size_t first,
		       void *known, size_t size);

#endif /* TRN_STRUCTURE_H */
