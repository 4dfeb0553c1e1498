/* SPDX-License-Identifier: MIT */
/* trn-bench: what requests cost, from records made up here. */
#include <check.h>

#include <tests/check_run.h>
#include <tools/trn-bench/cost.h>

#define US	     100 /* the thread whose requests are looked at */
#define OTHER	     200
#define IOCTL	     16

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_cost(const struct cost *cost, int64_t submit, int64_t fall_asleep,
			int64_t interrupt, int64_t completion, int64_t all)
{
	ck_assert_int_eq(cost->submit, submit);
	ck_assert_int_eq(cost->fall_asleep, fall_asleep);
	ck_assert_int_eq(cost->interrupt, interrupt);
	ck_assert_int_eq(cost->completion, completion);
	ck_assert_int_eq(cost->all, all);
}

/* One call to submit, one to wait; asleep when the interrupt comes. */
START_TEST(two_calls)
{
	static const struct trace_record records[] = {
		{ 5, TRACE_EXIT, US, 1 }, /* of the call that began the record */
		{ 1000, TRACE_ENTER, US, IOCTL }, { 1300, TRACE_EXIT, US, IOCTL },
		{ 1350, TRACE_ENTER, US, IOCTL }, { 1500, TRACE_SWITCH, US, 0 },
		{ 9000, TRACE_INTERRUPT, 0, 33 }, { 9200, TRACE_SWITCH, 0, US },
		{ 9450, TRACE_EXIT, US, IOCTL },  { 9500, TRACE_ENTER, US, 1 },
	};
	const struct request request = { US, IOCTL, 0, 2 };
	struct cost costs[2];

	ck_assert_uint_eq(cost_of_requests(records, COUNT(records), &request, costs, 2), 1);
	assert_cost(&costs[0], 300, 150, 7650, 450, 300 + 150 + 450);
	ck_assert_uint_eq(costs[0].interrupts, 1);
}
END_TEST

/* The same call submits and waits. */
START_TEST(one_call)
{
	static const struct trace_record records[] = {
		{ 1000, TRACE_ENTER, US, IOCTL },
		{ 1400, TRACE_SWITCH, US, 0 },
		{ 5000, TRACE_INTERRUPT, 0, 34 },
		{ 5100, TRACE_SWITCH, 0, US },
		{ 5700, TRACE_EXIT, US, IOCTL },
		/* The second's interrupt comes too early. */
		{ 6000, TRACE_ENTER, US, IOCTL },
		{ 6100, TRACE_INTERRUPT, US, 34 },
		{ 6500, TRACE_EXIT, US, IOCTL },
		/* The third is not seen to its end. */
		{ 7000, TRACE_ENTER, US, IOCTL },
	};
	const struct request request = { US, IOCTL, 0, 1 };
	struct cost costs[3];

	ck_assert_uint_eq(cost_of_requests(records, COUNT(records), &request, costs, 3), 2);
	assert_cost(&costs[0], 400, 400, 4000, 700, 400 + 700);
	assert_cost(&costs[1], -1, -1, 100, 400, 500);
}
END_TEST

/* Without records of switches: the submit and its completion all the same. */
START_TEST(no_switches)
{
	static const struct trace_record records[] = {
		{ 1000, TRACE_ENTER, US, IOCTL }, { 1300, TRACE_EXIT, US, IOCTL },
		{ 1350, TRACE_ENTER, US, IOCTL }, { 9000, TRACE_INTERRUPT, 0, 33 },
		{ 9400, TRACE_EXIT, US, IOCTL },
	};
	const struct request request = { US, IOCTL, 0, 2 };
	struct cost cost;

	ck_assert_uint_eq(cost_of_requests(records, COUNT(records), &request, &cost, 1), 1);
	ck_assert_int_eq(cost.submit, 300);
	ck_assert_int_eq(cost.fall_asleep, -1);
	ck_assert_int_eq(cost.interrupt, 7650);
	ck_assert_int_eq(cost.completion, 400);
}
END_TEST

/* A job behind another's: the other thread's work counts, the call before does not. */
START_TEST(another_thread)
{
	static const struct trace_record records[] = {
		{ 100, TRACE_ENTER, US, IOCTL }, /* before */
		{ 900, TRACE_EXIT, US, IOCTL },
		{ 1000, TRACE_ENTER, US, IOCTL },
		{ 1300, TRACE_EXIT, US, IOCTL },
		{ 1350, TRACE_ENTER, US, IOCTL },
		{ 1500, TRACE_SWITCH, US, 0 },
		{ 4000, TRACE_INTERRUPT, 0, 33 },
		{ 4100, TRACE_SWITCH, 0, OTHER },
		{ 4700, TRACE_SWITCH, OTHER, 0 },
		/* Of a timer: nobody's. */
		{ 6000, TRACE_SWITCH, 0, OTHER },
		{ 6400, TRACE_SWITCH, OTHER, 0 },
		{ 9000, TRACE_INTERRUPT, 0, 33 },
		{ 9200, TRACE_SWITCH, 0, US },
		{ 9450, TRACE_EXIT, US, IOCTL },
	};
	const struct request request = { US, IOCTL, 1, 2 };
	struct cost cost;

	ck_assert_uint_eq(cost_of_requests(records, COUNT(records), &request, &cost, 1), 1);
	assert_cost(&cost, 300, 150, 7650, 450, 300 + 150 + (100 + 600) + 450);
	ck_assert_uint_eq(cost.interrupts, 2);
	ck_assert_uint_eq(cost.records, 6);
}
END_TEST

/* Calls of other threads and other system calls are not the request's. */
START_TEST(strangers)
{
	static const struct trace_record records[] = {
		{ 900, TRACE_ENTER, OTHER, IOCTL }, { 950, TRACE_EXIT, OTHER, IOCTL },
		{ 960, TRACE_SWITCH, OTHER, US },   { 1000, TRACE_ENTER, US, IOCTL },
		{ 1100, TRACE_SWITCH, US, OTHER },  { 1150, TRACE_ENTER, OTHER, IOCTL },
		{ 1200, TRACE_SWITCH, OTHER, US },  { 1300, TRACE_EXIT, US, IOCTL },
		{ 1310, TRACE_ENTER, US, 39 },	    { 1320, TRACE_EXIT, US, 39 },
		{ 1350, TRACE_ENTER, US, IOCTL },   { 1500, TRACE_EXIT, US, IOCTL },
	};
	const struct request request = { US, IOCTL, 0, 2 };
	struct cost cost;

	ck_assert_uint_eq(cost_of_requests(records, COUNT(records), &request, &cost, 1), 1);
	assert_cost(&cost, 300, -1, -1, -1, 300 + 150);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench-cost");
	TCase *cases = tcase_create("cost");

	tcase_add_test(cases, two_calls);
	tcase_add_test(cases, one_call);
	tcase_add_test(cases, no_switches);
	tcase_add_test(cases, another_thread);
	tcase_add_test(cases, strangers);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
