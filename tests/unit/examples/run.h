/* SPDX-License-Identifier: MIT */
/* Runs a program on the model of a chip, without a machine around it. */
#ifndef TRN_TEST_EXAMPLES_RUN_H
#define TRN_TEST_EXAMPLES_RUN_H

#include <trn/trn_neff.h>

#include "tests/unit/model/rig.h"
#include <tools/trn-program/example.h>

struct run {
	struct rig rig;
	struct rig_space space;
	struct rig_queue queue;
	struct trn_builder *builder;
	const struct trn_neff *neff;
	uint8_t **memory; /* [core × TRN_NEFF_VARIABLES_MAX + variable] */
	uint64_t *va;	  /* likewise */
	uint64_t next_va;
	uint64_t *program_va; /* of each core */
	uint64_t page_va;     /* of bindings and result */
	uint8_t *page;
	/* of the last execution; cores run at the same time, so the slowest counts */
	uint64_t cycles, picoseconds, instructions, dma_bytes;
};

/* Makes the example's program with these values, and loads it to a chip of this generation. */
void run_create(struct run *run, const char *generation, const struct example *example,
		const double *values);
void run_destroy(struct run *run);
/* The memory of a variable. */
void *run_tensor(const struct run *run, const char *name);
/* Runs all cores; fails the test if the program does not end well. */
void run_execute(struct run *run);

#endif /* TRN_TEST_EXAMPLES_RUN_H */
