/* SPDX-License-Identifier: MIT */
/* What trn-run is asked to do. */
#ifndef TRN_RUN_OPTIONS_H
#define TRN_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trn/trn_neff.h>

#define RUN_REPEAT_MAX	    1000000
#define RUN_RECORDS_MAX	    (UINT32_C(1) << 24)
#define RUN_RECORDS_DEFAULT (UINT32_C(1) << 18)
#define RUN_ANY_CORE	    UINT32_MAX
#define RUN_FILES_MAX	    TRN_NEFF_VARIABLES_MAX

/* --in and --out: a tensor and its .npy file. */
struct run_file {
	const char *tensor;
	const char *path;
};

struct run_files {
	struct run_file file[RUN_FILES_MAX];
	uint32_t count;
};

struct run_options {
	const char *path; /* of the program */
	struct run_files in, out;
	uint32_t device;
	uint32_t core; /* of the first part, or RUN_ANY_CORE */
	uint32_t repeat;
	uint64_t seed;
	const char *profile; /* path, or NULL */
	uint32_t records;    /* room in the profile, for each part */
	bool json;	     /* statistics */
	bool help;
};

/*
 * Reads the command line, whose words are changed and kept.  False, with a sentence in @error: they
 * are wrong.
 */
bool run_parse_options(int argc, char **argv, struct run_options *options, char *error,
		       size_t error_size);

#endif /* TRN_RUN_OPTIONS_H */
