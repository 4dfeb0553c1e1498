/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include <lib/neff/neff.h>

void run_times_add(struct run_times *times, uint64_t ns)
{
	if (!times->count || ns < times->least)
		times->least = ns;
	if (ns > times->most)
		times->most = ns;
	times->sum += ns;
	times->count++;
}

static uint64_t mean(const struct run_times *times)
{
	return times->sum / times->count;
}

/* Parts that run at the same time take as long as the longest one. */
static uint64_t modelled(const struct run_report *report)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < report->num_parts; i++)
		if (report->parts[i].picoseconds > most)
			most = report->parts[i].picoseconds;
	return most;
}

void run_report_text(FILE *to, const struct run_report *report)
{
	const struct run_times *wall = &report->wall;
	uint32_t i, engine;

	fprintf(to, "%s: %" PRIu64 " execution%s\n", report->path, wall->count,
		wall->count == 1 ? "" : "s");
	fprintf(to, "wall time      %.3f us", mean(wall) / 1e3);
	if (wall->count > 1)
		fprintf(to, " (least %.3f, most %.3f)", wall->least / 1e3, wall->most / 1e3);
	fprintf(to, "\nmodelled time  %.3f us\n", modelled(report) / 1e6);
	for (i = 0; i < report->num_parts; i++) {
		const struct trn_execution_result *part = &report->parts[i];

		fprintf(to,
			"part %" PRIu32 " on core %" PRIu32 ": %" PRIu64 " cycles, %" PRIu64
			" instructions, %" PRIu64 " bytes by DMA; busy cycles:",
			i, part->core, part->cycles, part->instructions, part->dma_bytes);
		for (engine = 0; engine < TRN_NEFF_ENGINES; engine++)
			fprintf(to, " %s %" PRIu64, neff_engine_names[engine],
				part->busy_cycles[engine]);
		fputc('\n', to);
	}
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *part_json(const struct trn_execution_result *part)
{
	json_t *busy = json_object();
	uint32_t engine;

	for (engine = 0; engine < TRN_NEFF_ENGINES; engine++)
		json_object_set_new(busy, neff_engine_names[engine],
				    number(part->busy_cycles[engine]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "core", number(part->core),
			 "device_ns", number(part->end_ns - part->begin_ns), "modelled_ps",
			 number(part->picoseconds), "cycles", number(part->cycles), "busy_cycles",
			 busy, "dma_bytes", number(part->dma_bytes), "instructions",
			 number(part->instructions), "profile_records",
			 number(part->profile_records));
}

int run_report_json(FILE *to, const struct run_report *report)
{
	json_t *parts = json_array(), *all;
	uint32_t i;
	int result;

	for (i = 0; i < report->num_parts; i++)
		json_array_append_new(parts, part_json(&report->parts[i]));
	all = json_pack("{s:s, s:o, s:{s:o, s:o, s:o}, s:o, s:o}", "program", report->path,
			"executions", number(report->wall.count), "wall_ns", "mean",
			number(mean(&report->wall)), "least", number(report->wall.least), "most",
			number(report->wall.most), "modelled_ps", number(modelled(report)), "parts",
			parts);
	if (!all)
		return -ENOMEM;
	result = json_dumpf(all, to, JSON_INDENT(2));
	fputc('\n', to);
	json_decref(all);
	return result ? -ENOMEM : 0;
}
