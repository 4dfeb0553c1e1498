// SPDX-License-Identifier: MIT
/* What a core tells of its program, and CORE_RESET. */
#include <errno.h>
#include <string.h>

#include "program.h"
#include "suites.h"

#define CORE	   3
#define OTHER_CORE 5

static struct rig rig;
static struct program program, other;

static void setup(void)
{
	rig_create(&rig, "trn2", 0, 0);
	rig_enable(&rig, 16);
	program_create(&program, &rig, 1);
	program_create(&other, &rig, 2);
	program.core = CORE;
	other.core = OTHER_CORE;
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static uint16_t core_reset(uint16_t core, uint16_t queue)
{
	return rig_admin(&rig, (struct trn_admin_command){
				       .opcode = TRN_ADMIN_CORE_RESET,
				       .core = { .core = htole16(core), .queue = htole16(queue) },
			       });
}

static uint16_t context_reset(uint16_t asid)
{
	return rig_admin(&rig, (struct trn_admin_command){
				       .opcode = TRN_ADMIN_CONTEXT_RESET,
				       .context = { .asid = htole16(asid) },
			       });
}

static const struct trn_log_core *core_log(uint16_t core)
{
	return rig_log(&rig, TRN_LOG_CORE, core);
}

static void assert_new(uint16_t core)
{
	const uint8_t *bytes = rig_log(&rig, TRN_LOG_CORE, core);

	for (unsigned int i = 0; i < 4096; i++)
		ck_assert_uint_eq(bytes[i], 0);
}

static struct trn_instruction *add_control(struct program *to, unsigned int engine, uint8_t opcode)
{
	return program_add(to, engine, (struct trn_instruction){ .opcode = opcode });
}

/* Never ends.  Register 5 of the sync engine is 7, semaphore 9 is 3, the tensor engine waits. */
static void add_endless(struct program *to)
{
	struct trn_instruction *move = add_control(to, TRN_ENGINE_SYNC, TRN_OP_MOVE), *branch;

	move->control.destination = 5;
	move->control.immediate = htole64(7);
	program_release(add_control(to, TRN_ENGINE_SYNC, TRN_OP_NOP), 9, 3);
	branch = add_control(to, TRN_ENGINE_SYNC, TRN_OP_BRANCH);
	branch->op[0] = TRN_ALU_EQUAL;
	branch->control.target = htole32(2);
	program_acquire(add_control(to, TRN_ENGINE_TENSOR, TRN_OP_NOP), 200, 1);
}

static void start_endless(void)
{
	add_endless(&program);
	rig_submit(&rig, &program.queue, program_packet(&program));
	while (le64toh(core_log(CORE)->engine[TRN_ENGINE_SYNC].issued) < 10)
		rig_step(&rig);
}

static void assert_endless(uint8_t state)
{
	const struct trn_log_core *log = core_log(CORE);

	ck_assert_uint_eq(log->program.state, state);
	ck_assert_uint_eq(le16toh(log->program.queue), program.queue.id);
	ck_assert_uint_eq(le16toh(log->program.asid), 1);
	ck_assert_uint_eq(le32toh(log->program.packet), 0);
	ck_assert_uint_eq(log->engine[TRN_ENGINE_SYNC].state, TRN_ENGINE_STATE_RUNNING);
	ck_assert_uint_eq(le32toh(log->engine[TRN_ENGINE_SYNC].instruction), 2);
	ck_assert_uint_eq(log->engine[TRN_ENGINE_TENSOR].state, TRN_ENGINE_STATE_WAITING);
	ck_assert_uint_eq(le32toh(log->engine[TRN_ENGINE_TENSOR].instruction), 0);
	ck_assert_uint_eq(log->engine[TRN_ENGINE_VECTOR].state, TRN_ENGINE_STATE_HALTED);
	for (unsigned int i = 0; i < TRN_ISA_REGISTERS; i++)
		ck_assert_uint_eq(le64toh(log->engine[TRN_ENGINE_SYNC].reg[i]), i == 5 ? 7 : 0);
	for (unsigned int i = 0; i < TRN_ISA_SEMAPHORES; i++)
		ck_assert_uint_eq(le32toh(log->semaphore[i]), i == 9 ? 3 : 0);
}

START_TEST(state_of_program)
{
	assert_new(CORE);
	start_endless();
	assert_endless(TRN_CORE_STATE_RUNNING);
	assert_new(OTHER_CORE);
	/* What is left of a program can be read when it is over. */
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESET, program.queue.id),
			  TRN_ADMIN_SUCCESS);
	assert_endless(TRN_CORE_STATE_ENDED);
	ck_assert_uint_eq(core_reset(CORE, program.queue.id), TRN_ADMIN_NOT_FOUND);
	assert_endless(TRN_CORE_STATE_ENDED);
}
END_TEST

/* Nothing of a program is told as the next one's. */
START_TEST(log_of_program_that_does_not_begin)
{
	const struct trn_log_core *log;

	start_endless();
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESET, program.queue.id),
			  TRN_ADMIN_SUCCESS);
	rig_execute(&rig, &other.queue,
		    (struct trn_packet){ .opcode = TRN_PACKET_EXEC,
					 .exec = { .program = htole64(UINT64_C(1) << 41),
						   .core = htole16(CORE) } });
	log = core_log(CORE);
	ck_assert_uint_eq(log->program.state, TRN_CORE_STATE_ENDED);
	ck_assert_uint_eq(le16toh(log->program.asid), 2);
	for (unsigned int i = 0; i < TRN_ENGINES; i++) {
		ck_assert_uint_eq(log->engine[i].state, TRN_ENGINE_STATE_HALTED);
		ck_assert_uint_eq(le64toh(log->engine[i].issued), 0);
	}
	ck_assert_uint_eq(log->engine[TRN_ENGINE_SYNC].reg[5], 0);
	ck_assert_uint_eq(log->semaphore[9], 0);
}
END_TEST

START_TEST(arguments)
{
	struct trn_admin_command reserved = { .opcode = TRN_ADMIN_CORE_RESET };
	struct trn_admin_command page = {
		.opcode = TRN_ADMIN_GET_LOG,
		.log = { .buffer = htole64(rig_alloc(&rig, 4096)),
			 .length = htole32(64),
			 .page = TRN_LOG_CORE,
			 .id = htole16(7) },
	};

	ck_assert_uint_eq(core_reset(7, program.queue.id), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(core_reset(8, program.queue.id), TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(core_reset(TRN_CORE_ANY, program.queue.id), TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(core_reset(7, TRN_QUEUES - 1), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(core_reset(7, TRN_QUEUES), TRN_ADMIN_INVALID_ID);
	for (unsigned int i = 0; i < sizeof(reserved.core.reserved); i++) {
		reserved.core.reserved[i] = 1;
		ck_assert_uint_eq(rig_admin(&rig, reserved), TRN_ADMIN_INVALID_FIELD);
		reserved.core.reserved[i] = 0;
	}
	ck_assert_uint_eq(rig_admin(&rig, page), TRN_ADMIN_SUCCESS);
	page.log.id = htole16(8);
	ck_assert_uint_eq(rig_admin(&rig, page), TRN_ADMIN_INVALID_ID);
}
END_TEST

static int inject_hang(const struct program *of, enum trn_cure cure)
{
	const struct trn_injection hang = {
		.fault = TRN_INJECT_HANG,
		.queue = of->queue.id,
		.cure = cure,
	};

	return trn_chip_inject(rig.chip, &hang);
}

/* A copy of a word by way of the core's SBUF. */
static void other_works(uint16_t core)
{
	struct trn_access_pattern tile = program_tile(0, 0, TRN_DTYPE_INT32, 1, 1);
	static uint32_t value;
	uint32_t result;

	program_clear(&other);
	other.core = core;
	value++;
	memcpy(other.data, &value, sizeof(value));
	program_release(program_add(&other, TRN_ENGINE_SYNC,
				    program_transfer(TRN_OP_DMA_LOAD, 1, 1, tile, 0)),
			1, 1);
	program_acquire(program_add(&other, TRN_ENGINE_SYNC,
				    program_transfer(TRN_OP_DMA_STORE, 1, 1, tile, 64)),
			1, 1);
	program_runs(&other);
	memcpy(&result, other.data + 64, sizeof(result));
	ck_assert_uint_eq(result, value);
}

START_TEST(hang)
{
	const struct trn_log_running *log;
	uint16_t id = program.queue.id;

	ck_assert_int_eq(inject_hang(&program, TRN_CURE_CORE), 0);
	add_endless(&program);
	rig_submit(&rig, &program.queue, program_packet(&program));
	rig_run(&rig);
	ck_assert_uint_eq(core_log(CORE)->program.state, TRN_CORE_STATE_RUNNING);
	other_works(OTHER_CORE);
	log = rig_log(&rig, TRN_LOG_RUNNING, 0);
	ck_assert_uint_eq(le32toh(log->count), 1);
	ck_assert_uint_eq(le16toh(log->running[0].queue), id);

	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESET, id),
			  TRN_ADMIN_ENGINE_HUNG);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, id),
			  TRN_ADMIN_ENGINE_HUNG);
	ck_assert_uint_eq(context_reset(1), TRN_ADMIN_ENGINE_HUNG);
	/* Of another core, or another queue, it is none of the business. */
	ck_assert_uint_eq(core_reset(OTHER_CORE, id), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(core_reset(CORE, other.queue.id), TRN_ADMIN_NOT_FOUND);
	ck_assert_int_eq(rig_state(&rig, &program.queue), TRN_QUEUE_RUNNING);
	ck_assert_uint_eq(core_reset(CORE, id), TRN_ADMIN_SUCCESS);
	assert_new(CORE);
	ck_assert_int_eq(rig_state(&rig, &program.queue), TRN_QUEUE_STOPPED);
	ck_assert_uint_eq(rig_event_count(&rig), 0);
	ck_assert_uint_eq(context_reset(1), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, id), TRN_ADMIN_SUCCESS);
	other_works(CORE);
}
END_TEST

/* A queue that waits for the core gets it when it is free. */
START_TEST(waits_for_hung_core)
{
	uint32_t value = 4711;

	ck_assert_int_eq(inject_hang(&program, TRN_CURE_CORE), 0);
	add_endless(&program);
	rig_submit(&rig, &program.queue, program_packet(&program));
	rig_run(&rig);
	other.core = CORE;
	memcpy(other.data, &value, sizeof(value));
	program_add(&other, TRN_ENGINE_SYNC,
		    program_transfer(TRN_OP_DMA_LOAD, 1, 1,
				     program_tile(0, 0, TRN_DTYPE_INT32, 1, 1), 0));
	rig_submit(&rig, &other.queue, program_packet(&other));
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&other.queue), 0);
	ck_assert_uint_eq(core_reset(CORE, program.queue.id), TRN_ADMIN_SUCCESS);
	rig_pass(&rig, 1000000);
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&other.queue), 1);
}
END_TEST

START_TEST(not_enough)
{
	ck_assert_int_eq(inject_hang(&program, TRN_CURE_FUNCTION), 0);
	add_endless(&program);
	rig_submit(&rig, &program.queue, program_packet(&program));
	rig_run(&rig);
	ck_assert_uint_eq(context_reset(1), TRN_ADMIN_ENGINE_HUNG);
	ck_assert_int_eq(rig_state(&rig, &program.queue), TRN_QUEUE_RUNNING);
	/* It hangs before it has a core. */
	ck_assert_uint_eq(core_reset(CORE, program.queue.id), TRN_ADMIN_NOT_FOUND);
	assert_new(CORE);
}
END_TEST

/* Nor is a core's reset, of a program that has begun. */
START_TEST(core_not_enough)
{
	start_endless();
	ck_assert_int_eq(inject_hang(&program, TRN_CURE_FUNCTION), 0);
	rig_run(&rig);
	ck_assert_uint_eq(core_reset(CORE, program.queue.id), TRN_ADMIN_ENGINE_HUNG);
	ck_assert_int_eq(rig_state(&rig, &program.queue), TRN_QUEUE_RUNNING);
	assert_endless(TRN_CORE_STATE_RUNNING);
}
END_TEST

/* A program that does no harm is ended too, and so is what the context has left there. */
START_TEST(of_what_runs)
{
	struct trn_access_pattern tile = program_tile(0, 0, TRN_DTYPE_INT32, 64, 1);

	memset(program.data, 0xff, 4 * 128 * 64);
	program_add(&program, TRN_ENGINE_SYNC, program_transfer(TRN_OP_DMA_LOAD, 128, 64, tile, 0));
	program_runs(&program);
	program_clear(&program);
	add_endless(&program);
	rig_submit(&rig, &program.queue, program_packet(&program));
	while (core_log(CORE)->program.state != TRN_CORE_STATE_RUNNING)
		rig_step(&rig);
	ck_assert_uint_eq(core_reset(CORE, program.queue.id), TRN_ADMIN_SUCCESS);
	ck_assert_int_eq(rig_state(&rig, &program.queue), TRN_QUEUE_STOPPED);
	ck_assert_uint_eq(rig_event_count(&rig), 0);
	assert_new(CORE);

	rig_exec_queue_create(&rig, &program.queue, 3, &program.space);
	program_clear(&program);
	program_add(&program, TRN_ENGINE_SYNC,
		    program_transfer(TRN_OP_DMA_STORE, 128, 64, tile, 0));
	program_runs(&program);
	for (int i = 0; i < 4 * 128 * 64; i++)
		ck_assert_uint_eq(program.data[i], 0);
}
END_TEST

START_TEST(no_core_to_hang)
{
	struct rig_queue dma;

	rig_queue_create(&rig, &dma, 9, &program.space, &program.space, 3);
	ck_assert_int_eq(
		trn_chip_inject(rig.chip, &(struct trn_injection){ .fault = TRN_INJECT_HANG,
								   .queue = dma.id,
								   .cure = TRN_CURE_CORE }),
		-EINVAL);
}
END_TEST

Suite *core_reset_suite(void)
{
	Suite *suite = suite_create("core-reset");
	TCase *cases = tcase_create("core-reset");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, state_of_program);
	tcase_add_test(cases, log_of_program_that_does_not_begin);
	tcase_add_test(cases, arguments);
	tcase_add_test(cases, hang);
	tcase_add_test(cases, waits_for_hung_core);
	tcase_add_test(cases, not_enough);
	tcase_add_test(cases, core_not_enough);
	tcase_add_test(cases, of_what_runs);
	tcase_add_test(cases, no_core_to_hang);
	suite_add_tcase(suite, cases);
	return suite;
}
