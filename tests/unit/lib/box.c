/* SPDX-License-Identifier: MIT */
/* Boxes against a reference that is too simple to be wrong: the list of their bytes. */
#include <check.h>
#include <stdlib.h>

#include <lib/box.h>
#include <tests/check_run.h>

#define BYTES_MAX 4096
#define ROUNDS	  5000

/* Where each byte comes from and goes to, in order. */
struct list {
	size_t count;
	struct {
		uint64_t to, from;
	} byte[BYTES_MAX];
};

static void append(const struct trn_box *box, struct list *list)
{
	const uint64_t *size = box->sizes, *to = box->to.strides, *from = box->from.strides;
	uint64_t b, i, j, k;

	for (k = 0; k < size[3]; k++)
		for (j = 0; j < size[2]; j++)
			for (i = 0; i < size[1]; i++)
				for (b = 0; b < size[0]; b++) {
					if (list->count == BYTES_MAX)
						ck_abort_msg("more bytes than there are");
					list->byte[list->count].to = box->to.start + b + i * to[0] +
								     j * to[1] + k * to[2];
					list->byte[list->count++].from = box->from.start + b +
									 i * from[0] + j * from[1] +
									 k * from[2];
				}
}

struct cut {
	uint64_t limit;
	unsigned int pieces, stop_at;
	struct list list;
};

static int take(const struct trn_box *piece, void *context)
{
	struct cut *cut = context;
	uint64_t bytes = piece->sizes[0] * piece->sizes[1] * piece->sizes[2] * piece->sizes[3];
	int i;

	if (!bytes || bytes > cut->limit)
		ck_abort_msg("a piece of %llu bytes", (unsigned long long)bytes);
	for (i = 1; i < 4; i++)
		if (piece->sizes[i] > 1 && (piece->to.strides[i - 1] > UINT32_MAX ||
					    piece->from.strides[i - 1] > UINT32_MAX))
			ck_abort_msg("a stride of more than 32 bits");
	append(piece, &cut->list);
	return ++cut->pieces == cut->stop_at ? -7 : 0;
}

static void check_same(const struct list *one, const struct list *two)
{
	size_t i;

	ck_assert_uint_eq(one->count, two->count);
	/* Check's assertions are too slow for each byte. */
	for (i = 0; i < one->count; i++)
		if (one->byte[i].to != two->byte[i].to || one->byte[i].from != two->byte[i].from)
			ck_abort_msg("byte %zu", i);
}

/* Gapless, with gaps, repeated, or too far for 32 bits. */
static uint64_t random_stride(uint64_t gapless)
{
	switch (rand() % 8) {
	case 0:
		return 0;
	case 1:
		return (uint64_t)rand() << 4; /* most of them above 2^32 */
	case 2:
	case 3:
		return gapless + (uint64_t)(rand() % 100);
	default:
		return gapless;
	}
}

static struct trn_box random_box(void)
{
	struct trn_box box = { .to.start = (uint64_t)rand(), .from.start = (uint64_t)rand() };
	uint64_t to = 1, from = 1;
	int i;

	for (i = 0; i < 4; i++) {
		box.sizes[i] = rand() % 3 ? (uint64_t)(1 + rand() % 7) : 1;
		to *= box.sizes[i];
		from *= box.sizes[i];
		if (i == 3)
			break;
		box.to.strides[i] = to = random_stride(to);
		box.from.strides[i] = from = random_stride(from);
	}
	return box;
}

static struct list whole;
static struct cut cut;

START_TEST(every_byte_once_in_order)
{
	int round;

	srand(20260402);
	for (round = 0; round < ROUNDS; round++) {
		struct trn_box box = random_box();

		whole.count = 0;
		append(&box, &whole);
		if (rand() % 4)
			trn_box_simplify(&box);
		cut = (struct cut){ .limit = (uint64_t)(1 + rand() % (rand() % 2 ? 20 : 5000)) };
		ck_assert_int_eq(trn_box_cut(&box, cut.limit, take, &cut), 0);
		check_same(&whole, &cut.list);
	}
}
END_TEST

START_TEST(as_few_pieces_as_can_be)
{
	/* A tensor without gaps is one run. */
	struct trn_box box = {
		.sizes = { 16, 3, 1, 5 },
		.to = { 1000, { 16, 999, 48 } },
		.from = { 2000, { 16, 0, 48 } },
	};

	trn_box_simplify(&box);
	ck_assert_uint_eq(box.sizes[0], 240);
	ck_assert_uint_eq(box.sizes[1], 1);
	ck_assert_uint_eq(box.sizes[2], 1);
	ck_assert_uint_eq(box.sizes[3], 1);
	cut = (struct cut){ .limit = 100 };
	ck_assert_int_eq(trn_box_cut(&box, 100, take, &cut), 0);
	ck_assert_uint_eq(cut.pieces, 3);

	/* Gaps on one side: rows stay rows, what is above them goes together. */
	box = (struct trn_box){
		.sizes = { 8, 10, 4, 1 },
		.to = { 0, { 8, 80, 0 } },
		.from = { 0, { 32, 320, 0 } },
	};
	trn_box_simplify(&box);
	ck_assert_uint_eq(box.sizes[0], 8);
	ck_assert_uint_eq(box.sizes[1], 40);
	ck_assert_uint_eq(box.sizes[2], 1);
	cut = (struct cut){ .limit = 320 };
	ck_assert_int_eq(trn_box_cut(&box, 320, take, &cut), 0);
	ck_assert_uint_eq(cut.pieces, 1);
}
END_TEST

START_TEST(ends_at_a_failure)
{
	struct trn_box box = { .sizes = { 10, 1, 1, 1 } };

	cut = (struct cut){ .limit = 1, .stop_at = 4 };
	ck_assert_int_eq(trn_box_cut(&box, 1, take, &cut), -7);
	ck_assert_uint_eq(cut.pieces, 4);
}
END_TEST

START_TEST(overflows)
{
	const uint64_t one[3] = { 10, 0, 0 }, far[3] = { 0, UINT64_MAX / 2, 0 };
	uint64_t result;

	ck_assert(trn_box_extent((uint64_t[]){ 4, 3, 1, 1 }, one, &result));
	ck_assert_uint_eq(result, 24);
	ck_assert(trn_box_extent((uint64_t[]){ 1, 1, 3, 1 }, far, &result));
	ck_assert_uint_eq(result, UINT64_MAX);
	ck_assert(!trn_box_extent((uint64_t[]){ 2, 1, 3, 1 }, far, &result));
	ck_assert(!trn_box_extent((uint64_t[]){ 1, 1, 4, 1 }, far, &result));
	ck_assert(trn_box_bytes((uint64_t[]){ 1, 2, 3, 4 }, &result));
	ck_assert_uint_eq(result, 24);
	ck_assert(!trn_box_bytes((uint64_t[]){ 1, UINT64_MAX, 2, 1 }, &result));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-box");
	TCase *cases = tcase_create("box");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, every_byte_once_in_order);
	tcase_add_test(cases, as_few_pieces_as_can_be);
	tcase_add_test(cases, ends_at_a_failure);
	tcase_add_test(cases, overflows);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
