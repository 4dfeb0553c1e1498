// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCI driver: what the PCI core wants of a chip.  It holds the lock of the PCI device in all
 * that it calls here.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm.h>

#include <hw/trn_regs.h>

#include "trn_device.h"
#include "trn_drv.h"

/* How long error recovery may take until the driver resets the chip by itself. */
#define TRN_PCI_RECOVERY_TIMEOUT_MS	30000

static int trn_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct trn_device *tdev = trn_device_create(pdev);

	if (IS_ERR(tdev))
		return PTR_ERR(tdev);
	return trn_device_start(tdev);
}

static void trn_pci_remove(struct pci_dev *pdev)
{
	trn_device_remove(pci_get_drvdata(pdev));
}

/* The chip stops, everybody is told; objects of open files stay. */
static void trn_pci_shutdown(struct pci_dev *pdev)
{
	trn_device_let_go(pci_get_drvdata(pdev));
}

/* By sysfs, or by the driver itself. */
static void trn_pci_reset_prepare(struct pci_dev *pdev)
{
	trn_device_pause(pci_get_drvdata(pdev), "on request");
}

static void trn_pci_reset_done(struct pci_dev *pdev)
{
	trn_device_resume(pci_get_drvdata(pdev));
}

/*
 * A transaction was lost, whatever the kind of error: what the chip has computed since cannot be
 * relied on.
 */
static pci_ers_result_t trn_pci_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct trn_device *tdev = pci_get_drvdata(pdev);

	trn_device_pause(tdev, "PCI error");
	if (state == pci_channel_io_perm_failure)
		trn_device_give_up(tdev, "the bus did not recover");
	if (trn_device_gone(tdev))
		return PCI_ERS_RESULT_DISCONNECT;
	/* Not all kernels tell when recovery fails. */
	trn_device_expect_resume(tdev, TRN_PCI_RECOVERY_TIMEOUT_MS);
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t trn_pci_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	/* The restored state is used up. */
	pci_save_state(pdev);
	if (trn_device_present(pci_get_drvdata(pdev)))
		return PCI_ERS_RESULT_RECOVERED;
	return PCI_ERS_RESULT_DISCONNECT;
}

static void trn_pci_error_resume(struct pci_dev *pdev)
{
	trn_device_resume(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers trn_pci_error_handlers = {
	.reset_prepare = trn_pci_reset_prepare,
	.reset_done = trn_pci_reset_done,
	.error_detected = trn_pci_error_detected,
	.slot_reset = trn_pci_slot_reset,
	.resume = trn_pci_error_resume,
};

static int trn_pci_suspend(struct device *dev)
{
	trn_device_suspend(dev_get_drvdata(dev));
	return 0;
}

static int trn_pci_resume(struct device *dev)
{
	trn_device_wake(dev_get_drvdata(dev));
	return 0;
}

/* An image on disk would have contexts that the chip does not know. */
static int trn_pci_freeze(struct device *dev)
{
	dev_info(dev, "hibernation is not supported: unbind the driver before\n");
	return -EOPNOTSUPP;
}

static const struct dev_pm_ops trn_pci_pm_ops = {
	.suspend = pm_sleep_ptr(trn_pci_suspend),
	.resume = pm_sleep_ptr(trn_pci_resume),
	.freeze = pm_sleep_ptr(trn_pci_freeze),
};

static const struct pci_device_id trn_pci_ids[] = {
	{ PCI_DEVICE(TRN_PCI_VENDOR, TRN_PCI_DEVICE_TRN1) },
	{ PCI_DEVICE(TRN_PCI_VENDOR, TRN_PCI_DEVICE_TRN2) },
	{ PCI_DEVICE(TRN_PCI_VENDOR, TRN_PCI_DEVICE_TRN3) },
	{ PCI_DEVICE(TRN_PCI_VENDOR, TRN_PCI_DEVICE_TRN4) },
	{ PCI_DEVICE(TRN_PCI_VENDOR, TRN_PCI_DEVICE_INF2) },
	{}
};
MODULE_DEVICE_TABLE(pci, trn_pci_ids);

struct pci_driver trn_pci_driver = {
	.name = TRN_DRIVER_NAME,
	.id_table = trn_pci_ids,
	.probe = trn_pci_probe,
	.remove = trn_pci_remove,
	.shutdown = trn_pci_shutdown,
	.err_handler = &trn_pci_error_handlers,
	.driver.pm = pm_sleep_ptr(&trn_pci_pm_ops),
};
