/* SPDX-License-Identifier: MIT */
#ifndef TRN_FENCE_H
#define TRN_FENCE_H

#include <stdint.h>

/* What a sync_file was signalled with: 1 = success, 0 = not yet, or negative errno.  No text. */
int trn_fence_status(int fd);

/*
 * A fence of a syncobj's point, 0 = the syncobj is a binary one.  0 or negative errno.
 * No text.
 */
int trn_fence_export(int device_fd, uint32_t syncobj, uint64_t point, int *fd);

#endif /* TRN_FENCE_H */
