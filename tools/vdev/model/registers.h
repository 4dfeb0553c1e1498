/* SPDX-License-Identifier: MIT */
/* BAR 0 and BAR 4: what software has written, and what it reads. */
#ifndef TRN_VDEV_REGISTERS_H
#define TRN_VDEV_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Capabilities that all generations share */
#define TRN_CONTEXTS	     256
#define TRN_QUEUES	     256
#define TRN_DOORBELL_STRIDE  65536
#define TRN_VECTORS	     33
#define TRN_RING_LOG2_MAX    12
#define TRN_SEMAPHORES	     256
#define TRN_READY_TIMEOUT_MS 1000
#define TRN_HEARTBEAT_MS     100
#define TRN_ADMIN_TIMEOUT_MS 2000

struct trn_chip;

struct trn_registers {
	uint32_t ctrl;
	uint32_t status;
	uint64_t sq_base;
	uint64_t cq_base;
	uint32_t size;
	uint32_t sq_tail;
	uint32_t cq_head;
	bool heartbeat_stands; /* at heartbeat: injected */
	uint32_t heartbeat;

	/* Not registers: accesses that the next step must learn of. */
	bool stop;	/* ENABLE was cleared */
	bool bad_index; /* an admin doorbell was out of range */
	uint64_t kicked[TRN_QUEUES / 64];
};

/* HEARTBEAT stands still from now on, until a reset.  0, or -EALREADY if it does. */
int trn_heartbeat_stop(struct trn_chip *chip);

#endif /* TRN_VDEV_REGISTERS_H */
