/* SPDX-License-Identifier: MIT */
/* trn-bench: how fast do bytes move, do they arrive, and what do memory and submits cost? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "report.h"

#define EXIT_USAGE 2

static const char help[] =
	"Usage: trn-bench copy [OPTION]...\n"
	"       trn-bench memory [OPTION]...\n"
	"       trn-bench submit [OPTION]...\n"
	"       trn-bench latency [OPTION]...\n"
	"\n"
	"copy: copies data host -> HBM -> HBM (another stack where there is one) -> host on\n"
	"each chip, compares checksums of source and destination, and prints bandwidths. Memory\n"
	"is allocated and touched beforehand. Where the chip is virtual and trn-vmctl can ask it,\n"
	"also the bandwidth of a memcpy of as many bytes in the chip's process (4K to 256M), as\n"
	"many in a row and as often, and the ratios of the copies' bandwidths to it; else a dash\n"
	"(JSON: null).\n"
	"\n"
	"  --size SIZE                bytes, with K, M, G or T for powers of 1024 (64M)\n"
	"  --size SIZE-SIZE           several: from the first on, four times as many each time\n"
	"  --queue kernel|user|both   who writes the ring (both)\n"
	"  --in-flight N              copies queued at once, each a submit of its own (16); with\n"
	"                             1 the time to submit and to be woken counts in full\n"
	"  --repeat N                 times that all this is done (1); the shortest counts\n"
	"\n"
	"memory: prints the CPU time, system calls included, of allocating a page of HBM,\n"
	"asking how much is free, binding the page to an address, unbinding and freeing it, with\n"
	"more and more other objects of 1 to 8 pages allocated and bound, and the ratio of the\n"
	"last time to the first. A sample is the mean of 32 pages, one after the other. With\n"
	"trn-vm run --icount 1 ns is one instruction.\n"
	"\n"
	"  --live N[,N]...            numbers of other objects, ascending (10,1000,100000)\n"
	"  --samples N                samples of each (31); medians are printed\n"
	"\n"
	"submit: prints what submits cost the CPU, and a flush of an NVMe disk beside them. With\n"
	"trn-vm run --icount 1 ns is one instruction, and limits are printed too. A user queue\n"
	"is timed by the thread itself. For system calls the kernel is watched by tracepoints "
	"that\n"
	"all drivers' calls pass through, which needs root:\n"
	"  SUBMIT      entry into the call that submits to its return, or, where it waits too, to\n"
	"              the switch to another thread\n"
	"  COMPLETION  entry into the interrupt to the return from the call that waits\n"
	"  COST        both\n"
	"  ALL         all that the CPU did for it from the first to the last, going to sleep and\n"
	"              other threads included (with one CPU)\n"
	"\n"
	"  --queue kernel|user|both   kinds of queues (both)\n"
	"  --samples N                times that each is done (31); medians are printed\n"
	"  --peer none|DISK           NVMe disk, on which nothing is changed (/dev/nvme0n1, if\n"
	"                             there is one)\n"
	"\n"
	"latency: prints how long an empty packet takes from the submit to the end of the wait,\n"
	"one at a time: on a user queue polled, by the call WAIT, and by an eventfd that the\n"
	"interrupt fires, and on a kernel queue; how often the thread slept; and a read of 4 KiB\n"
	"of an NVMe disk (polled: its driver needs poll_queues=1), and the ratios.\n"
	"\n"
	"  --samples N                times that each is done (2001); medians are printed\n"
	"  --peer none|DISK           as above\n"
	"\n"
	"All:\n"
	"  --device N|all             chip, an index of trn-smi list (all)\n"
	"  --json                     write a JSON document instead of text\n"
	"  --help                     write this text\n"
	"\n"
	"GB is 10^9 bytes. Exit codes:\n"
	"  0   all was measured, and all data arrived\n"
	"  1   data differs, no chip, or another failure\n"
	"  2   wrong arguments\n";

/* The results of all chips, of the command. */
struct results {
	union {
		void *any;
		struct bench_copy_result *copy;
		struct bench_memory_result *memory;
		struct bench_submit_result *submit;
		struct bench_latency_result *latency;
	};
	size_t count;
};

/* Bytes for the results of one chip. */
static const size_t result_size[BENCH_COMMANDS] = {
	[BENCH_COPY] = BENCH_COPY_RESULTS * sizeof(struct bench_copy_result),
	[BENCH_MEMORY] = sizeof(struct bench_memory_result),
	[BENCH_SUBMIT] = sizeof(struct bench_submit_result),
	[BENCH_LATENCY] = sizeof(struct bench_latency_result),
};

/* Number of results that are wrong, each told on stderr. */
static int compare(const struct results *results)
{
	int wrong = 0;
	size_t i;

	for (i = 0; i < results->count; i++) {
		const struct bench_copy_result *r = &results->copy[i];

		if (r->source_checksum == r->destination_checksum)
			continue;
		fprintf(stderr,
			"trn-bench: device %u, %" PRIu64
			" bytes, %s queue: data differs: source %016" PRIx64
			", destination %016" PRIx64 "\n",
			r->device, r->size, report_mode_name(r), r->source_checksum,
			r->destination_checksum);
		wrong++;
	}
	return wrong;
}

/* Number of results more, or negative errno. */
static int run_one(const struct trn_device_entry *entry, const struct bench_options *options,
		   struct results *results)
{
	size_t count = results->count;
	int error = 0;

	switch (options->command) {
	case BENCH_COPY:
		return bench_copy(entry, options, &results->copy[count]);
	case BENCH_MEMORY:
		error = bench_memory(entry, options, &results->memory[count]);
		break;
	case BENCH_SUBMIT:
		error = bench_submit(entry, options, &results->submit[count]);
		break;
	case BENCH_LATENCY:
		error = bench_latency(entry, options, &results->latency[count]);
		break;
	}
	return error ? error : 1;
}

/* Runs on the chips asked for.  Number of failures, each told on stderr. */
static int run(const struct trn_device_list *list, const struct bench_options *options,
	       struct results *results)
{
	int failures = 0;
	size_t i;

	for (i = 0; i < list->count; i++) {
		int found;

		if (options->device != BENCH_ALL_DEVICES && options->device != i)
			continue;
		found = run_one(list->entry[i], options, results);
		if (found < 0) {
			fprintf(stderr, "trn-bench: device %zu: %s\n", i,
				*bench_error_message() ? bench_error_message() : strerror(-found));
			failures++;
		} else {
			results->count += (size_t)found;
		}
	}
	return failures;
}

/* Nothing to run on is a failure too. */
static int check_devices(const struct trn_device_list *list, const struct bench_options *options)
{
	if (!list->count)
		fprintf(stderr, "trn-bench: there is no chip (is the driver loaded?)\n");
	else if (options->device != BENCH_ALL_DEVICES && options->device >= list->count)
		fprintf(stderr, "trn-bench: there is no device %u: the indexes are 0 to %zu\n",
			options->device, list->count - 1);
	else
		return 0;
	return 1;
}

/* Number of failures, each told on stderr. */
static int report(const struct results *results, const struct bench_options *options)
{
	int error = 0, failures = 0;
	size_t count = results->count;

	switch (options->command) {
	case BENCH_COPY:
		error = report_copy(results->copy, count, options);
		failures = compare(results);
		break;
	case BENCH_MEMORY:
		error = report_memory(results->memory, count, options);
		break;
	case BENCH_SUBMIT:
		error = report_submit(results->submit, count, options);
		break;
	case BENCH_LATENCY:
		error = report_latency(results->latency, count, options);
		break;
	}
	if (error) {
		fprintf(stderr, "trn-bench: output could not be written: %s\n", strerror(-error));
		failures++;
	}
	return failures;
}

int main(int argc, char **argv)
{
	const struct trn_device_list *list;
	struct bench_options options;
	struct results results = { 0 };
	char error[256];
	int failures;

	switch (bench_parse(argc - 1, argv + 1, &options, error)) {
	case BENCH_HELP:
		fputs(help, stdout);
		return EXIT_SUCCESS;
	case BENCH_USAGE:
		fprintf(stderr, "trn-bench: %s\n", error);
		return EXIT_USAGE;
	case BENCH_RUN:
		break;
	}

	if (trn_device_list(&list)) {
		fprintf(stderr, "trn-bench: %s\n", trn_error_message());
		return EXIT_FAILURE;
	}
	results.any = calloc(list->count + 1, result_size[options.command]);
	if (results.any) {
		failures = check_devices(list, &options);
		failures += run(list, &options, &results);
		failures += report(&results, &options);
	} else {
		fprintf(stderr, "trn-bench: no host memory\n");
		failures = 1;
	}
	free(results.any);
	trn_device_list_free(list);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
