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
#include "inject.h"
#include "queue.h"
#include "registers.h"
#include "rounds.h"
#include "tlb.h"
#include "translate.h"
#include "vectors.h"

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
	uint64_t poll_ns; /* how long an idle queue is polled, as a rule */

	/*
	 * Guards this group.  Held for a few loads and stores, never while the host
	 * is called or memory is copied.
	 */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* attention, stepping, held, quit */
	struct trn_registers registers;
	uint64_t epoch; /* monotonic ns of the last function reset */
	bool attention; /* a register was written since the last step began */
	bool stepping;
	bool held; /* no step begins: somebody else owns the state */
	bool dead; /* until power-on; changed by who holds the chip */
	bool quit;

	/* Owned by whoever set stepping or held. */
	enum trn_power power;
	uint64_t now;	     /* device clock when the step began, ns */
	bool admin_was_last; /* queues go first in the next step */
	struct trn_admin admin;
	struct trn_events events;
	struct trn_vectors vectors;
	struct trn_faults faults;
	struct trn_rounds rounds;
	struct trn_context context[TRN_CONTEXTS];
	struct trn_queue *queue[TRN_QUEUES];
	struct trn_tlb tlb;
	struct trn_core *core; /* as many as the generation has */

	pthread_t executor;
	bool executor_runs; /* used by trn_chip_start() and _stop() only */
};

/*
 * Takes the state over from the step that is under way, whose end this awaits.  False: it
 * did not end within timeout_ns (UINT64_MAX: any).
 */
bool trn_chip_hold(struct trn_chip *chip, uint64_t timeout_ns);
void trn_chip_release(struct trn_chip *chip);

/* The chip does nothing any more; called with the chip held. */
void trn_chip_die(struct trn_chip *chip);

/* Stops all work with TRN_FATAL_*; called in a step, or with the chip held. */
void trn_chip_fatal(struct trn_chip *chip, uint8_t reason);

#endif /* TRN_VDEV_STATE_H */
