/* SPDX-License-Identifier: MIT */
/* Interrupt vectors: those of queues are raised no more often than software wants. */
#ifndef TRN_VDEV_VECTORS_H
#define TRN_VDEV_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "registers.h"

struct trn_chip;

struct trn_vectors {
	uint64_t interval; /* ns */
	uint64_t next;	   /* device time from which trn_vectors_run() has work, or UINT64_MAX */
	struct {
		bool raised; /* at some time: */
		uint64_t raised_at;
		bool due;	  /* to be raised when the interval has passed */
		uint64_t late_at; /* injected: device time at which it arrives; 0: none does */
	} vector[TRN_VECTORS];
};

/* Values after ENABLE. */
void trn_vectors_reset(struct trn_vectors *vectors);

/* Raises a vector now, or when its interval has passed. */
void trn_vectors_raise(struct trn_chip *chip, unsigned int vector);

/* Raises those whose interval has passed, and those that are late. */
void trn_vectors_run(struct trn_chip *chip);

/* Takes over a new interval, in ns. */
void trn_vectors_set_interval(struct trn_chip *chip, uint64_t interval);

#endif /* TRN_VDEV_VECTORS_H */
