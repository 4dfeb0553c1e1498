/* SPDX-License-Identifier: MIT */
/*
 * The model and the reference side by side: one stream for both, the same bytes in SBUF and PSUM
 * before it, and the comparison of all bytes of a window of each after it.
 */
#ifndef TRN_TEST_MACHINE_H
#define TRN_TEST_MACHINE_H

#include "operand.h"
#include "tests/unit/model/numerics.h"
#include "tests/unit/model/program.h"

#define WINDOW_SIZE  2048	/* bytes of each partition, in SBUF and in PSUM */
#define SLOT_SIZE    512	/* a window has four */
#define SLOTS	     8		/* SBUF's, PSUM's */
#define MEMORY_BEGIN (1U << 20) /* in binding 0: what tests may use */
#define MEMORY_SIZE  (128U << 10)

struct machine {
	struct rig rig;
	struct program program;
	struct reference reference;
	unsigned int engine;
	uint32_t sbuf_size;		   /* of a partition */
	uint32_t dtypes;		   /* CAP_DTYPES */
	uint32_t sbuf_window, psum_window; /* first bytes in a partition */
	uint64_t random;		   /* state */
};

void machine_create(struct machine *machine, const char *generation);
void machine_destroy(struct machine *machine);
uint64_t machine_random(struct machine *machine);
/* 0 … limit - 1 */
unsigned int machine_below(struct machine *machine, unsigned int limit);

/* A new program of this engine: windows anywhere, full of random bytes. */
void machine_begin(struct machine *machine, unsigned int engine);
/* Appends to the program. */
struct trn_instruction *machine_add(struct machine *machine, struct trn_instruction instruction);
/* Sets a register, now and in the program. */
void machine_register(struct machine *machine, unsigned int number, int64_t value);
/* Runs the program on both, and compares. */
void machine_run(struct machine *machine);

/* Byte offset of slots as TRN_PLACE_* */
uint32_t machine_slot(const struct machine *machine, unsigned int slot);
/* Elements one after the other from a place on, contiguous: i, then j, then k. */
struct trn_access_pattern machine_rows(uint32_t place, unsigned int partition, unsigned int dtype,
				       struct shape shape);
/* Elements at random steps of either sign in a slot, no two at one place. */
struct trn_access_pattern machine_scattered(struct machine *machine, unsigned int slot,
					    unsigned int partition, unsigned int dtype,
					    struct shape shape);
/* Moves a part of the pattern's offset to a register, which the program sets: 1 … 15. */
void machine_by_register(struct machine *machine, struct trn_access_pattern *pattern,
			 unsigned int number);
/* A random shape of at most so many elements in each of at most 128 partitions. */
struct shape machine_shape(struct machine *machine, unsigned int partitions, unsigned int elements);
/* Fills an operand: number_edge() or number_moderate() */
void machine_fill(struct machine *machine, const struct trn_access_pattern *pattern,
		  struct shape shape, uint32_t (*number)(unsigned int dtype, uint64_t random));

/* An element instruction without operands */
struct trn_instruction machine_element(uint8_t opcode, struct shape shape);

#endif /* TRN_TEST_MACHINE_H */
