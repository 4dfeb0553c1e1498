// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a chip: when calls may use it, what befalls them when it is reset, when it
 * fails and when it goes.
 *
 * A pause begins when somebody resets the chip, or when it has failed.  Everybody who
 * waits for it is told, after it has been made sure that it accesses host memory no more, and
 * what it knew is lost.  Then it is brought up again, as a chip that knows nothing: a new
 * epoch.  If that fails it is dead, until the driver is bound anew.
 *
 * Locks, outermost first:
 *
 *   lock of the PCI device		(reset, error recovery, sleep, removal: by the PCI core)
 *     trn_device.reset_lock		pauses, resumes, and what they call
 *       trn_device.calls		a pause waits for calls: none waits for a pause inside
 *         trn_file.lock, trn_vm.lock and whatever else calls take
 *           trn_device.stop_lock	stops the chip; anybody may who finds that it has failed
 *             trn_admin.lock, trn_queue.lock
 *               trn_device.state_lock
 *
 * Fences signal before calls are waited for, and before the mappings' locks are taken.
 */
#include <linux/dma-fence.h>
#include <linux/pci.h>

#include <drm/drm_managed.h>

#include "trn_context.h"
#include "trn_coredump.h"
#include "trn_device.h"
#include "trn_gem.h"
#include "trn_queue.h"
#include "trn_trace.h"
#include "trn_uevent.h"

/* How often a reset is tried while the PCI core is busy with the device, and how long. */
#define TRN_RESET_RETRY_MS	100
#define TRN_RESET_PATIENCE_MS	60000

/**
 * trn_device_try_enter() - begin to use the chip, unless it is paused
 * @tdev: device
 * @idx: out: for trn_device_exit()
 *
 * Does not sleep.  A pause waits for the end of the section: nothing in it may wait for the end
 * of a pause, nor freeze.  Sections nest.
 *
 * Return: 0; -EIO the chip is paused; -ENODEV it is gone.
 */
int trn_device_try_enter(struct trn_device *tdev, int *idx)
{
	enum trn_state state;

	*idx = srcu_read_lock(&tdev->calls);
	/* Inside: either this section is waited for, or it sees the state. */
	state = trn_device_state(tdev);
	if (state == TRN_STATE_OK) {
		/* For sparse, which knows of no lock that is held on return only sometimes. */
		__release(&tdev->calls);
		return 0;
	}
	srcu_read_unlock(&tdev->calls, *idx);
	return state == TRN_STATE_PAUSED ? -EIO : -ENODEV;
}

/**
 * trn_device_enter() - begin to use the chip, after a pause if there is one
 * @tdev: device
 * @idx: out: for trn_device_exit()
 *
 * The caller holds no lock, and is not in a section: that is for trn_device_try_enter().
 *
 * Return: 0; -EINTR the caller is being killed; -ENODEV the chip is gone.
 */
int trn_device_enter(struct trn_device *tdev, int *idx)
{
	int ret;

	might_sleep();
	while ((ret = trn_device_try_enter(tdev, idx)) == -EIO) {
		if (wait_event_state(tdev->state_wait, trn_device_state(tdev) != TRN_STATE_PAUSED,
				     (TASK_KILLABLE | TASK_FREEZABLE)))
			return -EINTR;
	}
	return ret;
}

void trn_device_exit(struct trn_device *tdev, int idx)
{
	__acquire(&tdev->calls);
	srcu_read_unlock(&tdev->calls, idx);
}

/**
 * trn_device_lost() - whether the chip has forgotten what it knew in an epoch
 * @tdev: device
 * @epoch: trn_device_epoch() at that time
 *
 * Return: 0 it knows it; -EIO it has been, or is being, reset; -ENODEV it is gone.
 */
int trn_device_lost(struct trn_device *tdev, u32 epoch)
{
	enum trn_state state = trn_device_state(tdev);

	if (state >= TRN_STATE_DEAD)
		return -ENODEV;
	return state == TRN_STATE_OK && epoch == trn_device_epoch(tdev) ? 0 : -EIO;
}

/* From @from or an earlier state; states never go back but to OK. */
static bool trn_reset_set_state(struct trn_device *tdev, enum trn_state from, enum trn_state state)
{
	unsigned long flags;
	bool changed;

	spin_lock_irqsave(&tdev->state_lock, flags);
	changed = trn_device_state(tdev) <= from;
	if (changed)
		atomic_set(&tdev->state, state);
	spin_unlock_irqrestore(&tdev->state_lock, flags);
	return changed;
}

static void trn_reset_schedule(struct trn_device *tdev, unsigned int delay_ms)
{
	tdev->reset_deadline = jiffies + msecs_to_jiffies(delay_ms + TRN_RESET_PATIENCE_MS);
	mod_delayed_work(tdev->wq, &tdev->reset_work, msecs_to_jiffies(delay_ms));
}

/**
 * trn_device_fail() - the chip has failed
 * @tdev: device
 * @fmt: how, for the one line that the log gets
 *
 * May be called in any context and returns at once: a work resets the chip, if it is still
 * there.  While the chip is being brought up this only tells why that fails.  Calls after the first
 * do nothing.
 */
void trn_device_fail(struct trn_device *tdev, const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	va_start(args, fmt);
	spin_lock_irqsave(&tdev->state_lock, flags);
	if (!tdev->reason[0]) {
		vsnprintf(tdev->reason, sizeof(tdev->reason), fmt, args);
		if (trn_device_state(tdev) == TRN_STATE_OK) {
			atomic_set(&tdev->state, trn_device_present(tdev) ? TRN_STATE_PAUSED :
									    TRN_STATE_DEAD);
			trn_reset_schedule(tdev, 0);
		}
	}
	spin_unlock_irqrestore(&tdev->state_lock, flags);
	va_end(args);
}

/*
 * The state is not OK: nobody who waits for the chip goes on waiting, no call goes on, and
 * the chip does nothing any more.  What has been told is not told again.
 */
static void trn_reset_quiesce(struct trn_device *tdev)
{
	enum trn_state state = trn_device_state(tdev);
	struct trn_coredump *dump = NULL;
	unsigned int lost;
	bool signalling;

	lockdep_assert_held(&tdev->reset_lock);

	if (tdev->told == state)
		return;
	signalling = dma_fence_begin_signalling();
	if (state == TRN_STATE_PAUSED) {
		trace_trn_reset_begin(tdev, tdev->reason);
		if (!tdev->requested)
			dump = trn_coredump_take_function(tdev);
	}
	trn_device_stop(tdev, tdev->epoch);
	lost = trn_context_fail_all(tdev);
	trn_queue_fail_all(tdev);
	dma_fence_end_signalling(signalling);

	trn_coredump_publish(dump, TRN_RUNG_FUNCTION);
	trn_heartbeat_stop(tdev);
	trn_event_stop(tdev);
	trn_queue_revoke_all(tdev);
	trn_gem_revoke_mappings(tdev);
	synchronize_srcu(&tdev->calls);
	trn_dmabuf_revoke_all(tdev);

	if (state == TRN_STATE_PAUSED) {
		atomic64_add(lost, &tdev->recovery.contexts_lost);
		tdev->contexts_lost = lost;
	}
	tdev->told = state;
}

/* The chip does not come back: @why, after what has happened before. */
static void trn_reset_give_up(struct trn_device *tdev, const char *why)
{
	lockdep_assert_held(&tdev->reset_lock);

	if (tdev->told >= TRN_STATE_DEAD ||
	    !trn_reset_set_state(tdev, TRN_STATE_DEAD, TRN_STATE_DEAD))
		return;
	trn_reset_quiesce(tdev);
	trace_trn_reset_end(tdev, false);
	dev_err(&tdev->pdev->dev, "chip is dead: %s; %s\n", tdev->reason, why);
	trn_uevent_wedged(tdev);
	wake_up_all(&tdev->state_wait);
}

/**
 * trn_device_pause() - stop the chip, for a reset of it
 * @tdev: device
 * @why: for the log, if the chip has not failed by itself
 *
 * The caller holds the lock of the PCI device.  trn_device_resume() has to follow, or
 * trn_device_give_up().
 */
void trn_device_pause(struct trn_device *tdev, const char *why)
{
	unsigned long flags;

	mutex_lock(&tdev->reset_lock);
	spin_lock_irqsave(&tdev->state_lock, flags);
	if (trn_device_state(tdev) == TRN_STATE_OK) {
		strscpy(tdev->reason, why);
		tdev->requested = true;
		atomic_set(&tdev->state, TRN_STATE_PAUSED);
	}
	spin_unlock_irqrestore(&tdev->state_lock, flags);
	if (trn_device_state(tdev) == TRN_STATE_PAUSED)
		trn_reset_quiesce(tdev);
	mutex_unlock(&tdev->reset_lock);
}

/* What the driver itself has on the chip, and all that runs beside calls. */
static int trn_reset_restore(struct trn_device *tdev)
{
	int ret;

	ret = trn_kernel_vm_restart(&tdev->kernel_vm);
	if (ret)
		return ret;
	trn_scrub_fini(tdev);
	ret = trn_scrub_init(tdev);
	if (ret) {
		trn_device_fail(tdev, "cannot create the queue that clears HBM: %d", ret);
		return ret;
	}
	trn_event_start(tdev);
	trn_heartbeat_start(tdev);
	trn_gem_restore_mappings(tdev);
	return 0;
}

/**
 * trn_device_set_running() - the chip has been brought up: calls may use it
 * @tdev: device
 *
 * Return: whether it has not failed meanwhile.
 */
bool trn_device_set_running(struct trn_device *tdev)
{
	unsigned long flags;
	bool running;

	spin_lock_irqsave(&tdev->state_lock, flags);
	running = trn_device_state(tdev) == TRN_STATE_PAUSED && !tdev->reason[0];
	if (running) {
		tdev->told = TRN_STATE_OK;
		tdev->requested = false;
		atomic_set(&tdev->state, TRN_STATE_OK);
	}
	spin_unlock_irqrestore(&tdev->state_lock, flags);
	return running;
}

/* Returns whether the chip is back; if not it is dead. */
static bool trn_reset_bring_back(struct trn_device *tdev)
{
	char cause[sizeof(tdev->reason)], *failure;
	bool requested = tdev->requested;
	unsigned long flags;

	/* What fails from here on is another matter. */
	spin_lock_irqsave(&tdev->state_lock, flags);
	strscpy(cause, tdev->reason);
	tdev->reason[0] = '\0';
	spin_unlock_irqrestore(&tdev->state_lock, flags);

	if (!trn_device_boot(tdev) && !trn_reset_restore(tdev) && trn_device_set_running(tdev)) {
		wake_up_all(&tdev->state_wait);
		trace_trn_reset_end(tdev, true);
		atomic64_inc(&tdev->recovery.function_resets);
		dev_printk(requested ? KERN_INFO : KERN_WARNING, &tdev->pdev->dev,
			   "chip was reset: %s; contexts lost: %u\n", cause,
			   tdev->contexts_lost);
		return true;
	}

	failure = kasprintf(GFP_KERNEL, "after a reset: %s", tdev->reason);
	spin_lock_irqsave(&tdev->state_lock, flags);
	strscpy(tdev->reason, cause);
	spin_unlock_irqrestore(&tdev->state_lock, flags);
	/* Something of the new epoch may have been begun. */
	tdev->told = TRN_STATE_OK;
	trn_reset_give_up(tdev, failure ?: "it did not come back");
	kfree(failure);
	return false;
}

/**
 * trn_device_resume() - bring up the chip after trn_device_pause()
 * @tdev: device
 *
 * The caller holds the lock of the PCI device.  If the chip does not come back it is dead.
 */
void trn_device_resume(struct trn_device *tdev)
{
	bool back = false;

	mutex_lock(&tdev->reset_lock);
	if (trn_device_state(tdev) == TRN_STATE_PAUSED && !tdev->suspended)
		back = trn_reset_bring_back(tdev);
	mutex_unlock(&tdev->reset_lock);
	/* Allocates, and the chip is in use: if it fails now fences wait for the lock. */
	if (back)
		trn_uevent_reset(tdev, "function", 0);
}

/* Whoever has paused the chip may fail to bring it back: then the driver tries. */
void trn_device_expect_resume(struct trn_device *tdev, unsigned int timeout_ms)
{
	unsigned long flags;

	spin_lock_irqsave(&tdev->state_lock, flags);
	if (trn_device_state(tdev) == TRN_STATE_PAUSED)
		trn_reset_schedule(tdev, timeout_ms);
	spin_unlock_irqrestore(&tdev->state_lock, flags);
}

/* The chip will not come back after trn_device_pause(). */
void trn_device_give_up(struct trn_device *tdev, const char *why)
{
	mutex_lock(&tdev->reset_lock);
	trn_reset_give_up(tdev, why);
	mutex_unlock(&tdev->reset_lock);
}

/* System sleep: the chip stays paused until the system wakes up. */
void trn_device_suspend(struct trn_device *tdev)
{
	trn_device_pause(tdev, "system sleep");
	mutex_lock(&tdev->reset_lock);
	tdev->suspended = true;
	mutex_unlock(&tdev->reset_lock);
	/* It never waits for the lock of the PCI device.  The wake-up does what it would. */
	cancel_delayed_work_sync(&tdev->reset_work);
}

void trn_device_wake(struct trn_device *tdev)
{
	mutex_lock(&tdev->reset_lock);
	tdev->suspended = false;
	mutex_unlock(&tdev->reset_lock);
	trn_device_resume(tdev);
}

/*
 * For good: the driver lets go of the chip.  The caller holds the lock of the PCI device, or
 * nobody else knows the device yet.
 */
void trn_device_let_go(struct trn_device *tdev)
{
	trn_reset_set_state(tdev, TRN_STATE_GONE, TRN_STATE_GONE);
	/* It does not wait for the lock of the PCI device. */
	cancel_delayed_work_sync(&tdev->reset_work);
	mutex_lock(&tdev->reset_lock);
	trn_reset_quiesce(tdev);
	mutex_unlock(&tdev->reset_lock);
	wake_up_all(&tdev->state_wait);
}

/*
 * Tell everybody; returns whether a reset may help.  @locked: the PCI device is.  If not somebody
 * else may be resetting the chip, which does not answer meanwhile.
 */
static bool trn_reset_begin(struct trn_device *tdev, bool locked)
{
	bool present = !locked ||
		       (pci_device_is_present(tdev->pdev) && trn_device_present(tdev));
	bool begun = false;

	mutex_lock(&tdev->reset_lock);
	switch (trn_device_state(tdev)) {
	case TRN_STATE_OK:
	case TRN_STATE_GONE:
		break;
	case TRN_STATE_PAUSED:
	case TRN_STATE_DEAD:
		/* Before anybody is told, so that all are told the same. */
		if (!present || trn_device_state(tdev) == TRN_STATE_DEAD) {
			/* Without a reset, for which the PCI core would wait a minute. */
			trn_reset_give_up(tdev, "it does not answer any more");
		} else if (!trn_reset_history_allows(&tdev->reset_history, jiffies)) {
			trn_reset_give_up(tdev, "it has been reset too often in the last minute");
		} else {
			trn_reset_quiesce(tdev);
			begun = !tdev->suspended;
		}
		break;
	}
	mutex_unlock(&tdev->reset_lock);
	return begun;
}

static void trn_reset_work(struct work_struct *work)
{
	struct trn_device *tdev = container_of(to_delayed_work(work), struct trn_device,
					       reset_work);
	bool locked = pci_dev_trylock(tdev->pdev);
	bool begun = trn_reset_begin(tdev, locked);
	int ret = -EAGAIN;

	if (locked) {
		/* Calls trn_device_pause() and trn_device_resume() by way of the PCI core. */
		if (begun)
			ret = pci_reset_function_locked(tdev->pdev);
		pci_dev_unlock(tdev->pdev);
	}
	if (!begun)
		return;
	if (ret == -EAGAIN && time_before(jiffies, tdev->reset_deadline)) {
		/* Who has the lock may be removing the chip, or resetting it. */
		queue_delayed_work(tdev->wq, &tdev->reset_work,
				   msecs_to_jiffies(TRN_RESET_RETRY_MS));
		return;
	}

	mutex_lock(&tdev->reset_lock);
	trn_reset_history_add(&tdev->reset_history, jiffies);
	/* If the reset worked it has failed anew, or is being reset by somebody else. */
	if (ret && trn_device_state(tdev) == TRN_STATE_PAUSED && !tdev->suspended)
		trn_reset_give_up(tdev, ret == -EAGAIN ? "the PCI core was busy with it too long" :
							 "it cannot be reset");
	mutex_unlock(&tdev->reset_lock);
}

static void trn_reset_release_calls(struct drm_device *drm, void *calls)
{
	cleanup_srcu_struct(calls);
}

/* The chip begins paused. */
int trn_reset_init(struct trn_device *tdev)
{
	int ret;

	atomic_set(&tdev->state, TRN_STATE_PAUSED);
	tdev->told = TRN_STATE_PAUSED;
	tdev->stopped = true;
	spin_lock_init(&tdev->state_lock);
	init_waitqueue_head(&tdev->state_wait);
	INIT_DELAYED_WORK(&tdev->reset_work, trn_reset_work);
	ret = drmm_mutex_init(&tdev->drm, &tdev->stop_lock);
	if (!ret)
		ret = drmm_mutex_init(&tdev->drm, &tdev->reset_lock);
	if (!ret)
		ret = init_srcu_struct(&tdev->calls);
	return ret ?: drmm_add_action_or_reset(&tdev->drm, trn_reset_release_calls, &tdev->calls);
}
