/* SPDX-License-Identifier: MIT */
/* A chip, a context and a queue of libtrn, for tests that move bytes. */
#ifndef TRN_TESTS_RIG_H
#define TRN_TESTS_RIG_H

#include "guest.h"

struct rig {
	struct trn_device *device;
	struct trn_context *context;
	struct trn_queue *queue;
};

struct rig rig_make(unsigned int chip, enum trn_queue_mode mode);
void rig_free(struct rig *rig);
struct trn_buffer *rig_buffer(struct rig *rig, enum trn_placement placement, uint64_t size,
			      uint32_t flags);

#endif /* TRN_TESTS_RIG_H */
