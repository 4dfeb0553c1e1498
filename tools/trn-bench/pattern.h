/* SPDX-License-Identifier: MIT */
/* Data to move, and the checksum that tells whether it arrived. */
#ifndef TRN_BENCH_PATTERN_H
#define TRN_BENCH_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Pseudo-random words (xorshift64*): the same for the same seed. */
static inline void pattern_fill(void *memory, uint64_t size, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15 + 1, *word = memory;
	size_t i;

	for (i = 0; i < size / sizeof(*word); i++) {
		state ^= state >> 12;
		state ^= state << 25;
		state ^= state >> 27;
		word[i] = state * 0x2545f4914f6cdd1d;
	}
}

/* FNV-1a, 64 bits. */
static inline uint64_t pattern_checksum(const void *memory, uint64_t size)
{
	const uint8_t *byte = memory;
	uint64_t hash = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3;
	return hash;
}

#endif /* TRN_BENCH_PATTERN_H */
