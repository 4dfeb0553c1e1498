// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of a user queue's control page and doorbell.
 *
 * The control page stays the queue's, so that a poller finds the status there;
 * the doorbell becomes the file's dummy page as soon as the queue or the chip is
 * gone.  Nothing ever raises SIGBUS.
 */
#include <linux/mm.h>

#include <drm/drm_device.h>
#include <drm/trn_accel.h>

#include "trn_device.h"
#include "trn_drv.h"
#include "trn_queue.h"

u64 trn_queue_mmap_offset(const struct trn_queue *queue, unsigned int kind)
{
	return TRN_MMAP_BASE + (((u64)queue->id * TRN_MMAP_KINDS + kind) << PAGE_SHIFT);
}

bool trn_queue_owns_mmap_offset(u64 pgoff)
{
	return pgoff >= TRN_MMAP_BASE >> PAGE_SHIFT;
}

/* From now on the doorbell's mappings are the dummy page. */
void trn_queue_revoke(struct trn_queue *queue)
{
	if (queue->mode != DRM_TRN_QUEUE_USER)
		return;
	mutex_lock(&queue->mmap_lock);
	queue->revoked = true;
	mutex_unlock(&queue->mmap_lock);
	unmap_mapping_range(queue->tdev->drm.anon_inode->i_mapping,
			    trn_queue_mmap_offset(queue, TRN_MMAP_DOORBELL), PAGE_SIZE, 1);
}

static vm_fault_t trn_queue_fault_control(struct vm_fault *vmf)
{
	struct trn_queue *queue = vmf->vma->vm_private_data;

	return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(queue->control_page));
}

static vm_fault_t trn_queue_fault_doorbell(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct trn_queue *queue = vma->vm_private_data;
	struct trn_device *tdev = queue->tdev;
	pgprot_t prot = vma->vm_page_prot;
	unsigned long pfn;
	vm_fault_t ret;
	int idx;

	/* Until the page is in, trn_queue_revoke() waits, and then takes it out. */
	mutex_lock(&queue->mmap_lock);
	if (!queue->revoked && !trn_device_try_enter(tdev, &idx)) {
		pfn = (pci_resource_start(tdev->pdev, TRN_BAR_DOORBELL) +
		       (u64)queue->id * tdev->caps.doorbell_stride) >> PAGE_SHIFT;
		ret = vmf_insert_pfn_prot(vma, vmf->address, pfn,
					  pgprot_decrypted(pgprot_noncached(prot)));
		trn_device_exit(tdev, idx);
	} else {
		/* The mapping holds the file, the file its dummy page. */
		pfn = page_to_pfn(queue->file->dummy_page);
		ret = vmf_insert_pfn_prot(vma, vmf->address, pfn, prot);
	}
	mutex_unlock(&queue->mmap_lock);
	return ret;
}

static void trn_queue_vm_open(struct vm_area_struct *vma)
{
	struct trn_queue *queue = vma->vm_private_data;

	kref_get(&queue->ref);
}

static void trn_queue_vm_close(struct vm_area_struct *vma)
{
	trn_queue_put(vma->vm_private_data);
}

static const struct vm_operations_struct trn_queue_vm_ops[TRN_MMAP_KINDS] = {
	[TRN_MMAP_CONTROL] = {
		.open = trn_queue_vm_open,
		.close = trn_queue_vm_close,
		.fault = trn_queue_fault_control,
	},
	[TRN_MMAP_DOORBELL] = {
		.open = trn_queue_vm_open,
		.close = trn_queue_vm_close,
		.fault = trn_queue_fault_doorbell,
	},
};

/* The user queue of @file with hardware id @id, with a reference. */
static struct trn_queue *trn_queue_get_for_mmap(struct trn_file *file, u64 id)
{
	struct xarray *queues = &file->tdev->queues;
	struct trn_queue *queue;

	if (id > U32_MAX)
		return NULL;
	xa_lock(queues);
	queue = xa_load(queues, id);
	if (queue && (queue->file != file || queue->mode != DRM_TRN_QUEUE_USER))
		queue = NULL;
	if (queue)
		kref_get(&queue->ref);
	xa_unlock(queues);
	return queue;
}

int trn_queue_mmap(struct trn_file *file, struct vm_area_struct *vma)
{
	u64 index = vma->vm_pgoff - (TRN_MMAP_BASE >> PAGE_SHIFT);
	struct trn_queue *queue;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* Queues of a dead chip can still be mapped, like those mapped before. */
	queue = trn_queue_get_for_mmap(file, index / TRN_MMAP_KINDS);
	if (!queue)
		return -EINVAL;
	vma->vm_private_data = queue;
	vma->vm_ops = &trn_queue_vm_ops[index % TRN_MMAP_KINDS];
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	return 0;
}
