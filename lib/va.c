/* SPDX-License-Identifier: MIT */
#include "va.h"

#include <errno.h>
#include <stdlib.h>

static struct trn_va_range *new_range(uint64_t start, uint64_t size)
{
	struct trn_va_range *range = malloc(sizeof(*range));

	if (range)
		*range = (struct trn_va_range){ .start = start, .size = size };
	return range;
}

int trn_va_init(struct trn_va *va, uint64_t start, uint64_t size)
{
	va->free = new_range(start, size);
	return va->free ? 0 : -ENOMEM;
}

void trn_va_fini(struct trn_va *va)
{
	while (va->free) {
		struct trn_va_range *range = va->free;

		va->free = range->next;
		free(range);
	}
}

/* Bytes at the front of a free range that alignment wastes; UINT64_MAX if it does not fit. */
static uint64_t fit(const struct trn_va_range *free, uint64_t size, uint64_t alignment)
{
	uint64_t front = -free->start & (alignment - 1);

	if (front > free->size || free->size - front < size)
		return UINT64_MAX;
	return front;
}

int trn_va_allocate(struct trn_va *va, uint64_t size, uint64_t alignment,
		    struct trn_va_range **range)
{
	struct trn_va_range **link, *hole, *taken, *rest;
	uint64_t front = UINT64_MAX, back;

	for (link = &va->free; (hole = *link); link = &hole->next) {
		front = fit(hole, size, alignment);
		if (front != UINT64_MAX)
			break;
	}
	if (!hole)
		return -ENOSPC;
	back = hole->size - front - size;

	if (!front && !back) {
		*link = hole->next;
		hole->next = NULL;
		*range = hole;
		return 0;
	}

	taken = new_range(hole->start + front, size);
	if (!taken)
		return -ENOMEM;
	if (front && back) {
		rest = new_range(taken->start + size, back);
		if (!rest) {
			free(taken);
			return -ENOMEM;
		}
		rest->next = hole->next;
		hole->next = rest;
		hole->size = front;
	} else if (front) {
		hole->size = front;
	} else {
		hole->start += size;
		hole->size = back;
	}
	*range = taken;
	return 0;
}

/* Makes @range and the range after it one, if they touch. */
static void merge_with_next(struct trn_va_range *range)
{
	struct trn_va_range *next = range->next;

	if (!next || range->start + range->size != next->start)
		return;
	range->size += next->size;
	range->next = next->next;
	free(next);
}

void trn_va_free(struct trn_va *va, struct trn_va_range *range)
{
	struct trn_va_range **link = &va->free, *before = NULL;

	while (*link && (*link)->start < range->start) {
		before = *link;
		link = &before->next;
	}
	range->next = *link;
	*link = range;
	merge_with_next(range);
	if (before)
		merge_with_next(before);
}
