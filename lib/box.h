/* SPDX-License-Identifier: MIT */
/*
 * Boxes: sizes[1] × sizes[2] × sizes[3] runs of sizes[0] bytes, on two sides that each have
 * a first byte and strides.  Nothing here touches the bytes.
 */
#ifndef TRN_BOX_H
#define TRN_BOX_H

#include <stdbool.h>
#include <stdint.h>

struct trn_box_side {
	uint64_t start;
	uint64_t strides[3]; /* of dimensions 1 … 3 */
};

struct trn_box {
	uint64_t sizes[4]; /* none is 0 */
	struct trn_box_side to, from;
};

/*
 * Bytes from the first byte to the last, strides included, plus one.  False if that is 2^64 or
 * more.
 */
bool trn_box_extent(const uint64_t sizes[4], const uint64_t strides[3], uint64_t *extent);

/* Bytes that are copied.  False if that is 2^64 or more. */
bool trn_box_bytes(const uint64_t sizes[4], uint64_t *bytes);

/* Makes the same box of as few dimensions and as long runs as can be. */
void trn_box_simplify(struct trn_box *box);

/*
 * Cuts a box into pieces, in order, of at most @limit bytes, 1 … 2^32 - 1, whose strides fit in
 * 32 bits where a dimension is used.  Ends at the first @emit that does
 * not return 0, and returns what that returned.
 */
int trn_box_cut(const struct trn_box *box, uint64_t limit,
		int (*emit)(const struct trn_box *piece, void *context), void *context);

#endif /* TRN_BOX_H */
