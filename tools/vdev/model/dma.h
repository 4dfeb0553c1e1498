/* SPDX-License-Identifier: MIT */
/* The bulk packets: COPY, COPY_ND and FILL. */
#ifndef TRN_VDEV_DMA_H
#define TRN_VDEV_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include <hw/trn_queue.h>

#include "translate.h"

/* About how many bytes of a packet one unit moves at most. */
#define TRN_DMA_UNIT (1U << 20)

/* TRN_STOP_BAD_FIELD or 0. */
uint8_t trn_copy_check(const struct trn_packet *packet);
uint8_t trn_copy_nd_check(const struct trn_packet *packet);
uint8_t trn_fill_check(const struct trn_packet *packet);

/*
 * Each does one unit of a checked packet and advances *done, the bytes finished; in
 * which order they are is the function's own matter.  False with *fault set.
 */
bool trn_copy_unit(struct trn_chip *chip, uint16_t asid, const struct trn_packet *packet,
		   uint64_t *done, struct trn_fault *fault);
bool trn_fill_unit(struct trn_chip *chip, uint16_t asid, const struct trn_packet *packet,
		   uint64_t *done, struct trn_fault *fault);

/* The bytes of a checked packet: it is complete when so many are done. */
uint64_t trn_dma_length(const struct trn_packet *packet);

#endif /* TRN_VDEV_DMA_H */
