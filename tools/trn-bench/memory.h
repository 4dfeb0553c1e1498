/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_MEMORY_H
#define TRN_BENCH_MEMORY_H

#include "options.h"

enum bench_operation {
	OPERATION_ALLOCATE,
	OPERATION_BIND,
	OPERATION_UNBIND,
	OPERATION_FREE,
	OPERATIONS
};

/* One chip. */
struct bench_memory_result {
	uint32_t device;
	char pci[24];
	int64_t ns[OPERATIONS]
		  [BENCH_LIVE_MAX]; /* CPU time, medians, by the number of live objects */
};

/*
 * Takes the CPU time of allocating a page of HBM, binding, unbinding and freeing it, with as many
 * pages allocated and bound besides as options->live says.  0, or negative errno with libtrn's
 * error message set.
 */
int bench_memory(const struct trn_device_entry *entry, const struct bench_options *options,
		 struct bench_memory_result *result);

#endif /* TRN_BENCH_MEMORY_H */
