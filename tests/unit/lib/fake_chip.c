/* SPDX-License-Identifier: MIT */
/* The chip of fake.c: what packets do. */
#include <check.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_admin.h>

#include "fake_fence.h"
#include "fake_state.h"

static struct binding *find_binding(uint32_t context, uint64_t va)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		struct binding *b = &fake.binding[i];

		if (b->used && b->context == context && va >= b->va && va - b->va < b->size)
			return b;
	}
	return NULL;
}

/* Memory at an address, NULL if all of it is not one binding with that access. */
uint8_t *fake_translate(uint32_t context, uint64_t va, uint64_t size, bool write)
{
	struct binding *b = find_binding(context, va);

	if (!b || size > b->size - (va - b->va) || (write && b->flags & DRM_TRN_BIND_READONLY))
		return NULL;
	return b->memory + (va - b->va);
}

/* Tells the eventfds whose fence is reached, or all of a queue that has come to its end. */
static void notify(struct queue *queue)
{
	unsigned int i, left = 0;

	for (i = 0; i < queue->notifies; i++) {
		const uint64_t *fence =
			(uint64_t *)fake_translate(queue->context, queue->notify[i].va, 8, false);

		if (queue->stopped || *fence >= queue->notify[i].value)
			fake_eventfd_add(queue->notify[i].fd);
		else
			queue->notify[left++] = queue->notify[i];
	}
	queue->notifies = left;
}

static int stop_queue(struct queue *queue, uint32_t reason, uint32_t access, uint64_t address)
{
	queue->error.reason = reason;
	queue->error.access = access;
	queue->error.address = address;
	return reason >= TRN_STOP_FAULT_UNMAPPED && reason <= TRN_STOP_FAULT_RANGE ? -EFAULT : -EIO;
}

/* Moves bytes between @data and addresses, over as many bindings as there are. */
static int transfer(struct queue *queue, uint64_t va, uint8_t *data, uint64_t size, bool write)
{
	uint32_t access = write ? TRN_ACCESS_WRITE : TRN_ACCESS_READ;

	while (size) {
		struct binding *b = find_binding(queue->context, va);
		uint64_t part;

		if (!b)
			return stop_queue(queue, TRN_STOP_FAULT_UNMAPPED, access, va);
		if (write && b->flags & DRM_TRN_BIND_READONLY)
			return stop_queue(queue, TRN_STOP_FAULT_PERMISSION, access, va);
		part = b->size - (va - b->va);
		if (part > size)
			part = size;
		if (write)
			memcpy(b->memory + (va - b->va), data, part);
		else
			memcpy(data, b->memory + (va - b->va), part);
		va += part;
		data += part;
		size -= part;
	}
	return 0;
}

static int copy(struct queue *queue, uint64_t to, uint64_t from, uint64_t size)
{
	uint8_t *data = malloc(size);
	int error = transfer(queue, from, data, size, false);

	if (!error)
		error = transfer(queue, to, data, size, true);
	free(data);
	return error;
}

static int copy_nd(struct queue *queue, const struct trn_packet *packet)
{
	const uint32_t *size = packet->copy_nd.size, *from = packet->copy_nd.source_stride;
	const uint32_t *to = packet->copy_nd.destination_stride;
	uint64_t i, j, k;
	int error = 0;

	if (!size[0] || !size[1] || !size[2] || !size[3])
		return stop_queue(queue, TRN_STOP_BAD_FIELD, 0, 0);
	for (k = 0; k < size[3]; k++)
		for (j = 0; j < size[2]; j++)
			for (i = 0; i < size[1] && !error; i++)
				error = copy(queue,
					     packet->copy_nd.destination + i * to[0] + j * to[1] +
						     k * to[2],
					     packet->copy_nd.source + i * from[0] + j * from[1] +
						     k * from[2],
					     size[0]);
	return error;
}

static int fill(struct queue *queue, const struct trn_packet *packet)
{
	uint64_t size = packet->fill.length, i;
	uint8_t *data = malloc(size);
	int error;

	for (i = 0; i < size; i++)
		data[i] =
			(uint8_t)(packet->fill.pattern >> 8 * (i % (1U << packet->fill.unit_log2)));
	error = transfer(queue, packet->fill.destination, data, size, true);
	free(data);
	return error;
}

/* A program that does nothing. */
static int execute(struct queue *queue, const struct trn_packet *packet)
{
	fake.exec[fake.execs++ % FAKE_EXECS] = *packet;
	/* Whether there is such memory is for others to say. */
	if (fake_translate(queue->context, packet->exec.result, sizeof(fake.result), true))
		return transfer(queue, packet->exec.result, (uint8_t *)&fake.result,
				sizeof(fake.result), true);
	return 0;
}

/* 0, -EFAULT or -EIO. */
int fake_execute(struct queue *queue, const struct trn_packet *packet)
{
	uint8_t *to;

	if (fake.stop_next) {
		uint32_t reason = fake.stop_next;

		fake.stop_next = 0;
		queue->error.exception = fake.exception;
		queue->error.engine = fake.engine;
		queue->error.instruction = fake.instruction;
		return stop_queue(queue, reason, TRN_ACCESS_READ, 0x1234000);
	}
	switch (packet->opcode) {
	case TRN_PACKET_NOP:
		return 0;
	case TRN_PACKET_EXEC:
		return execute(queue, packet);
	case TRN_PACKET_COPY:
		return copy(queue, packet->copy.destination, packet->copy.source,
			    packet->copy.length);
	case TRN_PACKET_COPY_ND:
		return copy_nd(queue, packet);
	case TRN_PACKET_FILL:
		return fill(queue, packet);
	case TRN_PACKET_FENCE_WRITE:
		to = fake_translate(queue->context, packet->fence.address, 8, true);
		if (!to)
			return stop_queue(queue, TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE,
					  packet->fence.address);
		__atomic_store_n((uint64_t *)to, packet->fence.value, __ATOMIC_RELEASE);
		return 0;
	default:
		return stop_queue(queue, TRN_STOP_BAD_OPCODE, 0, 0);
	}
}

/* The program learns that a user queue has come to its end. */
void fake_end_queue(struct queue *queue, uint32_t status)
{
	if (queue->mode != DRM_TRN_QUEUE_USER || queue->stopped)
		return;
	queue->stopped = true;
	__atomic_store_n(&queue->control->status, status, __ATOMIC_RELAXED);
	__atomic_store_n(&queue->control->generation, 2, __ATOMIC_RELEASE);
	notify(queue);
}

/* One packet, if there is one; false if there is not. */
static bool step(struct queue *queue, uint32_t *head)
{
	uint32_t tail = __atomic_load_n(&queue->control->tail, __ATOMIC_ACQUIRE);
	struct trn_packet packet, *ring;

	if (fake.hold || fake.gone || queue->stopped || tail == *head)
		return false;
	ring = (struct trn_packet *)fake_translate(queue->context, queue->ring_va,
						   queue->entries * sizeof(packet), false);
	if (ring && tail - *head <= queue->entries) {
		packet = ring[*head & (queue->entries - 1)];
		queue->error.packet = *head;
		if (!fake_execute(queue, &packet)) {
			__atomic_store_n(&queue->control->head, ++*head, __ATOMIC_RELEASE);
			notify(queue);
			return true;
		}
	}
	fake_end_queue(queue, TRN_CONTROL_STOPPED);
	return false;
}

void *fake_run_queue(void *argument)
{
	struct queue *queue = argument;
	struct trn_control *control = queue->control;
	uint32_t head = 0;
	bool more;

	while (!__atomic_load_n(&queue->stop, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&fake.lock);
		more = step(queue, &head);
		pthread_mutex_unlock(&fake.lock);
		if (more)
			continue;
		__atomic_store_n(&control->need_kick, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&control->tail, __ATOMIC_SEQ_CST) == head)
			while (!__atomic_exchange_n(queue->doorbell, 0, __ATOMIC_ACQUIRE) &&
			       !__atomic_load_n(&queue->stop, __ATOMIC_ACQUIRE))
				sched_yield();
		else
			sched_yield(); /* held or stopped */
		__atomic_store_n(&control->need_kick, 0, __ATOMIC_SEQ_CST);
	}
	return NULL;
}
