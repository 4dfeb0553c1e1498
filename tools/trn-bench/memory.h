/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_MEMORY_H
#define TRN_BENCH_MEMORY_H

#include "options.h"

enum bench_operation {
	OPERATION_ALLOCATE,
	OPERATION_QUERY,
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
 * Takes the CPU time of allocating a page of HBM, asking how much is free, binding, unbinding and
 * freeing the page, with as many objects allocated and bound besides as options->live says: 1
 * to 8 pages each, with holes between them.  0, or negative errno with libtrn's error message
 * set.
 */
int bench_memory(const struct trn_device_entry *entry, const struct bench_options *options,
		 struct bench_memory_result *result);

#endif /* TRN_BENCH_MEMORY_H */
