/* SPDX-License-Identifier: MIT */
/* What becomes of queues: waits, failures, and ends of every kind. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest.h"

#define KIB	  UINT64_C(1024)
#define MIB	  (KIB * 1024)
#define VA	  UINT64_C(0x10000000)
#define NOWHERE	  UINT64_C(0x400000000000)

#define FILL_VA	  UINT64_C(0x200000000)
#define FILL_SIZE (64 * MIB)
#define FILLS_MAX 32

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

static int64_t soon(void)
{
	return trn_deadline(30 * SECOND);
}

/* A queue that does nothing until release(): it waits for a fence that nobody writes. */
static struct guest_user_queue parked_queue(void)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	struct trn_packet wait = guest_fence_wait(1), done = guest_fence_write(2);

	guest_push(&queue, &wait);
	guest_push(&queue, &done);
	return queue;
}

static void release(struct guest_user_queue *queue)
{
	*queue->fence = 1;
}

static void destroy(uint32_t id)
{
	struct drm_trn_queue_destroy destroy = { .queue = id };

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy), 0);
}

/* ---- waits ----------------------------------------------------------- */

START_TEST(deadline)
{
	struct guest_user_queue queue = parked_queue();
	int64_t begin = trn_deadline(0);

	guest_fails(guest_wait(&queue, 2, 0), -ETIME);
	guest_fails(guest_wait(&queue, 2, begin), -ETIME);
	guest_fails(guest_wait(&queue, 2, begin + SECOND / 5), -ETIME);
	ck_assert_int_ge(trn_deadline(0), begin + SECOND / 5);
	release(&queue);
	guest_fails(guest_wait(&queue, 2, soon()), 0);
	ck_assert_uint_eq(*queue.fence, 2);
	/* Past already: no sleep, whatever the deadline. */
	guest_fails(guest_wait(&queue, 2, 0), 0);
	guest_fails(guest_wait(&queue, 1, 0), 0);
}
END_TEST

/*
 * A deadline that passes while a job runs, and one in time.  Fills grow until one is not done
 * at once.
 */
START_TEST(kernel_deadline)
{
	uint32_t queue = guest_kernel_queue(fd, context, 64), syncobj = guest_syncobj(fd), count;
	uint32_t hbm = guest_bo(fd, DRM_TRN_BO_HBM, FILL_SIZE);
	struct trn_packet fills[FILLS_MAX];
	int result = 0;

	guest_fails(guest_bind(fd, context, hbm, FILL_VA, FILL_SIZE), 0);
	for (count = 0; count < FILLS_MAX; count++)
		fills[count] = guest_fill(FILL_VA, FILL_SIZE, count, 3);
	for (count = 1; result != -ETIME; count *= 2) {
		ck_assert_uint_le(count, FILLS_MAX);
		guest_fails(guest_submit(fd, queue, fills, count, syncobj), 0);
		result = guest_job(fd, syncobj, 0);
		if (result != -ETIME)
			guest_fails(result, 0);
	}
	guest_fails(guest_job(fd, syncobj, 60), 0);
	guest_fails(guest_job(fd, syncobj, 0), 0);
}
END_TEST

struct waiter {
	struct guest_user_queue *queue;
	uint64_t value;
	int result;
};

static void *wait_in_thread(void *argument)
{
	struct waiter *waiter = argument;

	waiter->result = guest_wait(waiter->queue, waiter->value, soon());
	return NULL;
}

/* Several threads sleep on different values of one fence; each gets its own. */
START_TEST(several_waiters)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	struct waiter waiter[4];
	pthread_t thread[4];
	int i;

	for (i = 0; i < 4; i++) {
		waiter[i] = (struct waiter){ .queue = &queue, .value = (uint64_t)(4 - i) };
		ck_assert_int_eq(pthread_create(&thread[i], NULL, wait_in_thread, &waiter[i]), 0);
	}
	for (i = 1; i <= 4; i++) {
		struct trn_packet fence = guest_fence_write((uint64_t)i);

		guest_push(&queue, &fence);
	}
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
		guest_fails(waiter[i].result, 0);
	}
}
END_TEST

/* Submit and sleep, many times: a wake-up that is lost would wait for the deadline. */
START_TEST(wake_ups_arrive)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	uint64_t value;

	for (value = 1; value <= 500; value++) {
		struct trn_packet fence = guest_fence_write(value);

		guest_push(&queue, &fence);
		guest_fails(guest_wait(&queue, value, soon()), 0);
	}
}
END_TEST

/* Somebody who waits for ever can be killed, and nothing of his stays. */
START_TEST(wait_is_killable)
{
	uint64_t before = guest_free(fd);
	int status, pipes[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe(pipes), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		struct guest_user_queue queue;

		start();
		guest_bo(fd, DRM_TRN_BO_HBM, MIB);
		queue = parked_queue();
		ck_assert_int_eq(write(pipes[1], "", 1), 1);
		guest_wait(&queue, 2, TRN_FOREVER);
		_exit(1);
	}
	ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
	ck_assert_int_eq(waitpid(child, &status, WNOHANG), 0);
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_uint_eq(guest_free(fd), before);
}
END_TEST

/* ---- failures -------------------------------------------------------- */

/* A copy by a kernel queue of its own. */
static int try_job(uint64_t destination, uint64_t source, uint64_t length)
{
	uint32_t queue = guest_kernel_queue(fd, context, 4), syncobj = guest_syncobj(fd);
	struct trn_packet packet = guest_copy(destination, source, length);
	int error;

	guest_fails(guest_submit(fd, queue, &packet, 1, syncobj), 0);
	error = guest_job(fd, syncobj, 30);
	destroy(queue);
	return error;
}

START_TEST(bad_addresses)
{
	uint32_t hbm = guest_bo(fd, DRM_TRN_BO_HBM, MIB), host = guest_bo(fd, DRM_TRN_BO_HOST, MIB);
	struct drm_trn_bind_op op = {
		.op = DRM_TRN_BIND_MAP,
		.flags = DRM_TRN_BIND_READONLY,
		.handle = host,
		.va = VA + 2 * MIB,
		.size = MIB,
	};
	struct drm_trn_vm_bind bind = {
		.context = context,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};

	guest_fails(guest_bind(fd, context, hbm, VA, MIB), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), 0);

	guest_fails(try_job(VA, VA + MIB / 2, 4096), 0);
	guest_fails(try_job(NOWHERE, VA, 8), -EFAULT);
	guest_fails(try_job(VA, NOWHERE, 8), -EFAULT);
	guest_fails(try_job(VA, 0, 8), -EFAULT);
	/* Starts well and runs off the end. */
	guest_fails(try_job(VA + MIB - 4096, VA, 8192), -EFAULT);
	guest_fails(try_job(VA, VA + MIB - 4096, 8192), -EFAULT);
	/* Beyond the address space, and round its end. */
	guest_fails(try_job(UINT64_C(1) << 48, VA, 8), -EFAULT);
	guest_fails(try_job(VA, UINT64_MAX - 7, 8), -EFAULT);
	/* Read-only is readable. */
	guest_fails(try_job(VA, VA + 2 * MIB, 4096), 0);
	guest_fails(try_job(VA + 2 * MIB, VA, 4096), -EFAULT);
	/* What was unbound is gone at once. */
	guest_fails(guest_unbind(fd, context, VA + 2 * MIB, MIB), 0);
	guest_fails(try_job(VA, VA + 2 * MIB, 4096), -EFAULT);
	guest_fails(try_job(VA, VA + MIB / 2, 4096), 0);
}
END_TEST

/* One queue stops; one of the same context and one of another process's go on. */
START_TEST(failure_stays_alone)
{
	uint32_t bad = guest_kernel_queue(fd, context, 8),
		 good = guest_kernel_queue(fd, context, 8);
	uint32_t hbm = guest_bo(fd, DRM_TRN_BO_HBM, MIB), syncobj[3], i;
	struct trn_packet fault = guest_copy(NOWHERE, VA, 8),
			  copy = guest_copy(VA, VA + 4096, 4096);
	int other = guest_open(0);
	uint32_t other_queue = guest_kernel_queue(other, guest_context(other), 8);
	uint32_t other_syncobj = guest_syncobj(other);
	struct trn_packet nop = { 0 };

	guest_fails(guest_bind(fd, context, hbm, VA, MIB), 0);
	for (i = 0; i < 3; i++)
		syncobj[i] = guest_syncobj(fd);
	guest_fails(guest_submit(fd, bad, &fault, 1, syncobj[0]), 0);
	guest_fails(guest_job(fd, syncobj[0], 30), -EFAULT);
	/* The queue is no good any more. */
	guest_fails(guest_submit(fd, bad, &copy, 1, syncobj[1]), -EIO);
	for (i = 0; i < 10; i++) {
		guest_fails(guest_submit(fd, good, &copy, 1, syncobj[2]), 0);
		guest_fails(guest_job(fd, syncobj[2], 30), 0);
		guest_fails(guest_submit(other, other_queue, &nop, 1, other_syncobj), 0);
		guest_fails(guest_job(other, other_syncobj, 30), 0);
	}
	destroy(bad);
	close(other);
}
END_TEST

/* Jobs behind the one that failed end too, with an error, and soon. */
START_TEST(jobs_behind_a_failure)
{
	uint32_t queue = guest_kernel_queue(fd, context, 64), syncobj[8], i;
	struct trn_packet fault = guest_copy(NOWHERE, NOWHERE, 8), nop = { 0 };
	int error, submitted = 0;

	for (i = 0; i < 8; i++)
		syncobj[i] = guest_syncobj(fd);
	guest_fails(guest_submit(fd, queue, &fault, 1, syncobj[0]), 0);
	for (i = 1; i < 8; i++) {
		error = guest_submit(fd, queue, &nop, 1, syncobj[i]);
		if (error) {
			guest_fails(error, -EIO);
			break;
		}
		submitted++;
	}
	guest_fails(guest_job(fd, syncobj[0], 30), -EFAULT);
	while (submitted) {
		error = guest_job(fd, syncobj[submitted--], 30);
		ck_assert_msg(error < 0 && error != -ETIME, "a job behind: %d", error);
	}
}
END_TEST

/* Waits for a user queue to be seen stopped, by ioctl and by the control page. */
static void expect_stopped(struct guest_user_queue *queue)
{
	struct drm_trn_wait wait = {
		.queue = queue->id,
		.va = GUEST_FENCE_VA,
		.value = 1000,
		.deadline_ns = soon(),
	};

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_WAIT, &wait), -EIO);
	ck_assert_uint_eq(queue->control->status, TRN_CONTROL_STOPPED);
	destroy(queue->id);
}

START_TEST(user_queue_bad_packets)
{
	const struct trn_packet bad[] = {
		guest_copy(NOWHERE, GUEST_RING_VA, 8),
		guest_copy(GUEST_RING_VA, GUEST_RING_VA, 0),
		guest_fill(GUEST_FENCE_VA + 4, 8, 0, 3),
		{ .opcode = 0x77 },
		{ .opcode = TRN_PACKET_NOP, .body = { [55] = 1 } },
		{ .opcode = TRN_PACKET_FENCE_WRITE, .fence = { .address = GUEST_FENCE_VA + 4 } },
		{ .opcode = TRN_PACKET_FENCE_WRITE, .fence = { .address = NOWHERE } },
		{ .opcode = TRN_PACKET_FENCE_WAIT, .fence = { .address = NOWHERE, .value = 1 } },
	};
	struct guest_user_queue queue;
	struct trn_packet fence = guest_fence_write(1);
	uint32_t generation;

	queue = guest_user_queue(fd, context);
	ck_assert_uint_eq(queue.control->status, TRN_CONTROL_RUNNING);
	generation = queue.control->generation;
	guest_push(&queue, &fence);
	guest_push(&queue, &bad[_i]);
	expect_stopped(&queue);
	ck_assert_uint_ne(queue.control->generation, generation);
	/* What came before has been done. */
	ck_assert_uint_eq(*queue.fence, 1);
}
END_TEST

START_TEST(user_queue_bad_tail)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);

	__atomic_store_n(&queue.control->tail, GUEST_RING_ENTRIES + 1, __ATOMIC_SEQ_CST);
	*queue.doorbell = 1;
	expect_stopped(&queue);
}
END_TEST

START_TEST(user_queue_without_ring)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	uint64_t size = GUEST_FENCE_VA - GUEST_RING_VA + 4096;
	struct trn_packet fence = guest_fence_write(1);

	guest_fails(guest_unbind(fd, context, GUEST_RING_VA, size), 0);
	guest_push(&queue, &fence);
	/* The fence is not bound either, so that the page tells. */
	for (;;) {
		if (queue.control->status == TRN_CONTROL_STOPPED)
			break;
		usleep(1000);
	}
	destroy(queue.id);
}
END_TEST

/* Nonsense in the parts of the control page that are not the process's to write. */
START_TEST(control_page_scribbled_on)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	int other = guest_open(0);
	uint32_t kernel = guest_kernel_queue(other, guest_context(other), 4);
	uint32_t syncobj = guest_syncobj(other);
	struct trn_packet nop = { 0 };

	memset(queue.control, 0xff, sizeof(*queue.control));
	*queue.doorbell = 1;
	guest_fails(guest_submit(other, kernel, &nop, 1, syncobj), 0);
	guest_fails(guest_job(other, syncobj, 30), 0);
	destroy(queue.id);
	close(other);
}
END_TEST

/* Overwrites a word of a control page, again and again. */
struct vandal {
	volatile uint32_t *word;
	uint32_t value;
	volatile bool stop;
};

static void *overwrite(void *argument)
{
	struct vandal *vandal = argument;

	while (!vandal->stop)
		*vandal->word = vandal->value;
	return NULL;
}

/*
 * Who writes what is not his to write harms himself at most: his queue may stop, or he may be
 * woken late.  The driver's view of the queue is not what the page says.
 */
START_TEST(control_page_misused)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	volatile uint32_t *words[] = {
		&queue.control->tail,
		&queue.control->head,
		&queue.control->need_kick,
		(uint32_t *)&queue.control->wake_at,
		(uint32_t *)&queue.control->wake_at + 1,
		&queue.control->status,
		&queue.control->generation,
	};
	struct vandal vandal = {
		.word = words[_i / 2],
		.value = _i % 2 ? 0xffffffff : 0,
	};
	struct trn_packet fence = guest_fence_write(1), nop = { 0 };
	int other = guest_open(0), error;
	uint32_t kernel = guest_kernel_queue(other, guest_context(other), 4);
	uint32_t syncobj = guest_syncobj(other);
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, overwrite, &vandal), 0);
	guest_push(&queue, &fence);
	if (vandal.word == &queue.control->tail) {
		/* The chip may not have seen the packet. */
		error = guest_wait(&queue, 1, trn_deadline(2 * SECOND));
		ck_assert_msg(error == 0 || error == -EIO || error == -ETIME, "%d", error);
	} else {
		guest_fails(guest_wait(&queue, 1, soon()), 0);
	}
	guest_fails(guest_submit(other, kernel, &nop, 1, syncobj), 0);
	guest_fails(guest_job(other, syncobj, 30), 0);
	vandal.stop = true;
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	destroy(queue.id);
	if (vandal.word == &queue.control->status)
		ck_assert_uint_eq(queue.control->status, TRN_CONTROL_DESTROYED);
	close(other);
}
END_TEST

/* ---- ends ------------------------------------------------------------ */

START_TEST(pages_after_destroy)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	struct trn_packet fence = guest_fence_write(1);
	int i;

	guest_push(&queue, &fence);
	guest_fails(guest_wait(&queue, 1, soon()), 0);
	destroy(queue.id);
	guest_fails(guest_wait(&queue, 2, soon()), -ENOENT);
	/* No signal; what is written goes nowhere. */
	for (i = 0; i < 100; i++) {
		fence = guest_fence_write((uint64_t)i + 10);
		guest_push(&queue, &fence);
	}
	ck_assert_uint_eq(*queue.fence, 1);
}
END_TEST

START_TEST(pages_after_context)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	struct drm_trn_context_destroy gone = { .context = context };
	struct trn_packet fence = guest_fence_write(1);

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &gone), 0);
	guest_push(&queue, &fence);
	ck_assert_uint_eq(*queue.fence, 0);
	/* Also after the file. */
	close(fd);
	guest_push(&queue, &fence);
	ck_assert_uint_eq(*queue.fence, 0);
	start();
}
END_TEST

START_TEST(waiter_learns_of_destroy)
{
	struct guest_user_queue queue = parked_queue();
	struct waiter waiter = { .queue = &queue, .value = 2 };
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, wait_in_thread, &waiter), 0);
	usleep(50000); /* asleep or not yet: it must learn of it both ways */
	destroy(queue.id);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_msg(waiter.result == -ECANCELED || waiter.result == -ENOENT, "%d", waiter.result);
}
END_TEST

/* A long row of copies is under way when its owner goes. */
static void leave_jobs_running(void)
{
	uint32_t queue = guest_kernel_queue(fd, context, 64), hbm, syncobj = guest_syncobj(fd), i;
	struct trn_packet copies[16];

	hbm = guest_bo(fd, DRM_TRN_BO_HBM, 32 * MIB);
	guest_fails(guest_bind(fd, context, hbm, VA, 32 * MIB), 0);
	for (i = 0; i < 16; i++)
		copies[i] = guest_copy(VA, VA + 16 * MIB, 16 * MIB);
	for (i = 0; i < 3; i++)
		guest_fails(guest_submit(fd, queue, copies, 16, syncobj), 0);
}

/* The chip works and has all its memory, within a bounded time. */
static void expect_all_free(uint64_t before)
{
	int64_t end = soon();

	while (guest_free(fd) != before && trn_deadline(0) < end)
		usleep(10000);
	ck_assert_uint_eq(guest_free(fd), before);
	context = guest_context(fd);
	guest_fails(guest_bind(fd, context, guest_bo(fd, DRM_TRN_BO_HBM, MIB), VA, MIB), 0);
	guest_fails(try_job(VA, VA + 4096, 4096), 0);
}

START_TEST(close_with_jobs_running)
{
	uint64_t before = guest_free(fd);

	leave_jobs_running();
	close(fd);
	fd = guest_open(0);
	expect_all_free(before);
}
END_TEST

START_TEST(killed_with_jobs_running)
{
	uint64_t before = guest_free(fd);
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		start();
		leave_jobs_running();
		parked_queue();
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	expect_all_free(before);
}
END_TEST

START_TEST(destroy_with_jobs_running)
{
	uint32_t queue = guest_kernel_queue(fd, context, 64), hbm, first, last, i;
	struct trn_packet copies[16];

	first = guest_syncobj(fd);
	last = guest_syncobj(fd);
	hbm = guest_bo(fd, DRM_TRN_BO_HBM, 32 * MIB);
	guest_fails(guest_bind(fd, context, hbm, VA, 32 * MIB), 0);
	for (i = 0; i < 16; i++)
		copies[i] = guest_copy(VA, VA + 16 * MIB, 16 * MIB);
	guest_fails(guest_submit(fd, queue, copies, 16, first), 0);
	guest_fails(guest_submit(fd, queue, copies, 16, first), 0);
	guest_fails(guest_submit(fd, queue, copies, 16, last), 0);
	destroy(queue);
	/* 768 MiB are not copied that fast. */
	guest_fails(guest_job(fd, last, 10), -ECANCELED);
}
END_TEST

/* ---- fork ------------------------------------------------------------ */

static int in_child(struct guest_user_queue *queue)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (!child) {
		*queue->doorbell = queue->control->tail;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

START_TEST(pages_are_not_inherited)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	struct trn_packet fence = guest_fence_write(1);
	int status = in_child(&queue);

	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
	guest_push(&queue, &fence);
	guest_fails(guest_wait(&queue, 1, soon()), 0);
}
END_TEST

/* libtrn refuses in the child, at once and without a signal. */
START_TEST(library_after_fork)
{
	struct trn_device *device;
	struct trn_context *mine;
	struct trn_buffer *buffer;
	struct trn_queue *queue;
	uint64_t sequence;
	int status, mode;
	pid_t child;

	guest_ok(trn_device_open(0, &device));
	guest_ok(trn_context_create(device, &mine));
	guest_ok(trn_buffer_create(mine, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 4096, 0, &buffer));
	for (mode = 0; mode < 2; mode++) {
		guest_ok(trn_queue_create(mine, mode, 16, &queue));
		trn_packet_nop(trn_queue_packet(queue));
		guest_ok(trn_queue_submit(queue, &sequence));
		child = fork();
		ck_assert_int_ge(child, 0);
		if (!child) {
			uint8_t byte = 0;

			alarm(30);
			_exit(trn_queue_packet(queue) || trn_queue_submit(queue, NULL) != -EPERM ||
			      trn_queue_wait(queue, sequence, TRN_FOREVER) != -EPERM ||
			      trn_read(queue, &byte, buffer, 0, 1) != -EPERM ||
			      trn_queue_destroy(queue) != -EPERM);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%x",
			      (unsigned int)status);
		guest_ok(trn_queue_wait(queue, sequence, soon()));
		guest_ok(trn_queue_destroy(queue));
	}
	guest_ok(trn_buffer_destroy(buffer));
	guest_ok(trn_context_destroy(mine));
	guest_ok(trn_device_close(device));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("queue");
	TCase *cases = tcase_create("queue");

	tcase_set_timeout(cases, 180);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, deadline);
	tcase_add_test(cases, kernel_deadline);
	tcase_add_test(cases, several_waiters);
	tcase_add_test(cases, wake_ups_arrive);
	tcase_add_test(cases, wait_is_killable);
	tcase_add_test(cases, bad_addresses);
	tcase_add_test(cases, failure_stays_alone);
	tcase_add_test(cases, jobs_behind_a_failure);
	tcase_add_loop_test(cases, user_queue_bad_packets, 0, 8);
	tcase_add_test(cases, user_queue_bad_tail);
	tcase_add_test(cases, user_queue_without_ring);
	tcase_add_test(cases, control_page_scribbled_on);
	tcase_add_loop_test(cases, control_page_misused, 0, 14);
	tcase_add_test(cases, pages_after_destroy);
	tcase_add_test(cases, pages_after_context);
	tcase_add_test(cases, waiter_learns_of_destroy);
	tcase_add_test(cases, close_with_jobs_running);
	tcase_add_test(cases, killed_with_jobs_running);
	tcase_add_test(cases, destroy_with_jobs_running);
	tcase_add_test(cases, pages_are_not_inherited);
	tcase_add_test(cases, library_after_fork);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
