// SPDX-License-Identifier: GPL-2.0-only
/*
 * One mistake of each kind that the debug kernel reports.  tests/vm/debug-reports
 * loads it to see that trn-vm finds every report.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

static DEFINE_MUTEX(first_lock);
static DEFINE_MUTEX(second_lock);

/* Far enough for the hung-task detector of a test that sets it to two seconds. */
#define UNINTERRUPTIBLE_S	7

static void shift_too_far(void)
{
	unsigned int one = 1, bits = 40;

	OPTIMIZER_HIDE_VAR(bits);
	one <<= bits;
	OPTIMIZER_HIDE_VAR(one);
}

static void lock_in_both_orders(void)
{
	mutex_lock(&first_lock);
	mutex_lock(&second_lock);
	mutex_unlock(&second_lock);
	mutex_unlock(&first_lock);

	mutex_lock(&second_lock);
	mutex_lock(&first_lock);
	mutex_unlock(&first_lock);
	mutex_unlock(&second_lock);
}

static void unmap_what_was_not_mapped(struct device *dev)
{
	dma_unmap_single(dev, PAGE_SIZE, PAGE_SIZE, DMA_TO_DEVICE);
}

static void use_after_free(void)
{
	char *memory = kmalloc(64, GFP_KERNEL);

	kfree(memory);
	OPTIMIZER_HIDE_VAR(memory);
	if (memory)
		WRITE_ONCE(memory[8], 1);
}

/* Several: kmemleak takes an object for used when its address still lies about somewhere. */
static void leak(void)
{
	void *memory;
	int i;

	for (i = 0; i < 8; i++) {
		memory = kmalloc(4000, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(memory);
	}
}

static int __init trn_mistakes_init(void)
{
	struct platform_device *pdev = platform_device_register_simple("trn_mistakes", -1, NULL, 0);

	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	shift_too_far();
	unmap_what_was_not_mapped(&pdev->dev);
	lock_in_both_orders();
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(UNINTERRUPTIBLE_S * HZ);
	use_after_free();
	leak();
	platform_device_unregister(pdev);
	return 0;
}
module_init(trn_mistakes_init);

static void __exit trn_mistakes_exit(void)
{
}
module_exit(trn_mistakes_exit);

MODULE_DESCRIPTION("Mistakes for the debug kernel to report");
MODULE_LICENSE("GPL");
