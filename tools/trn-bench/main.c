/* SPDX-License-Identifier: MIT */
/* trn-bench: how fast do bytes move, do they arrive, and what does memory cost? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define EXIT_USAGE 2

static const char help[] =
	"Usage: trn-bench copy [OPTION]...\n"
	"       trn-bench memory [OPTION]...\n"
	"\n"
	"copy: copies data host -> HBM -> HBM (another stack where there is one) -> host on\n"
	"each chip, compares checksums of source and destination, and prints bandwidths. Memory\n"
	"is allocated and touched beforehand. Where the chip is virtual and trn-vmctl can ask it,\n"
	"also the bandwidth of a memcpy of as many bytes in the chip's process (4K to 256M), and\n"
	"the ratios of the copies' bandwidths to it; else a dash (JSON: null).\n"
	"\n"
	"  --size SIZE                bytes, with K, M, G or T for powers of 1024 (64M)\n"
	"  --size SIZE-SIZE           several: from the first on, four times as many each time\n"
	"  --queue kernel|user|both   who writes the ring (both)\n"
	"  --repeat N                 times that the data is moved (1); the shortest counts\n"
	"\n"
	"memory: prints the CPU time, system calls included, of allocating a page of HBM,\n"
	"binding it to an address, unbinding and freeing it, with more and more other pages\n"
	"allocated and bound, and the ratio of the last time to the first. With trn-vm run\n"
	"--icount 1 ns is one instruction.\n"
	"\n"
	"  --live N[,N]...            numbers of other pages, ascending (10,1000,100000)\n"
	"  --samples N                times that each is done (101); medians are printed\n"
	"\n"
	"Both:\n"
	"  --device N|all             chip, an index of trn-smi list (all)\n"
	"  --json                     write a JSON document instead of text\n"
	"  --help                     write this text\n"
	"\n"
	"GB is 10^9 bytes. Exit codes:\n"
	"  0   all was measured, and all data arrived\n"
	"  1   data differs, no chip, or another failure\n"
	"  2   wrong arguments\n";

/* The results of all chips, of either command. */
struct results {
	struct bench_copy_result *copy;
	struct bench_memory_result *memory;
	size_t count;
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
	int error;

	if (options->command == BENCH_COPY)
		return bench_copy(entry, options, &results->copy[results->count]);
	error = bench_memory(entry, options, &results->memory[results->count]);
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
				*trn_error_message() ? trn_error_message() : strerror(-found));
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
	int error, failures = 0;

	if (options->command == BENCH_COPY) {
		error = report_copy(results->copy, results->count, options);
		failures = compare(results);
	} else {
		error = report_memory(results->memory, results->count, options);
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
	results.copy = calloc(BENCH_COPY_RESULTS * list->count + 1, sizeof(*results.copy));
	results.memory = calloc(list->count + 1, sizeof(*results.memory));
	if (results.copy && results.memory) {
		failures = check_devices(list, &options);
		failures += run(list, &options, &results);
		failures += report(&results, &options);
	} else {
		fprintf(stderr, "trn-bench: no host memory\n");
		failures = 1;
	}
	free(results.copy);
	free(results.memory);
	trn_device_list_free(list);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
