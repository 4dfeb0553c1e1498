// SPDX-License-Identifier: MIT
/* The random numbers of stochastic rounding. */
#include "numerics.h"
#include "suites.h"
#include "tools/vdev/model/core/philox.h"

/* Published with Random123: kat_vectors, philox4x32 10. */
static const struct {
	uint32_t counter[4], key[2], random[4];
} known[] = {
	{ { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
	{ { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
	  { 0xffffffff, 0xffffffff },
	  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
	{ { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
	  { 0xa4093822, 0x299f31d0 },
	  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

START_TEST(known_answers)
{
	uint32_t words[4];

	memcpy(words, known[_i].counter, sizeof(words));
	trn_philox(words, known[_i].key);
	ck_assert_mem_eq(words, known[_i].random, sizeof(words));
}
END_TEST

/* Counter: element, instruction, engine, 0; key: low and high word of the seed. */
START_TEST(row_is_the_first_word_of_each_element)
{
	const struct trn_random whose = { .seed = 0xfedcba9876543210,
					  .instruction = 0xffffffff,
					  .engine = 3 };
	const uint32_t key[2] = { 0x76543210, 0xfedcba98 };
	uint32_t row[100];

	/* The number of the element wraps. */
	trn_random_row(&whose, 0xffffffff - 49, row, 100);
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t words[4] = { 0xffffffff - 49 + i, 0xffffffff, 3, 0 };

		trn_philox(words, key);
		ck_assert_uint_eq(row[i], words[0]);
	}
}
END_TEST

Suite *philox_suite(void)
{
	Suite *suite = suite_create("philox");
	TCase *tcase = tcase_create("philox");

	tcase_add_loop_test(tcase, known_answers, 0, COUNT(known));
	tcase_add_test(tcase, row_is_the_first_word_of_each_element);
	suite_add_tcase(suite, tcase);
	return suite;
}
