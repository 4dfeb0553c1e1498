/* SPDX-License-Identifier: MIT */
/* One program on one chip: inputs from files, executions, outputs to files. */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_queue.h>

#include "array.h"
#include "report.h"
#include "trace.h"

#define PROGRESS_NS INT64_C(3000000000)

/* Memory of an input or output. */
struct memory {
	struct trn_buffer *buffer;
	uint64_t offset;
};

struct run {
	const struct run_options *options;
	const struct trn_neff *neff;
	struct trn_device *device;
	struct trn_context *context;
	struct trn_queue *copy_queue;
	struct trn_program *program;
	const struct trn_program_info *info;
	struct trn_tensor_set *set;
	/* of each part */
	struct trn_queue *queue[TRN_NEFF_CORES_MAX];
	uint16_t core[TRN_NEFF_CORES_MAX];
	uint64_t sequence[TRN_NEFF_CORES_MAX];
	struct trn_execution_result result[TRN_NEFF_CORES_MAX];
	struct memory *memory; /* of each tensor */
	struct trn_buffer *profile;
	struct run_times wall;
};

/* Tells libtrn's error, and makes an exit status of it. */
static int fail(int error)
{
	fprintf(stderr, "trn-run: %s\n", trn_error_message());
	return error == -EBADMSG || error == -EOPNOTSUPP || error == -EFBIG ? RUN_BAD_FILE
									    : RUN_FAILED;
}

/* ---- chip and program -------------------------------------------------------- */

static int make_queues(struct run *run)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.entries = 16,
		.type = TRN_QUEUE_EXEC,
	};
	uint32_t i;
	int error = 0;

	/* A queue for each part, so that they run at the same time. */
	for (i = 0; i < run->info->parts && !error; i++)
		error = trn_queue_create_attributes(run->context, &attributes, &run->queue[i]);
	return error;
}

static int choose_cores(struct run *run)
{
	uint32_t first = run->options->core, cores = trn_device_info(run->device)->cores, i;

	if (first != RUN_ANY_CORE && (first >= cores || run->info->parts > cores - first))
		return run_usage("--core %" PRIu32 ": the program runs on %" PRIu32
				 " core%s from there on, and the "
				 "chip has %" PRIu32,
				 first, run->info->parts, run->info->parts == 1 ? "" : "s", cores);
	for (i = 0; i < run->info->parts; i++)
		run->core[i] = first == RUN_ANY_CORE ? TRN_CORE_ANY : (uint16_t)(first + i);
	return RUN_OK;
}

static int load(struct run *run)
{
	int error = trn_neff_open(run->options->path, &run->neff);

	if (!error)
		error = trn_device_open(run->options->device, &run->device);
	if (!error)
		error = trn_context_create(run->device, &run->context);
	if (!error)
		error = trn_queue_create(run->context, TRN_QUEUE_KERNEL, 64, &run->copy_queue);
	if (!error)
		error = trn_program_load(run->copy_queue, run->neff, &run->program);
	if (error)
		return fail(error);
	run->info = trn_program_info(run->program);
	run->memory = calloc(run->info->tensors + 1, sizeof(run->memory[0]));
	if (!run->memory) {
		fprintf(stderr, "trn-run: no host memory\n");
		return RUN_FAILED;
	}
	error = make_queues(run);
	if (!error)
		error = trn_tensor_set_create(run->program, &run->set);
	return error ? fail(error) : choose_cores(run);
}

/* ---- tensors ----------------------------------------------------------------- */

static const struct run_file *find_file(const struct run_files *files, const char *tensor)
{
	uint32_t i;

	for (i = 0; i < files->count; i++)
		if (!strcmp(files->file[i].tensor, tensor))
			return &files->file[i];
	return NULL;
}

/* Each file is of a tensor of that kind. */
static int check_files(const struct run *run, const char *option, const struct run_files *files,
		       enum trn_neff_kind kind)
{
	const struct trn_tensor_info *info;
	uint32_t i;

	for (i = 0; i < files->count; i++) {
		info = trn_program_find_tensor(run->program, files->file[i].tensor);
		if (!info || info->kind != kind)
			return run_usage("%s %s: the program has no %s of that name: "
					 "trn-neff info %s lists its tensors",
					 option, files->file[i].tensor, trn_neff_kind_name(kind),
					 run->options->path);
	}
	return RUN_OK;
}

static int bind_tensor(struct run *run, const struct trn_tensor_info *info, struct memory *memory)
{
	struct trn_tensor tensor = { .size = info->size, .dtype = info->dtype };
	int error;

	error = trn_buffer_create(run->context, TRN_PLACEMENT_HBM, TRN_STACK_ANY,
				  info->size + info->alignment - 1, 0, &memory->buffer);
	if (error)
		return error;
	memory->offset = -trn_buffer_address(memory->buffer) & (info->alignment - 1);
	tensor.buffer = memory->buffer;
	tensor.offset = memory->offset;
	return trn_tensor_set_bind(run->set, info->name, &tensor);
}

static int read_input(struct run *run, const struct trn_tensor_info *info,
		      const struct memory *memory)
{
	const struct run_file *file = find_file(&run->options->in, info->name);
	void *elements;
	int error;

	if (!file)
		return run_usage("input '%s' has no array: expected --in '%s=FILE.npy'", info->name,
				 info->name);
	error = run_read_array(file->path, info, &elements);
	if (error)
		return fail(error);
	error = trn_write(run->copy_queue, memory->buffer, memory->offset, elements, info->size);
	free(elements);
	return error ? fail(error) : RUN_OK;
}

static int prepare_tensors(struct run *run)
{
	int status = check_files(run, "--in", &run->options->in, TRN_NEFF_INPUT);
	uint32_t i;

	if (!status)
		status = check_files(run, "--out", &run->options->out, TRN_NEFF_OUTPUT);
	for (i = 0; i < run->info->tensors && !status; i++) {
		const struct trn_tensor_info *info = trn_program_tensor(run->program, i);
		int error;

		if (info->kind != TRN_NEFF_INPUT && info->kind != TRN_NEFF_OUTPUT)
			continue;
		error = bind_tensor(run, info, &run->memory[i]);
		if (error)
			status = fail(error);
		else if (info->kind == TRN_NEFF_INPUT)
			status = read_input(run, info, &run->memory[i]);
	}
	return status;
}

static int write_output(struct run *run, const struct run_file *file,
			const struct trn_tensor_info *info, const struct memory *memory)
{
	void *elements = malloc(info->size);
	int error = -ENOMEM;

	if (!elements) {
		fprintf(stderr, "trn-run: no host memory for '%s'\n", info->name);
		return RUN_FAILED;
	}
	error = trn_read(run->copy_queue, elements, memory->buffer, memory->offset, info->size);
	if (!error)
		error = run_write_array(file->path, info, elements);
	free(elements);
	return error ? fail(error) : RUN_OK;
}

static int write_outputs(struct run *run)
{
	const struct run_file *file;
	int status = RUN_OK;
	uint32_t i;

	for (i = 0; i < run->info->tensors && !status; i++) {
		const struct trn_tensor_info *info = trn_program_tensor(run->program, i);

		file = info->kind == TRN_NEFF_OUTPUT ? find_file(&run->options->out, info->name)
						     : NULL;
		if (file)
			status = write_output(run, file, info, &run->memory[i]);
	}
	return status;
}

/* ---- executions -------------------------------------------------------------- */

static void tell_progress(uint32_t repetition, uint32_t repeat)
{
	static int64_t last;
	int64_t now = trn_deadline(0);

	if (!last)
		last = now;
	if (now - last < PROGRESS_NS)
		return;
	last = now;
	fprintf(stderr, "trn-run: execution %" PRIu32 " of %" PRIu32 " is under way\n",
		repetition + 1, repeat);
}

static int wait_part(struct run *run, uint32_t part, uint32_t repetition)
{
	int error;

	do {
		tell_progress(repetition, run->options->repeat);
		error = trn_queue_wait(run->queue[part], run->sequence[part],
				       trn_deadline(PROGRESS_NS));
	} while (error == -ETIME);
	return error;
}

static int execute_once(struct run *run, uint32_t repetition)
{
	const struct run_options *options = run->options;
	bool last = repetition + 1 == options->repeat;
	int64_t start = trn_deadline(0);
	uint32_t i;
	int error = 0;

	for (i = 0; i < run->info->parts && !error; i++) {
		uint64_t size = options->records * sizeof(struct trn_profile_record);
		const struct trn_execution execution = {
			.size = sizeof(execution),
			.first_part = i,
			.num_parts = 1,
			.cores = &run->core[i],
			.seed = options->seed,
			/* What it costs does not count in the others. */
			.profile = last ? run->profile : NULL,
			.profile_offset = i * size,
			.profile_size = size,
		};

		error = trn_execute_async(run->queue[i], run->set, &execution, &run->sequence[i]);
	}
	for (i = 0; i < run->info->parts && !error; i++)
		error = wait_part(run, i, repetition);
	run_times_add(&run->wall, (uint64_t)(trn_deadline(0) - start));
	return error;
}

static int execute_all(struct run *run)
{
	uint32_t i;
	int error = 0;

	if (run->options->profile)
		error = trn_buffer_create(run->context, TRN_PLACEMENT_HOST, TRN_STACK_ANY,
					  (uint64_t)run->info->parts * run->options->records *
						  sizeof(struct trn_profile_record),
					  0, &run->profile);
	for (i = 0; i < run->options->repeat && !error; i++)
		error = execute_once(run, i);
	for (i = 0; i < run->info->parts && !error; i++)
		error = trn_tensor_set_result(run->set, i, &run->result[i]);
	return error ? fail(error) : RUN_OK;
}

/* ---- what is told ------------------------------------------------------------ */

static int write_profile(struct run *run)
{
	struct run_trace_part part[TRN_NEFF_CORES_MAX];
	uint32_t room = run->options->records, i;
	struct trn_profile_record *records;
	void *pointer;
	int error;

	if (!run->profile)
		return RUN_OK;
	error = trn_buffer_map(run->profile, &pointer);
	if (error)
		return fail(error);
	records = pointer;
	for (i = 0; i < run->info->parts; i++) {
		uint64_t count = run->result[i].profile_records;

		if (count > room)
			fprintf(stderr,
				"trn-run: the profile has room for %" PRIu32 " of the %" PRIu64
				" records of part %" PRIu32 ": use --profile-records %" PRIu64 "\n",
				room, count, i, count);
		part[i] = (struct run_trace_part){
			.core = &run->neff->cores[i],
			.records = records + (uint64_t)i * room,
			.count = count < room ? count : room,
			.result = run->result[i],
		};
	}
	error = run_write_trace(run->options->profile,
				*run->info->name ? run->info->name : run->options->path, part,
				run->info->parts);
	return error ? fail(error) : RUN_OK;
}

static int tell_times(const struct run *run)
{
	const struct run_report report = {
		.path = run->options->path,
		.wall = run->wall,
		.parts = run->result,
		.num_parts = run->info->parts,
	};

	if (!run->options->json) {
		run_report_text(stderr, &report);
		return RUN_OK;
	}
	if (!run_report_json(stdout, &report) && !fflush(stdout))
		return RUN_OK;
	fprintf(stderr, "trn-run: statistics could not be written: %s\n", strerror(errno));
	return RUN_FAILED;
}

static void free_run(struct run *run)
{
	uint32_t i;

	/* Queues first, so that nothing uses memory any more. */
	for (i = 0; i < TRN_NEFF_CORES_MAX; i++)
		trn_queue_destroy(run->queue[i]);
	trn_queue_destroy(run->copy_queue);
	trn_tensor_set_destroy(run->set);
	for (i = 0; run->memory && i < run->info->tensors; i++)
		trn_buffer_destroy(run->memory[i].buffer);
	free(run->memory);
	trn_buffer_destroy(run->profile);
	trn_program_unload(run->program);
	trn_context_destroy(run->context);
	trn_device_close(run->device);
	trn_neff_close(run->neff);
}

int run_program(const struct run_options *options)
{
	struct run run = { .options = options };
	int status = load(&run);

	if (!status)
		status = prepare_tensors(&run);
	if (!status)
		status = execute_all(&run);
	if (!status)
		status = write_outputs(&run);
	if (!status)
		status = write_profile(&run);
	if (!status)
		status = tell_times(&run);
	free_run(&run);
	return status;
}
