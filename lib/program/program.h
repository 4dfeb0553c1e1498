/* SPDX-License-Identifier: MIT */
/*
 * A loaded program.  In device memory it has up to two buffers: one that the device only reads,
 * with the images of all parts and their constants, and one for state.  A tensor set has a table
 * of bindings and room for results in host memory, and a buffer for what is temporary.
 */
#ifndef TRN_PROGRAM_H
#define TRN_PROGRAM_H

#include <trn/trn_program.h>

#include "../internal.h"

/* Room in a buffer: of what is put there the largest alignment, and where the next one begins. */
struct program_room {
	uint64_t size;
	uint64_t alignment;
};

struct program_tensor {
	struct trn_tensor_info info;
	uint64_t offset; /* STATE_BUFFER, TMP_BUF: in the buffer for it */
};

/* A binding: the tensor, and for a constant where it is. */
struct program_variable {
	uint32_t tensor;
	uint64_t offset; /* FILE: in the constant buffer */
};

/* What one core executes. */
struct program_part {
	struct program_variable *variables;
	uint32_t num_variables;
	uint64_t image;	 /* offset in the constant buffer */
	uint64_t table;	 /* offsets in a tensor set's table: bindings */
	uint64_t result; /* struct trn_exec_result */
};

/* Where everything of a program is to be.  Needs no device. */
struct program_layout {
	struct program_tensor *tensors;
	struct program_part *parts;
	uint32_t num_tensors, num_parts;
	struct program_room constant, state, temporary;
	uint64_t table_size; /* of a tensor set */
};

struct trn_program {
	struct trn_context *context;
	struct trn_program_info info;
	char *name; /* never "": for texts */
	struct program_layout layout;
	struct trn_buffer *constant;
	struct trn_buffer *state; /* or NULL */
	uint64_t constant_address, state_address;
	unsigned int sets; /* atomic: tensor sets */
};

struct trn_tensor_set {
	struct trn_program *program;
	struct trn_buffer *table;
	uint8_t *table_pointer;
	struct trn_buffer *temporary; /* or NULL */
	uint32_t missing;	      /* inputs and outputs that have no memory */
	struct trn_buffer *bound[];   /* of each tensor; held, NULL = none */
};

/*
 * layout.c: of a program that has been checked; @name begins texts.  What was allocated is in
 * @layout also on failure.
 */
int trn_program_layout(const char *name, const struct trn_neff *neff,
		       struct program_layout *layout);
void trn_program_layout_free(struct program_layout *layout);
const struct program_tensor *trn_program_find(const struct program_layout *layout,
					      const char *name);

/* image.c: bytes of a part's image, and the image. */
uint64_t trn_program_image_size(const struct trn_neff_core *core);
void trn_program_image(const struct trn_neff_core *core, uint8_t *image);

/* check.c: whether a chip can execute a program; -EOPNOTSUPP with a text. */
int trn_program_check_chip(const char *name, const struct trn_neff *neff, const char *chip,
			   const struct trn_device_info *info);

/* load.c: memory for a room, NULL if it is of no bytes, and the address of its first byte. */
int trn_program_allocate(struct trn_context *context, const char *what,
			 const struct program_room *room, struct trn_buffer **buffer,
			 uint64_t *address);

/* load.c: destroys *@buffer, which may be NULL, and makes it NULL. */
int trn_program_destroy_buffer(struct trn_buffer **buffer);

/* set.c: whether an execution would have all its memory. */
int trn_tensor_set_check(const struct trn_tensor_set *set);

static inline bool trn_tensor_is_bound_by_caller(const struct trn_tensor_info *info)
{
	return info->kind == TRN_NEFF_INPUT || info->kind == TRN_NEFF_OUTPUT;
}

#endif /* TRN_PROGRAM_H */
