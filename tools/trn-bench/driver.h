/* SPDX-License-Identifier: MIT */
/* The driver's calls, each of them one system call and no more, so that it is the driver that is
 * measured. */
#ifndef TRN_BENCH_DRIVER_H
#define TRN_BENCH_DRIVER_H

#include <stdint.h>

#include <drm/trn_accel.h>
#include <hw/trn_queue.h>

/* A context of an open chip; all that is made of it goes with driver_close(). */
struct driver {
	int fd;
	uint32_t context;
};

/* All return 0, or negative errno with a sentence in bench_error_message(). */
int driver_open(const char *node, struct driver *driver);
void driver_close(struct driver *driver);

int driver_call(const struct driver *driver, unsigned long command, void *arguments,
		const char *name);

/* Makes an object of @size bytes, binds it to @va, and says its handle. */
int driver_make_memory(const struct driver *driver, uint32_t placement, uint64_t size, uint64_t va,
		       uint32_t *handle);

/* Makes the queue that *create describes but for its context. */
int driver_make_queue(const struct driver *driver, struct drm_trn_queue_create *create);

/* Maps @size bytes at an offset that the driver said; NULL = it failed. */
void *driver_map(const struct driver *driver, uint64_t size, uint64_t offset);

#endif /* TRN_BENCH_DRIVER_H */
