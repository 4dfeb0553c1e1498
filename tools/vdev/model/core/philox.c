// SPDX-License-Identifier: MIT
#include "philox.h"

#define ROUNDS	     10

/* The paper's multipliers, and the steps of the key: golden ratio and √3 − 1 */
#define MULTIPLIER_0 0xd2511f53U
#define MULTIPLIER_1 0xcd9e8d57U
#define KEY_STEP_0   0x9e3779b9U
#define KEY_STEP_1   0xbb67ae85U

void trn_philox(uint32_t counter[4], const uint32_t key[2])
{
	uint32_t key0 = key[0], key1 = key[1];

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t product0 = (uint64_t)MULTIPLIER_0 * counter[0];
		uint64_t product1 = (uint64_t)MULTIPLIER_1 * counter[2];

		counter[0] = (uint32_t)(product1 >> 32) ^ counter[1] ^ key0;
		counter[1] = (uint32_t)product1;
		counter[2] = (uint32_t)(product0 >> 32) ^ counter[3] ^ key1;
		counter[3] = (uint32_t)product0;
		key0 += KEY_STEP_0;
		key1 += KEY_STEP_1;
	}
}

void trn_random_row(const struct trn_random *random, uint32_t first, uint32_t *out, size_t count)
{
	const uint32_t key[2] = { (uint32_t)random->seed, (uint32_t)(random->seed >> 32) };

	for (size_t i = 0; i < count; i++) {
		uint32_t words[4] = { first + (uint32_t)i, random->instruction, random->engine, 0 };

		trn_philox(words, key);
		out[i] = words[0];
	}
}
