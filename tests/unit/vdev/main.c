/* SPDX-License-Identifier: MIT */
#include "suites.h"
#include "tests/check_run.h"

int main(void)
{
	Suite *suite = suite_create("vdev-server");

	suite_add_tcase(suite, session_tests());
	suite_add_tcase(suite, broken_tests());
	suite_add_tcase(suite, region_tests());
	suite_add_tcase(suite, interrupt_tests());
	suite_add_tcase(suite, memory_tests());
	suite_add_tcase(suite, hotplug_tests());
	return check_run(suite);
}
