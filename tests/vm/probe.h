/* SPDX-License-Identifier: MIT */
/* Accesses to single addresses of a context, of which some are meant to fault. */
#ifndef TRN_TESTS_PROBE_H
#define TRN_TESTS_PROBE_H

#include "guest.h"

/* Where a probe has its own memory in the context. */
#define PROBE_VA   UINT64_C(0x6000000000)
#define PROBE_SIZE UINT64_C(65536)

struct probe {
	int fd;
	uint32_t context;
	uint32_t queue; /* kernel queue; a new one after each that stopped */
	uint32_t packet; /* index of the next one in the queue */
	uint32_t syncobj;
	uint64_t *memory; /* what is at PROBE_VA */
};

void probe_init(struct probe *probe, int fd, uint32_t context);
/*
 * Runs packets and returns what the job ended with.  If that is an error, @error says why, if it
 * is not NULL; its packet is the failed one's index in @packets.
 */
int probe_run(struct probe *probe, const struct trn_packet *packets, uint32_t count,
	      struct drm_trn_queue_error *error);
/* Reads the 8 bytes at an address: 0 and *word, or the job's error. */
int probe_read(struct probe *probe, uint64_t va, uint64_t *word);

#endif /* TRN_TESTS_PROBE_H */
