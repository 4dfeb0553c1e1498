/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_RING_H
#define _TRN_RING_H

#include <linux/types.h>

/*
 * Ring of packets.  Indexes run freely modulo 2^32; entries is a power of two,
 * 2^31 at most.  Everything before done has been executed.
 */
struct trn_ring {
	u32 entries;
	u32 tail;	/* next packet to write */
	u32 done;
};

static inline u32 trn_ring_space(const struct trn_ring *ring)
{
	return ring->entries - (ring->tail - ring->done);
}

static inline u32 trn_ring_slot(const struct trn_ring *ring, u32 index)
{
	return index & (ring->entries - 1);
}

/* Whether @index is one of @start ... @end - 1. */
static inline bool trn_ring_contains(u32 start, u32 end, u32 index)
{
	return index - start < end - start;
}

#endif /* _TRN_RING_H */
