/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_COPY_H
#define TRN_BENCH_COPY_H

#include "options.h"

enum bench_leg {
	LEG_HOST_TO_HBM,
	LEG_HBM_TO_HBM,
	LEG_HBM_TO_HOST,
	LEGS
};

/* One chip, one size and one kind of queue. */
struct bench_copy_result {
	uint32_t device;
	char pci[24];
	enum trn_queue_mode mode;
	uint64_t size;	      /* moved by each leg, each time */
	int64_t leg_ns[LEGS]; /* of a copy, in the shortest of the repeats */
	int64_t memcpy_ns;    /* the same of memcpy in the chip's own process, 0 = not known */
	uint64_t source_checksum;
	uint64_t destination_checksum;
};

/* Most results for one chip: one for each kind of queue and power of four. */
#define BENCH_COPY_RESULTS 64

/*
 * Copies data host → HBM → another place of HBM → host, with each size and each kind of
 * queue that options asks for, and fills one result for each.  Returns the number of
 * results, or negative errno with libtrn's error message set.
 */
int bench_copy(const struct trn_device_entry *entry, const struct bench_options *options,
	       struct bench_copy_result results[BENCH_COPY_RESULTS]);

#endif /* TRN_BENCH_COPY_H */
