/* SPDX-License-Identifier: MIT */
/*
 * What memory costs must not depend on how many objects and mappings there are: an assertion
 * over what trn-bench memory measures, and prints.  With --icount that is instructions.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tests/check_run.h>
#include <tools/trn-bench/memory.h>
#include <tools/trn-bench/report.h>

#define RATIO_MAX 1.5

START_TEST(many_objects)
{
	const char *large = getenv("TRN_LONG");
	const struct bench_options options = {
		.live = { 10, 1000, large && !strcmp(large, "1") ? 100000 : 10000 },
		.live_count = 3,
		.samples = 31,
	};
	const struct trn_device_list *list;
	struct bench_memory_result result;
	unsigned int operation;
	int error;

	ck_assert_int_eq(trn_device_list(&list), 0);
	ck_assert_uint_ge(list->count, 1);
	error = bench_memory(list->entry[0], &options, &result);
	ck_assert_msg(!error, "%s: %s", strerror(-error), trn_error_message());
	trn_device_list_free(list);
	report_memory(&result, 1, &options);
	for (operation = 0; operation < OPERATIONS; operation++) {
		const int64_t *ns = result.ns[operation];

		ck_assert_msg((double)ns[2] <= RATIO_MAX * (double)ns[0],
			      "operation %u: %" PRId64 " ns became %" PRId64 " ns", operation,
			      ns[0], ns[2]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_cost");
	TCase *cases = tcase_create("memory_cost");

	tcase_set_timeout(cases, 1800);
	tcase_add_test(cases, many_objects);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
