/* SPDX-License-Identifier: MIT */
/*
 * trn-run: execute a compiled program (Documentation/run.rst).
 *
 * Only data goes to stdout; what is wrong, and times for people, go to stderr.
 */
#include <stdarg.h>
#include <stdio.h>

#include "run.h"

static const char help[] =
	"Usage: trn-run PROGRAM.neff [--in TENSOR=FILE.npy]... [--out TENSOR=FILE.npy]...\n"
	"\n"
	"Loads a program on a chip, executes it with the arrays of the files as inputs, and "
	"writes\n"
	"outputs to files. Times are written to stderr.\n"
	"\n"
	"Options:\n"
	"  --in TENSOR=FILE       array for an input; every input needs one\n"
	"  --out TENSOR=FILE      file to write an output to\n"
	"  --repeat N             execute N times, 1 unless given\n"
	"  --device N             index of the chip (trn-smi list), 0 unless given\n"
	"  --core N               the core, any unless given; a program for several cores takes "
	"those\n"
	"                         from there on\n"
	"  --seed N               seed for stochastic rounding, 0 unless given\n"
	"  --profile FILE         write what each instruction and DMA took in the last execution, "
	"as\n"
	"                         a trace that Perfetto opens\n"
	"  --profile-records N    room in the profile, for each core, 262144 unless given\n"
	"  --stats json           write times as JSON to stdout; text: to stderr, as unless given\n"
	"  --help                 write this text\n"
	"\n"
	"Arrays have the tensor's shape and type, in C order. bf16 are '<V2', or bits as uint16; "
	"fp8,\n"
	"mxfp8 and fp4 are '|V1', or bits as uint8.\n"
	"\n"
	"Exit codes:\n"
	"  0  success\n"
	"  1  the chip, a program's execution, or something else failed\n"
	"  2  wrong arguments\n"
	"  3  the program or an array is damaged, or not for this chip or tensor\n";

int run_usage(const char *format, ...)
{
	va_list arguments;

	fputs("trn-run: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return RUN_USAGE;
}

int main(int argc, char **argv)
{
	struct run_options options;
	char error[256];

	if (!run_parse_options(argc, argv, &options, error, sizeof(error)))
		return run_usage("%s, see --help", error);
	if (options.help) {
		fputs(help, stdout);
		return fflush(stdout) ? RUN_FAILED : RUN_OK;
	}
	return run_program(&options);
}
