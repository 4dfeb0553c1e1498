/* SPDX-License-Identifier: MIT */
/*
 * Allocator of a context's addresses.  Free ranges, never adjacent, are in a treap: a search
 * tree by address that is a heap by random priority, hence of logarithmic depth.  Each
 * node knows the largest range below it.  The caller serialises all calls.
 */
#ifndef TRN_VA_H
#define TRN_VA_H

#include <stdint.h>

struct trn_va_range {
	uint64_t start;
	uint64_t size;
	/* of a free range only */
	uint64_t largest; /* size in the subtree */
	uint64_t priority;
	struct trn_va_range *lower, *upper;
};

struct trn_va {
	struct trn_va_range *free;
	uint64_t granule;
};

/*
 * Makes [start, start + size) free.  All sizes, starts and alignments are multiples of
 * @granule, a power of two.  0 or -ENOMEM.
 */
int trn_va_init(struct trn_va *va, uint64_t start, uint64_t size, uint64_t granule);

/* Forgets all free ranges; those allocated are the caller's to have freed. */
void trn_va_fini(struct trn_va *va);

/*
 * Allocates @size (not 0) bytes whose start is a multiple of @alignment, a power of two: the
 * lowest free range that has room for them wherever it starts, else any.  0, -ENOSPC or
 * -ENOMEM.
 */
int trn_va_allocate(struct trn_va *va, uint64_t size, uint64_t alignment,
		    struct trn_va_range **range);

/* Allocates [start, start + size).  0, -EEXIST if not all of it is free, or -ENOMEM. */
int trn_va_allocate_at(struct trn_va *va, uint64_t start, uint64_t size,
		       struct trn_va_range **range);

/* Gives a range back.  Cannot fail: the range itself becomes a node. */
void trn_va_free(struct trn_va *va, struct trn_va_range *range);

#endif /* TRN_VA_H */
