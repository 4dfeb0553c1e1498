/* SPDX-License-Identifier: MIT */
/* TRN_ALU_* as Documentation/isa.rst, "Arithmetic", defines them, for tests to compare with. */
#ifndef TRN_TEST_ALU_REFERENCE_H
#define TRN_TEST_ALU_REFERENCE_H

#include <hw/trn_isa.h>
#include <stdbool.h>
#include <stdint.h>

#define ALU_OPERATIONS (TRN_ALU_REVERSE_DIVIDE + 1)

bool alu_is_of_floats(unsigned int op);
bool alu_is_of_integers(unsigned int op);
/* A NaN has any bits. */
float alu_float_reference(unsigned int op, float a, float b);
/* a and b are in the range of INT32. */
int32_t alu_int_reference(unsigned int op, __int128 a, __int128 b);

#endif /* TRN_TEST_ALU_REFERENCE_H */
