/* SPDX-License-Identifier: MIT */
/* The end of every Check program. */
#ifndef TRN_TESTS_CHECK_RUN_H
#define TRN_TESTS_CHECK_RUN_H

#include <check.h>
#include <stdio.h>

/* Runs the suites of a runner and returns the program's exit status: no test is a failure too. */
static inline int check_run_all(SRunner *runner)
{
	int run, failed;

	srunner_run_all(runner, CK_ENV);
	run = srunner_ntests_run(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	if (!run)
		fputs("no test ran: see CK_RUN_SUITE, CK_RUN_CASE, CK_INCLUDE_TAGS\n", stderr);
	return failed || !run;
}

static inline int check_run(Suite *suite)
{
	return check_run_all(srunner_create(suite));
}

#endif /* TRN_TESTS_CHECK_RUN_H */
