/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_UNIT   (2ULL << 20) /* a stack is a multiple of this */
#define APERTURE_MIN 4096

static const char usage[] =
	"Usage: trn-vdev --socket-dir DIR [OPTION]…\n"
	"Model of trn accelerator chips, for QEMU's vfio-user-pci device.\n"
	"\n"
	"  --socket-dir DIR         make chip0.sock … and control.sock in DIR (must exist)\n"
	"  --gen GENERATION         inf2, trn1, trn2 (default), trn3 or trn4\n"
	"  --chips N                number of chips, 1 (default) to 144\n"
	"  --hbm SIZE               HBM of each chip (default: the generation's)\n"
	"  --aperture SIZE          HBM visible in BAR 2, a power of two (default 256M)\n"
	"  --largest-page SIZE      leaves of page tables: 4K, 2M or 1G (default) and all below\n"
	"  --seed N                 changes the chips' UUIDs (default 0)\n"
	"  --defect CHIP=DEFECT     build a chip broken; may be repeated.  DEFECT is one of\n"
	"                           never-ready, bad-identify, no-heartbeat, no-aperture,\n"
	"                           small-bar\n"
	"  --help                   this text\n"
	"\n"
	"SIZE is a number with an optional suffix K, M, G or T (powers of 1024).\n"
	"Prints \"ready\" when all sockets listen; SIGTERM and SIGINT end it.\n"
	"Exit codes: 0 ended by a signal, 1 chips or sockets could not be made, 2 wrong options.\n";

static int wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int wrong(const char *format, ...)
{
	va_list arguments;

	fputs("trn-vdev: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return 2;
}

static bool parse_number(const char *text, uint64_t *number, const char **rest)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	*rest = end;
	return !errno;
}

static bool parse_plain_number(const char *text, uint64_t *number)
{
	const char *rest;

	return parse_number(text, number, &rest) && !*rest;
}

static bool parse_size(const char *text, uint64_t *size)
{
	static const char suffixes[] = "KMGT";
	const char *rest, *suffix;
	unsigned int shift = 0;

	if (!parse_number(text, size, &rest))
		return false;
	if (*rest) {
		suffix = strchr(suffixes, *rest);
		if (!suffix || rest[1])
			return false;
		shift = 10 * (suffix - suffixes + 1);
	}
	if (*size > UINT64_MAX >> shift)
		return false;
	*size <<= shift;
	return true;
}

static int parse_defect(struct trn_options *options, const char *text)
{
	static const struct {
		const char *name;
		enum trn_chip_defect defect;
	} defects[] = {
		{ "never-ready", TRN_DEFECT_NEVER_READY },
		{ "bad-identify", TRN_DEFECT_BAD_IDENTIFY },
		{ "no-heartbeat", TRN_DEFECT_NO_HEARTBEAT },
		{ "no-aperture", TRN_DEFECT_NO_APERTURE },
		{ "small-bar", TRN_DEFECT_SMALL_BAR },
	};
	const char *name;
	uint64_t chip;

	if (!parse_number(text, &chip, &name) || *name != '=' || chip >= TRN_CHIPS_MAX)
		return wrong("--defect %s: must be CHIP=DEFECT with a chip from 0 to %d", text,
			     TRN_CHIPS_MAX - 1);
	for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); i++) {
		if (!strcmp(name + 1, defects[i].name)) {
			options->defects[chip] |= defects[i].defect;
			return -1;
		}
	}
	return wrong("--defect %s: must be never-ready, bad-identify, no-heartbeat, no-aperture "
		     "or small-bar",
		     text);
}

static int parse_generation(struct trn_options *options, const char *name)
{
	options->generation = trn_generation_by_name(name);
	if (options->generation)
		return -1;
	return wrong("--gen %s: must be inf2, trn1, trn2, trn3 or trn4", name);
}

static int parse_largest_page(struct trn_options *options, const char *text)
{
	uint64_t size;

	if (!parse_size(text, &size) || size & (size - 1) || !(size & TRN_CHIP_PAGE_SIZES))
		return wrong("--largest-page %s: must be 4K, 2M or 1G", text);
	options->page_sizes = TRN_CHIP_PAGE_SIZES & (2 * size - 1);
	return -1;
}

/* What can be said only when all options are known. */
static int check(struct trn_options *options)
{
	uint64_t unit = options->generation->hbm_stacks * STACK_UNIT;

	if (!options->socket_dir)
		return wrong("--socket-dir is missing: say where to make the sockets");
	if (!options->hbm_size)
		options->hbm_size = options->generation->hbm_size;
	if (options->hbm_size % unit || options->hbm_size > 1ULL << 46)
		return wrong("--hbm: %s has %u stacks: the size must be a multiple of %" PRIu64
			     "M, at most 64T",
			     options->generation->name, options->generation->hbm_stacks,
			     unit >> 20);
	if (options->aperture < APERTURE_MIN || options->aperture & (options->aperture - 1))
		return wrong("--aperture: must be a power of two, at least 4K");
	if (options->aperture / 2 >= options->hbm_size)
		return wrong("--aperture: must be at most HBM (%" PRIu64
			     "M) rounded up to a power of two",
			     options->hbm_size >> 20);
	for (unsigned int i = options->chips; i < TRN_CHIPS_MAX; i++) {
		if (options->defects[i])
			return wrong("--defect: there is no chip %u: --chips is %u", i,
				     options->chips);
	}
	return -1;
}

int trn_options_parse(struct trn_options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "socket-dir", required_argument, NULL, 'd' },
		{ "gen", required_argument, NULL, 'g' },
		{ "chips", required_argument, NULL, 'c' },
		{ "hbm", required_argument, NULL, 'm' },
		{ "aperture", required_argument, NULL, 'a' },
		{ "largest-page", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 's' },
		{ "defect", required_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option, status = -1;
	uint64_t number;

	*options = (struct trn_options){
		.generation = trn_generation_by_name("trn2"),
		.chips = 1,
		.aperture = 256ULL << 20,
		.page_sizes = TRN_CHIP_PAGE_SIZES,
	};
	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":", names, NULL)) != -1) {
		switch (option) {
		case 'd':
			options->socket_dir = optarg;
			break;
		case 'g':
			status = parse_generation(options, optarg);
			break;
		case 'c':
			if (!parse_plain_number(optarg, &number) || !number ||
			    number > TRN_CHIPS_MAX)
				status = wrong("--chips %s: must be a number from 1 to %d", optarg,
					       TRN_CHIPS_MAX);
			else
				options->chips = number;
			break;
		case 'm':
			if (!parse_size(optarg, &options->hbm_size) || !options->hbm_size)
				status = wrong("--hbm %s: must be a size like 512M or 96G", optarg);
			break;
		case 'a':
			if (!parse_size(optarg, &options->aperture))
				status = wrong("--aperture %s: must be a size like 256M or 32G",
					       optarg);
			break;
		case 'p':
			status = parse_largest_page(options, optarg);
			break;
		case 's':
			if (!parse_plain_number(optarg, &options->seed))
				status = wrong("--seed %s: must be a number", optarg);
			break;
		case 'x':
			status = parse_defect(options, optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			status = 0;
			break;
		case ':':
			status = wrong("%s needs a value (see --help)", argv[optind - 1]);
			break;
		default:
			status =
				wrong("%s: there is no such option (see --help)", argv[optind - 1]);
			break;
		}
	}
	if (status >= 0)
		return status;
	if (optind < argc)
		return wrong("%s: only options are taken (see --help)", argv[optind]);
	return check(options);
}
