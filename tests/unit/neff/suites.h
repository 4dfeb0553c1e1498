/* SPDX-License-Identifier: MIT */
#ifndef TRN_TESTS_NEFF_SUITES_H
#define TRN_TESTS_NEFF_SUITES_H

#include <check.h>

TCase *neff_content_cases(void);

#endif /* TRN_TESTS_NEFF_SUITES_H */
