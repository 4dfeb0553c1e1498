/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/internal.h>
#include <lib/neff/neff.h>
#include <tools/trn-neff/instruction.h>

/* Tracks of a process, in the order in which they are shown. */
#define TRACK_QUEUE	     1
#define TRACK_ENGINE(number) (2 + (number))
#define TRACK_RING(number)   (2 + TRN_ENGINES + (number))
#define TRACKS		     TRACK_RING(TRN_ISA_DMA_RINGS)

/* Which of a record's two times a process of the trace shows. */
enum clock {
	MODEL_CLOCK,
	DEVICE_CLOCK,
	CLOCKS
};

static const char *const clock_names[CLOCKS] = {
	[MODEL_CLOCK] = "modelled time",
	[DEVICE_CLOCK] = "device's own time",
};

struct trace {
	FILE *file;
	FILE *text; /* of an instruction, in memory */
	char *text_bytes;
	size_t text_size;
	bool some; /* an event has been written */
};

/* ---- JSON -------------------------------------------------------------------- */

static void put_string(struct trace *trace, const char *text)
{
	fputc('"', trace->file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', trace->file);
		fputc(*text, trace->file);
	}
	fputc('"', trace->file);
}

/* Begins an event up to its name; the caller closes the object. */
static void begin_event(struct trace *trace, const char *phase, uint32_t process, uint32_t track)
{
	fprintf(trace->file, "%s{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"name\":",
		trace->some ? ",\n" : "", phase, process, track);
	trace->some = true;
}

static void put_metadata(struct trace *trace, uint32_t process, uint32_t track, const char *what,
			 const char *name)
{
	begin_event(trace, "M", process, track);
	fprintf(trace->file, "\"%s\",\"args\":{\"name\":", what);
	put_string(trace, name);
	fputs("}}", trace->file);
}

static void name_track(struct trace *trace, uint32_t process, uint32_t track, const char *name)
{
	put_metadata(trace, process, track, "thread_name", name);
	begin_event(trace, "M", process, track);
	fprintf(trace->file, "\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}", track);
}

/* Microseconds, which is the format's unit, of picoseconds. */
static void put_times(struct trace *trace, uint64_t begin, uint64_t end)
{
	uint64_t duration = end - begin;

	fprintf(trace->file,
		",\"ts\":%" PRIu64 ".%06" PRIu64 ",\"dur\":%" PRIu64 ".%06" PRIu64 ",\"args\":{",
		begin / 1000000, begin % 1000000, duration / 1000000, duration % 1000000);
}

/* ---- records ----------------------------------------------------------------- */

static uint32_t track_of(const struct trn_profile_record *record)
{
	return record->ring == TRN_PROFILE_NO_RING ? TRACK_ENGINE(record->engine)
						   : TRACK_RING(record->ring);
}

static bool is_sound(const struct trn_profile_record *record)
{
	return record->engine < TRN_ENGINES &&
	       (record->ring == TRN_PROFILE_NO_RING || record->ring < TRN_ISA_DMA_RINGS);
}

/* Picoseconds. */
static uint64_t begin_of(const struct trn_profile_record *record, enum clock clock)
{
	return clock == MODEL_CLOCK ? le64toh(record->begin_ps)
				    : UINT64_C(1000) * le32toh(record->begin_ns);
}

static uint64_t end_of(const struct trn_profile_record *record, enum clock clock)
{
	return clock == MODEL_CLOCK ? le64toh(record->end_ps)
				    : UINT64_C(1000) * le32toh(record->end_ns);
}

static int compare(const struct trn_profile_record *a, const struct trn_profile_record *b,
		   enum clock clock)
{
	uint64_t begin_a = begin_of(a, clock), begin_b = begin_of(b, clock);

	if (track_of(a) != track_of(b))
		return track_of(a) < track_of(b) ? -1 : 1;
	if (begin_a != begin_b)
		return begin_a < begin_b ? -1 : 1;
	if (end_of(a, clock) != end_of(b, clock))
		return end_of(a, clock) < end_of(b, clock) ? -1 : 1;
	return 0;
}

static int compare_model(const void *a, const void *b)
{
	return compare(a, b, MODEL_CLOCK);
}

static int compare_device(const void *a, const void *b)
{
	return compare(a, b, DEVICE_CLOCK);
}

/* The line that trn-neff disasm has for it. */
static const char *describe(struct trace *trace, const struct run_trace_part *part,
			    const struct trn_profile_record *record)
{
	const struct trn_neff_stream *stream = &part->core->streams[record->engine];
	uint32_t index = le32toh(record->instruction);
	struct trn_instruction instruction;

	rewind(trace->text);
	if (index < stream->count) {
		memcpy(&instruction,
		       (const uint8_t *)stream->instructions + index * sizeof(instruction),
		       sizeof(instruction));
		instruction_write(trace->text, &instruction);
	} else {
		fprintf(trace->text, "opcode_0x%02x", record->opcode);
	}
	fputc(0, trace->text);
	fflush(trace->text);
	return trace->text_bytes;
}

/* @limit: when the next of the track begins.  Slices of a track must not overlap. */
static void put_record(struct trace *trace, const struct run_trace_part *part, uint32_t process,
		       const struct trn_profile_record *record, enum clock clock, uint64_t offset,
		       uint64_t limit)
{
	const char *text = describe(trace, part, record);
	uint64_t begin = begin_of(record, clock), end = end_of(record, clock);
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, " "), text);
	begin_event(trace, "X", process, track_of(record));
	put_string(trace, name);
	put_times(trace, offset + begin, offset + (end < limit ? end : limit));
	fprintf(trace->file, "\"engine\":\"%s\",\"instruction\":%" PRIu32 ",\"text\":",
		neff_engine_names[record->engine], le32toh(record->instruction));
	put_string(trace, text);
	if (end > limit)
		fprintf(trace->file, ",\"end_us\":%" PRIu64 ".%06" PRIu64, (offset + end) / 1000000,
			(offset + end) % 1000000);
	fputs("}}", trace->file);
}

/* ---- processes --------------------------------------------------------------- */

static void name_tracks(struct trace *trace, const struct run_trace_part *part, uint32_t process,
			const bool used[TRACKS])
{
	const struct trn_neff_core *core = part->core;
	char name[320];
	uint32_t i, q;

	name_track(trace, process, TRACK_QUEUE, "queue");
	for (i = 0; i < TRN_ENGINES; i++) {
		snprintf(name, sizeof(name), "%s engine", neff_engine_names[i]);
		if (core->streams[i].count)
			name_track(trace, process, TRACK_ENGINE(i), name);
	}
	for (i = 0; i < TRN_ISA_DMA_RINGS; i++) {
		snprintf(name, sizeof(name), "DMA ring %" PRIu32, i);
		for (q = 0; q < core->num_queues; q++)
			if (core->queues[q].ring == i)
				snprintf(name, sizeof(name), "DMA ring %" PRIu32 ": %s", i,
					 core->queues[q].name);
		if (used[TRACK_RING(i)])
			name_track(trace, process, TRACK_RING(i), name);
	}
}

/* The packet, as its queue saw it. */
static void put_execution(struct trace *trace, const char *program,
			  const struct trn_execution_result *result, uint32_t process,
			  uint64_t offset, uint64_t duration)
{
	begin_event(trace, "X", process, TRACK_QUEUE);
	put_string(trace, program);
	put_times(trace, offset, offset + duration);
	fprintf(trace->file,
		"\"core\":%" PRIu32 ",\"cycles\":%" PRIu64 ",\"instructions\":%" PRIu64
		",\"dma_bytes\":%" PRIu64 "}}",
		result->core, result->cycles, result->instructions, result->dma_bytes);
}

/* @start: of the first part, ns of the device's clock. */
static void put_part(struct trace *trace, const char *program, const struct run_trace_part *part,
		     uint32_t number, enum clock clock, uint64_t start)
{
	const struct trn_execution_result *result = &part->result;
	bool device = clock == DEVICE_CLOCK, used[TRACKS] = { false };
	uint64_t offset = device ? (result->begin_ns - start) * 1000 : 0, i;
	uint32_t process = number * CLOCKS + clock + 1;
	char name[96];

	snprintf(name, sizeof(name), "part %" PRIu32 " on core %" PRIu32 ": %s", number,
		 result->core, clock_names[clock]);
	put_metadata(trace, process, 0, "process_name", name);
	if (part->count)
		qsort(part->records, part->count, sizeof(part->records[0]),
		      device ? compare_device : compare_model);
	for (i = 0; i < part->count; i++)
		used[track_of(&part->records[i])] = true;
	name_tracks(trace, part, process, used);
	put_execution(trace, program, result, process, offset,
		      device ? (result->end_ns - result->begin_ns) * 1000 : result->picoseconds);
	for (i = 0; i < part->count; i++) {
		const struct trn_profile_record *record = &part->records[i];
		bool last = i + 1 == part->count || track_of(&record[1]) != track_of(record);

		put_record(trace, part, process, record, clock, offset,
			   last ? UINT64_MAX : begin_of(&record[1], clock));
	}
}

static int check(const char *path, const struct run_trace_part *parts, uint32_t count)
{
	uint64_t i;
	uint32_t p;

	for (p = 0; p < count; p++)
		for (i = 0; i < parts[p].count; i++)
			if (!is_sound(&parts[p].records[i]))
				return trn_fail(-EIO,
						"%.200s: no profile: record %" PRIu64
						" of the device names an engine or ring that there "
						"is not",
						path, i);
	return 0;
}

static void put_all(struct trace *trace, const char *program, const struct run_trace_part *parts,
		    uint32_t count)
{
	uint64_t start = UINT64_MAX;
	uint32_t p;
	int clock;

	for (p = 0; p < count; p++)
		if (parts[p].result.begin_ns < start)
			start = parts[p].result.begin_ns;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", trace->file);
	for (p = 0; p < count; p++)
		for (clock = 0; clock < CLOCKS; clock++)
			put_part(trace, program, &parts[p], p, clock, start);
	fputs("\n]}\n", trace->file);
}

int run_write_trace(const char *path, const char *program, const struct run_trace_part *parts,
		    uint32_t count)
{
	struct trace trace = { 0 };
	int error = check(path, parts, count);
	bool bad;

	if (error)
		return error;
	trace.text = open_memstream(&trace.text_bytes, &trace.text_size);
	if (!trace.text)
		return trn_fail(-ENOMEM, "%.200s: no host memory", path);
	trace.file = fopen(path, "we");
	if (!trace.file) {
		error = trn_fail(-errno, "%.200s: cannot be created: %s", path, strerror(errno));
		goto close_text;
	}
	put_all(&trace, program, parts, count);
	bad = ferror(trace.file);
	if (fclose(trace.file) || bad)
		error = trn_fail(errno ? -errno : -EIO, "%.200s: cannot be written: %s", path,
				 strerror(errno));
close_text:
	fclose(trace.text);
	free(trace.text_bytes);
	return error;
}
