/* SPDX-License-Identifier: MIT */
/*
 * What a chip needs from the world outside it: host memory and interrupts.
 *
 * The vfio-user server implements this over a client's DMA mappings; unit tests
 * implement it over plain memory.  All functions may be called from the chip's
 * executor thread at any time, interrupt() also from a thread that injects a fault, and must
 * not call back into the chip.
 */
#ifndef TRN_VDEV_HOST_H
#define TRN_VDEV_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A piece of host memory held by map().  While it is held the memory stays
 * valid: an unmap by the host waits for unmap().
 */
struct trn_host_map {
	void *address; /* of the byte asked for */
	size_t length; /* bytes usable from address, may be less than asked for */
	/*
	 * All that the map holds, at least what was asked for and got: host DMA addresses
	 * first … last (inclusive), contiguous in memory and thus found relative to address.
	 */
	uint64_t first;
	uint64_t last;
	void *token; /* the implementation's own */
};

struct trn_host_ops {
	/*
	 * Holds the memory at [dma, dma + length), or a first part of it.
	 * Returns 0, -EFAULT when dma is not mapped with the wanted access, or
	 * -EOPNOTSUPP when it is memory that only read() and write() can
	 * reach (another device's BAR).
	 */
	int (*map)(void *host, uint64_t dma, size_t length, bool write, struct trn_host_map *map);
	void (*unmap)(void *host, struct trn_host_map *map);

	/* Copies exactly length bytes.  0 or -EFAULT. */
	int (*read)(void *host, uint64_t dma, void *buffer, size_t length);
	int (*write)(void *host, uint64_t dma, const void *buffer, size_t length);

	/* Raises an MSI-X vector. */
	void (*interrupt)(void *host, unsigned int vector);
};

#endif /* TRN_VDEV_HOST_H */
