/* SPDX-License-Identifier: MIT */
/* The admin queue: fetches commands, executes them, writes completions. */
#ifndef TRN_VDEV_ADMIN_H
#define TRN_VDEV_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include <hw/trn_admin.h>

#include "events.h"

struct trn_chip;

struct trn_admin_result {
	uint64_t value;
	uint16_t command_id;
	uint16_t status;
};

struct trn_admin {
	/* latched when the device is enabled */
	uint64_t sq_base;
	uint64_t cq_base;
	uint32_t size;
	/* doorbells, as of this step */
	uint32_t sq_tail;
	uint32_t cq_head;

	uint32_t sq_head;
	uint32_t cq_tail;
	uint16_t phase;

	/*
	 * Results that wait for room in the completion ring, oldest first.  While there
	 * are any no command is fetched, so one command, the late one, and all waiting
	 * EVENT commands are the most there can be.
	 */
	struct trn_admin_result result[TRN_EVENT_COMMANDS + 2];
	unsigned int result_count;

	/* An injected fault: a result that has to wait. */
	struct trn_admin_result late;
	uint64_t late_at; /* device time at which it is due; UINT64_MAX: there is none */
};

/* Can trn_admin_step() do something at device time now? */
bool trn_admin_runnable(const struct trn_admin *admin, uint64_t now);

/* Writes one completion, or executes one command. */
void trn_admin_step(struct trn_chip *chip);

/* Queues the result of a command. */
void trn_admin_complete(struct trn_admin *admin, uint16_t command_id, uint16_t status,
			uint64_t value);

#endif /* TRN_VDEV_ADMIN_H */
