// SPDX-License-Identifier: MIT
#include "run.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_isa.h>
#include <trn/trn.h>

#define FIRST_VA      0x10000000ULL
#define LEAF	      (2ULL << 20)
#define RESULT_OFFSET (TRN_BINDINGS_MAX * sizeof(struct trn_binding))
#define PAGE_SIZE     8192

static uint8_t *map(struct run *run, uint64_t size, uint64_t *va)
{
	uint64_t pages = (size + 4095) & ~UINT64_C(4095);
	uint64_t dma = rig_alloc(&run->rig, pages);

	*va = run->next_va;
	rig_map(&run->rig, &run->space, *va, TRN_PTE_TARGET_HOST, dma, pages);
	run->next_va += pages + 4096; /* a page that is not there: who goes too far, faults */
	return rig_pointer(&run->rig, dma);
}

/* Memory of another core's variable of that name, if it has one. */
static bool find_shared(struct run *run, uint32_t core, const struct trn_neff_variable *variable,
			size_t at)
{
	for (uint32_t c = 0; c < core; c++) {
		const struct trn_neff_core *other = &run->neff->cores[c];

		for (uint32_t i = 0; i < other->num_variables; i++) {
			if (strcmp(other->variables[i].name, variable->name) ||
			    variable->kind == TRN_NEFF_FILE)
				continue;
			run->memory[at] = run->memory[c * TRN_NEFF_VARIABLES_MAX + i];
			run->va[at] = run->va[c * TRN_NEFF_VARIABLES_MAX + i];
			return true;
		}
	}
	return false;
}

static void load_image(struct run *run, uint32_t core)
{
	const struct trn_neff_core *part = &run->neff->cores[core];
	struct trn_program_header header = {
		.magic = htole32(TRN_PROGRAM_MAGIC),
		.version = htole32(TRN_PROGRAM_VERSION),
	};
	uint64_t size = sizeof(header);
	uint8_t *image;

	for (int i = 0; i < TRN_ENGINES; i++)
		size += part->streams[i].count * sizeof(struct trn_instruction);
	image = map(run, size, &run->program_va[core]);
	header.size = htole64(size);
	size = sizeof(header);
	for (int i = 0; i < TRN_ENGINES; i++) {
		size_t bytes = part->streams[i].count * sizeof(struct trn_instruction);

		header.instructions[i] = htole32(part->streams[i].count);
		if (bytes)
			memcpy(image + size, part->streams[i].instructions, bytes);
		size += bytes;
	}
	memcpy(image, &header, sizeof(header));
}

static void load_core(struct run *run, uint32_t core)
{
	const struct trn_neff_core *part = &run->neff->cores[core];

	for (uint32_t i = 0; i < part->num_variables; i++) {
		size_t at = core * TRN_NEFF_VARIABLES_MAX + i;

		if (find_shared(run, core, &part->variables[i], at))
			continue;
		run->memory[at] = map(run, part->variables[i].size, &run->va[at]);
		if (part->variables[i].data)
			memcpy(run->memory[at], part->variables[i].data, part->variables[i].size);
	}
	load_image(run, core);
}

void run_create(struct run *run, const char *generation, const struct example *example,
		const double *values)
{
	int error;

	rig_random_seed(1);
	*run = (struct run){ .next_va = FIRST_VA };
	error = example_build(example, values, &run->builder, &run->neff);
	ck_assert_msg(!error, "%s", trn_error_message());
	run->memory = calloc(run->neff->num_cores * TRN_NEFF_VARIABLES_MAX, sizeof(*run->memory));
	run->va = calloc(run->neff->num_cores * TRN_NEFF_VARIABLES_MAX, sizeof(*run->va));
	run->program_va = calloc(run->neff->num_cores, sizeof(*run->program_va));
	rig_create(&run->rig, generation, 0, 0);
	rig_enable(&run->rig, 16);
	rig_space_create(&run->rig, &run->space, 1);
	rig_exec_queue_create(&run->rig, &run->queue, 1, &run->space);
	run->page = map(run, PAGE_SIZE, &run->page_va);
	for (uint32_t i = 0; i < run->neff->num_cores; i++)
		load_core(run, i);
}

void run_destroy(struct run *run)
{
	rig_destroy(&run->rig);
	trn_builder_destroy(run->builder);
	free(run->memory);
	free(run->va);
	free(run->program_va);
}

void *run_tensor(const struct run *run, const char *name)
{
	const struct trn_neff_core *core = &run->neff->cores[0];

	for (uint32_t i = 0; i < core->num_variables; i++) {
		if (!strcmp(core->variables[i].name, name))
			return run->memory[i];
	}
	ck_abort_msg("the program has no %s", name);
}

static void execute_core(struct run *run, uint32_t core)
{
	const struct trn_neff_core *part = &run->neff->cores[core];
	struct trn_binding *bindings = (struct trn_binding *)run->page;
	const struct trn_exec_result *result = (void *)(run->page + RESULT_OFFSET);

	for (uint32_t i = 0; i < part->num_variables; i++)
		bindings[i] = (struct trn_binding){
			.address = htole64(run->va[core * TRN_NEFF_VARIABLES_MAX + i]),
			.size = htole64(part->variables[i].size),
		};
	rig_execute(&run->rig, &run->queue,
		    (struct trn_packet){
			    .opcode = TRN_PACKET_EXEC,
			    .exec = {
				    .program = htole64(run->program_va[core]),
				    .bindings = htole64(run->page_va),
				    .num_bindings = htole32(part->num_variables),
				    .core = htole16((uint16_t)core),
				    .result = htole64(run->page_va + RESULT_OFFSET),
			    },
		    });
	if (rig_state(&run->rig, &run->queue) != TRN_QUEUE_RUNNING) {
		struct trn_event event = rig_last_event(&run->rig);

		ck_abort_msg("core %u stopped: reason %u, exception %u of engine %u, instruction "
			     "%u, address %#llx",
			     core, event.reason, event.exception, event.engine,
			     le32toh(event.instruction),
			     (unsigned long long)le64toh(event.address));
	}
	ck_assert_uint_eq(rig_head(&run->queue), run->queue.tail);
	if (run->picoseconds < le64toh(result->picoseconds)) {
		run->picoseconds = le64toh(result->picoseconds);
		run->cycles = le64toh(result->cycles);
	}
	run->instructions += le64toh(result->instructions);
	run->dma_bytes += le64toh(result->dma_bytes);
}

void run_execute(struct run *run)
{
	run->cycles = run->picoseconds = run->instructions = run->dma_bytes = 0;
	for (uint32_t i = 0; i < run->neff->num_cores; i++)
		execute_core(run, i);
}
