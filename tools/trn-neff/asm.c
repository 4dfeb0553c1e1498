/* SPDX-License-Identifier: MIT */
/* Text to a file (Documentation/assembler.rst). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lib/internal.h>
#include <lib/neff/npy.h>

#include "commands.h"
#include "instruction.h"

#define BUILD "trn-neff asm"

struct label {
	const char *name; /* in the text */
	size_t length;
	uint32_t target;
};

struct stream {
	struct trn_instruction *instructions;
	struct label *labels;
	uint32_t count, labels_count;
};

struct core {
	struct trn_neff_variable variables[TRN_NEFF_VARIABLES_MAX];
	struct trn_neff_queue queues[TRN_NEFF_QUEUES_MAX];
	struct stream streams[TRN_NEFF_ENGINES];
	uint32_t num_variables, num_queues;
};

struct assembly {
	const char *path;
	char *name, *build;
	struct core **cores;
	uint32_t num_cores;
	/* where we are */
	bool first_pass; /* counts instructions, finds labels, and obeys directives */
	struct core *core;
	struct stream *stream;
	uint32_t line_number;
	const char *line, *at, *end;
};

static int fail_at(const struct assembly *assembly, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* FILE:LINE:COLUMN: … */
static int fail_at(const struct assembly *assembly, const char *at, const char *format, ...)
{
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return trn_fail(-EBADMSG, "%s:%" PRIu32 ":%td: %s", assembly->path, assembly->line_number,
			at - assembly->line + 1, what);
}

static int fail_memory(const struct assembly *assembly)
{
	return trn_fail(-ENOMEM, "%s: not enough memory to assemble it", assembly->path);
}

/* ---- words --------------------------------------------------------------------- */

static void skip_space(struct assembly *assembly)
{
	while (assembly->at < assembly->end &&
	       (*assembly->at == ' ' || *assembly->at == '\t' || *assembly->at == '\r'))
		assembly->at++;
}

/* The word at the place, up to a space; its length. */
static size_t take_word(struct assembly *assembly, const char **word)
{
	skip_space(assembly);
	*word = assembly->at;
	while (assembly->at < assembly->end && *assembly->at != ' ' && *assembly->at != '\t' &&
	       *assembly->at != '\r')
		assembly->at++;
	return (size_t)(assembly->at - *word);
}

static bool is_word(const char *name, const char *word, size_t length)
{
	return name && strlen(name) == length && !memcmp(name, word, length);
}

static int take_string(struct assembly *assembly, char **string)
{
	const char *start;
	char *to;

	*string = NULL;
	skip_space(assembly);
	start = assembly->at;
	if (assembly->at == assembly->end || *assembly->at != '"')
		return fail_at(assembly, start, "expected a text in quotes");
	to = *string = malloc((size_t)(assembly->end - start));
	if (!to)
		return fail_memory(assembly);
	for (assembly->at++; assembly->at < assembly->end && *assembly->at != '"'; assembly->at++) {
		if (*assembly->at == '\\' && assembly->at + 1 < assembly->end)
			assembly->at++;
		*to++ = *assembly->at;
	}
	*to = 0;
	if (assembly->at == assembly->end)
		return fail_at(assembly, start, "the text has no closing quote");
	assembly->at++;
	return 0;
}

static int read_number(struct assembly *assembly, const char *word, size_t length, uint64_t most,
		       uint64_t *number)
{
	char digits[32], *end = digits;

	errno = 0;
	if (length && length < sizeof(digits) && *word >= '0' && *word <= '9') {
		memcpy(digits, word, length);
		digits[length] = 0;
		*number = strtoull(digits, &end, 10);
	}
	if (end == digits || *end || errno || *number > most)
		return fail_at(assembly, word, "expected a number from 0 to %" PRIu64, most);
	return 0;
}

static int expect_end(struct assembly *assembly)
{
	skip_space(assembly);
	return assembly->at == assembly->end
		       ? 0
		       : fail_at(assembly, assembly->at, "expected the end of the line");
}

static int need_core(struct assembly *assembly)
{
	return assembly->core ? 0 : fail_at(assembly, assembly->line, "no .core before this");
}

/* ---- directives ------------------------------------------------------------------ */

static int do_text(struct assembly *assembly, char **text)
{
	if (*text)
		return fail_at(assembly, assembly->line, "comes twice");
	return take_string(assembly, text);
}

static int do_core(struct assembly *assembly)
{
	struct core **cores;

	if (!assembly->first_pass) {
		assembly->core = assembly->cores[assembly->num_cores++];
		assembly->stream = NULL;
		return 0;
	}
	if (assembly->num_cores == TRN_NEFF_CORES_MAX)
		return fail_at(assembly, assembly->line, "more than %d cores", TRN_NEFF_CORES_MAX);
	cores = reallocarray(assembly->cores, assembly->num_cores + 1, sizeof(*cores));
	if (!cores)
		return fail_memory(assembly);
	assembly->cores = cores;
	assembly->core = cores[assembly->num_cores] = calloc(1, sizeof(struct core));
	if (!assembly->core)
		return fail_memory(assembly);
	assembly->num_cores++;
	assembly->stream = NULL;
	return 0;
}

static int read_shape(struct assembly *assembly, const char *word, size_t length,
		      struct trn_neff_variable *variable)
{
	while (length) {
		const char *x = memchr(word, 'x', length);
		size_t digits = x ? (size_t)(x - word) : length;
		int error;

		if (variable->dimensions == TRN_NEFF_DIMENSIONS_MAX)
			return fail_at(assembly, word, "more than %d dimensions",
				       TRN_NEFF_DIMENSIONS_MAX);
		error = read_number(assembly, word, digits, TRN_NEFF_SIZE_MAX,
				    &variable->shape[variable->dimensions++]);
		if (error)
			return error;
		word += digits + (x != NULL);
		length -= digits + (x != NULL);
		if (x && !length)
			return fail_at(assembly, word, "expected a number after 'x'");
	}
	return 0;
}

static int read_option(struct assembly *assembly, const char *word, size_t length,
		       struct trn_neff_variable *variable)
{
	uint64_t number;
	int error;

	if (length > 3 && !memcmp(word, "id=", 3)) {
		error = read_number(assembly, word + 3, length - 3, UINT32_MAX, &number);
		variable->id = (uint32_t)number;
		return error;
	}
	if (length > 6 && !memcmp(word, "align=", 6))
		return read_number(assembly, word + 6, length - 6, TRN_NEFF_ALIGNMENT_MAX,
				   &variable->alignment);
	return fail_at(assembly, word,
		       "unknown option '%.*s'; there are id= and align=", (int)length, word);
}

static int set_size(struct assembly *assembly, struct trn_neff_variable *variable)
{
	uint64_t bits = neff_dtype(variable->dtype)->bits;
	uint32_t i;

	for (i = 0; i < variable->dimensions; i++) {
		if (__builtin_mul_overflow(bits, variable->shape[i], &bits))
			return fail_at(assembly, assembly->line, "the shape is too large");
	}
	variable->size = bits / 8;
	return 0;
}

static int do_variable(struct assembly *assembly)
{
	struct trn_neff_variable *variable;
	const char *word;
	char *name;
	size_t length;
	int error, number;

	if (assembly->core->num_variables == TRN_NEFF_VARIABLES_MAX)
		return fail_at(assembly, assembly->line, "more than %d variables",
			       TRN_NEFF_VARIABLES_MAX);
	variable = &assembly->core->variables[assembly->core->num_variables];
	error = take_string(assembly, &name);
	*variable = (struct trn_neff_variable){
		.name = name,
		.id = assembly->core->num_variables,
		.alignment = 64,
	};
	assembly->core->num_variables++;
	if (error)
		return error;
	length = take_word(assembly, &word);
	for (number = 0; trn_neff_kind_name((enum trn_neff_kind)number); number++) {
		if (is_word(trn_neff_kind_name((enum trn_neff_kind)number), word, length))
			break;
	}
	variable->kind = (enum trn_neff_kind)number;
	if (!trn_neff_kind_name(variable->kind))
		return fail_at(assembly, word, "unknown kind '%.*s'", (int)length, word);
	length = take_word(assembly, &word);
	number = dtype_number(word, length);
	if (number < 0)
		return fail_at(assembly, word, "unknown data type '%.*s'", (int)length, word);
	variable->dtype = (uint32_t)number;
	length = take_word(assembly, &word);
	if (length && !memchr(word, '=', length)) {
		error = read_shape(assembly, word, length, variable);
		length = take_word(assembly, &word);
	}
	for (; !error && length; length = take_word(assembly, &word))
		error = read_option(assembly, word, length, variable);
	return error ? error : set_size(assembly, variable);
}

/* The constant that data belongs to, with memory for it. */
static int find_constant(struct assembly *assembly, struct trn_neff_variable **constant)
{
	struct core *core = assembly->core;

	*constant = core->num_variables ? &core->variables[core->num_variables - 1] : NULL;
	if (!*constant || (*constant)->kind != TRN_NEFF_FILE)
		return fail_at(assembly, assembly->line, "no .variable of kind file before this");
	if ((*constant)->data)
		return 0;
	(*constant)->data = calloc((*constant)->size ?: 1, 1);
	return (*constant)->data ? 0 : fail_memory(assembly);
}

static int hex_digit(char character)
{
	const char *digits = "0123456789abcdef", *found = strchr(digits, character | 0x20);

	return character && found ? (int)(found - digits) : -1;
}

static int do_data(struct assembly *assembly, uint64_t *filled)
{
	struct trn_neff_variable *constant;
	const char *word;
	size_t length, i;
	int error = find_constant(assembly, &constant);

	if (error)
		return error;
	length = take_word(assembly, &word);
	if (length % 2)
		return fail_at(assembly, word, "an odd number of digits");
	for (i = 0; i < length; i += 2) {
		int high = hex_digit(word[i]), low = hex_digit(word[i + 1]);

		if (high < 0 || low < 0)
			return fail_at(assembly, word + i, "expected hexadecimal digits");
		if (*filled == constant->size)
			return fail_at(assembly, word + i,
				       "more than the %" PRIu64 " bytes of '%s'", constant->size,
				       constant->name);
		((uint8_t *)constant->data)[(*filled)++] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static int do_file(struct assembly *assembly, uint64_t *filled)
{
	struct trn_neff_variable *constant;
	struct neff_member member = { 0 };
	struct neff_place place = { 0 };
	struct neff_npy npy;
	uint8_t *bytes = NULL;
	char *path = NULL;
	int error = find_constant(assembly, &constant);

	if (!error)
		error = take_string(assembly, &path);
	if (!error)
		error = neff_load(path, &bytes, &member.size);
	place.file = path;
	member.data = bytes;
	if (!error)
		error = neff_npy_read(&place, &member, &npy);
	if (!error)
		error = neff_npy_check(&place, &npy, constant);
	if (!error) {
		memcpy((void *)constant->data, npy.data, constant->size);
		*filled = constant->size;
	}
	free(bytes);
	free(path);
	return error;
}

static int do_ring(struct assembly *assembly)
{
	struct trn_neff_queue *queue;
	const char *word;
	uint64_t ring;
	size_t length;
	char *name;
	int error, number;

	if (assembly->core->num_queues == TRN_NEFF_QUEUES_MAX)
		return fail_at(assembly, assembly->line, "more than %d rings", TRN_NEFF_QUEUES_MAX);
	queue = &assembly->core->queues[assembly->core->num_queues++];
	error = take_string(assembly, &name);
	queue->name = name;
	if (error)
		return error;
	length = take_word(assembly, &word);
	error = read_number(assembly, word, length, TRN_ISA_DMA_RINGS - 1, &ring);
	if (error)
		return error;
	queue->ring = (uint32_t)ring;
	length = take_word(assembly, &word);
	for (number = 0; neff_direction_name((enum trn_neff_direction)number); number++) {
		if (is_word(neff_direction_name((enum trn_neff_direction)number), word, length)) {
			queue->direction = (enum trn_neff_direction)number;
			return 0;
		}
	}
	return fail_at(assembly, word, "expected in, out or data");
}

static int do_engine(struct assembly *assembly)
{
	const char *word;
	size_t length = take_word(assembly, &word);
	int i;

	for (i = 0; i < TRN_NEFF_ENGINES; i++) {
		if (is_word(neff_engine_names[i], word, length)) {
			assembly->stream = &assembly->core->streams[i];
			return 0;
		}
	}
	return fail_at(assembly, word, "unknown engine '%.*s'", (int)length, word);
}

/* ---- streams ----------------------------------------------------------------------- */

static bool find_label(void *data, const char *name, size_t length, uint32_t *target)
{
	const struct assembly *assembly = data;
	uint32_t i;

	for (i = 0; i < assembly->stream->labels_count; i++) {
		const struct label *label = &assembly->stream->labels[i];

		if (label->length == length && !memcmp(label->name, name, length)) {
			*target = label->target;
			return true;
		}
	}
	return false;
}

static int add_label(struct assembly *assembly, const char *name, size_t length)
{
	struct stream *stream = assembly->stream;
	struct label *labels;
	uint32_t target;

	if (!assembly->first_pass)
		return 0;
	if (find_label(assembly, name, length, &target))
		return fail_at(assembly, name, "label '%.*s' comes twice", (int)length, name);
	labels = reallocarray(stream->labels, stream->labels_count + 1, sizeof(*labels));
	if (!labels)
		return fail_memory(assembly);
	stream->labels = labels;
	labels[stream->labels_count++] = (struct label){ name, length, stream->count };
	return 0;
}

static int add_instruction(struct assembly *assembly)
{
	struct stream *stream = assembly->stream;
	struct text_error text;

	if (assembly->first_pass) {
		if (stream->count == TRN_NEFF_INSTRUCTIONS_MAX)
			return fail_at(assembly, assembly->line, "more than %u instructions",
				       TRN_NEFF_INSTRUCTIONS_MAX);
		stream->count++;
		return 0;
	}
	if (!stream->instructions)
		return fail_memory(assembly);
	if (instruction_read(assembly->line, (size_t)(assembly->end - assembly->line), find_label,
			     assembly, &stream->instructions[stream->count++], &text))
		return 0;
	return fail_at(assembly, assembly->line + text.column - 1, "%s", text.what);
}

static int do_stream_line(struct assembly *assembly)
{
	const char *word;
	size_t length = take_word(assembly, &word);

	if (!assembly->stream)
		return fail_at(assembly, word, "no .engine before this");
	if (word[length - 1] != ':')
		return add_instruction(assembly);
	if (length == 1 || (word[0] >= '0' && word[0] <= '9'))
		return fail_at(assembly, word, "a label begins with a letter");
	return add_label(assembly, word, length - 1);
}

/* ---- lines --------------------------------------------------------------------------- */

/* In the second pass directives but .core and .engine have been obeyed. */
static int do_directive(struct assembly *assembly, uint64_t *filled)
{
	static const char *const again[] = { ".core", ".engine" };
	const char *word;
	size_t length = take_word(assembly, &word);
	int error = 0;

	if (!assembly->first_pass && !is_word(again[0], word, length) &&
	    !is_word(again[1], word, length))
		return 0;
	if (is_word(".name", word, length))
		error = do_text(assembly, &assembly->name);
	else if (is_word(".build", word, length))
		error = do_text(assembly, &assembly->build);
	else if (is_word(".core", word, length))
		error = do_core(assembly);
	else if (need_core(assembly))
		return -EBADMSG;
	else if (is_word(".data", word, length))
		error = do_data(assembly, filled);
	else if (is_word(".file", word, length))
		error = do_file(assembly, filled);
	else if (is_word(".ring", word, length))
		error = do_ring(assembly);
	else if (is_word(".engine", word, length))
		error = do_engine(assembly);
	else if (is_word(".variable", word, length)) {
		*filled = 0;
		error = do_variable(assembly);
	} else {
		return fail_at(assembly, word, "unknown directive '%.*s'", (int)length, word);
	}
	return error ? error : expect_end(assembly);
}

/* Where the line's comment begins: a ';' outside of quotes. */
static const char *find_comment(const char *line, const char *end)
{
	bool quoted = false;

	for (; line < end; line++) {
		if (*line == '\\' && quoted)
			line++;
		else if (*line == '"')
			quoted = !quoted;
		else if (*line == ';' && !quoted)
			return line;
	}
	return end;
}

static int do_lines(struct assembly *assembly, const char *text, size_t size)
{
	const char *end = text + size, *next;
	uint64_t filled = 0;
	int error = 0;

	for (assembly->line_number = 1; !error && text < end; assembly->line_number++) {
		next = memchr(text, '\n', (size_t)(end - text));
		next = next ? next : end;
		assembly->line = assembly->at = text;
		assembly->end = find_comment(text, next);
		while (assembly->end > text &&
		       (assembly->end[-1] == ' ' || assembly->end[-1] == '\t' ||
			assembly->end[-1] == '\r'))
			assembly->end--;
		skip_space(assembly);
		if (assembly->at < assembly->end)
			error = *assembly->at == '.' ? do_directive(assembly, &filled)
						     : do_stream_line(assembly);
		text = next < end ? next + 1 : end;
	}
	return error;
}

/* Makes room for the instructions that the first pass counted. */
static void begin_second_pass(struct assembly *assembly)
{
	uint32_t i;
	int engine;

	for (i = 0; i < assembly->num_cores; i++) {
		for (engine = 0; engine < TRN_NEFF_ENGINES; engine++) {
			struct stream *stream = &assembly->cores[i]->streams[engine];

			stream->instructions =
				calloc(stream->count ?: 1, sizeof(*stream->instructions));
			stream->count = 0;
		}
	}
	assembly->first_pass = false;
	assembly->num_cores = 0;
	assembly->core = NULL;
	assembly->stream = NULL;
}

/* ---- the file -------------------------------------------------------------------------- */

static int write_file(const char *path, const void *file, uint64_t size)
{
	FILE *to = fopen(path, "wb");
	bool written;

	if (!to)
		return trn_fail(-errno, "%s: cannot be written: %s", path, strerror(errno));
	written = fwrite(file, 1, size, to) == size;
	if (fclose(to) || !written)
		return trn_fail(-EIO, "%s: cannot be written: %s", path, strerror(errno));
	return 0;
}

static int make_file(const struct assembly *assembly, void **file, uint64_t *size)
{
	struct trn_neff_core *cores = calloc(assembly->num_cores ?: 1, sizeof(*cores));
	const struct trn_neff neff = {
		.name = assembly->name ? assembly->name : "",
		.build_version = assembly->build ? assembly->build : BUILD,
		.cores = cores,
		.num_cores = assembly->num_cores,
	};
	uint32_t i;
	int error, engine;

	if (!cores)
		return fail_memory(assembly);
	for (i = 0; i < assembly->num_cores; i++) {
		const struct core *core = assembly->cores[i];

		cores[i] = (struct trn_neff_core){
			.variables = core->variables,
			.queues = core->queues,
			.num_variables = core->num_variables,
			.num_queues = core->num_queues,
		};
		for (engine = 0; engine < TRN_NEFF_ENGINES; engine++)
			cores[i].streams[engine] = (struct trn_neff_stream){
				.instructions = core->streams[engine].instructions,
				.count = core->streams[engine].count,
			};
	}
	error = trn_neff_write(&neff, file, size);
	free(cores);
	return error;
}

static void free_core(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->num_variables; i++) {
		free((void *)core->variables[i].name);
		free((void *)core->variables[i].data);
	}
	for (i = 0; i < core->num_queues; i++)
		free((void *)core->queues[i].name);
	for (i = 0; i < TRN_NEFF_ENGINES; i++) {
		free(core->streams[i].instructions);
		free(core->streams[i].labels);
	}
	free(core);
}

int neff_assemble_text(const char *path, const char *text, uint64_t size, void **file,
		       uint64_t *file_size)
{
	struct assembly assembly = { .path = path, .first_pass = true };
	int error = do_lines(&assembly, text, size);
	uint32_t i, cores = assembly.num_cores;

	if (!error) {
		begin_second_pass(&assembly);
		error = do_lines(&assembly, text, size);
	}
	if (!error)
		error = make_file(&assembly, file, file_size);
	for (i = 0; i < cores; i++)
		free_core(assembly.cores[i]);
	free(assembly.cores);
	free(assembly.name);
	free(assembly.build);
	return error;
}

int neff_assemble(const char *path, const char *to)
{
	uint64_t size, file_size;
	uint8_t *text;
	void *file;
	int error = neff_load(path, &text, &size);

	if (error)
		return error;
	error = neff_assemble_text(path, (const char *)text, size, &file, &file_size);
	if (!error) {
		error = write_file(to, file, file_size);
		free(file);
	}
	free(text);
	return error;
}
