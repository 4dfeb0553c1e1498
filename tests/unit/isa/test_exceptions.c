// SPDX-License-Identifier: MIT
/* Every field of every opcode: reserved, unused, and beyond its range; operands beyond theirs */
#include <stddef.h>

#include "opcodes.h"
#include "suites.h"
#include "tests/unit/model/numerics.h"
#include "verdict.h"

#define PSUM_SIZE 16384

static struct rig rig;
static struct program program;
static uint32_t sbuf_size;
static const struct opcode *opcode; /* under test */

static void setup(void)
{
	rig_create(&rig, "trn2", 0, 0);
	rig_enable(&rig, 16);
	program_create(&program, &rig, 1);
	sbuf_size = rig_read32(&rig, TRN_REG_CAP_SBUF_SIZE) / TRN_PARTITIONS;
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static void expect(const struct trn_instruction *instruction, uint8_t exception, const char *what,
		   unsigned int number)
{
	unsigned int engine = (unsigned int)__builtin_ctz(opcode->engines);

	verdict_expect(&program, engine, instruction, exception, what, number);
}

/* Each of 256 opcodes on each engine */
START_TEST(engines)
{
	for (unsigned int number = 0; number < 256; number++) {
		const struct opcode *found = opcode_find(number);
		struct trn_instruction instruction = { .opcode = (uint8_t)number };
		bool exists = found && found->engines >> _i & 1;

		if (found)
			instruction = opcode_instruction(found);
		verdict_expect(&program, _i, &instruction,
			       exists ? 0 : TRN_EXCEPTION_ILLEGAL_OPCODE, "opcode", number);
	}
}
END_TEST

/* _i is the opcode, here and below. */
START_TEST(flags_and_operations)
{
	opcode = &opcodes[_i];
	for (unsigned int bit = 0; bit < 8; bit++) {
		struct trn_instruction instruction = opcode_instruction(opcode);

		if (opcode->flags >> bit & 1)
			continue;
		instruction.flags |= (uint8_t)(1U << bit);
		expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "flag", bit);
	}
	for (unsigned int which = opcode->ops; which < 2; which++) {
		struct trn_instruction instruction = opcode_instruction(opcode);

		instruction.op[which] = 1;
		expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "op[]", which);
	}
	for (unsigned int which = 0; which < opcode->ops; which++) {
		unsigned int last = opcode->number == TRN_OP_BRANCH	? TRN_ALU_GREATER_EQUAL
				    : opcode->number == TRN_OP_REDUCE	? TRN_ALU_ABS_MAX
				    : opcode->number == TRN_OP_ACTIVATE ? TRN_FUNCTION_SIN
									: TRN_ALU_REVERSE_DIVIDE;

		for (unsigned int op = last + 1; op < 256; op++) {
			struct trn_instruction instruction = opcode_instruction(opcode);

			instruction.op[which] = (uint8_t)op;
			expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "operation", op);
		}
	}
}
END_TEST

START_TEST(reductions_and_comparisons)
{
	static const uint8_t not_of_reduce[] = { TRN_ALU_BYPASS, TRN_ALU_SUBTRACT, TRN_ALU_DIVIDE };
	struct trn_instruction instruction;

	opcode = opcode_find(TRN_OP_REDUCE);
	for (unsigned int n = 0; n < COUNT(not_of_reduce); n++) {
		instruction = opcode_instruction(opcode);
		instruction.op[0] = not_of_reduce[n];
		expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "operation", not_of_reduce[n]);
	}
	opcode = opcode_find(TRN_OP_BRANCH);
	for (uint8_t op = 0; op < TRN_ALU_EQUAL; op++) {
		instruction = opcode_instruction(opcode);
		instruction.op[0] = op;
		expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "operation", op);
	}
}
END_TEST

/* A semaphore without a count */
START_TEST(semaphores)
{
	struct trn_instruction instruction;

	opcode = &opcodes[_i];
	instruction = opcode_instruction(opcode);
	instruction.acquire = 3;
	expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "acquire", 3);
	instruction = opcode_instruction(opcode);
	instruction.release = 3;
	expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "release", 3);
}
END_TEST

static void expect_byte(size_t offset, uint8_t value)
{
	struct trn_instruction instruction = opcode_instruction(opcode);

	((uint8_t *)&instruction)[offset] = value;
	expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "byte", (unsigned int)offset);
}

static void expect_bytes(size_t offset, size_t size)
{
	for (size_t i = 0; i < size; i++)
		expect_byte(offset + i, 1);
}

#define AT(field)	   offsetof(struct trn_instruction, field)
#define SIZE(field)	   sizeof(((struct trn_instruction *)0)->field)
#define EXPECT_ZERO(field) expect_bytes(AT(field), SIZE(field))

static void control_fields(void)
{
	uint8_t number = opcode->number;
	bool none = number == TRN_OP_NOP || number == TRN_OP_HALT;

	EXPECT_ZERO(control.reserved0);
	EXPECT_ZERO(control.reserved1);
	if (none || number == TRN_OP_BRANCH) {
		EXPECT_ZERO(control.destination);
	} else {
		expect_byte(AT(control.destination), 0);
		expect_byte(AT(control.destination), TRN_ISA_REGISTERS);
	}
	expect_byte(AT(control.source[0]), none ? 1 : TRN_ISA_REGISTERS);
	expect_byte(AT(control.source[1]),
		    number == TRN_OP_ADD || number == TRN_OP_BRANCH ? TRN_ISA_REGISTERS : 1);
	if (none)
		EXPECT_ZERO(control.immediate);
	if (number != TRN_OP_BRANCH)
		EXPECT_ZERO(control.target);
}

static void transfer_fields(void)
{
	EXPECT_ZERO(dma.reserved0);
	EXPECT_ZERO(dma.reserved1);
	expect_byte(AT(dma.address_register), TRN_ISA_REGISTERS);
	if (opcode->number != TRN_OP_TIMESTAMP) {
		expect_byte(AT(dma.ring), TRN_ISA_DMA_RINGS);
		return;
	}
	EXPECT_ZERO(dma.partitions);
	EXPECT_ZERO(dma.ring);
	EXPECT_ZERO(dma.size);
	EXPECT_ZERO(dma.local);
	EXPECT_ZERO(dma.stride);
	EXPECT_ZERO(dma.dtype);
}

static void element_fields(void)
{
	uint8_t number = opcode->number;

	EXPECT_ZERO(element.reserved0);
	EXPECT_ZERO(element.reserved1);
	if (!(opcode->operands & 2))
		EXPECT_ZERO(element.in[0]);
	if (!(opcode->operands & 4))
		EXPECT_ZERO(element.in[1]);
	if (number == TRN_OP_TENSOR_SCALAR || number == TRN_OP_ACTIVATE)
		return;
	EXPECT_ZERO(element.scalar[1]);
	/* GATHER and its like, and TOP_K, count with scalar[0], at least 1. */
	if (number >= TRN_OP_GATHER && number != TRN_OP_PARTITION_BROADCAST)
		return;
	if (number != TRN_OP_FILL)
		EXPECT_ZERO(element.scalar[0]);
}

START_TEST(fields)
{
	opcode = &opcodes[_i];
	switch (opcode->kind) {
	case KIND_CONTROL:
		control_fields();
		break;
	case KIND_TRANSFER:
		transfer_fields();
		break;
	case KIND_TENSOR:
		EXPECT_ZERO(tensor.reserved);
		EXPECT_ZERO(tensor.scale);
		if (!(opcode->operands & 1))
			EXPECT_ZERO(tensor.out);
		expect_byte(AT(tensor.pack), 0);
		expect_byte(AT(tensor.pack), 3);
		expect_byte(AT(tensor.pack), 5);
		break;
	case KIND_ELEMENT:
		element_fields();
		break;
	case KIND_AFFINE:
		EXPECT_ZERO(affine.reserved);
		if (opcode->number == TRN_OP_MASK)
			break;
		EXPECT_ZERO(affine.in);
		EXPECT_ZERO(affine.fill);
		break;
	}
}
END_TEST

static bool has_shape(void)
{
	return opcode->kind != KIND_CONTROL && opcode->number != TRN_OP_TIMESTAMP;
}

/* Partitions and sizes lie at the same bytes in all kinds. */
START_TEST(shapes)
{
	struct trn_instruction instruction;

	opcode = &opcodes[_i];
	if (!has_shape())
		return;
	expect_byte(AT(element.partitions), 0);
	expect_byte(AT(element.partitions), TRN_PARTITIONS + 1);
	expect_byte(AT(element.partitions), 255);
	for (unsigned int axis = 0; axis < 3; axis++) {
		instruction = opcode_instruction(opcode);
		instruction.element.size[axis] = 0;
		expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "size", axis);
	}
	instruction = opcode_instruction(opcode);
	instruction.element.size[0] = htole16(0x8000);
	instruction.element.size[1] = htole16(opcode->number == TRN_OP_BN_AGGREGATE ? 3 : 2);
	instruction.element.size[2] = htole16(2);
	expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "elements", 0x20000);
	for (unsigned int axis = 0; axis < 3; axis++)
		instruction.element.size[axis] = htole16(0xffff);
	expect(&instruction, TRN_EXCEPTION_BAD_FIELD, "elements of all axes", 0xffff);
}
END_TEST

static void place_beyond(unsigned int operand, uint32_t place, uint8_t exception, const char *what)
{
	struct trn_instruction instruction = opcode_instruction(opcode);

	opcode_operand(opcode, &instruction, operand)->place = htole32(place);
	expect(&instruction, exception, what, operand);
}

/* Bytes of the operand from its offset on, in the instructions of opcode_instruction() */
static uint32_t operand_bytes(unsigned int operand)
{
	if (opcode->number == TRN_OP_BN_AGGREGATE)
		return operand ? 12 : 8;
	return opcode->number == TRN_OP_BN_STATS && !operand ? 12 : 4;
}

static void operand_beyond(unsigned int operand)
{
	bool psum_only =
		!operand && (opcode->number == TRN_OP_MATMUL || opcode->number == TRN_OP_TRANSPOSE);
	bool sbuf_only = operand && opcode->kind == KIND_TENSOR;
	uint32_t bytes = operand_bytes(operand);
	struct trn_instruction instruction;
	struct trn_access_pattern *pattern;

	for (unsigned int bit = 21; bit < 32; bit++)
		if (!((TRN_PLACE_REGISTER_MASK >> bit) & 1))
			place_beyond(operand, 1U << bit | (psum_only ? TRN_PLACE_PSUM : 0),
				     TRN_EXCEPTION_BAD_FIELD, "place's reserved bit of operand");
	if (!psum_only) {
		place_beyond(operand, sbuf_size - bytes, 0, "end of SBUF, operand");
		place_beyond(operand, sbuf_size, TRN_EXCEPTION_OUT_OF_RANGE,
			     "beyond SBUF, operand");
		place_beyond(operand, sbuf_size - bytes + 4, TRN_EXCEPTION_OUT_OF_RANGE,
			     "partly beyond SBUF, operand");
		place_beyond(operand, 0xffffc, TRN_EXCEPTION_OUT_OF_RANGE, "far away, operand");
	} else {
		place_beyond(operand, 0, TRN_EXCEPTION_BAD_FIELD, "in SBUF, operand");
	}
	if (!sbuf_only) {
		place_beyond(operand, TRN_PLACE_PSUM + PSUM_SIZE - bytes, 0,
			     "end of PSUM, operand");
		place_beyond(operand, TRN_PLACE_PSUM + PSUM_SIZE, TRN_EXCEPTION_OUT_OF_RANGE,
			     "beyond PSUM, operand");
	} else {
		place_beyond(operand, TRN_PLACE_PSUM, TRN_EXCEPTION_BAD_FIELD, "in PSUM, operand");
	}
	for (unsigned int offset = 1; offset < 4; offset++)
		place_beyond(operand, (psum_only ? TRN_PLACE_PSUM : 0) + 256 + offset,
			     TRN_EXCEPTION_UNALIGNED, "offset that is not aligned, operand");
	for (unsigned int partition = 127; partition < 256; partition++) {
		instruction = opcode_instruction(opcode);
		pattern = opcode_operand(opcode, &instruction, operand);
		pattern->partition = (uint8_t)partition;
		expect(&instruction, partition < 128 ? 0 : TRN_EXCEPTION_OUT_OF_RANGE, "partition",
		       partition);
	}
}

START_TEST(operands)
{
	opcode = &opcodes[_i];
	for (unsigned int operand = 0; operand < 4; operand++)
		if (opcode->operands >> operand & 1)
			operand_beyond(operand);
}
END_TEST

/* The last partition and the last step are too much, of every axis and either sign. */
START_TEST(steps)
{
	opcode = opcode_find(TRN_OP_COPY);
	for (unsigned int operand = 0; operand < 2; operand++)
		for (unsigned int axis = 0; axis < 3; axis++) {
			struct trn_instruction instruction = opcode_instruction(opcode);
			struct trn_access_pattern *pattern =
				opcode_operand(opcode, &instruction, operand);

			instruction.element.size[axis] = htole16(3);
			pattern->place = htole32(8);
			pattern->step[axis] = htole16((uint16_t)-1);
			expect(&instruction, 0, "falls to 0, axis", axis);
			pattern->place = htole32(4);
			expect(&instruction, TRN_EXCEPTION_OUT_OF_RANGE, "falls below 0, axis",
			       axis);
			pattern->place = htole32(sbuf_size - 12);
			pattern->step[axis] = htole16(1);
			expect(&instruction, 0, "rises to the end, axis", axis);
			pattern->place = htole32(sbuf_size - 8);
			expect(&instruction, TRN_EXCEPTION_OUT_OF_RANGE, "rises over it, axis",
			       axis);
			pattern->place = htole32(0);
			pattern->step[axis] = htole16(0x8000);
			expect(&instruction, TRN_EXCEPTION_OUT_OF_RANGE, "falls far, axis", axis);
			pattern->step[axis] = htole16(0x7fff);
			expect(&instruction,
			       sbuf_size < 2 * 0x7fff * 4 ? TRN_EXCEPTION_OUT_OF_RANGE : 0,
			       "rises far, axis", axis);
			instruction = opcode_instruction(opcode);
			instruction.element.partitions = 2;
			opcode_operand(opcode, &instruction, operand)->partition = 127;
			expect(&instruction, TRN_EXCEPTION_OUT_OF_RANGE, "partitions from", 127);
		}
}
END_TEST

/* Errors end a program before the instruction has effects. */
START_TEST(no_effects)
{
	struct trn_access_pattern tile = program_tile(0, 0, TRN_DTYPE_FP32, 4, 1);
	struct trn_instruction fill =
		program_element(TRN_OP_FILL, 1, 4, tile, (struct trn_access_pattern){ 0 });

	memset(program.data, 0x77, 64);
	fill.element.scalar[0] = htole32(bits_of(1));
	fill.element.size[1] = htole16(2);
	fill.element.out.step[1] = htole16(0x7fff);
	fill.element.out.place = htole32(sbuf_size / 4 * 4 - 65536);
	opcode = opcode_find(TRN_OP_FILL);
	expect(&fill, TRN_EXCEPTION_OUT_OF_RANGE, "second row", 1);
	tile.place = fill.element.out.place;
	program_clear(&program);
	program_add(&program, TRN_ENGINE_SYNC, program_transfer(TRN_OP_DMA_STORE, 1, 4, tile, 0));
	program_runs(&program);
	for (int i = 0; i < 16; i++)
		ck_assert_uint_eq(program.data[i], 0);
}
END_TEST

Suite *exceptions_suite(void)
{
	Suite *suite = suite_create("exceptions");
	TCase *tcase = tcase_create("exceptions");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, engines, 0, TRN_ENGINES);
	tcase_add_loop_test(tcase, flags_and_operations, 0, OPCODES);
	tcase_add_test(tcase, reductions_and_comparisons);
	tcase_add_loop_test(tcase, semaphores, 0, OPCODES);
	tcase_add_loop_test(tcase, fields, 0, OPCODES);
	tcase_add_loop_test(tcase, shapes, 0, OPCODES);
	tcase_add_loop_test(tcase, operands, 0, OPCODES);
	tcase_add_test(tcase, steps);
	tcase_add_test(tcase, no_effects);
	suite_add_tcase(suite, tcase);
	return suite;
}
