/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: a NeuronCore of the device model decodes and executes whatever it is given.
 *
 * An input is a byte that says which generation, and records of RECORD bytes: how, and an
 * instruction. An instruction is taken as it is, or made likelier to be a good one (repair()).
 */
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include <tests/unit/model/program.h>
#include <tools/vdev/model/core/core.h>
#include <tools/vdev/model/exec.h>
#include <tools/vdev/model/queue.h>

#include "record.h"

#define DATA_SIZE    65536	 /* of the first binding, which is whole … */
#define PARTLY_SIZE  8192	 /* … and of the second, half of which is not mapped */
#define INSTRUCTIONS 64		 /* at most */
#define TURNS	     8		 /* of the scheduler, about 100 µs of the model's work each */
#define BINDINGS_VA  0x800000ULL /* tests/unit/model/program.c's */
#define RESULT_VA    (BINDINGS_VA + 2048)
#define PROFILE_VA   (PROGRAM_DATA_VA + DATA_SIZE)
#define PROFILE_SIZE 1024

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static const char *const generations[] = { "trn1", "trn2", "trn3", "trn4" };

#define GENERATIONS (sizeof(generations) / sizeof(generations[0]))

struct chip {
	struct rig rig;
	struct program program;
};

static struct chip chips[GENERATIONS];
static uint8_t pattern[DATA_SIZE];

/* What lies between the partitions is nobody's. */
static void poison_between(uint8_t *memory, size_t size, size_t stride)
{
	for (unsigned int p = 0; p < TRN_PARTITIONS; p++)
		ASAN_POISON_MEMORY_REGION(memory + p * stride + size, stride - size);
}

static void make_chip(struct chip *chip, const char *generation)
{
	struct trn_binding *binding;
	struct trn_core *core;

	rig_create(&chip->rig, generation, 0, 0);
	rig_enable(&chip->rig, 16);
	program_create(&chip->program, &chip->rig, 1);
	binding = chip->program.bindings;
	binding[0].size = htole64(DATA_SIZE);
	binding[1].address = htole64(PROGRAM_DATA_VA + PROGRAM_DATA_SIZE - PARTLY_SIZE / 2);
	binding[1].size = htole64(PARTLY_SIZE);
	core = &chip->rig.chip->core[0];
	poison_between(core->sbuf, core->sbuf_size, core->sbuf_stride);
	poison_between(core->psum, core->psum_size, core->psum_stride);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	for (unsigned int i = 0; i < GENERATIONS; i++)
		make_chip(&chips[i], generations[i]);
	rig_pattern(pattern, sizeof(pattern), 1);
	return 0;
}

/* Each is one of those that the engine has. */
static uint8_t some_opcode(unsigned int engine, uint8_t number)
{
	static const uint8_t every[] = { TRN_OP_NOP,	  TRN_OP_HALT,	   TRN_OP_MOVE,
					 TRN_OP_ADD,	  TRN_OP_MULTIPLY, TRN_OP_BRANCH,
					 TRN_OP_DMA_LOAD, TRN_OP_DMA_STORE };
	static const uint8_t compute[] = { TRN_OP_COPY, TRN_OP_TENSOR_SCALAR, TRN_OP_TENSOR_TENSOR,
					   TRN_OP_FILL };
	static const struct {
		uint8_t first, last;
	} own[TRN_ENGINES] = {
		[TRN_ENGINE_TENSOR] = { TRN_OP_LOAD_STATIONARY, TRN_OP_TRANSPOSE },
		[TRN_ENGINE_VECTOR] = { TRN_OP_REDUCE, TRN_OP_BN_AGGREGATE },
		[TRN_ENGINE_SCALAR] = { TRN_OP_ACTIVATE, TRN_OP_ACTIVATE },
		[TRN_ENGINE_GPSIMD] = { TRN_OP_IOTA, TRN_OP_MASK },
		[TRN_ENGINE_SYNC] = { TRN_OP_TIMESTAMP, TRN_OP_TIMESTAMP },
	};

	if (number < 64)
		return every[number % sizeof(every)];
	if (number < 128 && own[engine].first >= TRN_OP_REDUCE && engine != TRN_ENGINE_SYNC)
		return compute[number % sizeof(compute)];
	return own[engine].first + number % (own[engine].last - own[engine].first + 1);
}

static void repair_pattern(struct trn_access_pattern *access)
{
	access->place &= htole32(TRN_PLACE_PSUM | TRN_PLACE_REGISTER_MASK | 0x3ffc);
	access->partition %= TRN_PARTITIONS / 2;
	for (int i = 0; i < 3; i++)
		access->step[i] = htole16((uint16_t)((int16_t)le16toh(access->step[i]) % 32));
}

/* Small sizes and near places; dtypes, flags and operations are left to chance. */
static void repair(struct trn_instruction *instruction, unsigned int engine)
{
	bool dma, tensor, control;

	instruction->opcode = some_opcode(engine, instruction->opcode);
	control = instruction->opcode < TRN_OP_DMA_LOAD;
	dma = instruction->opcode == TRN_OP_DMA_LOAD || instruction->opcode == TRN_OP_DMA_STORE;
	tensor = engine == TRN_ENGINE_TENSOR && !dma;
	if (control) {
		memset(instruction->control.reserved0, 0, sizeof(instruction->control.reserved0));
		memset(instruction->control.reserved1, 0, sizeof(instruction->control.reserved1));
		instruction->control.destination %= TRN_ISA_REGISTERS;
		return;
	}
	/* All kinds have these two at the same places. */
	instruction->element.partitions = 1 + instruction->element.partitions % 64;
	for (int i = 0; i < 3; i++)
		instruction->element.size[i] =
			htole16(1 + le16toh(instruction->element.size[i]) % (i ? 3 : 64));
	repair_pattern(&instruction->element.out);
	if (dma) {
		instruction->dma.ring %= TRN_ISA_DMA_RINGS;
		instruction->dma.binding %= 2;
		instruction->dma.offset &= htole64(0xfff8);
		instruction->dma.reserved0 = 0;
		memset(instruction->dma.reserved1, 0, sizeof(instruction->dma.reserved1));
		return;
	}
	repair_pattern(&instruction->element.in[0]);
	if (tensor)
		memset(instruction->tensor.reserved, 0, sizeof(instruction->tensor.reserved));
	else
		instruction->element.reserved0 = 0; /* and affine's */
	if (!tensor && instruction->opcode != TRN_OP_IOTA && instruction->opcode != TRN_OP_MASK)
		memset(instruction->element.reserved1, 0, sizeof(instruction->element.reserved1));
}

/* Streams of the records' instructions, each with HALT at its end. */
static void write_image(uint8_t *image, const uint8_t *data, size_t records)
{
	static const struct trn_instruction halt = { .opcode = TRN_OP_HALT };
	struct trn_program_header header = { .magic = htole32(TRN_PROGRAM_MAGIC),
					     .version = htole32(TRN_PROGRAM_VERSION) };
	uint8_t *at = image + sizeof(header);

	for (unsigned int engine = 0; engine < TRN_ENGINES; engine++) {
		uint32_t count = 0;

		for (size_t i = 0; i < records; i++) {
			const uint8_t *record = data + i * RECORD;
			struct trn_instruction instruction;

			if ((record[0] & RECORD_ENGINE) % TRN_ENGINES != engine)
				continue;
			memcpy(&instruction, record + 1, sizeof(instruction));
			if (record[0] & RECORD_REPAIR)
				repair(&instruction, engine);
			memcpy(at, &instruction, sizeof(instruction));
			at += sizeof(instruction);
			count++;
		}
		if (!count)
			continue;
		memcpy(at, &halt, sizeof(halt));
		at += sizeof(halt);
		header.instructions[engine] = htole32(count + 1);
	}
	header.size = htole64((uint64_t)(at - image));
	memcpy(image, &header, sizeof(header));
}

static void execute(struct trn_chip *chip)
{
	struct trn_queue queue = {
		.asid = 1,
		.packet = {
			.opcode = TRN_PACKET_EXEC,
			.exec = {
				.program = htole64(PROGRAM_VA),
				.bindings = htole64(BINDINGS_VA),
				.num_bindings = htole32(2),
				.result = htole64(RESULT_VA),
				.profile = htole64(PROFILE_VA),
				.profile_size = htole64(PROFILE_SIZE),
			},
		},
	};
	enum trn_exec_state state = TRN_EXEC_GOES_ON;
	struct trn_fault fault;

	for (unsigned int turn = 0; turn < TURNS && state == TRN_EXEC_GOES_ON; turn++)
		state = trn_exec_unit(chip, &queue, &fault);
	/* What ends a program is told. */
	if ((state == TRN_EXEC_EXCEPTION || state == TRN_EXEC_FAULT) &&
	    !trn_exec_culprit(&queue).exception)
		abort();
	trn_exec_end(&queue);
	trn_core_scrub(&chip->core[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t records = size ? (size - 1) / RECORD : 0;
	struct chip *chip;

	if (!records)
		return 0;
	if (records > INSTRUCTIONS)
		records = INSTRUCTIONS;
	chip = &chips[data[0] % GENERATIONS];
	memcpy(chip->program.data, pattern, sizeof(pattern));
	write_image(chip->program.image, data + 1, records);
	execute(chip->rig.chip);
	if (chip->rig.held)
		abort();
	return 0;
}

/* One record changes, comes or goes: the others stay where they are. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
	size_t records = size ? (size - 1) / RECORD : 0, which, length;
	uint8_t changed[RECORD] = { 0 };
	uint8_t *record;

	if (!records || seed % 16 == 0)
		return LLVMFuzzerMutate(data, size, most);
	which = seed / 16 % records;
	record = data + 1 + which * RECORD;
	memcpy(changed, record, RECORD);
	switch (seed / 4096 % 8) {
	case 0:
		if (size + RECORD > most)
			break;
		memmove(record + RECORD, record, size - (size_t)(record - data));
		return size + RECORD;
	case 1:
		if (records == 1)
			break;
		memmove(record, record + RECORD, size - (size_t)(record - data) - RECORD);
		return size - RECORD;
	case 2:
		data[0]++;
		return size;
	default:
		break;
	}
	length = LLVMFuzzerMutate(changed, RECORD, RECORD);
	memset(changed + length, 0, RECORD - length);
	memcpy(record, changed, RECORD);
	return size;
}
