/* SPDX-License-Identifier: MIT */
/*
 * Philox4x32-10, the generator for stochastic rounding (Documentation/isa.rst, "Stochastic
 * rounding"): a function of its counter and key, without a state.
 */
#ifndef TRN_VDEV_PHILOX_H
#define TRN_VDEV_PHILOX_H

#include <stddef.h>
#include <stdint.h>

/* Replaces the counter by the four random words of counter and key. */
void trn_philox(uint32_t counter[4], const uint32_t key[2]);

/* Whose random numbers */
struct trn_random {
	uint64_t seed;
	uint32_t instruction; /* how many the engine issued before this one */
	uint32_t engine;      /* TRN_ENGINE_* */
};

/* The random numbers of elements first … first + count − 1 of an instruction's output. */
void trn_random_row(const struct trn_random *random, uint32_t first, uint32_t *out, size_t count);

#endif /* TRN_VDEV_PHILOX_H */
