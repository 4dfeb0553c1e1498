/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_COREDUMP_H
#define _TRN_COREDUMP_H

#include "trn_recovery.h"

struct trn_coredump;
struct trn_device;
struct trn_queue;
struct trn_stop;

int trn_coredump_init(struct trn_device *tdev);
void trn_coredump_stop(struct trn_device *tdev);
struct trn_coredump *trn_coredump_take_queue(struct trn_queue *queue, const struct trn_stop *stop,
					     enum trn_rung rung);
struct trn_coredump *trn_coredump_take_function(struct trn_device *tdev);
void trn_coredump_publish(struct trn_coredump *dump, enum trn_rung rung);

#endif /* _TRN_COREDUMP_H */
