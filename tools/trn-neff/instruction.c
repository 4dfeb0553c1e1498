/* SPDX-License-Identifier: MIT */
#include "instruction.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <trn/trn_neff.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- names ------------------------------------------------------------------- */

static const char *const alu_names[] = {
	[TRN_ALU_BYPASS] = "bypass",
	[TRN_ALU_ADD] = "add",
	[TRN_ALU_SUBTRACT] = "subtract",
	[TRN_ALU_MULTIPLY] = "multiply",
	[TRN_ALU_DIVIDE] = "divide",
	[TRN_ALU_MAX] = "max",
	[TRN_ALU_MIN] = "min",
	[TRN_ALU_ABS_MAX] = "abs_max",
	[TRN_ALU_EQUAL] = "equal",
	[TRN_ALU_NOT_EQUAL] = "not_equal",
	[TRN_ALU_LESS] = "less",
	[TRN_ALU_LESS_EQUAL] = "less_equal",
	[TRN_ALU_GREATER] = "greater",
	[TRN_ALU_GREATER_EQUAL] = "greater_equal",
	[TRN_ALU_AND] = "and",
	[TRN_ALU_OR] = "or",
	[TRN_ALU_XOR] = "xor",
	[TRN_ALU_SHIFT_LEFT] = "shift_left",
	[TRN_ALU_SHIFT_RIGHT] = "shift_right",
	[TRN_ALU_REVERSE_SUBTRACT] = "reverse_subtract",
	[TRN_ALU_REVERSE_DIVIDE] = "reverse_divide",
};

static const char *const function_names[] = {
	[TRN_FUNCTION_IDENTITY] = "identity", [TRN_FUNCTION_RELU] = "relu",
	[TRN_FUNCTION_SQUARE] = "square",     [TRN_FUNCTION_SQRT] = "sqrt",
	[TRN_FUNCTION_RSQRT] = "rsqrt",	      [TRN_FUNCTION_RECIPROCAL] = "reciprocal",
	[TRN_FUNCTION_EXP] = "exp",	      [TRN_FUNCTION_LOG] = "log",
	[TRN_FUNCTION_SIGMOID] = "sigmoid",   [TRN_FUNCTION_SILU] = "silu",
	[TRN_FUNCTION_TANH] = "tanh",	      [TRN_FUNCTION_ERF] = "erf",
	[TRN_FUNCTION_GELU] = "gelu",	      [TRN_FUNCTION_SOFTPLUS] = "softplus",
	[TRN_FUNCTION_SIN] = "sin",
};

/* Names of the bits of flags, from bit 0 on. */
static const char *const flag_names[] = {
	"stochastic", "scalar_0", "scalar_1", "accumulate", "axis_i", "axis_j", "axis_k",
};

/* ---- what instructions have -------------------------------------------------------- */

enum kind {
	REGISTER,
	SIGNED64,
	SIGNED32, /* also four of them */
	NUMBER32, /* bits, an integer, or a float's */
	NUMBER8,
	TARGET,
	ALU,
	FUNCTION,
	PATTERN,
	SHAPE, /* partitions, and three sizes */
	DTYPE,
	SEMAPHORE, /* and a count */
	FLAGS,
};

struct field {
	const char *name;
	enum kind kind;
	size_t offset;
	unsigned int count;
};

#define FIELD(name, kind, member, count)                                                           \
	{ name, kind, offsetof(struct trn_instruction, member), count }

static const struct field common_fields[] = {
	FIELD("flags", FLAGS, flags, 1),
	FIELD("acquire", SEMAPHORE, acquire, 1),
	FIELD("release", SEMAPHORE, release, 1),
};

static const struct field control_fields[] = {
	FIELD("to", REGISTER, control.destination, 1),
	FIELD("a", REGISTER, control.source[0], 1),
	FIELD("b", REGISTER, control.source[1], 1),
	FIELD("immediate", SIGNED64, control.immediate, 1),
	FIELD("target", TARGET, control.target, 1),
};

static const struct field element_fields[] = {
	FIELD("shape", SHAPE, element.partitions, 1),
	FIELD("out", PATTERN, element.out, 1),
	FIELD("in", PATTERN, element.in[0], 1),
	FIELD("in1", PATTERN, element.in[1], 1),
	FIELD("scalar", NUMBER32, element.scalar[0], 1),
	FIELD("scalar1", NUMBER32, element.scalar[1], 1),
};

static const struct field tensor_fields[] = {
	FIELD("shape", SHAPE, tensor.rows, 1),	  FIELD("pack", NUMBER8, tensor.pack, 1),
	FIELD("out", PATTERN, tensor.out, 1),	  FIELD("in", PATTERN, tensor.in, 1),
	FIELD("scale", PATTERN, tensor.scale, 1),
};

static const struct field affine_fields[] = {
	FIELD("shape", SHAPE, affine.partitions, 1), FIELD("out", PATTERN, affine.out, 1),
	FIELD("in", PATTERN, affine.in, 1),	     FIELD("fill", NUMBER32, affine.fill, 1),
	FIELD("base", SIGNED32, affine.base, 1),     FIELD("step", SIGNED32, affine.step, 4),
};

static const struct field dma_fields[] = {
	FIELD("shape", SHAPE, dma.partitions, 1),
	FIELD("local", PATTERN, dma.local, 1),
	FIELD("binding", NUMBER8, dma.binding, 1),
	FIELD("offset", SIGNED64, dma.offset, 1),
	FIELD("register", REGISTER, dma.address_register, 1),
	FIELD("dtype", DTYPE, dma.dtype, 1),
	FIELD("stride", SIGNED32, dma.stride, 4),
	FIELD("ring", NUMBER8, dma.ring, 1),
};

enum ops {
	NO_OPS,
	ONE_ALU,
	TWO_ALUS,
	ONE_FUNCTION
};

static const struct field op_fields[][2] = {
	[ONE_ALU] = { FIELD("op", ALU, op[0], 1) },
	[TWO_ALUS] = { FIELD("op", ALU, op[0], 1), FIELD("op1", ALU, op[1], 1) },
	[ONE_FUNCTION] = { FIELD("op", FUNCTION, op[0], 1) },
};

static const unsigned int op_counts[] = { 0, 1, 2, 1 };

struct operation {
	const char *name;
	const struct field *fields;
	unsigned int count;
	enum ops ops;
};

#define CONTROL(name, ops) { name, control_fields, COUNT(control_fields), ops }
#define ELEMENT(name, ops) { name, element_fields, COUNT(element_fields), ops }
#define TENSOR(name)	   { name, tensor_fields, COUNT(tensor_fields), NO_OPS }
#define AFFINE(name)	   { name, affine_fields, COUNT(affine_fields), NO_OPS }
#define DMA(name)	   { name, dma_fields, COUNT(dma_fields), NO_OPS }

static const struct operation operations[256] = {
	[TRN_OP_NOP] = CONTROL("nop", NO_OPS),
	[TRN_OP_HALT] = CONTROL("halt", NO_OPS),
	[TRN_OP_MOVE] = CONTROL("move", NO_OPS),
	[TRN_OP_ADD] = CONTROL("add", NO_OPS),
	[TRN_OP_MULTIPLY] = CONTROL("multiply", NO_OPS),
	[TRN_OP_BRANCH] = CONTROL("branch", ONE_ALU),
	[TRN_OP_DMA_LOAD] = DMA("dma_load"),
	[TRN_OP_DMA_STORE] = DMA("dma_store"),
	[TRN_OP_LOAD_STATIONARY] = TENSOR("load_stationary"),
	[TRN_OP_MATMUL] = TENSOR("matmul"),
	[TRN_OP_TRANSPOSE] = TENSOR("transpose"),
	[TRN_OP_COPY] = ELEMENT("copy", NO_OPS),
	[TRN_OP_TENSOR_SCALAR] = ELEMENT("tensor_scalar", TWO_ALUS),
	[TRN_OP_TENSOR_TENSOR] = ELEMENT("tensor_tensor", ONE_ALU),
	[TRN_OP_FILL] = ELEMENT("fill", NO_OPS),
	[TRN_OP_REDUCE] = ELEMENT("reduce", ONE_ALU),
	[TRN_OP_SELECT] = ELEMENT("select", NO_OPS),
	[TRN_OP_BN_STATS] = ELEMENT("bn_stats", NO_OPS),
	[TRN_OP_BN_AGGREGATE] = ELEMENT("bn_aggregate", NO_OPS),
	[TRN_OP_ACTIVATE] = ELEMENT("activate", ONE_FUNCTION),
	[TRN_OP_IOTA] = AFFINE("iota"),
	[TRN_OP_GATHER] = ELEMENT("gather", NO_OPS),
	[TRN_OP_SCATTER] = ELEMENT("scatter", NO_OPS),
	[TRN_OP_PARTITION_SHUFFLE] = ELEMENT("partition_shuffle", NO_OPS),
	[TRN_OP_PARTITION_BROADCAST] = ELEMENT("partition_broadcast", NO_OPS),
	[TRN_OP_TOP_K] = ELEMENT("top_k", NO_OPS),
	[TRN_OP_MASK] = AFFINE("mask"),
	[TRN_OP_TIMESTAMP] = DMA("timestamp"),
};

/* Field number n of an operation, or NULL. */
static const struct field *field_of(const struct operation *operation, unsigned int n)
{
	if (n < op_counts[operation->ops])
		return &op_fields[operation->ops][n];
	n -= op_counts[operation->ops];
	if (n < operation->count)
		return &operation->fields[n];
	n -= operation->count;
	return n < COUNT(common_fields) ? &common_fields[n] : NULL;
}

/* ---- reading ------------------------------------------------------------------------- */

struct reader {
	const char *line, *at, *end; /* of the line; the word */
	label_finder *find;
	void *data;
	struct text_error *error;
};

static bool fail(const struct reader *reader, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool fail(const struct reader *reader, const char *at, const char *format, ...)
{
	va_list arguments;

	reader->error->column = (unsigned int)(at - reader->line) + 1;
	va_start(arguments, format);
	vsnprintf(reader->error->what, sizeof(reader->error->what), format, arguments);
	va_end(arguments);
	return false;
}

static bool take(struct reader *reader, char character)
{
	if (reader->at == reader->end || *reader->at != character)
		return false;
	reader->at++;
	return true;
}

static bool is_word(const char *name, const char *word, size_t length)
{
	return name && strlen(name) == length && !memcmp(name, word, length);
}

static int find_name(const char *const *names, unsigned int count, const char *word, size_t length)
{
	for (unsigned int i = 0; i < count; i++) {
		if (is_word(names[i], word, length))
			return (int)i;
	}
	return -1;
}

int dtype_number(const char *name, size_t length)
{
	for (uint32_t i = 0; trn_neff_dtype_name(i); i++) {
		if (is_word(trn_neff_dtype_name(i), name, length))
			return (int)i;
	}
	return -1;
}

/* As far as letters, digits and underscores go. */
static size_t word_length(const struct reader *reader)
{
	const char *at = reader->at;

	while (at < reader->end && (*at == '_' || (*at >= '0' && *at <= '9') ||
				    ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z')))
		at++;
	return (size_t)(at - reader->at);
}

/* As far as decimal digits go. */
static size_t decimal_length(const struct reader *reader)
{
	size_t length = 0;

	while (length < (size_t)(reader->end - reader->at) &&
	       isdigit((unsigned char)reader->at[length]))
		length++;
	return length;
}

/* The same, with hexadecimal digits after 0x. */
static size_t number_length(const struct reader *reader)
{
	size_t left = (size_t)(reader->end - reader->at), length = 2;

	if (left < 2 || memcmp(reader->at, "0x", 2))
		return decimal_length(reader);
	while (length < left && isxdigit((unsigned char)reader->at[length]))
		length++;
	return length;
}

static bool in_bounds(uint64_t number, bool negative, int64_t low, uint64_t high)
{
	if (negative)
		return low < 0 && number <= -(uint64_t)low;
	return number <= high && (low < 0 || number >= (uint64_t)low);
}

/* A number of so many digits within the bounds. */
static bool read_digits(struct reader *reader, const char *start, bool negative, size_t length,
			int64_t low, uint64_t high, uint64_t *number)
{
	char digits[32], *end;

	if (!length || length >= sizeof(digits))
		return fail(reader, start, "expected a number");
	memcpy(digits, reader->at, length);
	digits[length] = 0;
	errno = 0;
	*number = strtoull(digits, &end, !strncmp(digits, "0x", 2) ? 16 : 10);
	if (errno || *end || !in_bounds(*number, negative, low, high))
		return fail(reader, start, "expected a number from %lld to %llu", (long long)low,
			    (unsigned long long)high);
	reader->at += length;
	if (negative)
		*number = -*number;
	return true;
}

/* In decimal or with 0x. */
static bool read_number(struct reader *reader, int64_t low, uint64_t high, uint64_t *number)
{
	const char *start = reader->at;
	bool negative = take(reader, '-');

	return read_digits(reader, start, negative, number_length(reader), low, high, number);
}

/* In decimal, for an x may follow. */
static bool read_size(struct reader *reader, uint64_t high, uint64_t *number)
{
	return read_digits(reader, reader->at, false, decimal_length(reader), 0, high, number);
}

static bool read_name(struct reader *reader, const char *const *names, unsigned int count,
		      const char *what, uint8_t *to)
{
	size_t length = word_length(reader);
	int number = find_name(names, count, reader->at, length);

	if (number < 0)
		return fail(reader, reader->at, "unknown %s '%.*s'", what, (int)length, reader->at);
	reader->at += length;
	*to = (uint8_t)number;
	return true;
}

static bool read_register(struct reader *reader, uint8_t *to)
{
	uint64_t number;

	if (!take(reader, 'r'))
		return fail(reader, reader->at, "expected a register, r0 to r%d",
			    TRN_ISA_REGISTERS - 1);
	if (!read_number(reader, 0, TRN_ISA_REGISTERS - 1, &number))
		return false;
	*to = (uint8_t)number;
	return true;
}

static bool read_dtype(struct reader *reader, uint8_t *to)
{
	size_t length = word_length(reader);
	int number = dtype_number(reader->at, length);

	if (number < 0)
		return fail(reader, reader->at, "unknown data type '%.*s'", (int)length,
			    reader->at);
	reader->at += length;
	*to = (uint8_t)number;
	return true;
}

/* sbuf[P,OFFSET+rN]:DTYPE:I,J,K */
static bool read_pattern(struct reader *reader, struct trn_access_pattern *to)
{
	size_t length = word_length(reader);
	bool psum = is_word("psum", reader->at, length);
	uint64_t partition, offset, step;
	uint8_t number = 0;

	if (!psum && !is_word("sbuf", reader->at, length))
		return fail(reader, reader->at, "expected sbuf[…] or psum[…]");
	reader->at += length;
	if (!take(reader, '['))
		return fail(reader, reader->at, "expected '['");
	if (!read_number(reader, 0, TRN_PARTITIONS - 1, &partition))
		return false;
	if (!take(reader, ','))
		return fail(reader, reader->at, "expected ',' and an offset");
	if (!read_number(reader, 0, TRN_PLACE_OFFSET_MASK, &offset))
		return false;
	if (take(reader, '+') && !read_register(reader, &number))
		return false;
	if (!take(reader, ']'))
		return fail(reader, reader->at, "expected ']'");
	to->place = htole32((uint32_t)offset | (psum ? TRN_PLACE_PSUM : 0) |
			    (uint32_t)number << TRN_PLACE_REGISTER_SHIFT);
	to->partition = (uint8_t)partition;
	if (!take(reader, ':'))
		return fail(reader, reader->at, "expected ':' and a data type");
	if (!read_dtype(reader, &to->dtype))
		return false;
	if (!take(reader, ':'))
		return true;
	for (int i = 0; i < 3; i++) {
		if (i && !take(reader, ','))
			break;
		if (!read_number(reader, INT16_MIN, INT16_MAX, &step))
			return false;
		to->step[i] = htole16((uint16_t)step);
	}
	return true;
}

/* PxIxJxK; sizes that are missing are 1. */
static bool read_shape(struct reader *reader, uint8_t *to)
{
	struct trn_instruction *instruction =
		(void *)(to - offsetof(struct trn_instruction, element.partitions));
	uint64_t number;

	if (!read_size(reader, UINT8_MAX, &number))
		return false;
	*to = (uint8_t)number;
	for (int i = 0; i < 3; i++) {
		number = 1;
		if (take(reader, 'x') && !read_size(reader, UINT16_MAX, &number))
			return false;
		instruction->element.size[i] = htole16((uint16_t)number);
	}
	return true;
}

/* An integer, bits as 0x…, or a number with a point, which is FP32's. */
static bool read_number32(struct reader *reader, __le32 *to)
{
	char text[64], *end;
	size_t length = 0;
	uint64_t number;
	union {
		float value;
		uint32_t bits;
	} real;

	while (reader->at + length < reader->end && reader->at[length] != ' ' &&
	       reader->at[length] != '\t' && length < sizeof(text) - 1)
		length++;
	memcpy(text, reader->at, length);
	text[length] = 0;
	if (!strpbrk(text, ".in")) {
		if (!read_number(reader, INT32_MIN, UINT32_MAX, &number))
			return false;
		*to = htole32((uint32_t)number);
		return true;
	}
	real.value = strtof(text, &end);
	if (end == text)
		return fail(reader, reader->at, "expected a number");
	reader->at += end - text;
	*to = htole32(real.bits);
	return true;
}

static bool read_list(struct reader *reader, __le32 *to, unsigned int count)
{
	uint64_t number;

	for (unsigned int i = 0; i < count; i++) {
		if (i && !take(reader, ','))
			break;
		if (!read_number(reader, INT32_MIN, INT32_MAX, &number))
			return false;
		to[i] = htole32((uint32_t)number);
	}
	return true;
}

static bool read_target(struct reader *reader, __le32 *to)
{
	size_t length = word_length(reader);
	uint64_t number;
	uint32_t target;

	if (length && *reader->at >= '0' && *reader->at <= '9') {
		if (!read_number(reader, 0, UINT32_MAX, &number))
			return false;
		*to = htole32((uint32_t)number);
		return true;
	}
	if (!length || !reader->find(reader->data, reader->at, length, &target))
		return fail(reader, reader->at, "unknown label '%.*s'", (int)length, reader->at);
	reader->at += length;
	*to = htole32(target);
	return true;
}

/* SEMAPHORE:COUNT */
static bool read_semaphore(struct reader *reader, uint8_t *to)
{
	uint64_t number;

	if (!read_number(reader, 0, UINT8_MAX, &number))
		return false;
	to[0] = (uint8_t)number;
	if (!take(reader, ':'))
		return fail(reader, reader->at, "expected ':' and a count");
	if (!read_number(reader, 1, UINT8_MAX, &number))
		return false;
	to[1] = (uint8_t)number;
	return true;
}

static bool read_flags(struct reader *reader, uint8_t *to)
{
	uint8_t bit;

	do {
		if (!read_name(reader, flag_names, COUNT(flag_names), "flag", &bit))
			return false;
		*to |= (uint8_t)(1U << bit);
	} while (take(reader, '+'));
	return true;
}

static bool read_value(struct reader *reader, const struct field *field, uint8_t *to)
{
	uint64_t number;

	switch (field->kind) {
	case REGISTER:
		return read_register(reader, to);
	case SIGNED64:
		if (!read_number(reader, INT64_MIN, UINT64_MAX, &number))
			return false;
		*(__le64 *)to = htole64(number);
		return true;
	case SIGNED32:
		return read_list(reader, (__le32 *)to, field->count);
	case NUMBER32:
		return read_number32(reader, (__le32 *)to);
	case NUMBER8:
		if (!read_number(reader, 0, UINT8_MAX, &number))
			return false;
		*to = (uint8_t)number;
		return true;
	case TARGET:
		return read_target(reader, (__le32 *)to);
	case ALU:
		return read_name(reader, alu_names, COUNT(alu_names), "operation", to);
	case FUNCTION:
		return read_name(reader, function_names, COUNT(function_names), "function", to);
	case PATTERN:
		return read_pattern(reader, (struct trn_access_pattern *)to);
	case SHAPE:
		return read_shape(reader, to);
	case DTYPE:
		return read_dtype(reader, to);
	case SEMAPHORE:
		return read_semaphore(reader, to);
	case FLAGS:
		return read_flags(reader, to);
	}
	return false;
}

static bool read_field(struct reader *reader, const struct operation *operation,
		       struct trn_instruction *instruction, uint32_t *seen)
{
	const char *word = reader->at;
	size_t length = word_length(reader);
	const struct field *field;
	unsigned int n;

	for (n = 0; (field = field_of(operation, n)); n++) {
		if (is_word(field->name, word, length))
			break;
	}
	if (!field)
		return fail(reader, word, "%s has no field '%.*s'", operation->name, (int)length,
			    word);
	if (*seen >> n & 1)
		return fail(reader, word, "field '%s' comes twice", field->name);
	*seen |= 1U << n;
	reader->at += length;
	if (!take(reader, '='))
		return fail(reader, reader->at, "expected '=' after '%s'", field->name);
	if (!read_value(reader, field, (uint8_t *)instruction + field->offset))
		return false;
	return reader->at == reader->end || *reader->at == ' ' || *reader->at == '\t' ||
	       fail(reader, reader->at, "unexpected '%c' in the value of '%s'", *reader->at,
		    field->name);
}

static void skip_space(struct reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
		reader->at++;
}

/* bytes HEX: any 64 bytes. */
static bool read_bytes(struct reader *reader, struct trn_instruction *instruction)
{
	uint8_t *to = (uint8_t *)instruction;
	unsigned int byte;

	skip_space(reader);
	for (size_t i = 0; i < sizeof(*instruction); i++) {
		if (reader->end - reader->at < 2 || sscanf(reader->at, "%2x", &byte) != 1 ||
		    *reader->at == ' ' || reader->at[1] == ' ')
			return fail(reader, reader->at, "expected %zu hexadecimal digits",
				    2 * sizeof(*instruction));
		to[i] = (uint8_t)byte;
		reader->at += 2;
	}
	return reader->at == reader->end || fail(reader, reader->at, "expected the line's end");
}

bool instruction_read(const char *line, size_t length, label_finder *find, void *data,
		      struct trn_instruction *instruction, struct text_error *error)
{
	struct reader reader = { line, line, line + length, find, data, error };
	const char *word;
	uint32_t seen = 0;
	int opcode;

	*instruction = (struct trn_instruction){ 0 };
	skip_space(&reader);
	word = reader.at;
	length = word_length(&reader);
	reader.at += length;
	if (is_word("bytes", word, length))
		return read_bytes(&reader, instruction);
	for (opcode = 0; opcode < 256; opcode++) {
		if (is_word(operations[opcode].name, word, length))
			break;
	}
	if (opcode == 256)
		return fail(&reader, word, "unknown instruction '%.*s'", (int)length, word);
	instruction->opcode = (uint8_t)opcode;
	for (skip_space(&reader); reader.at < reader.end; skip_space(&reader)) {
		if (!read_field(&reader, &operations[opcode], instruction, &seen))
			return false;
	}
	return true;
}

/* ---- writing ------------------------------------------------------------------------- */

static void write_pattern(FILE *to, const struct trn_access_pattern *pattern)
{
	uint32_t place = le32toh(pattern->place);
	unsigned int number = (place & TRN_PLACE_REGISTER_MASK) >> TRN_PLACE_REGISTER_SHIFT;

	fprintf(to, "%s[%u,%u", place & TRN_PLACE_PSUM ? "psum" : "sbuf", pattern->partition,
		place & TRN_PLACE_OFFSET_MASK);
	if (number)
		fprintf(to, "+r%u", number);
	fprintf(to, "]:%s:%d,%d,%d", trn_neff_dtype_name(pattern->dtype),
		(int16_t)le16toh(pattern->step[0]), (int16_t)le16toh(pattern->step[1]),
		(int16_t)le16toh(pattern->step[2]));
}

static void write_shape(FILE *to, const struct trn_instruction *instruction)
{
	fprintf(to, "%u", instruction->element.partitions);
	for (int i = 0; i < 3; i++)
		fprintf(to, "x%u", le16toh(instruction->element.size[i]));
}

static void write_flags(FILE *to, uint8_t flags)
{
	const char *before = "";

	for (unsigned int bit = 0; bit < COUNT(flag_names); bit++) {
		if (!(flags >> bit & 1))
			continue;
		fprintf(to, "%s%s", before, flag_names[bit]);
		before = "+";
	}
}

static void write_value(FILE *to, const struct field *field,
			const struct trn_instruction *instruction)
{
	const uint8_t *at = (const uint8_t *)instruction + field->offset;

	switch (field->kind) {
	case REGISTER:
		fprintf(to, "r%u", *at);
		break;
	case SIGNED64:
		fprintf(to, "%lld", (long long)le64toh(*(const __le64 *)at));
		break;
	case SIGNED32:
		for (unsigned int i = 0; i < field->count; i++)
			fprintf(to, "%s%d", i ? "," : "",
				(int32_t)le32toh(((const __le32 *)at)[i]));
		break;
	case NUMBER32:
		fprintf(to, "0x%x", le32toh(*(const __le32 *)at));
		break;
	case NUMBER8:
		fprintf(to, "%u", *at);
		break;
	case TARGET:
		fprintf(to, "%u", le32toh(*(const __le32 *)at));
		break;
	case ALU:
		fputs(alu_names[*at], to);
		break;
	case FUNCTION:
		fputs(function_names[*at], to);
		break;
	case PATTERN:
		write_pattern(to, (const struct trn_access_pattern *)at);
		break;
	case SHAPE:
		write_shape(to, instruction);
		break;
	case DTYPE:
		fputs(trn_neff_dtype_name(*at), to);
		break;
	case SEMAPHORE:
		fprintf(to, "%u:%u", at[0], at[1]);
		break;
	case FLAGS:
		write_flags(to, *at);
		break;
	}
}

static size_t value_size(const struct field *field)
{
	switch (field->kind) {
	case SIGNED64:
		return 8;
	case SIGNED32:
		return 4UL * field->count;
	case NUMBER32:
	case TARGET:
		return 4;
	case PATTERN:
		return sizeof(struct trn_access_pattern);
	case SHAPE:
		return 8; /* with the byte of another field between, which is not looked at */
	case SEMAPHORE:
		return 2;
	default:
		return 1;
	}
}

static bool is_zero(const struct field *field, const struct trn_instruction *instruction)
{
	const uint8_t *at = (const uint8_t *)instruction + field->offset;

	for (size_t i = 0; i < value_size(field); i++) {
		if (at[i])
			return false;
	}
	return true;
}

static bool pattern_can_be_written(const struct trn_access_pattern *pattern)
{
	const uint32_t known = TRN_PLACE_OFFSET_MASK | TRN_PLACE_PSUM | TRN_PLACE_REGISTER_MASK;

	return !(le32toh(pattern->place) & ~known) && pattern->partition < TRN_PARTITIONS &&
	       trn_neff_dtype_name(pattern->dtype);
}

static bool value_can_be_written(const struct field *field,
				 const struct trn_instruction *instruction)
{
	const uint8_t *at = (const uint8_t *)instruction + field->offset;

	switch (field->kind) {
	case REGISTER:
		return *at < TRN_ISA_REGISTERS;
	case ALU:
		return *at < COUNT(alu_names);
	case FUNCTION:
		return *at < COUNT(function_names);
	case PATTERN:
		return pattern_can_be_written((const struct trn_access_pattern *)at);
	case DTYPE:
		return trn_neff_dtype_name(*at) != NULL;
	case SEMAPHORE:
		return at[1] != 0;
	case FLAGS:
		return *at < 1U << COUNT(flag_names);
	default:
		return true;
	}
}

/* The fields say all of the instruction's bytes. */
static bool can_be_written(const struct operation *operation,
			   const struct trn_instruction *instruction)
{
	const uint8_t *bytes = (const uint8_t *)instruction;
	bool said[sizeof(*instruction)] = { true };
	const struct field *field;

	for (unsigned int n = 0; (field = field_of(operation, n)); n++) {
		if (!is_zero(field, instruction) && !value_can_be_written(field, instruction))
			return false;
		for (size_t i = 0; i < value_size(field); i++)
			said[field->offset + i] |= field->kind != SHAPE || i != 1;
	}
	for (size_t i = 0; i < sizeof(*instruction); i++) {
		if (bytes[i] && !said[i])
			return false;
	}
	return true;
}

void instruction_write(FILE *to, const struct trn_instruction *instruction)
{
	const struct operation *operation = &operations[instruction->opcode];
	const struct field *field;

	if (!operation->name || !can_be_written(operation, instruction)) {
		fputs("bytes ", to);
		for (size_t i = 0; i < sizeof(*instruction); i++)
			fprintf(to, "%02x", ((const uint8_t *)instruction)[i]);
		return;
	}
	fputs(operation->name, to);
	for (unsigned int n = 0; (field = field_of(operation, n)); n++) {
		if (is_zero(field, instruction))
			continue;
		fprintf(to, " %s=", field->name);
		write_value(to, field, instruction);
	}
}
