/* SPDX-License-Identifier: MIT */
#ifndef TRN_BUFFER_H
#define TRN_BUFFER_H

#include <stddef.h>
#include <trn/trn.h>

/*
 * The sentence for a failed allocation of @asked bytes in @stack (or TRN_STACK_ANY), given
 * the use of all stacks.  Cut off when @size is too small.
 */
void trn_describe_exhaustion(char *text, size_t size, const struct trn_memory *memory,
			     unsigned int stacks, uint32_t stack, uint64_t asked);

#endif /* TRN_BUFFER_H */
