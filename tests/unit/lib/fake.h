/* SPDX-License-Identifier: MIT */
/*
 * A driver and a chip for tests of libtrn: takes the place of libdrm's functions and of
 * ioctl() in the program, and does in memory what include/uapi/drm/trn_accel.h says.
 * One device at a time; all memory is a memfd, so that mmap() is the real one.
 */
#ifndef TRN_TESTS_FAKE_H
#define TRN_TESTS_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/trn_accel.h>
#include <hw/trn_isa.h>
#include <hw/trn_queue.h>

#define FAKE_STACKS	 4
#define FAKE_STACK_SIZE	 (UINT64_C(16) << 20)
#define FAKE_CPU_VISIBLE (UINT64_C(4) << 20)

/* FP32 … INT32, but no MX types. */
#define FAKE_DTYPES	 0xff

struct fake_options {
	const char *driver;    /* NULL = "trn" */
	int version_major;     /* 0 = 1 */
	unsigned int contexts; /* that there may be; 0 = 8 */
	unsigned int queues;   /* 0 = 8 */
	uint64_t quota;	       /* bytes of HBM, 0 = all */
};

/* A path that trn_device_open_path() opens; valid until fake_stop(). */
const char *fake_start(const struct fake_options *options);
/* Ends the threads and fails the test if an object was left over. */
void fake_stop(void);

/* The chip is gone: every call fails with -ENODEV from now on, user queues stand still. */
void fake_kill(void);
/* The chip is reset: contexts are lost, user queues stand still and are told so. */
void fake_reset(void);
/* The device stops at the next packet of any queue, with a reason, TRN_STOP_*. */
void fake_stop_at_next_packet(uint32_t reason);
/* The same, as an exception of a program, TRN_EXCEPTION_*. */
void fake_fail_next_program(uint32_t exception, uint32_t engine, uint32_t instruction);
/* As at a bad address. */
void fake_break_next_packet(void);
/* The device takes no packets while held. */
void fake_hold(bool hold);

/* An ioctl will fail, once, after @skip that do not. */
void fake_fail(unsigned long request, unsigned int skip, int error);

/* The QUEUE_CREATE that succeeded last. */
struct drm_trn_queue_create fake_last_queue(void);

/* The EXEC that was executed last, or the one @back before it, at most FAKE_EXECS - 1. */
#define FAKE_EXECS 8
struct trn_packet fake_last_exec(void);
struct trn_packet fake_earlier_exec(unsigned int back);
/* What EXECs write as their result. */
void fake_set_result(const struct trn_exec_result *result);
/*
 * Copies what a device sees at addresses of the context that was made first; fails the test unless
 * they are bound, as read-only or not.
 */
void fake_peek(uint64_t va, void *data, uint64_t size, bool readonly);

/* Threads that wait for a syncobj now. */
unsigned int fake_waiters(void);
/* ioctls of the driver made so far. */
unsigned int fake_ioctls(void);
/* Objects that have a handle. */
unsigned int fake_objects(void);
/* The name of the object of that size. */
const char *fake_name(uint64_t size);
/* A dma-buf of another driver, whose memory is @memory. */
int fake_dma_buf(uint8_t *memory, uint64_t size);

#endif /* TRN_TESTS_FAKE_H */
