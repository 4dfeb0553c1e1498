/* SPDX-License-Identifier: MIT */
#ifndef TRN_TEST_SUITES_H
#define TRN_TEST_SUITES_H

#include <check.h>

Suite *dma_suite(void);
Suite *protocol_suite(void);

#endif /* TRN_TEST_SUITES_H */
