// SPDX-License-Identifier: MIT
/* BAD_DTYPE: every combination of types of each opcode, on each generation */
#include "number.h"
#include "opcodes.h"
#include "suites.h"
#include "tests/unit/model/alu_reference.h"
#include "tests/unit/model/numerics.h"
#include "verdict.h"

static const char *const generations[] = { "inf2", "trn1", "trn2", "trn3", "trn4" };

static struct rig rig;
static struct program program;
static uint32_t dtypes; /* CAP_DTYPES */

static void create(int generation)
{
	rig_create(&rig, generations[generation], 0, 0);
	rig_enable(&rig, 16);
	program_create(&program, &rig, 1);
	dtypes = rig_read32(&rig, TRN_REG_CAP_DTYPES);
}

/* One that does not exist anywhere is among them. */
#define TRIED (DTYPES + 1)

static bool exists(unsigned int dtype)
{
	return dtype < DTYPES && dtypes >> dtype & 1;
}

static bool is_mx(unsigned int dtype)
{
	return dtype == TRN_DTYPE_MXFP8 || dtype == TRN_DTYPE_FP4;
}

static bool is_plain(unsigned int dtype)
{
	return exists(dtype) && !is_mx(dtype);
}

static bool is_index(unsigned int dtype)
{
	return dtype == TRN_DTYPE_INT16 || dtype == TRN_DTYPE_INT32;
}

/* What the specification says of types out, a = in[0], b = in[1] */
static bool allowed(uint8_t opcode, unsigned int out, unsigned int a, unsigned int b)
{
	switch (opcode) {
	case TRN_OP_COPY:
		return exists(out) && out != TRN_DTYPE_MXFP8 && exists(a) && a != TRN_DTYPE_MXFP8;
	case TRN_OP_SELECT:
		return is_plain(a) && is_plain(b) && b == out;
	case TRN_OP_BN_STATS:
	case TRN_OP_BN_AGGREGATE:
		return is_plain(a) && out == TRN_DTYPE_FP32;
	case TRN_OP_GATHER:
	case TRN_OP_SCATTER:
	case TRN_OP_PARTITION_SHUFFLE:
		return is_plain(a) && a == out && is_index(b);
	case TRN_OP_TOP_K:
		return is_plain(a) && a == out && b == TRN_DTYPE_INT32;
	case TRN_OP_PARTITION_BROADCAST:
	case TRN_OP_MASK:
		return is_plain(a) && a == out;
	case TRN_OP_TRANSPOSE:
		return exists(a) && a != TRN_DTYPE_FP4 && a == out;
	case TRN_OP_MATMUL:
		return is_plain(a) && !is_index(a) &&
		       out == (a == TRN_DTYPE_INT8 ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32);
	case TRN_OP_LOAD_STATIONARY:
		return exists(a) && !is_index(a);
	}
	return is_plain(out) && is_plain(a) && is_plain(b);
}

/* Those of operands that the opcode has; element pairs, so that FP4 is possible. */
static void try(const struct opcode *opcode, unsigned int out, unsigned int a, unsigned int b)
{
	struct trn_instruction instruction = opcode_instruction(opcode);
	const unsigned int wanted[3] = { out, a, b };

	for (unsigned int operand = 0; operand < 3; operand++)
		if (opcode->operands >> operand & 1)
			opcode_operand(opcode, &instruction, operand)->dtype =
				(uint8_t)wanted[operand];
	if (opcode->number == TRN_OP_COPY)
		instruction.element.size[0] = htole16(2);
	/* So that nothing but the type may be wrong; no matrix of MX types is loaded for MATMUL. */
	if (opcode->kind == KIND_TENSOR && opcode->number != TRN_OP_TRANSPOSE && is_mx(a)) {
		if (opcode->number == TRN_OP_MATMUL)
			return;
		instruction.tensor.rows = 8;
		instruction.tensor.pack = 4;
		instruction.tensor.scale.dtype = TRN_DTYPE_INT8;
	}
	verdict_expect(
		&program, (unsigned int)__builtin_ctz(opcode->engines), &instruction,
		allowed(opcode->number, out, a, b) ? 0 : TRN_EXCEPTION_BAD_DTYPE,
		"types out, in[0], in[1] as digits of base 11:", (out * TRIED + a) * TRIED + b);
}

/* _i is the generation; three operands of all types */
START_TEST(combinations)
{
	create(_i);
	for (unsigned int n = 0; n < OPCODES; n++) {
		const struct opcode *opcode = &opcodes[n];
		unsigned int limit[3];

		if (opcode->kind == KIND_CONTROL || opcode->kind == KIND_TRANSFER)
			continue;
		for (unsigned int operand = 0; operand < 3; operand++)
			limit[operand] = opcode->operands >> operand & 1 ? TRIED : 1;
		for (unsigned int out = 0; out < limit[0]; out++)
			for (unsigned int a = 0; a < limit[1]; a++)
				for (unsigned int b = 0; b < limit[2]; b++)
					try(opcode, out, a, b);
	}
	rig_destroy(&rig);
}
END_TEST

START_TEST(transfers)
{
	create(_i);
	for (unsigned int local = 0; local < TRIED; local++)
		for (unsigned int memory = 0; memory < TRIED; memory++)
			for (uint8_t number = TRN_OP_DMA_LOAD; number <= TRN_OP_DMA_STORE;
			     number++) {
				struct trn_instruction instruction =
					opcode_instruction(opcode_find(number));

				instruction.dma.local.dtype = (uint8_t)local;
				instruction.dma.dtype = (uint8_t)memory;
				instruction.dma.size[0] = htole16(2);
				verdict_expect(&program, TRN_ENGINE_SYNC, &instruction,
					       is_plain(local) && is_plain(memory)
						       ? 0
						       : TRN_EXCEPTION_BAD_DTYPE,
					       "types local and in memory, base 11:",
					       local * TRIED + memory);
			}
	rig_destroy(&rig);
}
END_TEST

/* Operations for integers alone, in what does not compute with integers */
START_TEST(integers_alone)
{
	static const unsigned int tried[] = { TRN_DTYPE_FP32, TRN_DTYPE_INT8, TRN_DTYPE_INT32 };

	create(2);
	for (unsigned int op = 0; op < ALU_OPERATIONS; op++)
		for (unsigned int n = 0; n < 27; n++) {
			unsigned int a = tried[n % 3], b = tried[n / 3 % 3], out = tried[n / 9];
			bool integers = number_is_integer(a) && number_is_integer(out);
			struct trn_instruction work =
				opcode_instruction(opcode_find(TRN_OP_TENSOR_TENSOR));
			struct trn_instruction by_scalar =
				opcode_instruction(opcode_find(TRN_OP_TENSOR_SCALAR));

			work.op[0] = by_scalar.op[1] = (uint8_t)op;
			work.element.out.dtype = by_scalar.element.out.dtype = (uint8_t)out;
			work.element.in[0].dtype = by_scalar.element.in[0].dtype = (uint8_t)a;
			work.element.in[1].dtype = (uint8_t)b;
			verdict_expect(&program, TRN_ENGINE_VECTOR, &work,
				       alu_is_of_integers(op) && !(integers && number_is_integer(b))
					       ? TRN_EXCEPTION_BAD_DTYPE
					       : 0,
				       "operation", op);
			by_scalar.op[0] = n % 2 ? TRN_ALU_XOR : TRN_ALU_DIVIDE;
			integers = integers && n % 2 && !alu_is_of_floats(op);
			verdict_expect(&program, TRN_ENGINE_VECTOR, &by_scalar,
				       !integers && (n % 2 || alu_is_of_integers(op))
					       ? TRN_EXCEPTION_BAD_DTYPE
					       : 0,
				       "second operation", op);
		}
	rig_destroy(&rig);
}
END_TEST

/* Which packing each type has on each generation */
START_TEST(packing)
{
	create(_i);
	for (unsigned int dtype = 0; dtype < DTYPES; dtype++)
		for (unsigned int pack = 1; pack < 6; pack++)
			for (unsigned int rows = 4; rows <= 8; rows += 4) {
				struct trn_instruction load =
					opcode_instruction(opcode_find(TRN_OP_LOAD_STATIONARY));
				bool mx = is_mx(dtype);
				bool fp8 =
					dtype == TRN_DTYPE_FP8_E4M3 || dtype == TRN_DTYPE_FP8_E5M2;
				uint32_t packs = rig_read32(&rig, TRN_REG_CAP_TENSOR_PACK);
				bool right = mx ? pack == 4 && rows == 8
						: pack == 1 || (pack == 2 && fp8 && packs & 4);

				if (!exists(dtype) || is_index(dtype))
					continue;
				load.tensor.rows = (uint8_t)rows;
				load.tensor.pack = (uint8_t)pack;
				load.tensor.in.dtype = (uint8_t)dtype;
				if (mx)
					load.tensor.scale.dtype = TRN_DTYPE_INT8;
				verdict_expect(&program, TRN_ENGINE_TENSOR, &load,
					       right ? 0 : TRN_EXCEPTION_BAD_FIELD,
					       number_names[dtype], pack);
				if (right && mx) {
					load.tensor.scale.dtype = TRN_DTYPE_FP8_E4M3;
					verdict_expect(&program, TRN_ENGINE_TENSOR, &load,
						       TRN_EXCEPTION_BAD_DTYPE, "scale", pack);
				}
			}
	rig_destroy(&rig);
}
END_TEST

Suite *dtypes_suite(void)
{
	Suite *suite = suite_create("dtypes");
	TCase *tcase = tcase_create("dtypes");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, combinations, 0, COUNT(generations));
	tcase_add_loop_test(tcase, transfers, 0, COUNT(generations));
	tcase_add_test(tcase, integers_alone);
	tcase_add_loop_test(tcase, packing, 0, COUNT(generations));
	suite_add_tcase(suite, tcase);
	return suite;
}
