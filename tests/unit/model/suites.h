/* SPDX-License-Identifier: MIT */
#ifndef TRN_TEST_SUITES_H
#define TRN_TEST_SUITES_H

#include <check.h>

Suite *admin_suite(void);
Suite *alu_suite(void);
Suite *chip_suite(void);
Suite *copy_nd_suite(void);
Suite *dma_suite(void);
Suite *core_suite(void);
Suite *core_reset_suite(void);
Suite *dtype_suite(void);
Suite *functions_suite(void);
Suite *inject_suite(void);
Suite *invalidate_suite(void);
Suite *large_suite(void);
Suite *logs_suite(void);
Suite *philox_suite(void);
Suite *protocol_suite(void);
Suite *queue_suite(void);
Suite *random_suite(void);
Suite *registers_suite(void);
Suite *reset_suite(void);
Suite *rounds_suite(void);
Suite *scrub_suite(void);
Suite *time_limit_suite(void);
Suite *translate_suite(void);
Suite *vectors_suite(void);
Suite *walk_suite(void);

#endif /* TRN_TEST_SUITES_H */
