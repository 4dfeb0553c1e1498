/* SPDX-License-Identifier: MIT */
/* The packet EXEC: programs on cores (Documentation/isa.rst, "Programs"). */
#ifndef TRN_VDEV_EXEC_H
#define TRN_VDEV_EXEC_H

#include <stdint.h>

struct trn_chip;
struct trn_fault;
struct trn_packet;
struct trn_queue;

struct trn_culprit {
	uint8_t exception; /* TRN_EXCEPTION_* */
	uint8_t engine;
	uint32_t instruction;
};

/* Makes the chip's cores: 0 or -ENOMEM. */
int trn_cores_create(struct trn_chip *chip);
void trn_cores_destroy(struct trn_chip *chip);
/* Nothing runs, and all memories are 0: for a reset. */
void trn_cores_reset(struct trn_chip *chip);
/* Nothing of the context is left in a core: it is destroyed. */
void trn_cores_forget_context(struct trn_chip *chip, uint16_t asid);

/* TRN_STOP_BAD_FIELD or 0. */
uint8_t trn_exec_check(const struct trn_chip *chip, const struct trn_packet *packet);

enum trn_exec_state {
	TRN_EXEC_GOES_ON,
	TRN_EXEC_WAITS, /* for a core */
	TRN_EXEC_DONE,
	TRN_EXEC_FAULT,
	TRN_EXEC_EXCEPTION,
};

/* Does a bounded part of the queue's packet. */
enum trn_exec_state trn_exec_unit(struct trn_chip *chip, struct trn_queue *queue,
				  struct trn_fault *fault);

/* Which engine and instruction of the queue's program failed, and how; all 0 if none did. */
struct trn_culprit trn_exec_culprit(const struct trn_queue *queue);

/* The packet's program ends, and its core is free. */
void trn_exec_end(struct trn_queue *queue);

#endif /* TRN_VDEV_EXEC_H */
