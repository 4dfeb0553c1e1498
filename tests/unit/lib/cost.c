/* SPDX-License-Identifier: MIT */
/*
 * What a submit to a user queue costs its caller: instructions, counted by stepping through
 * them in another process, and system calls.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>
#include <trn/trn.h>

#include "fake.h"
#include "fake_queue.h"

#define BATCH		 32
#define BATCHES		 16

/* The bound for what a packet costs, with its part of the submit. */
#define INSTRUCTIONS_MAX 40

#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) &&              \
	!defined(__SANITIZE_THREAD__)

/* The counted part is between these: a stop that has no instructions of its own, and another. */
#define BEGIN() __asm__ volatile("int3" ::: "memory")
#define END()	__asm__ volatile("ud2" ::: "memory")

static void submit_batches(bool copies)
{
	uint64_t sequence;
	int i, j;

	for (i = 0; i < BATCHES; i++) {
		for (j = 0; j < BATCH; j++) {
			struct trn_packet *packet = trn_queue_packet(queue);

			if (copies)
				trn_packet_copy(packet, 1 << 21, 1 << 22, 64);
			else
				trn_packet_nop(packet);
		}
		trn_queue_submit(queue, &sequence);
	}
}

static void child(bool copies)
{
	start(TRN_QUEUE_USER, 4096);
	fake_hold(true);
	/* What a process does once only: pages, and names of functions. */
	submit_batches(copies);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	BEGIN();
	submit_batches(copies);
	END();
}

static bool is_system_call(pid_t pid)
{
	struct user_regs_struct registers;
	long word;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &registers), 0);
	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, (void *)registers.rip, NULL);
	ck_assert_int_eq(errno, 0);
	return (word & 0xffff) == 0x050f;
}

static int wait_stop(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSTOPPED(status), "the counted process has ended: %x",
		      (unsigned int)status);
	return WSTOPSIG(status);
}

START_TEST(few_instructions)
{
	long instructions = 0, system_calls = 0;
	double each;
	int signal;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		child(_i);
		_exit(1);
	}
	ck_assert_int_eq(wait_stop(pid), SIGTRAP);
	for (;;) {
		system_calls += is_system_call(pid);
		ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		signal = wait_stop(pid);
		if (signal == SIGILL)
			break;
		ck_assert_int_eq(signal, SIGTRAP);
		instructions++;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	each = (double)instructions / (BATCH * BATCHES);
	printf("submit of %s to a user queue, %d at once: %.1f instructions each\n",
	       _i ? "copies" : "NOPs", BATCH, each);
	ck_assert_int_eq(system_calls, 0);
	ck_assert_msg(each <= INSTRUCTIONS_MAX, "%.1f instructions for a packet", each);
}
END_TEST

#else

START_TEST(few_instructions)
{
	fprintf(stderr, "lib-cost: skipped, for optimized x86-64 without sanitizers\n");
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("lib-cost");
	TCase *cases = tcase_create("cost");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, few_instructions, 0, 2);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
