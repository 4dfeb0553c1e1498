/* SPDX-License-Identifier: MIT */
/*
 * trn device architecture: admin queue commands, completions, events.
 *
 * Normative text: Documentation/device.rst, chapter "Admin queue".
 * Every reserved field must be zero; the device answers INVALID_FIELD if not.
 */
#ifndef _HW_TRN_ADMIN_H
#define _HW_TRN_ADMIN_H

#include <linux/types.h>

/* Opcodes */
#define TRN_ADMIN_IDENTIFY		0x01
#define TRN_ADMIN_GET_LOG		0x02
#define TRN_ADMIN_EVENT			0x03
#define TRN_ADMIN_SET_FEATURE		0x04
#define TRN_ADMIN_CONTEXT_CREATE	0x10
#define TRN_ADMIN_CONTEXT_DESTROY	0x11
#define TRN_ADMIN_TLB_INVALIDATE	0x12
#define TRN_ADMIN_CONTEXT_RESET		0x13
#define TRN_ADMIN_CORE_RESET		0x14
#define TRN_ADMIN_QUEUE_CREATE		0x20
#define TRN_ADMIN_QUEUE_DESTROY		0x21
#define TRN_ADMIN_QUEUE_SUSPEND		0x22
#define TRN_ADMIN_QUEUE_RESUME		0x23
#define TRN_ADMIN_QUEUE_RESET		0x24
#define TRN_ADMIN_QUEUE_MASK		0x25

/* Completion status */
#define TRN_ADMIN_SUCCESS		0
#define TRN_ADMIN_INVALID_OPCODE	1
#define TRN_ADMIN_INVALID_FIELD		2	/* reserved bits, bad size, bad alignment */
#define TRN_ADMIN_INVALID_ID		3	/* ASID, queue or vector out of range */
#define TRN_ADMIN_EXISTS		4	/* ASID or queue id in use */
#define TRN_ADMIN_NOT_FOUND		5	/* ASID or queue id not in use */
#define TRN_ADMIN_BUSY			6	/* context still has queues */
#define TRN_ADMIN_DMA_ERROR		7	/* host memory named by the command failed */
#define TRN_ADMIN_NO_RESOURCES		8	/* too many EVENT commands */
#define TRN_ADMIN_BAD_STATE		9	/* queue is not in the state the command needs */
#define TRN_ADMIN_ENGINE_HUNG		10	/* the queue's engine does not let go of it */

struct trn_admin_command {
	__u8	opcode;
	__u8	reserved0;
	__le16	command_id;		/* chosen by software, returned in the completion */
	__le32	reserved1;
	union {
		struct {		/* IDENTIFY, EVENT */
			__le64	buffer;		/* host DMA address, 64-byte aligned */
			__u8	reserved[48];
		} data;
		struct {		/* GET_LOG */
			__le64	buffer;		/* host DMA address, 64-byte aligned */
			__le32	length;		/* bytes, multiple of 64, 64 … 4096 */
			__u8	page;		/* TRN_LOG_* */
			__u8	reserved0;
			__le16	id;		/* of the queue or core that the page is of, else 0 */
			__u8	reserved1[40];
		} log;
		struct {		/* SET_FEATURE */
			__u8	feature;	/* TRN_FEATURE_* */
			__u8	reserved0[7];
			__le64	value;
			__u8	reserved1[40];
		} feature;
		struct {		/* CONTEXT_CREATE, CONTEXT_DESTROY, CONTEXT_RESET */
			__le16	asid;
			__u8	reserved0[6];
			__le64	root;		/* CREATE: host DMA address of the root table; else 0 */
			__u8	reserved1[40];
		} context;
		struct {		/* CORE_RESET */
			__le16	core;
			__le16	queue;		/* whose program it runs */
			__u8	reserved[52];
		} core;
		struct {		/* TLB_INVALIDATE */
			__le16	asid;
			__u8	reserved0[6];
			__le64	va;		/* 4 KiB aligned */
			__le64	length;		/* bytes, multiple of 4 KiB; 0 = the whole ASID (va 0) */
			__u8	reserved1[32];
		} invalidate;
		struct {		/* QUEUE_CREATE */
			__le16	queue;
			__u8	type;		/* TRN_QUEUE_TYPE_* */
			__u8	ring_log2;	/* packets in the ring, as power of two */
			__le16	ring_asid;	/* fetches, fences: where ring_va is */
			__le16	asid;		/* operands of packets */
			__le16	vector;
			__u8	priority;	/* 0 … TRN_QUEUE_PRIORITY_MAX */
			__u8	reserved0;
			__le32	time_limit;	/* longest running time of a packet, ms; 0 = any */
			__le64	ring_va;	/* 4 KiB aligned */
			__le64	control;	/* host DMA address of the control page, 4 KiB aligned */
			__u8	reserved1[24];
		} queue_create;
		struct {		/* QUEUE_DESTROY, _SUSPEND, _RESUME, _RESET, _MASK */
			__le16	queue;
			__u8	masked;		/* QUEUE_MASK: 1 = raise no interrupt, 0 = do; else 0 */
			__u8	reserved[53];
		} queue;
	};
};
_Static_assert(sizeof(struct trn_admin_command) == 64, "admin command is 64 bytes");

struct trn_admin_completion {
	__le64	result;
	__le16	sq_head;		/* entries of the submission ring consumed so far, as index */
	__le16	command_id;
	__le16	status;			/* TRN_ADMIN_SUCCESS … */
	__le16	phase;			/* bit 0; written last */
#define TRN_ADMIN_PHASE			1
};
_Static_assert(sizeof(struct trn_admin_completion) == 16, "admin completion is 16 bytes");

/* IDENTIFY result.  Strings are UTF-8, padded with zero bytes; a string that
 * fills its field has no terminator.
 */
struct trn_identify {
	__le32	magic;			/* TRN_IDENTIFY_MAGIC */
#define TRN_IDENTIFY_MAGIC		0x49445254	/* "TRDI", little-endian */
	__le32	size;			/* bytes of this structure: 4096 */
	__u8	uuid[16];		/* RFC 9562, unique for each chip */
	__u8	generation[16];		/* "trn2" */
	__u8	serial[32];
	__u8	firmware[32];		/* firmware version */
	__le64	hbm_bytes;		/* stacks × stack size; must agree with the registers */
	__u8	reserved[3984];
};
_Static_assert(sizeof(struct trn_identify) == 4096, "identify data is 4096 bytes");

/* Features of SET_FEATURE */
#define TRN_FEATURE_INTERRUPT_INTERVAL	1	/* µs, 0 … TRN_INTERRUPT_INTERVAL_MAX; reset value 0 */
#define TRN_INTERRUPT_INTERVAL_MAX	1000000

/* Events.  Also the entries of TRN_LOG_EVENTS. */
struct trn_event {
	__le64	sequence;		/* 1, 2, 3 …; a gap means that events were lost */
	__le64	time_ns;		/* device clock: ns since the function was reset */
	__u8	kind;			/* TRN_EVENT_* */
#define TRN_EVENT_QUEUE_STOPPED		1
	__u8	reason;			/* TRN_STOP_* */
	__u8	access;			/* TRN_ACCESS_*, faults only */
	__u8	exception;		/* TRN_EXCEPTION_*: a program failed; else 0 */
	__le16	queue;
	__le16	asid;			/* address space of the access, faults only */
	__le32	packet;			/* free-running index of the packet that failed */
	__le32	instruction;		/* index in its engine's stream, with an exception */
	__le64	address;		/* device virtual address of the access, faults only */
	__u8	engine;			/* TRN_ENGINE_*, with an exception but TRN_EXCEPTION_PROGRAM */
	__u8	reserved[23];
};
_Static_assert(sizeof(struct trn_event) == 64, "event is 64 bytes");

/* Why a queue stopped.  FAULT_* carry asid, address and access. */
#define TRN_STOP_BAD_TAIL		1	/* control page's tail out of range */
#define TRN_STOP_BAD_OPCODE		2
#define TRN_STOP_BAD_FIELD		3	/* reserved bits, zero length, alignment */
#define TRN_STOP_FAULT_UNMAPPED		4	/* no valid translation */
#define TRN_STOP_FAULT_PERMISSION	5	/* read or write bit clear */
#define TRN_STOP_FAULT_ENTRY		6	/* reserved bits or bad address in a table entry */
#define TRN_STOP_FAULT_TABLE		7	/* page table could not be read from host memory */
#define TRN_STOP_FAULT_HOST		8	/* host memory refused the access */
#define TRN_STOP_FAULT_RANGE		9	/* address beyond CAP_VA_BITS, or wraps */
#define TRN_STOP_CONTROL		10	/* control page could not be accessed */
#define TRN_STOP_TIME_LIMIT		11	/* packet ran longer than the queue's time limit */
#define TRN_STOP_PROGRAM		12	/* an exception of a program */

#define TRN_ACCESS_READ			0	/* operand */
#define TRN_ACCESS_WRITE		1	/* operand */
#define TRN_ACCESS_FETCH		2	/* packet */

/* Log pages */
#define TRN_LOG_EVENTS			1
#define TRN_LOG_RUNNING			2
#define TRN_LOG_QUEUE			3
#define TRN_LOG_CORE			4	/* struct trn_log_core, hw/trn_isa.h */
#define TRN_LOG_EVENTS_MAX		63
#define TRN_LOG_RUNNING_MAX		126

/* TRN_LOG_EVENTS: the newest events, oldest first, whether or not an EVENT
 * command carried them.
 */
struct trn_log_events {
	__le64	next_sequence;		/* of the event that has not happened yet */
	__le32	count;			/* valid entries */
	__u8	reserved[52];
	struct trn_event event[TRN_LOG_EVENTS_MAX];
};
_Static_assert(sizeof(struct trn_log_events) == 4096, "event log is 4096 bytes");

/* TRN_LOG_RUNNING: the queues with a packet that is being executed, the one whose
 * packet has the longest running time first.
 */
struct trn_running {
	__le16	queue;
	__le16	asid;
	__le32	packet;			/* free-running index */
	__le64	packet_ns;		/* running time of this packet */
	__le64	queue_ns;		/* of all packets since QUEUE_CREATE, this one included */
	__u8	reserved[8];
};
_Static_assert(sizeof(struct trn_running) == 32, "entry of the running log is 32 bytes");

struct trn_log_running {
	__le32	count;			/* valid entries */
	__u8	reserved[60];
	struct trn_running running[TRN_LOG_RUNNING_MAX];
};
_Static_assert(sizeof(struct trn_log_running) == 4096, "running log is 4096 bytes");

/* TRN_LOG_QUEUE: what the device knows of one queue */
struct trn_log_queue {
	__u8	state;			/* TRN_QUEUE_STATE_* */
#define TRN_QUEUE_STATE_RUNNING		0
#define TRN_QUEUE_STATE_SUSPENDED	1
#define TRN_QUEUE_STATE_STOPPED		2
	__u8	activity;		/* TRN_QUEUE_ACTIVITY_* */
#define TRN_QUEUE_ACTIVITY_ASLEEP	0	/* waits for a kick */
#define TRN_QUEUE_ACTIVITY_AWAKE	1	/* no packet in progress */
#define TRN_QUEUE_ACTIVITY_EXECUTING	2
#define TRN_QUEUE_ACTIVITY_PARKED	3	/* in a FENCE_WAIT */
	__u8	reason;			/* TRN_STOP_*; 0 unless STOPPED by the device itself */
	__u8	masked;			/* as set by QUEUE_MASK */
	__le32	head;
	__le32	tail;			/* as last read by the device */
	__u8	exception;		/* with a reason: as in its event, like engine and instruction */
	__u8	engine;
	__u8	reserved0[2];
	__le64	packet_ns;		/* running time of the packet below */
	__le64	queue_ns;		/* of all packets since QUEUE_CREATE */
	__le64	done;			/* bytes of the packet below that are finished */
	__le32	instruction;
	__u8	reserved1[20];
	__u8	packet[64];		/* the packet in progress or that failed, else zero */
};
_Static_assert(sizeof(struct trn_log_queue) == 128, "queue log is 128 bytes");

#endif /* _HW_TRN_ADMIN_H */
