// SPDX-License-Identifier: MIT
#include <tests/check_run.h>

#include "suites.h"

int main(void)
{
	SRunner *runner = srunner_create(copy_suite());

	srunner_add_suite(runner, arithmetic_suite());
	srunner_add_suite(runner, reduce_suite());
	srunner_add_suite(runner, activate_suite());
	srunner_add_suite(runner, gpsimd_suite());
	srunner_add_suite(runner, tensor_suite());
	srunner_add_suite(runner, transfer_suite());
	srunner_add_suite(runner, control_suite());
	srunner_add_suite(runner, exceptions_suite());
	srunner_add_suite(runner, dtypes_suite());
	srunner_add_suite(runner, rules_suite());
	srunner_add_suite(runner, time_suite());
	return check_run_all(runner);
}
