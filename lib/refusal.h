/* SPDX-License-Identifier: MIT */
#ifndef TRN_REFUSAL_H
#define TRN_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <trn/trn.h>

/* What was asked for, and the use of all HBM when it was refused. */
struct trn_refusal {
	int error; /* -ENOSPC or -EDQUOT */
	uint64_t asked;
	uint32_t stack; /* or TRN_STACK_ANY */
	bool cpu_visible;
	struct trn_memory_limits limits;
	unsigned int stacks;
	const struct trn_memory *memory; /* of each stack */
};

/* The sentence for a refused allocation of HBM.  Cut off when @size is too small. */
void trn_describe_refusal(char *text, size_t size, const struct trn_refusal *refusal);

/* Makes trn_error_message() tell why HBM was refused; returns @error. */
int trn_fail_refused(struct trn_device *device, int error, uint64_t asked, uint32_t stack,
		     bool cpu_visible);

#endif /* TRN_REFUSAL_H */
