/* SPDX-License-Identifier: MIT */
#ifndef TRN_TRANSFER_H
#define TRN_TRANSFER_H

#include "box.h"

struct trn_queue;

/*
 * Boxes whose sides are device addresses, or pointers of this process as numbers, as the function
 * says.  All return 0 or negative errno with a text.
 */

/* Takes a packet and makes it copy a piece of trn_box_cut(), device to device. */
int trn_transfer_put(struct trn_queue *queue, const struct trn_box *piece);

/* Copies by the CPU, pointer to pointer. */
void trn_transfer_by_cpu(const struct trn_box *box);

/*
 * Between memory of the process and the device, through the queue's staging memory.  Returns
 * when all is done; everything taken or submitted before is done too.
 */
int trn_transfer_staged_write(struct trn_queue *queue, const struct trn_box *box);
int trn_transfer_staged_read(struct trn_queue *queue, const struct trn_box *box);

#endif /* TRN_TRANSFER_H */
