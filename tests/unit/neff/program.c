/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_regs.h>
#include <trn/trn.h>

#include "meter.h"
#include "program.h"

#define ALLOWANCE (64 << 20)

static const uint8_t vector_stream[2 * 64] = { 0x20, [64] = 0x01 };
static const uint8_t sync_stream[64] = { 0x01 };
static const uint8_t weights[8] = { 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0 }; /* 1, -2 */

static const struct trn_neff_variable variables[] = {
	{ "x", 10, TRN_NEFF_INPUT, TRN_DTYPE_BF16, 2, { 2, 3 }, 12, 64, NULL },
	{ "w", 11, TRN_NEFF_FILE, TRN_DTYPE_FP32, 1, { 2 }, 8, 4, weights },
	{ "y/\xc3\xa4:0", 7, TRN_NEFF_OUTPUT, TRN_DTYPE_FP4, 2, { 3, 4 }, 6, 1, NULL },
	{ "count", 0, TRN_NEFF_STATE_BUFFER, TRN_DTYPE_INT32, 0, { 0 }, 4, 4, NULL },
	{ "t",
	  UINT32_MAX,
	  TRN_NEFF_TMP_BUF,
	  TRN_DTYPE_INT8,
	  1,
	  { 10000000000 },
	  10000000000,
	  1 << 21,
	  NULL },
};

static const struct trn_neff_queue queues[] = {
	{ "in", 0, TRN_NEFF_IN },
	{ "all", 15, TRN_NEFF_DATA },
};

static const struct trn_neff_core core = {
	.streams = { [1] = { vector_stream, 2 }, [4] = { sync_stream, 1 } },
	.variables = variables,
	.queues = queues,
	.num_variables = 5,
	.num_queues = 2,
};

const struct trn_neff program = {
	.name = "a program",
	.build_version = "by hand",
	.cores = &core,
	.num_cores = 1,
};

static const char definition[] =
	"{\"dma_queue\":{\"all\":{\"ring\":15,\"type\":\"data\"},\"in\":{\"ring\":0,\"type\":"
	"\"in\"}},"
	"\"isa\":\"trn-isa-1\",\"var\":{"
	"\"count\":{\"alignment\":4,\"binding\":3,\"dtype\":\"int32\",\"shape\":[],\"size\":4,"
	"\"type\":\"state-buffer\",\"var_id\":0},"
	"\"t\":{\"alignment\":2097152,\"binding\":4,\"dtype\":\"int8\",\"shape\":[10000000000],"
	"\"size\":10000000000,\"type\":\"tmp-buf\",\"var_id\":4294967295},"
	"\"w\":{\"alignment\":4,\"binding\":1,\"dtype\":\"fp32\",\"file_name\":\"001.npy\","
	"\"shape\":[2],\"size\":8,\"type\":\"file\",\"var_id\":11},"
	"\"x\":{\"alignment\":64,\"binding\":0,\"dtype\":\"bf16\",\"shape\":[2,3],\"size\":12,"
	"\"type\":\"input\",\"var_id\":10},"
	"\"y/"
	"\xc3\xa4:0\":{\"alignment\":1,\"binding\":2,\"dtype\":\"fp4\",\"shape\":[3,4],\"size\":6,"
	"\"type\":\"output\",\"var_id\":7}}}\n";
static const char vector[] = "{\"engine\":\"vector\",\"instructions\":2,\"isa\":\"trn-isa-1\"}\n";
static const char sync_engine[] =
	"{\"engine\":\"sync\",\"instructions\":1,\"isa\":\"trn-isa-1\"}\n";

/* 128 bytes before the elements: 2 × 64. */
static const char constant[] =
	"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
	"                                                            "
	"\n\x00\x00\x80\x3f\x00\x00\x00\xc0";

const struct program_member program_members[PROGRAM_MEMBERS] = {
	{ "sg00/def.json", definition, sizeof(definition) - 1 },
	{ "sg00/vector.json", vector, sizeof(vector) - 1 },
	{ "sg00/vector.bin", vector_stream, sizeof(vector_stream) },
	{ "sg00/sync.json", sync_engine, sizeof(sync_engine) - 1 },
	{ "sg00/sync.bin", sync_stream, sizeof(sync_stream) },
	{ "sg00/001.npy", constant, sizeof(constant) - 1 },
};

void program_craft(struct craft_file *file, const char *replaced, const void *data, size_t size)
{
	int i;

	craft_begin(file, 1);
	strcpy((char *)file->bytes + CRAFT_BUILD_VERSION, program.build_version);
	strcpy((char *)file->bytes + CRAFT_NAME, program.name);
	for (i = 0; i < PROGRAM_MEMBERS; i++) {
		const struct program_member *member = &program_members[i];

		if (!replaced || strcmp(member->name, replaced))
			craft_add(file, member->name, member->data, member->size);
		else if (data)
			craft_add(file, replaced, data, size);
	}
	craft_end(file);
}

void assert_refused(const struct craft_file *file, int error, const char *name, const char *text)
{
	const struct trn_neff *neff = NULL;
	const char *message;
	long in_use;
	size_t peak;
	int result;

	meter_start();
	result = trn_neff_parse("bad.neff", file->bytes, file->size, &neff);
	peak = meter_peak();
	in_use = meter_in_use();
	message = trn_error_message();
	ck_assert_msg(result == error, "%s: %d, not %d: %s", text, result, error, message);
	ck_assert_ptr_null(neff);
	ck_assert_msg(!strncmp(message, "bad.neff: ", 10), "%s", message);
	ck_assert_msg(strstr(message, name) != NULL, "\"%s\" lacks %s", message, name);
	ck_assert_msg(strstr(message, text) != NULL, "\"%s\" lacks \"%s\"", message, text);
	ck_assert_msg(peak <= ALLOWANCE, "%s: %zu bytes at once", message, peak);
	/* What libraries keep for the next time. */
	ck_assert_msg(in_use < 1 << 20, "%s: %ld bytes not freed", message, in_use);
}

void assert_definition_refused(const char *text_of_definition, int error, const char *name,
			       const char *text)
{
	struct craft_file file;

	program_craft(&file, "sg00/def.json", text_of_definition, strlen(text_of_definition));
	assert_refused(&file, error, name, text);
	craft_free(&file);
}
