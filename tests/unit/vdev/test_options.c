/* SPDX-License-Identifier: MIT */
/* The command line: defaults, units, and one line for each mistake. */
#include <check.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check_run.h"
#include "tools/vdev/options.h"

static struct trn_options options;

/* Parses words separated by blanks. */
static int parse(const char *text)
{
	static char copy[256]; /* options point into it */
	char *argv[32] = { "trn-vdev" }, *rest = copy, *word;
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " "))) {
		if (*word)
			argv[argc++] = word;
	}
	optind = 0;
	return trn_options_parse(&options, argc, argv);
}

START_TEST(defaults)
{
	ck_assert_int_eq(parse("--socket-dir /d"), -1);
	ck_assert_str_eq(options.socket_dir, "/d");
	ck_assert_str_eq(options.generation->name, "trn2");
	ck_assert_uint_eq(options.chips, 1);
	ck_assert_uint_eq(options.hbm_size, 96ULL << 30);
	ck_assert_uint_eq(options.aperture, 256ULL << 20);
	ck_assert_uint_eq(options.page_sizes, 1 << 12 | 1 << 21 | 1 << 30);
	ck_assert_uint_eq(options.defects[0], 0);
}
END_TEST

START_TEST(everything_said)
{
	ck_assert_int_eq(parse("--socket-dir d --gen trn1 --chips 144 --hbm 32G --aperture 32G "
			       "--seed 7 --defect 0=never-ready --defect 0=small-bar "
			       "--defect 143=no-aperture"),
			 -1);
	ck_assert_str_eq(options.generation->name, "trn1");
	ck_assert_uint_eq(options.chips, 144);
	ck_assert_uint_eq(options.hbm_size, 32ULL << 30);
	ck_assert_uint_eq(options.aperture, 32ULL << 30);
	ck_assert_uint_eq(options.seed, 7);
	ck_assert_uint_eq(options.defects[0], TRN_DEFECT_NEVER_READY | TRN_DEFECT_SMALL_BAR);
	ck_assert_uint_eq(options.defects[143], TRN_DEFECT_NO_APERTURE);
}
END_TEST

START_TEST(sizes_have_units)
{
	ck_assert_int_eq(parse("--socket-dir d --hbm 1048576K --aperture 4096"), -1);
	ck_assert_uint_eq(options.hbm_size, 1ULL << 30);
	ck_assert_uint_eq(options.aperture, 4096);
	ck_assert_int_eq(parse("--socket-dir d --hbm 1T --aperture 1M"), -1);
	ck_assert_uint_eq(options.hbm_size, 1ULL << 40);
}
END_TEST

START_TEST(largest_page)
{
	ck_assert_int_eq(parse("--socket-dir d --largest-page 4K"), -1);
	ck_assert_uint_eq(options.page_sizes, 1 << 12);
	ck_assert_int_eq(parse("--socket-dir d --largest-page 2M"), -1);
	ck_assert_uint_eq(options.page_sizes, 1 << 12 | 1 << 21);
	ck_assert_int_eq(parse("--socket-dir d --largest-page 1G"), -1);
	ck_assert_uint_eq(options.page_sizes, 1 << 12 | 1 << 21 | 1 << 30);
}
END_TEST

/* The aperture may be HBM rounded up to a power of two, and no more. */
START_TEST(aperture_fits_hbm)
{
	ck_assert_int_eq(parse("--socket-dir d --hbm 96G --aperture 128G"), -1);
	ck_assert_int_eq(parse("--socket-dir d --hbm 64G --aperture 64G"), -1);
}
END_TEST

static const struct {
	const char *arguments, *named;
} wrong[] = {
	{ "", "--socket-dir" },
	{ "--socket-dir", "--socket-dir" },
	{ "--socket-dir d --gen trn9", "trn9" },
	{ "--socket-dir d --chips 0", "--chips 0" },
	{ "--socket-dir d --chips 145", "144" },
	{ "--socket-dir d --chips -1", "-1" },
	{ "--socket-dir d --chips 3x", "3x" },
	{ "--socket-dir d --hbm 0", "--hbm 0" },
	{ "--socket-dir d --hbm 1Q", "1Q" },
	{ "--socket-dir d --hbm 1GB", "1GB" },
	{ "--socket-dir d --hbm 99999999999999999999", "--hbm" },
	{ "--socket-dir d --hbm 16777217T", "--hbm" },
	{ "--socket-dir d --hbm 3M", "4 stacks" },
	{ "--socket-dir d --hbm 128T", "64T" },
	{ "--socket-dir d --aperture 3M", "power of two" },
	{ "--socket-dir d --aperture 2K", "4K" },
	{ "--socket-dir d --aperture x", "--aperture x" },
	{ "--socket-dir d --hbm 96G --aperture 256G", "98304M" },
	{ "--socket-dir d --hbm 64G --aperture 128G", "65536M" },
	{ "--socket-dir d --largest-page 8K", "--largest-page 8K" },
	{ "--socket-dir d --largest-page 0", "4K, 2M or 1G" },
	{ "--socket-dir d --largest-page 3M", "4K, 2M or 1G" },
	{ "--socket-dir d --largest-page big", "4K, 2M or 1G" },
	{ "--socket-dir d --seed x", "--seed x" },
	{ "--socket-dir d --defect never-ready", "CHIP=DEFECT" },
	{ "--socket-dir d --defect 0=slow", "small-bar" },
	{ "--socket-dir d --defect 0:never-ready", "CHIP=DEFECT" },
	{ "--socket-dir d --defect 1=never-ready", "no chip 1" },
	{ "--socket-dir d --defect 144=never-ready", "143" },
	{ "--socket-dir d --verbose", "--verbose" },
	{ "--socket-dir d extra", "extra" },
};

START_TEST(mistakes_are_named)
{
	char line[512] = "";
	int pipe_fds[2], saved = dup(STDERR_FILENO), status;
	ssize_t n;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], STDERR_FILENO);
	status = parse(wrong[_i].arguments);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(pipe_fds[1]);
	n = read(pipe_fds[0], line, sizeof(line) - 1);
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(status, 2);
	ck_assert_int_eq(strncmp(line, "trn-vdev: ", 10), 0);
	ck_assert_ptr_eq(strchr(line, '\n'), line + n - 1);
	ck_assert_msg(strstr(line, wrong[_i].named), "\"%s\" does not name \"%s\"", line,
		      wrong[_i].named);
	close(pipe_fds[0]);
	close(saved);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vdev-options");
	TCase *tests = tcase_create("options");

	tcase_add_test(tests, defaults);
	tcase_add_test(tests, everything_said);
	tcase_add_test(tests, sizes_have_units);
	tcase_add_test(tests, largest_page);
	tcase_add_test(tests, aperture_fits_hbm);
	tcase_add_loop_test(tests, mistakes_are_named, 0, sizeof(wrong) / sizeof(wrong[0]));
	suite_add_tcase(suite, tests);
	return check_run(suite);
}
