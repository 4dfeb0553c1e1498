/* SPDX-License-Identifier: MIT */
/*
 * A span is memory behind a virtual address, held for one access of a packet's size
 * or less: the device's view of a pointer.  Spans live inside one step of the chip.
 */
#ifndef TRN_VDEV_SPAN_H
#define TRN_VDEV_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "translate.h"

struct trn_span {
	struct trn_extent extent; /* as translated */
	size_t length;		  /* bytes held, from the extent's start */
	uint8_t *memory;	  /* NULL: host memory without a mapping */
	struct trn_host_map map;  /* held if memory is host memory */
};

/* Holds memory at va, at most length bytes.  False with *fault set. */
bool trn_span_get(struct trn_chip *chip, uint16_t asid, uint64_t va, size_t length, uint8_t access,
		  struct trn_span *span, struct trn_fault *fault);
void trn_span_put(struct trn_chip *chip, struct trn_span *span);

/* Copies length bytes, at most those of one page, out of virtual memory. */
bool trn_span_read(struct trn_chip *chip, uint16_t asid, uint64_t va, void *buffer, size_t length,
		   uint8_t access, struct trn_fault *fault);

/* Loads or stores an aligned 8-byte value in one piece. */
bool trn_span_load64(struct trn_chip *chip, uint16_t asid, uint64_t va, uint64_t *value,
		     struct trn_fault *fault);
bool trn_span_store64(struct trn_chip *chip, uint16_t asid, uint64_t va, uint64_t value,
		      struct trn_fault *fault);

#endif /* TRN_VDEV_SPAN_H */
