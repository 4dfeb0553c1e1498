/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_IRQ_H
#define _TRN_IRQ_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct trn_device;
struct trn_queue;

enum trn_vector_state {
	TRN_VECTOR_ON,
	TRN_VECTOR_STORMING,		/* switched off, nobody blamed yet */
	TRN_VECTOR_OFF,			/* the chip is to blame */
};

/* One MSI-X vector and the queues that share it; the first is the admin queue's and has none. */
struct trn_vector {
	struct trn_device *tdev;
	unsigned int irq;
	/*
	 * Protects what follows but off_until and blamed, which are trn_storm_work()'s; taken
	 * in interrupt context, outside of trn_queue.lock.
	 */
	spinlock_t lock;
	struct list_head queues;
	enum trn_vector_state state;
	unsigned long window_end;	/* jiffies; until then are counted: */
	u32 interrupts;
	u32 uses;			/* jobs ended, waiters woken, completions */
	u32 useless;			/* interrupts that made the vector storm */
	unsigned long off_until;	/* jiffies */
	bool blamed;			/* the log says so */
};

int trn_irq_init(struct trn_device *tdev);
int trn_irq_moderate(struct trn_device *tdev);
void trn_irq_poll(struct trn_device *tdev);
void trn_irq_poll_vector(struct trn_vector *vector);
u16 trn_irq_vector_index(struct trn_queue *queue);
u16 trn_irq_add_queue(struct trn_queue *queue);
void trn_irq_remove_queue(struct trn_queue *queue);

/* trn_storm.c */
int trn_storm_init(struct trn_device *tdev);
void trn_storm_count(struct trn_vector *vector, unsigned int uses);

#endif /* _TRN_IRQ_H */
