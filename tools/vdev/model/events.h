/* SPDX-License-Identifier: MIT */
/* Events: the log, and the EVENT commands that wait for the next one. */
#ifndef TRN_VDEV_EVENTS_H
#define TRN_VDEV_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <hw/trn_admin.h>

#define TRN_EVENT_COMMANDS 8 /* CAP_EVENTS */

struct trn_chip;

struct trn_event_command {
	uint64_t buffer;
	uint16_t command_id;
};

struct trn_events {
	uint64_t next_sequence;
	struct trn_event log[TRN_LOG_EVENTS_MAX]; /* at sequence % MAX */
	/* EVENT commands, oldest first */
	struct trn_event_command waiting[TRN_EVENT_COMMANDS];
	unsigned int waiting_count;
};

void trn_events_reset(struct trn_events *events);

/* Takes an EVENT command; false when too many wait already. */
bool trn_events_wait(struct trn_events *events, uint64_t buffer, uint16_t command_id);

/* Gives event its sequence number and time, logs it, and completes a waiting command. */
void trn_events_raise(struct trn_chip *chip, struct trn_event *event);

/* Fills the log page TRN_LOG_EVENTS. */
void trn_events_log(const struct trn_events *events, struct trn_log_events *page);

#endif /* TRN_VDEV_EVENTS_H */
