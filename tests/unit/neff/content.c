/* SPDX-License-Identifier: MIT */
/* Everything that can be wrong with JSON, streams and constants; and with programs to write. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_regs.h>
#include <trn/trn.h>

#include "program.h"
#include "suites.h"

/* A definition whose one variable is @variable, without a constant in the file. */
#define VARIABLE(variable) "{\"isa\":\"trn-isa-1\",\"dma_queue\":{},\"var\":{\"x\":{" variable "}}}"
#define REST		   ",\"alignment\":1,\"size\":1,\"var_id\":1,\"binding\":0"
#define QUEUE(queues)	   "{\"isa\":\"trn-isa-1\",\"var\":{},\"dma_queue\":{" queues "}}"
#define TWO(first, second)                                                                         \
	"{\"isa\":\"trn-isa-1\",\"dma_queue\":{},\"var\":{"                                        \
	"\"a\":{\"type\":\"input\",\"dtype\":\"int8\",\"shape\":[],\"alignment\":1,\"size\":"      \
	"1," first "},\"b\":{\"type\":\"input\",\"dtype\":\"int8\",\"shape\":[],\"alignment\":1,"  \
	"\"size\":1," second "}}}"
#define INT8	 "\"type\":\"input\",\"dtype\":\"int8\",\"binding\":0"
#define SHAPE(s) INT8 ",\"var_id\":1,\"alignment\":1,\"size\":1,\"shape\":" s

static const struct {
	const char *text;
	int error;
	const char *name;
	const char *message;
} definitions[] = {
	{ "", -EBADMSG, "JSON", "line 1" },
	{ "{", -EBADMSG, "JSON", "line 1, column 1" },
	{ "{}x", -EBADMSG, "JSON", "line 1, column 3" },
	{ "\n\n {\"isa\" 1}", -EBADMSG, "JSON", "line 3" },
	{ "[]", -EBADMSG, "FIELD", "must be an object" },
	{ "7", -EBADMSG, "", "" },
	{ "{\"isa\":\"trn-isa-1\",\"isa\":\"trn-isa-1\"}", -EBADMSG, "JSON", "uplicate" },
	{ "{\"isa\":\"\xff\"}", -EBADMSG, "JSON", "byte 0xff" },
	{ "{\"isa\":\"\\u0000\"}", -EBADMSG, "JSON", "" },
	{ "{}", -EBADMSG, "MISSING", "\"isa\"" },
	{ "{\"isa\":1}", -EBADMSG, "FIELD", "\"isa\" must be a string" },
	{ "{\"isa\":\"other-9\"}", -EOPNOTSUPP, "ISA", "other-9" },
	{ "{\"isa\":\"trn-isa-1\"}", -EBADMSG, "MISSING", "\"var\"" },
	{ "{\"isa\":\"trn-isa-1\",\"var\":{}}", -EBADMSG, "MISSING", "\"dma_queue\"" },
	{ "{\"isa\":\"trn-isa-1\",\"new\":1}", -EBADMSG, "FIELD", "no key \"new\"" },
	{ "{\"isa\":\"trn-isa-1\",\"var\":[]}", -EBADMSG, "FIELD", "\"var\" must be an object" },
	{ "{\"isa\":\"trn-isa-1\",\"var\":{\"x\":1}}", -EBADMSG, "FIELD", "x must be an object" },
	{ VARIABLE(""), -EBADMSG, "MISSING", "x: key \"binding\"" },
	{ VARIABLE("\"binding\":1"), -EBADMSG, "FIELD", "\"binding\" is 1, must be 0 to 0" },
	{ VARIABLE("\"binding\":-1"), -EBADMSG, "FIELD", "\"binding\" is -1" },
	{ VARIABLE("\"binding\":0.5"), -EBADMSG, "FIELD", "\"binding\" must be an integer" },
	{ VARIABLE("\"binding\":1e999"), -EBADMSG, "JSON", "overflow" },
	{ VARIABLE("\"binding\":99999999999999999999"), -EBADMSG, "JSON", "too big" },
	{ VARIABLE("\"binding\":\"0\""), -EBADMSG, "FIELD", "must be an integer" },
	{ VARIABLE("\"binding\":null"), -EBADMSG, "FIELD", "must be an integer" },
	{ VARIABLE("\"colour\":0"), -EBADMSG, "FIELD", "x: there is no key \"colour\"" },
	{ VARIABLE("\"type\":\"virtual\"" REST), -EOPNOTSUPP, "KIND", "\"virtual\"" },
	{ VARIABLE("\"type\":7" REST), -EBADMSG, "FIELD", "\"type\" must be a string" },
	{ VARIABLE("\"type\":\"input\"" REST), -EBADMSG, "MISSING", "\"dtype\"" },
	{ VARIABLE("\"type\":\"input\",\"dtype\":\"fp64\"" REST), -EOPNOTSUPP, "DTYPE",
	  "\"fp64\"" },
	{ VARIABLE("\"type\":\"input\",\"dtype\":\"\x7f\"" REST), -EOPNOTSUPP, "DTYPE", "\"?\"" },
	{ VARIABLE("\"type\":\"input\",\"file_name\":\"000.npy\"" REST), -EBADMSG, "FIELD",
	  "\"file_name\" is for" },
	{ VARIABLE("\"type\":\"file\"" REST), -EBADMSG, "MISSING", "\"file_name\"" },
	{ VARIABLE("\"type\":\"file\",\"file_name\":\"../../etc/passwd\"" REST), -EBADMSG, "FIELD",
	  "must be \"000.npy\"" },
	{ VARIABLE(INT8), -EBADMSG, "MISSING", "\"shape\"" },
	{ VARIABLE(SHAPE("1")), -EBADMSG, "FIELD", "\"shape\" must be an array" },
	{ VARIABLE(SHAPE("[0]")), -EBADMSG, "FIELD", "dimension 0" },
	{ VARIABLE(SHAPE("[1,-1]")), -EBADMSG, "FIELD", "dimension 1" },
	{ VARIABLE(SHAPE("[1,\"1\"]")), -EBADMSG, "FIELD", "dimension 1" },
	{ VARIABLE(SHAPE("[1099511627777]")), -EBADMSG, "FIELD", "1099511627777" },
	{ VARIABLE(SHAPE("[1,1,1,1,1,1,1,1,1]")), -EFBIG, "LIMIT", "9 dimensions" },
	{ VARIABLE(SHAPE("[1099511627776,2]")), -EFBIG, "LIMIT", "split" },
	{ VARIABLE(SHAPE("[1099511627776,1099511627776,1099511627776]")), -EFBIG, "LIMIT",
	  "split" },
	/* 2^64 elements, and one. */
	{ VARIABLE(SHAPE("[65536,65536,65536,65536]")), -EFBIG, "LIMIT", "split" },
	{ VARIABLE(SHAPE("[2]")), -EBADMSG, "SIZE", "\"size\" is 1, the shape makes 2 bytes" },
	{ VARIABLE(INT8 ",\"shape\":[],\"var_id\":4294967296,\"size\":1,\"alignment\":1"), -EBADMSG,
	  "FIELD", "\"var_id\" is 4294967296" },
	{ VARIABLE(INT8 ",\"shape\":[],\"var_id\":0,\"size\":0,\"alignment\":1"), -EBADMSG, "FIELD",
	  "\"size\" is 0" },
	{ VARIABLE(INT8 ",\"shape\":[],\"var_id\":0,\"size\":1099511627777,\"alignment\":1"),
	  -EBADMSG, "FIELD", "\"size\" is 1099511627777" },
	{ VARIABLE(INT8 ",\"shape\":[],\"var_id\":0,\"size\":1,\"alignment\":3"), -EBADMSG, "FIELD",
	  "power of two" },
	{ VARIABLE(INT8 ",\"shape\":[],\"var_id\":0,\"size\":1,\"alignment\":4194304"), -EBADMSG,
	  "FIELD", "\"alignment\" is 4194304" },
	{ VARIABLE("\"type\":\"input\",\"dtype\":\"fp4\",\"shape\":[]" REST), -EBADMSG, "FIELD",
	  "even" },
	{ VARIABLE("\"type\":\"input\",\"dtype\":\"fp4\",\"shape\":[2,3]" REST), -EBADMSG, "FIELD",
	  "even" },
	{ TWO("\"binding\":0,\"var_id\":0", "\"binding\":0,\"var_id\":1"), -EBADMSG, "BINDING",
	  "b: \"binding\" 0 is that of a too" },
	{ TWO("\"binding\":0,\"var_id\":5", "\"binding\":1,\"var_id\":5"), -EBADMSG, "BINDING",
	  "\"var_id\" 5" },
	{ "{\"isa\":\"trn-isa-1\",\"dma_queue\":{},\"var\":{\"\":{" SHAPE("[]") "}}}", -EBADMSG,
	  "FIELD", "a name has 1 to 255" },
	{ "{\"isa\":\"trn-isa-1\",\"dma_queue\":{},\"var\":{\"a\\u001b\":{" SHAPE("[]") "}}}",
	  -EBADMSG, "FIELD", "a name has 1 to 255" },
	{ QUEUE("\"q\":{}"), -EBADMSG, "MISSING", "q: key \"ring\"" },
	{ QUEUE("\"q\":{\"ring\":16,\"type\":\"in\"}"), -EBADMSG, "FIELD", "\"ring\" is 16" },
	{ QUEUE("\"q\":{\"ring\":1,\"type\":\"dynamic\"}"), -EOPNOTSUPP, "KIND", "\"dynamic\"" },
	{ QUEUE("\"q\":{\"ring\":1,\"type\":\"in\",\"owner\":1}"), -EBADMSG, "FIELD", "\"owner\"" },
	{ QUEUE("\"q\":{\"ring\":1,\"type\":\"in\"},\"r\":{\"ring\":1,\"type\":\"in\"}"), -EBADMSG,
	  "BINDING", "\"ring\" 1" },
	/* Good, but the file has a constant. */
	{ VARIABLE(SHAPE("[1,1]")), -EBADMSG, "UNUSED", "001.npy" },
};

START_TEST(definition)
{
	assert_definition_refused(definitions[_i].text, definitions[_i].error, definitions[_i].name,
				  definitions[_i].message);
}
END_TEST

/* @unit, @count times, between @begin and @end. */
static char *repeat(const char *begin, const char *unit, size_t count, const char *end)
{
	size_t length = strlen(unit), i;
	char *text = malloc(strlen(begin) + length * count + strlen(end) + 1), *next = text;

	next = stpcpy(next, begin);
	for (i = 0; i < count; i++, next += length)
		memcpy(next, unit, length);
	strcpy(next, end);
	return text;
}

static void assert_bomb(const char *begin, const char *unit, size_t count, const char *end,
			int error, const char *name, const char *text)
{
	char *bomb = repeat(begin, unit, count, end);

	assert_definition_refused(bomb, error, name, text);
	free(bomb);
}

#define LARGEST (256 * 1024)

START_TEST(bombs)
{
	assert_bomb("", "[", 9, "", -EBADMSG, "JSON", "nested more than 8 deep");
	assert_bomb("", "{\"a\":", 100000 / 5, "", -EBADMSG, "JSON", "nested");
	assert_bomb("", "[", LARGEST, "", -EBADMSG, "JSON", "nested");
	assert_bomb("", "[", LARGEST + 1, "", -EFBIG, "LIMIT", "262145 bytes, at most 262144");
	assert_bomb("", " ", 20 << 20, "{}", -EFBIG, "LIMIT", "bytes, at most");
	/* Brackets in strings are no depth. */
	assert_bomb("{\"isa\":\"\\\"", "[{", 1000, "\"}", -EOPNOTSUPP, "ISA", "[{[{");
	/* Huge numbers and strings. */
	assert_bomb("{\"isa\":", "9", LARGEST - 20, "}", -EBADMSG, "JSON", "too big");
	assert_bomb("{\"isa\":0.", "9", LARGEST - 20, "}", -EBADMSG, "FIELD", "string");
	assert_bomb("{\"isa\":\"", "x", LARGEST - 20, "\"}", -EOPNOTSUPP, "ISA", "xxx");
	assert_bomb("{\"", "x", LARGEST - 20, "\":1,\"isa\":\"trn-isa-1\"}", -EFBIG, "LIMIT", "");
	assert_bomb("{\"", "x", LARGEST - 40, "\":1,\"isa\":\"trn-isa-1\"}", -EBADMSG, "FIELD",
		    "no key \"xxx");
	/* What takes the most memory of a text. */
	assert_bomb("{\"isa\":[", "{},", LARGEST / 3 - 20, "1]}", -EBADMSG, "FIELD", "string");
	assert_bomb("{\"isa\":[", "[],", LARGEST / 3 - 20, "1]}", -EBADMSG, "FIELD", "string");
	assert_bomb("{\"isa\":[", "0,", LARGEST / 2 - 20, "1]}", -EBADMSG, "FIELD", "string");
	assert_bomb("{\"isa\":[", "\"\",", LARGEST / 3 - 20, "1]}", -EBADMSG, "FIELD", "string");
}
END_TEST

START_TEST(too_many)
{
	char *text = malloc(1 << 16), *next;
	int i;

	next = stpcpy(text, "{\"isa\":\"trn-isa-1\",\"dma_queue\":{},\"var\":{\"v\":0");
	for (i = 0; i < 256; i++)
		next += sprintf(next, ",\"v%d\":{}", i);
	strcpy(next, "}}");
	assert_definition_refused(text, -EFBIG, "LIMIT", "257 keys, at most 256");
	next = stpcpy(text, "{\"isa\":\"trn-isa-1\",\"var\":{},\"dma_queue\":{\"q\":0");
	for (i = 0; i < 16; i++)
		next += sprintf(next, ",\"q%d\":{}", i);
	strcpy(next, "}}");
	assert_definition_refused(text, -EFBIG, "LIMIT", "17 keys, at most 16");
	free(text);
}
END_TEST

static void assert_member_refused(const char *member, const void *data, size_t size, int error,
				  const char *name, const char *text)
{
	struct craft_file file;

	program_craft(&file, member, data, size);
	assert_refused(&file, error, name, text);
	craft_free(&file);
}

#define ENGINE(text, error, name, message)                                                         \
	assert_member_refused("sg00/vector.json", text, strlen(text), error, name, message)

START_TEST(streams)
{
	static const char stream[192];

	assert_member_refused("sg00/def.json", NULL, 0, -EBADMSG, "MISSING", "sg00/def.json");
	assert_member_refused("sg00/vector.json", NULL, 0, -EBADMSG, "MISSING", "vector.json");
	assert_member_refused("sg00/vector.bin", NULL, 0, -EBADMSG, "MISSING", "vector.bin");
	assert_member_refused("sg00/vector.bin", stream, 0, -EBADMSG, "SIZE", "0 bytes, not 128");
	assert_member_refused("sg00/vector.bin", stream, 64, -EBADMSG, "SIZE", "64 bytes, not 128");
	assert_member_refused("sg00/vector.bin", stream, 127, -EBADMSG, "SIZE", "127 bytes");
	assert_member_refused("sg00/vector.bin", stream, 192, -EBADMSG, "SIZE", "192 bytes");
	ENGINE("", -EBADMSG, "JSON", "sg00/vector.json");
	ENGINE("{}", -EBADMSG, "MISSING", "\"isa\"");
	ENGINE("{\"isa\":\"trn-isa-2\"}", -EOPNOTSUPP, "ISA", "trn-isa-2");
	ENGINE("{\"isa\":\"trn-isa-1\"}", -EBADMSG, "MISSING", "\"engine\"");
	ENGINE("{\"isa\":\"trn-isa-1\",\"engine\":\"sync\"}", -EBADMSG, "FIELD", "\"vector\"");
	ENGINE("{\"isa\":\"trn-isa-1\",\"engine\":\"vector\",\"instructions\":0}", -EBADMSG,
	       "FIELD", "\"instructions\" is 0");
	ENGINE("{\"isa\":\"trn-isa-1\",\"engine\":\"vector\",\"instructions\":16777217}", -EBADMSG,
	       "FIELD", "1 to 16777216");
	ENGINE("{\"isa\":\"trn-isa-1\",\"engine\":\"vector\",\"instructions\":16777216}", -EBADMSG,
	       "SIZE", "not 1073741824");
	ENGINE("{\"isa\":\"trn-isa-1\",\"engine\":\"vector\",\"dma\":[]}", -EBADMSG, "FIELD",
	       "\"dma\"");
}
END_TEST

/* A .npy file with this dictionary and elements. */
static size_t make_npy(char *file, const char *dictionary, size_t elements)
{
	size_t length = strlen(dictionary);

	memcpy(file, "\x93NUMPY\x01\x00", 8);
	file[8] = length & 0xff;
	file[9] = length >> 8;
	memcpy(file + 10, dictionary, length);
	memset(file + 10 + length, 1, elements);
	return 10 + length + elements;
}

START_TEST(good_constants)
{
	static const char *const good[] = {
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
		"{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}",
		" { 'shape' : ( 2 , ) , 'descr' : '<f4' , 'fortran_order' : False } \n",
	};
	const struct trn_neff *neff;
	struct craft_file file;
	char npy[256];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		program_craft(&file, "sg00/001.npy", npy, make_npy(npy, good[i], 8));
		ck_assert_msg(!trn_neff_parse("good", file.bytes, file.size, &neff), "%s",
			      trn_error_message());
		ck_assert_int_eq(*(const char *)neff->cores[0].variables[1].data, 1);
		trn_neff_close(neff);
		craft_free(&file);
	}
}
END_TEST

START_TEST(constants)
{
	static const struct {
		const char *dictionary;
		size_t elements;
		const char *name;
		const char *text;
	} cases[] = {
		{ "", 8, "NPY", "header must have" },
		{ "{}", 8, "NPY", "header must have" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", 8, "NPY",
		  "header" },
		{ "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8, "NPY",
		  "C-ordered" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 8, "NPY", "header" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2,,), }", 8, "NPY",
		  "header" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (,), }", 8, "NPY", "header" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", 8, "NPY",
		  "header" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, "NPY",
		  "header" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8, "NPY", "header" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551618,)}", 8,
		  "NPY", "header" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}", 8,
		  "NPY", "at most 8 dimensions" },
		{ "{'descr': '<f4', 'fortran_order': False}", 8, "NPY", "header" },
		{ "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8,
		  "NPY", "header" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", 8, "NPY",
		  "nothing else" },
		{ "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", 8, "NPY", "header" },
		{ "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8, "NPY",
		  "header" },
		{ "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", 8, "NPY", "header" },
		{ "{'descr': '<f8888888888888888', 'fortran_order': False, 'shape': (2,)}", 8,
		  "NPY", "header" },
		{ "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8, "NPY",
		  "must be '<f4', but it is '>f4'" },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 8, "NPY", "'<f8'" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 8, "NPY",
		  "1 dimensions, but the array in the file 0" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}", 8, "NPY", "file 2" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 8, "NPY",
		  "dimension 0 must be 2, but in the file it is 3" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7, "SIZE",
		  "but 7 follow" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9, "SIZE",
		  "but 9 follow" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 0, "SIZE",
		  "but 0 follow" },
	};
	size_t i, size;
	char npy[256];

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size = make_npy(npy, cases[i].dictionary, cases[i].elements);
		assert_member_refused("sg00/001.npy", npy, size, -EBADMSG, cases[i].name,
				      cases[i].text);
	}
	assert_member_refused("sg00/001.npy", NULL, 0, -EBADMSG, "MISSING", "\"w\"");
	/* Every length of what is good. */
	size = make_npy(npy, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
	while (size--)
		assert_member_refused("sg00/001.npy", npy, size, -EBADMSG, "", "sg00/001.npy");
	size = make_npy(npy, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
	npy[6] = 2;
	assert_member_refused("sg00/001.npy", npy, size, -EBADMSG, "NPY", "version 1.0");
	npy[6] = 1;
	npy[9] = (char)0xff;
	assert_member_refused("sg00/001.npy", npy, size, -EBADMSG, "NPY", "within its header");
}
END_TEST

/* A constant of every type is read as it was written. */
START_TEST(all_dtypes)
{
	uint64_t size, size_again;
	static const uint8_t data[4 * 2 * 6];
	static const uint32_t bytes_of_12[] = { 48, 24, 24, 12, 12, 12, 24, 48, 12, 6 };
	struct trn_neff_variable variables[10];
	struct trn_neff_core core = { .variables = variables, .num_variables = 10 };
	struct trn_neff neff = { .name = "", .build_version = "", .cores = &core, .num_cores = 1 };
	const struct trn_neff *read;
	void *bytes, *again;
	char names[10][8];
	uint32_t i;

	for (i = 0; i < 10; i++) {
		snprintf(names[i], sizeof(names[i]), "v%u", i);
		variables[i] = (struct trn_neff_variable){ names[i], i,	       TRN_NEFF_FILE,  i,
							   2,	     { 2, 6 }, bytes_of_12[i], 64,
							   data };
		ck_assert_ptr_nonnull(trn_neff_dtype_name(i));
	}
	ck_assert_ptr_null(trn_neff_dtype_name(10));
	ck_assert_str_eq(trn_neff_dtype_name(TRN_DTYPE_FP4), "fp4");
	ck_assert_str_eq(trn_neff_kind_name(TRN_NEFF_TMP_BUF), "tmp-buf");
	ck_assert_ptr_null(trn_neff_kind_name(TRN_NEFF_TMP_BUF + 1));
	ck_assert_int_eq(trn_neff_write(&neff, &bytes, &size), 0);
	ck_assert_msg(!trn_neff_parse("all", bytes, size, &read), "%s", trn_error_message());
	for (i = 0; i < 10; i++)
		ck_assert_mem_eq(read->cores[0].variables[i].data, data, bytes_of_12[i]);
	ck_assert_int_eq(trn_neff_write(read, &again, &size_again), 0);
	ck_assert_uint_eq(size, size_again);
	ck_assert_mem_eq(bytes, again, size);
	trn_neff_close(read);
	free(bytes);
	free(again);
}
END_TEST

static void assert_error(const struct trn_neff *neff, int error, const char *text)
{
	uint64_t size;
	void *bytes;

	ck_assert_int_eq(trn_neff_write(neff, &bytes, &size), error);
	ck_assert_msg(strstr(trn_error_message(), text) != NULL, "\"%s\" lacks \"%s\"",
		      trn_error_message(), text);
}

static void assert_not_written(const struct trn_neff *neff, const char *text)
{
	assert_error(neff, -EINVAL, text);
}

static void assert_over_limit(const struct trn_neff *neff, const char *text)
{
	assert_error(neff, -EFBIG, text);
}

START_TEST(bad_programs)
{
	struct trn_neff_variable variables[2] = {
		{ "a", 1, TRN_NEFF_INPUT, TRN_DTYPE_INT8, 0, { 0 }, 1, 1, NULL },
		{ "b", 2, TRN_NEFF_INPUT, TRN_DTYPE_INT8, 0, { 0 }, 1, 1, NULL },
	};
	struct trn_neff_queue queues[2] = { { "q", 1, TRN_NEFF_IN }, { "r", 2, TRN_NEFF_IN } };
	struct trn_neff_core core = {
		.variables = variables, .num_variables = 2, .queues = queues, .num_queues = 2
	};
	struct trn_neff neff = { .name = "", .build_version = "", .cores = &core, .num_cores = 1 };
	char long_name[257];
	uint64_t size;
	void *bytes;

	ck_assert_int_eq(trn_neff_write(&neff, &bytes, &size), 0);
	free(bytes);
	memset(long_name, 'a', 256);
	long_name[256] = 0;
	neff.name = long_name;
	assert_not_written(&neff, "name must be at most 255");
	neff.name = NULL;
	assert_not_written(&neff, "name must be");
	neff.name = "";
	neff.num_cores = 0;
	assert_not_written(&neff, "num_cores is 0");
	neff.num_cores = 65;
	assert_not_written(&neff, "num_cores is 65");
	neff.num_cores = 1;
	variables[1].name = "a";
	assert_not_written(&neff, "DUPLICATE");
	variables[1].name = long_name;
	assert_not_written(&neff, "1 to 255 bytes");
	variables[1].name = NULL;
	assert_not_written(&neff, "1 to 255 bytes");
	variables[1].name = "b";
	variables[1].id = 1;
	assert_not_written(&neff, "\"var_id\" 1");
	variables[1].id = 2;
	variables[1].kind = TRN_NEFF_FILE;
	assert_not_written(&neff, "but it is NULL");
	variables[1].kind = 17;
	assert_not_written(&neff, "kind 17");
	variables[1].kind = TRN_NEFF_INPUT;
	variables[1].dtype = 10;
	assert_not_written(&neff, "data type 10");
	variables[1].dtype = TRN_DTYPE_INT8;
	variables[1].dimensions = 9;
	assert_over_limit(&neff, "9 dimensions");
	variables[1].dimensions = 0;
	variables[1].alignment = 0;
	assert_not_written(&neff, "\"alignment\" is 0");
	variables[1].alignment = 1;
	core.num_variables = 257;
	assert_over_limit(&neff, "257 variables");
	core.num_variables = 2;
	core.num_queues = 17;
	assert_over_limit(&neff, "17 queues");
	core.num_queues = 2;
	queues[1].ring = 1;
	assert_not_written(&neff, "\"ring\" 1");
	queues[1].ring = 16;
	assert_not_written(&neff, "\"ring\" is 16");
	queues[1].ring = 2;
	queues[1].name = "q";
	assert_not_written(&neff, "DUPLICATE");
	queues[1].name = "r";
	queues[1].direction = 3;
	assert_not_written(&neff, "direction 3");
	queues[1].direction = TRN_NEFF_OUT;
	core.streams[2].count = 1;
	assert_not_written(&neff, "scalar has 1 instructions at NULL");
	core.streams[2].instructions = "";
	core.streams[2].count = TRN_NEFF_INSTRUCTIONS_MAX + 1;
	assert_not_written(&neff, "at most 16777216");
}
END_TEST

TCase *neff_content_cases(void)
{
	TCase *cases = tcase_create("content");

	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, definition, 0, sizeof(definitions) / sizeof(definitions[0]));
	tcase_add_test(cases, bombs);
	tcase_add_test(cases, too_many);
	tcase_add_test(cases, streams);
	tcase_add_test(cases, good_constants);
	tcase_add_test(cases, constants);
	tcase_add_test(cases, all_dtypes);
	tcase_add_test(cases, bad_programs);
	return cases;
}
