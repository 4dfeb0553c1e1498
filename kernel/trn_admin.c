// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin queue: commands to the chip and their completions.
 *
 * A caller takes a slot, writes its command to the submission ring and sleeps
 * until the interrupt thread has found the completion.  The chip is not
 * trusted: a completion that does not belong to a command in flight, or a
 * command that exceeds the chip's own time limit, means that it has failed.
 */
#include <linux/dma-mapping.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

#include "trn_device.h"
#include "trn_queue.h"

static unsigned int admin_timeout_ms;
module_param(admin_timeout_ms, uint, 0444);
MODULE_PARM_DESC(admin_timeout_ms,
		 "Longest time of an admin command in ms, 0 = what the chip says (default 0)");

#define TRN_ADMIN_STATUS_LAST	TRN_ADMIN_ENGINE_HUNG

int trn_admin_init(struct trn_device *tdev)
{
	struct trn_admin *admin = &tdev->admin;
	struct device *dev = &tdev->pdev->dev;
	int i;

	spin_lock_init(&admin->lock);
	mutex_init(&admin->data_lock);
	init_waitqueue_head(&admin->slot_freed);
	for (i = 0; i < ARRAY_SIZE(admin->slots); i++)
		init_completion(&admin->slots[i].done);

	/* The rings' alignment is 4 KiB, which smaller blocks may not have. */
	BUILD_BUG_ON(TRN_ADMIN_ENTRIES * sizeof(*admin->sq) > SZ_4K);
	admin->sq = dmam_alloc_coherent(dev, SZ_4K, &admin->sq_dma, GFP_KERNEL);
	admin->cq = dmam_alloc_coherent(dev, SZ_4K, &admin->cq_dma, GFP_KERNEL);
	admin->data = dmam_alloc_coherent(dev, SZ_4K, &admin->data_dma, GFP_KERNEL);
	admin->event = dmam_alloc_coherent(dev, SZ_4K, &admin->event_dma, GFP_KERNEL);
	if (!admin->sq || !admin->cq || !admin->data || !admin->event)
		return -ENOMEM;
	return 0;
}

/* The chip is disabled: tell it where the rings are. */
void trn_admin_program(struct trn_device *tdev)
{
	struct trn_admin *admin = &tdev->admin;

	memset(admin->cq, 0, SZ_4K);
	admin->sq_tail = 0;
	admin->cq_head = 0;
	admin->phase = TRN_ADMIN_PHASE;
	trn_write64(tdev, TRN_REG_ADMIN_SQ_BASE, admin->sq_dma);
	trn_write64(tdev, TRN_REG_ADMIN_CQ_BASE, admin->cq_dma);
	trn_write32(tdev, TRN_REG_ADMIN_SIZE, TRN_ADMIN_ENTRIES);
}

void trn_admin_start(struct trn_device *tdev)
{
	struct trn_admin *admin = &tdev->admin;

	spin_lock(&admin->lock);
	admin->running = true;
	spin_unlock(&admin->lock);
}

/* What becomes of commands once the chip has stopped. */
static int trn_admin_error(struct trn_device *tdev)
{
	return trn_device_gone(tdev) ? -ENODEV : -EIO;
}

static void trn_admin_complete(struct trn_admin_slot *slot, int result)
{
	slot->state = TRN_ADMIN_SLOT_DONE;
	slot->result = result;
	complete(&slot->done);
}

/* Commands in flight and to come fail; for trn_device_stop(). */
void trn_admin_stop(struct trn_device *tdev)
{
	struct trn_admin *admin = &tdev->admin;
	int i;

	spin_lock(&admin->lock);
	admin->running = false;
	for (i = 0; i < TRN_ADMIN_SLOTS; i++) {
		struct trn_admin_slot *slot = &admin->slots[i];

		if (slot->state == TRN_ADMIN_SLOT_IN_FLIGHT)
			trn_admin_complete(slot, trn_admin_error(tdev));
	}
	/* Nobody waits for it, and the chip has forgotten it. */
	admin->slots[TRN_ADMIN_EVENT_SLOT].state = TRN_ADMIN_SLOT_FREE;
	spin_unlock(&admin->lock);
	wake_up_all(&admin->slot_freed);
}

static void trn_admin_write_command(struct trn_device *tdev, unsigned int index,
				    struct trn_admin_command *cmd)
{
	struct trn_admin *admin = &tdev->admin;
	struct trn_admin_slot *slot = &admin->slots[index];

	lockdep_assert_held(&admin->lock);

	reinit_completion(&slot->done);
	slot->state = TRN_ADMIN_SLOT_IN_FLIGHT;
	slot->uses++;
	cmd->command_id = cpu_to_le16(slot->uses << 8 | index);
	admin->sq[admin->sq_tail] = *cmd;
	admin->sq_tail = (admin->sq_tail + 1) % TRN_ADMIN_ENTRIES;
	/* writel() orders the command before the doorbell. */
	trn_write32(tdev, TRN_REG_ADMIN_SQ_TAIL, admin->sq_tail);
}

/* NULL when all slots are busy, an error when @cmd cannot be executed any more. */
static struct trn_admin_slot *trn_admin_submit(struct trn_device *tdev, u32 epoch,
					       struct trn_admin_command *cmd)
{
	struct trn_admin *admin = &tdev->admin;
	struct trn_admin_slot *slot = NULL;
	int i;

	spin_lock(&admin->lock);
	/* Under the lock: no command of an epoch gets into the next. */
	if (!admin->running || epoch != trn_device_epoch(tdev)) {
		slot = ERR_PTR(trn_admin_error(tdev));
		goto out_unlock;
	}
	for (i = 0; i < TRN_ADMIN_SLOTS; i++) {
		if (admin->slots[i].state != TRN_ADMIN_SLOT_FREE)
			continue;
		slot = &admin->slots[i];
		trn_admin_write_command(tdev, i, cmd);
		break;
	}
out_unlock:
	spin_unlock(&admin->lock);
	return slot;
}

/**
 * trn_admin_exec() - execute a command and wait for its completion
 * @tdev: device
 * @epoch: in which the chip knows what the command names
 * @cmd: command; command_id is filled in
 *
 * Sleeps uninterruptibly, because nobody else could take over the command's
 * memory, but never longer than the admin timeout: then the chip has failed.
 *
 * Return: 0; a TRN_ADMIN_* status (> 0); -EIO when the chip has forgotten what it knew in @epoch;
 * -ENODEV when it is dead.  After both it has stopped using host memory that it had then:
 * it may be freed.
 */
int trn_admin_exec(struct trn_device *tdev, u32 epoch, struct trn_admin_command *cmd)
{
	struct trn_admin *admin = &tdev->admin;
	unsigned int timeout_ms = admin_timeout_ms ?: tdev->caps.admin_timeout_ms;
	struct trn_admin_slot *slot;
	int result;

	/* Every holder of a slot gives it back in bounded time. */
	wait_event(admin->slot_freed, (slot = trn_admin_submit(tdev, epoch, cmd)));
	if (IS_ERR(slot)) {
		result = PTR_ERR(slot);
		goto out_stop;
	}

	if (!wait_for_completion_timeout(&slot->done, msecs_to_jiffies(timeout_ms))) {
		/* The completion may be there without its interrupt. */
		trn_admin_poll(tdev);
		if (!try_wait_for_completion(&slot->done)) {
			trn_device_fail(tdev, "admin command 0x%02x not done in %u ms",
					cmd->opcode, timeout_ms);
			/* This completes it. */
			trn_device_stop(tdev, epoch);
			wait_for_completion(&slot->done);
		}
	}

	result = slot->result;
	spin_lock(&admin->lock);
	slot->state = TRN_ADMIN_SLOT_FREE;
	spin_unlock(&admin->lock);
	wake_up(&admin->slot_freed);

out_stop:
	if (result < 0)
		trn_device_stop(tdev, epoch);
	return result;
}

static bool trn_admin_completion_valid(struct trn_device *tdev,
				       const struct trn_admin_completion *cqe)
{
	u16 id = le16_to_cpu(cqe->command_id);
	unsigned int index = id & 0xff;
	const struct trn_admin_slot *slot;

	if (index > TRN_ADMIN_EVENT_SLOT)
		return false;
	slot = &tdev->admin.slots[index];
	return slot->state == TRN_ADMIN_SLOT_IN_FLIGHT && slot->uses == id >> 8 &&
	       le16_to_cpu(cqe->status) <= TRN_ADMIN_STATUS_LAST &&
	       le16_to_cpu(cqe->sq_head) < TRN_ADMIN_ENTRIES &&
	       !(le16_to_cpu(cqe->phase) & ~TRN_ADMIN_PHASE);
}

/* Handle the completions that the ring has; returns how many. */
unsigned int trn_admin_poll(struct trn_device *tdev)
{
	struct trn_admin *admin = &tdev->admin;
	unsigned int consumed = 0;

	spin_lock(&admin->lock);
	while (admin->running) {
		struct trn_admin_completion *entry = &admin->cq[admin->cq_head];
		struct trn_admin_completion cqe;
		struct trn_admin_slot *slot;
		unsigned int index;

		if ((le16_to_cpu(READ_ONCE(entry->phase)) & TRN_ADMIN_PHASE) != admin->phase)
			break;
		/* The phase is written last: read the rest after it. */
		dma_rmb();
		cqe = *entry;
		/* Once: what is checked is what is used. */
		barrier();
		if (!trn_admin_completion_valid(tdev, &cqe)) {
			trn_device_fail(tdev,
					"bad admin completion: id 0x%04x status %u sq_head %u phase 0x%04x",
					le16_to_cpu(cqe.command_id),
					le16_to_cpu(cqe.status),
					le16_to_cpu(cqe.sq_head),
					le16_to_cpu(cqe.phase));
			break;
		}
		admin->cq_head = (admin->cq_head + 1) % TRN_ADMIN_ENTRIES;
		if (!admin->cq_head)
			admin->phase ^= TRN_ADMIN_PHASE;
		consumed++;

		index = le16_to_cpu(cqe.command_id) & 0xff;
		slot = &admin->slots[index];
		if (index == TRN_ADMIN_EVENT_SLOT) {
			slot->state = TRN_ADMIN_SLOT_FREE;
			/* Under the lock: not after trn_admin_stop(). */
			queue_work(tdev->wq, &tdev->event_work);
			if (cqe.status) {
				trn_device_fail(tdev, "event command failed with status %u",
						le16_to_cpu(cqe.status));
				break;
			}
		} else {
			trn_admin_complete(slot, le16_to_cpu(cqe.status));
		}
	}
	if (consumed && admin->running)
		trn_write32(tdev, TRN_REG_ADMIN_CQ_HEAD, admin->cq_head);
	spin_unlock(&admin->lock);
	return consumed;
}

/* Let the chip tell of the next event; does nothing when it was told already. */
void trn_admin_post_event(struct trn_device *tdev)
{
	struct trn_admin *admin = &tdev->admin;
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_EVENT,
		.data.buffer = cpu_to_le64(admin->event_dma),
	};

	spin_lock(&admin->lock);
	if (admin->running &&
	    admin->slots[TRN_ADMIN_EVENT_SLOT].state == TRN_ADMIN_SLOT_FREE)
		trn_admin_write_command(tdev, TRN_ADMIN_EVENT_SLOT, &cmd);
	spin_unlock(&admin->lock);
}

/* A command with a result of sizeof(*result) bytes, 4096 at most. */
static int trn_admin_read(struct trn_device *tdev, u32 epoch, struct trn_admin_command *cmd,
			  void *result, size_t size)
{
	struct trn_admin *admin = &tdev->admin;
	int ret;

	mutex_lock(&admin->data_lock);
	memset(admin->data, 0, size);
	ret = trn_admin_exec(tdev, epoch, cmd);
	if (!ret)
		memcpy(result, admin->data, size);
	mutex_unlock(&admin->data_lock);
	return ret;
}

int trn_admin_identify(struct trn_device *tdev, struct trn_identify *identify)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_IDENTIFY,
		.data.buffer = cpu_to_le64(tdev->admin.data_dma),
	};

	return trn_admin_read(tdev, trn_device_epoch(tdev), &cmd, identify, sizeof(*identify));
}

static int trn_admin_get_log(struct trn_device *tdev, u32 epoch, u8 page, u16 id,
			     void *log, size_t size)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_GET_LOG,
		.log.buffer = cpu_to_le64(tdev->admin.data_dma),
		.log.length = cpu_to_le32(size),
		.log.page = page,
		.log.id = cpu_to_le16(id),
	};

	return trn_admin_read(tdev, epoch, &cmd, log, size);
}

int trn_admin_get_events(struct trn_device *tdev, u32 epoch, struct trn_log_events *log)
{
	return trn_admin_get_log(tdev, epoch, TRN_LOG_EVENTS, 0, log, sizeof(*log));
}

int trn_admin_get_running(struct trn_device *tdev, u32 epoch, struct trn_log_running *log)
{
	return trn_admin_get_log(tdev, epoch, TRN_LOG_RUNNING, 0, log, sizeof(*log));
}

int trn_admin_get_queue(struct trn_queue *queue, struct trn_log_queue *log)
{
	return trn_admin_get_log(queue->tdev, queue->epoch, TRN_LOG_QUEUE, queue->id, log,
				 sizeof(*log));
}

int trn_admin_get_core_program(struct trn_device *tdev, u32 epoch, u16 core,
			       struct trn_core_program *program)
{
	return trn_admin_get_log(tdev, epoch, TRN_LOG_CORE, core, program, sizeof(*program));
}

int trn_admin_get_core(struct trn_device *tdev, u32 epoch, u16 core, struct trn_log_core *log)
{
	return trn_admin_get_log(tdev, epoch, TRN_LOG_CORE, core, log, sizeof(*log));
}

int trn_admin_context_create(struct trn_vm *vm)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_CONTEXT_CREATE,
		.context.asid = cpu_to_le16(vm->asid),
		.context.root = cpu_to_le64(vm->mmu.root->dma),
	};

	return trn_admin_exec(vm->tdev, vm->epoch, &cmd);
}

/*
 * Result of a command that takes something away from the chip.  Only one that has lost
 * its senses refuses that, and memory could not be freed: it has failed.
 */
void trn_admin_check_revoked(struct trn_device *tdev, u32 epoch, u8 opcode, int result)
{
	if (result > 0) {
		trn_device_fail(tdev, "admin command 0x%02x refused with status %d", opcode,
				result);
		trn_device_stop(tdev, epoch);
	}
}

static void trn_admin_revoke(struct trn_device *tdev, u32 epoch, struct trn_admin_command *cmd)
{
	trn_admin_check_revoked(tdev, epoch, cmd->opcode, trn_admin_exec(tdev, epoch, cmd));
}

void trn_admin_context_destroy(struct trn_vm *vm)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_CONTEXT_DESTROY,
		.context.asid = cpu_to_le16(vm->asid),
	};

	trn_admin_revoke(vm->tdev, vm->epoch, &cmd);
}

void trn_admin_invalidate(struct trn_vm *vm, u64 va, u64 length)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_TLB_INVALIDATE,
		.invalidate.asid = cpu_to_le16(vm->asid),
		.invalidate.va = cpu_to_le64(va),
		.invalidate.length = cpu_to_le64(length),
	};

	trn_admin_revoke(vm->tdev, vm->epoch, &cmd);
}

/* TRN_ADMIN_ENGINE_HUNG: its engine does not let go of a packet, and nothing has changed. */
static int trn_admin_queue_command(struct trn_queue *queue, u8 opcode)
{
	struct trn_admin_command cmd = {
		.opcode = opcode,
		.queue.queue = cpu_to_le16(queue->id),
	};

	return trn_admin_exec(queue->tdev, queue->epoch, &cmd);
}

int trn_admin_queue_reset(struct trn_queue *queue)
{
	return trn_admin_queue_command(queue, TRN_ADMIN_QUEUE_RESET);
}

int trn_admin_queue_destroy(struct trn_queue *queue)
{
	return trn_admin_queue_command(queue, TRN_ADMIN_QUEUE_DESTROY);
}

int trn_admin_context_reset(struct trn_vm *vm)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_CONTEXT_RESET,
		.context.asid = cpu_to_le16(vm->asid),
	};

	return trn_admin_exec(vm->tdev, vm->epoch, &cmd);
}

/* TRN_ADMIN_NOT_FOUND: the core runs no program of the queue. */
int trn_admin_core_reset(struct trn_device *tdev, u32 epoch, u16 core, u16 queue)
{
	struct trn_admin_command cmd = {
		.opcode = TRN_ADMIN_CORE_RESET,
		.core.core = cpu_to_le16(core),
		.core.queue = cpu_to_le16(queue),
	};

	return trn_admin_exec(tdev, epoch, &cmd);
}
