/* SPDX-License-Identifier: MIT */
#include "interrupts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct trn_vector {
	int fd; /* -1: none */
	bool pending;
};

int trn_interrupts_init(struct trn_interrupts *interrupts, unsigned int count)
{
	interrupts->vectors = calloc(count, sizeof(*interrupts->vectors));
	if (!interrupts->vectors)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++)
		interrupts->vectors[i].fd = -1;
	interrupts->count = count;
	pthread_mutex_init(&interrupts->lock, NULL);
	return 0;
}

void trn_interrupts_destroy(struct trn_interrupts *interrupts)
{
	trn_interrupts_clear(interrupts);
	pthread_mutex_destroy(&interrupts->lock);
	free(interrupts->vectors);
}

static void signal_or_pend(struct trn_vector *vector)
{
	const uint64_t one = 1;
	ssize_t written;

	vector->pending = vector->fd < 0;
	if (vector->fd < 0)
		return;
	/* EAGAIN: its counter is full, so the client has not looked yet and will. */
	written = write(vector->fd, &one, sizeof(one));
	(void)written;
}

void trn_interrupts_set(struct trn_interrupts *interrupts, unsigned int vector, int fd)
{
	struct trn_vector *slot = &interrupts->vectors[vector];
	int old, flags;

	/* The descriptor is whatever the client sent: a write to it must not block. */
	if (fd >= 0) {
		flags = fcntl(fd, F_GETFL);
		if (flags >= 0 && !(flags & O_NONBLOCK))
			fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	}
	pthread_mutex_lock(&interrupts->lock);
	old = slot->fd;
	slot->fd = fd;
	if (slot->pending)
		signal_or_pend(slot);
	pthread_mutex_unlock(&interrupts->lock);
	if (old >= 0)
		close(old);
}

void trn_interrupts_raise(struct trn_interrupts *interrupts, unsigned int vector)
{
	pthread_mutex_lock(&interrupts->lock);
	signal_or_pend(&interrupts->vectors[vector]);
	pthread_mutex_unlock(&interrupts->lock);
}

uint64_t trn_interrupts_pending(struct trn_interrupts *interrupts, unsigned int first)
{
	uint64_t bits = 0;

	pthread_mutex_lock(&interrupts->lock);
	for (unsigned int i = first; i < first + 64 && i < interrupts->count; i++)
		bits |= (uint64_t)interrupts->vectors[i].pending << (i - first);
	pthread_mutex_unlock(&interrupts->lock);
	return bits;
}

void trn_interrupts_reset(struct trn_interrupts *interrupts)
{
	pthread_mutex_lock(&interrupts->lock);
	for (unsigned int i = 0; i < interrupts->count; i++)
		interrupts->vectors[i].pending = false;
	pthread_mutex_unlock(&interrupts->lock);
}

void trn_interrupts_clear(struct trn_interrupts *interrupts)
{
	trn_interrupts_reset(interrupts);
	for (unsigned int i = 0; i < interrupts->count; i++)
		trn_interrupts_set(interrupts, i, -1);
}
