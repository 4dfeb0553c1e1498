/* SPDX-License-Identifier: MIT */
#include "run_suite.h"
#include "suites.h"

int main(void)
{
	Suite *suite = suite_create("vdev-server");

	suite_add_tcase(suite, session_tests());
	suite_add_tcase(suite, broken_tests());
	suite_add_tcase(suite, region_tests());
	suite_add_tcase(suite, interrupt_tests());
	suite_add_tcase(suite, memory_tests());
	return run_suite(suite);
}
