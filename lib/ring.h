/* SPDX-License-Identifier: MIT */
/*
 * A user queue's memory protocol (Documentation/device.rst, "Queues"): nothing
 * here makes a system call, and any memory will do for the pieces.
 */
#ifndef TRN_RING_H
#define TRN_RING_H

#include <stdint.h>

struct trn_control;
struct trn_packet;

struct trn_ring {
	struct trn_packet *packets;
	struct trn_control *control;
	uint32_t *doorbell;
	uint64_t *fence;	/* the device writes the sequence of finished submits */
	uint64_t fence_address; /* the same word, for the device */
	uint32_t entries;	/* a power of two */
	uint32_t generation;	/* of the control page, when the queue was made */
};

/*
 * Appends a write of @sequence to the fence as packet @tail, which has to be free, and
 * makes all packets up to it available to the device.  Returns the new tail.
 */
uint32_t trn_ring_submit(struct trn_ring *ring, uint32_t tail, uint64_t sequence);

/* The index up to which packets may be written, one left for the fence. */
uint32_t trn_ring_limit(const struct trn_ring *ring);

/* The sequence that has been reached; effects up to it are visible. */
uint64_t trn_ring_completed(const struct trn_ring *ring);

/* TRN_CONTROL_* of hw/trn_queue.h; of a value that is none of them TRN_CONTROL_GONE. */
uint32_t trn_ring_status(const struct trn_ring *ring);

#endif /* TRN_RING_H */
