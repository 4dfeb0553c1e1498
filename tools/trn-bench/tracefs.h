/* SPDX-License-Identifier: MIT */
/*
 * When the kernel does what, by tracepoints that every driver's calls pass through: an
 * instance of tracefs of this program's own.  Not for several threads.
 */
#ifndef TRN_BENCH_TRACEFS_H
#define TRN_BENCH_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

enum trace_event {
	TRACE_ENTER,	 /* raw_syscalls:sys_enter */
	TRACE_EXIT,	 /* raw_syscalls:sys_exit */
	TRACE_INTERRUPT, /* irq:irq_handler_entry */
	TRACE_SWITCH,	 /* sched:sched_switch */
	TRACE_EVENTS
};

struct trace_record {
	uint64_t ns;
	enum trace_event event;
	int32_t pid;	/* whose turn it is, or was: 0 = nobody's */
	int32_t number; /* of the system call or the interrupt; of the thread that is next */
};

struct trace;

/* 0, or negative errno with a sentence in bench_error_message().  It needs root. */
int trace_open(struct trace **trace);
void trace_close(struct trace *trace);

/* Begins to record the @count events at @events. */
int trace_start(struct trace *trace, const enum trace_event *events, size_t count);

/*
 * Ends it.  *records, in the order of time, is valid until the next call; it begins with the
 * return from the call that began to record and ends with the entry into the one that ended it.
 * -EOVERFLOW: the kernel's buffer was too small.
 */
int trace_stop(struct trace *trace, const struct trace_record **records, size_t *count);

#endif /* TRN_BENCH_TRACEFS_H */
