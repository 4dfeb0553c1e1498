/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_BYTES (UINT64_C(1) << 40)
#define REPEAT_MAX     100000
#define IN_FLIGHT_MAX  1000
#define SAMPLES_MAX    100000
#define LIVE_LARGEST   10000000

bool bench_parse_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMGT";
	unsigned long long value;
	unsigned int shift = 0;
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (*end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit || end[1])
			return false;
		shift = 10 * (unsigned int)(unit - units + 1);
	}
	if (value > UINT64_MAX >> shift)
		return false;
	*size = value << shift;
	return true;
}

static bool parse_number(const char *text, uint32_t largest, uint32_t *number)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value > largest)
		return false;
	*number = (uint32_t)value;
	return true;
}

static bool set_device(struct bench_options *options, const char *value)
{
	if (!strcmp(value, "all")) {
		options->device = BENCH_ALL_DEVICES;
		return true;
	}
	return parse_number(value, BENCH_ALL_DEVICES - 1, &options->device);
}

/* "64M", or "4K-256M". */
static bool set_size(struct bench_options *options, const char *value)
{
	const char *dash = strchr(value, '-');
	char first[32];

	if (!dash) {
		if (!bench_parse_size(value, &options->first_size))
			return false;
		options->last_size = options->first_size;
	} else {
		if ((size_t)(dash - value) >= sizeof(first))
			return false;
		memcpy(first, value, (size_t)(dash - value));
		first[dash - value] = 0;
		if (!bench_parse_size(first, &options->first_size) ||
		    !bench_parse_size(dash + 1, &options->last_size))
			return false;
	}
	return options->first_size && options->first_size % 8 == 0 &&
	       options->first_size <= options->last_size && options->last_size <= SIZE_MAX_BYTES;
}

static bool set_queue(struct bench_options *options, const char *value)
{
	bool both = !strcmp(value, "both");

	options->queue[TRN_QUEUE_KERNEL] = both || !strcmp(value, "kernel");
	options->queue[TRN_QUEUE_USER] = both || !strcmp(value, "user");
	return options->queue[TRN_QUEUE_KERNEL] || options->queue[TRN_QUEUE_USER];
}

static bool set_repeat(struct bench_options *options, const char *value)
{
	return parse_number(value, REPEAT_MAX, &options->repeat) && options->repeat;
}

static bool set_in_flight(struct bench_options *options, const char *value)
{
	return parse_number(value, IN_FLIGHT_MAX, &options->in_flight) && options->in_flight;
}

static bool set_samples(struct bench_options *options, const char *value)
{
	return parse_number(value, SAMPLES_MAX, &options->samples) && options->samples;
}

/* "10,1000,100000" */
static bool set_live(struct bench_options *options, const char *value)
{
	char list[128], *word, *rest = list;
	uint32_t count = 0;

	if (strlen(value) >= sizeof(list))
		return false;
	strcpy(list, value);
	while ((word = strsep(&rest, ","))) {
		if (count == BENCH_LIVE_MAX ||
		    !parse_number(word, LIVE_LARGEST, &options->live[count]) ||
		    options->live[count] <= (count ? options->live[count - 1] : 0))
			return false;
		count++;
	}
	options->live_count = count;
	return true;
}

static bool set_peer(struct bench_options *options, const char *value)
{
	options->peer = value;
	return *value == '/' || !strcmp(value, "none");
}

static const struct {
	const char *name;
	uint32_t samples; /* unless others are asked for */
} commands[BENCH_COMMANDS] = {
	[BENCH_COPY] = { "copy", 0 },
	[BENCH_MEMORY] = { "memory", 31 },
	[BENCH_SUBMIT] = { "submit", 31 },
	[BENCH_LATENCY] = { "latency", 2001 },
};

static const struct {
	const char *name;
	bool (*set)(struct bench_options *options, const char *value);
	const char *expected;
	bool of[BENCH_COMMANDS];
} valued[] = {
	{ "--device", set_device, "an index of trn-smi list, or all", { true, true, true, true } },
	{ "--size",
	  set_size,
	  "a multiple of 8 bytes up to 1T, such as 64M, or two such as 4K-256M",
	  { [BENCH_COPY] = true } },
	{ "--queue",
	  set_queue,
	  "kernel, user or both",
	  { [BENCH_COPY] = true, [BENCH_SUBMIT] = true } },
	{ "--repeat", set_repeat, "1 to 100000", { [BENCH_COPY] = true } },
	{ "--in-flight", set_in_flight, "1 to 1000", { [BENCH_COPY] = true } },
	{ "--live",
	  set_live,
	  "up to 8 ascending numbers from 1 to 10000000, such as 10,1000",
	  { [BENCH_MEMORY] = true } },
	{ "--samples",
	  set_samples,
	  "1 to 100000",
	  { [BENCH_MEMORY] = true, [BENCH_SUBMIT] = true, [BENCH_LATENCY] = true } },
	{ "--peer",
	  set_peer,
	  "none or the path of an NVMe disk, such as /dev/nvme0n1",
	  { [BENCH_SUBMIT] = true, [BENCH_LATENCY] = true } },
};

#define VALUED (sizeof(valued) / sizeof(valued[0]))

static const char usage[] = "trn-bench copy|memory|submit|latency [OPTION]..., see --help";

static enum bench_action parse_options(int argc, char **argv, struct bench_options *options,
				       char error[256])
{
	int i;

	for (i = 0; i < argc; i++) {
		size_t v;

		if (!strcmp(argv[i], "--json")) {
			options->json = true;
			continue;
		}
		for (v = 0; v < VALUED && strcmp(valued[v].name, argv[i]); v++)
			;
		if (v == VALUED || !valued[v].of[options->command]) {
			snprintf(error, 256, "unknown argument %.64s of %s: expected %s", argv[i],
				 commands[options->command].name, usage);
			return BENCH_USAGE;
		}
		if (i + 1 == argc || !valued[v].set(options, argv[i + 1])) {
			snprintf(error, 256, "%s %.64s: expected %s", valued[v].name,
				 i + 1 == argc ? "has no value" : argv[i + 1], valued[v].expected);
			return BENCH_USAGE;
		}
		i++;
	}
	return BENCH_RUN;
}

enum bench_action bench_parse(int argc, char **argv, struct bench_options *options, char error[256])
{
	size_t command;
	int i;

	*options = (struct bench_options){
		.device = BENCH_ALL_DEVICES,
		.first_size = UINT64_C(64) << 20,
		.last_size = UINT64_C(64) << 20,
		.queue = { true, true },
		.repeat = 1,
		.in_flight = 16,
		.live = { 10, 1000, 100000 },
		.live_count = 3,
	};
	for (i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return BENCH_HELP;
	if (!argc) {
		snprintf(error, 256, "no command: expected %s", usage);
		return BENCH_USAGE;
	}
	for (command = 0; command < BENCH_COMMANDS && strcmp(commands[command].name, argv[0]);
	     command++)
		;
	if (command == BENCH_COMMANDS) {
		snprintf(error, 256, "unknown command %.64s: expected %s", argv[0], usage);
		return BENCH_USAGE;
	}
	options->command = (enum bench_command)command;
	options->samples = commands[command].samples;
	return parse_options(argc - 1, argv + 1, options, error);
}
