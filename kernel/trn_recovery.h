/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_RECOVERY_H
#define _TRN_RECOVERY_H

#include <linux/types.h>

struct trn_device;
struct trn_queue;
struct trn_stop;

/* What it took to stop a queue. */
enum trn_rung {
	TRN_RUNG_NONE,			/* the chip has stopped it */
	TRN_RUNG_QUEUE,
	TRN_RUNG_CONTEXT,
	TRN_RUNG_CORE,
	TRN_RUNG_FUNCTION,
};

const char *trn_rung_name(enum trn_rung rung);

void trn_recovery_init(struct trn_device *tdev);
void trn_recovery_fini(struct trn_device *tdev);
void trn_recovery_note_stop(struct trn_device *tdev, u32 id, const struct trn_stop *stop);
void trn_recovery_stop_queue(struct trn_queue *queue, const struct trn_stop *stop);
void trn_recovery_free_engine(struct trn_queue *queue);

#endif /* _TRN_RECOVERY_H */
