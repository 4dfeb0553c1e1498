// SPDX-License-Identifier: MIT
/* DMA_LOAD, DMA_STORE, and TIMESTAMP, which writes to memory too. */
#include "execute.h"

#include <endian.h>

#include <hw/trn_regs.h>

#include "../shared.h"
#include "../state.h"
#include "element.h"
#include "memory.h"
#include "time.h"

/* About how long this host takes, ns. */
#define RUN_WORK	   100
#define BYTES_PER_NS	   8

#define BYTES_OF_TIMESTAMP 16

static int32_t stride(const struct trn_instruction *instruction, int number)
{
	return (int32_t)le32toh(instruction->dma.stride[number]);
}

/* All bytes are within the binding, and *va is that of the first element. */
static bool find_binding(struct trn_core *core, const struct trn_instruction *instruction,
			 __int128 low, __int128 high, uint64_t *va)
{
	const struct trn_binding *binding = &core->binding[instruction->dma.binding];
	int64_t offset;

	if (instruction->dma.address_register >= TRN_ISA_REGISTERS)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	offset = (int64_t)(le64toh(instruction->dma.offset) +
			   core->current->reg[instruction->dma.address_register]);
	if (instruction->dma.binding >= core->bindings || offset + low < 0 ||
	    offset + high > (__int128)le64toh(binding->size))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_BINDING);
	*va = le64toh(binding->address) + (uint64_t)offset;
	return true;
}

static bool find_memory(struct trn_core *core, const struct trn_instruction *instruction,
			size_t element)
{
	const struct trn_shape *shape = &core->execution.shape;
	const unsigned int count[4] = { shape->partitions, shape->size[0], shape->size[1],
					shape->size[2] };
	__int128 low = 0, high = (__int128)element;

	for (int i = 0; i < 4; i++) {
		__int128 way = (__int128)stride(instruction, i) * (count[i] - 1);

		if (way < 0)
			low += way;
		else
			high += way;
	}
	return find_binding(core, instruction, low, high, &core->execution.va);
}

/* Elements i … of a row in memory, to or from the buffer, where they lie side by side. */
static bool access_run(struct trn_core *core, const struct trn_instruction *instruction,
		       uint64_t va, uint8_t *buffer, unsigned int count, uint8_t access)
{
	size_t size = core->execution.memory_dtype->size;
	int64_t step = stride(instruction, 1);

	if (step == (int64_t)size) {
		core->work += RUN_WORK + count * size / BYTES_PER_NS;
		return trn_core_access(core, va, buffer, count * size, access);
	}
	core->work += count * RUN_WORK;
	for (unsigned int i = 0; i < count; i++) {
		if (!trn_core_access(core, va + (uint64_t)(step * i), buffer + i * size, size,
				     access))
			return false;
	}
	return true;
}

static bool transfer_chunk(struct trn_core *core, const struct trn_instruction *instruction,
			   const struct trn_chunk *chunk)
{
	const struct trn_execution *execution = &core->execution;
	const struct trn_dtype *dtype = execution->memory_dtype;
	uint8_t buffer[TRN_CHUNK * sizeof(uint32_t)];
	struct trn_row memory = { dtype, buffer, dtype->size };
	struct trn_row local =
		trn_element_chunk(&execution->out, chunk->p, chunk->i, chunk->j, chunk->k);
	uint64_t va = execution->va + (uint64_t)((int64_t)stride(instruction, 0) * chunk->p +
						 (int64_t)stride(instruction, 1) * chunk->i +
						 (int64_t)stride(instruction, 2) * chunk->j +
						 (int64_t)stride(instruction, 3) * chunk->k);
	uint8_t access =
		instruction->opcode == TRN_OP_DMA_STORE ? TRN_ACCESS_WRITE : TRN_ACCESS_READ;

	if (local.dtype == dtype && local.step == dtype->size)
		return access_run(core, instruction, va, local.at, chunk->count, access);
	if (access == TRN_ACCESS_WRITE) {
		trn_row_convert(memory, local, NULL, chunk->count);
		return access_run(core, instruction, va, buffer, chunk->count, access);
	}
	if (!access_run(core, instruction, va, buffer, chunk->count, access))
		return false;
	trn_row_convert(local, memory, NULL, chunk->count);
	return true;
}

static bool transfer_row(struct trn_core *core, const struct trn_instruction *instruction)
{
	return trn_element_chunks(core, instruction, transfer_chunk);
}

/* Runs in memory, as far as the strides make neighbours of elements. */
static void take_time(struct trn_core *core, const struct trn_instruction *instruction)
{
	const struct trn_shape *shape = &core->execution.shape;
	uint64_t run = core->execution.memory_dtype->size;
	uint64_t elements = shape->partitions * trn_shape_elements(shape), in_run = 1;
	const int order[4] = { 1, 2, 3, 0 };

	for (int i = 0; i < 4; i++) {
		unsigned int count = order[i] ? shape->size[order[i] - 1] : shape->partitions;

		if (count > 1 && stride(instruction, order[i]) != (int64_t)run)
			break;
		run *= count;
		in_run *= count;
	}
	core->execution.transfer_ps = trn_transfer_ps(core, elements / in_run, run);
	core->dma_bytes += elements / in_run * run;
}

bool trn_prepare_transfer(struct trn_core *core, const struct trn_instruction *instruction)
{
	struct trn_execution *execution = &core->execution;

	execution->do_row = transfer_row;
	if (!trn_shape_read(core, instruction->dma.partitions, instruction->dma.size,
			    &execution->shape) ||
	    !trn_element_operand(core, &instruction->dma.local, &execution->shape, &execution->out))
		return false;
	if (instruction->dma.dtype == TRN_DTYPE_MXFP8 || instruction->dma.dtype == TRN_DTYPE_FP4)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	execution->rows = execution->shape.partitions;
	if (!trn_pattern_dtype(core, instruction->dma.dtype, &execution->memory_dtype) ||
	    !find_memory(core, instruction, execution->memory_dtype->size))
		return false;
	take_time(core, instruction);
	return true;
}

bool trn_prepare_timestamp(struct trn_core *core, const struct trn_instruction *instruction)
{
	__le64 now[2] = { htole64(core->chip->now), htole64(trn_reference_cycles(core)) };
	uint64_t va;

	if (instruction->dma.partitions || instruction->dma.ring || instruction->dma.dtype ||
	    !trn_all_zero((const uint8_t *)instruction->dma.size, sizeof(instruction->dma.size)) ||
	    !trn_all_zero((const uint8_t *)instruction->dma.stride,
			  sizeof(instruction->dma.stride)) ||
	    !trn_pattern_absent(&instruction->dma.local))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return find_binding(core, instruction, 0, BYTES_OF_TIMESTAMP, &va) &&
	       trn_core_access(core, va, now, sizeof(now), TRN_ACCESS_WRITE);
}
