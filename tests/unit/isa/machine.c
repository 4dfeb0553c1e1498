// SPDX-License-Identifier: MIT
#include "machine.h"

#include <math.h>
#include <stdlib.h>

#define LOADED	    1 /* semaphore */
#define IMAGE	    (TRN_PARTITIONS * WINDOW_SIZE)
/* In binding 0: windows before and after. */
#define SBUF_BEFORE 0
#define PSUM_BEFORE IMAGE
#define SBUF_AFTER  (2 * IMAGE)
#define PSUM_AFTER  (3 * IMAGE)

_Static_assert(4 * IMAGE <= MEMORY_BEGIN, "images are before what is free");

uint64_t machine_random(struct machine *machine)
{
	return random_bits(&machine->random);
}

unsigned int machine_below(struct machine *machine, unsigned int limit)
{
	return (unsigned int)(machine_random(machine) % limit);
}

void machine_create(struct machine *machine, const char *generation)
{
	rig_create(&machine->rig, generation, 0, 0);
	rig_enable(&machine->rig, 16);
	program_create(&machine->program, &machine->rig, 1);
	reference_create(&machine->reference);
	machine->reference.memory = malloc(PROGRAM_DATA_SIZE);
	ck_assert_ptr_nonnull(machine->reference.memory);
	machine->sbuf_size = rig_read32(&machine->rig, TRN_REG_CAP_SBUF_SIZE) / TRN_PARTITIONS;
	machine->dtypes = rig_read32(&machine->rig, TRN_REG_CAP_DTYPES);
	machine->random = 1;
}

void machine_destroy(struct machine *machine)
{
	free(machine->reference.memory);
	reference_destroy(&machine->reference);
	rig_destroy(&machine->rig);
}

static struct trn_instruction window(const struct machine *machine, uint8_t opcode, bool psum,
				     uint64_t offset)
{
	struct shape row = { 1, { WINDOW_SIZE, 1, 1 } };
	uint32_t place = psum ? TRN_PLACE_PSUM + machine->psum_window : machine->sbuf_window;

	return program_transfer(opcode, TRN_PARTITIONS, WINDOW_SIZE,
				machine_rows(place, 0, TRN_DTYPE_INT8, row), offset);
}

static void copy_window(uint8_t *core, uint32_t partition_size, uint32_t begin, uint8_t *image,
			bool to_image)
{
	for (unsigned int partition = 0; partition < TRN_PARTITIONS; partition++) {
		uint8_t *row = core + (uint64_t)partition * partition_size + begin;
		uint8_t *at = image + partition * WINDOW_SIZE;

		memcpy(to_image ? at : row, to_image ? row : at, WINDOW_SIZE);
	}
}

void machine_begin(struct machine *machine, unsigned int engine)
{
	struct reference *reference = &machine->reference;
	uint64_t *random = (uint64_t *)(machine->program.data + SBUF_BEFORE);
	uint64_t base;

	program_clear(&machine->program);
	memset(reference->registers, 0, sizeof(reference->registers));
	machine->engine = reference->engine = engine;
	machine->program.seed = reference->seed = machine_random(machine);
	/* Both ends and two places between, of which one is not aligned to a page */
	machine->sbuf_window = (machine->sbuf_size - WINDOW_SIZE) * machine_below(machine, 4) / 3;
	machine->sbuf_window -= machine->sbuf_window % 64;
	machine->psum_window = machine_below(machine, 8) * TRN_PSUM_BANK_SIZE;
	base = machine_random(machine);
	for (unsigned int i = 0; i < 2 * IMAGE / sizeof(*random); i++)
		random[i] = (base + i) * UINT64_C(0x9e3779b97f4a7c15);
	copy_window(reference->sbuf, REFERENCE_SBUF_SIZE, machine->sbuf_window,
		    machine->program.data + SBUF_BEFORE, false);
	copy_window(reference->psum, REFERENCE_PSUM_SIZE, machine->psum_window,
		    machine->program.data + PSUM_BEFORE, false);
	for (int psum = 0; psum < 2; psum++)
		program_release(program_add(&machine->program, engine,
					    window(machine, TRN_OP_DMA_LOAD, psum,
						   psum ? PSUM_BEFORE : SBUF_BEFORE)),
				LOADED, 1);
	program_acquire(machine_add(machine, (struct trn_instruction){ .opcode = TRN_OP_NOP }),
			LOADED, 2);
}

struct trn_instruction *machine_add(struct machine *machine, struct trn_instruction instruction)
{
	return program_add(&machine->program, machine->engine, instruction);
}

void machine_register(struct machine *machine, unsigned int number, int64_t value)
{
	machine->reference.registers[number] = value;
	machine_add(machine, (struct trn_instruction){
				     .opcode = TRN_OP_MOVE,
				     .control = { .destination = (uint8_t)number,
						  .immediate = htole64((uint64_t)value) } });
}

static float rounded(long double x)
{
	return (float)x;
}

/*
 * A result is a number within the bound, converted; if that leaves FP32 it may be infinite or NaN.
 * The last element at a place is the one that stays.
 */
static void check_bound(const struct reference_bound *bound, uint32_t bits)
{
	static const struct number_random nearest;
	unsigned int dtype = bound->dtype;
	float result = number_decode(dtype, bits), least, most;

	if (!isfinite(bound->exact)) {
		float wanted =
			number_decode(dtype, number_encode(dtype, (float)bound->exact, nearest));

		EXPECT(isnan(wanted) ? isnan(result) : result == wanted, "%s %a, not %a",
		       number_names[dtype], result, wanted);
		EXPECT(!isnan(wanted) || bits == number_encode(dtype, NAN, nearest),
		       "NaN 0x%x is not canonical", bits);
		return;
	}
	if (bound->largest + bound->bound >= 0x1.ffffffp127L && !isfinite(result))
		return;
	least = number_decode(dtype,
			      number_encode(dtype, rounded(bound->exact - bound->bound), nearest));
	most = number_decode(dtype,
			     number_encode(dtype, rounded(bound->exact + bound->bound), nearest));
	EXPECT(result >= least && result <= most, "%s %a: exactly %La, within %La",
	       number_names[dtype], result, bound->exact, bound->bound);
}

/* Where only bounds are known, the model's bits become the reference's. */
static void check_bounds(struct machine *machine)
{
	struct reference *reference = &machine->reference;

	for (unsigned int i = 0; i < reference->num_bounds; i++) {
		const struct reference_bound *bound = &reference->bounds[i];
		bool psum = bound->at >= reference->psum &&
			    bound->at < reference->psum + TRN_PARTITIONS * REFERENCE_PSUM_SIZE;
		uint32_t size = psum ? REFERENCE_PSUM_SIZE : REFERENCE_SBUF_SIZE;
		uint64_t at = (uint64_t)(bound->at - (psum ? reference->psum : reference->sbuf));
		uint64_t offset = at % size - (psum ? machine->psum_window : machine->sbuf_window);
		const uint8_t *model;

		EXPECT(offset < WINDOW_SIZE, "result at %llu of the window",
		       (unsigned long long)offset);
		model = machine->program.data + (psum ? PSUM_AFTER : SBUF_AFTER) +
			at / size * WINDOW_SIZE + offset;
		check_bound(bound, element_get(bound->dtype, model, 0));
		memcpy(bound->at, model, number_bits(bound->dtype) / 8);
	}
}

static void compare(struct machine *machine, bool psum)
{
	const uint8_t *model = machine->program.data + (psum ? PSUM_AFTER : SBUF_AFTER);
	const struct reference *reference = &machine->reference;

	for (unsigned int p = 0; p < TRN_PARTITIONS; p++) {
		const uint8_t *row = psum ? reference->psum + (uint64_t)p * REFERENCE_PSUM_SIZE +
						     machine->psum_window
					  : reference->sbuf + (uint64_t)p * REFERENCE_SBUF_SIZE +
						     machine->sbuf_window;
		const uint8_t *got = model + p * WINDOW_SIZE;

		if (!memcmp(got, row, WINDOW_SIZE))
			continue;
		for (unsigned int i = 0; i < WINDOW_SIZE; i++)
			EXPECT(got[i] == row[i],
			       "%s, partition %u, byte %u of the window: 0x%02x, not 0x%02x",
			       psum ? "PSUM" : "SBUF", p, i, got[i], row[i]);
	}
}

void machine_run(struct machine *machine)
{
	struct program *program = &machine->program;
	struct reference *reference = &machine->reference;
	uint32_t length = program->length[machine->engine];

	copy_window(reference->sbuf, REFERENCE_SBUF_SIZE, machine->sbuf_window,
		    program->data + SBUF_BEFORE, true);
	copy_window(reference->psum, REFERENCE_PSUM_SIZE, machine->psum_window,
		    program->data + PSUM_BEFORE, true);
	memcpy(reference->memory + MEMORY_BEGIN, program->data + MEMORY_BEGIN, MEMORY_SIZE);
	machine_add(machine, window(machine, TRN_OP_DMA_STORE, false, SBUF_AFTER));
	machine_add(machine, window(machine, TRN_OP_DMA_STORE, true, PSUM_AFTER));
	program_runs(program);
	/* Begins with what machine_begin() put before: two loads. */
	reference_run(reference, program->stream[machine->engine], 2, length);
	check_bounds(machine);
	compare(machine, false);
	compare(machine, true);
	EXPECT(!memcmp(reference->memory + MEMORY_BEGIN, program->data + MEMORY_BEGIN, MEMORY_SIZE),
	       "memory differs");
}

uint32_t machine_slot(const struct machine *machine, unsigned int slot)
{
	uint32_t offset = slot % 4 * SLOT_SIZE;

	return slot < 4 ? machine->sbuf_window + offset
			: TRN_PLACE_PSUM + machine->psum_window + offset;
}

struct trn_access_pattern machine_rows(uint32_t place, unsigned int partition, unsigned int dtype,
				       struct shape shape)
{
	unsigned int i = dtype == TRN_DTYPE_FP4 ? shape.size[0] / 2 : shape.size[0];

	return program_tile(place, (uint8_t)partition, (uint8_t)dtype, i, shape.size[1]);
}

struct trn_access_pattern machine_scattered(struct machine *machine, unsigned int slot,
					    unsigned int partition, unsigned int dtype,
					    struct shape shape)
{
	static const uint8_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	const uint8_t *order = orders[machine_below(machine, 6)];
	unsigned int bytes = dtype == TRN_DTYPE_FP4 ? 1 : number_bits(dtype) / 8;
	struct trn_access_pattern pattern = { .partition = (uint8_t)partition,
					      .dtype = (uint8_t)dtype };
	unsigned int begin = 0, span;
	bool gaps = machine_below(machine, 4);

	if (dtype == TRN_DTYPE_FP4)
		shape.size[0] /= 2;
	do {
		unsigned int step = 1;

		span = 1;
		begin = 0;
		for (int n = 0; n < 3; n++) {
			unsigned int size = shape.size[order[n]];
			bool falls = machine_below(machine, 3) == 0;

			if (gaps)
				step += machine_below(machine, 3);
			pattern.step[order[n]] = htole16((uint16_t)(falls ? -step : step));
			if (falls)
				begin += step * (size - 1);
			span += step * (size - 1);
			step *= size;
		}
		gaps = false;
	} while (span * bytes > SLOT_SIZE);
	begin += machine_below(machine, SLOT_SIZE / bytes - span + 1);
	pattern.place = htole32(machine_slot(machine, slot) + begin * bytes);
	return pattern;
}

void machine_by_register(struct machine *machine, struct trn_access_pattern *pattern,
			 unsigned int number)
{
	uint32_t place = le32toh(pattern->place), offset = place & TRN_PLACE_OFFSET_MASK;
	int64_t part = (int64_t)machine_below(machine, 2 * offset + 1) - offset;

	machine_register(machine, number, part);
	place = (place & TRN_PLACE_PSUM) | (uint32_t)(offset - part) |
		number << TRN_PLACE_REGISTER_SHIFT;
	pattern->place = htole32(place);
}

struct shape machine_shape(struct machine *machine, unsigned int partitions, unsigned int elements)
{
	struct shape shape = { 1 + machine_below(machine, partitions), { 1, 1, 1 } };

	for (int n = 0; n < 3; n++) {
		unsigned int axis = machine_below(machine, 3);

		if (shape.size[axis] == 1) {
			shape.size[axis] = 1 + machine_below(machine, elements);
			elements /= shape.size[axis];
		}
	}
	return shape;
}

void machine_fill(struct machine *machine, const struct trn_access_pattern *pattern,
		  struct shape shape, uint32_t (*number)(unsigned int dtype, uint64_t random))
{
	FOR_EACH_INDEX(x, shape)
	operand_set(&machine->reference, pattern, x,
		    number(pattern->dtype, machine_random(machine)));
}

struct trn_instruction machine_element(uint8_t opcode, struct shape shape)
{
	return (struct trn_instruction){
		.opcode = opcode,
		.element = {
			.partitions = (uint8_t)shape.partitions,
			.size = { htole16((uint16_t)shape.size[0]),
				  htole16((uint16_t)shape.size[1]),
				  htole16((uint16_t)shape.size[2]) },
		},
	};
}
