/* SPDX-License-Identifier: MIT */
/* What tests of queues begin with: a queue of a context of the fake chip. */
#ifndef TRN_TESTS_FAKE_QUEUE_H
#define TRN_TESTS_FAKE_QUEUE_H

#include <stdint.h>

#include <trn/trn.h>

extern struct trn_device *device;
extern struct trn_context *context;
extern struct trn_queue *queue;

extern const enum trn_queue_mode modes[2];

void start(enum trn_queue_mode mode, uint32_t entries);
/* Fails if the fake kernel has an object left. */
void stop(void);

struct trn_buffer *buffer(enum trn_placement placement, uint64_t size);
uint8_t *pointer(struct trn_buffer *buffer);

#endif /* TRN_TESTS_FAKE_QUEUE_H */
