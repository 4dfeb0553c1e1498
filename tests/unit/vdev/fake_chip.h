/* SPDX-License-Identifier: MIT */
/*
 * A chip that does nothing but remember: the server's tests link it in place of the
 * model.  Tests play its executor: they call host's operations themselves.
 */
#ifndef TESTS_UNIT_VDEV_FAKE_CHIP_H
#define TESTS_UNIT_VDEV_FAKE_CHIP_H

#include <stdint.h>

#include "tools/vdev/model/chip.h"
#include "tools/vdev/model/inject.h"

#define FAKE_QUEUES  6 /* not a power of two */
#define FAKE_STRIDE  4096
#define FAKE_VECTORS 70 /* more than one word of pending bits */

struct fake_chip {
	const struct trn_host_ops *ops;
	void *host;
	unsigned int resets;
	unsigned int power_ons;
	struct trn_injection injection; /* the newest */
	uint64_t doorbell_offset;	/* of the newest doorbell write */
	uint64_t doorbell_value;
};

/* The newest chip made.  A copy: consistent whatever the server does. */
struct fake_chip fake_chip_state(void);

/* What trn_chip_reset() does besides counting; NULL: nothing. */
void fake_chip_on_reset(void (*hook)(void));

/* What trn_chip_inject() returns from now on. */
void fake_chip_refuse_injection(int err);

#endif /* TESTS_UNIT_VDEV_FAKE_CHIP_H */
