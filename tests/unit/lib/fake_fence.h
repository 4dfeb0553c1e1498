/* SPDX-License-Identifier: MIT */
/* Fences and syncobjs of the driver in fake.c.  All with the lock held. */
#ifndef TRN_TESTS_FAKE_FENCE_H
#define TRN_TESTS_FAKE_FENCE_H

#include <stdbool.h>
#include <stdint.h>

void fake_lock(void);
void fake_unlock(void);
/* Whatever can go on goes on: jobs and bindings that wait for fences. */
void fake_progress(void);

/* Forgets everything. */
void fake_fence_reset(void);
int fake_fence_new(void);
void fake_fence_signal(int fence, int error);
bool fake_fence_signalled(int fence);
int fake_fence_error(int fence);
/* Adds 1 to an eventfd: 0, -EBADF or -EINVAL. */
int fake_eventfd_add(int fd);

/* The fence at a point (0 = binary) of a syncobj, or -1. */
int fake_syncobj_fence(uint32_t handle, uint64_t point);
/* Puts a fence there. */
void fake_syncobj_attach(uint32_t handle, uint64_t point, int fence);

#endif /* TRN_TESTS_FAKE_FENCE_H */
