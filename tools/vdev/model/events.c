// SPDX-License-Identifier: MIT
#include "events.h"

#include <string.h>

#include "shared.h"
#include "state.h"

void trn_events_reset(struct trn_events *events)
{
	events->next_sequence = 1;
	events->waiting_count = 0;
}

bool trn_events_wait(struct trn_events *events, uint64_t buffer, uint16_t command_id)
{
	if (events->waiting_count == TRN_EVENT_COMMANDS)
		return false;
	events->waiting[events->waiting_count++] = (struct trn_event_command){
		.buffer = buffer,
		.command_id = command_id,
	};
	return true;
}

void trn_events_raise(struct trn_chip *chip, struct trn_event *event)
{
	struct trn_events *events = &chip->events;
	struct trn_event_command command;
	uint64_t sequence = events->next_sequence++;

	event->sequence = htole64(sequence);
	event->time_ns = htole64(chip->now);
	events->log[sequence % TRN_LOG_EVENTS_MAX] = *event;

	if (!events->waiting_count)
		return;
	command = events->waiting[0];
	events->waiting_count--;
	memmove(&events->waiting[0], &events->waiting[1],
		events->waiting_count * sizeof(events->waiting[0]));
	if (chip->ops->write(chip->host, command.buffer, event, sizeof(*event)))
		trn_admin_complete(&chip->admin, command.command_id, TRN_ADMIN_DMA_ERROR, 0);
	else
		trn_admin_complete(&chip->admin, command.command_id, TRN_ADMIN_SUCCESS, sequence);
}

void trn_events_log(const struct trn_events *events, struct trn_log_events *page)
{
	uint64_t count = events->next_sequence - 1;
	uint64_t first;

	if (count > TRN_LOG_EVENTS_MAX)
		count = TRN_LOG_EVENTS_MAX;
	first = events->next_sequence - count;

	memset(page, 0, sizeof(*page));
	page->next_sequence = htole64(events->next_sequence);
	page->count = htole32(count);
	for (uint64_t i = 0; i < count; i++)
		page->event[i] = events->log[(first + i) % TRN_LOG_EVENTS_MAX];
}
