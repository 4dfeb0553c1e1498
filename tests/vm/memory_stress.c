/* SPDX-License-Identifier: MIT */
/*
 * Threads allocate, free, bind and unbind at random; processes are killed on the way.
 * Afterwards all memory is there, in one piece, and fresh memory is zero whoever had it.
 *
 * OPERATIONS of all threads together: 4,000, 100,000 with TRN_LONG=1, or what
 * TRN_OPERATIONS says.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest_memory.h"

#define THREADS 8
/* Objects that a thread has at most. */
#define OBJECTS 24
#define SMALLEST (4 * KIB)
#define LARGEST	 (64 * MIB)
/* Host objects are smaller: all threads have some at once. */
#define LARGEST_HOST MIB
/* A thread's own part of the address space, with a place for each of its objects. */
#define PLACE	   (128 * MIB)
#define THREAD_VA(thread) (((uint64_t)(thread) + 1) << 40)

struct object {
	uint32_t handle;
	uint64_t size;
	bool bound;
};

struct thread {
	pthread_t id;
	int fd;
	uint32_t context;
	unsigned int number, operations;
	uint64_t state;
	struct object objects[OBJECTS];
	/* The first failure, if any: threads do not end the test themselves. */
	int error;
	const char *what;
};

static unsigned int operations(void)
{
	const char *wanted = getenv("TRN_OPERATIONS"), *large = getenv("TRN_LONG");

	if (wanted)
		return (unsigned int)strtoul(wanted, NULL, 10);
	return large && !strcmp(large, "1") ? 100000 : 4000;
}

static uint64_t next_random(struct thread *thread)
{
	thread->state ^= thread->state << 13;
	thread->state ^= thread->state >> 7;
	thread->state ^= thread->state << 17;
	return thread->state;
}

/* Sizes of all magnitudes alike, in pages. */
static uint64_t random_size(struct thread *thread, uint64_t largest)
{
	uint64_t size = SMALLEST;

	while (size < largest && next_random(thread) % 8)
		size *= 2;
	size -= next_random(thread) % size;
	return (size + 4095) & ~UINT64_C(4095);
}

static int note(struct thread *thread, const char *what, int error)
{
	thread->what = what;
	thread->error = error;
	return error;
}

static int make(struct thread *thread, struct object *object)
{
	uint32_t placement = next_random(thread) % 8 ? DRM_TRN_BO_HBM : DRM_TRN_BO_HOST;
	uint32_t stack = placement == DRM_TRN_BO_HBM ? DRM_TRN_STACK_ANY : 0, flags = 0;
	int error;

	object->size = random_size(thread, placement == DRM_TRN_BO_HBM ? LARGEST : LARGEST_HOST);
	if (placement == DRM_TRN_BO_HBM && object->size <= MIB && !(next_random(thread) % 4))
		flags = DRM_TRN_BO_CPU_VISIBLE;
	error = guest_create(thread->fd, placement, stack, object->size, flags, &object->handle);
	if (error) {
		object->handle = 0;
		/* The chip may be small. */
		return error == -ENOSPC ? 0 : note(thread, "create", error);
	}
	return 0;
}

static int toggle(struct thread *thread, struct object *object, uint64_t va)
{
	int error;

	if (object->bound)
		error = guest_unbind(thread->fd, thread->context, va, object->size);
	else
		error = guest_bind(thread->fd, thread->context, object->handle, va, object->size);
	object->bound = !object->bound;
	return error ? note(thread, object->bound ? "bind" : "unbind", error) : 0;
}

static void *work(void *argument)
{
	struct thread *thread = argument;
	unsigned int i;

	for (i = 0; i < thread->operations && !thread->error; i++) {
		unsigned int index = (unsigned int)(next_random(thread) % OBJECTS);
		struct object *object = &thread->objects[index];
		uint64_t va = THREAD_VA(thread->number) + index * PLACE;

		if (!object->handle) {
			make(thread, object);
		} else if (next_random(thread) % 3) {
			toggle(thread, object, va);
		} else {
			/* Bound ones too: the binding holds the memory until it goes. */
			int error = guest_close(thread->fd, object->handle);

			if (error)
				note(thread, "close", error);
			if (object->bound)
				toggle(thread, object, va);
			memset(object, 0, sizeof(*object));
		}
	}
	return NULL;
}

/* Threads with files of their own, and of one file, in turns. */
static void stress(unsigned int total)
{
	struct thread threads[THREADS] = { 0 };
	int shared = guest_open(0);
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		struct thread *thread = &threads[i];

		thread->fd = i % 2 ? shared : guest_open(0);
		thread->context = guest_context(thread->fd);
		thread->number = i;
		thread->operations = total / THREADS;
		thread->state = 0x9e3779b97f4a7c15 * (i + 1);
		ck_assert_int_eq(pthread_create(&thread->id, NULL, work, thread), 0);
	}
	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i].id, NULL), 0);
	for (i = 0; i < THREADS; i++)
		ck_assert_msg(!threads[i].error, "thread %u: %s: %d", i, threads[i].what,
			      threads[i].error);
	/* What they still have goes with the files. */
	for (i = 0; i < THREADS; i += 2)
		close(threads[i].fd);
	close(shared);
}

START_TEST(nothing_is_lost)
{
	struct drm_trn_query_memory before, after;
	int fd = guest_open(0);

	before = guest_memory(fd);
	stress(operations());
	after = guest_memory(fd);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	close(fd);
}
END_TEST

/* Objects of the sizes of both processes, so that memory changes hands. */
static const uint64_t sizes[] = { 4 * KIB, 12 * KIB, MIB, 2 * MIB + 4 * KIB, 8 * MIB };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint32_t hbm_of_size(int fd, size_t i)
{
	uint32_t handle;

	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, 0, sizes[i],
				 i % 2 ? DRM_TRN_BO_CPU_VISIBLE : 0, &handle),
		    0);
	return handle;
}

static void leave_patterns(void)
{
	int fd = guest_open(0);
	struct guest_mover mover = guest_mover(fd);
	size_t i;

	for (i = 0; i < SIZES; i++) {
		uint32_t handle = hbm_of_size(fd, i);

		guest_fill_object(&mover, handle, sizes[i], i + 1);
		handle = guest_bo(fd, DRM_TRN_BO_HOST, sizes[i]);
		guest_fill_object(&mover, handle, sizes[i], i + 1);
	}
}

static void find_zeroes(void)
{
	int fd = guest_open(0);
	struct guest_mover mover = guest_mover(fd);
	size_t i;

	for (i = 0; i < SIZES; i++) {
		uint32_t handle = hbm_of_size(fd, i);

		guest_check_zero(&mover, handle, sizes[i]);
		handle = guest_bo(fd, DRM_TRN_BO_HOST, sizes[i]);
		guest_check_zero(&mover, handle, sizes[i]);
	}
	guest_mover_end(&mover);
	close(fd);
}

/* One process leaves its data by being killed, the next gets the same memory. */
START_TEST(nothing_leaks)
{
	int round;

	for (round = 0; round < 4; round++) {
		int pipes[2], pid;
		char byte;

		ck_assert_int_eq(pipe(pipes), 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (!pid) {
			leave_patterns();
			if (write(pipes[1], "", 1) != 1)
				_exit(1);
			pause();
		}
		close(pipes[1]);
		ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		find_zeroes();
		close(pipes[0]);
	}
}
END_TEST

/* Processes are killed while they allocate: while the chip clears memory for them, mostly. */
START_TEST(killed_while_allocating)
{
	struct drm_trn_query_memory before, after;
	int fd = guest_open(0), round;

	before = guest_memory(fd);
	for (round = 0; round < 20; round++) {
		int pid = fork();

		ck_assert_int_ge(pid, 0);
		if (!pid) {
			int file = guest_open(0);
			uint32_t handle;

			for (;;) {
				guest_fails(guest_hbm(file, DRM_TRN_STACK_ANY, LARGEST, &handle), 0);
				guest_fails(guest_close(file, handle), 0);
			}
		}
		usleep((useconds_t)(10000 + round * 997));
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
	after = guest_memory(fd);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	close(fd);
	find_zeroes();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_stress");
	TCase *cases = tcase_create("memory_stress");

	tcase_set_timeout(cases, operations() > 10000 ? 7200 : 300);
	tcase_add_test(cases, nothing_is_lost);
	tcase_add_test(cases, nothing_leaks);
	tcase_add_test(cases, killed_while_allocating);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
