// SPDX-License-Identifier: MIT
#include <tests/check_run.h>

#include "suites.h"

int main(void)
{
	SRunner *runner = srunner_create(registers_suite());

	srunner_add_suite(runner, admin_suite());
	srunner_add_suite(runner, translate_suite());
	srunner_add_suite(runner, large_suite());
	srunner_add_suite(runner, walk_suite());
	srunner_add_suite(runner, invalidate_suite());
	srunner_add_suite(runner, queue_suite());
	srunner_add_suite(runner, rounds_suite());
	srunner_add_suite(runner, time_limit_suite());
	srunner_add_suite(runner, reset_suite());
	srunner_add_suite(runner, vectors_suite());
	srunner_add_suite(runner, logs_suite());
	srunner_add_suite(runner, inject_suite());
	srunner_add_suite(runner, dma_suite());
	srunner_add_suite(runner, copy_nd_suite());
	srunner_add_suite(runner, scrub_suite());
	srunner_add_suite(runner, protocol_suite());
	srunner_add_suite(runner, chip_suite());
	srunner_add_suite(runner, dtype_suite());
	srunner_add_suite(runner, philox_suite());
	srunner_add_suite(runner, alu_suite());
	srunner_add_suite(runner, functions_suite());
	srunner_add_suite(runner, core_suite());
	srunner_add_suite(runner, core_reset_suite());
	srunner_add_suite(runner, random_suite());

	return check_run_all(runner);
}
