/* SPDX-License-Identifier: MIT */
/* The end of every Check program. */
#ifndef TRN_TESTS_CHECK_RUN_H
#define TRN_TESTS_CHECK_RUN_H

#include <check.h>

/* Runs a suite and returns the program's exit status. */
static inline int check_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif /* TRN_TESTS_CHECK_RUN_H */
