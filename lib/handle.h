/* SPDX-License-Identifier: MIT */
/*
 * GEM handles.  The kernel gives a file one handle for an object however often it is
 * imported, and closes it at the first GEM_CLOSE: so users are counted here.
 */
#ifndef TRN_HANDLE_H
#define TRN_HANDLE_H

#include <stdint.h>

struct trn_device;

/* A new handle has its first user.  On failure (-ENOMEM) it is closed. */
int trn_handle_hold(struct trn_device *device, uint32_t handle);

/* The handle of a dma-buf, with a user more.  0 or negative errno. */
int trn_handle_import(struct trn_device *device, int fd, uint32_t *handle);

/* A user less; the last one closes the handle. */
void trn_handle_release(struct trn_device *device, uint32_t handle);

#endif /* TRN_HANDLE_H */
