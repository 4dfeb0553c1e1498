/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_VDEV_RUN_SUITE_H
#define TESTS_UNIT_VDEV_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Runs all of suite; the exit status for main(). */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif /* TESTS_UNIT_VDEV_RUN_SUITE_H */
