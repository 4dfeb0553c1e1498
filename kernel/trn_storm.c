// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt storms.
 *
 * An interrupt is of use when a job ends, somebody in the kernel is woken or a command completes,
 * and the chip may raise one for each of these.  A vector that has had many more than that in a
 * short time storms, and is switched off at once.  Then a work finds who is to blame.  Processes
 * decide when their queues interrupt: queues that had next to no use of it are masked, without
 * any such all user queues, and the vector is switched on again.  If they are masked already it is
 * the chip, and the vector stays off.  What is masked or off is polled, and tried again after a
 * second.
 */
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/pci.h>

#include <drm/trn_accel.h>

#include "trn_device.h"
#include "trn_irq.h"
#include "trn_queue.h"

#define TRN_STORM_WINDOW_MS		10
/* Interrupts without use, in a window. */
#define TRN_STORM_USELESS_MAX		50
/* A user queue is not to blame if it had a use for every so many of them. */
#define TRN_STORM_USELESS_PER_USE	8
#define TRN_STORM_POLL_MS		20
#define TRN_STORM_PAUSE_MS		1000

static void trn_storm_begin_window(struct trn_vector *vector)
{
	struct trn_queue *queue;

	lockdep_assert_held(&vector->lock);

	vector->window_end = jiffies + msecs_to_jiffies(TRN_STORM_WINDOW_MS);
	vector->interrupts = 0;
	vector->uses = 0;
	list_for_each_entry(queue, &vector->queues, vector_link)
		queue->interrupt_uses = 0;
}

/* Counts an interrupt with its @uses. */
void trn_storm_count(struct trn_vector *vector, unsigned int uses)
{
	lockdep_assert_held(&vector->lock);

	if (time_after_eq(jiffies, vector->window_end))
		trn_storm_begin_window(vector);
	vector->uses += uses;
	if (++vector->interrupts <= vector->uses + TRN_STORM_USELESS_MAX ||
	    vector->state != TRN_VECTOR_ON)
		return;
	vector->useless = vector->interrupts - vector->uses;
	vector->state = TRN_VECTOR_STORMING;
	disable_irq_nosync(vector->irq);
	mod_delayed_work(vector->tdev->wq, &vector->tdev->storm_work, 0);
}

/* False if the chip does not do it. */
static bool trn_storm_mask_on_chip(struct trn_queue *queue, bool masked)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_QUEUE_MASK,
		.queue = {
			.queue = cpu_to_le16(queue->id),
			.masked = masked,
		},
	};
	int ret = -ENODEV;

	/* Before it is destroyed, and another has its id. */
	mutex_lock(&queue->mmap_lock);
	if (!queue->revoked)
		ret = trn_admin_exec(queue->tdev, queue->epoch, &cmd);
	mutex_unlock(&queue->mmap_lock);
	return !ret;
}

/* Which queues of a vector are masked, or unmasked. */
enum trn_storm_choice {
	TRN_STORM_OVER,		/* masked for long enough: unmask them */
	TRN_STORM_GUILTY,	/* by the uses that they have had for their interrupts */
	TRN_STORM_SUSPECT,	/* any user queue: one may make itself some uses */
};

static bool trn_storm_chosen(const struct trn_vector *vector, const struct trn_queue *queue,
			     enum trn_storm_choice choice)
{
	if (choice == TRN_STORM_OVER)
		return queue->masked && time_after_eq(jiffies, queue->masked_until);
	if (queue->mode != DRM_TRN_QUEUE_USER || queue->masked)
		return false;
	return choice == TRN_STORM_SUSPECT ||
	       queue->interrupt_uses * TRN_STORM_USELESS_PER_USE < vector->useless;
}

/* A queue of the vector, with a reference, or NULL; it is being masked, or not, from here on. */
static struct trn_queue *trn_storm_find(struct trn_vector *vector, enum trn_storm_choice choice)
{
	struct trn_queue *queue, *found = NULL;

	spin_lock_irq(&vector->lock);
	list_for_each_entry(queue, &vector->queues, vector_link) {
		if (!trn_storm_chosen(vector, queue, choice))
			continue;
		queue->masked = choice != TRN_STORM_OVER;
		queue->masked_until = jiffies + msecs_to_jiffies(TRN_STORM_PAUSE_MS);
		kref_get(&queue->ref);
		found = queue;
		break;
	}
	spin_unlock_irq(&vector->lock);
	return found;
}

/* Returns whether a queue was masked, or unmasked. */
static bool trn_storm_mask(struct trn_vector *vector, enum trn_storm_choice choice)
{
	struct trn_queue *queue;
	bool done = false;

	while ((queue = trn_storm_find(vector, choice))) {
		done |= trn_storm_mask_on_chip(queue, choice != TRN_STORM_OVER);
		trn_queue_put(queue);
	}
	return done;
}

static void trn_storm_switch_on(struct trn_vector *vector)
{
	spin_lock_irq(&vector->lock);
	vector->state = TRN_VECTOR_ON;
	trn_storm_begin_window(vector);
	spin_unlock_irq(&vector->lock);
	enable_irq(vector->irq);
}

static void trn_storm_stay_off(struct trn_vector *vector)
{
	vector->off_until = jiffies + msecs_to_jiffies(TRN_STORM_PAUSE_MS);
	vector->state = TRN_VECTOR_OFF;
	if (!vector->blamed)
		dev_warn(&vector->tdev->pdev->dev,
			 "chip raises interrupt %u without reason; such interrupts will be ignored\n",
			 (unsigned int)(vector - vector->tdev->vectors));
	vector->blamed = true;
}

static bool trn_storm_has_masked(struct trn_vector *vector)
{
	struct trn_queue *queue;
	bool has = false;

	spin_lock_irq(&vector->lock);
	list_for_each_entry(queue, &vector->queues, vector_link)
		has |= queue->masked;
	spin_unlock_irq(&vector->lock);
	return has;
}

/* Returns whether the vector must be looked at again. */
static bool trn_storm_handle(struct trn_vector *vector)
{
	trn_storm_mask(vector, TRN_STORM_OVER);
	/* Only the interrupt leaves ON, only this leaves the others. */
	switch (READ_ONCE(vector->state)) {
	case TRN_VECTOR_ON:
		break;
	case TRN_VECTOR_STORMING:
		/* The chip is blamed when no process can be. */
		if (trn_storm_mask(vector, TRN_STORM_GUILTY) ||
		    trn_storm_mask(vector, TRN_STORM_SUSPECT))
			trn_storm_switch_on(vector);
		else
			trn_storm_stay_off(vector);
		break;
	case TRN_VECTOR_OFF:
		if (time_after_eq(jiffies, vector->off_until))
			trn_storm_switch_on(vector);
		break;
	}
	if (READ_ONCE(vector->state) == TRN_VECTOR_ON && !trn_storm_has_masked(vector))
		return false;
	trn_irq_poll_vector(vector);
	return true;
}

static void trn_storm_work(struct work_struct *work)
{
	struct trn_device *tdev = container_of(to_delayed_work(work), struct trn_device,
					       storm_work);
	bool again = false;
	unsigned int i;

	/* A stopped chip raises none, and on removal they are about to be freed. */
	if (trn_device_gone(tdev))
		return;
	for (i = 0; i < tdev->num_vectors; i++)
		again |= trn_storm_handle(&tdev->vectors[i]);
	if (again)
		queue_delayed_work(tdev->wq, &tdev->storm_work,
				   msecs_to_jiffies(TRN_STORM_POLL_MS));
}

/* Managed: after the interrupts have been freed. */
static void trn_storm_cancel(void *tdev)
{
	cancel_delayed_work_sync(&((struct trn_device *)tdev)->storm_work);
}

int trn_storm_init(struct trn_device *tdev)
{
	INIT_DELAYED_WORK(&tdev->storm_work, trn_storm_work);
	return devm_add_action_or_reset(&tdev->pdev->dev, trn_storm_cancel, tdev);
}
