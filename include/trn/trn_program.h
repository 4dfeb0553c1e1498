/* SPDX-License-Identifier: MIT */
/*
 * libtrn: compiled programs on the NeuronCores of a chip.
 *
 *	trn_context ── trn_program ── trn_tensor_set
 *	               (loaded)       (the memory that executions use)
 *
 * A program is loaded once: its instructions and constants are copied to HBM and shared by all
 * executions.  A tensor set says in which buffers a program's tensors are; a program may have any
 * number of them.  An execution is some packets of a queue of type EXEC, and is waited for as
 * everything else on queues: trn_queue_wait(), _poll(), _notify(), _export_fence().
 *
 * Results, fork and what every function may also return are as in trn.h.  Texts of errors name
 * the program and the tensor.
 *
 * Threads: functions on programs may be called from any thread.  A tensor set belongs to one
 * thread at a time, as the queue does that it is executed on.
 *
 * Several executions of one program at once, on different cores, need a tensor set each, and a
 * queue each: packets of one queue are executed one after the other.  Tensors of the kinds input
 * and output are whatever the sets say, constants are only read, and memory of the kind tmp-buf is
 * each set's own.  State (state-buffer) is one of the program: executions of a program that has
 * some (trn_program_info.has_state) must be ordered, by one queue or by waiting, or else the state
 * is left undefined.
 */
#ifndef TRN_TRN_PROGRAM_H
#define TRN_TRN_PROGRAM_H

#include <stdbool.h>

#include <trn/trn.h>
#include <trn/trn_neff.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A program in device memory. */
struct trn_program;
/** Memory for the tensors of a program. */
struct trn_tensor_set;

/* ---- Program --------------------------------------------------------- */

/**
 * trn_program_load - load a program
 * @queue: a queue of type DMA: copies to device memory; the program is of its context
 * @neff: the program; not needed any more after the call
 * @program: out: the loaded program
 *
 * Variables of several cores that have one name are one tensor, and must be alike in kind,
 * type and shape; but each core has the constants (TRN_NEFF_FILE) of its own.
 * -EINVAL: @neff is not as trn_neff.h says, or @queue is not of type DMA.
 * -EBADMSG: variables of one name are not alike.
 * -EOPNOTSUPP: the chip cannot execute it: it has fewer cores, or lacks a data type.
 * -ENOSPC, -EDQUOT: as trn_buffer_create().  Else as trn_write().
 */
int trn_program_load(struct trn_queue *queue, const struct trn_neff *neff,
		     struct trn_program **program);

/**
 * trn_program_load_file - load a program from a .neff file
 * @queue: as in trn_program_load()
 * @path: path of the file
 * @program: out: the loaded program
 *
 * As trn_neff_open() and trn_program_load().
 */
int trn_program_load_file(struct trn_queue *queue, const char *path, struct trn_program **program);

/**
 * trn_program_unload - free a program
 * @program: the program, or NULL
 *
 * Its memory goes as with trn_buffer_destroy(): an execution that is not finished stops its queue.
 * -EBUSY: it has tensor sets; nothing was changed.  After another error nothing can be done with
 * it but to call again.
 */
int trn_program_unload(struct trn_program *program);

/**
 * struct trn_program_info - what a program is; constant while it is loaded
 * @name: from the file; may be ""
 * @uuid: from the file
 * @parts: cores that it runs on: an execution has so many parts
 * @tensors: number of tensors
 * @has_state: there are tensors of kind TRN_NEFF_STATE_BUFFER
 * @device_size: bytes of HBM that it takes while loaded
 * @set_size: bytes of HBM that each tensor set takes
 *
 * Later versions may add members at the end.
 */
struct trn_program_info {
	const char *name;
	uint8_t uuid[16];
	uint32_t parts;
	uint32_t tensors;
	bool has_state;
	uint64_t device_size;
	uint64_t set_size;
};

/**
 * trn_program_info - describe a program
 * @program: the program
 *
 * Never NULL; valid until it is unloaded.
 */
const struct trn_program_info *trn_program_info(const struct trn_program *program);

/**
 * struct trn_tensor_info - a tensor of a program
 * @name: its name
 * @kind: who gives it memory: INPUT and OUTPUT a tensor set, the others the library
 * @dtype: type of the elements, TRN_DTYPE_* of hw/trn_regs.h
 * @dimensions: used elements of @shape
 * @shape: the last one varies fastest
 * @size: bytes
 * @alignment: of its address; a power of two
 *
 * Later versions may add members at the end.
 */
struct trn_tensor_info {
	const char *name;
	enum trn_neff_kind kind;
	uint32_t dtype;
	uint32_t dimensions;
	uint64_t shape[TRN_NEFF_DIMENSIONS_MAX];
	uint64_t size;
	uint64_t alignment;
};

/**
 * trn_program_tensor - describe a tensor
 * @program: the program
 * @index: 0 … trn_program_info.tensors - 1, in the order of the file
 *
 * Valid until the program is unloaded.  NULL: there is no such tensor.
 */
const struct trn_tensor_info *trn_program_tensor(const struct trn_program *program, uint32_t index);

/**
 * trn_program_find_tensor - describe a tensor by its name
 * @program: the program
 * @name: name
 *
 * As trn_program_tensor().
 */
const struct trn_tensor_info *trn_program_find_tensor(const struct trn_program *program,
						      const char *name);

/* ---- Tensor set ------------------------------------------------------ */

/**
 * trn_tensor_set_create - make a tensor set
 * @program: the program
 * @set: out: the set; no input and no output has memory
 *
 * Also gives memory to the tensors of kind TRN_NEFF_TMP_BUF.
 * -ENOSPC, -EDQUOT: as trn_buffer_create().
 */
int trn_tensor_set_create(struct trn_program *program, struct trn_tensor_set **set);

/**
 * trn_tensor_set_destroy - free a tensor set
 * @set: the set, or NULL
 *
 * As with trn_buffer_destroy(), an execution that is not finished stops its queue.  After an error
 * nothing can be done with the set but to call again.
 */
int trn_tensor_set_destroy(struct trn_tensor_set *set);

/**
 * struct trn_tensor - memory of a tensor
 * @buffer: buffer of the program's context, with an address
 * @offset: first byte in @buffer
 * @size: bytes: must be trn_tensor_info.size
 * @dtype: type of the elements: must be trn_tensor_info.dtype
 */
struct trn_tensor {
	struct trn_buffer *buffer;
	uint64_t offset;
	uint64_t size;
	uint32_t dtype;
};

/**
 * trn_tensor_set_bind - say where an input or output is
 * @set: the set
 * @name: the tensor's name
 * @tensor: where it is; NULL = nowhere any more
 *
 * A later call takes the place of an earlier one.  No execution of the set may be unfinished: it
 * would use the old or the new memory, or parts of both.  Tensors may overlap each other; what a
 * program that writes one and reads the other does is up to the program. -ENOENT: the program has
 * no such input or output. -EINVAL: size, type, alignment or buffer are not as said at struct
 * trn_tensor. -EACCES: an output in a buffer that is TRN_BUFFER_READONLY.
 */
int trn_tensor_set_bind(struct trn_tensor_set *set, const char *name,
			const struct trn_tensor *tensor);

/* ---- Execution ------------------------------------------------------- */

/**
 * struct trn_execution - how to execute a program
 * @size: sizeof(struct trn_execution).  Later versions add members at the end, with 0 = as before
 * @first_part: first part to execute
 * @num_parts: parts to execute; 0 = all from @first_part on.  Parts of one call follow each
 *	other on the queue; to execute them at once give each to a queue of its own
 * @cores: for each of these parts a core 0 … trn_device_info.cores - 1, or TRN_CORE_ANY of
 *	hw/trn_queue.h: the first that is free; NULL = TRN_CORE_ANY for all
 * @seed: of the generator of random numbers for stochastic rounding
 * @profile: NULL, or a buffer in which the device writes what each instruction and transfer took,
 *	struct trn_profile_record of hw/trn_isa.h, of little-endian numbers
 * @profile_offset: first byte in @profile, a multiple of 8
 * @profile_size: bytes for each of these parts, one part's behind the other's: a multiple of 32.
 *	What finds no room is counted but not written (trn_execution_result.profile_records)
 * @sync_count: number of points; not 0 only with a kernel queue
 * @syncs: points of timelines, as in trn_queue_submit_syncs()
 */
struct trn_execution {
	size_t size;
	uint32_t first_part;
	uint32_t num_parts;
	const uint16_t *cores;
	uint64_t seed;
	struct trn_buffer *profile;
	uint64_t profile_offset;
	uint64_t profile_size;
	uint32_t sync_count;
	const struct trn_sync *syncs;
};

/**
 * trn_execute_async - begin to execute a program
 * @queue: a queue of type EXEC, of the program's context
 * @set: the program, and where its tensors are
 * @execution: how, or NULL: all parts on any core, seed 0
 * @sequence: out, may be NULL: number to wait for, as of trn_queue_submit()
 *
 * Packets already taken are submitted before or with it.  It allocates nothing, and waits only
 * while the ring is full.
 * -EINVAL: an input or output has no memory, or memory that was destroyed; the queue or the
 * profile's buffer is of another context; @execution is not as said there, or has more parts than
 * trn_queue_capacity().  -E2BIG: as for trn_queue_attributes.
 * Else as trn_queue_submit() and trn_queue_submit_syncs().  A program's own errors are told by
 * trn_queue_wait() (-EIO) and stop the queue; trn_error_message() and trn_queue_error() say where.
 */
int trn_execute_async(struct trn_queue *queue, struct trn_tensor_set *set,
		      const struct trn_execution *execution, uint64_t *sequence);

/**
 * trn_execute - execute a program
 * @queue: as in trn_execute_async()
 * @set: likewise
 * @execution: likewise
 *
 * As trn_execute_async(), then waits without a deadline, as trn_queue_wait().
 */
int trn_execute(struct trn_queue *queue, struct trn_tensor_set *set,
		const struct trn_execution *execution);

/**
 * struct trn_execution_result - what the last execution of a part was like
 * @begin_ns: when it began, ns of the device's clock
 * @end_ns: when it ended; @end_ns - @begin_ns is what it took on this device
 * @picoseconds: what it would take on the chip that the device stands for (model clock,
 *	Documentation/isa.rst)
 * @cycles: the same in cycles of the tensor engine's clock
 * @busy_cycles: for each engine, TRN_ENGINE_* of hw/trn_isa.h, how long it was busy, in cycles of
 *its own clock
 * @dma_bytes: bytes that DMA moved
 * @instructions: executed, by all engines
 * @profile_records: records that there were for the profile, those without room included
 * @core: the core
 *
 * Later versions may add members at the end.
 */
struct trn_execution_result {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t picoseconds;
	uint64_t cycles;
	uint64_t busy_cycles[TRN_NEFF_ENGINES];
	uint64_t dma_bytes;
	uint64_t instructions;
	uint64_t profile_records;
	uint32_t core;
};

/**
 * trn_tensor_set_result - ask what the last execution was like
 * @set: the set
 * @part: the part, 0 … trn_program_info.parts - 1
 * @result: out: the result
 *
 * Call it when an execution was waited for, before the next one is begun: the device writes it
 * when a part ends.
 * -ENODATA: no execution of the part has ended.
 */
int trn_tensor_set_result(struct trn_tensor_set *set, uint32_t part,
			  struct trn_execution_result *result);

#ifdef __cplusplus
}
#endif

#endif /* TRN_TRN_PROGRAM_H */
