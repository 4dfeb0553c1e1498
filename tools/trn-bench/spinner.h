/* SPDX-License-Identifier: MIT */
/*
 * A thread that takes what nobody else wants of one CPU, so that this is never idle: while a
 * CPU is idle its timers stop, and QEMU's clock that counts instructions jumps from one to the
 * next, and what has to be done then is nothing that a driver can help.
 */
#ifndef TRN_BENCH_SPINNER_H
#define TRN_BENCH_SPINNER_H

#include <stdint.h>

struct spinner;

/*
 * Begins to spin on the CPU that this thread is on, and keeps this thread there.  0, or negative
 * errno with a sentence in bench_error_message().
 */
int spinner_start(struct spinner **spinner);
void spinner_stop(struct spinner *spinner);

/* Its number among threads. */
int32_t spinner_thread(const struct spinner *spinner);

#endif /* TRN_BENCH_SPINNER_H */
