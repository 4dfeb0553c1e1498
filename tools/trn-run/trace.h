/* SPDX-License-Identifier: MIT */
/* Profiles as files in the JSON trace event format, which Perfetto opens (Documentation/run.rst).
 */
#ifndef TRN_RUN_TRACE_H
#define TRN_RUN_TRACE_H

#include <hw/trn_isa.h>
#include <trn/trn_program.h>

/* What is known of a part of a program that was executed. */
struct run_trace_part {
	const struct trn_neff_core *core;
	struct trn_profile_record *records; /* as the device wrote them; their order is changed */
	uint64_t count;
	struct trn_execution_result result;
};

/* Writes the file.  0, or negative errno with libtrn's text. */
int run_write_trace(const char *path, const char *program, const struct run_trace_part *parts,
		    uint32_t count);

#endif /* TRN_RUN_TRACE_H */
