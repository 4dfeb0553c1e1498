/* SPDX-License-Identifier: MIT */
/* Programs for tests: instructions one by one, and the rig that runs them. */
#ifndef TRN_TEST_PROGRAM_H
#define TRN_TEST_PROGRAM_H

#include <hw/trn_isa.h>

#include "rig.h"

#define PROGRAM_LENGTH_MAX 256

struct program {
	struct rig *rig;
	struct rig_space space;
	struct rig_queue queue;
	uint8_t *image; /* at PROGRAM_VA */
	uint8_t *data;	/* PROGRAM_DATA_SIZE bytes at PROGRAM_DATA_VA: binding 0 */
	struct trn_binding *bindings;
	struct trn_exec_result *result;
	struct trn_instruction stream[TRN_ENGINES][PROGRAM_LENGTH_MAX];
	uint32_t length[TRN_ENGINES];
	uint64_t seed;
	uint16_t core;
};

#define PROGRAM_VA	  0x100000ULL
#define PROGRAM_DATA_VA	  0x1000000ULL
#define PROGRAM_DATA_SIZE (4U << 20)

/* A context with id and a queue of its own, on an enabled chip. */
void program_create(struct program *program, struct rig *rig, uint16_t id);
/* Forgets the instructions. */
void program_clear(struct program *program);
/* Appends an instruction to an engine's stream; returns it for changes. */
struct trn_instruction *program_add(struct program *program, unsigned int engine,
				    struct trn_instruction instruction);
/* Ends all streams with HALT, and writes the image that the packet runs. */
struct trn_packet program_packet(struct program *program);
/* The same, and runs it until the queue rests. */
void program_run(struct program *program);
/* The same, and it has ended well. */
void program_runs(struct program *program);
/* The same, and it has ended with this exception of that instruction. */
void program_fails(struct program *program, uint8_t exception, unsigned int engine,
		   uint32_t instruction);

/* Contiguous rows: element (p; i, j, k) of shape (…; I, J, K) in SBUF or PSUM. */
struct trn_access_pattern program_tile(uint32_t place, uint8_t partition, uint8_t dtype,
				       unsigned int i, unsigned int j);
/* An instruction of kind "element" for rows of count elements. */
struct trn_instruction program_element(uint8_t opcode, uint8_t partitions, unsigned int count,
				       struct trn_access_pattern out, struct trn_access_pattern in);
/* Rows of count elements, one after the other at offset of binding 0. */
struct trn_instruction program_transfer(uint8_t opcode, uint8_t partitions, unsigned int count,
					struct trn_access_pattern local, uint64_t offset);
/* Acquires or releases one of a semaphore. */
void program_acquire(struct trn_instruction *instruction, uint8_t semaphore, uint8_t count);
void program_release(struct trn_instruction *instruction, uint8_t semaphore, uint8_t count);

#endif /* TRN_TEST_PROGRAM_H */
