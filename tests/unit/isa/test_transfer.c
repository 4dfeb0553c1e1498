// SPDX-License-Identifier: MIT
/* DMA_LOAD and DMA_STORE: conversions of every pair of types, strides, registers, rings */
#include "machine.h"
#include "suites.h"

static struct machine machine;

static void setup(void)
{
	machine_create(&machine, "trn4");
}

static void teardown(void)
{
	machine_destroy(&machine);
}

/* A transfer of the shape between a local operand and a place in memory that has room for it */
static struct trn_instruction transfer(uint8_t opcode, struct shape shape,
				       struct trn_access_pattern local, unsigned int dtype,
				       uint32_t begin, uint32_t room)
{
	unsigned int bytes = number_bits(dtype) / 8;
	struct trn_instruction work = { .opcode = opcode };
	uint32_t stride = bytes, span = 0, below = 0;
	uint64_t offset;

	work.dma.partitions = (uint8_t)shape.partitions;
	work.dma.local = local;
	work.dma.dtype = (uint8_t)dtype;
	work.dma.ring = (uint8_t)machine_below(&machine, TRN_ISA_DMA_RINGS);
	for (int axis = 3; axis >= 0; axis--) {
		unsigned int size = axis ? shape.size[axis - 1] : shape.partitions;
		bool falls = machine_below(&machine, 3) == 0;

		if (axis)
			work.dma.size[axis - 1] = htole16((uint16_t)size);
		if (machine_below(&machine, 2))
			stride += machine_below(&machine, 2); /* of any alignment */
		work.dma.stride[axis] = htole32(falls ? -stride : stride);
		span += stride * (size - 1);
		below += falls ? stride * (size - 1) : 0;
		stride *= size;
	}
	EXPECT(span + bytes <= room, "%u bytes of %u", span + bytes, room);
	offset = MEMORY_BEGIN + begin + below + machine_below(&machine, room - span - bytes + 1);
	if (machine_below(&machine, 2)) {
		int64_t part = (int64_t)machine_random(&machine) >> 20;

		machine_register(&machine, 5, part);
		work.dma.address_register = 5;
		offset -= (uint64_t)part;
	}
	work.dma.offset = htole64(offset);
	return work;
}

static struct shape small_shape(void)
{
	return machine_shape(&machine, 16, 32);
}

static void random_memory(void)
{
	for (uint32_t i = 0; i < MEMORY_SIZE; i++)
		machine.program.data[MEMORY_BEGIN + i] = (uint8_t)machine_random(&machine);
}

/* _i is the local type: from SBUF and PSUM to each type in memory. */
START_TEST(stores)
{
	random_memory();
	for (unsigned int to = 0; to < TRN_DTYPE_MXFP8; to++) {
		machine_begin(&machine, to % TRN_ENGINES);
		for (unsigned int n = 0; n < SLOTS; n++) {
			struct shape shape = small_shape();
			struct trn_access_pattern local =
				machine_scattered(&machine, n, 9 * n, _i, shape);

			machine_fill(&machine, &local, shape, number_edge);
			if (n % 2)
				machine_by_register(&machine, &local, 1);
			machine_add(&machine,
				    transfer(TRN_OP_DMA_STORE, shape, local, to,
					     MEMORY_SIZE / SLOTS * n, MEMORY_SIZE / SLOTS));
		}
		machine_run(&machine);
	}
}
END_TEST

/* Where a transfer's element lies in memory */
static uint8_t *memory_at(const struct trn_instruction *work, struct index x)
{
	uint64_t offset = le64toh(work->dma.offset);
	const unsigned int place[4] = { x.p, x.i, x.j, x.k };

	if (work->dma.address_register)
		offset += (uint64_t)machine.reference.registers[work->dma.address_register];
	for (int axis = 0; axis < 4; axis++)
		offset +=
			(uint64_t)((int64_t)(int32_t)le32toh(work->dma.stride[axis]) * place[axis]);
	return machine.program.data + offset;
}

/* _i is the type in memory. What loads brought, stores see after they have waited. */
START_TEST(loads)
{
	for (unsigned int to = 0; to < TRN_DTYPE_MXFP8; to++) {
		struct trn_instruction wait = { .opcode = TRN_OP_NOP };

		random_memory();
		machine_begin(&machine, (to + 2) % TRN_ENGINES);
		for (unsigned int n = 0; n < SLOTS; n++) {
			struct shape shape = small_shape();
			struct trn_access_pattern local =
				machine_scattered(&machine, n, 3 * n, to, shape);
			struct trn_instruction work;

			if (n % 2)
				machine_by_register(&machine, &local, 7);
			work = transfer(TRN_OP_DMA_LOAD, shape, local, _i, MEMORY_SIZE / SLOTS * n,
					MEMORY_SIZE / SLOTS);
			FOR_EACH_INDEX(x, shape)
			element_set(_i, memory_at(&work, x), 0,
				    number_edge(_i, machine_random(&machine)));
			program_release(&work, 9, 1);
			machine_add(&machine, work);
		}
		program_acquire(&wait, 9, SLOTS);
		machine_add(&machine, wait);
		machine_run(&machine);
	}
}
END_TEST

/* Transfers of one ring are done in order: each store reads what the load before it brought. */
START_TEST(ring_is_in_order)
{
	struct shape row = { 4, { 64, 1, 1 } };
	struct trn_access_pattern local;

	random_memory();
	machine_begin(&machine, TRN_ENGINE_GPSIMD);
	local = machine_rows(machine_slot(&machine, 2), 0, TRN_DTYPE_INT32, row);
	for (unsigned int n = 0; n < 2 * TRN_RING_TRANSFERS + 20; n++) {
		struct trn_instruction work =
			program_transfer(n % 2 ? TRN_OP_DMA_STORE : TRN_OP_DMA_LOAD, 4, 64, local,
					 MEMORY_BEGIN + 256 * n);

		work.dma.ring = 3;
		work.dma.stride[0] = htole32(37 * 256); /* rows apart; they overlap others' */
		machine_add(&machine, work);
	}
	program_release(&machine.program.stream[TRN_ENGINE_GPSIMD]
					       [machine.program.length[TRN_ENGINE_GPSIMD] - 1],
			9, 1);
	program_acquire(machine_add(&machine, (struct trn_instruction){ .opcode = TRN_OP_NOP }), 9,
			1);
	machine_run(&machine);
}
END_TEST

Suite *transfer_suite(void)
{
	Suite *suite = suite_create("transfer");
	TCase *tcase = tcase_create("transfer");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, stores, 0, TRN_DTYPE_MXFP8);
	tcase_add_loop_test(tcase, loads, 0, TRN_DTYPE_MXFP8);
	tcase_add_test(tcase, ring_is_in_order);
	suite_add_tcase(suite, tcase);
	return suite;
}
