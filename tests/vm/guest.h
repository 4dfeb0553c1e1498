/* SPDX-License-Identifier: MIT */
/*
 * The driver's interface without libtrn in between, for tests that must see what the
 * kernel says.  Functions that return int give 0 or more, or negative errno; the
 * others fail the test.
 */
#ifndef TRN_TESTS_GUEST_H
#define TRN_TESTS_GUEST_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include <drm/trn_accel.h>
#include <hw/trn_queue.h>
#include <trn/trn.h>

/* ns */
#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)

/* Fails the test with libtrn's text. */
#define guest_ok(call)                                                                             \
	do {                                                                                       \
		int guest_result = (call);                                                         \
		ck_assert_msg(guest_result >= 0, "%s: %d: %s", #call, guest_result,                \
			      trn_error_message());                                                \
	} while (0)

#define guest_fails(call, error)                                                                   \
	do {                                                                                       \
		int guest_result = (call);                                                         \
		ck_assert_msg(guest_result == (error), "%s: %d, not %d", #call, guest_result,      \
			      error);                                                              \
	} while (0)

/* A seed's bytes, so that a reader can tell where a byte came from. */
void guest_pattern(void *memory, uint64_t size, uint64_t seed);

unsigned int guest_chips(void);
int guest_open(unsigned int chip);
struct drm_trn_query_device guest_info(int fd);
/* rmmod, without the time that it takes to start a program. */
int guest_unload_module(void);
/* Free HBM of all stacks. */
uint64_t guest_free(int fd);

/* One ioctl, not restarted. */
int guest_ioctl(int fd, unsigned long request, void *argument);

uint32_t guest_context(int fd);
uint32_t guest_bo(int fd, uint32_t placement, uint64_t size);
void *guest_map(int fd, uint32_t handle, uint64_t size);
int guest_bind(int fd, uint32_t context, uint32_t handle, uint64_t va, uint64_t size);
int guest_unbind(int fd, uint32_t context, uint64_t va, uint64_t size);

uint32_t guest_kernel_queue(int fd, uint32_t context, uint32_t entries);
uint32_t guest_syncobj(int fd);
/* Submits a job that signals @syncobj. */
int guest_submit(int fd, uint32_t queue, const struct trn_packet *packets, uint32_t count,
		 uint32_t syncobj);
/* Waits at most @seconds and returns what the job ended with. */
int guest_job(int fd, uint32_t syncobj, int seconds);

struct trn_packet guest_copy(uint64_t destination, uint64_t source, uint64_t length);
struct trn_packet guest_fill(uint64_t destination, uint64_t length, uint64_t pattern,
			     uint8_t unit_log2);

/* A user queue with its memory, at a fixed address of its context. */
#define GUEST_RING_ENTRIES 16
#define GUEST_RING_VA	   UINT64_C(0x7000000000)
#define GUEST_FENCE_VA	   (GUEST_RING_VA + 4096)

struct guest_user_queue {
	int fd;
	uint32_t id;
	uint32_t memory; /* handle of ring and fence */
	struct trn_packet *ring;
	volatile uint64_t *fence;
	struct trn_control *control;
	volatile uint32_t *doorbell;
};

struct guest_user_queue guest_user_queue(int fd, uint32_t context);
/* Puts a packet at the tail, stores tail and rings. */
void guest_push(struct guest_user_queue *queue, const struct trn_packet *packet);
struct trn_packet guest_fence_write(uint64_t value);
struct trn_packet guest_fence_wait(uint64_t value);
int guest_wait(struct guest_user_queue *queue, uint64_t value, int64_t deadline);

#endif /* TRN_TESTS_GUEST_H */
