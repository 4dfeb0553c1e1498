/* SPDX-License-Identifier: MIT */
/* The peer: an NVMe disk, of which nothing is changed. */
#ifndef TRN_BENCH_NVME_H
#define TRN_BENCH_NVME_H

#include <stdbool.h>

struct nvme;

/* All that return an int return 0, or negative errno with a sentence in bench_error_message(). */

/*
 * @peer: a block device, "none", or NULL for /dev/nvme0n1 where it can be read.  *nvme = NULL:
 * there is none, and need not be.
 */
int nvme_open_peer(const char *peer, struct nvme **nvme);
void nvme_close(struct nvme *nvme);

/* Whether the driver has a queue that it can poll (its parameter poll_queues). */
bool nvme_can_poll(const struct nvme *nvme);

/* Each is one system call. */
int nvme_flush(struct nvme *nvme);
int nvme_read(struct nvme *nvme); /* 4 KiB, ends by interrupt */
int nvme_read_polled(struct nvme *nvme);

#endif /* TRN_BENCH_NVME_H */
