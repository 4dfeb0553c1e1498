/* SPDX-License-Identifier: MIT */
/* A program as text that trn-neff asm makes the same file of. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <lib/neff/neff.h>

#include "commands.h"
#include "instruction.h"

#define DATA_BYTES 32 /* of a line */

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void print_data(const uint8_t *data, uint64_t size)
{
	uint64_t i;

	for (i = 0; i < size; i++) {
		if (i % DATA_BYTES == 0)
			printf("%s.data ", i ? "\n" : "");
		printf("%02x", data[i]);
	}
	printf("\n");
}

static void print_variable(const struct trn_neff_variable *variable)
{
	uint32_t i;

	printf(".variable ");
	print_string(variable->name);
	printf(" %s %s", trn_neff_kind_name(variable->kind), trn_neff_dtype_name(variable->dtype));
	for (i = 0; i < variable->dimensions; i++)
		printf("%c%" PRIu64, i ? 'x' : ' ', variable->shape[i]);
	printf(" id=%" PRIu32 " align=%" PRIu64 "\n", variable->id, variable->alignment);
	if (variable->kind == TRN_NEFF_FILE)
		print_data(variable->data, variable->size);
}

static void print_stream(const struct trn_neff_stream *stream)
{
	const uint8_t *at = stream->instructions;
	struct trn_instruction instruction;
	uint32_t i;

	for (i = 0; i < stream->count; i++, at += sizeof(instruction)) {
		memcpy(&instruction, at, sizeof(instruction));
		printf("\t");
		instruction_write(stdout, &instruction);
		printf("\n");
	}
}

static void print_core(const struct trn_neff_core *core)
{
	uint32_t i;

	printf("\n.core\n");
	for (i = 0; i < core->num_variables; i++)
		print_variable(&core->variables[i]);
	for (i = 0; i < core->num_queues; i++) {
		printf(".ring ");
		print_string(core->queues[i].name);
		printf(" %" PRIu32 " %s\n", core->queues[i].ring,
		       neff_direction_name(core->queues[i].direction));
	}
	for (i = 0; i < TRN_NEFF_ENGINES; i++) {
		if (!core->streams[i].count)
			continue;
		printf(".engine %s\n", neff_engine_names[i]);
		print_stream(&core->streams[i]);
	}
}

int neff_disassemble(const char *path)
{
	const struct trn_neff *neff;
	int error = trn_neff_open(path, &neff);
	uint32_t i;

	if (error)
		return error;
	printf(".name ");
	print_string(neff->name);
	printf("\n.build ");
	print_string(neff->build_version);
	printf("\n");
	for (i = 0; i < neff->num_cores; i++)
		print_core(&neff->cores[i]);
	trn_neff_close(neff);
	return 0;
}
