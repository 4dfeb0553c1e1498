/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_BYTES (UINT64_C(1) << 40)
#define REPEAT_MAX     1000000

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

static bool set_size(struct bench_options *options, const char *value)
{
	return bench_parse_size(value, &options->size) && options->size &&
	       options->size <= SIZE_MAX_BYTES && options->size % 8 == 0;
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

static const struct {
	const char *name;
	bool (*set)(struct bench_options *options, const char *value);
	const char *expected;
} valued[] = {
	{ "--device", set_device, "an index of trn-smi list, or all" },
	{ "--size", set_size, "a multiple of 8 bytes up to 1T, such as 64M" },
	{ "--queue", set_queue, "kernel, user or both" },
	{ "--repeat", set_repeat, "1 to 1000000" },
};

#define VALUED (sizeof(valued) / sizeof(valued[0]))

enum bench_action bench_parse(int argc, char **argv, struct bench_options *options, char error[256])
{
	bool command = false;
	int i;

	*options = (struct bench_options){
		.device = BENCH_ALL_DEVICES,
		.size = UINT64_C(64) << 20,
		.queue = { true, true },
		.repeat = 1,
	};
	for (i = 0; i < argc; i++) {
		size_t v;

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return BENCH_HELP;
		if (!strcmp(argv[i], "--json")) {
			options->json = true;
			continue;
		}
		if (!command && !strcmp(argv[i], "copy")) {
			command = true;
			continue;
		}
		for (v = 0; v < VALUED && strcmp(valued[v].name, argv[i]); v++)
			;
		if (v == VALUED) {
			snprintf(error, 256,
				 "unknown argument %.64s: expected trn-bench copy [OPTION]..., "
				 "see --help",
				 argv[i]);
			return BENCH_USAGE;
		}
		if (i + 1 == argc || !valued[v].set(options, argv[i + 1])) {
			snprintf(error, 256, "%s %.64s: expected %s", valued[v].name,
				 i + 1 == argc ? "has no value" : argv[i + 1], valued[v].expected);
			return BENCH_USAGE;
		}
		i++;
	}
	if (!command) {
		snprintf(error, 256, "no command: expected trn-bench copy [OPTION]..., see --help");
		return BENCH_USAGE;
	}
	return BENCH_RUN;
}
