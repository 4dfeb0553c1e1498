/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_IRQ_H
#define _TRN_IRQ_H

#include <linux/list.h>
#include <linux/spinlock.h>

struct trn_device;
struct trn_queue;

/* One MSI-X vector and the queues that share it. */
struct trn_vector {
	/* Protects queues; taken in interrupt context, outside of trn_queue.lock. */
	spinlock_t lock;
	struct list_head queues;
};

int trn_irq_init(struct trn_device *tdev);
void trn_irq_poll(struct trn_device *tdev);
u16 trn_irq_add_queue(struct trn_queue *queue);
void trn_irq_remove_queue(struct trn_queue *queue);

#endif /* _TRN_IRQ_H */
