/* SPDX-License-Identifier: MIT */
#include "va.h"

#include <errno.h>
#include <stdlib.h>

static struct trn_va_range *new_range(uint64_t start, uint64_t size)
{
	struct trn_va_range *range = calloc(1, sizeof(*range));

	if (range) {
		range->start = start;
		range->size = size;
	}
	return range;
}

/* ---- the treap ------------------------------------------------------- */

static uint64_t largest(const struct trn_va_range *tree)
{
	return tree ? tree->largest : 0;
}

static void update(struct trn_va_range *node)
{
	uint64_t below = largest(node->lower), above = largest(node->upper);

	node->largest = below > above ? below : above;
	if (node->size > node->largest)
		node->largest = node->size;
}

/* Takes a tree apart: what starts before @start, and the rest. */
static void split(struct trn_va_range *tree, uint64_t start, struct trn_va_range **before,
		  struct trn_va_range **rest)
{
	if (!tree) {
		*before = *rest = NULL;
	} else if (tree->start < start) {
		*before = tree;
		split(tree->upper, start, &tree->upper, rest);
		update(tree);
	} else {
		*rest = tree;
		split(tree->lower, start, before, &tree->lower);
		update(tree);
	}
}

/* The reverse: all of @before starts before all of @rest. */
static struct trn_va_range *join(struct trn_va_range *before, struct trn_va_range *rest)
{
	struct trn_va_range *root;

	if (!before || !rest)
		return before ? before : rest;
	if (before->priority > rest->priority) {
		root = before;
		root->upper = join(before->upper, rest);
	} else {
		root = rest;
		root->lower = join(before, rest->lower);
	}
	update(root);
	return root;
}

/* Addresses, well mixed (the finaliser of splitmix64): as good as random for a tree's shape. */
static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static void insert(struct trn_va *va, struct trn_va_range *range)
{
	struct trn_va_range *before, *rest;

	range->priority = mix(range->start);
	range->lower = range->upper = NULL;
	update(range);
	split(va->free, range->start, &before, &rest);
	va->free = join(join(before, range), rest);
}

static void erase(struct trn_va *va, const struct trn_va_range *range)
{
	struct trn_va_range *before, *self, *rest;

	split(va->free, range->start, &before, &rest);
	split(rest, range->start + 1, &self, &rest);
	va->free = join(before, rest);
}

/* The free range that starts last before or at @start, or NULL. */
static struct trn_va_range *find(const struct trn_va *va, uint64_t start)
{
	struct trn_va_range *node = va->free, *best = NULL;

	while (node) {
		if (node->start <= start) {
			best = node;
			node = node->upper;
		} else {
			node = node->lower;
		}
	}
	return best;
}

/* The lowest free range of at least @size bytes, or NULL. */
static struct trn_va_range *find_size(const struct trn_va *va, uint64_t size)
{
	struct trn_va_range *node = va->free;

	while (largest(node) >= size) {
		if (largest(node->lower) >= size)
			node = node->lower;
		else if (node->size >= size)
			return node;
		else
			node = node->upper;
	}
	return NULL;
}

/* Bytes at the front of a free range that alignment wastes. */
static uint64_t waste(const struct trn_va_range *free, uint64_t alignment)
{
	return -free->start & (alignment - 1);
}

/* The lowest free range with room for @size aligned bytes, or NULL.  Looks at many. */
static struct trn_va_range *find_aligned(struct trn_va_range *tree, uint64_t size,
					 uint64_t alignment)
{
	struct trn_va_range *found;

	if (largest(tree) < size)
		return NULL;
	found = find_aligned(tree->lower, size, alignment);
	if (found)
		return found;
	if (tree->size >= size && waste(tree, alignment) <= tree->size - size)
		return tree;
	return find_aligned(tree->upper, size, alignment);
}

/* ---- allocation ------------------------------------------------------ */

/* Takes [start, start + size) out of the free range @hole that it is in. */
static int carve(struct trn_va *va, struct trn_va_range *hole, uint64_t start, uint64_t size,
		 struct trn_va_range **range)
{
	uint64_t front = start - hole->start, back = hole->size - front - size;
	struct trn_va_range *rest = NULL, *taken = hole;

	if (back) {
		rest = new_range(start + size, back);
		if (!rest)
			return -ENOMEM;
	}
	if (front) {
		taken = new_range(start, size);
		if (!taken) {
			free(rest);
			return -ENOMEM;
		}
	}
	erase(va, hole);
	if (front) {
		hole->size = front;
		insert(va, hole);
	}
	if (back)
		insert(va, rest);
	taken->size = size;
	*range = taken;
	return 0;
}

int trn_va_init(struct trn_va *va, uint64_t start, uint64_t size, uint64_t granule)
{
	struct trn_va_range *all = new_range(start, size);

	*va = (struct trn_va){ .granule = granule };
	if (!all)
		return -ENOMEM;
	insert(va, all);
	return 0;
}

static void free_tree(struct trn_va_range *tree)
{
	if (!tree)
		return;
	free_tree(tree->lower);
	free_tree(tree->upper);
	free(tree);
}

void trn_va_fini(struct trn_va *va)
{
	free_tree(va->free);
	va->free = NULL;
}

int trn_va_allocate(struct trn_va *va, uint64_t size, uint64_t alignment,
		    struct trn_va_range **range)
{
	uint64_t slack = alignment > va->granule ? alignment - va->granule : 0;
	struct trn_va_range *hole = NULL;

	if (size <= UINT64_MAX - slack)
		hole = find_size(va, size + slack);
	if (!hole)
		hole = find_aligned(va->free, size, alignment);
	if (!hole)
		return -ENOSPC;
	return carve(va, hole, hole->start + waste(hole, alignment), size, range);
}

int trn_va_allocate_at(struct trn_va *va, uint64_t start, uint64_t size,
		       struct trn_va_range **range)
{
	struct trn_va_range *hole = find(va, start);

	if (!hole || start - hole->start > hole->size || size > hole->size - (start - hole->start))
		return -EEXIST;
	return carve(va, hole, start, size, range);
}

void trn_va_free(struct trn_va *va, struct trn_va_range *range)
{
	struct trn_va_range *before = find(va, range->start);
	struct trn_va_range *after = find(va, range->start + range->size);

	if (after && after->start == range->start + range->size) {
		erase(va, after);
		range->size += after->size;
		free(after);
	}
	if (before && before->start + before->size == range->start) {
		erase(va, before);
		range->start = before->start;
		range->size += before->size;
		free(before);
	}
	insert(va, range);
}
