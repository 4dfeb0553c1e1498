/* SPDX-License-Identifier: MIT */
/* trn-bench: how fast do bytes move, and do they arrive? */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"

#define EXIT_USAGE 2

static const char help[] =
	"Usage: trn-bench copy [OPTION]...\n"
	"\n"
	"Copies data host -> HBM -> HBM (another stack where there is one) -> host on each\n"
	"chip, compares checksums of source and destination, and prints bandwidths.\n"
	"\n"
	"  --device N|all             chip, an index of trn-smi list (all)\n"
	"  --size SIZE                bytes, with K, M, G or T for powers of 1024 (64M)\n"
	"  --queue kernel|user|both   who writes the ring (both)\n"
	"  --repeat N                 times that the data is moved (1)\n"
	"  --json                     write a JSON document instead of text\n"
	"  --help                     write this text\n"
	"\n"
	"GB is 10^9 bytes. Exit codes:\n"
	"  0   all data arrived\n"
	"  1   data differs, no chip, or another failure\n"
	"  2   wrong arguments\n";

static const char *mode_name(const struct bench_result *result)
{
	return result->mode == TRN_QUEUE_KERNEL ? "kernel" : "user";
}

static double bandwidth(const struct bench_result *result, enum bench_leg leg)
{
	/* Bytes per ns are GB per s. */
	return result->leg_ns[leg] ? (double)result->bytes / (double)result->leg_ns[leg] : 0;
}

static void print_text(const struct bench_result *results, size_t count)
{
	size_t i;

	printf("DEVICE  PCI ADDRESS   QUEUE   HOST>HBM GB/s  HBM>HBM GB/s  HBM>HOST GB/s  "
	       "SOURCE FNV-1A     DESTINATION FNV-1A\n");
	for (i = 0; i < count; i++) {
		const struct bench_result *r = &results[i];

		printf("%-6u  %-12s  %-6s  %13.3f  %12.3f  %13.3f  %016" PRIx64 "  %016" PRIx64
		       "\n",
		       r->device, r->pci, mode_name(r), bandwidth(r, LEG_HOST_TO_HBM),
		       bandwidth(r, LEG_HBM_TO_HBM), bandwidth(r, LEG_HBM_TO_HOST),
		       r->source_checksum, r->destination_checksum);
	}
}

static json_t *result_object(const struct bench_result *r, const struct bench_options *options)
{
	static const char *const leg_keys[LEGS] = {
		[LEG_HOST_TO_HBM] = "host_to_hbm_bytes_per_second",
		[LEG_HBM_TO_HBM] = "hbm_to_hbm_bytes_per_second",
		[LEG_HBM_TO_HOST] = "hbm_to_host_bytes_per_second",
	};
	json_t *object = json_object();
	int leg;

	json_object_set_new(object, "device", json_integer(r->device));
	json_object_set_new(object, "pci_address", json_string(r->pci));
	json_object_set_new(object, "queue", json_string(mode_name(r)));
	json_object_set_new(object, "size_bytes", json_integer((json_int_t)options->size));
	json_object_set_new(object, "repeat", json_integer(options->repeat));
	for (leg = 0; leg < LEGS; leg++)
		json_object_set_new(object, leg_keys[leg], json_real(bandwidth(r, leg) * 1e9));
	json_object_set_new(object, "source_fnv1a64",
			    json_sprintf("%016" PRIx64, r->source_checksum));
	json_object_set_new(object, "destination_fnv1a64",
			    json_sprintf("%016" PRIx64, r->destination_checksum));
	return object;
}

static void print_json(const struct bench_result *results, size_t count,
		       const struct bench_options *options)
{
	json_t *array = json_array(), *document;
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(array, result_object(&results[i], options));
	document = json_pack("{s:i, s:o}", "schema_version", 1, "copies", array);
	json_dumpf(document, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(document);
}

/* Number of results that are wrong, each told on stderr. */
static int compare(const struct bench_result *results, size_t count)
{
	int wrong = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct bench_result *r = &results[i];

		if (r->source_checksum == r->destination_checksum)
			continue;
		fprintf(stderr,
			"trn-bench: device %u, %s queue: data differs: source %016" PRIx64
			", destination %016" PRIx64 "\n",
			r->device, mode_name(r), r->source_checksum, r->destination_checksum);
		wrong++;
	}
	return wrong;
}

/* Runs on the chips asked for.  Number of failures, each told on stderr. */
static int run(const struct trn_device_list *list, const struct bench_options *options,
	       struct bench_result *results, size_t *count)
{
	int failures = 0;
	size_t i;

	for (i = 0; i < list->count; i++) {
		int found;

		if (options->device != BENCH_ALL_DEVICES && options->device != i)
			continue;
		found = bench_copy(list->entry[i], options, &results[*count]);
		if (found < 0) {
			fprintf(stderr, "trn-bench: device %zu: %s\n", i, trn_error_message());
			failures++;
		} else {
			*count += (size_t)found;
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

int main(int argc, char **argv)
{
	const struct trn_device_list *list;
	struct bench_options options;
	struct bench_result *results;
	size_t count = 0;
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
	results = calloc(2 * list->count + 1, sizeof(*results));
	if (!results) {
		fprintf(stderr, "trn-bench: no host memory\n");
		trn_device_list_free(list);
		return EXIT_FAILURE;
	}
	failures = check_devices(list, &options);
	failures += run(list, &options, results, &count);
	if (options.json)
		print_json(results, count, &options);
	else
		print_text(results, count);
	failures += compare(results, count);
	trn_device_list_free(list);
	free(results);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "trn-bench: output could not be written: %s\n", strerror(errno));
		failures++;
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
