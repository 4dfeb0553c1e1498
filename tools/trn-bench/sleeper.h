/* SPDX-License-Identifier: MIT */
/*
 * Empty packets on a user queue, waited for in the kernel: libtrn would look at the fence for a
 * while before it sleeps, and an empty packet is done before that.
 */
#ifndef TRN_BENCH_SLEEPER_H
#define TRN_BENCH_SLEEPER_H

struct sleeper;

/* All return 0, or negative errno with a sentence in bench_error_message(). */
int sleeper_open(const char *node, struct sleeper **sleeper);
void sleeper_close(struct sleeper *sleeper);

/* Submits an empty packet, and WAITs: sleeps until it is done, if it is not. */
int sleeper_run(struct sleeper *sleeper);

/* Arms an eventfd, submits an empty packet, and reads what the chip's interrupt fires. */
int sleeper_run_interrupt(struct sleeper *sleeper);

#endif /* TRN_BENCH_SLEEPER_H */
