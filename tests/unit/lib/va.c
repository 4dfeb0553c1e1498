/* SPDX-License-Identifier: MIT */
/* The address allocator against a reference that is too simple to be wrong: a map of pages. */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <lib/va.h>
#include <tests/check_run.h>

#define PAGES	 256
#define FIRST	 3 /* the space does not start aligned */
#define PAGE	 4096
#define SEQUENCE 50000

static bool used[PAGES];

/* Whether @count pages aligned to @alignment pages are free somewhere. */
static bool reference_fits(int count, int alignment)
{
	int start, i;

	for (start = FIRST; start + count <= PAGES; start++) {
		if (start % alignment)
			continue;
		for (i = 0; i < count && !used[start + i]; i++)
			;
		if (i == count)
			return true;
	}
	return false;
}

static bool reference_is_free(int start, int count)
{
	int i;

	for (i = start; i < start + count; i++)
		if (i < FIRST || i >= PAGES || used[i])
			return false;
	return true;
}

static void mark(const struct trn_va_range *range, bool value)
{
	uint64_t page;

	for (page = range->start / PAGE; page < (range->start + range->size) / PAGE; page++) {
		if (used[page] == value)
			ck_abort_msg("page %llu", (unsigned long long)page);
		used[page] = value;
	}
}

/* Allocates anywhere or at a place; NULL when that is rightly refused. */
static struct trn_va_range *allocate(struct trn_va *va)
{
	int pages = 1 + rand() % (rand() % 8 ? 5 : 40), alignment = 1 << rand() % 5;
	int start = rand() % (PAGES + 20), result;
	struct trn_va_range *range;

	if (rand() % 4) {
		result = trn_va_allocate(va, (uint64_t)pages * PAGE, (uint64_t)alignment * PAGE,
					 &range);
		ck_assert_int_eq(result, reference_fits(pages, alignment) ? 0 : -ENOSPC);
		if (!result)
			ck_assert_uint_eq(range->start % ((uint64_t)alignment * PAGE), 0);
	} else {
		result = trn_va_allocate_at(va, (uint64_t)start * PAGE, (uint64_t)pages * PAGE,
					    &range);
		ck_assert_int_eq(result, reference_is_free(start, pages) ? 0 : -EEXIST);
		if (!result)
			ck_assert_uint_eq(range->start, (uint64_t)start * PAGE);
	}
	if (result)
		return NULL;
	ck_assert_uint_eq(range->size, (uint64_t)pages * PAGE);
	/* Fails if any of it was in use. */
	mark(range, true);
	return range;
}

START_TEST(random_operations)
{
	struct trn_va_range *held[PAGES];
	struct trn_va va;
	int count = 0, i;

	srand(20260401);
	ck_assert_int_eq(trn_va_init(&va, FIRST * PAGE, (PAGES - FIRST) * PAGE, PAGE), 0);
	for (i = 0; i < SEQUENCE; i++) {
		if (count && (rand() % 2 || count == PAGES)) {
			int victim = rand() % count;

			mark(held[victim], false);
			trn_va_free(&va, held[victim]);
			held[victim] = held[--count];
			continue;
		}
		held[count] = allocate(&va);
		if (held[count])
			count++;
	}
	while (count)
		trn_va_free(&va, held[--count]);

	/* Everything has grown together again. */
	ck_assert_uint_eq(va.free->start, FIRST * PAGE);
	ck_assert_uint_eq(va.free->size, (PAGES - FIRST) * PAGE);
	ck_assert_ptr_null(va.free->lower);
	ck_assert_ptr_null(va.free->upper);
	trn_va_fini(&va);
}
END_TEST

static int depth(const struct trn_va_range *tree)
{
	int lower, upper;

	if (!tree)
		return 0;
	lower = depth(tree->lower);
	upper = depth(tree->upper);
	return 1 + (lower > upper ? lower : upper);
}

/* Of 100,000 allocations every other is freed, in order: the worst for a plain tree or list. */
START_TEST(many_holes)
{
	enum {
		COUNT = 100000
	};
	struct trn_va_range **held = calloc(COUNT, sizeof(*held)), *range;
	struct trn_va va;
	int i;

	ck_assert_int_eq(trn_va_init(&va, 0, UINT64_C(1) << 48, PAGE), 0);
	for (i = 0; i < COUNT; i++)
		ck_assert_int_eq(trn_va_allocate(&va, PAGE, PAGE, &held[i]), 0);
	for (i = 0; i < COUNT; i += 2)
		trn_va_free(&va, held[i]);
	/* About 2 ln n on average; far from n. */
	ck_assert_int_lt(depth(va.free), 80);
	/* Too large for any of the holes. */
	ck_assert_int_eq(trn_va_allocate(&va, 2 * PAGE, PAGE, &range), 0);
	ck_assert_uint_eq(range->start, (uint64_t)COUNT * PAGE);
	trn_va_free(&va, range);
	for (i = 1; i < COUNT; i += 2)
		trn_va_free(&va, held[i]);
	ck_assert_uint_eq(va.free->size, UINT64_C(1) << 48);
	trn_va_fini(&va);
	free(held);
}
END_TEST

START_TEST(whole_48_bit_space)
{
	uint64_t start = UINT64_C(1) << 21, size = (UINT64_C(1) << 48) - start;
	struct trn_va_range *range, *second;
	struct trn_va va;

	ck_assert_int_eq(trn_va_init(&va, start, size, PAGE), 0);
	ck_assert_int_eq(trn_va_allocate(&va, size + PAGE, PAGE, &range), -ENOSPC);
	ck_assert_int_eq(trn_va_allocate(&va, size, PAGE, &range), 0);
	ck_assert_uint_eq(range->start, start);
	ck_assert_int_eq(trn_va_allocate(&va, PAGE, PAGE, &second), -ENOSPC);
	ck_assert_int_eq(trn_va_allocate_at(&va, start, PAGE, &second), -EEXIST);
	trn_va_free(&va, range);
	/* An alignment larger than what follows the last multiple of it. */
	ck_assert_int_eq(trn_va_allocate(&va, PAGE, UINT64_C(1) << 48, &range), -ENOSPC);
	ck_assert_int_eq(trn_va_allocate(&va, PAGE, UINT64_C(1) << 47, &range), 0);
	ck_assert_uint_eq(range->start, UINT64_C(1) << 47);
	trn_va_free(&va, range);
	/* Past the end, and so far that it wraps. */
	ck_assert_int_eq(trn_va_allocate_at(&va, start, size + PAGE, &range), -EEXIST);
	ck_assert_int_eq(trn_va_allocate_at(&va, start + PAGE, UINT64_MAX - PAGE + 1, &range),
			 -EEXIST);
	ck_assert_int_eq(trn_va_allocate_at(&va, 0, PAGE, &range), -EEXIST);
	trn_va_fini(&va);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-va");
	TCase *cases = tcase_create("va");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, random_operations);
	tcase_add_test(cases, many_holes);
	tcase_add_test(cases, whole_48_bit_space);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
