/* SPDX-License-Identifier: MIT */
/* trn-bench: arguments, pattern, checksum. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <tests/check_run.h>
#include <tests/unit/run_program.h>
#include <tools/trn-bench/options.h>
#include <tools/trn-bench/pattern.h>

START_TEST(sizes)
{
	static const struct {
		const char *text;
		uint64_t size;
	} good[] = {
		{ "0", 0 },
		{ "4096", 4096 },
		{ "1k", 1024 },
		{ "64M", 67108864 },
		{ "2G", UINT64_C(2147483648) },
		{ "3T", UINT64_C(3298534883328) },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = {
		"",
		"-1",
		"+1",
		" 1",
		"1 ",
		"M",
		"1MB",
		"1X",
		"0x10",
		"1.5G",
		"18446744073709551616",
		"16777216T",
	};
	uint64_t size;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(bench_parse_size(good[i].text, &size), "%s", good[i].text);
		ck_assert_uint_eq(size, good[i].size);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!bench_parse_size(bad[i], &size), "%s", bad[i]);
}
END_TEST

/* Splits a line at blanks and parses it. */
static enum bench_action parse(const char *line, struct bench_options *options, char error[256])
{
	char *copy = strdup(line), *argv[16];
	enum bench_action action;
	int argc = 0;
	char *word;

	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	error[0] = 0;
	action = bench_parse(argc, argv, options, error);
	free(copy);
	return action;
}

START_TEST(arguments)
{
	struct bench_options o;
	char error[256];

	ck_assert_int_eq(parse("copy", &o, error), BENCH_RUN);
	ck_assert_uint_eq(o.device, BENCH_ALL_DEVICES);
	ck_assert_uint_eq(o.size, 67108864);
	ck_assert(o.queue[TRN_QUEUE_KERNEL] && o.queue[TRN_QUEUE_USER]);
	ck_assert_uint_eq(o.repeat, 1);
	ck_assert(!o.json);

	ck_assert_int_eq(
		parse("copy --device 3 --size 8K --queue user --repeat 7 --json", &o, error),
		BENCH_RUN);
	ck_assert_uint_eq(o.device, 3);
	ck_assert_uint_eq(o.size, 8192);
	ck_assert(!o.queue[TRN_QUEUE_KERNEL] && o.queue[TRN_QUEUE_USER]);
	ck_assert_uint_eq(o.repeat, 7);
	ck_assert(o.json);

	ck_assert_int_eq(parse("--help", &o, error), BENCH_HELP);
}
END_TEST

START_TEST(wrong_arguments)
{
	assert_usage("trn-bench", "no command");
	assert_usage("trn-bench copi", "copi");
	assert_usage("trn-bench copy --size 0", "--size 0");
	assert_usage("trn-bench copy --size 9", "multiple of 8");
	assert_usage("trn-bench copy --size 2T", "up to 1T");
	assert_usage("trn-bench copy --size", "--size has no value");
	assert_usage("trn-bench copy --queue other", "kernel, user or both");
	assert_usage("trn-bench copy --device -1", "--device -1");
	assert_usage("trn-bench copy --device 4294967295", "all");
	assert_usage("trn-bench copy --repeat 0", "1 to");
}
END_TEST

START_TEST(no_chip)
{
	struct run_result r;

	if (!access("/sys/module/trn", F_OK)) {
		fprintf(stderr, "skipped: the driver is loaded on this machine\n");
		return;
	}
	r = run_program("trn-bench copy");
	ck_assert_int_eq(r.status, 1);
	ck_assert_ptr_nonnull(strstr(r.err, "no chip"));
}
END_TEST

START_TEST(checksum)
{
	uint64_t one[32], two[32];

	/* Values of the algorithm's publication. */
	ck_assert_uint_eq(pattern_checksum("", 0), UINT64_C(0xcbf29ce484222325));
	ck_assert_uint_eq(pattern_checksum("a", 1), UINT64_C(0xaf63dc4c8601ec8c));
	ck_assert_uint_eq(pattern_checksum("foobar", 6), UINT64_C(0x85944171f73967e8));

	pattern_fill(one, sizeof(one), 1);
	pattern_fill(two, sizeof(two), 1);
	ck_assert_mem_eq(one, two, sizeof(one));
	pattern_fill(two, sizeof(two), 2);
	ck_assert_mem_ne(one, two, sizeof(one));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench-options");
	TCase *cases = tcase_create("options");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, sizes);
	tcase_add_test(cases, arguments);
	tcase_add_test(cases, wrong_arguments);
	tcase_add_test(cases, no_chip);
	tcase_add_test(cases, checksum);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
