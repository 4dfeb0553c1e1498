// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects in the address space of a process.
 *
 * Host memory stays what it is whatever becomes of the chip.  HBM is seen through the
 * aperture as long as the chip runs, otherwise it is a page of the object's own, zeroed at
 * first: nothing ever raises SIGBUS.
 */
#include <linux/dma-buf.h>
#include <linux/mm.h>

#include <drm/drm_drv.h>
#include <drm/trn_accel.h>

#include "trn_device.h"
#include "trn_gem.h"
#include "trn_queue.h"

/* Most that one fault maps, from the page that was accessed on. */
#define TRN_FAULT_SIZE		SZ_64K

/* Insert @size bytes from @pfn on; what comes after the first page may fail. */
static vm_fault_t trn_gem_insert(struct vm_fault *vmf, unsigned long pfn, u64 size)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long address = vmf->address;
	vm_fault_t ret;

	ret = vmf_insert_pfn_prot(vma, address, pfn, vma->vm_page_prot);
	while (ret == VM_FAULT_NOPAGE && size > PAGE_SIZE) {
		address += PAGE_SIZE;
		size -= PAGE_SIZE;
		if (vmf_insert_pfn_prot(vma, address, ++pfn, vma->vm_page_prot) != ret)
			break;
	}
	return ret;
}

static vm_fault_t trn_gem_fault_host(struct vm_fault *vmf, struct trn_bo *bo, u64 offset, u64 size)
{
	struct page **page = &bo->pages[offset >> PAGE_SHIFT];
	unsigned long pfn = page_to_pfn(*page);
	u64 run;

	for (run = PAGE_SIZE; run < size; run += PAGE_SIZE) {
		if (page_to_pfn(page[run >> PAGE_SHIFT]) != pfn + (run >> PAGE_SHIFT))
			break;
	}
	return trn_gem_insert(vmf, pfn, run);
}

static vm_fault_t trn_gem_fault_dummy(struct vm_fault *vmf, struct trn_bo *bo)
{
	struct page *page = READ_ONCE(bo->dummy_page), *old;

	if (!page) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		old = cmpxchg(&bo->dummy_page, NULL, page);
		if (old) {
			__free_page(page);
			page = old;
		}
	}
	return vmf_insert_pfn_prot(vmf->vma, vmf->address, page_to_pfn(page),
				   vm_get_page_prot(vmf->vma->vm_flags));
}

static vm_fault_t trn_gem_fault_hbm(struct vm_fault *vmf, struct trn_bo *bo, u64 offset, u64 size)
{
	struct trn_device *tdev = to_trn_device(bo->base.dev);
	const struct trn_extent *extent;
	vm_fault_t ret;
	u64 address;

	/* Until the pages are in, trn_gem_revoke_mappings() waits, and then takes them out. */
	down_read(&tdev->aperture_lock);
	if (tdev->aperture_revoked) {
		ret = trn_gem_fault_dummy(vmf, bo);
	} else {
		extent = trn_gem_find_extent(bo, offset);
		offset -= extent->offset;
		address = pci_resource_start(tdev->pdev, TRN_BAR_HBM) + extent->address + offset;
		ret = trn_gem_insert(vmf, address >> PAGE_SHIFT, min(size, extent->size - offset));
	}
	up_read(&tdev->aperture_lock);
	return ret;
}

static vm_fault_t trn_gem_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct trn_bo *bo = to_trn_bo(vma->vm_private_data);
	/* vm_pgoff includes the fake offset of the object. */
	u64 offset = (u64)(vmf->pgoff - drm_vma_node_start(&bo->base.vma_node)) << PAGE_SHIFT;
	u64 size = min(vma->vm_end - vmf->address, TRN_FAULT_SIZE);

	/* Cannot be: the node does not move and mmap() checked the size. */
	if (WARN_ON_ONCE(offset >= bo->base.size))
		return VM_FAULT_SIGBUS;
	if (bo->kind == TRN_BO_HBM)
		return trn_gem_fault_hbm(vmf, bo, offset, size);
	return trn_gem_fault_host(vmf, bo, offset, size);
}

const struct vm_operations_struct trn_gem_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.fault = trn_gem_fault,
};

static bool trn_gem_can_mmap(const struct trn_bo *bo)
{
	return bo->kind != TRN_BO_USERPTR && (bo->kind != TRN_BO_HBM || bo->cpu_visible);
}

/* The exporter's mapping: @vma holds the dma-buf, not the object. */
static int trn_gem_mmap_import(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	int ret;

	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	ret = dma_buf_mmap(to_trn_bo(obj)->imported, vma, 0);
	/* The reference that drm_gem_mmap_obj() took for vm_ops of ours. */
	if (!ret)
		drm_gem_object_put(obj);
	return ret;
}

int trn_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct trn_bo *bo = to_trn_bo(obj);

	if (!trn_gem_can_mmap(bo))
		return -EOPNOTSUPP;
	/* A private copy of a page would not be what the chip sees. */
	if ((vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE)
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	if (bo->kind == TRN_BO_IMPORT)
		return trn_gem_mmap_import(obj, vma);

	vm_flags_set(vma, VM_PFNMAP);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	if (bo->kind == TRN_BO_HBM) {
		vm_flags_set(vma, VM_IO);
		vma->vm_page_prot = pgprot_decrypted(pgprot_writecombine(vma->vm_page_prot));
	}
	return 0;
}

static void trn_gem_set_revoked(struct trn_device *tdev, bool revoked)
{
	down_write(&tdev->aperture_lock);
	tdev->aperture_revoked = revoked;
	up_write(&tdev->aperture_lock);
	/* Those of host memory come back by themselves. */
	unmap_mapping_range(tdev->drm.anon_inode->i_mapping, 0, TRN_MMAP_BASE, 1);
}

/* The chip is paused or gone: from now on all mappings of HBM are dummies. */
void trn_gem_revoke_mappings(struct trn_device *tdev)
{
	trn_gem_set_revoked(tdev, true);
}

/* The chip is back: they are HBM again. */
void trn_gem_restore_mappings(struct trn_device *tdev)
{
	trn_gem_set_revoked(tdev, false);
}

int trn_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trn_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;
	int ret = 0;

	if (args->pad)
		return -EINVAL;
	if (trn_device_gone(to_trn_device(drm)))
		return -ENODEV;

	obj = drm_gem_object_lookup(drm_file, args->handle);
	if (!obj)
		return -ENOENT;
	if (trn_gem_can_mmap(to_trn_bo(obj)))
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	else
		ret = -EOPNOTSUPP;
	drm_gem_object_put(obj);
	return ret;
}
