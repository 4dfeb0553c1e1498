/* SPDX-License-Identifier: MIT */
/*
 * Writes inputs that the fuzz targets begin with: every instruction with every data type, texts
 * with every directive, the files that these make.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tools/trn-neff/commands.h>
#include <tools/trn-neff/instruction.h>
#include <trn/trn.h>
#include <trn/trn_neff.h>

#include "record.h"

static const struct {
	unsigned int engine;
	const char *line; /* %s: a data type */
} lines[] = {
	{ TRN_ENGINE_SYNC, "nop" },
	{ TRN_ENGINE_SYNC, "halt release=255:255" },
	{ TRN_ENGINE_SYNC, "nop acquire=3:1" },
	{ TRN_ENGINE_SYNC, "move to=r1 a=r2 immediate=-9223372036854775808" },
	{ TRN_ENGINE_SYNC, "add to=r1 a=r2 b=r1 immediate=4 release=3:2" },
	{ TRN_ENGINE_SYNC, "multiply to=r1 a=r2 immediate=-3" },
	{ TRN_ENGINE_SYNC, "branch op=less_equal a=r15 b=r1 immediate=10 target=0" },
	{ TRN_ENGINE_SYNC, "branch op=not_equal a=r1 b=r2 target=1" },
	{ TRN_ENGINE_SYNC, "timestamp binding=0 offset=8" },
	{ TRN_ENGINE_SYNC, "dma_load shape=8x16 local=sbuf[0,0]:fp32:1 binding=0 offset=64"
			   " dtype=%s stride=64,4 ring=15 release=9:1" },
	{ TRN_ENGINE_SYNC, "dma_load shape=4x8x2x2 local=psum[0,0]:%s:1,8,16 binding=0"
			   " dtype=bf16 stride=256,8,-4,32 offset=64 register=r1" },
	{ TRN_ENGINE_SYNC, "dma_load shape=8x512 local=sbuf[0,0]:fp32:1 binding=1 dtype=fp32"
			   " stride=1024,4" },
	{ TRN_ENGINE_SYNC, "dma_store shape=8x16 local=sbuf[0,0]:%s:1 binding=0 offset=128"
			   " dtype=fp32 stride=64,4 ring=3 acquire=9:1" },
	{ TRN_ENGINE_TENSOR, "dma_load shape=64x64 local=sbuf[0,0]:%s:1 binding=0 dtype=fp32"
			     " stride=256,4" },
	{ TRN_ENGINE_TENSOR, "load_stationary shape=64x16 pack=1 in=sbuf[0,0]:%s:1" },
	{ TRN_ENGINE_TENSOR, "load_stationary shape=64x16 pack=4 in=sbuf[0,0]:%s:1"
			     " scale=sbuf[64,0]:int8:1" },
	{ TRN_ENGINE_TENSOR, "load_stationary shape=64x16 pack=2 in=sbuf[0,0]:%s:1" },
	{ TRN_ENGINE_TENSOR, "matmul shape=64x8x4x2 pack=1 out=psum[0,2048]:fp32:1,8,32"
			     " in=sbuf[0,0]:%s:1,8,32 flags=accumulate" },
	{ TRN_ENGINE_TENSOR, "matmul shape=64x8 pack=1 out=psum[0,0]:int32:1 in=sbuf[0,0]:%s:1" },
	{ TRN_ENGINE_TENSOR, "matmul shape=64x16 pack=4 out=psum[0,0]:fp32:1 in=sbuf[0,0]:%s:1"
			     " scale=sbuf[64,0]:int8:1" },
	{ TRN_ENGINE_TENSOR, "matmul shape=64x16 pack=2 out=psum[0,0]:fp32:-1 in=sbuf[0,0]:%s:1" },
	{ TRN_ENGINE_TENSOR, "transpose shape=64x16 pack=1 out=psum[0,0]:%s:1 in=sbuf[0,0]:%s:1" },
	{ TRN_ENGINE_VECTOR, "copy shape=8x16 out=psum[0,0]:fp32:1 in=sbuf[0,0]:%s:1" },
	{ TRN_ENGINE_VECTOR, "copy shape=8x16 out=sbuf[8,0]:%s:1 in=sbuf[0,0]:fp32:1"
			     " flags=stochastic" },
	{ TRN_ENGINE_VECTOR, "copy shape=8x16 out=sbuf[8,0]:%s:1 in=sbuf[0,0]:%s:1" },
	{ TRN_ENGINE_VECTOR, "fill shape=8x4x4 out=sbuf[0,64]:%s:1,4 scalar=-1.5" },
	{ TRN_ENGINE_VECTOR, "tensor_scalar shape=8x16 op=multiply op1=add out=sbuf[0,0]:%s:1"
			     " in=sbuf[0,64]:fp32:1 scalar=2.0 scalar1=-0.5" },
	{ TRN_ENGINE_VECTOR, "tensor_scalar shape=8x16 op=shift_left op1=xor out=sbuf[0,0]:int32:1"
			     " in=sbuf[0,64]:%s:1 scalar=3 scalar1=5" },
	{ TRN_ENGINE_VECTOR, "tensor_scalar shape=8x16 op=max op1=divide flags=scalar_0+scalar_1"
			     " out=sbuf[0,0]:fp32:1 in=sbuf[0,64]:fp32:1 in1=sbuf[0,256]:%s:1" },
	{ TRN_ENGINE_VECTOR, "tensor_tensor shape=8x16 op=subtract out=sbuf[0,0]:fp16:1"
			     " in=sbuf[0,64]:%s:1 in1=sbuf[0,128]:fp32:1" },
	{ TRN_ENGINE_VECTOR, "tensor_tensor shape=8x16 op=and out=sbuf[0,0]:int32:1"
			     " in=sbuf[0,64]:%s:1 in1=sbuf[0,128]:int16:1" },
	{ TRN_ENGINE_VECTOR, "reduce shape=8x4x4x2 op=add flags=axis_i out=sbuf[0,512]:fp32:1,1,4"
			     " in=sbuf[0,0]:%s:1,4,16" },
	{ TRN_ENGINE_VECTOR, "reduce shape=8x4x4x2 op=max flags=axis_i+axis_j+axis_k"
			     " out=sbuf[0,512]:%s:1 in=sbuf[0,0]:%s:1,4,16" },
	{ TRN_ENGINE_VECTOR, "select shape=8x16 out=sbuf[0,256]:%s:1 in=sbuf[0,0]:%s:1"
			     " in1=sbuf[0,64]:%s:1" },
	{ TRN_ENGINE_VECTOR, "bn_stats shape=8x16 out=sbuf[0,256]:fp32:1 in=sbuf[0,0]:%s:1" },
	{ TRN_ENGINE_VECTOR, "bn_aggregate shape=8x4x3 out=sbuf[0,256]:fp32:1"
			     " in=sbuf[0,0]:fp32:3,1" },
	{ TRN_ENGINE_SCALAR, "activate op=gelu shape=8x16 out=sbuf[0,256]:%s:1 in=psum[0,0]:fp32:1"
			     " scalar=2.0 scalar1=0.5" },
	{ TRN_ENGINE_SCALAR, "activate op=sin shape=8x16 out=sbuf[0,256]:fp32:1 in=sbuf[0,0]:%s:1"
			     " scalar=1.0 flags=stochastic" },
	{ TRN_ENGINE_SCALAR, "copy shape=8x16 out=sbuf[0,256]:%s:1 in=sbuf[0,0]:fp32:1" },
	{ TRN_ENGINE_GPSIMD, "iota shape=8x16 out=sbuf[0,0]:%s:1 base=-1 step=1,-1,0,5" },
	{ TRN_ENGINE_GPSIMD, "mask shape=4x4x4x4 out=sbuf[0,0]:%s:1,4,16 in=sbuf[0,256]:%s:1,4,16"
			     " fill=-inf base=-1 step=1,-1,0,5" },
	{ TRN_ENGINE_GPSIMD, "gather shape=8x16 out=sbuf[0,0]:%s:1 in=sbuf[0,256]:%s:1"
			     " in1=sbuf[0,512]:int32:1 scalar=16" },
	{ TRN_ENGINE_GPSIMD, "scatter shape=8x16 out=sbuf[0,0]:%s:1 in=sbuf[0,256]:%s:1"
			     " in1=sbuf[0,512]:int32:1 scalar=16" },
	{ TRN_ENGINE_GPSIMD, "partition_shuffle shape=8x16 out=sbuf[0,0]:%s:1 in=sbuf[0,256]:%s:1"
			     " in1=sbuf[0,512]:int32:1 scalar=8" },
	{ TRN_ENGINE_GPSIMD, "partition_broadcast shape=8x16 out=sbuf[0,0]:%s:1"
			     " in=sbuf[0,256]:%s:1" },
	{ TRN_ENGINE_GPSIMD, "top_k shape=8x16 out=sbuf[0,256]:%s:1 in=sbuf[0,0]:%s:1"
			     " in1=sbuf[0,512]:int32:1 scalar=4" },
};

#define LINES (sizeof(lines) / sizeof(lines[0]))

static const char *const engines[] = { "tensor", "vector", "scalar", "gpsimd", "sync" };

/* With every directive and kind of variable. */
static const char head[] = "; a comment\n"
			   ".name \"a \\\"program\\\"\"\n"
			   ".build \"by hand\"\n"
			   ".core\n"
			   ".variable \"x\" input bf16 2x3 id=7 align=64\n"
			   ".variable \"w\" file fp32 2\n"
			   ".data 0000803f\n"
			   ".data 000000c0 ; the rest\n"
			   ".variable \"y\" output fp4 3x4\n"
			   ".variable \"n\" state-buffer int32\n"
			   ".variable \"t\" tmp-buf int8 1000000 align=2097152\n"
			   ".ring \"in\" 0 in\n"
			   ".ring \"out\" 15 out\n"
			   ".ring \"all\" 7 data\n";
static const char tail[] = ".engine scalar\n"
			   "again:\n"
			   "\tadd to=r1 a=r1 immediate=1\n"
			   "\tbranch op=less a=r1 b=r2 immediate=-3 target=again\n"
			   "bytes ff000000000000000000000000000000000000000000000000000000000000ff"
			   "0000000000000000000000000000000000000000000000000000000000000000\n"
			   "\thalt\n"
			   ".core\n";

static const char *directory;
static unsigned int count;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("seeds: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

static void make_directory(const char *target)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, target);
	if (mkdir(path, 0777) && errno != EEXIST)
		die("%s: %s", path, strerror(errno));
}

static void write_seed(const char *target, const void *first, size_t first_size, const void *data,
		       size_t size)
{
	char path[4096];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s/seed-%04u", directory, target, count++);
	to = fopen(path, "wb");
	if (!to || fwrite(first, 1, first_size, to) != first_size ||
	    fwrite(data, 1, size, to) != size || fclose(to))
		die("%s: %s", path, strerror(errno));
}

/* The line with the data type for each %s. */
static void fill_in(char *text, size_t room, size_t line, const char *dtype)
{
	snprintf(text, room, lines[line].line, dtype, dtype, dtype);
}

static void add_record(uint8_t *record, size_t line, const char *dtype)
{
	struct trn_instruction instruction;
	struct text_error error;
	char text[512];

	fill_in(text, sizeof(text), line, dtype);
	if (!instruction_read(text, strlen(text), NULL, NULL, &instruction, &error))
		die("%s:%u: %s", text, error.column, error.what);
	record[0] = (uint8_t)lines[line].engine;
	memcpy(record + 1, &instruction, sizeof(instruction));
}

/* Programs of one instruction, for the first and the last generation. */
static void write_line(const uint8_t *record)
{
	for (uint8_t generation = 0; generation < 4; generation += 3)
		write_seed("core", &generation, 1, record, RECORD);
}

/* With every operation or function, if it has one. */
static void write_operations(size_t line, const char *dtype)
{
	uint8_t record[RECORD];
	size_t op = 1 + offsetof(struct trn_instruction, op);

	add_record(record, line, dtype);
	if (!record[op])
		return;
	for (uint8_t n = 0; n <= TRN_ALU_REVERSE_DIVIDE; n++) {
		record[op] = n;
		write_seed("core", "\3", 1, record, RECORD);
	}
}

/* What loads SBUF, one line that loads the stationary, one that uses it. */
static void write_products(const char *dtype)
{
	uint8_t records[3 * RECORD];
	size_t load, first, second;

	for (load = 0; lines[load].engine != TRN_ENGINE_TENSOR; load++)
		continue;
	add_record(records, load, dtype);
	for (first = load + 1; lines[first].engine == TRN_ENGINE_TENSOR; first++) {
		for (second = load + 1; lines[second].engine == TRN_ENGINE_TENSOR; second++) {
			add_record(records + RECORD, first, dtype);
			add_record(records + 2 * RECORD, second, dtype);
			if (strncmp(lines[first].line, "load_s", 6) == 0 &&
			    strncmp(lines[second].line, "matmul", 6) == 0)
				write_seed("core", "\3", 1, records, sizeof(records));
		}
	}
}

static void write_core_seeds(void)
{
	uint8_t record[RECORD];
	const char *dtype;
	size_t line;

	for (uint32_t n = 0; (dtype = trn_neff_dtype_name(n)); n++) {
		for (line = 0; line < LINES; line++) {
			add_record(record, line, dtype);
			write_line(record);
		}
		write_products(dtype);
	}
	for (line = 0; line < LINES; line++) {
		write_operations(line, "fp32");
		write_operations(line, "int32");
	}
}

static void write_text(const char *text, size_t size)
{
	void *file;
	uint64_t file_size;

	write_seed("assembler", "", 0, text, size);
	if (neff_assemble_text("a seed", text, size, &file, &file_size))
		die("%s", trn_error_message());
	write_seed("neff", "f", 1, file, file_size);
	free(file);
}

/* Of each engine and type one text, and its file. */
static void write_texts(void)
{
	char text[16384], line_text[512];
	const char *dtype;

	write_text(head, sizeof(head) - 1);
	write_text(".core", 5);
	for (uint32_t n = 0; (dtype = trn_neff_dtype_name(n)); n++) {
		for (unsigned int engine = 0; engine < TRN_ENGINES; engine++) {
			size_t size = (size_t)snprintf(text, sizeof(text), "%s.engine %s\n", head,
						       engines[engine]);

			for (size_t line = 0; line < LINES; line++) {
				if (lines[line].engine != engine)
					continue;
				fill_in(line_text, sizeof(line_text), line, dtype);
				size += (size_t)snprintf(text + size, sizeof(text) - size, "%s\n",
							 line_text);
			}
			if (engine != TRN_ENGINE_SCALAR)
				size += (size_t)snprintf(text + size, sizeof(text) - size, "%s",
							 tail);
			write_text(text, size);
		}
	}
}

/* Members for the reader's target: a name, its size, its bytes. */
static size_t add_member(uint8_t *to, const char *name, const void *data, size_t size)
{
	size_t length = strlen(name);

	memcpy(to, name, length);
	to[length] = '\n';
	to[length + 1] = (uint8_t)size;
	to[length + 2] = (uint8_t)(size >> 8);
	memcpy(to + length + 3, data, size);
	return length + 3 + size;
}

static void write_members(void)
{
	static const char definition[] =
		"{\"dma_queue\":{\"in\":{\"ring\":0,\"type\":\"in\"}},\"isa\":\"trn-isa-1\","
		"\"var\":{"
		"\"w\":{\"alignment\":4,\"binding\":0,\"dtype\":\"fp32\",\"file_name\":\"000.npy\","
		"\"shape\":[2],\"size\":8,\"type\":\"file\",\"var_id\":11},"
		"\"x\":{\"alignment\":64,\"binding\":1,\"dtype\":\"bf16\",\"shape\":[2,3],"
		"\"size\":12,\"type\":\"input\",\"var_id\":10}}}";
	static const char engine[] =
		"{\"engine\":\"sync\",\"instructions\":1,\"isa\":\"trn-isa-1\"}";
	static const char array[] =
		"\x93NUMPY\x01\x00\x36\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"
		"\n\x00\x00\x80\x3f\x00\x00\x00\xc0";
	const uint8_t halt[64] = { TRN_OP_HALT };
	uint8_t members[4096] = { 1 };
	size_t size = 1;

	size += add_member(members + size, "sg00/def.json", definition, sizeof(definition) - 1);
	write_seed("neff", "m", 1, members, size);
	size += add_member(members + size, "sg00/sync.json", engine, sizeof(engine) - 1);
	size += add_member(members + size, "sg00/sync.bin", halt, sizeof(halt));
	size += add_member(members + size, "sg00/000.npy", array, sizeof(array) - 1);
	write_seed("neff", "m", 1, members, size);
}

int main(int argc, char **argv)
{
	if (argc != 2 || argv[1][0] == '-') {
		fputs("seeds: expected the directory to write to: seeds DIRECTORY\n", stderr);
		return 2;
	}
	directory = argv[1];
	make_directory("neff");
	make_directory("assembler");
	make_directory("core");
	write_core_seeds();
	write_texts();
	write_members();
	return 0;
}
