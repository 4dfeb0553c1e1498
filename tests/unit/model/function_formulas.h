/* SPDX-License-Identifier: MIT */
/* Activation functions as Documentation/isa.rst, "Scalar engine", writes them. */
#ifndef TRN_TEST_FUNCTION_FORMULAS_H
#define TRN_TEST_FUNCTION_FORMULAS_H

#include <hw/trn_isa.h>

#define FUNCTIONS (TRN_FUNCTION_SIN + 1)

/* TRN_FUNCTION_* of x, in binary64: what is rounded to binary32 once. */
double function_formula(int function, double x);

#endif /* TRN_TEST_FUNCTION_FORMULAS_H */
