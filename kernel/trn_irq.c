// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: vector 0 is the admin queue's, the others are spread over the
 * queues.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/pci.h>

#include "trn_device.h"
#include "trn_irq.h"
#include "trn_queue.h"

static irqreturn_t trn_irq_admin(int irq, void *arg)
{
	return IRQ_WAKE_THREAD;
}

static irqreturn_t trn_irq_admin_thread(int irq, void *arg)
{
	trn_admin_poll(arg);
	return IRQ_HANDLED;
}

static irqreturn_t trn_irq_queues(int irq, void *arg)
{
	struct trn_vector *vector = arg;
	struct trn_queue *queue;
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	list_for_each_entry(queue, &vector->queues, vector_link)
		trn_queue_progress(queue);
	spin_unlock_irqrestore(&vector->lock, flags);
	return IRQ_HANDLED;
}

/* As if every vector had been raised. */
void trn_irq_poll(struct trn_device *tdev)
{
	unsigned int i;

	trn_admin_poll(tdev);
	for (i = 0; i < tdev->num_vectors; i++)
		trn_irq_queues(0, &tdev->vectors[i]);
}

static struct trn_vector *trn_irq_vector(struct trn_queue *queue)
{
	return &queue->tdev->vectors[queue->id % queue->tdev->num_vectors];
}

/* Returns the MSI-X vector that the chip is to raise for @queue. */
u16 trn_irq_add_queue(struct trn_queue *queue)
{
	struct trn_vector *vector = trn_irq_vector(queue);
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	list_add_tail(&queue->vector_link, &vector->queues);
	spin_unlock_irqrestore(&vector->lock, flags);
	return 1 + (vector - queue->tdev->vectors);
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

	tdev->num_vectors = count - 1;
	tdev->vectors = devm_kcalloc(dev, tdev->num_vectors, sizeof(*tdev->vectors), GFP_KERNEL);
	if (!tdev->vectors)
		return -ENOMEM;

	ret = devm_request_threaded_irq(dev, pci_irq_vector(pdev, 0), trn_irq_admin,
					trn_irq_admin_thread, 0, "trn-admin", tdev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot request the admin interrupt\n");
	for (i = 0; i < tdev->num_vectors; i++) {
		struct trn_vector *vector = &tdev->vectors[i];

		spin_lock_init(&vector->lock);
		INIT_LIST_HEAD(&vector->queues);
		ret = devm_request_irq(dev, pci_irq_vector(pdev, i + 1), trn_irq_queues, 0,
				       "trn-queues", vector);
		if (ret)
			return dev_err_probe(dev, ret, "cannot request queue interrupt %u\n", i);
	}
	return 0;
}
