// SPDX-License-Identifier: MIT
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include <hw/trn_regs.h>

#include "core/core.h"
#include "exec.h"
#include "logs.h"
#include "shared.h"
#include "state.h"

#define FIRMWARE_VERSION "trn-vdev 1.0"
#define PAGE_MASK	 (TRN_PAGE_SIZE - 1)

static uint16_t identify(struct trn_chip *chip, const struct trn_admin_command *command)
{
	const struct trn_chip_config *config = &chip->config;
	struct trn_identify page;

	if ((le64toh(command->data.buffer) & 63) ||
	    !trn_all_zero(command->data.reserved, sizeof(command->data.reserved)))
		return TRN_ADMIN_INVALID_FIELD;

	memset(&page, 0, sizeof(page));
	page.magic = htole32(config->defects & TRN_DEFECT_BAD_IDENTIFY ? ~TRN_IDENTIFY_MAGIC
								       : TRN_IDENTIFY_MAGIC);
	page.size = htole32(sizeof(page));
	memcpy(page.uuid, config->uuid, sizeof(page.uuid));
	memcpy(page.generation, config->generation->name,
	       strnlen(config->generation->name, sizeof(page.generation)));
	memcpy(page.serial, config->serial, strnlen(config->serial, sizeof(page.serial)));
	memcpy(page.firmware, FIRMWARE_VERSION, strlen(FIRMWARE_VERSION));
	page.hbm_bytes = htole64(config->hbm_size);
	if (chip->ops->write(chip->host, le64toh(command->data.buffer), &page, sizeof(page)))
		return TRN_ADMIN_DMA_ERROR;
	return TRN_ADMIN_SUCCESS;
}

static uint16_t check_log(const struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint32_t length = le32toh(command->log.length);
	uint16_t id = le16toh(command->log.id);

	if ((le64toh(command->log.buffer) & 63) || length == 0 || length > TRN_LOG_SIZE ||
	    length % 64 || command->log.reserved0 ||
	    !trn_all_zero(command->log.reserved1, sizeof(command->log.reserved1)))
		return TRN_ADMIN_INVALID_FIELD;
	switch (command->log.page) {
	case TRN_LOG_EVENTS:
	case TRN_LOG_RUNNING:
		return id ? TRN_ADMIN_INVALID_FIELD : TRN_ADMIN_SUCCESS;
	case TRN_LOG_QUEUE:
		if (id >= TRN_QUEUES)
			return TRN_ADMIN_INVALID_ID;
		return chip->queue[id] ? TRN_ADMIN_SUCCESS : TRN_ADMIN_NOT_FOUND;
	case TRN_LOG_CORE:
		return id < chip->config.generation->cores ? TRN_ADMIN_SUCCESS
							   : TRN_ADMIN_INVALID_ID;
	default:
		return TRN_ADMIN_INVALID_FIELD;
	}
}

static uint16_t get_log(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t status = check_log(chip, command);
	union trn_log log;

	if (status)
		return status;
	trn_log_fill(chip, command->log.page, le16toh(command->log.id), &log);
	if (chip->ops->write(chip->host, le64toh(command->log.buffer), &log,
			     le32toh(command->log.length)))
		return TRN_ADMIN_DMA_ERROR;
	return TRN_ADMIN_SUCCESS;
}

static uint16_t set_feature(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint64_t value = le64toh(command->feature.value);

	if (command->feature.feature != TRN_FEATURE_INTERRUPT_INTERVAL ||
	    value > TRN_INTERRUPT_INTERVAL_MAX ||
	    !trn_all_zero(command->feature.reserved0, sizeof(command->feature.reserved0)) ||
	    !trn_all_zero(command->feature.reserved1, sizeof(command->feature.reserved1)))
		return TRN_ADMIN_INVALID_FIELD;
	trn_vectors_set_interval(chip, value * 1000);
	return TRN_ADMIN_SUCCESS;
}

/* Success means that the command waits; it completes with the event. */
static uint16_t event(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint64_t buffer = le64toh(command->data.buffer);

	if ((buffer & 63) || !trn_all_zero(command->data.reserved, sizeof(command->data.reserved)))
		return TRN_ADMIN_INVALID_FIELD;
	if (!trn_events_wait(&chip->events, buffer, le16toh(command->command_id)))
		return TRN_ADMIN_NO_RESOURCES;
	return TRN_ADMIN_SUCCESS;
}

static bool context_reserved_clear(const struct trn_admin_command *command)
{
	return trn_all_zero(command->context.reserved0, sizeof(command->context.reserved0)) &&
	       trn_all_zero(command->context.reserved1, sizeof(command->context.reserved1));
}

static uint16_t context_create(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t asid = le16toh(command->context.asid);
	uint64_t root = le64toh(command->context.root);

	if (!context_reserved_clear(command) || (root & PAGE_MASK))
		return TRN_ADMIN_INVALID_FIELD;
	if (asid >= TRN_CONTEXTS)
		return TRN_ADMIN_INVALID_ID;
	if (chip->context[asid].exists)
		return TRN_ADMIN_EXISTS;
	chip->context[asid] = (struct trn_context){ .exists = true, .root = root };
	return TRN_ADMIN_SUCCESS;
}

/* Of a command for a context that exists. */
static uint16_t check_context(const struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t asid = le16toh(command->context.asid);

	if (!context_reserved_clear(command) || command->context.root)
		return TRN_ADMIN_INVALID_FIELD;
	if (asid >= TRN_CONTEXTS)
		return TRN_ADMIN_INVALID_ID;
	return chip->context[asid].exists ? TRN_ADMIN_SUCCESS : TRN_ADMIN_NOT_FOUND;
}

static uint16_t context_destroy(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t asid = le16toh(command->context.asid);
	uint16_t status = check_context(chip, command);

	if (status)
		return status;
	if (chip->context[asid].users)
		return TRN_ADMIN_BUSY;
	trn_tlb_invalidate_asid(&chip->tlb, asid);
	trn_cores_forget_context(chip, asid);
	chip->context[asid].exists = false;
	return TRN_ADMIN_SUCCESS;
}

static uint16_t context_reset(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t status = check_context(chip, command);

	if (status)
		return status;
	for (unsigned int i = 0; i < TRN_QUEUES; i++) {
		struct trn_queue *queue = chip->queue[i];

		if (!queue || queue->asid != le16toh(command->context.asid))
			continue;
		if (trn_queue_hangs(queue, TRN_CURE_CONTEXT))
			status = TRN_ADMIN_ENGINE_HUNG;
		else
			trn_queue_reset(chip, queue);
	}
	return status;
}

static uint16_t core_reset(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t number = le16toh(command->core.core), id = le16toh(command->core.queue);
	struct trn_queue *queue;

	if (!trn_all_zero(command->core.reserved, sizeof(command->core.reserved)))
		return TRN_ADMIN_INVALID_FIELD;
	if (number >= chip->config.generation->cores || id >= TRN_QUEUES)
		return TRN_ADMIN_INVALID_ID;
	queue = chip->queue[id];
	if (!queue || queue->core != &chip->core[number])
		return TRN_ADMIN_NOT_FOUND;
	if (trn_queue_hangs(queue, TRN_CURE_CORE))
		return TRN_ADMIN_ENGINE_HUNG;
	trn_queue_reset(chip, queue);
	trn_core_reset(&chip->core[number]);
	return TRN_ADMIN_SUCCESS;
}

/*
 * No translation outlives the step that made it (translate.h), and this is a step
 * of its own: once the TLB has forgotten the range, no access uses it any more.
 */
static uint16_t tlb_invalidate(struct trn_chip *chip, const struct trn_admin_command *command)
{
	const uint64_t end = 1ULL << TRN_VA_BITS;
	uint16_t asid = le16toh(command->invalidate.asid);
	uint64_t va = le64toh(command->invalidate.va);
	uint64_t length = le64toh(command->invalidate.length);

	if (!trn_all_zero(command->invalidate.reserved0, sizeof(command->invalidate.reserved0)) ||
	    !trn_all_zero(command->invalidate.reserved1, sizeof(command->invalidate.reserved1)) ||
	    (va & PAGE_MASK) || (length & PAGE_MASK) || va >= end || length > end - va ||
	    (length == 0 && va != 0))
		return TRN_ADMIN_INVALID_FIELD;
	if (asid >= TRN_CONTEXTS)
		return TRN_ADMIN_INVALID_ID;
	if (!chip->context[asid].exists)
		return TRN_ADMIN_NOT_FOUND;
	if (length)
		trn_tlb_invalidate(&chip->tlb, asid, va, length);
	else
		trn_tlb_invalidate_asid(&chip->tlb, asid);
	return TRN_ADMIN_SUCCESS;
}

static uint16_t check_queue_create(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t id = le16toh(command->queue_create.queue);
	uint16_t ring_asid = le16toh(command->queue_create.ring_asid);
	uint16_t asid = le16toh(command->queue_create.asid);
	uint16_t vector = le16toh(command->queue_create.vector);

	if (command->queue_create.reserved0 ||
	    !trn_all_zero(command->queue_create.reserved1,
			  sizeof(command->queue_create.reserved1)) ||
	    (command->queue_create.type != TRN_QUEUE_TYPE_DMA &&
	     command->queue_create.type != TRN_QUEUE_TYPE_EXEC) ||
	    command->queue_create.ring_log2 < TRN_RING_LOG2_MIN ||
	    command->queue_create.ring_log2 > TRN_RING_LOG2_MAX ||
	    command->queue_create.priority > TRN_QUEUE_PRIORITY_MAX ||
	    (le64toh(command->queue_create.ring_va) & PAGE_MASK) ||
	    (le64toh(command->queue_create.control) & PAGE_MASK))
		return TRN_ADMIN_INVALID_FIELD;
	if (id >= TRN_QUEUES || ring_asid >= TRN_CONTEXTS || asid >= TRN_CONTEXTS || vector == 0 ||
	    vector >= TRN_VECTORS)
		return TRN_ADMIN_INVALID_ID;
	if (chip->queue[id])
		return TRN_ADMIN_EXISTS;
	if (!chip->context[ring_asid].exists || !chip->context[asid].exists)
		return TRN_ADMIN_NOT_FOUND;
	return TRN_ADMIN_SUCCESS;
}

static uint16_t queue_create(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint64_t time_limit = le32toh(command->queue_create.time_limit);
	struct trn_queue *queue;
	uint16_t status;

	status = check_queue_create(chip, command);
	if (status)
		return status;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return TRN_ADMIN_NO_RESOURCES;
	queue->id = le16toh(command->queue_create.queue);
	queue->ring_asid = le16toh(command->queue_create.ring_asid);
	queue->asid = le16toh(command->queue_create.asid);
	queue->vector = le16toh(command->queue_create.vector);
	queue->priority = command->queue_create.priority;
	queue->time_limit = time_limit ? time_limit * 1000000 : UINT64_MAX;
	queue->ring_size = 1U << command->queue_create.ring_log2;
	queue->ring_va = le64toh(command->queue_create.ring_va);
	queue->type = command->queue_create.type;
	queue->control = le64toh(command->queue_create.control);
	if (trn_queue_start(chip, queue)) {
		free(queue);
		return TRN_ADMIN_DMA_ERROR;
	}
	chip->context[queue->ring_asid].users++;
	chip->context[queue->asid].users++;
	chip->queue[queue->id] = queue;
	return TRN_ADMIN_SUCCESS;
}

/* The queue that a command names, or NULL and *status. */
static struct trn_queue *find_queue(struct trn_chip *chip, const struct trn_admin_command *command,
				    uint16_t *status)
{
	uint8_t masked_max = command->opcode == TRN_ADMIN_QUEUE_MASK;
	uint16_t id = le16toh(command->queue.queue);

	if (command->queue.masked > masked_max ||
	    !trn_all_zero(command->queue.reserved, sizeof(command->queue.reserved)))
		*status = TRN_ADMIN_INVALID_FIELD;
	else if (id >= TRN_QUEUES)
		*status = TRN_ADMIN_INVALID_ID;
	else if (!chip->queue[id])
		*status = TRN_ADMIN_NOT_FOUND;
	else
		return chip->queue[id];
	return NULL;
}

/* Accesses of a queue are made in its own steps only: here none is in progress. */
static uint16_t queue_destroy(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t status;
	struct trn_queue *queue = find_queue(chip, command, &status);

	if (!queue)
		return status;
	if (trn_queue_hangs(queue, TRN_CURE_QUEUE))
		return TRN_ADMIN_ENGINE_HUNG;
	chip->context[queue->ring_asid].users--;
	chip->context[queue->asid].users--;
	chip->queue[queue->id] = NULL;
	trn_rounds_forget(&chip->rounds, queue);
	trn_exec_end(queue);
	free(queue);
	return TRN_ADMIN_SUCCESS;
}

static uint16_t queue_suspend(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t status;
	struct trn_queue *queue = find_queue(chip, command, &status);

	if (!queue)
		return status;
	if (queue->state != TRN_QUEUE_RUNNING)
		return TRN_ADMIN_BAD_STATE;
	if (trn_queue_hangs(queue, TRN_CURE_QUEUE))
		return TRN_ADMIN_ENGINE_HUNG;
	trn_queue_suspend(chip, queue);
	return queue->state == TRN_QUEUE_SUSPENDED ? TRN_ADMIN_SUCCESS : TRN_ADMIN_BAD_STATE;
}

static uint16_t queue_resume(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t status;
	struct trn_queue *queue = find_queue(chip, command, &status);

	if (!queue)
		return status;
	if (queue->state != TRN_QUEUE_SUSPENDED)
		return TRN_ADMIN_BAD_STATE;
	trn_queue_resume(queue);
	return TRN_ADMIN_SUCCESS;
}

static uint16_t queue_reset(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t status;
	struct trn_queue *queue = find_queue(chip, command, &status);

	if (!queue)
		return status;
	if (trn_queue_hangs(queue, TRN_CURE_QUEUE))
		return TRN_ADMIN_ENGINE_HUNG;
	trn_queue_reset(chip, queue);
	return TRN_ADMIN_SUCCESS;
}

static uint16_t queue_mask(struct trn_chip *chip, const struct trn_admin_command *command)
{
	uint16_t status;
	struct trn_queue *queue = find_queue(chip, command, &status);

	if (!queue)
		return status;
	trn_queue_mask(chip, queue, command->queue.masked);
	return TRN_ADMIN_SUCCESS;
}

typedef uint16_t (*command_handler)(struct trn_chip *chip, const struct trn_admin_command *command);

static const command_handler handlers[] = {
	[TRN_ADMIN_IDENTIFY] = identify,
	[TRN_ADMIN_GET_LOG] = get_log,
	[TRN_ADMIN_EVENT] = event,
	[TRN_ADMIN_SET_FEATURE] = set_feature,
	[TRN_ADMIN_CONTEXT_CREATE] = context_create,
	[TRN_ADMIN_CONTEXT_DESTROY] = context_destroy,
	[TRN_ADMIN_TLB_INVALIDATE] = tlb_invalidate,
	[TRN_ADMIN_CONTEXT_RESET] = context_reset,
	[TRN_ADMIN_CORE_RESET] = core_reset,
	[TRN_ADMIN_QUEUE_CREATE] = queue_create,
	[TRN_ADMIN_QUEUE_DESTROY] = queue_destroy,
	[TRN_ADMIN_QUEUE_SUSPEND] = queue_suspend,
	[TRN_ADMIN_QUEUE_RESUME] = queue_resume,
	[TRN_ADMIN_QUEUE_RESET] = queue_reset,
	[TRN_ADMIN_QUEUE_MASK] = queue_mask,
};

uint16_t trn_command_execute(struct trn_chip *chip, const struct trn_admin_command *command)
{
	command_handler handler = NULL;

	if (command->opcode < sizeof(handlers) / sizeof(handlers[0]))
		handler = handlers[command->opcode];
	if (!handler)
		return TRN_ADMIN_INVALID_OPCODE;
	if (command->reserved0 || command->reserved1)
		return TRN_ADMIN_INVALID_FIELD;
	return handler(chip, command);
}
