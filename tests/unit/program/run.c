/* SPDX-License-Identifier: MIT */
/* trn-run: arguments, arrays, reports, traces. */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hw/trn_regs.h>
#include <tests/check_run.h>
#include <tests/unit/run_program.h>
#include <tools/trn-run/array.h>
#include <tools/trn-run/options.h>
#include <tools/trn-run/report.h>
#include <tools/trn-run/trace.h>

#include "sample.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char path[] = "/tmp/trn-run-test-XXXXXX";

static void make_file(void)
{
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void remove_file(void)
{
	unlink(path);
}

static void assert_says(const char *text)
{
	ck_assert_msg(strstr(trn_error_message(), text), "\"%s\" lacks \"%s\"", trn_error_message(),
		      text);
}

/* ---- arguments --------------------------------------------------------------- */

static bool parse(const char *line, struct run_options *options, char error[256])
{
	static char copy[512];
	char *argv[32], *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "trn-run %s", line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return run_parse_options(argc, argv, options, error, 256);
}

START_TEST(arguments)
{
	struct run_options options;
	char error[256];

	ck_assert(parse("m.neff", &options, error));
	ck_assert_str_eq(options.path, "m.neff");
	ck_assert_uint_eq(options.core, RUN_ANY_CORE);
	ck_assert_uint_eq(options.repeat, 1);
	ck_assert_uint_eq(options.records, 262144);
	ck_assert_uint_eq(options.in.count + options.out.count, 0);
	ck_assert(!options.json && !options.help && !options.profile);
	ck_assert(parse("--in x=1.npy --in a=b=/2.npy m.neff --out y=3.npy --repeat 7 --core 2"
			" --device 3 --seed 0xffffffffffffffff --profile t.json --profile-records 9"
			" --stats json",
			&options, error));
	ck_assert_uint_eq(options.in.count, 2);
	ck_assert_str_eq(options.in.file[0].tensor, "x");
	ck_assert_str_eq(options.in.file[0].path, "1.npy");
	ck_assert_str_eq(options.in.file[1].tensor, "a=b");
	ck_assert_str_eq(options.in.file[1].path, "/2.npy");
	ck_assert_str_eq(options.out.file[0].tensor, "y");
	ck_assert_uint_eq(options.repeat, 7);
	ck_assert_uint_eq(options.core, 2);
	ck_assert_uint_eq(options.device, 3);
	ck_assert_uint_eq(options.seed, UINT64_MAX);
	ck_assert_str_eq(options.profile, "t.json");
	ck_assert_uint_eq(options.records, 9);
	ck_assert(options.json);
	ck_assert(parse("--help", &options, error));
	ck_assert(options.help);
}
END_TEST

START_TEST(wrong_arguments)
{
	static const struct {
		const char *line;
		const char *text;
	} wrong[] = {
		{ "", "no program: expected the path of a .neff file" },
		{ "a.neff b.neff", "a second program 'b.neff'" },
		{ "a.neff --fast", "unknown option --fast" },
		{ "a.neff --in", "--in: expected TENSOR=FILE" },
		{ "a.neff --in x", "--in x: expected TENSOR=FILE" },
		{ "a.neff --in =x", "expected TENSOR=FILE" },
		{ "a.neff --in x=", "expected TENSOR=FILE" },
		{ "a.neff --in x=1 --in x=2", "--in x=2: expected TENSOR=FILE, each tensor once" },
		{ "a.neff --out x", "--out x: expected TENSOR=FILE" },
		{ "a.neff --repeat 0", "--repeat 0: expected a number from 1 to 1000000" },
		{ "a.neff --repeat 1000001", "expected a number from 1 to 1000000" },
		{ "a.neff --repeat 1x", "expected a number" },
		{ "a.neff --core -1", "--core -1: expected the number of a core" },
		{ "a.neff --core 65535", "expected the number of a core" },
		{ "a.neff --device one", "expected the index of a chip" },
		{ "a.neff --seed 18446744073709551616", "expected a number less than 2^64" },
		{ "a.neff --seed 0xg", "expected a number less than 2^64" },
		{ "a.neff --profile-records 16777217", "expected a number from 1 to 16777216" },
		{ "a.neff --stats xml", "--stats xml: expected text or json" },
	};
	struct run_options options;
	char error[256], command[300];
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ck_assert_msg(!parse(wrong[i].line, &options, error), "%s", wrong[i].line);
		ck_assert_msg(strstr(error, wrong[i].text), "\"%s\" lacks \"%s\"", error,
			      wrong[i].text);
		snprintf(command, sizeof(command), "trn-run %s", wrong[i].line);
		assert_usage(command, wrong[i].text);
	}
}
END_TEST

START_TEST(outside)
{
	struct run_result result = run_program("trn-run --help");

	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(strstr(result.out, "Usage: trn-run PROGRAM.neff"));
	ck_assert_str_eq(result.err, "");
	result = run_program("trn-run /nonexistent/a.neff");
	ck_assert_int_eq(result.status, 1);
	ck_assert_str_eq(result.out, "");
	ck_assert_str_eq(result.err,
			 "trn-run: /nonexistent/a.neff: cannot be opened: No such file or "
			 "directory\n");
	result = run_program("trn-run /proc/self/exe");
	ck_assert_int_eq(result.status, 3);
	ck_assert_ptr_nonnull(strstr(result.err, "trn-run: /proc/self/exe: "));
}
END_TEST

/* ---- arrays ------------------------------------------------------------------ */

static const struct {
	uint32_t dtype;
	uint64_t size; /* of 6 elements */
	const char *descr;
	const char *shape; /* of (2, 6 / 2) */
	const char *also[3];
} types[] = {
	{ TRN_DTYPE_FP32, 24, "<f4", "(2, 3)", { NULL } },
	{ TRN_DTYPE_BF16, 12, "<V2", "(2, 3)", { "<u2", "|V2" } },
	{ TRN_DTYPE_FP16, 12, "<f2", "(2, 3)", { NULL } },
	{ TRN_DTYPE_FP8_E4M3, 6, "|V1", "(2, 3)", { "|u1" } },
	{ TRN_DTYPE_FP8_E5M2, 6, "|V1", "(2, 3)", { "|u1" } },
	{ TRN_DTYPE_INT8, 6, "|i1", "(2, 3)", { NULL } },
	{ TRN_DTYPE_INT16, 12, "<i2", "(2, 3)", { NULL } },
	{ TRN_DTYPE_INT32, 24, "<i4", "(2, 3)", { NULL } },
	{ TRN_DTYPE_MXFP8, 6, "|V1", "(2, 3)", { "|u1" } },
	{ TRN_DTYPE_FP4, 4, "|V1", "(2, 2)", { "|u1" } },
};

static struct trn_tensor_info tensor_of(size_t i)
{
	return (struct trn_tensor_info){
		.name = "a",
		.dtype = types[i].dtype,
		.dimensions = 2,
		.shape = { 2, types[i].dtype == TRN_DTYPE_FP4 ? 4 : 3 },
		.size = types[i].size,
		.alignment = 1,
	};
}

static void save(const char *descr, const char *shape, const void *elements, size_t size)
{
	char text[118];
	FILE *file = fopen(path, "w");

	memset(text, ' ', sizeof(text));
	text[sprintf(text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr,
		     shape)] = ' ';
	text[sizeof(text) - 1] = '\n';
	fwrite("\x93NUMPY\1\0\x76\0", 1, 10, file);
	fwrite(text, 1, sizeof(text), file);
	fwrite(elements, 1, size, file);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(arrays)
{
	static const uint8_t bytes[24] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
					   13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24 };
	const struct trn_tensor_info info = tensor_of(_i);
	char header[64], file_bytes[256];
	void *elements;
	FILE *file;
	size_t i, length;

	make_file();
	ck_assert_int_eq(run_write_array(path, &info, bytes), 0);
	file = fopen(path, "r");
	length = fread(file_bytes, 1, sizeof(file_bytes), file);
	fclose(file);
	snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
		 types[_i].descr, types[_i].shape);
	ck_assert_uint_eq((length - info.size) % 64, 0);
	ck_assert_mem_eq(file_bytes, "\x93NUMPY\1\0", 8);
	ck_assert_mem_eq(file_bytes + 10, header, strlen(header));
	ck_assert_mem_eq(file_bytes + length - info.size, bytes, info.size);

	ck_assert_int_eq(run_read_array(path, &info, &elements), 0);
	ck_assert_mem_eq(elements, bytes, info.size);
	free(elements);
	for (i = 0; i < COUNT(types[_i].also) && types[_i].also[i]; i++) {
		save(types[_i].also[i], types[_i].shape, bytes, info.size);
		ck_assert_msg(!run_read_array(path, &info, &elements), "%s", trn_error_message());
		ck_assert_mem_eq(elements, bytes, info.size);
		free(elements);
	}
	remove_file();
}
END_TEST

START_TEST(wrong_arrays)
{
	static const struct {
		size_t type;
		const char *descr, *shape;
		size_t size;
		const char *text;
	} wrong[] = {
		{ 0, "<f8", "(2, 3)", 48, "a is fp32, so 'descr' must be '<f4', but it is '<f8'" },
		{ 0, "<u4", "(2, 3)", 24, "'<f4'" },
		{ 0, ">f4", "(2, 3)", 24, "'<f4'" },
		{ 1, "<f2", "(2, 3)", 12, "a is bf16" },
		{ 1, "|u1", "(2, 3)", 6, "a is bf16" },
		{ 3, "<u2", "(2, 3)", 12, "a is fp8_e4m3" },
		{ 0, "<f4", "(3, 2)", 24, "dimension 0 must be 2, but in the file it is 3" },
		{ 0, "<f4", "(6,)", 24, "2 dimensions" },
		{ 0, "<f4", "(2, 3)", 23, "a has 24 bytes, but 23 follow" },
		{ 9, "|V1", "(2, 4)", 8, "dimension 1 must be 2, but in the file it is 4" },
	};
	static const uint8_t zero[64];
	struct trn_tensor_info info;
	void *elements;
	size_t i;

	make_file();
	for (i = 0; i < COUNT(wrong); i++) {
		info = tensor_of(wrong[i].type);
		save(wrong[i].descr, wrong[i].shape, zero, wrong[i].size);
		ck_assert_int_eq(run_read_array(path, &info, &elements), -EBADMSG);
		assert_says(wrong[i].text);
		assert_says(path);
	}
	remove_file();
	info = tensor_of(0);
	ck_assert_int_eq(run_read_array(path, &info, &elements), -ENOENT);
	assert_says(path);
	ck_assert_int_eq(run_write_array("/nonexistent/a.npy", &info, zero), -ENOENT);
	assert_says("/nonexistent/a.npy: cannot be created");
	ck_assert_int_eq(run_write_array("/dev/full", &info, zero), -ENOSPC);
	assert_says("/dev/full: cannot be written");
}
END_TEST

/* ---- reports ----------------------------------------------------------------- */

static const struct trn_execution_result results[2] = {
	{
		.begin_ns = 5000000,
		.end_ns = 5003000,
		.picoseconds = 2500000,
		.cycles = 6000,
		.busy_cycles = { 1, 2, 3, 4, 5 },
		.dma_bytes = 4096,
		.instructions = 12,
		.profile_records = 4,
		.core = 3,
	},
	{
		.begin_ns = 5001000,
		.end_ns = 5002000,
		.picoseconds = 1000000,
		.core = 1,
	},
};

static struct run_report sample_report(void)
{
	struct run_report report = { .path = "m.neff", .parts = results, .num_parts = 2 };

	run_times_add(&report.wall, 3000);
	run_times_add(&report.wall, 1500);
	run_times_add(&report.wall, 6000);
	return report;
}

START_TEST(report_text)
{
	const struct run_report report = sample_report();
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	run_report_text(file, &report);
	fclose(file);
	ck_assert_str_eq(text,
			 "m.neff: 3 executions\n"
			 "wall time      3.500 us (least 1.500, most 6.000)\n"
			 "modelled time  2.500 us\n"
			 "part 0 on core 3: 6000 cycles, 12 instructions, 4096 bytes by DMA; busy "
			 "cycles: tensor 1 vector 2 scalar 3 gpsimd 4 sync 5\n"
			 "part 1 on core 1: 0 cycles, 0 instructions, 0 bytes by DMA; busy cycles: "
			 "tensor 0 vector 0 scalar 0 gpsimd 0 sync 0\n");
	free(text);
}
END_TEST

START_TEST(report_json)
{
	const struct run_report report = sample_report();
	json_int_t mean, least, most, modelled, executions, core, device, sync;
	char *text = NULL;
	const char *program;
	json_t *all, *parts;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ck_assert_int_eq(run_report_json(file, &report), 0);
	fclose(file);
	all = json_loads(text, 0, NULL);
	ck_assert_int_eq(json_unpack(all, "{s:s, s:I, s:{s:I, s:I, s:I}, s:I, s:o}", "program",
				     &program, "executions", &executions, "wall_ns", "mean", &mean,
				     "least", &least, "most", &most, "modelled_ps", &modelled,
				     "parts", &parts),
			 0);
	ck_assert_str_eq(program, "m.neff");
	ck_assert_int_eq(executions, 3);
	ck_assert_int_eq(mean, 3500);
	ck_assert_int_eq(least, 1500);
	ck_assert_int_eq(most, 6000);
	ck_assert_int_eq(modelled, 2500000);
	ck_assert_uint_eq(json_array_size(parts), 2);
	ck_assert_int_eq(json_unpack(json_array_get(parts, 0), "{s:I, s:I, s:{s:I}}", "core", &core,
				     "device_ns", &device, "busy_cycles", "sync", &sync),
			 0);
	ck_assert_int_eq(core, 3);
	ck_assert_int_eq(device, 3000);
	ck_assert_int_eq(sync, 5);
	json_decref(all);
	free(text);
}
END_TEST

/* ---- traces ------------------------------------------------------------------ */

static struct trn_profile_record record(uint8_t engine, uint32_t instruction, uint8_t ring,
					uint64_t begin_ps, uint64_t end_ps, uint32_t begin_ns,
					uint32_t end_ns)
{
	return (struct trn_profile_record){
		.instruction = instruction,
		.engine = engine,
		.opcode = TRN_OP_HALT,
		.ring = ring,
		.begin_ps = begin_ps,
		.end_ps = end_ps,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
	};
}

/* The event of that phase, process, track and name which is the @nth, from 0 on; or NULL. */
static json_t *find_event(json_t *events, const char *phase, int process, int track,
			  const char *name, int nth)
{
	const char *event_phase, *event_name;
	json_int_t event_process, event_track;
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		ck_assert_int_eq(json_unpack(event, "{s:s, s:I, s:I, s:s}", "ph", &event_phase,
					     "pid", &event_process, "tid", &event_track, "name",
					     &event_name),
				 0);
		if (!strcmp(phase, event_phase) && !strcmp(name, event_name) &&
		    process == event_process && track == event_track && !nth--)
			return event;
	}
	return NULL;
}

static void assert_slice(json_t *events, int process, int track, const char *name, int nth,
			 double begin_us, double duration_us, const char *text)
{
	json_t *event = find_event(events, "X", process, track, name, nth);
	const char *event_text = "";
	double ts, dur;

	ck_assert_msg(event != NULL, "no slice %s %d on %d:%d", name, nth, process, track);
	ck_assert_int_eq(json_unpack(event, "{s:F, s:F, s:{s?s}}", "ts", &ts, "dur", &dur, "args",
				     "text", &event_text),
			 0);
	ck_assert_double_eq_tol(ts, begin_us, 1e-9);
	ck_assert_double_eq_tol(dur, duration_us, 1e-9);
	ck_assert_str_eq(event_text, text);
}

static void assert_named(json_t *events, int process, int track, const char *what,
			 const char *wanted)
{
	json_t *event = find_event(events, "M", process, track, what, 0);
	const char *name;

	ck_assert_msg(event != NULL, "no %s of %d:%d", what, process, track);
	ck_assert_int_eq(json_unpack(event, "{s:{s:s}}", "args", "name", &name), 0);
	ck_assert_str_eq(name, wanted);
}

#define HALT_TEXT "halt"

/* Tracks: 1 queue; 2 to 6 the engines; 7 to 22 the rings.  Processes: two for each part. */
START_TEST(trace)
{
	static const struct trn_neff_queue ring = { "in \"x\"", 2, TRN_NEFF_IN };
	struct trn_neff_core core = sample_single.cores[0];
	struct trn_profile_record records[] = {
		/* Out of order; the first two overlap in the model's time. */
		record(TRN_ENGINE_VECTOR, 1, TRN_PROFILE_NO_RING, 300, 400, 20, 30),
		record(TRN_ENGINE_VECTOR, 0, TRN_PROFILE_NO_RING, 100, 350, 10, 20),
		record(TRN_ENGINE_SYNC, 0, 2, 1300000, 2400001, 0, 2999),
		record(TRN_ENGINE_SYNC, 9, TRN_PROFILE_NO_RING, 0, 1, 0, 0),
	};
	struct run_trace_part parts[2] = {
		{ .core = &core, .records = records, .count = 4, .result = results[0] },
		{ .core = &sample_double.cores[0], .result = results[1] },
	};
	json_t *all, *events;

	make_file();
	core.queues = &ring;
	core.num_queues = 1;
	ck_assert_int_eq(run_write_trace(path, "a \\ program", parts, 2), 0);
	all = json_load_file(path, 0, NULL);
	ck_assert_ptr_nonnull(all);
	events = json_object_get(all, "traceEvents");
	assert_named(events, 1, 0, "process_name", "part 0 on core 3: modelled time");
	assert_named(events, 2, 0, "process_name", "part 0 on core 3: device's own time");
	assert_named(events, 3, 0, "process_name", "part 1 on core 1: modelled time");
	assert_named(events, 1, 1, "thread_name", "queue");
	assert_named(events, 1, 3, "thread_name", "vector engine");
	assert_named(events, 1, 6, "thread_name", "sync engine");
	assert_named(events, 1, 9, "thread_name", "DMA ring 2: in \"x\"");
	ck_assert_ptr_null(find_event(events, "M", 1, 2, "thread_name", 0));
	ck_assert_ptr_null(find_event(events, "M", 1, 7, "thread_name", 0));

	assert_slice(events, 1, 1, "a \\ program", 0, 0, 2.5, "");
	assert_slice(events, 2, 1, "a \\ program", 0, 0, 3, "");
	assert_slice(events, 4, 1, "a \\ program", 0, 1, 1, "");
	assert_slice(events, 1, 3, "copy", 0, 0.0001, 0.0002,
		     "copy shape=1x1x1x1 out=sbuf[0,0]:bf16:0,0,0");
	assert_slice(events, 1, 3, "halt", 0, 0.0003, 0.0001, HALT_TEXT);
	assert_slice(events, 2, 3, "copy", 0, 0.01, 0.01,
		     "copy shape=1x1x1x1 out=sbuf[0,0]:bf16:0,0,0");
	assert_slice(events, 2, 3, "halt", 0, 0.02, 0.01, HALT_TEXT);
	assert_slice(events, 1, 9, "halt", 0, 1.3, 1.100001, HALT_TEXT);
	assert_slice(events, 2, 9, "halt", 0, 0, 2.999, HALT_TEXT);
	assert_slice(events, 1, 6, "opcode_0x01", 0, 0, 0.000001, "opcode_0x01");
	json_decref(all);
	remove_file();
}
END_TEST

START_TEST(wrong_traces)
{
	struct trn_profile_record one = record(TRN_ENGINES, 0, TRN_PROFILE_NO_RING, 0, 1, 0, 1);
	struct run_trace_part part = {
		.core = &sample_single.cores[0],
		.records = &one,
		.count = 1,
		.result = results[0],
	};

	ck_assert_int_eq(run_write_trace("/dev/null", "p", &part, 1), -EIO);
	assert_says("record 0 of the device");
	one = record(TRN_ENGINE_SYNC, 0, TRN_ISA_DMA_RINGS, 0, 1, 0, 1);
	ck_assert_int_eq(run_write_trace("/dev/null", "p", &part, 1), -EIO);
	one.ring = 0;
	ck_assert_int_eq(run_write_trace("/dev/null", "p", &part, 1), 0);
	ck_assert_int_eq(run_write_trace("/dev/full", "p", &part, 1), -ENOSPC);
	ck_assert_int_eq(run_write_trace("/nonexistent/t", "p", &part, 1), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 60);
	tcase_add_test(all, arguments);
	tcase_add_test(all, wrong_arguments);
	tcase_add_test(all, outside);
	tcase_add_loop_test(all, arrays, 0, (int)COUNT(types));
	tcase_add_test(all, wrong_arrays);
	tcase_add_test(all, report_text);
	tcase_add_test(all, report_json);
	tcase_add_test(all, trace);
	tcase_add_test(all, wrong_traces);
	suite_add_tcase(suite, all);
	return check_run(suite);
}
