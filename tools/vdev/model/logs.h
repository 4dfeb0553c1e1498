/* SPDX-License-Identifier: MIT */
/* Log pages, as GET_LOG tells them. */
#ifndef TRN_VDEV_LOGS_H
#define TRN_VDEV_LOGS_H

#include <stdint.h>

#include <hw/trn_admin.h>
#include <hw/trn_isa.h>

#define TRN_LOG_SIZE 4096

struct trn_chip;

union trn_log {
	struct trn_log_events events;
	struct trn_log_running running;
	struct trn_log_queue queue;
	struct trn_log_core core;
	uint8_t bytes[TRN_LOG_SIZE];
};

/* Fills all of log with page TRN_LOG_*; the queue or core id, of a page of one, exists. */
void trn_log_fill(struct trn_chip *chip, uint8_t page, uint16_t id, union trn_log *log);

#endif /* TRN_VDEV_LOGS_H */
