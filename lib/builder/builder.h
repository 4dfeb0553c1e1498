/* SPDX-License-Identifier: MIT */
/* What the parts of the builder share. */
#ifndef TRN_BUILDER_BUILDER_H
#define TRN_BUILDER_BUILDER_H

#include <trn/trn_builder.h>

/* Instructions of an engine. */
struct builder_stream {
	struct trn_instruction *instructions;
	uint32_t count, room;
	uint32_t registers;	    /* taken */
	uint32_t acquire;	    /* of the next instruction … */
	unsigned int acquire_count; /* … 0: it does not wait */
	bool labelled;		    /* a label is at the end: others may come here */
};

struct builder_core {
	struct trn_neff_variable variables[TRN_NEFF_VARIABLES_MAX];
	struct trn_neff_queue rings[TRN_NEFF_QUEUES_MAX];
	struct builder_stream streams[TRN_ENGINES];
	uint32_t num_variables, num_rings;
	uint32_t semaphores; /* taken */
	uint32_t sbuf;	     /* bytes taken */
};

struct builder_label {
	uint32_t core, engine, target;
	bool placed;
};

struct trn_builder {
	char *name;
	uint32_t sbuf_size;
	struct builder_core **cores;
	uint32_t num_cores;
	struct builder_label *labels;
	uint32_t num_labels;
	/* Of the function that was called, for texts: an opcode's name, or NULL */
	unsigned int engine;
	const char *opcode;
	/* The first mistake; all later calls return at once. */
	int error;
	char text[512];
	bool finished;
	struct trn_neff neff;
	struct trn_neff_core *neff_cores;
};

/* The core that was begun last. */
struct builder_core *builder_core(const struct trn_builder *builder);

/* The stream of an engine, or NULL after a mistake, which the number may be. */
struct builder_stream *builder_stream(struct trn_builder *builder, unsigned int engine);

/* Begins an instruction: false after a mistake, or if the engine does not have the opcode. */
bool builder_begin(struct trn_builder *builder, unsigned int engine, uint8_t opcode);
/* Appends the instruction that was begun, with what is to be acquired. */
void builder_append(struct trn_builder *builder, struct trn_instruction instruction);

/* The parts of instructions: false after a mistake. */
bool builder_extent(struct trn_builder *builder, const struct trn_tile *extent, uint8_t *partitions,
		    __le16 size[3]);
bool builder_operand(struct trn_builder *builder, const char *which,
		     const struct trn_operand *operand, const struct trn_tile *extent,
		     unsigned int pack, struct trn_access_pattern *pattern);
bool builder_register(struct trn_builder *builder, uint32_t number);
bool builder_variable(struct trn_builder *builder, uint32_t number);

#endif /* TRN_BUILDER_BUILDER_H */
