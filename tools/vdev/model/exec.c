// SPDX-License-Identifier: MIT
#include "exec.h"

#include <errno.h>
#include <stdlib.h>

#include "core/core.h"
#include "core/memory.h"
#include "core/time.h"
#include "shared.h"
#include "state.h"

int trn_cores_create(struct trn_chip *chip)
{
	unsigned int count = chip->config.generation->cores;

	chip->core = calloc(count, sizeof(*chip->core));
	for (unsigned int i = 0; chip->core && i < count; i++) {
		if (trn_core_init(&chip->core[i], chip, (uint16_t)i)) {
			trn_cores_destroy(chip);
			return -ENOMEM;
		}
	}
	return chip->core ? 0 : -ENOMEM;
}

void trn_cores_destroy(struct trn_chip *chip)
{
	for (unsigned int i = 0; i < chip->config.generation->cores; i++)
		trn_core_free(&chip->core[i]);
	free(chip->core);
	chip->core = NULL;
}

void trn_cores_reset(struct trn_chip *chip)
{
	for (unsigned int i = 0; i < chip->config.generation->cores; i++)
		trn_core_reset(&chip->core[i]);
}

void trn_cores_forget_context(struct trn_chip *chip, uint16_t asid)
{
	for (unsigned int i = 0; i < chip->config.generation->cores; i++) {
		if (chip->core[i].owner == asid)
			trn_core_scrub(&chip->core[i]);
	}
}

uint8_t trn_exec_check(const struct trn_chip *chip, const struct trn_packet *packet)
{
	uint16_t core = le16toh(packet->exec.core);

	if (le64toh(packet->exec.program) % sizeof(struct trn_program_header) ||
	    (le64toh(packet->exec.bindings) | le64toh(packet->exec.result) |
	     le64toh(packet->exec.profile)) %
		    8 ||
	    le32toh(packet->exec.num_bindings) > TRN_BINDINGS_MAX ||
	    (core != TRN_CORE_ANY && core >= chip->config.generation->cores) ||
	    !trn_all_zero(packet->exec.reserved, sizeof(packet->exec.reserved)))
		return TRN_STOP_BAD_FIELD;
	return 0;
}

static struct trn_core *find_core(struct trn_chip *chip, uint16_t number)
{
	if (number != TRN_CORE_ANY)
		return chip->core[number].running ? NULL : &chip->core[number];
	for (unsigned int i = 0; i < chip->config.generation->cores; i++) {
		if (!chip->core[i].running)
			return &chip->core[i];
	}
	return NULL;
}

static bool write_result(struct trn_core *core, uint64_t va)
{
	struct trn_exec_result result = {
		.begin_ns = htole64(core->begin_ns),
		.end_ns = htole64(core->chip->now),
		.picoseconds = htole64(core->now_ps),
		.cycles = htole64(trn_reference_cycles(core)),
		.dma_bytes = htole64(core->dma_bytes),
		.core = htole16(core->number),
		.profile_records = htole64(core->profile_records),
	};
	uint64_t issued = 0;

	for (int i = 0; i < TRN_ENGINES; i++) {
		result.busy_cycles[i] = htole64(core->engine[i].busy_cycles);
		issued += core->engine[i].issued;
	}
	result.instructions = htole64(issued);
	return !va || trn_core_access(core, va, &result, sizeof(result), TRN_ACCESS_WRITE);
}

static enum trn_exec_state run(struct trn_core *core, const struct trn_packet *packet)
{
	switch (trn_core_run(core)) {
	case TRN_CORE_GOES_ON:
		return TRN_EXEC_GOES_ON;
	case TRN_CORE_HALTED:
		return write_result(core, le64toh(packet->exec.result)) ? TRN_EXEC_DONE
									: TRN_EXEC_FAULT;
	case TRN_CORE_FAULT:
		return TRN_EXEC_FAULT;
	default:
		return TRN_EXEC_EXCEPTION;
	}
}

enum trn_exec_state trn_exec_unit(struct trn_chip *chip, struct trn_queue *queue,
				  struct trn_fault *fault)
{
	enum trn_exec_state state;

	if (queue->core) {
		state = run(queue->core, &queue->packet);
	} else {
		queue->core = find_core(chip, le16toh(queue->packet.exec.core));
		if (!queue->core)
			return TRN_EXEC_WAITS;
		state = TRN_EXEC_GOES_ON;
		if (!trn_core_begin(queue->core, queue))
			state = queue->core->faulted ? TRN_EXEC_FAULT : TRN_EXEC_EXCEPTION;
	}
	if (state == TRN_EXEC_FAULT)
		*fault = queue->core->fault;
	return state;
}

struct trn_culprit trn_exec_culprit(const struct trn_queue *queue)
{
	const struct trn_core *core = queue->core;
	struct trn_culprit culprit = { 0 };

	if (!core || (!core->exception && !core->faulted))
		return culprit;
	culprit.exception = core->exception;
	if (!core->current)
		return culprit;
	if (core->faulted)
		culprit.exception = TRN_EXCEPTION_MEMORY;
	culprit.engine = (uint8_t)(core->current - core->engine);
	culprit.instruction = core->current->pc;
	return culprit;
}

void trn_exec_end(struct trn_queue *queue)
{
	if (!queue->core)
		return;
	trn_core_end(queue->core);
	queue->core = NULL;
}
