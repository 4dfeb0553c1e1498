// SPDX-License-Identifier: MIT
#include "inject.h"

#include <errno.h>

#include <hw/trn_admin.h>
#include <hw/trn_regs.h>

#include "shared.h"
#include "state.h"

/* Longer than any step takes, unless it waits for a client that does not answer. */
#define HOLD_NS	       2000000000ULL

#define NS_PER_MS      1000000ULL
#define UNKNOWN_OPCODE 0xff

/* Queues: a bit in queue->injected for each fault that waits. */

static bool take(struct trn_queue *queue, enum trn_inject fault)
{
	bool waits = queue->injected >> fault & 1;

	queue->injected &= ~(1U << fault);
	return waits;
}

void trn_inject_fetched(struct trn_queue *queue)
{
	if (take(queue, TRN_INJECT_BAD_PACKET))
		queue->packet.opcode = UNKNOWN_OPCODE;
}

bool trn_inject_slow(struct trn_chip *chip, struct trn_queue *queue)
{
	if (!take(queue, TRN_INJECT_SLOW))
		return false;
	queue->cure = TRN_CURE_QUEUE;
	trn_queue_hold(chip, queue, queue->slow_ns);
	return true;
}

bool trn_inject_hang(struct trn_chip *chip, struct trn_queue *queue)
{
	/* In a core hangs only what has one. */
	if (queue->hang_cure == TRN_CURE_CORE && !queue->core)
		return false;
	if (!take(queue, TRN_INJECT_HANG))
		return false;
	queue->cure = queue->hang_cure;
	trn_queue_hold(chip, queue, UINT64_MAX);
	return true;
}

/* The first operand that the packet names, at the first byte that is not done yet if that is
 * simple. */
static void first_operand(const struct trn_queue *queue, uint64_t *address, uint8_t *access)
{
	const struct trn_packet *packet = &queue->packet;

	*access = TRN_ACCESS_READ;
	switch (packet->opcode) {
	case TRN_PACKET_COPY:
		*address = le64toh(packet->copy.source) + queue->done;
		break;
	case TRN_PACKET_COPY_ND:
		*address = le64toh(packet->copy_nd.source);
		break;
	case TRN_PACKET_EXEC:
		*address = le64toh(packet->exec.program);
		break;
	default:
		*address = le64toh(packet->fill.destination) + queue->done;
		*access = TRN_ACCESS_WRITE;
		break;
	}
}

bool trn_inject_operand_fault(struct trn_queue *queue, struct trn_fault *fault)
{
	uint64_t address;
	uint8_t reason, access;

	if (take(queue, TRN_INJECT_PAGE_FAULT))
		reason = TRN_STOP_FAULT_UNMAPPED;
	else if (take(queue, TRN_INJECT_DMA_ABORT))
		reason = TRN_STOP_FAULT_HOST;
	else
		return false;
	first_operand(queue, &address, &access);
	trn_fault(fault, reason, queue->asid, address, access);
	return true;
}

static int inject_queue(struct trn_chip *chip, const struct trn_injection *injection)
{
	struct trn_queue *queue;

	if (injection->queue >= TRN_QUEUES || !chip->queue[injection->queue])
		return -ENOENT;
	queue = chip->queue[injection->queue];
	if (queue->state == TRN_QUEUE_STOPPED)
		return -ESHUTDOWN;
	if (injection->fault == TRN_INJECT_HANG && injection->cure == TRN_CURE_CORE &&
	    queue->type != TRN_QUEUE_TYPE_EXEC)
		return -EINVAL;
	if (queue->injected >> injection->fault & 1)
		return -EALREADY;
	queue->injected |= 1U << injection->fault;
	if (injection->fault == TRN_INJECT_SLOW)
		queue->slow_ns = injection->ms * NS_PER_MS;
	if (injection->fault == TRN_INJECT_HANG) {
		queue->hang_cure = injection->cure;
		/* A parked packet is in progress too. */
		if (queue->phase == TRN_PHASE_PARKED)
			queue->phase = TRN_PHASE_EXECUTE;
	}
	return 0;
}

/* Vectors, admin queue, chip */

static int inject_vector(struct trn_chip *chip, const struct trn_injection *injection)
{
	unsigned int vector = injection->vector;

	if (vector >= TRN_VECTORS)
		return -ENOENT;
	if (chip->faults.vector[vector].fault || chip->vectors.vector[vector].late_at)
		return -EALREADY;
	chip->faults.vector[vector].fault = injection->fault;
	chip->faults.vector[vector].late_ns = injection->ms * NS_PER_MS;
	return 0;
}

static int set_once(bool *flag)
{
	if (*flag)
		return -EALREADY;
	*flag = true;
	return 0;
}

static int inject_slow_completion(struct trn_chip *chip, uint32_t ms)
{
	if (chip->admin.late_at != UINT64_MAX)
		return -EALREADY;
	if (set_once(&chip->faults.slow_completion))
		return -EALREADY;
	chip->faults.slow_completion_ns = ms * NS_PER_MS;
	return 0;
}

static int inject_fatal(struct trn_chip *chip)
{
	if (chip->power != TRN_POWER_READY)
		return -EAGAIN;
	trn_chip_fatal(chip, TRN_FATAL_ADMIN_DMA);
	return 0;
}

static int inject(struct trn_chip *chip, const struct trn_injection *injection)
{
	switch (injection->fault) {
	case TRN_INJECT_HANG:
	case TRN_INJECT_SLOW:
	case TRN_INJECT_PAGE_FAULT:
	case TRN_INJECT_BAD_PACKET:
	case TRN_INJECT_DMA_ABORT:
		return inject_queue(chip, injection);
	case TRN_INJECT_LOST_INTERRUPT:
	case TRN_INJECT_DUPLICATE_INTERRUPT:
	case TRN_INJECT_LATE_INTERRUPT:
		return inject_vector(chip, injection);
	case TRN_INJECT_LOST_COMPLETION:
		return set_once(&chip->faults.lost_completion);
	case TRN_INJECT_GARBAGE_COMPLETION:
		return set_once(&chip->faults.garbage_completion);
	case TRN_INJECT_SLOW_COMPLETION:
		return inject_slow_completion(chip, injection->ms);
	case TRN_INJECT_HEARTBEAT_STOP:
		return trn_heartbeat_stop(chip);
	case TRN_INJECT_FATAL:
		return inject_fatal(chip);
	case TRN_INJECT_DEATH:
		trn_chip_die(chip);
		return 0;
	default:
		return -EINVAL;
	}
}

int trn_chip_inject(struct trn_chip *chip, const struct trn_injection *injection)
{
	int err;

	if (!trn_chip_hold(chip, HOLD_NS))
		return -ETIMEDOUT;
	err = chip->dead ? -ENODEV : inject(chip, injection);
	trn_chip_release(chip);
	return err;
}
