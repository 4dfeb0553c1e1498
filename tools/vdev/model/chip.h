/* SPDX-License-Identifier: MIT */
/*
 * One chip of the device model, as Documentation/device.rst describes it.
 *
 * A chip is a state machine.  Register and doorbell accesses change its state
 * and return at once; all work (admin commands, queues, DMA) is done by
 * trn_chip_step() in small bounded units.  The server runs steps from an executor
 * thread (trn_chip_start()); unit tests call trn_chip_step() themselves and so
 * decide what happens between any two steps.
 *
 * Threads: register and doorbell functions may be called from any thread.
 * trn_chip_step() has one caller at a time.
 */
#ifndef TRN_VDEV_CHIP_H
#define TRN_VDEV_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generations.h"
#include "host.h"

struct trn_chip;

/* Ways in which a chip can be built broken, for tests of drivers; bit mask. */
enum trn_chip_defect {
	TRN_DEFECT_NEVER_READY = 1 << 0,  /* STATUS.READY never sets */
	TRN_DEFECT_BAD_IDENTIFY = 1 << 1, /* identify data with a wrong magic */
	TRN_DEFECT_NO_HEARTBEAT = 1 << 2, /* HEARTBEAT stands still */
	TRN_DEFECT_NO_APERTURE = 1 << 3,  /* BAR 2 is missing */
	TRN_DEFECT_SMALL_BAR = 1 << 4,	  /* BAR 4 is smaller than its queues need */
};

/* All sizes of leaves that the model knows: 4 KiB, 2 MiB, 1 GiB. */
#define TRN_CHIP_PAGE_SIZES (1U << 12 | 1U << 21 | 1U << 30)

struct trn_chip_config {
	const struct trn_generation *generation;
	uint64_t hbm_size;   /* bytes, all stacks; multiple of stacks × 2 MiB */
	uint64_t aperture;   /* bytes, power of two, <= next power of two of hbm_size */
	uint64_t hbm_kept;   /* bytes of memory that zeroes do not give back */
	uint32_t page_sizes; /* CAP_PAGE_SIZES; bits of TRN_CHIP_PAGE_SIZES, 12 always */
	uint8_t uuid[16];
	char serial[32];
	unsigned int defects; /* enum trn_chip_defect */
};

/* Returns NULL with errno set.  host is passed to every function of ops. */
struct trn_chip *trn_chip_create(const struct trn_chip_config *config,
				 const struct trn_host_ops *ops, void *host);
void trn_chip_destroy(struct trn_chip *chip);

/* BAR 0 accesses; offset and size as the bus delivers them, checked here. */
uint64_t trn_chip_read_register(struct trn_chip *chip, uint64_t offset, unsigned int size);
void trn_chip_write_register(struct trn_chip *chip, uint64_t offset, unsigned int size,
			     uint64_t value);

/* A write to BAR 4. */
void trn_chip_write_doorbell(struct trn_chip *chip, uint64_t offset, unsigned int size,
			     uint64_t value);

/* File that backs HBM, for mapping BAR 2; owned by the chip. */
int trn_chip_hbm_fd(const struct trn_chip *chip);

/*
 * Function level reset, also used when a client goes away.  Returns when
 * the chip touches host memory no more (bounded by one step).
 */
void trn_chip_reset(struct trn_chip *chip);

/* The chip as it is after power-on: a reset that even a dead chip comes back from. */
void trn_chip_power_on(struct trn_chip *chip);

/*
 * Does one bounded unit of work.  Returns the time in ns after which the next
 * call is useful: 0 = at once, UINT64_MAX = only after a register or doorbell
 * access.
 */
uint64_t trn_chip_step(struct trn_chip *chip);

/* Runs trn_chip_step() in a thread until stopped.  0 or negative errno. */
int trn_chip_start(struct trn_chip *chip);
void trn_chip_stop(struct trn_chip *chip);

#endif /* TRN_VDEV_CHIP_H */
