// SPDX-License-Identifier: MIT
#include "logs.h"

#include <stdbool.h>
#include <string.h>

#include "core/core.h"
#include "shared.h"
#include "state.h"

static bool is_running(const struct trn_queue *queue)
{
	return queue->state == TRN_QUEUE_RUNNING && queue->has_packet &&
	       queue->phase != TRN_PHASE_PARKED;
}

/* Inserts queue behind those whose packet has run as long; the last of too many falls off. */
static void insert(const struct trn_queue **sorted, unsigned int *count,
		   const struct trn_queue *queue)
{
	unsigned int place = *count;

	while (place && sorted[place - 1]->packet_ns < queue->packet_ns)
		place--;
	if (place == TRN_LOG_RUNNING_MAX)
		return;
	if (*count < TRN_LOG_RUNNING_MAX)
		++*count;
	memmove(&sorted[place + 1], &sorted[place], (*count - 1 - place) * sizeof(*sorted));
	sorted[place] = queue;
}

static void fill_running(struct trn_chip *chip, struct trn_log_running *page)
{
	const struct trn_queue *sorted[TRN_LOG_RUNNING_MAX];
	unsigned int count = 0;

	for (unsigned int i = 0; i < TRN_QUEUES; i++) {
		if (!chip->queue[i] || !is_running(chip->queue[i]))
			continue;
		trn_queue_count_hold(chip, chip->queue[i]);
		insert(sorted, &count, chip->queue[i]);
	}
	page->count = htole32(count);
	for (unsigned int i = 0; i < count; i++)
		page->running[i] = (struct trn_running){
			.queue = htole16(sorted[i]->id),
			.asid = htole16(sorted[i]->asid),
			.packet = htole32(sorted[i]->head),
			.packet_ns = htole64(sorted[i]->packet_ns),
			.queue_ns = htole64(sorted[i]->queue_ns),
		};
}

static uint8_t activity_of(const struct trn_queue *queue)
{
	if (queue->phase == TRN_PHASE_ASLEEP)
		return TRN_QUEUE_ACTIVITY_ASLEEP;
	if (!queue->has_packet)
		return TRN_QUEUE_ACTIVITY_AWAKE;
	if (queue->phase == TRN_PHASE_PARKED)
		return TRN_QUEUE_ACTIVITY_PARKED;
	return TRN_QUEUE_ACTIVITY_EXECUTING;
}

static void fill_queue(const struct trn_chip *chip, struct trn_queue *queue,
		       struct trn_log_queue *page)
{
	trn_queue_count_hold(chip, queue);
	page->state = queue->state;
	page->activity = activity_of(queue);
	page->reason = queue->reason;
	page->masked = queue->masked;
	page->exception = queue->culprit.exception;
	page->engine = queue->culprit.engine;
	page->instruction = htole32(queue->culprit.instruction);
	page->head = htole32(queue->head);
	page->tail = htole32(queue->tail);
	page->queue_ns = htole64(queue->queue_ns);
	if (!queue->has_packet)
		return;
	page->packet_ns = htole64(queue->packet_ns);
	page->done = htole64(queue->done);
	memcpy(page->packet, &queue->packet, sizeof(page->packet));
}

static uint8_t engine_state_of(const struct trn_engine *engine)
{
	switch (engine->state) {
	case TRN_ENGINE_READY:
		return TRN_ENGINE_STATE_RUNNING;
	case TRN_ENGINE_WAITING:
		return TRN_ENGINE_STATE_WAITING;
	default:
		return TRN_ENGINE_STATE_HALTED;
	}
}

static void fill_core(const struct trn_core *core, struct trn_log_core *page)
{
	if (!core->used)
		return;
	page->program = (struct trn_core_program){
		.state = core->running ? TRN_CORE_STATE_RUNNING : TRN_CORE_STATE_ENDED,
		.queue = htole16(core->queue),
		.asid = htole16(core->asid),
		.packet = htole32(core->packet),
	};
	for (unsigned int i = 0; i < TRN_ENGINES; i++) {
		const struct trn_engine *engine = &core->engine[i];
		struct trn_log_engine *copy = &page->engine[i];

		copy->state = engine_state_of(engine);
		copy->instruction = htole32(engine->pc);
		copy->issued = htole64(engine->issued);
		for (unsigned int j = 0; j < TRN_ISA_REGISTERS; j++)
			copy->reg[j] = htole64(engine->reg[j]);
	}
	for (unsigned int i = 0; i < TRN_ISA_SEMAPHORES; i++)
		page->semaphore[i] = htole32(core->semaphore[i]);
}

void trn_log_fill(struct trn_chip *chip, uint8_t page, uint16_t id, union trn_log *log)
{
	memset(log, 0, sizeof(*log));
	switch (page) {
	case TRN_LOG_EVENTS:
		trn_events_log(&chip->events, &log->events);
		break;
	case TRN_LOG_RUNNING:
		fill_running(chip, &log->running);
		break;
	case TRN_LOG_QUEUE:
		fill_queue(chip, chip->queue[id], &log->queue);
		break;
	case TRN_LOG_CORE:
		fill_core(&chip->core[id], &log->core);
		break;
	}
}
