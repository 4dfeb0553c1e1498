/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "document.h"

static const char *const operation_names[OPERATIONS] = {
	[OPERATION_ALLOCATE] = "allocate",
	[OPERATION_QUERY] = "query",
	[OPERATION_BIND] = "bind",
	[OPERATION_UNBIND] = "unbind",
	[OPERATION_FREE] = "free",
};

const char *report_mode_name(const struct bench_copy_result *result)
{
	return result->mode == TRN_QUEUE_KERNEL ? "kernel" : "user";
}

/* Bytes per ns are GB per s.  0 = not known. */
static double bandwidth(uint64_t bytes, int64_t ns)
{
	return ns ? (double)bytes / (double)ns : 0;
}

static double leg_bandwidth(const struct bench_copy_result *result, enum bench_leg leg)
{
	return bandwidth(result->size, result->leg_ns[leg]);
}

/* A leg's bandwidth in parts of memcpy's, 0 = not known. */
static double leg_ratio(const struct bench_copy_result *result, enum bench_leg leg)
{
	int64_t ns = result->leg_ns[leg];

	return ns ? (double)result->memcpy_ns / (double)ns : 0;
}

static double last_to_first(const struct bench_memory_result *result, int operation,
			    const struct bench_options *options)
{
	const int64_t *ns = result->ns[operation];

	return ns[0] ? (double)ns[options->live_count - 1] / (double)ns[0] : 0;
}

/* ---- text ------------------------------------------------------------ */

static void print_copy(const struct bench_copy_result *results, size_t count)
{
	size_t i;
	int leg;

	printf("DEVICE  PCI ADDRESS         BYTES  QUEUE   HOST>HBM GB/s  HBM>HBM GB/s  "
	       "HBM>HOST GB/s  MEMCPY GB/s  RATIOS TO MEMCPY     SOURCE FNV-1A     "
	       "DESTINATION FNV-1A\n");
	for (i = 0; i < count; i++) {
		const struct bench_copy_result *r = &results[i];

		printf("%-6u  %-12s  %11" PRIu64 "  %-6s", r->device, r->pci, r->size,
		       report_mode_name(r));
		printf("  %13.3f  %12.3f  %13.3f", leg_bandwidth(r, LEG_HOST_TO_HBM),
		       leg_bandwidth(r, LEG_HBM_TO_HBM), leg_bandwidth(r, LEG_HBM_TO_HOST));
		print_known(11, 3, bandwidth(r->size, r->memcpy_ns));
		for (leg = 0; leg < LEGS; leg++)
			print_known(5, 3, leg_ratio(r, leg));
		printf("  %016" PRIx64 "  %016" PRIx64 "\n", r->source_checksum,
		       r->destination_checksum);
	}
}

static void print_memory(const struct bench_memory_result *results, size_t count,
			 const struct bench_options *options)
{
	uint32_t live;
	int operation;
	size_t i;

	printf("DEVICE  PCI ADDRESS   OPERATION");
	for (live = 0; live < options->live_count; live++)
		printf("  ns, %8u LIVE", options->live[live]);
	printf("  LAST/FIRST\n");
	for (i = 0; i < count; i++) {
		for (operation = 0; operation < OPERATIONS; operation++) {
			printf("%-6u  %-12s  %-9s", results[i].device, results[i].pci,
			       operation_names[operation]);
			for (live = 0; live < options->live_count; live++)
				printf("  %17" PRId64, results[i].ns[operation][live]);
			print_known(10, 3, last_to_first(&results[i], operation, options));
			putchar('\n');
		}
	}
}

/* ---- JSON ------------------------------------------------------------ */

static struct object copy_object(const struct bench_copy_result *r,
				 const struct bench_options *options)
{
	static const struct {
		const char *bandwidth, *ratio;
	} keys[LEGS] = {
		[LEG_HOST_TO_HBM] = { "host_to_hbm_bytes_per_second", "host_to_hbm_per_memcpy" },
		[LEG_HBM_TO_HBM] = { "hbm_to_hbm_bytes_per_second", "hbm_to_hbm_per_memcpy" },
		[LEG_HBM_TO_HOST] = { "hbm_to_host_bytes_per_second", "hbm_to_host_per_memcpy" },
	};
	struct object object = { .json = json_object() };
	int leg;

	set(&object, "device", json_integer(r->device));
	set(&object, "pci_address", json_string(r->pci));
	set(&object, "queue", json_string(report_mode_name(r)));
	set(&object, "size_bytes", json_integer((json_int_t)r->size));
	set(&object, "repeat", json_integer(options->repeat));
	set(&object, "in_flight", json_integer(options->in_flight));
	set_known(&object, "memcpy_bytes_per_second", bandwidth(r->size, r->memcpy_ns) * 1e9);
	for (leg = 0; leg < LEGS; leg++) {
		set_known(&object, keys[leg].bandwidth, leg_bandwidth(r, leg) * 1e9);
		set_known(&object, keys[leg].ratio, leg_ratio(r, leg));
	}
	set(&object, "source_fnv1a64", json_sprintf("%016" PRIx64, r->source_checksum));
	set(&object, "destination_fnv1a64", json_sprintf("%016" PRIx64, r->destination_checksum));
	return object;
}

static struct object memory_object(const struct bench_memory_result *r, int operation,
				   const struct bench_options *options)
{
	struct object object = { .json = json_object() };
	json_t *live = json_array(), *ns = json_array();
	uint32_t i;

	for (i = 0; i < options->live_count; i++)
		if (json_array_append_new(live, json_integer(options->live[i])) ||
		    json_array_append_new(ns, json_integer(r->ns[operation][i])))
			object.failed = true;
	set(&object, "device", json_integer(r->device));
	set(&object, "pci_address", json_string(r->pci));
	set(&object, "operation", json_string(operation_names[operation]));
	set(&object, "samples", json_integer(options->samples));
	set(&object, "live_objects", live);
	set(&object, "ns", ns);
	set_known(&object, "last_to_first", last_to_first(r, operation, options));
	return object;
}

int report_copy(const struct bench_copy_result *results, size_t count,
		const struct bench_options *options)
{
	struct object document;
	size_t i;

	if (!options->json) {
		print_copy(results, count);
		return flush_text();
	}
	document = new_document("copies");
	for (i = 0; i < count; i++)
		append(&document, "copies", copy_object(&results[i], options));
	return write_document(&document);
}

int report_memory(const struct bench_memory_result *results, size_t count,
		  const struct bench_options *options)
{
	struct object document;
	int operation;
	size_t i;

	if (!options->json) {
		print_memory(results, count, options);
		return flush_text();
	}
	document = new_document("operations");
	for (i = 0; i < count; i++)
		for (operation = 0; operation < OPERATIONS; operation++)
			append(&document, "operations",
			       memory_object(&results[i], operation, options));
	return write_document(&document);
}
