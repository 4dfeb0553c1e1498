/* SPDX-License-Identifier: MIT */
/* Programs of one instruction that a chip refuses, or does not. */
#ifndef TRN_TEST_VERDICT_H
#define TRN_TEST_VERDICT_H

#include "tests/unit/model/program.h"

/*
 * Runs the instruction as its engine's second: the program ends with this exception of it, or well
 * if exception is 0. what says what is tried, for the message of a failure.
 */
void verdict_expect(struct program *program, unsigned int engine,
		    const struct trn_instruction *instruction, uint8_t exception, const char *what,
		    unsigned int number);

#endif /* TRN_TEST_VERDICT_H */
