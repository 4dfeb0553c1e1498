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

/* The lowest page where @count pages aligned to @alignment pages are free, or -1. */
static int reference_fit(int count, int alignment)
{
	int start, i;

	for (start = FIRST; start + count <= PAGES; start++) {
		if (start % alignment)
			continue;
		for (i = 0; i < count && !used[start + i]; i++)
			;
		if (i == count)
			return start;
	}
	return -1;
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

START_TEST(random_operations)
{
	struct trn_va_range *held[PAGES], *range;
	struct trn_va va;
	int count = 0, i;

	srand(20260401);
	ck_assert_int_eq(trn_va_init(&va, FIRST * PAGE, (PAGES - FIRST) * PAGE), 0);
	for (i = 0; i < SEQUENCE; i++) {
		int pages = 1 + rand() % (rand() % 8 ? 5 : 40), alignment = 1 << rand() % 5;
		int expected = reference_fit(pages, alignment), result;

		if (count && (rand() % 2 || count == PAGES)) {
			int victim = rand() % count;

			mark(held[victim], false);
			trn_va_free(&va, held[victim]);
			held[victim] = held[--count];
			continue;
		}
		result = trn_va_allocate(&va, (uint64_t)pages * PAGE, (uint64_t)alignment * PAGE,
					 &range);
		if (expected < 0) {
			ck_assert_int_eq(result, -ENOSPC);
			continue;
		}
		ck_assert_int_eq(result, 0);
		ck_assert_uint_eq(range->start, (uint64_t)expected * PAGE);
		ck_assert_uint_eq(range->size, (uint64_t)pages * PAGE);
		mark(range, true);
		held[count++] = range;
	}
	while (count)
		trn_va_free(&va, held[--count]);

	/* Everything has grown together again. */
	ck_assert_uint_eq(va.free->start, FIRST * PAGE);
	ck_assert_uint_eq(va.free->size, (PAGES - FIRST) * PAGE);
	ck_assert_ptr_null(va.free->next);
	trn_va_fini(&va);
}
END_TEST

START_TEST(whole_48_bit_space)
{
	uint64_t start = UINT64_C(1) << 21, size = (UINT64_C(1) << 48) - start;
	struct trn_va_range *range, *second;
	struct trn_va va;

	ck_assert_int_eq(trn_va_init(&va, start, size), 0);
	ck_assert_int_eq(trn_va_allocate(&va, size + 1, PAGE, &range), -ENOSPC);
	ck_assert_int_eq(trn_va_allocate(&va, size, PAGE, &range), 0);
	ck_assert_uint_eq(range->start, start);
	ck_assert_int_eq(trn_va_allocate(&va, 1, 1, &second), -ENOSPC);
	trn_va_free(&va, range);
	/* An alignment larger than what follows the last multiple of it. */
	ck_assert_int_eq(trn_va_allocate(&va, PAGE, UINT64_C(1) << 48, &range), -ENOSPC);
	ck_assert_int_eq(trn_va_allocate(&va, PAGE, UINT64_C(1) << 47, &range), 0);
	ck_assert_uint_eq(range->start, UINT64_C(1) << 47);
	trn_va_free(&va, range);
	trn_va_fini(&va);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-va");
	TCase *cases = tcase_create("va");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, random_operations);
	tcase_add_test(cases, whole_48_bit_space);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
