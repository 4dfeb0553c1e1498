/* SPDX-License-Identifier: MIT */
/* Instructions: whether they are valid, and what they do. */
#ifndef TRN_VDEV_EXECUTE_H
#define TRN_VDEV_EXECUTE_H

#include <stdbool.h>

#include "core.h"

/* What holds for an instruction before it is issued: false with an exception. */
bool trn_instruction_check(struct trn_core *core, const struct trn_engine *engine);

/* Sets core->execution: false with an exception. Control instructions are done then. */
bool trn_instruction_prepare(struct trn_core *core, const struct trn_instruction *instruction);

/* What prepares the instructions of an opcode, by file. */
typedef bool trn_prepare(struct trn_core *core, const struct trn_instruction *instruction);

trn_prepare trn_prepare_nop, trn_prepare_move, trn_prepare_add, trn_prepare_multiply,
	trn_prepare_branch;						       /* control.c */
trn_prepare trn_prepare_transfer, trn_prepare_timestamp;		       /* transfer.c */
trn_prepare trn_prepare_stationary, trn_prepare_matmul, trn_prepare_transpose; /* tensor.c */
trn_prepare trn_prepare_copy, trn_prepare_fill, trn_prepare_tensor_tensor,
	trn_prepare_tensor_scalar, trn_prepare_activate; /* element.c */
trn_prepare trn_prepare_reduce, trn_prepare_select, trn_prepare_bn_stats,
	trn_prepare_bn_aggregate; /* vector.c */
trn_prepare trn_prepare_iota, trn_prepare_mask, trn_prepare_gather, trn_prepare_scatter,
	trn_prepare_shuffle, trn_prepare_broadcast, trn_prepare_top_k; /* gpsimd.c */

#endif /* TRN_VDEV_EXECUTE_H */
