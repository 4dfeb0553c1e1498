// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: accel/<PCI address>/objects, a line for each memory object of the chip,
 * address_spaces, a line for each of its address spaces, and queues likewise.
 */
#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_device.h>
#include <drm/trn_accel.h>

#include "trn_context.h"
#include "trn_debugfs.h"
#include "trn_device.h"
#include "trn_fence.h"
#include "trn_gem.h"
#include "trn_irq.h"
#include "trn_queue.h"

static void trn_debugfs_show_placement(struct seq_file *m, const struct trn_bo *bo)
{
	char text[24];

	switch (bo->kind) {
	case TRN_BO_HBM:
		snprintf(text, sizeof(text), "hbm%u%s", bo->hbm.stack,
			 bo->cpu_visible ? ",visible" : "");
		break;
	case TRN_BO_SHMEM:
		strscpy(text, "host");
		break;
	case TRN_BO_USERPTR:
		snprintf(text, sizeof(text), "userptr%s", bo->readonly ? ",readonly" : "");
		break;
	case TRN_BO_IMPORT:
		strscpy(text, "import");
		break;
	}
	seq_printf(m, "%-16s", text);
}

/*
 * The owner is the drm-client-id that the creator's fdinfo has, 0 for imports and the
 * driver's own; references are handles, address spaces, CPU mappings and dma-bufs together.
 */
static int trn_debugfs_show_objects(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct trn_device *tdev = to_trn_device(entry->dev);
	struct trn_bo *bo;

	seq_puts(m, "        size placement         pieces handles references dmabuf owner name\n");
	mutex_lock(&tdev->bo_lock);
	list_for_each_entry(bo, &tdev->bos, link) {
		seq_printf(m, "%12zu ", bo->base.size);
		trn_debugfs_show_placement(m, bo);
		seq_printf(m, " %7u %7u %10u %6s %5llu %s\n", bo->num_extents,
			   READ_ONCE(bo->base.handle_count), kref_read(&bo->base.refcount),
			   READ_ONCE(bo->base.dma_buf) ? "yes" : "no", bo->owner, bo->name);
	}
	mutex_unlock(&tdev->bo_lock);
	return 0;
}

static void trn_debugfs_show_vm(struct seq_file *m, struct trn_vm *vm)
{
	struct trn_mmu mmu;

	mutex_lock(&vm->lock);
	mmu = vm->mmu;
	mutex_unlock(&vm->lock);
	/* The root is a table too. */
	seq_printf(m, "%5u %10lu %10lu %10lu %10lu\n", vm->asid, mmu.leaves[0], mmu.leaves[1],
		   mmu.leaves[2], mmu.tables[0] + mmu.tables[1] + mmu.tables[2] + 1);
}

/* Leaves by their size, and page tables; 0 is the kernel's own address space. */
static int trn_debugfs_show_address_spaces(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct trn_device *tdev = to_trn_device(entry->dev);
	struct trn_context *context;
	unsigned long asid;

	seq_puts(m, " asid         4K         2M         1G     tables\n");
	trn_debugfs_show_vm(m, &tdev->kernel_vm.vm);
	xa_for_each(&tdev->contexts, asid, context) {
		context = trn_context_get_by_asid(tdev, asid);
		if (!context)
			continue;
		trn_debugfs_show_vm(m, &context->vm);
		trn_context_put(context);
	}
	return 0;
}

static const char *trn_debugfs_queue_state(u32 status)
{
	switch (status) {
	case TRN_CONTROL_RUNNING:
		return "running";
	case TRN_CONTROL_STOPPED:
		return "stopped";
	case TRN_CONTROL_DESTROYED:
		return "destroyed";
	case TRN_CONTROL_RESET:
		return "reset";
	default:
		return "gone";
	}
}

static void trn_debugfs_show_queue(struct seq_file *m, struct trn_queue *queue)
{
	static const char * const priorities[] = {
		[DRM_TRN_PRIORITY_NORMAL] = "normal",
		[DRM_TRN_PRIORITY_LOW] = "low",
		[DRM_TRN_PRIORITY_HIGH] = "high",
	};
	u32 status, pending = 0, reason;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	status = queue->status;
	reason = queue->stop.reason;
	/* Sequence numbers of jobs follow each other. */
	if (!list_empty(&queue->jobs))
		pending = queue->seqno - list_first_entry(&queue->jobs, struct trn_fence,
							  link)->base.seqno + 1;
	spin_unlock_irqrestore(&queue->lock, flags);

	/* Both indexes may be the process's to write: shown as they are. */
	seq_printf(m, "%5u %6u %6llu %5u %-6s %-9s %10u %10u %7u %10u %10u %6u %-8s %7u %s\n",
		   queue->id, queue->handle, queue->client_id, trn_queue_asid(queue),
		   queue->mode == DRM_TRN_QUEUE_KERNEL ? "kernel" : "user",
		   trn_debugfs_queue_state(status), reason, queue->ring.entries, pending,
		   le32_to_cpu(READ_ONCE(queue->control->head)),
		   le32_to_cpu(READ_ONCE(queue->control->tail)), trn_irq_vector_index(queue),
		   priorities[queue->priority], queue->timeout_ms,
		   queue->type == TRN_QUEUE_TYPE_EXEC ? "exec" : "dma");
}

static int trn_debugfs_show_queues(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct trn_device *tdev = to_trn_device(entry->dev);
	struct trn_queue *queue;
	unsigned long id;

	seq_puts(m, "queue handle client  asid mode   state         reason       ring pending       head       tail vector priority timeout type\n");
	xa_for_each(&tdev->queues, id, queue) {
		queue = trn_queue_get_by_id(tdev, id);
		if (!queue)
			continue;
		trn_debugfs_show_queue(m, queue);
		trn_queue_put(queue);
	}
	return 0;
}

void trn_debugfs_init(struct trn_device *tdev)
{
	drm_debugfs_add_file(&tdev->drm, "address_spaces", trn_debugfs_show_address_spaces, NULL);
	drm_debugfs_add_file(&tdev->drm, "objects", trn_debugfs_show_objects, NULL);
	drm_debugfs_add_file(&tdev->drm, "queues", trn_debugfs_show_queues, NULL);
}
