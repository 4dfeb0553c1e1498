/* SPDX-License-Identifier: MIT */
/*
 * Files of clients, mapped.  A client can cut such a file off while we use it, which
 * makes an access raise SIGBUS: all of the file's memory is then replaced by
 * zeros that belong to nobody, and the process goes on.
 *
 * The first call of trn_shared_memory_map() takes SIGBUS over; elsewhere it does
 * what it always did.
 */
#ifndef TRN_VDEV_VFIO_USER_SHARED_MEMORY_H
#define TRN_VDEV_VFIO_USER_SHARED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct trn_shared_memory;

/*
 * Maps the first size bytes of fd's file.  0, -EACCES, -ENOMEM, -ENOSPC (too many
 * files of all clients), or -EINVAL: cannot be mapped.
 */
int trn_shared_memory_map(int fd, uint64_t size, bool writable, struct trn_shared_memory **memory);
void trn_shared_memory_unmap(struct trn_shared_memory *memory);

uint8_t *trn_shared_memory_base(struct trn_shared_memory *memory);

/* The client has cut the file off. */
bool trn_shared_memory_lost(struct trn_shared_memory *memory);

#endif /* TRN_VDEV_VFIO_USER_SHARED_MEMORY_H */
