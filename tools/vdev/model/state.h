/* SPDX-License-Identifier: MIT */
/* The state of a chip, shared by the files of the model. */
#ifndef TRN_VDEV_STATE_H
#define TRN_VDEV_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "admin.h"
#include "chip.h"
#include "events.h"
#include "hbm.h"
#include "queue.h"
#include "registers.h"
#include "tlb.h"
#include "translate.h"

enum trn_power {
	TRN_POWER_OFF, /* not enabled */
	TRN_POWER_READY,
	TRN_POWER_FATAL,
};

struct trn_chip {
	/* constant */
	struct trn_chip_config config;
	const struct trn_host_ops *ops;
	void *host;
	struct trn_hbm hbm;
	uint64_t poll_ns; /* how long an idle queue is polled */

	/*
	 * Guards this group.  Held for a few loads and stores, never while the host
	 * is called or memory is copied.
	 */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* attention, stepping, resetting, quit */
	struct trn_registers registers;
	uint64_t epoch; /* monotonic ns of the last function reset */
	bool attention; /* a register was written since the last step began */
	bool stepping;
	bool resetting;
	bool quit;

	/* Owned by whoever set stepping or resetting. */
	enum trn_power power;
	uint64_t now;		 /* device clock when the step began, ns */
	bool admin_was_last;	 /* queues go first in the next step */
	unsigned int next_queue; /* where the round robin goes on */
	struct trn_admin admin;
	struct trn_events events;
	struct trn_context context[TRN_CONTEXTS];
	struct trn_queue *queue[TRN_QUEUES];
	struct trn_tlb tlb;

	pthread_t executor;
	bool executor_runs; /* used by trn_chip_start() and _stop() only */
};

/* Stops all work with TRN_FATAL_*; called in a step. */
void trn_chip_fatal(struct trn_chip *chip, uint8_t reason);

#endif /* TRN_VDEV_STATE_H */
