/* SPDX-License-Identifier: MIT */
/* Every opcode: what it has of an instruction's fields, and an instruction that is right. */
#ifndef TRN_TEST_OPCODES_H
#define TRN_TEST_OPCODES_H

#include <hw/trn_isa.h>
#include <stdbool.h>
#include <stdint.h>

enum opcode_kind {
	KIND_CONTROL,
	KIND_TRANSFER,
	KIND_TENSOR,
	KIND_ELEMENT,
	KIND_AFFINE
};

struct opcode {
	uint8_t number;
	enum opcode_kind kind;
	uint8_t engines; /* bit n: engine n has it */
	uint8_t flags;
	uint8_t ops;	  /* how many of op[] */
	uint8_t operands; /* bit 0: out or local; 1, 2: inputs; 3: scale */
};

#define OPCODES 28

extern const struct opcode opcodes[OPCODES];

/* NULL if there is none */
const struct opcode *opcode_find(unsigned int number);
/* One partition, one element (or as many as the opcode needs), FP32 wherever it may be */
struct trn_instruction opcode_instruction(const struct opcode *opcode);
/* Operand 0 … 3 as in opcode.operands, whether the opcode has it or not; NULL if its kind has none
 */
struct trn_access_pattern *opcode_operand(const struct opcode *opcode,
					  struct trn_instruction *instruction,
					  unsigned int operand);

#endif /* TRN_TEST_OPCODES_H */
