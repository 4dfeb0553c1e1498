// SPDX-License-Identifier: MIT
/* The admin queue: rings, every command, every status, events, and fatal states. */
#include <string.h>

#include "rig.h"
#include "suites.h"

static struct rig rig;
static struct rig_space kernel;

static void setup(void)
{
	rig_ready(&rig);
	rig_space_create(&rig, &kernel, 0);
}

static void teardown(void)
{
	rig_destroy(&rig);
}

static struct trn_admin_command data_command(uint8_t opcode, uint64_t buffer)
{
	return (struct trn_admin_command){
		.opcode = opcode,
		.data = { .buffer = htole64(buffer) },
	};
}

static struct trn_admin_command log_command(uint64_t buffer, uint32_t length, uint8_t page)
{
	return (struct trn_admin_command){
		.opcode = TRN_ADMIN_GET_LOG,
		.log = { .buffer = htole64(buffer), .length = htole32(length), .page = page },
	};
}

static struct trn_admin_command context_command(uint8_t opcode, uint16_t asid, uint64_t root)
{
	return (struct trn_admin_command){
		.opcode = opcode,
		.context = { .asid = htole16(asid), .root = htole64(root) },
	};
}

/* A queue that would be created. */
static struct trn_admin_command queue_create_command(uint16_t queue)
{
	return (struct trn_admin_command){
		.opcode = TRN_ADMIN_QUEUE_CREATE,
		.queue_create = {
			.queue = htole16(queue),
			.type = TRN_QUEUE_TYPE_DMA,
			.ring_log2 = 4,
			.vector = htole16(1),
			.ring_va = htole64(0x100000),
			.control = htole64(rig_alloc(&rig, TRN_CONTROL_PAGE_SIZE)),
		},
	};
}

static struct trn_admin_command queue_command(uint8_t opcode, uint16_t queue)
{
	return (struct trn_admin_command){ .opcode = opcode, .queue = { .queue = htole16(queue) } };
}

START_TEST(identify)
{
	uint64_t buffer = rig_alloc(&rig, 4096);
	struct trn_identify *page = rig_pointer(&rig, buffer);
	static const uint8_t zero[3984];

	memset(page, 0xff, sizeof(*page));
	ck_assert_uint_eq(rig_admin(&rig, data_command(TRN_ADMIN_IDENTIFY, buffer)),
			  TRN_ADMIN_SUCCESS);
	ck_assert_mem_eq(page, "TRDI", 4);
	ck_assert_uint_eq(le32toh(page->size), 4096);
	for (unsigned int i = 0; i < 16; i++)
		ck_assert_uint_eq(page->uuid[i], i + 1);
	ck_assert_mem_eq(page->generation, "trn1\0\0\0\0\0\0\0\0\0\0\0", 16);
	ck_assert_mem_eq(page->serial, "RIG-0001\0\0\0\0\0\0\0\0", 16);
	ck_assert_uint_ne(page->firmware[0], 0);
	ck_assert_uint_eq(le64toh(page->hbm_bytes), RIG_HBM_SIZE);
	ck_assert_mem_eq(page->reserved, zero, sizeof(zero));
}
END_TEST

/* Reserved bytes of each command, the opcode's own and the common ones. */
START_TEST(reserved_fields)
{
	uint64_t buffer = rig_alloc(&rig, 4096);
	struct trn_admin_command commands[] = {
		data_command(TRN_ADMIN_IDENTIFY, buffer),
		log_command(buffer, 4096, TRN_LOG_EVENTS),
		data_command(TRN_ADMIN_EVENT, buffer),
		context_command(TRN_ADMIN_CONTEXT_CREATE, 9, buffer),
		context_command(TRN_ADMIN_CONTEXT_DESTROY, 0, 0),
		{ .opcode = TRN_ADMIN_TLB_INVALIDATE },
		queue_create_command(1),
		queue_command(TRN_ADMIN_QUEUE_DESTROY, 0),
		queue_command(TRN_ADMIN_QUEUE_SUSPEND, 0),
		queue_command(TRN_ADMIN_QUEUE_RESUME, 0),
		{ .opcode = TRN_ADMIN_SET_FEATURE,
		  .feature = { .feature = TRN_FEATURE_INTERRUPT_INTERVAL } },
		context_command(TRN_ADMIN_CONTEXT_RESET, 0, 0),
		queue_command(TRN_ADMIN_QUEUE_RESET, 0),
		queue_command(TRN_ADMIN_QUEUE_MASK, 0),
	};
	/* Bytes of the body, from offset 8, that mean something. */
	static const uint64_t known[] = {
		0xff,				   /* buffer */
		0x1fff,				   /* buffer, length, page */
		0xff,	    0xff03,		   /* asid, root */
		0xff03,	    0xffff03,		   /* asid, va, length */
		0xfffff7ff,			   /* queue … priority; time_limit … control */
		0x3,	    0x3,      0x3, 0xff01, /* feature, value */
		0x3,	    0x3,      0x7,	   /* queue, masked */
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		for (unsigned int byte = 1; byte < 64; byte++) {
			struct trn_admin_command command = commands[i];
			uint8_t *raw = (uint8_t *)&command;

			if (byte == 2 || byte == 3)
				continue; /* command_id */
			if (byte >= 8 && known[i] >> (byte - 8) & 1)
				continue;
			raw[byte] = 1;
			if (rig_admin(&rig, command) != TRN_ADMIN_INVALID_FIELD)
				ck_abort_msg("opcode %#x accepts byte %u", command.opcode, byte);
		}
	}
	/* Nothing was done. */
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 9, 0)),
			  TRN_ADMIN_NOT_FOUND);
	ck_assert_ptr_null(rig.chip->queue[1]);
	ck_assert_uint_eq(rig.chip->events.waiting_count, 0);
}
END_TEST

START_TEST(unknown_opcodes)
{
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		if ((opcode >= 1 && opcode <= 4) || (opcode >= 0x10 && opcode <= 0x14) ||
		    (opcode >= 0x20 && opcode <= 0x25))
			continue;
		ck_assert_uint_eq(rig_admin(&rig, (struct trn_admin_command){ .opcode = opcode }),
				  TRN_ADMIN_INVALID_OPCODE);
	}
}
END_TEST

START_TEST(buffers)
{
	uint64_t buffer = rig_alloc(&rig, 8192);
	uint64_t refused = rig_alloc(&rig, 4096);
	static const uint32_t lengths[] = { 0, 1, 63, 65, 4097, 4096 + 64, UINT32_MAX & ~63U };

	rig_deny(&rig, refused, RIG_DENY_WRITE);
	ck_assert_uint_eq(rig_admin(&rig, data_command(TRN_ADMIN_IDENTIFY, buffer + 32)),
			  TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_admin(&rig, data_command(TRN_ADMIN_EVENT, buffer + 1)),
			  TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_admin(&rig, log_command(buffer + 8, 64, TRN_LOG_EVENTS)),
			  TRN_ADMIN_INVALID_FIELD);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		ck_assert_uint_eq(rig_admin(&rig, log_command(buffer, lengths[i], TRN_LOG_EVENTS)),
				  TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_admin(&rig, log_command(buffer, 64, 0)), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_admin(&rig, log_command(buffer, 64, 5)), TRN_ADMIN_INVALID_FIELD);

	ck_assert_uint_eq(rig_admin(&rig, data_command(TRN_ADMIN_IDENTIFY, RIG_NOWHERE)),
			  TRN_ADMIN_DMA_ERROR);
	ck_assert_uint_eq(rig_admin(&rig, data_command(TRN_ADMIN_IDENTIFY, refused)),
			  TRN_ADMIN_DMA_ERROR);
	ck_assert_uint_eq(rig_admin(&rig, data_command(TRN_ADMIN_IDENTIFY, refused - 64)),
			  TRN_ADMIN_DMA_ERROR);
	ck_assert_uint_eq(rig_admin(&rig, log_command(RIG_NOWHERE, 64, TRN_LOG_EVENTS)),
			  TRN_ADMIN_DMA_ERROR);
	/* Data may go to memory that has no mapping. */
	ck_assert_uint_eq(rig_admin(&rig, data_command(TRN_ADMIN_IDENTIFY, RIG_REMOTE)),
			  TRN_ADMIN_SUCCESS);
	ck_assert_mem_eq(rig.remote, "TRDI", 4);
	/* Only what was asked for is written. */
	memset(rig_pointer(&rig, buffer), 0xee, 4096);
	ck_assert_uint_eq(rig_admin(&rig, log_command(buffer, 64, TRN_LOG_EVENTS)),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(*(uint8_t *)rig_pointer(&rig, buffer), 1);
	ck_assert_uint_eq(*(uint8_t *)rig_pointer(&rig, buffer + 64), 0xee);
}
END_TEST

START_TEST(contexts)
{
	uint64_t root = rig_alloc(&rig, TRN_PT_SIZE);

	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_CREATE, 256, root)),
			  TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_CREATE, 65535, root)),
			  TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_CREATE, 1, root + 8)),
			  TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_CREATE, 255, root)),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_CREATE, 255, root)),
			  TRN_ADMIN_EXISTS);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_CREATE, 0, root)),
			  TRN_ADMIN_EXISTS);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 1, 0)),
			  TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 256, 0)),
			  TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 255, root)),
			  TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 255, 0)),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_CREATE, 255, root)),
			  TRN_ADMIN_SUCCESS);
}
END_TEST

START_TEST(context_is_busy_under_queues)
{
	struct rig_space user;
	struct rig_queue queue;

	rig_space_create(&rig, &user, 7);
	rig_queue_create(&rig, &queue, 0, &kernel, &user, 2);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 0, 0)),
			  TRN_ADMIN_BUSY);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 7, 0)),
			  TRN_ADMIN_BUSY);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, 0), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 0, 0)),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_admin(&rig, context_command(TRN_ADMIN_CONTEXT_DESTROY, 7, 0)),
			  TRN_ADMIN_SUCCESS);
}
END_TEST

START_TEST(invalidate_arguments)
{
	const uint64_t end = 1ULL << 48;

	ck_assert_uint_eq(rig_invalidate(&rig, 0, 0, 0), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, 4096, 4096), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, 0, end), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, end - 4096, 4096), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, end - 4096, 8192), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, end, 4096), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, UINT64_MAX & ~4095ULL, 8192),
			  TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, 1, 4096), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, 4096, 1), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_invalidate(&rig, 0, 4096, 0), TRN_ADMIN_INVALID_FIELD);
	ck_assert_uint_eq(rig_invalidate(&rig, 1, 0, 0), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(rig_invalidate(&rig, 256, 0, 0), TRN_ADMIN_INVALID_ID);
}
END_TEST

START_TEST(queue_create_arguments)
{
	const struct trn_admin_command good = queue_create_command(255);
	struct trn_admin_command bad[] = {
		good, good, good, good, good, good, good, good,
		good, good, good, good, good, good, good,
	};
	static const uint16_t expected[] = {
		TRN_ADMIN_INVALID_FIELD, TRN_ADMIN_INVALID_FIELD, TRN_ADMIN_INVALID_FIELD,
		TRN_ADMIN_INVALID_FIELD, TRN_ADMIN_INVALID_FIELD, TRN_ADMIN_INVALID_FIELD,
		TRN_ADMIN_INVALID_ID,	 TRN_ADMIN_INVALID_ID,	  TRN_ADMIN_INVALID_ID,
		TRN_ADMIN_INVALID_ID,	 TRN_ADMIN_INVALID_ID,	  TRN_ADMIN_NOT_FOUND,
		TRN_ADMIN_NOT_FOUND,	 TRN_ADMIN_DMA_ERROR,	  TRN_ADMIN_INVALID_FIELD,
	};

	bad[0].queue_create.type = 0;
	bad[1].queue_create.type = 3;
	bad[2].queue_create.ring_log2 = TRN_RING_LOG2_MIN - 1;
	bad[3].queue_create.ring_log2 = 13; /* CAP_RING_MAX is 2^12 */
	bad[4].queue_create.ring_va = htole64(0x100040);
	bad[5].queue_create.control = htole64(RIG_RAM + 64);
	bad[6].queue_create.queue = htole16(256);
	bad[7].queue_create.ring_asid = htole16(256);
	bad[8].queue_create.asid = htole16(256);
	bad[9].queue_create.vector = 0;
	bad[10].queue_create.vector = htole16(33);
	bad[11].queue_create.ring_asid = htole16(1);
	bad[12].queue_create.asid = htole16(1);
	bad[13].queue_create.control = htole64(RIG_NOWHERE);
	bad[14].queue_create.priority = TRN_QUEUE_PRIORITY_MAX + 1;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_uint_eq(rig_admin(&rig, bad[i]), expected[i]);

	ck_assert_uint_eq(rig_admin(&rig, queue_command(TRN_ADMIN_QUEUE_DESTROY, 255)),
			  TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(rig_admin(&rig, good), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_admin(&rig, good), TRN_ADMIN_EXISTS);
	ck_assert_uint_eq(rig_admin(&rig, queue_command(TRN_ADMIN_QUEUE_DESTROY, 256)),
			  TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(rig_admin(&rig, queue_command(TRN_ADMIN_QUEUE_DESTROY, 255)),
			  TRN_ADMIN_SUCCESS);
}
END_TEST

START_TEST(queue_create_writes_the_control_page)
{
	struct trn_admin_command command = queue_create_command(0);
	struct trn_control *control = rig_pointer(&rig, le64toh(command.queue_create.control));

	memset(control, 0xff, sizeof(*control));
	ck_assert_uint_eq(rig_admin(&rig, command), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(le32toh(control->head), 0);
	ck_assert_uint_eq(le32toh(control->need_kick), 1);
	/* Software's words are software's. */
	ck_assert_uint_eq(le32toh(control->tail), UINT32_MAX);
	ck_assert_uint_eq(le64toh(control->wake_at), UINT64_MAX);
	ck_assert_uint_eq(le32toh(control->status), UINT32_MAX);
	/* The ring does not even exist: it is not accessed before the first kick. */
	rig_run(&rig);
	ck_assert_uint_eq(rig_event_count(&rig), 0);
}
END_TEST

START_TEST(queue_states)
{
	struct rig_queue queue;

	rig_queue_create(&rig, &queue, 5, &kernel, &kernel, 2);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, 5), TRN_ADMIN_BAD_STATE);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, 5), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, 5), TRN_ADMIN_BAD_STATE);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, 5), TRN_ADMIN_SUCCESS);
	rig_execute(&rig, &queue, (struct trn_packet){ .opcode = 0xff });
	rig_assert_stopped(&rig, &queue, TRN_STOP_BAD_OPCODE);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, 5), TRN_ADMIN_BAD_STATE);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, 5), TRN_ADMIN_BAD_STATE);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_DESTROY, 5), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, 5), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, 5), TRN_ADMIN_NOT_FOUND);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_SUSPEND, 256),
			  TRN_ADMIN_INVALID_ID);
	ck_assert_uint_eq(rig_queue_command(&rig, TRN_ADMIN_QUEUE_RESUME, 256),
			  TRN_ADMIN_INVALID_ID);
}
END_TEST

/* Rings */

START_TEST(rings_wrap)
{
	unsigned int interrupts = rig_interrupts(&rig, 0);

	/* 16 entries: the phase changes six times; rig_admin_get() checks phase and id. */
	for (unsigned int i = 0; i < 100; i++)
		ck_assert_uint_eq(rig_invalidate(&rig, 0, 0, 0), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(rig_interrupts(&rig, 0), interrupts + 100);
}
END_TEST

START_TEST(submission_head)
{
	struct trn_admin_command command = { .opcode = TRN_ADMIN_TLB_INVALIDATE };
	struct trn_admin_completion completion;
	uint32_t start = rig.sq_tail;

	for (unsigned int i = 0; i < 15; i++)
		rig_admin_put(&rig, &command);
	rig_admin_ring(&rig);
	for (unsigned int i = 1; i <= 15; i++) {
		rig_run(&rig);
		ck_assert(rig_admin_get(&rig, &completion));
		ck_assert_uint_le((le16toh(completion.sq_head) - start) & 15, 15);
		ck_assert_uint_ge((le16toh(completion.sq_head) - start) & 15, i);
	}
}
END_TEST

START_TEST(full_completion_ring)
{
	struct trn_admin_command command = { .opcode = TRN_ADMIN_TLB_INVALIDATE };
	struct trn_admin_completion *ring = rig_pointer(&rig, rig.cq);
	struct trn_admin_completion completion, before;
	struct rig_queue queue;
	unsigned int done = 0;
	uint32_t unreleased = rig.cq_head;

	rig_queue_create(&rig, &queue, 0, &kernel, &kernel, 2);
	unreleased = rig.cq_head;
	before = ring[(unreleased - 1) & 15];
	/* Two rings' worth of commands, no completion released. */
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int j = 0; j < 8; j++)
			rig_admin_put(&rig, &command);
		rig_admin_ring(&rig);
		rig_run(&rig);
	}
	/* All entries but one are used, and the device waits: it does not overwrite. */
	ck_assert_mem_eq(&ring[(unreleased - 1) & 15], &before, sizeof(before));
	/* It has not stopped: queues work, */
	rig_execute(&rig, &queue, rig_nop());
	ck_assert_uint_eq(rig_head(&queue), 1);
	/* and every command completes, in order, once there is room. */
	for (unsigned int i = 0; i < 16; i++) {
		while (rig_admin_get(&rig, &completion)) {
			ck_assert_uint_eq(le16toh(completion.command_id),
					  (uint16_t)(rig.command_id - 15 + done));
			done++;
		}
		rig_run(&rig);
	}
	ck_assert_uint_eq(done, 16);
}
END_TEST

START_TEST(smallest_ring)
{
	struct rig small;

	rig_create(&small, "trn1", 0, 0);
	rig_enable(&small, TRN_ADMIN_SIZE_MIN);
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_uint_eq(rig_admin(&small, (struct trn_admin_command){ .opcode = 0xff }),
				  TRN_ADMIN_INVALID_OPCODE);
	rig_destroy(&small);
}
END_TEST

START_TEST(largest_ring)
{
	struct rig large;

	rig_create(&large, "trn1", 0, 0);
	rig_enable(&large, TRN_ADMIN_SIZE_MAX);
	for (unsigned int i = 0; i < 2500; i++)
		ck_assert_uint_eq(rig_admin(&large, (struct trn_admin_command){ .opcode = 0xff }),
				  TRN_ADMIN_INVALID_OPCODE);
	rig_destroy(&large);
}
END_TEST

/* Events */

static struct rig_queue broken[200];

/* Makes a queue and stops it; the event has sequence number and queue. */
static void cause_event(uint16_t queue)
{
	rig_queue_create(&rig, &broken[queue], queue, &kernel, &kernel, 2);
	rig_execute(&rig, &broken[queue], (struct trn_packet){ .opcode = 0xee });
}

START_TEST(event_completes_the_oldest_command)
{
	struct trn_admin_command first = data_command(TRN_ADMIN_EVENT, rig_alloc(&rig, 4096));
	struct trn_admin_command second = data_command(TRN_ADMIN_EVENT, rig_alloc(&rig, 4096));
	struct trn_event *event = rig_pointer(&rig, le64toh(first.data.buffer));
	struct trn_admin_completion completion;
	uint16_t first_id, second_id;

	first_id = rig_admin_put(&rig, &first);
	second_id = rig_admin_put(&rig, &second);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert(!rig_admin_get(&rig, &completion));

	cause_event(3);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le16toh(completion.command_id), first_id);
	ck_assert_uint_eq(le16toh(completion.status), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(le64toh(completion.result), 1);
	ck_assert_uint_eq(le64toh(event->sequence), 1);
	ck_assert_uint_eq(event->kind, TRN_EVENT_QUEUE_STOPPED);
	ck_assert_uint_eq(event->reason, TRN_STOP_BAD_OPCODE);
	ck_assert_uint_eq(le16toh(event->queue), 3);
	ck_assert(!rig_admin_get(&rig, &completion));

	cause_event(4);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le16toh(completion.command_id), second_id);
	ck_assert_uint_eq(le64toh(completion.result), 2);
	event = rig_pointer(&rig, le64toh(second.data.buffer));
	ck_assert_uint_eq(le16toh(event->queue), 4);
}
END_TEST

START_TEST(event_gap)
{
	struct trn_admin_command command = data_command(TRN_ADMIN_EVENT, rig_alloc(&rig, 4096));
	struct trn_admin_completion completion;

	cause_event(1); /* nobody waits for these two */
	cause_event(2);
	rig_admin_put(&rig, &command);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert(!rig_admin_get(&rig, &completion));
	cause_event(3);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le64toh(completion.result), 3);
	ck_assert_uint_eq(rig_event_count(&rig), 3);
}
END_TEST

START_TEST(event_limit)
{
	uint64_t buffer = rig_alloc(&rig, 4096);
	struct trn_admin_command command = data_command(TRN_ADMIN_EVENT, buffer);
	struct trn_admin_completion completion;

	for (unsigned int i = 0; i < 8; i++)
		rig_admin_put(&rig, &command);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert(!rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(rig_admin(&rig, command), TRN_ADMIN_NO_RESOURCES);
	cause_event(0);
	ck_assert(rig_admin_get(&rig, &completion));
	/* One place is free again. */
	rig_admin_put(&rig, &command);
	rig_admin_ring(&rig);
	rig_run(&rig);
	ck_assert(!rig_admin_get(&rig, &completion));
}
END_TEST

START_TEST(events_wait_for_completion_room)
{
	struct trn_admin_command wait = data_command(TRN_ADMIN_EVENT, rig_alloc(&rig, 4096));
	struct trn_admin_command nothing = { .opcode = TRN_ADMIN_TLB_INVALIDATE };
	struct trn_admin_completion completion;
	struct rig_queue queue[8];
	unsigned int events = 0, others = 0;

	for (uint16_t i = 0; i < 8; i++)
		rig_queue_create(&rig, &queue[i], i, &kernel, &kernel, 2);
	for (unsigned int i = 0; i < 8; i++)
		rig_admin_put(&rig, &wait);
	rig_admin_ring(&rig);
	rig_run(&rig);
	for (unsigned int i = 0; i < 15; i++)
		rig_admin_put(&rig, &nothing);
	rig_admin_ring(&rig);
	rig_run(&rig);
	/* The completion ring is full.  Now eight events, and one more command. */
	rig_admin_put(&rig, &nothing);
	rig_admin_ring(&rig);
	for (unsigned int i = 0; i < 8; i++)
		rig_execute(&rig, &queue[i], (struct trn_packet){ .opcode = 0xee });
	for (unsigned int i = 0; i < 32; i++) {
		while (rig_admin_get(&rig, &completion)) {
			if (le64toh(completion.result))
				ck_assert_uint_eq(le64toh(completion.result), ++events);
			else
				others++;
		}
		rig_run(&rig);
	}
	ck_assert_uint_eq(events, 8);
	ck_assert_uint_eq(others, 16);
}
END_TEST

START_TEST(event_buffer_refused)
{
	struct trn_admin_command command = data_command(TRN_ADMIN_EVENT, RIG_NOWHERE);
	struct trn_admin_completion completion;

	rig_admin_put(&rig, &command);
	rig_admin_ring(&rig);
	rig_run(&rig);
	cause_event(0);
	ck_assert(rig_admin_get(&rig, &completion));
	ck_assert_uint_eq(le16toh(completion.status), TRN_ADMIN_DMA_ERROR);
	ck_assert_uint_eq(rig_event_count(&rig), 1);
}
END_TEST

START_TEST(event_log)
{
	uint64_t buffer = rig_alloc(&rig, sizeof(struct trn_log_events));
	struct trn_log_events *log = rig_pointer(&rig, buffer);
	uint64_t time = 0;

	ck_assert_uint_eq(rig_event_count(&rig), 0);
	for (uint16_t i = 0; i < 70; i++)
		cause_event(i);
	ck_assert_uint_eq(rig_admin(&rig, log_command(buffer, 4096, TRN_LOG_EVENTS)),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(le64toh(log->next_sequence), 71);
	ck_assert_uint_eq(le32toh(log->count), 63);
	for (unsigned int i = 0; i < 63; i++) {
		ck_assert_uint_eq(le64toh(log->event[i].sequence), 8 + i);
		ck_assert_uint_eq(le16toh(log->event[i].queue), 7 + i);
		ck_assert_uint_gt(le64toh(log->event[i].time_ns), time);
		time = le64toh(log->event[i].time_ns);
	}
}
END_TEST

/* Fatal states */

static void assert_fatal(struct rig *other, uint32_t reason, unsigned int interrupts)
{
	ck_assert_uint_eq(rig_read32(other, TRN_REG_STATUS), TRN_STATUS_FATAL | reason << 8);
	ck_assert_uint_eq(rig_interrupts(other, 0), interrupts);
}

static void assert_recovers(struct rig *other)
{
	rig_write32(other, TRN_REG_CTRL, 0);
	rig_run(other);
	ck_assert_uint_eq(rig_read32(other, TRN_REG_STATUS), 0);
	rig_enable(other, 16);
	ck_assert_uint_eq(rig_read32(other, TRN_REG_STATUS), TRN_STATUS_READY);
	ck_assert_uint_eq(rig_admin(other, (struct trn_admin_command){ .opcode = 0xff }),
			  TRN_ADMIN_INVALID_OPCODE);
}

static const struct {
	uint64_t sq, cq;
	uint32_t size;
} bad_config[] = {
	{ RIG_RAM, RIG_RAM + 4096, 0 },		 { RIG_RAM, RIG_RAM + 4096, 1 },
	{ RIG_RAM, RIG_RAM + 4096, 3 },		 { RIG_RAM, RIG_RAM + 4096, 1023 },
	{ RIG_RAM, RIG_RAM + 4096, 2048 },	 { RIG_RAM, RIG_RAM + 4096, 0x80000000 },
	{ RIG_RAM, RIG_RAM + 4096, UINT32_MAX }, { RIG_RAM + 64, RIG_RAM + 4096, 16 },
	{ RIG_RAM, RIG_RAM + 2048, 16 },
};

START_TEST(fatal_config)
{
	struct rig other;

	rig_create(&other, "trn1", 0, 0);
	rig_write64(&other, TRN_REG_ADMIN_SQ_BASE, bad_config[_i].sq);
	rig_write64(&other, TRN_REG_ADMIN_CQ_BASE, bad_config[_i].cq);
	rig_write32(&other, TRN_REG_ADMIN_SIZE, bad_config[_i].size);
	rig_write32(&other, TRN_REG_CTRL, TRN_CTRL_ENABLE);
	rig_run(&other);
	assert_fatal(&other, TRN_FATAL_ADMIN_CONFIG, 1);
	rig_run(&other);
	assert_fatal(&other, TRN_FATAL_ADMIN_CONFIG, 1);
	assert_recovers(&other);
	rig_destroy(&other);
}
END_TEST

START_TEST(fatal_doorbell)
{
	static const uint64_t doorbells[] = { TRN_REG_ADMIN_SQ_TAIL, TRN_REG_ADMIN_CQ_HEAD };
	static const uint32_t values[] = { 16, 17, 0x80000000, UINT32_MAX };

	for (size_t i = 0; i < 2; i++) {
		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			unsigned int interrupts = rig_interrupts(&rig, 0);

			rig_write32(&rig, doorbells[i], values[j]);
			/* A good index behind a bad one does not hide it. */
			rig_write32(&rig, doorbells[i], 0);
			rig_run(&rig);
			assert_fatal(&rig, TRN_FATAL_ADMIN_DOORBELL, interrupts + 1);
			assert_recovers(&rig);
		}
	}
}
END_TEST

START_TEST(fatal_dma)
{
	const struct trn_admin_command command = { .opcode = TRN_ADMIN_TLB_INVALIDATE };
	unsigned int interrupts = rig_interrupts(&rig, 0);

	rig_deny(&rig, rig.sq, RIG_DENY_READ);
	rig_admin_put(&rig, &command);
	rig_admin_ring(&rig);
	rig_run(&rig);
	assert_fatal(&rig, TRN_FATAL_ADMIN_DMA, interrupts + 1);
	rig_deny(&rig, rig.sq, 0);
	assert_recovers(&rig);

	interrupts = rig_interrupts(&rig, 0);
	rig_deny(&rig, rig.cq, RIG_DENY_WRITE);
	rig_admin_put(&rig, &command);
	rig_admin_ring(&rig);
	rig_run(&rig);
	assert_fatal(&rig, TRN_FATAL_ADMIN_DMA, interrupts + 1);
	rig_deny(&rig, rig.cq, 0);
	assert_recovers(&rig);
}
END_TEST

START_TEST(fatal_stops_all_work)
{
	struct rig_queue queue;

	rig_queue_create(&rig, &queue, 0, &kernel, &kernel, 4);
	rig_write32(&rig, TRN_REG_ADMIN_SQ_TAIL, 99);
	rig_submit(&rig, &queue, rig_nop());
	rig_run(&rig);
	ck_assert_uint_eq(rig_head(&queue), 0);
	ck_assert_uint_eq(trn_load32(&queue.control->need_kick), 1);
}
END_TEST

START_TEST(defects)
{
	struct rig bad;
	uint64_t buffer;

	rig_create(&bad, "trn1", 0, TRN_DEFECT_NEVER_READY);
	rig_write64(&bad, TRN_REG_ADMIN_SQ_BASE, RIG_RAM);
	rig_write64(&bad, TRN_REG_ADMIN_CQ_BASE, RIG_RAM + 4096);
	rig_write32(&bad, TRN_REG_ADMIN_SIZE, 16);
	rig_write32(&bad, TRN_REG_CTRL, TRN_CTRL_ENABLE);
	ck_assert_uint_eq(rig_run(&bad), UINT64_MAX);
	ck_assert_uint_eq(rig_read32(&bad, TRN_REG_STATUS), 0);
	rig_write32(&bad, TRN_REG_CTRL, 0);
	rig_run(&bad);
	ck_assert_uint_eq(rig_read32(&bad, TRN_REG_STATUS), 0);
	rig_destroy(&bad);

	rig_create(&bad, "trn1", 0, TRN_DEFECT_BAD_IDENTIFY | TRN_DEFECT_NO_HEARTBEAT);
	rig_enable(&bad, 16);
	buffer = rig_alloc(&bad, 4096);
	ck_assert_uint_eq(rig_admin(&bad, data_command(TRN_ADMIN_IDENTIFY, buffer)),
			  TRN_ADMIN_SUCCESS);
	ck_assert_uint_ne(le32toh(*(__le32 *)rig_pointer(&bad, buffer)), TRN_IDENTIFY_MAGIC);
	bad.chip->epoch -= 10000000000; /* ten seconds ago */
	ck_assert_uint_eq(rig_read32(&bad, TRN_REG_HEARTBEAT), 0);
	rig_destroy(&bad);
}
END_TEST

Suite *admin_suite(void)
{
	Suite *suite = suite_create("admin");
	TCase *tcase = tcase_create("admin");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, identify);
	tcase_add_test(tcase, reserved_fields);
	tcase_add_test(tcase, unknown_opcodes);
	tcase_add_test(tcase, buffers);
	tcase_add_test(tcase, contexts);
	tcase_add_test(tcase, context_is_busy_under_queues);
	tcase_add_test(tcase, invalidate_arguments);
	tcase_add_test(tcase, queue_create_arguments);
	tcase_add_test(tcase, queue_create_writes_the_control_page);
	tcase_add_test(tcase, queue_states);
	tcase_add_test(tcase, rings_wrap);
	tcase_add_test(tcase, submission_head);
	tcase_add_test(tcase, full_completion_ring);
	tcase_add_test(tcase, smallest_ring);
	tcase_add_test(tcase, largest_ring);
	tcase_add_test(tcase, event_completes_the_oldest_command);
	tcase_add_test(tcase, event_gap);
	tcase_add_test(tcase, event_limit);
	tcase_add_test(tcase, events_wait_for_completion_room);
	tcase_add_test(tcase, event_buffer_refused);
	tcase_add_test(tcase, event_log);
	tcase_add_loop_test(tcase, fatal_config, 0, sizeof(bad_config) / sizeof(bad_config[0]));
	tcase_add_test(tcase, fatal_doorbell);
	tcase_add_test(tcase, fatal_dma);
	tcase_add_test(tcase, fatal_stops_all_work);
	tcase_add_test(tcase, defects);
	suite_add_tcase(suite, tcase);
	return suite;
}
