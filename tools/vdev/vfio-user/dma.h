/* SPDX-License-Identifier: MIT */
/*
 * The client's memory as the device sees it: ranges of DMA addresses, each a
 * piece of a file that the client sent, or reachable by messages only.
 *
 * A file is mapped once, however many ranges show pieces of it: behind an IOMMU
 * each 4 KiB page arrives as a range of its own.
 *
 * Threads: all functions may be called from any thread; trn_dma_hold() and
 * trn_dma_release() are the executor's, the rest are the connection's.
 */
#ifndef TRN_VDEV_VFIO_USER_DMA_H
#define TRN_VDEV_VFIO_USER_DMA_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/vdev/model/host.h"

struct trn_dma {
	pthread_mutex_t lock;	 /* everything below, and what it points to */
	pthread_cond_t released; /* a range that is leaving is held no more */
	void *ranges;		 /* tsearch() tree of struct range, none overlap */
	unsigned int count;
	struct trn_dma_file *files;
};

/*
 * Ranges on their way out: no longer found, perhaps still held.
 */
struct trn_dma_removal {
	struct trn_dma_range *ranges;
};

void trn_dma_init(struct trn_dma *dma);

/* Nothing may be mapped any more. */
void trn_dma_destroy(struct trn_dma *dma);

/*
 * Adds [address, address + size), at offset of fd's file; fd -1: messages only.
 * fd stays the caller's.  0, -EINVAL (not aligned to 4 KiB, empty, beyond the end
 * of the file or of the address space, or a file that cannot be mapped),
 * -EEXIST (overlaps a range), -EACCES (fd does not allow what is asked for),
 * -ENOSPC (VFIO_USER_MAPPINGS_MAX ranges, or too many files), -ENOMEM.
 */
int trn_dma_add(struct trn_dma *dma, uint64_t address, uint64_t size, bool readable, bool writable,
		int fd, uint64_t offset);

/*
 * Takes all ranges within first … last (inclusive) out of the way; that there are
 * none is no error.  -EINVAL, and nothing changed, if one is there in part only.
 * trn_dma_finish_removal() must follow.
 */
int trn_dma_begin_removal(struct trn_dma *dma, uint64_t first, uint64_t last,
			  struct trn_dma_removal *removal);

/* Somebody holds a part of it. */
bool trn_dma_removal_held(struct trn_dma *dma, const struct trn_dma_removal *removal);

/* Waits until nobody holds any of it, and frees it. */
void trn_dma_finish_removal(struct trn_dma *dma, struct trn_dma_removal *removal);

/* struct trn_host_ops.map and unmap. */
int trn_dma_hold(struct trn_dma *dma, uint64_t address, size_t length, bool write,
		 struct trn_host_map *map);
void trn_dma_release(struct trn_dma *dma, struct trn_host_map *map);

unsigned int trn_dma_count(struct trn_dma *dma);

#endif /* TRN_VDEV_VFIO_USER_DMA_H */
