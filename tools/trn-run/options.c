/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	bool hexadecimal = text[0] == '0' && text[1] == 'x';
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, hexadecimal ? 16 : 10);
	if (errno || *end || value < least || value > most)
		return false;
	*number = value;
	return true;
}

static bool set_number(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
	uint64_t value;

	if (!parse_number(text, least, most, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* TENSOR=FILE; a tensor's name may have '=', the path may not. */
static bool add_file(struct run_files *files, char *value)
{
	char *equal = strrchr(value, '=');
	uint32_t i;

	if (!equal || equal == value || !equal[1] || files->count == RUN_FILES_MAX)
		return false;
	*equal = 0;
	for (i = 0; i < files->count; i++)
		if (!strcmp(files->file[i].tensor, value))
			return false;
	files->file[files->count++] = (struct run_file){ value, equal + 1 };
	return true;
}

static bool set_in(struct run_options *options, char *value)
{
	return add_file(&options->in, value);
}

static bool set_out(struct run_options *options, char *value)
{
	return add_file(&options->out, value);
}

static bool set_repeat(struct run_options *options, char *value)
{
	return set_number(value, 1, RUN_REPEAT_MAX, &options->repeat);
}

static bool set_device(struct run_options *options, char *value)
{
	return set_number(value, 0, UINT32_MAX, &options->device);
}

static bool set_core(struct run_options *options, char *value)
{
	return set_number(value, 0, UINT16_MAX - 1, &options->core);
}

static bool set_seed(struct run_options *options, char *value)
{
	return parse_number(value, 0, UINT64_MAX, &options->seed);
}

static bool set_profile(struct run_options *options, char *value)
{
	options->profile = value;
	return *value;
}

static bool set_records(struct run_options *options, char *value)
{
	return set_number(value, 1, RUN_RECORDS_MAX, &options->records);
}

static bool set_stats(struct run_options *options, char *value)
{
	options->json = !strcmp(value, "json");
	return options->json || !strcmp(value, "text");
}

static const struct option {
	const char *name;
	bool (*set)(struct run_options *options, char *value);
	const char *expected;
} table[] = {
	{ "--in", set_in, "TENSOR=FILE, each tensor once" },
	{ "--out", set_out, "TENSOR=FILE, each tensor once" },
	{ "--repeat", set_repeat, "a number from 1 to 1000000" },
	{ "--device", set_device, "the index of a chip, see trn-smi list" },
	{ "--core", set_core, "the number of a core, from 0 on" },
	{ "--seed", set_seed, "a number less than 2^64, decimal or after 0x" },
	{ "--profile", set_profile, "the path of a file" },
	{ "--profile-records", set_records, "a number from 1 to 16777216" },
	{ "--stats", set_stats, "text or json" },
};

static const struct option *find_option(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, word))
			return &table[i];
	return NULL;
}

bool run_parse_options(int argc, char **argv, struct run_options *options, char *error,
		       size_t error_size)
{
	const struct option *option;
	char value[64];
	int i;

	*options = (struct run_options){
		.core = RUN_ANY_CORE,
		.repeat = 1,
		.records = RUN_RECORDS_DEFAULT,
	};
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			options->help = true;
			return true;
		}
		if (argv[i][0] != '-') {
			if (options->path) {
				snprintf(error, error_size,
					 "a second program '%s': one is run at a time", argv[i]);
				return false;
			}
			options->path = argv[i];
			continue;
		}
		option = find_option(argv[i]);
		if (!option) {
			snprintf(error, error_size, "unknown option %s", argv[i]);
			return false;
		}
		if (++i == argc) {
			snprintf(error, error_size, "%s: expected %s", option->name,
				 option->expected);
			return false;
		}
		snprintf(value, sizeof(value), "%s", argv[i]);
		if (!option->set(options, argv[i])) {
			snprintf(error, error_size, "%s %s: expected %s", option->name, value,
				 option->expected);
			return false;
		}
	}
	if (!options->path) {
		snprintf(error, error_size, "no program: expected the path of a .neff file");
		return false;
	}
	return true;
}
