// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: vector 0 is the admin queue's, the others are spread over the
 * queues.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

#include "trn_device.h"
#include "trn_irq.h"
#include "trn_queue.h"

static unsigned int interrupt_interval_us;
module_param(interrupt_interval_us, uint, 0444);
MODULE_PARM_DESC(interrupt_interval_us,
		 "Shortest time between interrupts of a vector of queues in us, 1000000 at most (default 0)");

static irqreturn_t trn_irq_admin(int irq, void *arg)
{
	struct trn_vector *vector = arg;
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	trn_storm_count(vector, 0);
	spin_unlock_irqrestore(&vector->lock, flags);
	return IRQ_WAKE_THREAD;
}

static void trn_irq_poll_admin(struct trn_vector *vector)
{
	unsigned int completions = trn_admin_poll(vector->tdev);
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	vector->uses += completions;
	spin_unlock_irqrestore(&vector->lock, flags);
}

static irqreturn_t trn_irq_admin_thread(int irq, void *arg)
{
	trn_irq_poll_admin(arg);
	return IRQ_HANDLED;
}

/* Returns how many there were who cared. */
static unsigned int trn_irq_progress(struct trn_vector *vector)
{
	struct trn_queue *queue;
	unsigned int sum = 0;

	lockdep_assert_held(&vector->lock);

	list_for_each_entry(queue, &vector->queues, vector_link) {
		unsigned int uses = trn_queue_progress(queue);

		queue->interrupt_uses += uses;
		sum += uses;
	}
	return sum;
}

static irqreturn_t trn_irq_queues(int irq, void *arg)
{
	struct trn_vector *vector = arg;
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	trn_storm_count(vector, trn_irq_progress(vector));
	spin_unlock_irqrestore(&vector->lock, flags);
	return IRQ_HANDLED;
}

static void trn_irq_poll_queues(struct trn_vector *vector)
{
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	trn_irq_progress(vector);
	spin_unlock_irqrestore(&vector->lock, flags);
}

void trn_irq_poll_vector(struct trn_vector *vector)
{
	if (vector == vector->tdev->vectors)
		trn_irq_poll_admin(vector);
	else
		trn_irq_poll_queues(vector);
}

/* As if every vector had been raised. */
void trn_irq_poll(struct trn_device *tdev)
{
	unsigned int i;

	for (i = 0; i < tdev->num_vectors; i++)
		trn_irq_poll_vector(&tdev->vectors[i]);
}

static struct trn_vector *trn_irq_vector(struct trn_queue *queue)
{
	struct trn_device *tdev = queue->tdev;

	return &tdev->vectors[1 + queue->id % (tdev->num_vectors - 1)];
}

/* The MSI-X vector that the chip is to raise for @queue. */
u16 trn_irq_vector_index(struct trn_queue *queue)
{
	return trn_irq_vector(queue) - queue->tdev->vectors;
}

/* Returns trn_irq_vector_index(). */
u16 trn_irq_add_queue(struct trn_queue *queue)
{
	struct trn_vector *vector = trn_irq_vector(queue);
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	list_add_tail(&queue->vector_link, &vector->queues);
	spin_unlock_irqrestore(&vector->lock, flags);
	return trn_irq_vector_index(queue);
}

/* No interrupt handler uses @queue after this. */
void trn_irq_remove_queue(struct trn_queue *queue)
{
	struct trn_vector *vector = trn_irq_vector(queue);
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	list_del(&queue->vector_link);
	spin_unlock_irqrestore(&vector->lock, flags);
}

/* The chip has just been enabled and moderates nothing.  As trn_device_boot(). */
int trn_irq_moderate(struct trn_device *tdev)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_SET_FEATURE,
		.feature = {
			.feature = TRN_FEATURE_INTERRUPT_INTERVAL,
			.value = cpu_to_le64(min(interrupt_interval_us,
						 TRN_INTERRUPT_INTERVAL_MAX)),
		},
	};
	int ret;

	if (!interrupt_interval_us)
		return 0;
	ret = trn_admin_exec(tdev, trn_device_epoch(tdev), &cmd);
	if (ret > 0) {
		trn_device_fail(tdev, "it refused to moderate interrupts, status %d", ret);
		ret = -ENODEV;
	}
	return ret;
}

static int trn_irq_request(struct trn_device *tdev, unsigned int index)
{
	struct trn_vector *vector = &tdev->vectors[index];
	struct device *dev = &tdev->pdev->dev;
	int ret;

	vector->tdev = tdev;
	vector->irq = pci_irq_vector(tdev->pdev, index);
	vector->state = TRN_VECTOR_ON;
	vector->window_end = jiffies;
	spin_lock_init(&vector->lock);
	INIT_LIST_HEAD(&vector->queues);
	if (index)
		ret = devm_request_irq(dev, vector->irq, trn_irq_queues, 0, "trn-queues", vector);
	else
		ret = devm_request_threaded_irq(dev, vector->irq, trn_irq_admin,
						trn_irq_admin_thread, 0, "trn-admin", vector);
	if (ret)
		return dev_err_probe(dev, ret, "cannot request interrupt %u\n", index);
	return 0;
}

int trn_irq_init(struct trn_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	struct device *dev = &pdev->dev;
	unsigned int i, wanted;
	int count, ret;

	wanted = min(tdev->caps.vectors, num_online_cpus() + 1);
	count = pci_alloc_irq_vectors(pdev, 2, wanted, PCI_IRQ_MSIX);
	if (count < 0)
		return dev_err_probe(dev, count, "cannot get 2 to %u MSI-X vectors\n", wanted);

	tdev->num_vectors = count;
	tdev->vectors = devm_kcalloc(dev, count, sizeof(*tdev->vectors), GFP_KERNEL);
	if (!tdev->vectors)
		return -ENOMEM;
	/* Before the interrupts: what they schedule is cancelled after they are freed. */
	ret = trn_storm_init(tdev);
	for (i = 0; i < count && !ret; i++)
		ret = trn_irq_request(tdev, i);
	return ret;
}
