/* SPDX-License-Identifier: MIT */
#include "box.h"

bool trn_box_extent(const uint64_t sizes[4], const uint64_t strides[3], uint64_t *extent)
{
	uint64_t sum = sizes[0], part;
	int i;

	for (i = 0; i < 3; i++)
		if (__builtin_mul_overflow(sizes[i + 1] - 1, strides[i], &part) ||
		    __builtin_add_overflow(sum, part, &sum))
			return false;
	*extent = sum;
	return true;
}

bool trn_box_bytes(const uint64_t sizes[4], uint64_t *bytes)
{
	uint64_t product = sizes[0];
	int i;

	for (i = 1; i < 4; i++)
		if (__builtin_mul_overflow(product, sizes[i], &product))
			return false;
	*bytes = product;
	return true;
}

static void remove_dimension(struct trn_box *box, int dimension)
{
	int i;

	for (i = dimension; i < 3; i++) {
		box->sizes[i] = box->sizes[i + 1];
		box->to.strides[i - 1] = box->to.strides[i];
		box->from.strides[i - 1] = box->from.strides[i];
	}
	box->sizes[3] = 1;
	box->to.strides[2] = box->from.strides[2] = 0;
}

/* Bytes or runs of the dimension below follow each other without a gap, on this side. */
static bool continues(const struct trn_box_side *side, const uint64_t sizes[4], int dimension)
{
	uint64_t below = dimension == 1 ? 1 : side->strides[dimension - 2], length;

	return !__builtin_mul_overflow(below, sizes[dimension - 1], &length) &&
	       side->strides[dimension - 1] == length;
}

void trn_box_simplify(struct trn_box *box)
{
	int i, used = 4;

	for (i = 1; i < used;) {
		bool single = box->sizes[i] == 1;

		if (!single &&
		    !(continues(&box->to, box->sizes, i) && continues(&box->from, box->sizes, i))) {
			i++;
			continue;
		}
		/* The dimension below takes it in; sizes multiplied are within trn_box_bytes(). */
		box->sizes[i - 1] *= box->sizes[i];
		remove_dimension(box, i);
		used--;
	}
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_wide(const struct trn_box *box, int dimension)
{
	return box->sizes[dimension] > 1 && (box->to.strides[dimension - 1] > UINT32_MAX ||
					     box->from.strides[dimension - 1] > UINT32_MAX);
}

/* How many of the dimension's elements, each of @element bytes, may be in one piece. */
static uint64_t most(const struct trn_box *box, int dimension, uint64_t element, uint64_t limit)
{
	uint64_t count = limit / element;
	int i;

	for (i = 1; i <= dimension; i++)
		if (is_wide(box, i))
			return 1;
	return count ? count : 1;
}

/*
 * The dimensions above @dimension are of size 1 already.  Recursion goes down by one
 * dimension each time.
 */
static int cut(struct trn_box box, int dimension, uint64_t limit,
	       int (*emit)(const struct trn_box *piece, void *context), void *context)
{
	uint64_t left = box.sizes[dimension], element = 1, count;
	uint64_t to_step = dimension ? box.to.strides[dimension - 1] : 1;
	uint64_t from_step = dimension ? box.from.strides[dimension - 1] : 1;
	int error = 0, i;

	for (i = 0; i < dimension; i++)
		element *= box.sizes[i];
	count = most(&box, dimension, element, limit);

	while (left && !error) {
		uint64_t part = smaller(left, count);

		box.sizes[dimension] = part;
		/* Elements that are one piece too much each: cut below. */
		if (dimension && part == 1)
			error = cut(box, dimension - 1, limit, emit, context);
		else
			error = emit(&box, context);
		box.to.start += part * to_step;
		box.from.start += part * from_step;
		left -= part;
	}
	return error;
}

int trn_box_cut(const struct trn_box *box, uint64_t limit,
		int (*emit)(const struct trn_box *piece, void *context), void *context)
{
	return cut(*box, 3, limit, emit, context);
}
