// SPDX-License-Identifier: MIT
#include "tensor.h"

int main(void)
{
	SRunner *runner = srunner_create(matmul_suite());
	int failed;

	srunner_add_suite(runner, rows_suite());
	srunner_add_suite(runner, networks_suite());
	srunner_add_suite(runner, adam_suite());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
