/* SPDX-License-Identifier: MIT */
/* Results about queues, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "document.h"
#include "report.h"

/* ---- Submits ---------------------------------------------------------- */

static const char *const path_names[SUBMIT_PATHS] = {
	[SUBMIT_USER_1] = "user queue",
	[SUBMIT_USER_32] = "user queue",
	[SUBMIT_USER_EMPTY] = "user queue, empty packet",
	[SUBMIT_USER_PROGRAM] = "user queue, empty program",
	[SUBMIT_KERNEL_PROGRAM] = "kernel queue, program",
	[SUBMIT_KERNEL_1] = "kernel queue",
	[SUBMIT_KERNEL_32] = "kernel queue",
	[SUBMIT_BEHIND_1] = "kernel queue, behind another",
	[SUBMIT_FLUSH] = "NVMe flush",
};

static int64_t submit_limit(const struct bench_submit_result *result, int path)
{
	return result->instructions ? bench_submit_limit(path) : 0;
}

static double per_packet(const struct bench_submit_cost *cost, int path)
{
	uint32_t packets = bench_submit_packets(path);

	return packets ? (double)cost->cost / packets : 0;
}

/* Cost in parts of the peer's, 0 = not known. */
static double to_flush(const struct bench_submit_result *result, int path)
{
	const struct bench_submit_cost *flush = &result->path[SUBMIT_FLUSH];

	if (!flush->measured || flush->cost <= 0)
		return 0;
	return (double)result->path[path].cost / (double)flush->cost;
}

static void print_submit(const struct bench_submit_result *r)
{
	int path;

	for (path = 0; path < SUBMIT_PATHS; path++) {
		const struct bench_submit_cost *cost = &r->path[path];

		if (!cost->measured)
			continue;
		printf("%-6u  %-12s  %-28s  %7u  %12.3f", r->device, r->pci, path_names[path],
		       bench_submit_packets(path), cost->system_calls);
		print_known(9, 0, (double)cost->submit);
		print_known(13, 0, (double)cost->completion);
		print_known(8, 0, (double)cost->all);
		print_known(8, 0, (double)cost->cost);
		print_known(8, 0, (double)submit_limit(r, path));
		print_known(13, 1, per_packet(cost, path));
		print_known(8, 3, to_flush(r, path));
		putchar('\n');
	}
}

static struct object submit_object(const struct bench_submit_result *r, int path,
				   const struct bench_options *options)
{
	const struct bench_submit_cost *cost = &r->path[path];
	struct object object = { .json = json_object() };

	set(&object, "device", json_integer(r->device));
	set(&object, "pci_address", json_string(r->pci));
	set(&object, "path", json_string(path_names[path]));
	set(&object, "packets", json_integer(bench_submit_packets(path)));
	set(&object, "samples", json_integer(options->samples));
	set(&object, "ns_are_instructions", json_boolean(r->instructions));
	set(&object, "system_calls", json_real(cost->system_calls));
	set_known(&object, "tracepoint_ns", (double)r->watching);
	set_known(&object, "submit_ns", (double)cost->submit);
	set_known(&object, "completion_ns", (double)cost->completion);
	set_known(&object, "all_ns", (double)cost->all);
	set_known(&object, "cost_ns", (double)cost->cost);
	set_known(&object, "limit_ns", (double)submit_limit(r, path));
	set_known(&object, "cost_per_packet_ns", per_packet(cost, path));
	set_known(&object, "cost_per_flush", to_flush(r, path));
	return object;
}

int report_submit(const struct bench_submit_result *results, size_t count,
		  const struct bench_options *options)
{
	struct object document;
	size_t i;
	int path;

	if (!options->json) {
		printf("DEVICE  PCI ADDRESS   SUBMIT BY                     PACKETS  SYSTEM CALLS  "
		       "SUBMIT ns  COMPLETION ns    ALL ns   COST ns  LIMIT ns  PER PACKET ns  "
		       "TO FLUSH\n");
		for (i = 0; i < count; i++)
			print_submit(&results[i]);
		return flush_text();
	}
	document = new_document("submits");
	for (i = 0; i < count; i++)
		for (path = 0; path < SUBMIT_PATHS; path++)
			if (results[i].path[path].measured)
				append(&document, "submits",
				       submit_object(&results[i], path, options));
	return write_document(&document);
}

/* ---- Latencies --------------------------------------------------------- */

static const char *const wait_names[WAITS] = {
	[WAIT_POLLED] = "empty packet, polled",
	[WAIT_CALL] = "empty packet, call WAIT",
	[WAIT_INTERRUPT] = "empty packet, by interrupt",
	[WAIT_KERNEL_QUEUE] = "empty packet, kernel queue",
	[PEER_POLLED] = "NVMe 4 KiB read, polled",
	[PEER_INTERRUPT] = "NVMe 4 KiB read, by interrupt",
};

static bool is_peer(int wait)
{
	return wait == PEER_POLLED || wait == PEER_INTERRUPT;
}

/* Latency in parts of the peer's, 0 = not known. */
static double to_read(const struct bench_latency_result *result, int wait)
{
	int64_t peer = result->ns[bench_latency_peer(wait)];

	return !is_peer(wait) && peer ? (double)result->ns[wait] / (double)peer : 0;
}

static double latency_limit(int wait)
{
	return is_peer(wait) ? 0 : bench_latency_limit(wait);
}

static struct object latency_object(const struct bench_latency_result *r, int wait,
				    const struct bench_options *options)
{
	struct object object = { .json = json_object() };

	set(&object, "device", json_integer(r->device));
	set(&object, "pci_address", json_string(r->pci));
	set(&object, "operation", json_string(wait_names[wait]));
	set(&object, "samples", json_integer(options->samples));
	set_known(&object, "median_ns", (double)r->ns[wait]);
	set(&object, "sleeps", json_real(r->slept[wait]));
	set_known(&object, "per_read", to_read(r, wait));
	set_known(&object, "per_read_limit", latency_limit(wait));
	return object;
}

static void print_latency(const struct bench_latency_result *r)
{
	int wait;

	for (wait = 0; wait < WAITS; wait++) {
		if (!r->ns[wait])
			continue;
		printf("%-6u  %-12s  %-29s", r->device, r->pci, wait_names[wait]);
		print_known(9, 0, (double)r->ns[wait]);
		printf("  %6.3f", r->slept[wait]);
		print_known(7, 3, to_read(r, wait));
		print_known(5, 2, latency_limit(wait));
		putchar('\n');
	}
}

int report_latency(const struct bench_latency_result *results, size_t count,
		   const struct bench_options *options)
{
	struct object document;
	size_t i;
	int wait;

	if (!options->json) {
		printf("DEVICE  PCI ADDRESS   OPERATION                      MEDIAN ns  SLEEPS  "
		       "TO READ  LIMIT\n");
		for (i = 0; i < count; i++)
			print_latency(&results[i]);
		return flush_text();
	}
	document = new_document("latencies");
	for (i = 0; i < count; i++)
		for (wait = 0; wait < WAITS; wait++)
			if (results[i].ns[wait])
				append(&document, "latencies",
				       latency_object(&results[i], wait, options));
	return write_document(&document);
}
