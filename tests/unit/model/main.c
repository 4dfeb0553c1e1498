// SPDX-License-Identifier: MIT
#include "suites.h"

int main(void)
{
	SRunner *runner = srunner_create(dma_suite());
	int failed;

	srunner_add_suite(runner, protocol_suite());

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
