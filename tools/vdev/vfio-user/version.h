/* SPDX-License-Identifier: MIT */
/* Capabilities of VERSION messages: JSON in, JSON out. */
#ifndef TRN_VDEV_VFIO_USER_VERSION_H
#define TRN_VDEV_VFIO_USER_VERSION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the client's version data: size bytes, none or JSON that ends with a NUL.
 * Sets *data_max to the data that it takes in one message, and *reply to our
 * capabilities, those only that it knows: a string for free(), NULL if the client
 * sent none.  NULL, or what is wrong.
 */
const char *trn_version_negotiate(const char *data, size_t size, uint64_t *data_max, char **reply);

#endif /* TRN_VDEV_VFIO_USER_VERSION_H */
