/* SPDX-License-Identifier: MIT */
/* The model clock: how long a chip of the generation would take. */
#ifndef TRN_VDEV_CORE_TIME_H
#define TRN_VDEV_CORE_TIME_H

#include "core.h"

uint64_t trn_cycles_ps(const struct trn_core *core, const struct trn_engine *engine,
		       uint64_t cycles);

/* The model clock, in cycles of the reference clock. */
uint64_t trn_reference_cycles(const struct trn_core *core);

/* From the end of an instruction's busy time until its effects are visible. */
uint64_t trn_depth_ps(const struct trn_core *core, const struct trn_engine *engine,
		      const struct trn_instruction *instruction);

/* How long a transfer of runs of so many bytes takes on its ring. */
uint64_t trn_transfer_ps(const struct trn_core *core, uint64_t runs, uint64_t bytes_of_run);

/* When the instruction's ring has room, or 0: it needs none. */
uint64_t trn_ring_room_ps(const struct trn_core *core, const struct trn_instruction *instruction);

/* Puts a transfer on the instruction's ring now: when it will have ended. */
uint64_t trn_ring_add(struct trn_core *core, const struct trn_instruction *instruction,
		      uint64_t transfer_ps);

#endif /* TRN_VDEV_CORE_TIME_H */
