/* SPDX-License-Identifier: MIT */
/* How much memory the process has allocated: every allocator call is counted. */
#ifndef TRN_TESTS_NEFF_METER_H
#define TRN_TESTS_NEFF_METER_H

#include <stddef.h>

/* Begins anew: counts what is allocated from now on. */
void meter_start(void);

/*
 * The most bytes that were in use at once since meter_start(), beyond what was in use then; what
 * was asked for and refused counts too.
 */
size_t meter_peak(void);

/* Bytes in use beyond what was in use at meter_start(); negative when more was freed. */
long meter_in_use(void);

#endif /* TRN_TESTS_NEFF_METER_H */
