/* SPDX-License-Identifier: MIT */
/* An instruction in the input of the fuzz target core. */
#ifndef TRN_FUZZ_RECORD_H
#define TRN_FUZZ_RECORD_H

#include <hw/trn_isa.h>

#define RECORD	      (1 + sizeof(struct trn_instruction)) /* bytes: how, the instruction */

#define RECORD_ENGINE 0x07 /* modulo TRN_ENGINES */
#define RECORD_REPAIR 0x08 /* to a likelier one */

#endif /* TRN_FUZZ_RECORD_H */
