/* SPDX-License-Identifier: MIT */
/* A core's way to memory: through the address space of its program. */
#ifndef TRN_VDEV_CORE_MEMORY_H
#define TRN_VDEV_CORE_MEMORY_H

#include "core.h"

/* Copies between virtual memory and a buffer: TRN_ACCESS_WRITE is to memory.  False with a fault.
 */
bool trn_core_access(struct trn_core *core, uint64_t va, void *buffer, size_t length,
		     uint8_t access);

#endif /* TRN_VDEV_CORE_MEMORY_H */
