/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For modules-lint: what the headers of new kernels use and the sparse of stable
 * distributions (0.6.4) does not know.
 */
#define __typeof_unqual__	__typeof__
/* In constant expressions, of literals. */
#define __builtin_strlen(s)	(sizeof(s) - 1)
