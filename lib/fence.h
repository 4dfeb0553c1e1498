/* SPDX-License-Identifier: MIT */
#ifndef TRN_FENCE_H
#define TRN_FENCE_H

#include <stdint.h>

/*
 * What a sync_file was signalled with: 1 = success, 0 = not yet, or negative errno, -ETIMEDOUT for
 * -ETIME.  No text.
 */
int trn_fence_status(int fd);

/* The following return 0 or negative errno, without a text. */

/* A fence of a syncobj's point, 0 = the syncobj is a binary one. */
int trn_fence_export(int device_fd, uint32_t syncobj, uint64_t point, int *fd);

/* Makes a binary syncobj whose fence is signalled. */
int trn_fence_signalled(int device_fd, uint32_t *syncobj);

/* Adds 1 to an eventfd when a binary syncobj's fence, which there is, is signalled. */
int trn_fence_notify(int device_fd, uint32_t syncobj, int eventfd);

#endif /* TRN_FENCE_H */
