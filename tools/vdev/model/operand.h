/* SPDX-License-Identifier: MIT */
/*
 * One operand of a bulk packet on its way through virtual memory.  It keeps the
 * last translation, the last piece of host memory and what it has learnt of holes in
 * HBM, so that a next access nearby costs a few comparisons.  Operands live inside one
 * step of the chip.
 */
#ifndef TRN_VDEV_OPERAND_H
#define TRN_VDEV_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "translate.h"

struct trn_operand {
	/* constant */
	struct trn_chip *chip;
	uint16_t asid;
	uint8_t access; /* TRN_ACCESS_READ or TRN_ACCESS_WRITE */
	bool find_holes;

	/* The piece that trn_operand_seek() found. */
	uint64_t va;
	uint64_t address; /* in HBM, or host DMA address */
	size_t length;
	bool hbm;
	bool hole;	 /* only with find_holes: trn_hbm_hole() */
	uint8_t *memory; /* NULL: host memory without a mapping; never more than a page */

	/* What is kept. */
	unsigned int moves; /* seeks that were not satisfied by it */
	uint64_t extent_va;
	struct trn_extent extent; /* length 0: none */
	bool held;
	struct trn_host_map map;
	uint8_t *map_start;		 /* memory of map.first */
	uint64_t known_start, known_end; /* HBM: all hole, or taken for written */
	bool known_hole;
};

/*
 * Finds memory at va, 1 … length bytes of it.  False with *fault set when the byte
 * at va cannot be accessed.
 */
bool trn_operand_seek(struct trn_operand *operand, uint64_t va, size_t length,
		      struct trn_fault *fault);

/* Ends the use of an operand, whatever happened to it. */
void trn_operand_release(struct trn_operand *operand);

/* Copies length bytes, which both operands have. */
bool trn_operand_copy(const struct trn_operand *destination, const struct trn_operand *source,
		      size_t length, struct trn_fault *fault);

/* Repeats pattern over length bytes, which the operand has. */
bool trn_operand_fill(const struct trn_operand *destination, size_t length, uint64_t pattern,
		      struct trn_fault *fault);

/* Fills length bytes with zeroes, and HBM takes less memory then if it can. */
bool trn_operand_zero(const struct trn_operand *destination, size_t length,
		      struct trn_fault *fault);

#endif /* TRN_VDEV_OPERAND_H */
