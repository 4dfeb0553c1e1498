/* SPDX-License-Identifier: MIT */
/*
 * What an allocation and a bind cost must not depend on how many objects and mappings there are.
 * The cost is the processor time of the thread; with --icount that is its instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest_memory.h"

#define SAMPLES	  201
#define RATIO_MAX 1.5
/* Live objects are mapped from 0 upwards, with holes. */
#define STEP	  (64 * KIB)
#define VA	  (UINT64_C(1) << 40)

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

struct cost {
	uint64_t create, close, query, bind, unbind;
};

static uint64_t median(uint64_t samples[SAMPLES])
{
	qsort(samples, SAMPLES, sizeof(samples[0]), compare);
	return samples[SAMPLES / 2];
}

static struct cost measure(int fd, uint32_t context)
{
	static uint64_t create[SAMPLES], gem_close[SAMPLES], query[SAMPLES];
	static uint64_t bind[SAMPLES], unbind[SAMPLES];
	unsigned int i;

	for (i = 0; i < SAMPLES; i++) {
		uint64_t times[6];
		uint32_t handle;

		times[0] = now();
		guest_fails(guest_hbm(fd, 0, 64 * KIB, &handle), 0);
		times[1] = now();
		guest_memory(fd);
		times[2] = now();
		guest_fails(guest_bind(fd, context, handle, VA, 64 * KIB), 0);
		times[3] = now();
		guest_fails(guest_unbind(fd, context, VA, 64 * KIB), 0);
		times[4] = now();
		guest_fails(guest_close(fd, handle), 0);
		times[5] = now();
		create[i] = times[1] - times[0];
		query[i] = times[2] - times[1];
		bind[i] = times[3] - times[2];
		unbind[i] = times[4] - times[3];
		gem_close[i] = times[5] - times[4];
	}
	return (struct cost){
		.create = median(create),
		.close = median(gem_close),
		.query = median(query),
		.bind = median(bind),
		.unbind = median(unbind),
	};
}

START_TEST(many_objects)
{
	const char *large = getenv("TRN_LONG");
	unsigned int counts[] = { 10, 1000, large && !strcmp(large, "1") ? 100000 : 10000 };
	int fd = guest_open(0);
	uint32_t context = guest_context(fd);
	unsigned int i, live = 0;
	struct cost first = { 0 }, cost;
	uint32_t handle;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		/* Of several sizes, and with holes. */
		for (; live < counts[i]; live++) {
			guest_fails(guest_hbm(fd, 0, (1 + live % 8) * 4 * KIB, &handle), 0);
			if (live % 4 == 3) {
				guest_fails(guest_close(fd, handle), 0);
				guest_fails(guest_hbm(fd, 0, 4 * KIB, &handle), 0);
			}
			guest_fails(guest_bind(fd, context, handle, live * STEP, 4 * KIB), 0);
		}
		cost = measure(fd, context);
		if (!i)
			first = cost;
		printf("memory_cost: %6u objects: create %llu ns, close %llu ns, query %llu ns, "
		       "bind %llu ns, unbind %llu ns\n",
		       live, (unsigned long long)cost.create, (unsigned long long)cost.close,
		       (unsigned long long)cost.query, (unsigned long long)cost.bind,
		       (unsigned long long)cost.unbind);
	}
	ck_assert_double_le((double)cost.create, RATIO_MAX * (double)first.create);
	ck_assert_double_le((double)cost.close, RATIO_MAX * (double)first.close);
	ck_assert_double_le((double)cost.query, RATIO_MAX * (double)first.query);
	ck_assert_double_le((double)cost.bind, RATIO_MAX * (double)first.bind);
	ck_assert_double_le((double)cost.unbind, RATIO_MAX * (double)first.unbind);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_cost");
	TCase *cases = tcase_create("memory_cost");

	tcase_set_timeout(cases, 1800);
	tcase_add_test(cases, many_objects);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
