/* SPDX-License-Identifier: MIT */
/*
 * trn device architecture: queues: control page, doorbell, packets.
 *
 * Normative text: Documentation/device.rst, chapter "Queues".
 */
#ifndef _HW_TRN_QUEUE_H
#define _HW_TRN_QUEUE_H

#include <linux/types.h>

#define TRN_QUEUE_TYPE_DMA		1
#define TRN_QUEUE_TYPE_EXEC		2

#define TRN_CORE_ANY			0xffff

#define TRN_RING_LOG2_MIN		2	/* largest: CAP_RING_MAX */
#define TRN_QUEUE_PRIORITY_MAX		3	/* a queue has 2^priority turns in a round */
#define TRN_CONTROL_PAGE_SIZE		4096

/*
 * Control page: in host memory, shared by software and device.  Each group
 * has its own 64-byte line so that writers do not share lines.  Indexes are
 * free running: they wrap at 2^32, never at the ring's size.
 */
struct trn_control {
	/* written by whoever submits */
	__le32	tail;			/* packets made available */
	__u8	reserved0[60];
	/* written by the device */
	__le32	head;			/* packets finished; their effects are visible */
	__le32	need_kick;		/* 1: the device sleeps, ring the doorbell */
	__u8	reserved1[56];
	/* written by whoever waits */
	__le64	wake_at;		/* interrupt when a fence write stores >= this; 0 = never */
	__u8	reserved2[56];
	/* written by the driver, ignored by the device */
	__le32	status;			/* TRN_CONTROL_* */
	__le32	generation;		/* changes after status has left RUNNING: read it first */
	__u8	reserved3[56];
	__u8	reserved4[3840];
};
_Static_assert(sizeof(struct trn_control) == TRN_CONTROL_PAGE_SIZE, "control page is 4 KiB");

/* trn_control.status */
#define TRN_CONTROL_RUNNING		0
#define TRN_CONTROL_STOPPED		1	/* the queue failed; destroy it */
#define TRN_CONTROL_DESTROYED		2
#define TRN_CONTROL_RESET		3	/* the chip was reset under it */
#define TRN_CONTROL_GONE		4	/* the chip is gone */

/* Doorbell page of queue q: BAR4 + q × CAP_DOORBELL_STRIDE.  A 32-bit write of
 * any value at offset 0 is a kick; reads return 0; the rest ignores writes.
 */
#define TRN_DOORBELL_KICK		0x0

/* Packets */
#define TRN_PACKET_NOP			0x00
#define TRN_PACKET_FENCE_WRITE		0x01
#define TRN_PACKET_FENCE_WAIT		0x02
#define TRN_PACKET_COPY			0x10
#define TRN_PACKET_FILL			0x11
#define TRN_PACKET_COPY_ND		0x12
#define TRN_PACKET_EXEC			0x20	/* queues of type EXEC alone, without 0x10 … 0x12 */

struct trn_packet {
	__u8	opcode;
	__u8	reserved0[7];
	union {
		__u8	body[56];	/* NOP: zero */
		struct {		/* FENCE_WRITE, FENCE_WAIT */
			__le64	address;	/* 8-byte aligned */
			__le64	value;
			__u8	reserved[40];
		} fence;
		struct {
			__le64	source;
			__le64	destination;
			__le64	length;		/* bytes, 1 … 2^40; the ranges must not overlap */
			__u8	reserved[32];
		} copy;
		struct {
			__le64	destination;	/* aligned to 1 << unit_log2 */
			__le64	length;		/* bytes, 1 … 2^40, multiple of 1 << unit_log2 */
			__le64	pattern;	/* its low (1 << unit_log2) bytes are repeated */
			__u8	unit_log2;	/* 0 … 3 */
			__u8	reserved[31];
		} fill;
		struct {		/* EXEC: see Documentation/isa.rst, "Programs" */
			__le64	program;	/* 64-byte aligned */
			__le64	bindings;	/* 8-byte aligned */
			__le32	num_bindings;	/* 0 … TRN_BINDINGS_MAX */
			__le16	core;		/* or TRN_CORE_ANY */
			__u8	reserved[2];
			__le64	seed;
			__le64	result;		/* 8-byte aligned, or 0 */
			__le64	profile;	/* 8-byte aligned, or 0 */
			__le64	profile_size;	/* bytes */
		} exec;
		struct {		/* COPY_ND: bytes; see the specification */
			__le64	source;
			__le64	destination;
			__le32	size[4];	/* of a run, then counts of dimensions 1 … 3; not 0 */
			__le32	source_stride[3];	/* of dimensions 1 … 3 */
			__le32	destination_stride[3];
		} copy_nd;
	};
};
_Static_assert(sizeof(struct trn_packet) == 64, "packet is 64 bytes");

#define TRN_PACKET_LENGTH_MAX		(1ULL << 40)

#endif /* _HW_TRN_QUEUE_H */
