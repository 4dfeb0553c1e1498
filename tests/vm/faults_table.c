/* SPDX-License-Identifier: MIT */
#include "faults_table.h"

#include <errno.h>

#include <hw/trn_admin.h>

const struct outcome finish = { 0, 0, TRN_CONTROL_RUNNING };
const struct outcome stopped = { -EIO, -EIO, TRN_CONTROL_STOPPED };
const struct outcome faulted = { -EFAULT, -EIO, TRN_CONTROL_STOPPED };
const struct outcome slow = { -ETIME, -EIO, TRN_CONTROL_STOPPED };
const struct outcome reset = { -EIO, -EIO, TRN_CONTROL_RESET };
const struct outcome gone = { -ENODEV, -ENODEV, TRN_CONTROL_GONE };

static int bad_opcode(struct worker *guilty)
{
	const struct trn_packet bad = { .opcode = 0x77 };

	return worker_submit(guilty, &bad, 1);
}

static int bad_tail(struct worker *guilty)
{
	__atomic_store_n(&guilty->control->tail, guilty->control->tail + 1000, __ATOMIC_SEQ_CST);
	*guilty->doorbell = 1;
	guilty->value++;
	return 0;
}

static int unmapped(struct worker *guilty)
{
	const struct trn_packet copy = guest_copy(guilty->va, FAULT_NOWHERE, 8);

	return worker_submit(guilty, &copy, 1);
}

static int endless_packet(struct worker *guilty)
{
	const struct trn_packet packet = worker_long_packet(guilty, WORKER_ENDLESS);

	return worker_submit(guilty, &packet, 1);
}

/* Packets of which none is long, but all together: 4 GiB in cache take 40 ms of a fast host, so
 * that the job takes longer than its limit there too.
 */
static int endless_job(struct worker *guilty)
{
	struct trn_packet packets[32];
	int i;

	for (i = 0; i < 32; i++)
		packets[i] = worker_long_packet(guilty, UINT64_C(1) << 32);
	return worker_submit(guilty, packets, 32);
}

static int illegal_program(struct worker *guilty)
{
	struct image image = { 0 };
	struct trn_packet packet;

	image_add(&image, TRN_ENGINE_VECTOR, 0xee);
	packet = worker_program(guilty, &image, guilty->va);
	return worker_submit(guilty, &packet, 1);
}

static int deadlocked_program(struct worker *guilty)
{
	struct image image = { 0 };
	struct trn_packet packet;

	image_acquire(image_add(&image, TRN_ENGINE_SYNC, TRN_OP_NOP), 1, 1);
	packet = worker_program(guilty, &image, guilty->va);
	return worker_submit(guilty, &packet, 1);
}

static int faulting_program(struct worker *guilty)
{
	struct image image = { 0 };
	struct trn_packet packet;

	image_transfer(&image, TRN_ENGINE_SYNC, TRN_OP_DMA_LOAD, 1, 0, 0, 1, 64);
	packet = worker_program(guilty, &image, FAULT_NOWHERE);
	return worker_submit(guilty, &packet, 1);
}

static int endless_program(struct worker *guilty)
{
	struct image image = { 0 };
	struct trn_packet packet;

	image_loop(&image, TRN_ENGINE_SYNC);
	packet = worker_program(guilty, &image, guilty->va);
	return worker_submit(guilty, &packet, 1);
}

const struct fault faults[] = {
	{
		.name = "bad packet",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"bad-packet\"",
		.guilty = &stopped,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_BAD_OPCODE,
	},
	{
		.name = "bad packet of its own",
		.where = BY_ITSELF,
		.guilty = &stopped,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_BAD_OPCODE,
		.modes = USER,
		.provoke = bad_opcode,
	},
	{
		.name = "bad tail",
		.where = BY_ITSELF,
		.guilty = &stopped,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_BAD_TAIL,
		.modes = USER,
		.provoke = bad_tail,
	},
	{
		.name = "page fault",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"page-fault\"",
		.guilty = &faulted,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_FAULT_UNMAPPED,
	},
	{
		.name = "unmapped address",
		.where = BY_ITSELF,
		.guilty = &faulted,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_FAULT_UNMAPPED,
		.address = FAULT_NOWHERE,
		.provoke = unmapped,
	},
	{
		.name = "host memory refuses",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"dma-abort\"",
		.guilty = &stopped,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_FAULT_HOST,
	},
	{
		.name = "slow packet",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"slow\",\"ms\":5000",
		.guilty = &slow,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_TIME_LIMIT,
		.after_limit = true,
	},
	{
		.name = "endless packet",
		.where = BY_ITSELF,
		.guilty = &slow,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_TIME_LIMIT,
		.after_limit = true,
		.provoke = endless_packet,
	},
	{
		.name = "endless job of short packets",
		.where = BY_ITSELF,
		.guilty = &slow,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_TIME_LIMIT,
		.after_limit = true,
		.modes = KERNEL,
		.provoke = endless_job,
	},
	{
		.name = "illegal instruction",
		.where = BY_ITSELF,
		.guilty = &stopped,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_PROGRAM,
		.exec = true,
		.provoke = illegal_program,
	},
	{
		.name = "deadlock of a program",
		.where = BY_ITSELF,
		.guilty = &stopped,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_PROGRAM,
		.exec = true,
		.provoke = deadlocked_program,
	},
	{
		.name = "program whose access faults",
		.where = BY_ITSELF,
		.guilty = &faulted,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_FAULT_UNMAPPED,
		.exec = true,
		.address = FAULT_NOWHERE,
		.provoke = faulting_program,
	},
	{
		.name = "page fault of a program",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"page-fault\"",
		.guilty = &faulted,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_FAULT_UNMAPPED,
		.exec = true,
	},
	{
		.name = "endless program",
		.where = BY_ITSELF,
		.guilty = &slow,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_TIME_LIMIT,
		.after_limit = true,
		.exec = true,
		.provoke = endless_program,
	},
	{
		.name = "hang, QUEUE_RESET frees it",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"hang\",\"cure\":\"queue\"",
		.guilty = &slow,
		.siblings = &finish,
		.others = &finish,
		.rung = QUEUE,
		.reason = TRN_STOP_TIME_LIMIT,
		.after_limit = true,
	},
	{
		.name = "hang, CONTEXT_RESET frees it",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"hang\",\"cure\":\"context\"",
		.guilty = &slow,
		.siblings = &stopped,
		.others = &finish,
		.rung = CONTEXT,
		.reason = TRN_STOP_TIME_LIMIT,
		.after_limit = true,
	},
	{
		.name = "hang, CORE_RESET frees its core",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"hang\",\"cure\":\"core\"",
		.guilty = &slow,
		.siblings = &stopped,
		.others = &finish,
		.rung = CORE,
		.reason = TRN_STOP_TIME_LIMIT,
		.after_limit = true,
		.exec = true,
	},
	{
		.name = "hang, a function reset frees it",
		.where = IN_QUEUE,
		.inject = "\"fault\":\"hang\",\"cure\":\"function\"",
		.guilty = &reset,
		.siblings = &reset,
		.others = &reset,
		.rung = FUNCTION,
		.after_limit = true,
	},
	{
		.name = "lost interrupt",
		.where = IN_VECTOR,
		.inject = "\"fault\":\"lost-interrupt\"",
		.guilty = &finish,
		.siblings = &finish,
		.others = &finish,
		.rung = NONE,
	},
	{
		.name = "late interrupt",
		.where = IN_VECTOR,
		.inject = "\"fault\":\"late-interrupt\",\"ms\":300",
		.guilty = &finish,
		.siblings = &finish,
		.others = &finish,
		.rung = NONE,
	},
	{
		.name = "doubled interrupt",
		.where = IN_VECTOR,
		.inject = "\"fault\":\"duplicate-interrupt\"",
		.guilty = &finish,
		.siblings = &finish,
		.others = &finish,
		.rung = NONE,
	},
	{
		.name = "late admin completion",
		.where = IN_ADMIN,
		.inject = "\"fault\":\"slow-completion\",\"ms\":200",
		.guilty = &finish,
		.siblings = &finish,
		.others = &finish,
		.rung = NONE,
	},
	{
		.name = "lost admin completion",
		.where = IN_ADMIN,
		.inject = "\"fault\":\"lost-completion\"",
		.guilty = &reset,
		.siblings = &reset,
		.others = &reset,
		.rung = FUNCTION,
	},
	{
		.name = "admin completion nobody asked for",
		.where = IN_ADMIN,
		.inject = "\"fault\":\"garbage-completion\"",
		.guilty = &reset,
		.siblings = &reset,
		.others = &reset,
		.rung = FUNCTION,
	},
	{
		.name = "heartbeat stands still",
		.where = IN_CHIP,
		.inject = "\"fault\":\"heartbeat-stop\"",
		.guilty = &reset,
		.siblings = &reset,
		.others = &reset,
		.rung = FUNCTION,
	},
	{
		.name = "STATUS.FATAL",
		.where = IN_CHIP,
		.inject = "\"fault\":\"fatal\"",
		.guilty = &reset,
		.siblings = &reset,
		.others = &reset,
		.rung = FUNCTION,
	},
	{
		.name = "chip unplugged",
		.where = UNPLUGGED,
		.guilty = &gone,
		.siblings = &gone,
		.others = &gone,
		.rung = WEDGED,
	},
	{
		.name = "chip dies during a program",
		.where = IN_CHIP,
		.inject = "\"fault\":\"death\"",
		.guilty = &gone,
		.siblings = &gone,
		.others = &gone,
		.rung = WEDGED,
		.exec = true,
		.modes = KERNEL,
		.provoke = endless_program,
	},
	{
		.name = "chip dead",
		.where = IN_CHIP,
		.inject = "\"fault\":\"death\"",
		.guilty = &gone,
		.siblings = &gone,
		.others = &gone,
		.rung = WEDGED,
		.modes = USER,
	},
};

const int fault_count = sizeof(faults) / sizeof(faults[0]);
