/* SPDX-License-Identifier: MIT */
/*
 * User queues that never stop: endless NOPs, endless waits for fences, endless packets, garbage in
 * the ring.  A kernel job of another context is late by the time limit of one packet at most.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "worker.h"

#define LIMIT_MS 1000 /* of a packet of the hogs */
#define HOGS	 8
#define JOBS	 40
#define ENTRIES	 64

static int hog_fd, fd;
static uint32_t hog_context;
static struct worker hog[HOGS], victim;
static pthread_t thread;
static bool stop; /* atomic */

/* The ring is always full of NOPs. */
static void feed_nops(struct worker *worker)
{
	uint32_t head = __atomic_load_n(&worker->control->head, __ATOMIC_ACQUIRE);

	__atomic_store_n(&worker->control->tail, head + ENTRIES, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&worker->control->need_kick, __ATOMIC_SEQ_CST))
		*worker->doorbell = 1;
}

static void renew_if_stopped(struct worker *worker)
{
	if (worker->control->status == TRN_CONTROL_RUNNING)
		return;
	worker_destroy_queue(worker);
	worker_renew(worker, LIMIT_MS);
}

/* One packet after the other that runs until its limit; then another queue. */
static void feed_endless(struct worker *worker)
{
	const struct trn_packet packet = worker_long_packet(worker, WORKER_ENDLESS);

	renew_if_stopped(worker);
	if (!worker->value)
		worker_submit(worker, &packet, 1);
}

/* Anything, in ring and control page; then another queue. */
static void feed_garbage(struct worker *worker)
{
	renew_if_stopped(worker);
	guest_pattern(worker->memory, ENTRIES * sizeof(struct trn_packet), ++worker->seed);
	__atomic_store_n(&worker->control->tail, (uint32_t)rand(), __ATOMIC_SEQ_CST);
	*worker->doorbell = 1;
}

/* Parked behind a fence that is written by nobody, over and over. */
static void feed_waits(struct worker *worker)
{
	const struct trn_packet packet = {
		.opcode = TRN_PACKET_FENCE_WAIT,
		.fence = { .address = worker->va + WORKER_FENCE, .value = UINT64_MAX },
	};

	if (!worker->value)
		worker_submit(worker, &packet, 1);
	*worker->doorbell = 1;
}

static void (*const feeds[])(struct worker *worker) = {
	feed_nops,
	feed_waits,
	feed_endless,
	feed_garbage,
};
static const char *const names[] = { "endless NOPs", "endless waits", "endless packets", "garbage",
				     "all of them" };
#define KINDS 4

static void *feed(void *argument)
{
	int kind = *(const int *)argument, i;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		for (i = 0; i < HOGS; i++)
			feeds[kind == KINDS ? i % KINDS : kind](&hog[i]);
	return NULL;
}

static int64_t longest_job(void)
{
	int64_t longest = 0;
	int i;

	for (i = 0; i < JOBS; i++) {
		int64_t began = trn_deadline(0), took;

		guest_fails(worker_copy(&victim, trn_deadline(60 * SECOND)), 0);
		took = trn_deadline(0) - began;
		longest = took > longest ? took : longest;
	}
	return longest;
}

START_TEST(others_get_their_turn)
{
	int kind = _i, i;
	int64_t alone, longest;

	hog_fd = guest_open(0);
	hog_context = guest_context(hog_fd);
	fd = guest_open(0);
	worker_make(&victim, fd, guest_context(fd), 0, false, 0);
	alone = longest_job();
	for (i = 0; i < HOGS; i++) {
		worker_make(&hog[i], hog_fd, hog_context, (unsigned int)i, true, LIMIT_MS);
		/* NOPs all over. */
		memset(hog[i].memory, 0, ENTRIES * sizeof(struct trn_packet));
	}
	ck_assert_int_eq(pthread_create(&thread, NULL, feed, &kind), 0);
	usleep(100000);
	longest = longest_job();
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	printf("%s in %d user queues: the longest of %d kernel jobs took %lld us, alone %lld us\n",
	       names[kind], HOGS, JOBS, (long long)longest / 1000, (long long)alone / 1000);
	ck_assert_msg(longest <= alone + LIMIT_MS * MS, "it took %lld ms",
		      (long long)(longest / MS));
	close(hog_fd);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("never_stops");
	TCase *cases = tcase_create("never_stops");

	tcase_set_timeout(cases, 240);
	tcase_add_loop_test(cases, others_get_their_turn, 0, KINDS + 1);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
