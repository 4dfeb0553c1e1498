/* SPDX-License-Identifier: MIT */
/*
 * What a request costs the CPU, from a record of system calls, interrupts and switches between
 * threads.  A request is some system calls of one thread, one after the other: the first hands it
 * to the device, the last returns when the device has done it.  They may be the same.
 */
#ifndef TRN_BENCH_COST_H
#define TRN_BENCH_COST_H

#include <stddef.h>
#include <stdint.h>

#include "tracefs.h"

/* All in ns; -1 = did not happen, or cannot be told from what was recorded. */
struct cost {
	/*
	 * From entry into the first call to its return, or, if it is the last too, to the switch
	 * to another thread; -1 also if an interrupt came meanwhile.
	 */
	int64_t submit;
	/* From entry into the last call to the first switch to another thread in it. */
	int64_t fall_asleep;
	/* From entry into the last call to the last interrupt in it. */
	int64_t interrupt;
	/* From that interrupt to the return from the last call. */
	int64_t completion;
	/*
	 * What the CPU did for it between entry into the first call and return from the last: in
	 * the calls, and in other threads from the calls or an interrupt on until it was idle.
	 * Not what a timer sets off.  One CPU only.
	 */
	int64_t all;
	/* Records in the times that all is made of. */
	uint32_t records;
	/* Interrupts in the last call. */
	uint32_t interrupts;
};

/* System calls that make a request: those of a number that a thread makes. */
struct request {
	int32_t pid;
	int32_t number;
	uint32_t before; /* calls that prepare it, not part of its cost */
	uint32_t calls;	 /* its calls, 1 or more */
};

/*
 * Costs of the requests in @records; those cut off at the end are left out.  At most @room; returns
 * how many.
 */
size_t cost_of_requests(const struct trace_record *records, size_t count,
			const struct request *request, struct cost *costs, size_t room);

#endif /* TRN_BENCH_COST_H */
