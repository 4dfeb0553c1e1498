/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "suites.h"

int main(void)
{
	Suite *suite = suite_create("vdev-server");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, session_tests());
	suite_add_tcase(suite, broken_tests());
	suite_add_tcase(suite, region_tests());
	suite_add_tcase(suite, interrupt_tests());
	suite_add_tcase(suite, memory_tests());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
