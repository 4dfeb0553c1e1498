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

/* One chip and one kind of queue. */
struct bench_result {
	uint32_t device;
	char pci[24];
	enum trn_queue_mode mode;
	uint64_t bytes; /* moved by each leg, all repeats together */
	int64_t leg_ns[LEGS];
	uint64_t source_checksum;
	uint64_t destination_checksum;
};

/*
 * Copies options->size bytes host → HBM → another place of HBM → host with each kind of
 * queue that options asks for, and fills one result for each.  Returns the number of
 * results, or negative errno with libtrn's error message set.
 */
int bench_copy(const struct trn_device_entry *entry, const struct bench_options *options,
	       struct bench_result results[2]);

#endif /* TRN_BENCH_COPY_H */
