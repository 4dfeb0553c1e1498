/* SPDX-License-Identifier: MIT */
/*
 * MSI-X vectors: an event descriptor of the client's for each, and the pending
 * bit of those that have none.  Any thread.
 */
#ifndef TRN_VDEV_VFIO_USER_INTERRUPTS_H
#define TRN_VDEV_VFIO_USER_INTERRUPTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct trn_interrupts {
	pthread_mutex_t lock; /* the members of vectors */
	unsigned int count;   /* constant */
	struct trn_vector *vectors;
};

/* 0 or -ENOMEM. */
int trn_interrupts_init(struct trn_interrupts *interrupts, unsigned int count);
void trn_interrupts_destroy(struct trn_interrupts *interrupts);

/*
 * Gives vector a descriptor, which becomes the callee's, or takes it away (fd -1).  A
 * pending interrupt is delivered at once: a client replaces descriptors while
 * the device runs, and none may be lost meanwhile.
 */
void trn_interrupts_set(struct trn_interrupts *interrupts, unsigned int vector, int fd);

/* Signals vector's descriptor, or sets its pending bit.  Never blocks. */
void trn_interrupts_raise(struct trn_interrupts *interrupts, unsigned int vector);

/* Pending bits of vectors first … first + 63, as a PBA entry shows them. */
uint64_t trn_interrupts_pending(struct trn_interrupts *interrupts, unsigned int first);

/* Forgets what is pending; descriptors stay. */
void trn_interrupts_reset(struct trn_interrupts *interrupts);

/* Closes all descriptors and forgets what is pending. */
void trn_interrupts_clear(struct trn_interrupts *interrupts);

#endif /* TRN_VDEV_VFIO_USER_INTERRUPTS_H */
