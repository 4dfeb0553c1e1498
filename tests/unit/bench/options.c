/* SPDX-License-Identifier: MIT */
/* trn-bench: arguments, pattern, checksum. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tests/check_run.h>
#include <tests/unit/run_program.h>
#include <tools/trn-bench/options.h>
#include <tools/trn-bench/pattern.h>
#include <tools/trn-bench/timing.h>

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

/* Splits a line at blanks and parses it.  Words in options are valid until the next. */
static enum bench_action parse(const char *line, struct bench_options *options, char error[256])
{
	static char copy[256];
	char *argv[16], *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	error[0] = 0;
	return bench_parse(argc, argv, options, error);
}

START_TEST(arguments)
{
	struct bench_options o;
	char error[256];

	ck_assert_int_eq(parse("copy", &o, error), BENCH_RUN);
	ck_assert_uint_eq(o.device, BENCH_ALL_DEVICES);
	ck_assert_int_eq(o.command, BENCH_COPY);
	ck_assert_uint_eq(o.first_size, 67108864);
	ck_assert_uint_eq(o.last_size, 67108864);
	ck_assert(o.queue[TRN_QUEUE_KERNEL] && o.queue[TRN_QUEUE_USER]);
	ck_assert_uint_eq(o.repeat, 1);
	ck_assert_uint_eq(o.in_flight, 16);
	ck_assert(!o.json);

	ck_assert_int_eq(
		parse("copy --device 3 --size 8K --queue user --repeat 7 --in-flight 2 --json", &o,
		      error),
		BENCH_RUN);
	ck_assert_uint_eq(o.device, 3);
	ck_assert_uint_eq(o.first_size, 8192);
	ck_assert_uint_eq(o.last_size, 8192);
	ck_assert(!o.queue[TRN_QUEUE_KERNEL] && o.queue[TRN_QUEUE_USER]);
	ck_assert_uint_eq(o.repeat, 7);
	ck_assert_uint_eq(o.in_flight, 2);
	ck_assert(o.json);

	ck_assert_int_eq(parse("copy --size 4K-256M", &o, error), BENCH_RUN);
	ck_assert_uint_eq(o.first_size, 4096);
	ck_assert_uint_eq(o.last_size, 268435456);

	ck_assert_int_eq(parse("memory", &o, error), BENCH_RUN);
	ck_assert_int_eq(o.command, BENCH_MEMORY);
	ck_assert_uint_eq(o.live_count, 3);
	ck_assert_uint_eq(o.live[2], 100000);
	ck_assert_int_eq(parse("memory --live 5,6 --samples 7 --device 0", &o, error), BENCH_RUN);
	ck_assert_uint_eq(o.live_count, 2);
	ck_assert_uint_eq(o.live[0], 5);
	ck_assert_uint_eq(o.live[1], 6);
	ck_assert_uint_eq(o.samples, 7);

	ck_assert_int_eq(parse("submit", &o, error), BENCH_RUN);
	ck_assert_int_eq(o.command, BENCH_SUBMIT);
	ck_assert_uint_eq(o.samples, 31);
	ck_assert_ptr_null(o.peer);
	ck_assert_int_eq(parse("latency --peer none --samples 11", &o, error), BENCH_RUN);
	ck_assert_int_eq(o.command, BENCH_LATENCY);
	ck_assert_uint_eq(o.samples, 11);
	ck_assert_str_eq(o.peer, "none");
	ck_assert_int_eq(parse("latency", &o, error), BENCH_RUN);
	ck_assert_uint_eq(o.samples, 2001);

	ck_assert_int_eq(parse("--help", &o, error), BENCH_HELP);
	ck_assert_int_eq(parse("memory --live --help", &o, error), BENCH_HELP);
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
	assert_usage("trn-bench copy --in-flight 0", "1 to 1000");
	assert_usage("trn-bench memory --in-flight 2", "--in-flight of memory");
	assert_usage("trn-bench copy --size 64M-4K", "--size 64M-4K");
	assert_usage("trn-bench copy --size 4K-", "--size 4K-");
	assert_usage("trn-bench copy --size -4K", "--size -4K");
	assert_usage("trn-bench copy --live 1", "--live of copy");
	assert_usage("trn-bench memory --size 4K", "--size of memory");
	assert_usage("trn-bench memory --live 10,10", "ascending");
	assert_usage("trn-bench memory --live 0", "--live 0");
	assert_usage("trn-bench memory --live ,", "--live ,");
	assert_usage("trn-bench memory --live 10,,1000", "--live 10,,1000");
	assert_usage("trn-bench memory --live ,10", "--live ,10");
	assert_usage("trn-bench memory --live 10,", "--live 10,");
	assert_usage("trn-bench memory --live 1,2,3,4,5,6,7,8,9", "up to 8");
	assert_usage("trn-bench memory --samples 0", "1 to");
	assert_usage("trn-bench memory --peer none", "--peer of memory");
	assert_usage("trn-bench submit --peer nvme0n1", "/dev/nvme0n1");
	assert_usage("trn-bench latency --live 1", "--live of latency");
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

START_TEST(medians)
{
	int64_t odd[] = { 9, 1, 5 }, one[] = { 7 }, same[] = { 3, 3, 8, 3 };

	ck_assert_int_eq(bench_median(odd, 3), 5);
	ck_assert_int_eq(bench_median(one, 1), 7);
	ck_assert_int_eq(bench_median(same, 4), 3);
}
END_TEST

/* A program of that name that says what each test wants. */
static void peer_says(const char *script)
{
	FILE *file = fopen("trn-vmctl", "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	fclose(file);
	ck_assert_int_eq(chmod("trn-vmctl", 0755), 0);
}

START_TEST(peer)
{
	char directory[] = "/tmp/trn-bench-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0);
	ck_assert_int_eq(bench_memcpy_ns(4096, 16, 5), 0);
	ck_assert_int_eq(setenv("PATH", directory, 1), 0);
	peer_says("test \"$1 $2\" = 'vdev {\"verb\":\"memcpy\",\"bytes\":4096,"
		  "\"copies\":16,\"rounds\":5}' && "
		  "echo '{\"ok\": true, \"ns\": 1234}'");
	ck_assert_int_eq(bench_memcpy_ns(4096, 16, 5), 1234);
	ck_assert_int_eq(bench_memcpy_ns(8192, 16, 5), 0);
	peer_says("echo '{\"ok\": true, \"ns\": 1234}'; exit 1");
	ck_assert_int_eq(bench_memcpy_ns(4096, 16, 5), 0);
	peer_says("echo '{\"ok\": false, \"error\": \"no such verb\"}'");
	ck_assert_int_eq(bench_memcpy_ns(4096, 16, 5), 0);
	peer_says("echo '{\"ok\": true, \"ns\": -5}'");
	ck_assert_int_eq(bench_memcpy_ns(4096, 16, 5), 0);
	peer_says("echo nonsense");
	ck_assert_int_eq(bench_memcpy_ns(4096, 16, 5), 0);
	ck_assert_int_eq(unlink("trn-vmctl"), 0);
	ck_assert_int_eq(rmdir(directory), 0);
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
	tcase_add_test(cases, medians);
	tcase_add_test(cases, peer);
	tcase_add_test(cases, checksum);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
