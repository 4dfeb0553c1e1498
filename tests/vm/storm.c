/* SPDX-License-Identifier: MIT */
/*
 * A process that lets its user queue interrupt as often as it can harms nobody else, neither
 * on the same interrupt vector nor on others, and can still wait itself.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest.h"

#define ROUNDS	 4
/* Of interrupts a second without use: the driver lets 50 pass in 10 ms before it acts. */
#define RATE_MAX 5000

static int fd;
static uint32_t context;

static void start(void)
{
	fd = guest_open(0);
	context = guest_context(fd);
}

static void stop(void)
{
	close(fd);
}

/* All of the vectors of queues. */
static uint64_t interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	uint64_t sum = 0;
	char line[4096];

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		char *next = strchr(line, ':');

		if (!next || !strstr(line, "trn-queues"))
			continue;
		for (next++;;) {
			char *end;
			unsigned long long count = strtoull(next, &end, 10);

			if (end == next)
				break;
			sum += count;
			next = end;
		}
	}
	fclose(file);
	return sum;
}

/* Writes fences and wants an interrupt for each, until it is told to stop. */
struct storm {
	struct guest_user_queue queue;
	pthread_t thread;
	atomic_bool stop;
	uint64_t written;
};

static void *rage(void *argument)
{
	struct storm *storm = argument;
	struct guest_user_queue *queue = &storm->queue;

	while (!atomic_load(&storm->stop)) {
		uint32_t tail = queue->control->tail;
		volatile uint32_t *head = &queue->control->head;

		queue->control->wake_at = 1;
		if (tail - *head < GUEST_RING_ENTRIES) {
			struct trn_packet packet = guest_fence_write(++storm->written);

			guest_push(queue, &packet);
		}
	}
	return NULL;
}

static void storm_begin(struct storm *storm, int file)
{
	*storm = (struct storm){ .queue = guest_user_queue(file, guest_context(file)) };
	ck_assert_int_eq(pthread_create(&storm->thread, NULL, rage, storm), 0);
}

static void storm_end(struct storm *storm)
{
	atomic_store(&storm->stop, true);
	ck_assert_int_eq(pthread_join(storm->thread, NULL), 0);
}

/* Longest and mean time of a job on each of two queues, which have different vectors. */
static int64_t jobs(const uint32_t queue[2], int count, int64_t *mean)
{
	uint32_t syncobj = guest_syncobj(fd);
	struct trn_packet nop = { 0 };
	int64_t longest = 0, begin = trn_deadline(0), last = begin;
	int i;

	for (i = 0; i < count; i++) {
		int64_t now;

		guest_fails(guest_submit(fd, queue[i % 2], &nop, 1, syncobj), 0);
		guest_fails(guest_job(fd, syncobj, 30), 0);
		now = trn_deadline(0);
		if (now - last > longest)
			longest = now - last;
		last = now;
	}
	*mean = (last - begin) / count;
	return longest;
}

START_TEST(others_go_on)
{
	/* Neighbours have different vectors, if there is more than one. */
	uint32_t queue[2] = { guest_kernel_queue(fd, context, 16),
			      guest_kernel_queue(fd, context, 16) };
	struct guest_user_queue mine = guest_user_queue(fd, context);
	int64_t mean, longest, end, sum = 0, quiet, worst = 0;
	uint64_t before, after, done = 0, value = 0;
	int other = guest_open(0);
	struct storm storm;

	jobs(queue, 200, &quiet);
	storm_begin(&storm, other);
	before = interrupts();
	end = trn_deadline(ROUNDS * SECOND);
	while (trn_deadline(0) < end) {
		struct trn_packet packet = guest_fence_write(++value);
		int64_t begin;

		longest = jobs(queue, 50, &mean);
		worst = longest > worst ? longest : worst;
		sum += mean;
		/* A user queue that has a use for its interrupts goes on as well. */
		begin = trn_deadline(0);
		guest_push(&mine, &packet);
		guest_fails(guest_wait(&mine, value, trn_deadline(30 * SECOND)), 0);
		longest = trn_deadline(0) - begin;
		worst = longest > worst ? longest : worst;
		done++;
	}
	after = interrupts();
	storm_end(&storm);
	ck_assert_uint_gt(done, 0);
	sum /= (int64_t)done;
	printf("storm: %llu fences with %llu interrupts, of them %llu for others; jobs %lld us, "
	       "%lld us before, worst %lld us\n",
	       (unsigned long long)storm.written, (unsigned long long)(after - before),
	       (unsigned long long)done * 51, (long long)sum / 1000, (long long)quiet / 1000,
	       (long long)worst / 1000);
	/* Jobs and waits may have one each. */
	ck_assert_uint_le(after - before, done * 51 + ROUNDS * RATE_MAX);
	ck_assert_int_lt(worst, SECOND);
	close(other);
}
END_TEST

/* It is polled. */
START_TEST(waits_of_its_own)
{
	struct storm storm;
	uint64_t value;
	int i;

	storm_begin(&storm, fd);
	for (i = 0; i < 20; i++) {
		usleep(50000);
		value = *storm.queue.fence + 100;
		guest_fails(guest_wait(&storm.queue, value, trn_deadline(30 * SECOND)), 0);
	}
	storm_end(&storm);
	/* Quiet again, and like any other. */
	sleep(2);
	for (i = 0; i < 100; i++) {
		struct trn_packet packet = guest_fence_write(++storm.written);

		guest_push(&storm.queue, &packet);
		guest_fails(guest_wait(&storm.queue, storm.written, trn_deadline(30 * SECOND)), 0);
	}
}
END_TEST

/* Its id has another owner soon, who is not masked. */
START_TEST(destroyed_while_masked)
{
	int i;

	for (i = 0; i < 5; i++) {
		int other = guest_open(0);
		struct guest_user_queue next;
		struct trn_packet packet = guest_fence_write(1);
		struct storm storm;
		int64_t begin;

		storm_begin(&storm, other);
		usleep(100000);
		storm_end(&storm);
		close(other);
		other = guest_open(0);
		next = guest_user_queue(other, guest_context(other));
		begin = trn_deadline(0);
		guest_push(&next, &packet);
		guest_fails(guest_wait(&next, 1, trn_deadline(30 * SECOND)), 0);
		ck_assert_int_lt(trn_deadline(0) - begin, SECOND);
		close(other);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("storm");
	TCase *cases = tcase_create("storm");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, others_go_on);
	tcase_add_test(cases, waits_of_its_own);
	tcase_add_test(cases, destroyed_while_masked);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
