/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <endian.h>
#include <hw/trn_queue.h>

uint32_t trn_ring_submit(struct trn_ring *ring, uint32_t tail, uint64_t sequence)
{
	struct trn_control *control = ring->control;

	ring->packets[tail & (ring->entries - 1)] = (struct trn_packet){
		.opcode = TRN_PACKET_FENCE_WRITE,
		.fence = {
			.address = htole64(ring->fence_address),
			.value = htole64(sequence),
		},
	};
	tail++;

	/*
	 * Both sequentially consistent, hence a full barrier between them: either we see
	 * need_kick, or the device, which sets need_kick before it looks at tail a last time, sees
	 * this tail.  The store also releases the packets.
	 */
	__atomic_store_n(&control->tail, htole32(tail), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&control->need_kick, __ATOMIC_SEQ_CST))
		__atomic_store_n(ring->doorbell, 1, __ATOMIC_RELAXED);
	return tail;
}

uint32_t trn_ring_limit(const struct trn_ring *ring)
{
	/* The device has read every packet before head before it stored head. */
	uint32_t head = le32toh(__atomic_load_n(&ring->control->head, __ATOMIC_ACQUIRE));

	return head + ring->entries - 1;
}

uint64_t trn_ring_completed(const struct trn_ring *ring)
{
	return le64toh(__atomic_load_n(ring->fence, __ATOMIC_ACQUIRE));
}

uint32_t trn_ring_status(const struct trn_ring *ring)
{
	const struct trn_control *control = ring->control;
	/* Whoever sees a new generation sees the status that came before it. */
	uint32_t generation = le32toh(__atomic_load_n(&control->generation, __ATOMIC_ACQUIRE));
	uint32_t status = le32toh(__atomic_load_n(&control->status, __ATOMIC_RELAXED));

	/* Running in another generation: not the queue's page any more. */
	if (status > TRN_CONTROL_GONE ||
	    (status == TRN_CONTROL_RUNNING && generation != ring->generation))
		return TRN_CONTROL_GONE;
	return status;
}
