/* SPDX-License-Identifier: MIT */
#ifndef TRN_TEST_ISA_SUITES_H
#define TRN_TEST_ISA_SUITES_H

#include <check.h>

Suite *activate_suite(void);
Suite *arithmetic_suite(void);
Suite *control_suite(void);
Suite *copy_suite(void);
Suite *dtypes_suite(void);
Suite *exceptions_suite(void);
Suite *gpsimd_suite(void);
Suite *reduce_suite(void);
Suite *rules_suite(void);
Suite *tensor_suite(void);
Suite *time_suite(void);
Suite *transfer_suite(void);

#endif /* TRN_TEST_ISA_SUITES_H */
