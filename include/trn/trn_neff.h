/* SPDX-License-Identifier: MIT */
/*
 * libtrn: files of compiled programs, .neff (Documentation/neff.rst).
 *
 * Results are as in trn.h: 0 or a negative errno, and trn_error_message() has a sentence that
 * names the file, its member, the error and the remedy.  Nothing here needs a device.  All
 * functions may be called from any thread; a program that was read does not change.
 */
#ifndef TRN_TRN_NEFF_H
#define TRN_TRN_NEFF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Limits of a file. */
#define TRN_NEFF_CORES_MAX	  64
#define TRN_NEFF_VARIABLES_MAX	  256 /* of a core */
#define TRN_NEFF_DIMENSIONS_MAX	  8
#define TRN_NEFF_QUEUES_MAX	  16		      /* of a core */
#define TRN_NEFF_INSTRUCTIONS_MAX (UINT32_C(1) << 24) /* of a stream */
#define TRN_NEFF_SIZE_MAX	  (UINT64_C(1) << 40) /* bytes of a variable */
#define TRN_NEFF_ALIGNMENT_MAX	  (UINT64_C(1) << 21) /* bytes */
#define TRN_NEFF_ENGINES	  5		      /* as TRN_ENGINES of hw/trn_isa.h */

/**
 * enum trn_neff_kind - who gives a variable memory, and what it holds
 * @TRN_NEFF_INPUT: the caller of an execution; the program reads it
 * @TRN_NEFF_OUTPUT: the caller; the program writes it
 * @TRN_NEFF_STATE_BUFFER: the loader; zeros, then what executions leave
 * @TRN_NEFF_FILE: the loader; a constant that the file contains
 * @TRN_NEFF_TMP_BUF: the loader; undefined when an execution begins
 */
enum trn_neff_kind {
	TRN_NEFF_INPUT,
	TRN_NEFF_OUTPUT,
	TRN_NEFF_STATE_BUFFER,
	TRN_NEFF_FILE,
	TRN_NEFF_TMP_BUF,
};

/**
 * struct trn_neff_variable - memory that instructions reach through a binding
 * @name: 1 … 255 bytes of UTF-8 without control characters; no other of the core has it
 * @id: a number of the compiler's, that no other variable of the core has
 * @kind: who gives it memory
 * @dtype: type of the elements, TRN_DTYPE_* of hw/trn_regs.h
 * @dimensions: used elements of @shape, 0 … TRN_NEFF_DIMENSIONS_MAX
 * @shape: 1 or more each; the last one varies fastest, and is even for TRN_DTYPE_FP4
 * @size: bytes: product of the shape times the size of an element
 * @alignment: of the address: a power of two, 1 … TRN_NEFF_ALIGNMENT_MAX
 * @data: of TRN_NEFF_FILE: @size bytes, the elements, of any alignment; else NULL
 */
struct trn_neff_variable {
	const char *name;
	uint32_t id;
	enum trn_neff_kind kind;
	uint32_t dtype;
	uint32_t dimensions;
	uint64_t shape[TRN_NEFF_DIMENSIONS_MAX];
	uint64_t size;
	uint64_t alignment;
	const void *data;
};

/**
 * enum trn_neff_direction - what a DMA ring is for
 * @TRN_NEFF_DATA: any transfer
 * @TRN_NEFF_IN: inputs
 * @TRN_NEFF_OUT: outputs
 */
enum trn_neff_direction {
	TRN_NEFF_DATA,
	TRN_NEFF_IN,
	TRN_NEFF_OUT,
};

/**
 * struct trn_neff_queue - the name of a DMA ring, for people and profiles
 * @name: as of a variable
 * @ring: 0 … 15; no other queue of the core has it
 * @direction: what it is for
 */
struct trn_neff_queue {
	const char *name;
	uint32_t ring;
	enum trn_neff_direction direction;
};

/**
 * struct trn_neff_stream - what an engine executes
 * @instructions: @count × 64 bytes, struct trn_instruction of hw/trn_isa.h, of any alignment
 * @count: instructions, at most TRN_NEFF_INSTRUCTIONS_MAX; 0 = the engine has no stream
 */
struct trn_neff_stream {
	const void *instructions;
	uint32_t count;
};

/**
 * struct trn_neff_core - the part of a program that one NeuronCore executes
 * @streams: by engine, TRN_ENGINE_* of hw/trn_isa.h
 * @variables: @num_variables; the index is the number of the binding
 * @queues: @num_queues, sorted by ring
 * @num_variables: at most TRN_NEFF_VARIABLES_MAX
 * @num_queues: at most TRN_NEFF_QUEUES_MAX
 */
struct trn_neff_core {
	struct trn_neff_stream streams[TRN_NEFF_ENGINES];
	const struct trn_neff_variable *variables;
	const struct trn_neff_queue *queues;
	uint32_t num_variables;
	uint32_t num_queues;
};

/**
 * struct trn_neff - a compiled program
 * @name: at most 255 bytes of UTF-8 without control characters; may be ""
 * @build_version: what wrote the file, at most 127 bytes likewise
 * @uuid: made from the content; trn_neff_write() does not read it
 * @cores: @num_cores
 * @num_cores: 1 … TRN_NEFF_CORES_MAX
 */
struct trn_neff {
	const char *name;
	const char *build_version;
	uint8_t uuid[16];
	const struct trn_neff_core *cores;
	uint32_t num_cores;
};

/**
 * trn_neff_open - read a file
 * @path: path of a regular file
 * @neff: out: the program, freed by trn_neff_close()
 *
 * The file is read into memory as a whole.
 * -EBADMSG: the file is damaged, or not of this kind.
 * -EOPNOTSUPP: the file has something that this version of the library does not know.
 * -EFBIG: the file exceeds a limit.
 * -EINVAL: not a regular file.  Also what open() and read() fail with.
 */
int trn_neff_open(const char *path, const struct trn_neff **neff);

/**
 * trn_neff_parse - read a file that is in memory
 * @name: what error messages call it
 * @file: its bytes, which must stay as they are until trn_neff_close()
 * @size: bytes
 * @neff: out: the program, freed by trn_neff_close()
 *
 * -EBADMSG, -EOPNOTSUPP, -EFBIG: as trn_neff_open().
 */
int trn_neff_parse(const char *name, const void *file, uint64_t size, const struct trn_neff **neff);

/**
 * trn_neff_close - free a program that was read
 * @neff: the program, or NULL
 */
void trn_neff_close(const struct trn_neff *neff);

/**
 * trn_neff_write - make a file in memory
 * @neff: the program; need not come from this library
 * @file: out: the bytes of the file, for free()
 * @size: out: how many
 *
 * The same program gives the same bytes.
 * -EINVAL: the program is not as the structures above say.
 * -EFBIG: the program exceeds a limit; a constant, with its header, is 8 GiB or larger.
 */
int trn_neff_write(const struct trn_neff *neff, void **file, uint64_t *size);

/**
 * trn_neff_dtype_name - name of a type of elements
 * @dtype: TRN_DTYPE_* of hw/trn_regs.h
 *
 * "fp32", "bf16" …, or NULL if there is no such type.
 */
const char *trn_neff_dtype_name(uint32_t dtype);

/**
 * trn_neff_kind_name - name of a kind of variable
 * @kind: the kind
 *
 * "input", "output", "state-buffer", "file", "tmp-buf", or NULL if there is no such kind.
 */
const char *trn_neff_kind_name(enum trn_neff_kind kind);

#ifdef __cplusplus
}
#endif

#endif /* TRN_TRN_NEFF_H */
