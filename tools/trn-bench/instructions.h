/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_INSTRUCTIONS_H
#define TRN_BENCH_INSTRUCTIONS_H

#include <stdbool.h>

/*
 * Whether the clock counts this machine's instructions, one for a ns, as QEMU's does with
 * -icount shift=0.  False where it cannot be told.
 */
bool bench_counts_instructions(void);

#endif /* TRN_BENCH_INSTRUCTIONS_H */
