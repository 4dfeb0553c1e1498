// SPDX-License-Identifier: MIT
#include "verdict.h"

#include "opcodes.h"
#include "tests/unit/model/numerics.h"

/* What is before the instruction: a matrix of one number for MATMUL, of its type if it may be. */
static struct trn_instruction first_of(unsigned int engine,
				       const struct trn_instruction *instruction)
{
	struct trn_instruction load = opcode_instruction(opcode_find(TRN_OP_LOAD_STATIONARY));

	if (engine != TRN_ENGINE_TENSOR)
		return (struct trn_instruction){ .opcode = TRN_OP_NOP };
	if (instruction->opcode == TRN_OP_MATMUL && instruction->tensor.in.dtype <= TRN_DTYPE_INT8)
		load.tensor.in.dtype = instruction->tensor.in.dtype;
	return load;
}

void verdict_expect(struct program *program, unsigned int engine,
		    const struct trn_instruction *instruction, uint8_t exception, const char *what,
		    unsigned int number)
{
	struct rig *rig = program->rig;
	struct trn_event event;
	bool runs;

	program_clear(program);
	program_add(program, engine, first_of(engine, instruction));
	program_add(program, engine, *instruction);
	program_run(program);
	runs = rig_state(rig, &program->queue) == TRN_QUEUE_RUNNING;
	if (runs) {
		EXPECT(!exception, "opcode 0x%x on engine %u, %s %u: runs, not exception %u",
		       instruction->opcode, engine, what, number, exception);
		return;
	}
	event = rig_last_event(rig);
	EXPECT(event.reason == TRN_STOP_PROGRAM && event.exception == exception,
	       "opcode 0x%x on engine %u, %s %u: reason %u, exception %u, not %u",
	       instruction->opcode, engine, what, number, event.reason, event.exception, exception);
	EXPECT(event.engine == engine && le32toh(event.instruction) == 1,
	       "opcode 0x%x, %s: engine %u, instruction %u", instruction->opcode, what,
	       event.engine, le32toh(event.instruction));
	ck_assert_uint_eq(rig_queue_command(rig, TRN_ADMIN_QUEUE_DESTROY, program->queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_exec_queue_create(rig, &program->queue, program->queue.id, &program->space);
	/* Its ring is elsewhere, at the VA of the one before. */
	ck_assert_uint_eq(rig_invalidate(rig, program->space.asid, program->queue.ring_va, 4096),
			  TRN_ADMIN_SUCCESS);
}
