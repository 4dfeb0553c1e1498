/* SPDX-License-Identifier: MIT */
/* Text of instructions, and trn-neff asm and disasm from outside. */
#include <check.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hw/trn_regs.h>
#include <tests/check_run.h>
#include <tests/unit/run_program.h>
#include <tools/trn-neff/instruction.h>

/* ---- single instructions --------------------------------------------------------- */

static bool no_label(void *data, const char *name, size_t length, uint32_t *target)
{
	(void)data;
	*target = 17;
	return length == 4 && !memcmp(name, "here", 4);
}

static struct trn_instruction read_good(const char *line)
{
	struct trn_instruction instruction;
	struct text_error error;

	if (!instruction_read(line, strlen(line), no_label, NULL, &instruction, &error))
		ck_abort_msg("'%s': column %u: %s", line, error.column, error.what);
	return instruction;
}

static void check_again(const struct trn_instruction *instruction)
{
	struct trn_instruction again;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	instruction_write(stream, instruction);
	fclose(stream);
	again = read_good(text);
	ck_assert_msg(!memcmp(&again, instruction, sizeof(again)), "not the same: %s", text);
	free(text);
}

/* Bytes counted by hand from hw/trn_isa.h. */
START_TEST(bytes)
{
	const uint8_t wanted[64] = {
		0x21, 0x05, 3,	  1,	4,    2,    3,	  1, /* TENSOR_SCALAR, flags, semaphores, op
							      */
		128,  0,    16,	  0,	2,    0,    1,	  0, /* shape */
		0x00, 0x01, 0x10, 0x02, 7,    1,    1,	  0,	0xff, 0xff, 0, 0, /* out */
		0x10, 0x00, 0x00, 0x00, 0,    0,    1,	  0,	16,   0,    0, 0, /* in */
		0,    0,    0,	  0,	0,    0,    0,	  0,	0,    0,    0, 0, /* in1 */
		0,    0,    0x80, 0x3f, 0xff, 0xff, 0xff, 0xff, 0,    0,    0, 0, /* scalars */
	};
	struct trn_instruction instruction = read_good(
		"tensor_scalar shape=128x16x2 op=multiply op1=add flags=stochastic+scalar_1"
		" out=psum[7,256+r2]:bf16:1,-1 in=sbuf[0,16]:fp32:1,16 scalar=1.0 scalar1=-1"
		" acquire=3:1 release=4:2");

	ck_assert_mem_eq(&instruction, wanted, sizeof(wanted));
}
END_TEST

static const char *const lines[] = {
	"nop",
	"halt release=255:255",
	"move to=r1 a=r2 immediate=-9223372036854775808",
	"branch op=less_equal a=r15 b=r1 immediate=10 target=here",
	"dma_load shape=128x512 local=sbuf[0,0]:bf16:1 binding=3 offset=4096 register=r4 dtype=fp32"
	" stride=4096,8,-4,2147483647 ring=15 release=9:1",
	"load_stationary shape=128x128x1x1 pack=4 in=sbuf[0,0]:mxfp8:1 scale=sbuf[0,64]:int8:1",
	"matmul shape=64x8x8x8 pack=1 out=psum[0,2048]:fp32:1,8,64 in=sbuf[64,0]:fp8_e4m3:1"
	" flags=accumulate",
	"activate op=gelu shape=1x1 out=sbuf[0,0]:fp16 in=psum[127,0]:int32 scalar=nan "
	"scalar1=-0.0",
	"mask shape=4x4x4x4 out=sbuf[0,0]:fp32:1 in=sbuf[0,0]:fp32:1 fill=-inf base=-1 "
	"step=1,-1,0,5",
	"timestamp binding=2 offset=8",
};

START_TEST(round_trip)
{
	struct trn_instruction instruction = read_good(lines[_i]);

	check_again(&instruction);
}
END_TEST

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

/* Any 64 bytes have a text; few random ones have fields that say all of them. */
START_TEST(random_bytes)
{
	struct trn_instruction instruction;
	uint8_t *bytes = (uint8_t *)&instruction;
	int i, n;

	for (n = 0; n < 200000; n++) {
		uint64_t density = random64() % 64;

		for (i = 0; i < 64; i++)
			bytes[i] = random64() % 64 < density ? (uint8_t)random64() : 0;
		instruction.opcode = (uint8_t)(random64() % 0x54);
		check_again(&instruction);
	}
}
END_TEST

static const struct {
	const char *line;
	unsigned int column;
	const char *what;
} wrong[] = {
	{ "jump r1", 1, "unknown instruction 'jump'" },
	{ "nop speed=1", 5, "nop has no field 'speed'" },
	{ "nop acquire=1:1 acquire=1:1", 17, "field 'acquire' comes twice" },
	{ "nop acquire 1", 12, "expected '='" },
	{ "nop acquire=256:1", 13, "expected a number from 0 to 255" },
	{ "nop acquire=1", 14, "expected ':' and a count" },
	{ "nop acquire=1:0", 15, "expected a number from 1 to 255" },
	{ "move to=x1", 9, "expected a register, r0 to r15" },
	{ "move to=r16", 10, "expected a number from 0 to 15" },
	{ "move to=r1 immediate=", 22, "expected a number" },
	{ "branch target=there", 15, "unknown label 'there'" },
	{ "branch op=nearly", 11, "unknown operation 'nearly'" },
	{ "activate op=swish", 13, "unknown function 'swish'" },
	{ "fill out=hbm[0,0]:fp32", 10, "expected sbuf[" },
	{ "fill out=sbuf[128,0]:fp32", 15, "expected a number from 0 to 127" },
	{ "fill out=sbuf[0,0]:fp99", 20, "unknown data type 'fp99'" },
	{ "fill out=sbuf[0,0]:fp32:99999", 25, "expected a number from -32768 to 32767" },
	{ "fill flags=fast", 12, "unknown flag 'fast'" },
	{ "fill shape=300", 12, "expected a number from 0 to 255" },
	{ "fill scalar=1.0x", 16, "unexpected 'x' in the value of 'scalar'" },
	{ "bytes 00", 9, "expected 128 hexadecimal digits" },
};

START_TEST(errors)
{
	struct trn_instruction instruction;
	struct text_error error = { 0 };

	ck_assert(!instruction_read(wrong[_i].line, strlen(wrong[_i].line), no_label, NULL,
				    &instruction, &error));
	ck_assert_msg(strstr(error.what, wrong[_i].what), "'%s'", error.what);
	ck_assert_uint_eq(error.column, wrong[_i].column);
}
END_TEST

/* ---- files ------------------------------------------------------------------------- */

static char directory[] = "/tmp/trn-neff-XXXXXX";

static void setup(void)
{
	strcpy(directory + sizeof("/tmp/trn-neff-") - 1, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static const char program_text[] =
	".name \"add \\\"one\\\"\" ; a comment\n"
	".core\n"
	".variable \"x\" input fp32 4x8\n"
	".variable \"y\" output fp32 4x8 align=256\n"
	".variable \"w\" file int16 2 id=77\n"
	".data 0100ff7f\n"
	".ring \"loads\" 0 in\n"
	".engine sync\n"
	"\tdma_load shape=4x8 local=sbuf[0,0]:fp32:1 stride=32,4 release=1:1\n"
	"\tdma_store shape=4x8 local=sbuf[0,64]:fp32:1 binding=1 stride=32,4 acquire=2:1\n"
	"\thalt\n"
	".engine vector\n"
	"again:\n"
	"\ttensor_scalar shape=4x8 op=add out=sbuf[0,64]:fp32:1 in=sbuf[0,0]:fp32:1 scalar=1.0"
	" acquire=1:1 release=2:1\n"
	"\tbranch op=not_equal a=r1 immediate=0 target=again\n"
	"\thalt\n";

/* asm, disasm and asm: the same file, and the same text. */
START_TEST(files)
{
	struct run_result r;

	write_text("a.s", program_text);
	ck_assert_int_eq(run_program("trn-neff asm a.s a.neff").status, 0);
	ck_assert_int_eq(run_program("trn-neff verify a.neff").status, 0);
	r = run_program("trn-neff disasm a.neff");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_ptr_nonnull(strstr(r.out, "branch op=not_equal a=r1\n"));
	write_text("b.s", r.out);
	ck_assert_int_eq(run_program("trn-neff asm b.s b.neff").status, 0);
	ck_assert_int_eq(system("cmp a.neff b.neff"), 0);
}
END_TEST

static const struct {
	const char *text;
	const char *message;
} wrong_files[] = {
	{ "\tnop\n", "a.s:1:2: no .engine before this" },
	{ ".engine sync\n", "a.s:1:1: no .core before this" },
	{ ".core\n.engine fast\n", "a.s:2:9: unknown engine 'fast'" },
	{ ".core\n.engine sync\nx:\nx:\n", "a.s:4:1: label 'x' comes twice" },
	{ ".core\n.engine sync\n\n nop what=1\n", "a.s:4:6: nop has no field 'what'" },
	{ ".core\n.variable \"x\n", "a.s:2:11: the text has no closing quote" },
	{ ".core\n.variable x input fp32\n", "a.s:2:11: expected a text in quotes" },
	{ ".core\n.ring x 0 in\n", "a.s:2:7: expected a text in quotes" },
	{ ".core\n.variable \"x\" inpt fp32\n", "a.s:2:15: unknown kind 'inpt'" },
	{ ".core\n.variable \"x\" input fp31\n", "a.s:2:21: unknown data type 'fp31'" },
	{ ".core\n.variable \"x\" input fp32 4x\n", "expected a number after 'x'" },
	{ ".core\n.variable \"x\" input fp32 4 size=3\n", "unknown option 'size=3'" },
	{ ".core\n.data 00\n", "a.s:2:1: no .variable of kind file before this" },
	{ ".core\n.variable \"x\" file int8 1\n.data 0001\n", "a.s:3:9: more than the 1 bytes" },
	{ ".name \"a\"\n.name \"b\"\n", "a.s:2:1: comes twice" },
	{ ".core extra\n", "a.s:1:7: expected the end of the line" },
	{ ".section\n", "a.s:1:1: " },
	{ ".core\n.section\n", "a.s:2:1: unknown directive '.section'" },
};

START_TEST(file_errors)
{
	struct run_result r;

	write_text("a.s", wrong_files[_i].text);
	r = run_program("trn-neff asm a.s a.neff");
	ck_assert_int_eq(r.status, 3);
	ck_assert_str_eq(r.out, "");
	ck_assert_msg(strstr(r.err, wrong_files[_i].message), "'%s'", r.err);
	ck_assert_int_ne(access("a.neff", F_OK), 0);
}
END_TEST

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("neff-assembler");
	TCase *single = tcase_create("instruction"), *file = tcase_create("file");

	tcase_set_timeout(single, 120);
	tcase_add_test(single, bytes);
	tcase_add_loop_test(single, round_trip, 0, COUNT(lines));
	tcase_add_test(single, random_bytes);
	tcase_add_loop_test(single, errors, 0, COUNT(wrong));
	suite_add_tcase(suite, single);
	tcase_add_checked_fixture(file, setup, teardown);
	tcase_add_test(file, files);
	tcase_add_loop_test(file, file_errors, 0, COUNT(wrong_files));
	suite_add_tcase(suite, file);
	return check_run(suite);
}
