// SPDX-License-Identifier: MIT
#include "queue.h"

#include <errno.h>
#include <stddef.h>

#include "dma.h"
#include "shared.h"
#include "span.h"
#include "state.h"

/* Software expects a parked queue to look every millisecond; leave room for a step. */
#define PARKED_LOOK_NS 500000

/* So many times as long as usual a queue is polled whose work comes soon after the last. */
#define POLL_FACTOR    8

/* The part of the control page that the device uses. */
#define CONTROL_LENGTH offsetof(struct trn_control, status)

/*
 * Control pages are mapped for one access at a time: the host may take the memory
 * away from a sleeping queue, and an unmap would wait for a map held longer.
 */
static struct trn_control *control_map(struct trn_chip *chip, const struct trn_queue *queue,
				       struct trn_host_map *map)
{
	if (chip->ops->map(chip->host, queue->control, CONTROL_LENGTH, true, map))
		return NULL;
	if (map->length < CONTROL_LENGTH) {
		chip->ops->unmap(chip->host, map);
		return NULL;
	}
	return map->address;
}

static void stop(struct trn_chip *chip, struct trn_queue *queue, uint8_t reason,
		 const struct trn_fault *fault)
{
	struct trn_event event = {
		.kind = TRN_EVENT_QUEUE_STOPPED,
		.reason = reason,
		.queue = htole16(queue->id),
		.packet = htole32(queue->head),
	};

	if (fault) {
		event.access = fault->access;
		event.asid = htole16(fault->asid);
		event.address = htole64(fault->address);
	}
	queue->culprit = trn_exec_culprit(queue);
	event.exception = queue->culprit.exception;
	event.engine = queue->culprit.engine;
	event.instruction = htole32(queue->culprit.instruction);
	trn_exec_end(queue);
	queue->state = TRN_QUEUE_STOPPED;
	queue->reason = reason;
	trn_events_raise(chip, &event);
}

static void stop_fault(struct trn_chip *chip, struct trn_queue *queue,
		       const struct trn_fault *fault)
{
	stop(chip, queue, fault->reason, fault);
}

static bool load_tail(struct trn_chip *chip, struct trn_queue *queue)
{
	struct trn_host_map map;
	struct trn_control *control = control_map(chip, queue, &map);

	if (!control) {
		stop(chip, queue, TRN_STOP_CONTROL, NULL);
		return false;
	}
	queue->tail = trn_load32(&control->tail);
	chip->ops->unmap(chip->host, &map);
	return true;
}

static bool store_need_kick(struct trn_chip *chip, struct trn_queue *queue, uint32_t value)
{
	struct trn_host_map map;
	struct trn_control *control = control_map(chip, queue, &map);

	if (!control) {
		stop(chip, queue, TRN_STOP_CONTROL, NULL);
		return false;
	}
	trn_store32(&control->need_kick, value);
	chip->ops->unmap(chip->host, &map);
	return true;
}

static void keep_polling(const struct trn_chip *chip, struct trn_queue *queue)
{
	queue->phase = TRN_PHASE_POLL;
	queue->poll_until = chip->now + queue->poll_ns;
}

/*
 * Work that came so soon that longer polling would have met it is likely to come so
 * again: software that waits for each packet's interrupt takes about that long.
 */
static void adapt_polling(const struct trn_chip *chip, struct trn_queue *queue)
{
	uint64_t longest = POLL_FACTOR * chip->poll_ns;

	if (chip->now - queue->slept_at > longest)
		queue->poll_ns = chip->poll_ns;
	else
		queue->poll_ns = longest;
}

static void wake(struct trn_chip *chip, struct trn_queue *queue)
{
	adapt_polling(chip, queue);
	if (store_need_kick(chip, queue, 0))
		keep_polling(chip, queue);
}

static void poll_tail(struct trn_chip *chip, struct trn_queue *queue)
{
	if (!load_tail(chip, queue))
		return;
	if (queue->tail - queue->head > queue->ring_size)
		stop(chip, queue, TRN_STOP_BAD_TAIL, NULL);
	else if (queue->tail != queue->head)
		queue->phase = TRN_PHASE_FETCH;
	else if (chip->now >= queue->poll_until)
		queue->phase = TRN_PHASE_ARM;
}

/* From here until RECHECK has loaded the tail the queue counts as awake: a kick is ignored. */
static void arm(struct trn_chip *chip, struct trn_queue *queue)
{
	if (store_need_kick(chip, queue, 1))
		queue->phase = TRN_PHASE_RECHECK;
}

static void recheck(struct trn_chip *chip, struct trn_queue *queue)
{
	/*
	 * Pairs with the barrier between software's store of tail and its load of
	 * need_kick: either software sees need_kick = 1, or we see its tail.
	 */
	trn_full_barrier();
	queue->slept_at = chip->now;
	if (load_tail(chip, queue))
		queue->phase = queue->tail != queue->head ? TRN_PHASE_WAKE : TRN_PHASE_ASLEEP;
}

static uint8_t check_fence(const struct trn_packet *packet)
{
	if ((le64toh(packet->fence.address) & 7) ||
	    !trn_all_zero(packet->fence.reserved, sizeof(packet->fence.reserved)))
		return TRN_STOP_BAD_FIELD;
	return 0;
}

/* Which queues have a packet of this opcode. */
static bool has_opcode(const struct trn_queue *queue, uint8_t opcode)
{
	switch (opcode) {
	case TRN_PACKET_COPY:
	case TRN_PACKET_COPY_ND:
	case TRN_PACKET_FILL:
		return queue->type == TRN_QUEUE_TYPE_DMA;
	case TRN_PACKET_EXEC:
		return queue->type == TRN_QUEUE_TYPE_EXEC;
	default:
		return true;
	}
}

/* 0 or TRN_STOP_BAD_*. */
static uint8_t check_packet(const struct trn_chip *chip, const struct trn_queue *queue)
{
	const struct trn_packet *packet = &queue->packet;
	bool clean = trn_all_zero(packet->reserved0, sizeof(packet->reserved0));
	uint8_t reason;

	if (!has_opcode(queue, packet->opcode))
		return TRN_STOP_BAD_OPCODE;
	switch (packet->opcode) {
	case TRN_PACKET_NOP:
		reason = trn_all_zero(packet->body, sizeof(packet->body)) ? 0 : TRN_STOP_BAD_FIELD;
		break;
	case TRN_PACKET_FENCE_WRITE:
	case TRN_PACKET_FENCE_WAIT:
		reason = check_fence(packet);
		break;
	case TRN_PACKET_COPY:
		reason = trn_copy_check(packet);
		break;
	case TRN_PACKET_COPY_ND:
		reason = trn_copy_nd_check(packet);
		break;
	case TRN_PACKET_FILL:
		reason = trn_fill_check(packet);
		break;
	case TRN_PACKET_EXEC:
		reason = trn_exec_check(chip, packet);
		break;
	default:
		return TRN_STOP_BAD_OPCODE;
	}
	return clean ? reason : TRN_STOP_BAD_FIELD;
}

static void fetch(struct trn_chip *chip, struct trn_queue *queue)
{
	uint64_t slot = queue->head & (queue->ring_size - 1);
	struct trn_fault fault;
	uint8_t reason;

	if (!trn_span_read(chip, queue->ring_asid, queue->ring_va + slot * sizeof(queue->packet),
			   &queue->packet, sizeof(queue->packet), TRN_ACCESS_FETCH, &fault)) {
		stop_fault(chip, queue, &fault);
		return;
	}
	if (queue->injected)
		trn_inject_fetched(queue);
	queue->has_packet = true;
	queue->done = 0;
	queue->packet_ns = 0;
	reason = check_packet(chip, queue);
	if (reason)
		stop(chip, queue, reason, NULL);
	else if (!queue->injected || !trn_inject_slow(chip, queue))
		queue->phase = TRN_PHASE_EXECUTE;
}

/* A fence has a new value: whoever is parked looks again. */
static void unpark_all(struct trn_chip *chip)
{
	for (unsigned int i = 0; i < TRN_QUEUES; i++) {
		struct trn_queue *queue = chip->queue[i];

		if (queue && queue->phase == TRN_PHASE_PARKED)
			queue->look_at = chip->now;
	}
}

static void fence_write(struct trn_chip *chip, struct trn_queue *queue)
{
	struct trn_fault fault;

	if (!trn_span_store64(chip, queue->ring_asid, le64toh(queue->packet.fence.address),
			      le64toh(queue->packet.fence.value), &fault)) {
		stop_fault(chip, queue, &fault);
		return;
	}
	unpark_all(chip);
	queue->phase = TRN_PHASE_NOTIFY;
}

static void notify(struct trn_chip *chip, struct trn_queue *queue)
{
	struct trn_control *control;
	struct trn_host_map map;
	uint64_t wake_at;

	control = control_map(chip, queue, &map);
	if (!control) {
		stop(chip, queue, TRN_STOP_CONTROL, NULL);
		return;
	}
	/*
	 * Pairs with the barrier between a waiter's store of wake_at and its load of
	 * the fence: either we see its wake_at, or it sees the fence.
	 */
	trn_full_barrier();
	wake_at = trn_load64(&control->wake_at);
	chip->ops->unmap(chip->host, &map);
	if (wake_at && le64toh(queue->packet.fence.value) >= wake_at)
		queue->phase = TRN_PHASE_INTERRUPT;
	else
		queue->phase = TRN_PHASE_RETIRE;
}

static void fence_wait(struct trn_chip *chip, struct trn_queue *queue)
{
	struct trn_fault fault;
	uint64_t value;

	if (!trn_span_load64(chip, queue->ring_asid, le64toh(queue->packet.fence.address), &value,
			     &fault)) {
		stop_fault(chip, queue, &fault);
	} else if (value >= le64toh(queue->packet.fence.value)) {
		queue->phase = TRN_PHASE_RETIRE;
	} else {
		queue->look_at = chip->now + PARKED_LOOK_NS;
		queue->phase = TRN_PHASE_PARKED;
	}
}

static void bulk(struct trn_chip *chip, struct trn_queue *queue,
		 bool (*unit)(struct trn_chip *chip, uint16_t asid, const struct trn_packet *packet,
			      uint64_t *done, struct trn_fault *fault))
{
	struct trn_fault fault;

	if (queue->injected && trn_inject_operand_fault(queue, &fault))
		stop_fault(chip, queue, &fault);
	else if (!unit(chip, queue->asid, &queue->packet, &queue->done, &fault))
		stop_fault(chip, queue, &fault);
	else if (queue->done == trn_dma_length(&queue->packet))
		queue->phase = TRN_PHASE_RETIRE;
}

static void exec(struct trn_chip *chip, struct trn_queue *queue)
{
	struct trn_fault fault;

	if (queue->injected && trn_inject_operand_fault(queue, &fault)) {
		stop_fault(chip, queue, &fault);
		return;
	}
	switch (trn_exec_unit(chip, queue, &fault)) {
	case TRN_EXEC_GOES_ON:
		queue->phase = TRN_PHASE_EXECUTE;
		break;
	case TRN_EXEC_WAITS:
		queue->look_at = chip->now + PARKED_LOOK_NS;
		queue->phase = TRN_PHASE_PARKED;
		break;
	case TRN_EXEC_DONE:
		trn_exec_end(queue);
		unpark_all(chip);
		queue->phase = TRN_PHASE_RETIRE;
		break;
	case TRN_EXEC_FAULT:
		stop_fault(chip, queue, &fault);
		break;
	case TRN_EXEC_EXCEPTION:
		stop(chip, queue, TRN_STOP_PROGRAM, NULL);
		break;
	}
}

static void execute(struct trn_chip *chip, struct trn_queue *queue)
{
	if (queue->packet_ns > queue->time_limit) {
		stop(chip, queue, TRN_STOP_TIME_LIMIT, NULL);
		return;
	}
	if (queue->injected && trn_inject_hang(chip, queue))
		return;
	switch (queue->packet.opcode) {
	case TRN_PACKET_NOP:
		queue->phase = TRN_PHASE_RETIRE;
		break;
	case TRN_PACKET_FENCE_WRITE:
		fence_write(chip, queue);
		break;
	case TRN_PACKET_FENCE_WAIT:
		fence_wait(chip, queue);
		break;
	case TRN_PACKET_COPY:
	case TRN_PACKET_COPY_ND:
		bulk(chip, queue, trn_copy_unit);
		break;
	case TRN_PACKET_FILL:
		bulk(chip, queue, trn_fill_unit);
		break;
	case TRN_PACKET_EXEC:
		exec(chip, queue);
		break;
	}
}

void trn_queue_hold(struct trn_chip *chip, struct trn_queue *queue, uint64_t ns)
{
	queue->held_since = chip->now;
	queue->look_at = UINT64_MAX;
	queue->phase = TRN_PHASE_HELD;
	if (ns == UINT64_MAX)
		return;
	/* Until the time is over, or the limit is exceeded. */
	queue->look_at = chip->now + ns;
	if (queue->time_limit - queue->packet_ns < ns)
		queue->look_at = chip->now + (queue->time_limit - queue->packet_ns) + 1;
}

void trn_queue_count_hold(const struct trn_chip *chip, struct trn_queue *queue)
{
	uint64_t ns = chip->now - queue->held_since;

	if (queue->state != TRN_QUEUE_RUNNING || queue->phase != TRN_PHASE_HELD)
		return;
	queue->packet_ns += ns;
	queue->queue_ns += ns;
	queue->held_since = chip->now;
}

bool trn_queue_hangs(const struct trn_queue *queue, enum trn_cure cure)
{
	return queue->state == TRN_QUEUE_RUNNING && queue->phase == TRN_PHASE_HELD &&
	       queue->cure > cure;
}

static void end_hold(struct trn_chip *chip, struct trn_queue *queue)
{
	trn_queue_count_hold(chip, queue);
	/* It checks the time limit first. */
	queue->phase = TRN_PHASE_EXECUTE;
}

static void interrupt(struct trn_chip *chip, struct trn_queue *queue)
{
	if (queue->masked)
		queue->owes_interrupt = true;
	else
		trn_vectors_raise(chip, queue->vector);
	queue->phase = TRN_PHASE_RETIRE;
}

static void retire(struct trn_chip *chip, struct trn_queue *queue)
{
	struct trn_control *control;
	struct trn_host_map map;

	control = control_map(chip, queue, &map);
	if (!control) {
		stop(chip, queue, TRN_STOP_CONTROL, NULL);
		return;
	}
	queue->has_packet = false;
	queue->head++;
	/* Release order: whoever sees the head sees the effects of the packet. */
	trn_store32(&control->head, queue->head);
	chip->ops->unmap(chip->host, &map);
	keep_polling(chip, queue);
}

bool trn_queue_runnable(const struct trn_queue *queue, uint64_t now)
{
	if (queue->state != TRN_QUEUE_RUNNING || queue->phase == TRN_PHASE_ASLEEP)
		return false;
	if (queue->phase == TRN_PHASE_PARKED || queue->phase == TRN_PHASE_HELD)
		return now >= queue->look_at;
	return true;
}

static void do_phase(struct trn_chip *chip, struct trn_queue *queue)
{
	switch (queue->phase) {
	case TRN_PHASE_ASLEEP:
		break;
	case TRN_PHASE_WAKE:
		wake(chip, queue);
		break;
	case TRN_PHASE_POLL:
		poll_tail(chip, queue);
		break;
	case TRN_PHASE_FETCH:
		fetch(chip, queue);
		break;
	case TRN_PHASE_EXECUTE:
	case TRN_PHASE_PARKED:
		execute(chip, queue);
		break;
	case TRN_PHASE_HELD:
		end_hold(chip, queue);
		break;
	case TRN_PHASE_NOTIFY:
		notify(chip, queue);
		break;
	case TRN_PHASE_INTERRUPT:
		interrupt(chip, queue);
		break;
	case TRN_PHASE_RETIRE:
		retire(chip, queue);
		break;
	case TRN_PHASE_ARM:
		arm(chip, queue);
		break;
	case TRN_PHASE_RECHECK:
		recheck(chip, queue);
		break;
	}
}

bool trn_queue_step(struct trn_chip *chip, struct trn_queue *queue)
{
	enum trn_queue_phase before = queue->phase;

	do_phase(chip, queue);
	switch (queue->phase) {
	case TRN_PHASE_POLL:
		return before == TRN_PHASE_WAKE;
	case TRN_PHASE_FETCH:
	case TRN_PHASE_NOTIFY:
	case TRN_PHASE_INTERRUPT:
		return true;
	case TRN_PHASE_EXECUTE:
		return before == TRN_PHASE_FETCH;
	case TRN_PHASE_RETIRE:
		/* A look at a fence is no turn. */
		return before != TRN_PHASE_PARKED;
	default:
		return false;
	}
}

void trn_queue_kick(struct trn_queue *queue)
{
	if (queue->phase == TRN_PHASE_ASLEEP)
		queue->phase = TRN_PHASE_WAKE;
	else if (queue->phase == TRN_PHASE_PARKED)
		/* It looks in its turn: a flood of kicks must not hold up the others. */
		queue->phase = TRN_PHASE_EXECUTE;
}

int trn_queue_start(struct trn_chip *chip, struct trn_queue *queue)
{
	struct trn_control *control;
	struct trn_host_map map;

	control = control_map(chip, queue, &map);
	if (!control)
		return -EFAULT;
	trn_store32(&control->head, 0);
	trn_store32(&control->need_kick, 1);
	chip->ops->unmap(chip->host, &map);
	queue->state = TRN_QUEUE_RUNNING;
	queue->phase = TRN_PHASE_ASLEEP;
	queue->slept_at = chip->now;
	return 0;
}

void trn_queue_suspend(struct trn_chip *chip, struct trn_queue *queue)
{
	/*
	 * Others may have seen the fence of a packet that is all but finished, and
	 * written later values: to begin it again would turn the fence back.
	 */
	while (queue->state == TRN_QUEUE_RUNNING &&
	       (queue->phase == TRN_PHASE_NOTIFY || queue->phase == TRN_PHASE_INTERRUPT ||
		queue->phase == TRN_PHASE_RETIRE))
		trn_queue_step(chip, queue);
	trn_queue_count_hold(chip, queue);
	/* A program begins anew. */
	trn_exec_end(queue);
	if (queue->state == TRN_QUEUE_RUNNING)
		queue->state = TRN_QUEUE_SUSPENDED;
}

void trn_queue_resume(struct trn_queue *queue)
{
	queue->state = TRN_QUEUE_RUNNING;
	queue->done = 0;
	queue->packet_ns = 0;
	queue->phase = queue->has_packet ? TRN_PHASE_EXECUTE : TRN_PHASE_WAKE;
}

void trn_queue_reset(const struct trn_chip *chip, struct trn_queue *queue)
{
	if (queue->state == TRN_QUEUE_STOPPED)
		return;
	trn_queue_count_hold(chip, queue);
	trn_exec_end(queue);
	queue->state = TRN_QUEUE_STOPPED;
	queue->has_packet = false;
}

void trn_queue_mask(struct trn_chip *chip, struct trn_queue *queue, bool masked)
{
	queue->masked = masked;
	if (masked || !queue->owes_interrupt)
		return;
	queue->owes_interrupt = false;
	trn_vectors_raise(chip, queue->vector);
}
