/* SPDX-License-Identifier: MIT */
/* User memory that the device uses in place, until the submits that do so are done. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

int trn_queue_pin(struct trn_queue *queue, const void *memory, uint64_t size, bool readonly,
		  struct trn_pin **result)
{
	uint64_t mask = queue->context->device->info.page_size - 1;
	uint64_t start = (uintptr_t)memory & ~mask;
	uint64_t end = ((uintptr_t)memory + size + mask) & ~mask;
	struct trn_pin *pin = calloc(1, sizeof(*pin));
	int error;

	if (!pin)
		return trn_fail(-ENOMEM, "transfer: no host memory");
	error = trn_buffer_create_user(queue->context, (void *)(uintptr_t)start, end - start,
				       readonly ? TRN_BUFFER_READONLY : 0, &pin->buffer);
	if (error) {
		free(pin);
		return error;
	}
	*result = pin;
	return 0;
}

void trn_queue_pin_until(struct trn_queue *queue, struct trn_pin *pin, uint64_t sequence)
{
	pin->sequence = sequence;
	pthread_mutex_lock(&queue->pin_lock);
	pin->next = queue->pins;
	__atomic_store_n(&queue->pins, pin, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&queue->pin_lock);
}

/* Takes those up to a sequence out of the list. */
static struct trn_pin *take_done(struct trn_queue *queue, uint64_t sequence)
{
	struct trn_pin **link = &queue->pins, *done = NULL, *pin;

	while ((pin = *link)) {
		if (pin->sequence > sequence) {
			link = &pin->next;
			continue;
		}
		__atomic_store_n(link, pin->next, __ATOMIC_RELEASE);
		pin->next = done;
		done = pin;
	}
	return done;
}

void trn_queue_unpin(struct trn_queue *queue, uint64_t sequence)
{
	struct trn_pin *pin, *next;

	if (!__atomic_load_n(&queue->pins, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&queue->pin_lock);
	pin = take_done(queue, sequence);
	pthread_mutex_unlock(&queue->pin_lock);
	for (; pin; pin = next) {
		next = pin->next;
		/* It can only fail because the chip, and with it the binding, is gone. */
		trn_buffer_destroy(pin->buffer);
		free(pin);
	}
}
