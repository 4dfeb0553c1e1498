/* SPDX-License-Identifier: MIT */
/* Results as text and as JSON, on stdout. */
#ifndef TRN_BENCH_REPORT_H
#define TRN_BENCH_REPORT_H

#include <stdbool.h>

#include "copy.h"
#include "latency.h"
#include "memory.h"
#include "submit.h"

const char *report_mode_name(const struct bench_copy_result *result);

/* 0, or -ENOMEM or -EIO when not all was written. */
int report_copy(const struct bench_copy_result *results, size_t count,
		const struct bench_options *options);
int report_memory(const struct bench_memory_result *results, size_t count,
		  const struct bench_options *options);
int report_submit(const struct bench_submit_result *results, size_t count,
		  const struct bench_options *options);
int report_latency(const struct bench_latency_result *results, size_t count,
		   const struct bench_options *options);

#endif /* TRN_BENCH_REPORT_H */
