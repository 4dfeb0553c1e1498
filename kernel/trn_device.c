// SPDX-License-Identifier: GPL-2.0-only
/*
 * One chip: bring-up, checks of what it says about itself, stop, removal.
 */
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/pci.h>
#include <linux/sizes.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>

#include "trn_bind.h"
#include "trn_context.h"
#include "trn_coredump.h"
#include "trn_debugfs.h"
#include "trn_device.h"
#include "trn_drv.h"
#include "trn_gem.h"
#include "trn_irq.h"
#include "trn_netlink.h"
#include "trn_queue.h"
#include "trn_recovery.h"
#include "trn_watchdog.h"
#include "trn_sched.h"

/* Upper limits for what a chip may claim: no wait of the driver is longer. */
#define TRN_READY_TIMEOUT_MAX_MS	10000
#define TRN_ADMIN_TIMEOUT_MAX_MS	10000
#define TRN_HEARTBEAT_PERIOD_MAX_MS	500
/* For a chip that may have failed: READY may well never clear. */
#define TRN_STOP_TIMEOUT_MS		500U

bool trn_device_present(struct trn_device *tdev)
{
	return !pci_channel_offline(tdev->pdev) && trn_read32(tdev, TRN_REG_MAGIC) == TRN_MAGIC;
}

/*
 * Wait until the chip runs, well or with a fatal error, or until it does neither.
 * Returns the last STATUS; the caller looks.
 */
static u32 trn_device_wait_status(struct trn_device *tdev, bool running, unsigned int timeout_ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(timeout_ms) + 1;
	bool last;
	u32 status;

	do {
		last = time_after(jiffies, deadline);
		status = trn_read32(tdev, TRN_REG_STATUS);
		if (!!(status & (TRN_STATUS_READY | TRN_STATUS_FATAL)) == running)
			break;
		usleep_range(500, 1000);
	} while (!last);
	return status;
}

/*
 * Make the chip forget everything and leave host memory alone.  Returns whether it
 * has confirmed that.
 */
static bool trn_device_disable(struct trn_device *tdev, unsigned int timeout_ms)
{
	u32 status;

	trn_write32(tdev, TRN_REG_CTRL, 0);
	status = trn_device_wait_status(tdev, false, timeout_ms);
	return !(status & (TRN_STATUS_READY | TRN_STATUS_FATAL));
}

static int trn_device_enable(struct trn_device *tdev)
{
	u32 status;

	trn_write32(tdev, TRN_REG_CTRL, TRN_CTRL_ENABLE);
	status = trn_device_wait_status(tdev, true, tdev->caps.ready_timeout_ms);
	if (status & TRN_STATUS_FATAL) {
		trn_device_fail(tdev, "it refused to start, reason %u",
				(status >> TRN_STATUS_REASON_SHIFT) & TRN_STATUS_REASON_MASK);
		return -ENODEV;
	}
	if (!(status & TRN_STATUS_READY)) {
		trn_device_fail(tdev, "it was not ready after %u ms", tdev->caps.ready_timeout_ms);
		return -ENODEV;
	}
	return 0;
}

static int trn_device_check_bar(struct trn_device *tdev, int bar, u64 size, const char *what)
{
	struct pci_dev *pdev = tdev->pdev;

	if (!(pci_resource_flags(pdev, bar) & IORESOURCE_MEM) || !pci_resource_len(pdev, bar))
		return dev_err_probe(&pdev->dev, -ENODEV, "BAR %d (%s) is missing\n", bar, what);
	if (pci_resource_len(pdev, bar) < size)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "BAR %d (%s) has %llu bytes, needs %llu\n", bar, what,
				     (u64)pci_resource_len(pdev, bar), size);
	return 0;
}

static int trn_device_map_registers(struct trn_device *tdev)
{
	struct device *dev = &tdev->pdev->dev;
	u32 magic, version;
	int ret;

	ret = trn_device_check_bar(tdev, TRN_BAR_REGS, TRN_BAR_REGS_SIZE, "registers");
	if (ret)
		return ret;
	tdev->regs = pcim_iomap(tdev->pdev, TRN_BAR_REGS, 0);
	if (!tdev->regs)
		return dev_err_probe(dev, -ENOMEM, "cannot map the registers\n");

	magic = trn_read32(tdev, TRN_REG_MAGIC);
	if (magic != TRN_MAGIC)
		return dev_err_probe(dev, -ENODEV, "not a trn chip: magic 0x%08x, not 0x%08x\n",
				     magic, TRN_MAGIC);
	version = trn_read32(tdev, TRN_REG_VERSION);
	if (TRN_VERSION_MAJOR(version) != TRN_VERSION_MAJOR(TRN_VERSION_1_0))
		return dev_err_probe(dev, -ENODEV, "architecture version %u.%u, driver knows %u\n",
				     TRN_VERSION_MAJOR(version), TRN_VERSION_MINOR(version),
				     TRN_VERSION_MAJOR(TRN_VERSION_1_0));
	return 0;
}

static int trn_device_check_range(struct trn_device *tdev, const char *name,
				  u64 value, u64 min, u64 max)
{
	if (value >= min && value <= max)
		return 0;
	return dev_err_probe(&tdev->pdev->dev, -ENODEV,
			     "capability %s is %llu, must be %llu to %llu\n",
			     name, value, min, max);
}

static int trn_device_check_power_of_two(struct trn_device *tdev, const char *name, u64 value)
{
	if (is_power_of_2(value))
		return 0;
	return dev_err_probe(&tdev->pdev->dev, -ENODEV,
			     "capability %s is %llu, must be a power of two\n", name, value);
}

static int trn_device_check_caps(struct trn_device *tdev)
{
	const struct trn_caps *caps = &tdev->caps;
	const struct {
		const char *name;
		u64 value, min, max;
	} ranges[] = {
		{ "CORES", caps->cores, 1, TRN_CORES_MAX },
		{ "HBM_STACKS", caps->hbm_stacks, 1, TRN_HBM_STACKS_MAX },
		/* All of it fits behind TRN_KERNEL_HBM_VA. */
		{ "HBM_STACK_SIZE", caps->hbm_stack_size, SZ_2M,
		  TRN_KERNEL_HBM_VA / TRN_HBM_STACKS_MAX },
		{ "CONTEXTS", caps->contexts, 2, 65536 },
		{ "QUEUES", caps->queues, 1, 65536 },
		{ "DOORBELL_STRIDE", caps->doorbell_stride, SZ_4K, SZ_1G },
		{ "VECTORS", caps->vectors, 2, 2048 },
		{ "VA_BITS", caps->va_bits, TRN_VA_BITS, TRN_VA_BITS },
		{ "RING_MAX", caps->ring_max, 1 << TRN_RING_LOG2_MIN, 1U << 31 },
		{ "READY_TIMEOUT", caps->ready_timeout_ms, 1, TRN_READY_TIMEOUT_MAX_MS },
		{ "ADMIN_TIMEOUT", caps->admin_timeout_ms, 1, TRN_ADMIN_TIMEOUT_MAX_MS },
		{ "HEARTBEAT_PERIOD", caps->heartbeat_period_ms, 1, TRN_HEARTBEAT_PERIOD_MAX_MS },
		{ "EVENTS", caps->events, 1, U32_MAX },
	};
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		ret = trn_device_check_range(tdev, ranges[i].name, ranges[i].value,
					     ranges[i].min, ranges[i].max);
		if (ret)
			return ret;
	}
	ret = trn_device_check_power_of_two(tdev, "DOORBELL_STRIDE", caps->doorbell_stride);
	if (!ret)
		ret = trn_device_check_power_of_two(tdev, "RING_MAX", caps->ring_max);
	if (ret)
		return ret;
	if (!(caps->page_sizes & BIT(TRN_PAGE_SHIFT)))
		return dev_err_probe(&tdev->pdev->dev, -ENODEV,
				     "capability PAGE_SIZES is 0x%x, lacks 4 KiB pages\n",
				     caps->page_sizes);
	if (caps->hbm_stack_size % SZ_2M)
		return dev_err_probe(&tdev->pdev->dev, -ENODEV,
				     "capability HBM_STACK_SIZE is %llu, not a multiple of 2 MiB\n",
				     caps->hbm_stack_size);
	return 0;
}

static int trn_device_read_caps(struct trn_device *tdev)
{
	struct trn_caps *caps = &tdev->caps;

	caps->version = trn_read32(tdev, TRN_REG_VERSION);
	caps->cores = trn_read32(tdev, TRN_REG_CAP_CORES);
	caps->hbm_stacks = trn_read32(tdev, TRN_REG_CAP_HBM_STACKS);
	caps->hbm_stack_size = trn_read64(tdev, TRN_REG_CAP_HBM_STACK_SIZE);
	caps->hbm_aperture = trn_read64(tdev, TRN_REG_CAP_HBM_APERTURE);
	caps->dma_engines = trn_read32(tdev, TRN_REG_CAP_DMA_ENGINES);
	caps->coll_cores = trn_read32(tdev, TRN_REG_CAP_COLL_CORES);
	caps->dtypes = trn_read32(tdev, TRN_REG_CAP_DTYPES);
	caps->links = trn_read32(tdev, TRN_REG_CAP_LINKS);
	caps->contexts = trn_read32(tdev, TRN_REG_CAP_CONTEXTS);
	caps->queues = trn_read32(tdev, TRN_REG_CAP_QUEUES);
	caps->doorbell_stride = trn_read32(tdev, TRN_REG_CAP_DOORBELL_STRIDE);
	caps->vectors = trn_read32(tdev, TRN_REG_CAP_VECTORS);
	caps->va_bits = trn_read32(tdev, TRN_REG_CAP_VA_BITS);
	caps->page_sizes = trn_read32(tdev, TRN_REG_CAP_PAGE_SIZES);
	caps->ring_max = trn_read32(tdev, TRN_REG_CAP_RING_MAX);
	caps->sbuf_size = trn_read32(tdev, TRN_REG_CAP_SBUF_SIZE);
	caps->psum_size = trn_read32(tdev, TRN_REG_CAP_PSUM_SIZE);
	caps->semaphores = trn_read32(tdev, TRN_REG_CAP_SEMAPHORES);
	caps->tensor_pack = trn_read32(tdev, TRN_REG_CAP_TENSOR_PACK);
	caps->ready_timeout_ms = trn_read32(tdev, TRN_REG_CAP_READY_TIMEOUT);
	caps->heartbeat_period_ms = trn_read32(tdev, TRN_REG_CAP_HEARTBEAT_PERIOD);
	caps->admin_timeout_ms = trn_read32(tdev, TRN_REG_CAP_ADMIN_TIMEOUT);
	caps->events = trn_read32(tdev, TRN_REG_CAP_EVENTS);
	return trn_device_check_caps(tdev);
}

static int trn_device_map_memory(struct trn_device *tdev)
{
	const struct trn_caps *caps = &tdev->caps;
	int ret;

	ret = trn_device_check_bar(tdev, TRN_BAR_HBM, caps->hbm_aperture, "HBM aperture");
	if (ret)
		return ret;
	ret = trn_device_check_bar(tdev, TRN_BAR_DOORBELL,
				   (u64)caps->queues * caps->doorbell_stride, "doorbells");
	if (ret)
		return ret;
	/* For what user space maps; nothing else decides how the CPU caches the BAR. */
	ret = devm_arch_io_reserve_memtype_wc(&tdev->pdev->dev,
					      pci_resource_start(tdev->pdev, TRN_BAR_HBM),
					      pci_resource_len(tdev->pdev, TRN_BAR_HBM));
	if (ret)
		return dev_err_probe(&tdev->pdev->dev, ret, "no write combining for BAR %d\n",
				     TRN_BAR_HBM);
	tdev->doorbells = pcim_iomap(tdev->pdev, TRN_BAR_DOORBELL, 0);
	if (!tdev->doorbells)
		return dev_err_probe(&tdev->pdev->dev, -ENOMEM, "cannot map the doorbells\n");
	return 0;
}

/* A string of IDENTIFY: not terminated when full, and not trusted to be text. */
static void trn_device_copy_string(char *dst, const u8 *src, size_t size)
{
	size_t i;

	for (i = 0; i < size && src[i]; i++)
		dst[i] = isascii(src[i]) && isprint(src[i]) ? src[i] : '?';
	dst[i] = '\0';
}

/* The first time, what it says counts; later it must be the same chip. */
static int trn_device_check_identity(struct trn_device *tdev, const struct trn_identify *id)
{
	u64 hbm_bytes = tdev->caps.hbm_stacks * tdev->caps.hbm_stack_size;
	struct trn_identity *identity = &tdev->identity;

	if (le32_to_cpu(id->magic) != TRN_IDENTIFY_MAGIC ||
	    le32_to_cpu(id->size) != sizeof(*id)) {
		trn_device_fail(tdev, "bad identify data: magic 0x%08x, size %u",
				le32_to_cpu(id->magic), le32_to_cpu(id->size));
		return -ENODEV;
	}
	if (le64_to_cpu(id->hbm_bytes) != hbm_bytes) {
		trn_device_fail(tdev, "identify data has %llu bytes of HBM, registers have %llu",
				le64_to_cpu(id->hbm_bytes), hbm_bytes);
		return -ENODEV;
	}
	if (tdev->epoch > 1 && memcmp(identity->uuid, id->uuid, sizeof(identity->uuid))) {
		trn_device_fail(tdev, "it is another chip, with uuid %pUb", id->uuid);
		return -ENODEV;
	}
	memcpy(identity->uuid, id->uuid, sizeof(identity->uuid));
	trn_device_copy_string(identity->generation, id->generation, sizeof(id->generation));
	trn_device_copy_string(identity->serial, id->serial, sizeof(id->serial));
	trn_device_copy_string(identity->firmware, id->firmware, sizeof(id->firmware));
	return 0;
}

static int trn_device_identify(struct trn_device *tdev)
{
	struct trn_identify *id;
	int ret;

	id = kmalloc(sizeof(*id), GFP_KERNEL);
	if (!id) {
		trn_device_fail(tdev, "no memory to identify it");
		return -ENOMEM;
	}
	ret = trn_admin_identify(tdev, id);
	if (ret > 0) {
		trn_device_fail(tdev, "IDENTIFY failed, status %d", ret);
		ret = -ENODEV;
	}
	if (!ret)
		ret = trn_device_check_identity(tdev, id);
	kfree(id);
	return ret;
}

/**
 * trn_device_boot() - make the chip run, whatever it has been doing
 * @tdev: device, paused
 *
 * A new epoch begins: the chip knows nothing.
 *
 * Return: 0, or an error that trn_device_fail() has been told of.
 */
int trn_device_boot(struct trn_device *tdev)
{
	int ret;

	if (!trn_device_present(tdev)) {
		trn_device_fail(tdev, "it does not answer");
		return -ENODEV;
	}
	/* An earlier kernel may have left it running. */
	if (!trn_device_disable(tdev, tdev->caps.ready_timeout_ms)) {
		trn_device_fail(tdev, "it did not stop in %u ms", tdev->caps.ready_timeout_ms);
		return -ENODEV;
	}
	ret = trn_heartbeat_check_alive(tdev);
	if (ret)
		return ret;

	mutex_lock(&tdev->stop_lock);
	WRITE_ONCE(tdev->epoch, tdev->epoch + 1);
	tdev->stopped = false;
	mutex_unlock(&tdev->stop_lock);

	trn_admin_program(tdev);
	pci_set_master(tdev->pdev);
	ret = trn_device_enable(tdev);
	if (ret)
		return ret;
	trn_admin_start(tdev);
	ret = trn_device_identify(tdev);
	if (!ret)
		ret = trn_irq_moderate(tdev);
	if (ret)
		return ret;
	/* For error recovery to restore. */
	pci_save_state(tdev->pdev);
	return 0;
}

static void trn_device_disable_and_isolate(struct trn_device *tdev)
{
	bool healthy = tdev->requested || trn_device_state(tdev) == TRN_STATE_GONE;
	unsigned int timeout_ms = tdev->caps.ready_timeout_ms;

	if (!healthy)
		timeout_ms = min(timeout_ms, TRN_STOP_TIMEOUT_MS);
	if (trn_device_present(tdev) && !trn_device_disable(tdev, timeout_ms) && healthy)
		dev_warn(&tdev->pdev->dev, "chip did not stop in %u ms\n", timeout_ms);
	pci_clear_master(tdev->pdev);
}

/**
 * trn_device_stop() - make sure that the chip does not access host memory
 * @tdev: device
 * @epoch: in which it might
 *
 * It has confirmed the disable, or else its access to the bus is switched off.  Bounded, and may be
 * called by anybody who has found that the chip has failed.
 */
void trn_device_stop(struct trn_device *tdev, u32 epoch)
{
	mutex_lock(&tdev->stop_lock);
	if (epoch == tdev->epoch && !tdev->stopped) {
		trn_admin_stop(tdev);
		trn_device_disable_and_isolate(tdev);
		tdev->stopped = true;
	}
	mutex_unlock(&tdev->stop_lock);
}

static void trn_device_release_wq(struct drm_device *drm, void *wq)
{
	destroy_workqueue(wq);
}

/* Everything that needs no hardware and that open files may reach. */
struct trn_device *trn_device_create(struct pci_dev *pdev)
{
	struct trn_device *tdev;
	int ret;

	tdev = devm_drm_dev_alloc(&pdev->dev, &trn_drm_driver, struct trn_device, drm);
	if (IS_ERR(tdev))
		return tdev;

	tdev->pdev = pdev;
	trn_heartbeat_init(tdev);
	trn_recovery_init(tdev);
	xa_init_flags(&tdev->contexts, XA_FLAGS_ALLOC1);
	xa_init_flags(&tdev->queues, XA_FLAGS_ALLOC);
	INIT_LIST_HEAD(&tdev->bos);
	init_rwsem(&tdev->aperture_lock);
	spin_lock_init(&tdev->users_lock);
	INIT_LIST_HEAD(&tdev->users);
	INIT_LIST_HEAD(&tdev->files);
	INIT_LIST_HEAD(&tdev->netlink_link);

	ret = trn_reset_init(tdev);
	if (!ret)
		ret = trn_event_init(tdev);
	if (!ret)
		ret = trn_watchdog_init(tdev);
	if (!ret)
		ret = trn_coredump_init(tdev);
	if (!ret)
		ret = drmm_mutex_init(&tdev->drm, &tdev->bo_lock);
	if (!ret)
		ret = drmm_mutex_init(&tdev->drm, &tdev->files_lock);
	if (ret)
		return ERR_PTR(ret);

	tdev->wq = alloc_workqueue("trn-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0, pci_name(pdev));
	if (!tdev->wq)
		return ERR_PTR(-ENOMEM);
	ret = drmm_add_action_or_reset(&tdev->drm, trn_device_release_wq, tdev->wq);
	if (ret)
		return ERR_PTR(ret);
	ret = trn_bind_init(tdev);
	if (!ret)
		ret = trn_sched_init(tdev);
	if (ret)
		return ERR_PTR(ret);

	pci_set_drvdata(pdev, tdev);
	return tdev;
}

static int trn_device_start_pci(struct trn_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "cannot enable the PCI device\n");
	ret = pcim_request_all_regions(pdev, TRN_DRIVER_NAME);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "BARs are in use\n");
	/* Page-table entries have room for this much. */
	ret = dma_set_mask_and_coherent(&pdev->dev,
					DMA_BIT_MASK(ilog2(TRN_PTE_ADDRESS_MASK) + 1));
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "no 52-bit DMA\n");
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	return 0;
}

/* Unwinds by itself what devm and drmm do not. */
int trn_device_start(struct trn_device *tdev)
{
	struct device *dev = &tdev->pdev->dev;
	int ret;

	ret = trn_device_start_pci(tdev);
	if (ret)
		return ret;
	ret = trn_device_map_registers(tdev);
	if (ret)
		return ret;
	ret = trn_device_read_caps(tdev);
	if (ret)
		return ret;
	ret = trn_device_map_memory(tdev);
	if (ret)
		return ret;
	ret = trn_admin_init(tdev);
	if (ret)
		return ret;
	ret = trn_irq_init(tdev);
	if (ret)
		return ret;

	ret = trn_device_boot(tdev);
	if (ret)
		goto err_let_go;
	ret = trn_hbm_init(tdev);
	if (ret) {
		trn_device_fail(tdev, "cannot manage its memory: %d", ret);
		goto err_let_go;
	}
	ret = trn_kernel_vm_init(&tdev->kernel_vm, tdev);
	if (ret) {
		trn_device_fail(tdev, "cannot create the kernel's address space: %d", ret);
		goto err_let_go;
	}
	ret = trn_scrub_init(tdev);
	if (ret) {
		trn_device_fail(tdev, "cannot create the queue that clears HBM: %d", ret);
		goto err_let_go;
	}
	trn_event_start(tdev);
	trn_heartbeat_start(tdev);
	trn_debugfs_init(tdev);
	if (!trn_device_set_running(tdev)) {
		ret = -ENODEV;
		goto err_let_go;
	}

	ret = drm_dev_register(&tdev->drm, 0);
	if (ret) {
		trn_device_fail(tdev, "cannot register it: %d", ret);
		goto err_let_go;
	}
	trn_netlink_add_device(tdev);
	dev_info(dev, "%s serial %s firmware %s, %u cores, %llu MiB HBM in %u stacks\n",
		 tdev->identity.generation, tdev->identity.serial, tdev->identity.firmware,
		 tdev->caps.cores, trn_hbm_total(tdev) >> 20, tdev->caps.hbm_stacks);
	return 0;

err_let_go:
	trn_device_let_go(tdev);
	trn_recovery_fini(tdev);
	trn_scrub_fini(tdev);
	trn_kernel_vm_fini(&tdev->kernel_vm);
	return dev_err_probe(dev, ret, "chip does not start: %s\n", tdev->reason);
}

/*
 * After this nothing of the device is mapped for DMA and no code of the driver
 * touches hardware.  What open files hold remains until they are closed.
 */
void trn_device_remove(struct trn_device *tdev)
{
	trn_netlink_remove_device(tdev);
	trn_device_let_go(tdev);
	drm_dev_unplug(&tdev->drm);
	trn_file_destroy_all(tdev);
	/* Files that were being closed may have found something to report. */
	trn_recovery_fini(tdev);
	trn_scrub_fini(tdev);
	trn_kernel_vm_fini(&tdev->kernel_vm);
	trn_gem_unmap_all(tdev);
}
