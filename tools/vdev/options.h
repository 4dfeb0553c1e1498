/* SPDX-License-Identifier: MIT */
/* Command line of trn-vdev. */
#ifndef TRN_VDEV_OPTIONS_H
#define TRN_VDEV_OPTIONS_H

#include <stdint.h>

#include "model/chip.h"

#define TRN_CHIPS_MAX 144

struct trn_options {
	const char *socket_dir;
	const struct trn_generation *generation;
	unsigned int chips;  /* 1 … TRN_CHIPS_MAX */
	uint64_t hbm_size;   /* bytes per chip */
	uint64_t aperture;   /* bytes per chip */
	uint32_t page_sizes; /* bit n: leaves of 2^n bytes */
	uint64_t seed;
	unsigned int defects[TRN_CHIPS_MAX]; /* enum trn_chip_defect */
};

/*
 * Reads the command line.  Returns -1 if the program is to go on, or its exit
 * status: 0 after --help, 2 after one line to standard error about what is wrong.
 */
int trn_options_parse(struct trn_options *options, int argc, char **argv);

#endif /* TRN_VDEV_OPTIONS_H */
