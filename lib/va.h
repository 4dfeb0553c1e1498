/* SPDX-License-Identifier: MIT */
/*
 * Allocator of a context's addresses: first fit over a sorted list of free
 * ranges that are never adjacent.  The caller serialises all calls.
 */
#ifndef TRN_VA_H
#define TRN_VA_H

#include <stdint.h>

struct trn_va_range {
	uint64_t start;
	uint64_t size;
	struct trn_va_range *next;
};

struct trn_va {
	struct trn_va_range *free;
};

/* Makes [start, start + size) free.  0 or -ENOMEM. */
int trn_va_init(struct trn_va *va, uint64_t start, uint64_t size);

/* Forgets all free ranges; those allocated are the caller's to have freed. */
void trn_va_fini(struct trn_va *va);

/*
 * Allocates the lowest @size (not 0) bytes whose start is a multiple of
 * @alignment, a power of two.  0, -ENOSPC or -ENOMEM.
 */
int trn_va_allocate(struct trn_va *va, uint64_t size, uint64_t alignment,
		    struct trn_va_range **range);

/* Gives a range back.  Cannot fail: the range itself is used as list element. */
void trn_va_free(struct trn_va *va, struct trn_va_range *range);

#endif /* TRN_VA_H */
