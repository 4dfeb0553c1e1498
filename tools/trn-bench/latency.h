/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_LATENCY_H
#define TRN_BENCH_LATENCY_H

#include "options.h"

/* What is waited for: of the chip an empty packet, of the peer a read of 4 KiB. */
enum bench_wait {
	WAIT_POLLED,	   /* user queue */
	WAIT_CALL,	   /* user queue, by the call that sleeps if it has to */
	WAIT_INTERRUPT,	   /* user queue, by an eventfd that only the interrupt fires */
	WAIT_KERNEL_QUEUE, /* by the call that sleeps if it has to */
	PEER_POLLED,
	PEER_INTERRUPT,
	WAITS
};

/* One chip. */
struct bench_latency_result {
	uint32_t device;
	char pci[24];
	int64_t ns[WAITS];   /* medians, 0 = not measured */
	double slept[WAITS]; /* times that the thread slept, for one request */
};

/* The peer's way of waiting that is like this one of the chip's. */
static inline enum bench_wait bench_latency_peer(enum bench_wait wait)
{
	return wait == WAIT_POLLED ? PEER_POLLED : PEER_INTERRUPT;
}

/* The most that the chip may take, in parts of what the peer takes; 0 = no limit. */
double bench_latency_limit(enum bench_wait wait);

/*
 * Measures, one at a time, how long it takes from the call that submits to the return
 * from the one that waits.  0, or negative errno with a sentence in bench_error_message().
 */
int bench_latency(const struct trn_device_entry *entry, const struct bench_options *options,
		  struct bench_latency_result *result);

#endif /* TRN_BENCH_LATENCY_H */
