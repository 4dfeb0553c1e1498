/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include <lib/neff/neff.h>

#include "commands.h"

static void print_variable(uint32_t binding, const struct trn_neff_variable *variable)
{
	uint32_t i;

	printf("  binding %-3u  %-12s  %-8s  (", binding, trn_neff_kind_name(variable->kind),
	       trn_neff_dtype_name(variable->dtype));
	for (i = 0; i < variable->dimensions; i++)
		printf("%s%" PRIu64, i ? ", " : "", variable->shape[i]);
	printf(")  %" PRIu64 " bytes, alignment %" PRIu64 ", id %" PRIu32 "  %s\n", variable->size,
	       variable->alignment, variable->id, variable->name);
}

static void print_core(uint32_t number, const struct trn_neff_core *core)
{
	uint32_t i;

	printf("core %u\n", number);
	for (i = 0; i < TRN_NEFF_ENGINES; i++)
		if (core->streams[i].count)
			printf("  engine %-7s %" PRIu32 " instructions\n", neff_engine_names[i],
			       core->streams[i].count);
	for (i = 0; i < core->num_variables; i++)
		print_variable(i, &core->variables[i]);
	for (i = 0; i < core->num_queues; i++)
		printf("  ring %-6u  %-12s  %s\n", core->queues[i].ring,
		       neff_direction_name(core->queues[i].direction), core->queues[i].name);
}

int neff_info(const char *path)
{
	const struct trn_neff *neff;
	int error = trn_neff_open(path, &neff);
	uint32_t i;

	if (error)
		return error;
	printf("name        %s\nwritten by  %s\nuuid        ", neff->name, neff->build_version);
	for (i = 0; i < sizeof(neff->uuid); i++)
		printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", neff->uuid[i]);
	printf("\n");
	for (i = 0; i < neff->num_cores; i++)
		print_core(i, &neff->cores[i]);
	trn_neff_close(neff);
	return 0;
}
