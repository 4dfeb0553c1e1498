/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_VDEV_SUITES_H
#define TESTS_UNIT_VDEV_SUITES_H

#include <check.h>

TCase *session_tests(void);
TCase *broken_tests(void);
TCase *region_tests(void);
TCase *interrupt_tests(void);
TCase *memory_tests(void);
TCase *hotplug_tests(void);

#endif /* TESTS_UNIT_VDEV_SUITES_H */
