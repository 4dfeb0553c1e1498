/* SPDX-License-Identifier: MIT */
/* Eventfds that tell when a user queue's fence is reached, or will not be. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest.h"

#define NOWHERE UINT64_C(0x400000000000)
/* ms, for what comes within µs */
#define SOON	30000

static int fd;
static uint32_t context;
static struct guest_user_queue queue;

static void start(void)
{
	fd = guest_open(0);
	context = guest_context(fd);
	queue = guest_user_queue(fd, context);
}

static void stop(void)
{
	close(fd);
}

static int make_eventfd(void)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ck_assert_int_ge(event, 0);
	return event;
}

static int arm(int event, uint64_t value)
{
	struct drm_trn_queue_eventfd arm = {
		.queue = queue.id,
		.fd = event,
		.va = GUEST_FENCE_VA,
		.value = value,
	};

	return guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_EVENTFD, &arm);
}

static void fence_write(uint64_t value)
{
	struct trn_packet packet = guest_fence_write(value);

	guest_push(&queue, &packet);
}

/* Waits for the eventfd and returns what has been added to it. */
static uint64_t events(int event)
{
	struct pollfd ready = { .fd = event, .events = POLLIN };
	uint64_t count;

	ck_assert_int_eq(poll(&ready, 1, SOON), 1);
	ck_assert_int_eq(read(event, &count, sizeof(count)), sizeof(count));
	return count;
}

static void no_event(int event)
{
	uint64_t count;

	ck_assert_int_eq(read(event, &count, sizeof(count)), -1);
	ck_assert_int_eq(errno, EAGAIN);
}

static void destroy(void)
{
	struct drm_trn_queue_destroy destroy = { .queue = queue.id };

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy), 0);
}

START_TEST(once)
{
	int event = make_eventfd();

	guest_fails(arm(event, 2), 0);
	fence_write(1);
	guest_fails(guest_wait(&queue, 1, trn_deadline(30 * SECOND)), 0);
	no_event(event);
	fence_write(2);
	ck_assert_uint_eq(events(event), 1);
	fence_write(3);
	guest_fails(guest_wait(&queue, 3, trn_deadline(30 * SECOND)), 0);
	no_event(event);
	/* Reached already. */
	guest_fails(arm(event, 3), 0);
	guest_fails(arm(event, 1), 0);
	ck_assert_uint_eq(events(event), 2);
}
END_TEST

/* Each for its own value, whatever the order; a value may be passed without being seen. */
START_TEST(several_values)
{
	const uint64_t values[] = { 30, 10, 20, 10 };
	int event[4], i;

	for (i = 0; i < 4; i++) {
		event[i] = make_eventfd();
		guest_fails(arm(event[i], values[i]), 0);
	}
	fence_write(15);
	ck_assert_uint_eq(events(event[1]), 1);
	ck_assert_uint_eq(events(event[3]), 1);
	no_event(event[0]);
	no_event(event[2]);
	/* All on one. */
	guest_fails(arm(event[0], 20), 0);
	guest_fails(arm(event[0], 25), 0);
	fence_write(40);
	ck_assert_uint_eq(events(event[2]), 1);
	guest_fails(guest_wait(&queue, 40, trn_deadline(30 * SECOND)), 0);
	ck_assert_uint_eq(events(event[0]), 3);
}
END_TEST

/* A wake-up that is lost would come much later. */
START_TEST(wake_ups_arrive)
{
	int event = make_eventfd();
	uint64_t value;

	for (value = 1; value <= 300; value++) {
		if (value % 2)
			guest_fails(arm(event, value), 0);
		fence_write(value);
		if (value % 2 == 0)
			guest_fails(arm(event, value), 0);
		ck_assert_uint_eq(events(event), 1);
	}
}
END_TEST

static void *wait_in_thread(void *value)
{
	return (void *)(intptr_t)guest_wait(&queue, (uint64_t)(uintptr_t)value,
					    trn_deadline(30 * SECOND));
}

/* Sleepers and eventfds share one wake_at. */
START_TEST(beside_waits)
{
	pthread_t thread[2];
	int event[2] = { make_eventfd(), make_eventfd() }, i;
	void *result;

	for (i = 0; i < 2; i++) {
		guest_fails(arm(event[i], 2 + 2 * (uint64_t)i), 0);
		ck_assert_int_eq(pthread_create(&thread[i], NULL, wait_in_thread,
						(void *)(uintptr_t)(1 + 2 * i)),
				 0);
	}
	for (i = 0; i < 2; i++) {
		fence_write(1 + 2 * (uint64_t)i);
		ck_assert_int_eq(pthread_join(thread[i], &result), 0);
		ck_assert_ptr_null(result);
		no_event(event[i]);
		fence_write(2 + 2 * (uint64_t)i);
		ck_assert_uint_eq(events(event[i]), 1);
	}
}
END_TEST

START_TEST(queue_stops)
{
	struct trn_packet bad = guest_copy(NOWHERE, GUEST_RING_VA, 8);
	int event = make_eventfd();

	guest_fails(arm(event, 1), 0);
	guest_push(&queue, &bad);
	ck_assert_uint_eq(events(event), 1);
	ck_assert_uint_eq(queue.control->status, TRN_CONTROL_STOPPED);
	guest_fails(arm(event, 1), -EIO);
	no_event(event);
}
END_TEST

START_TEST(queue_is_destroyed)
{
	int event = make_eventfd();

	guest_fails(arm(event, 1), 0);
	destroy();
	ck_assert_uint_eq(events(event), 1);
	ck_assert_uint_eq(queue.control->status, TRN_CONTROL_DESTROYED);
	guest_fails(arm(event, 1), -ENOENT);
}
END_TEST

START_TEST(file_is_closed)
{
	int event = make_eventfd(), i;

	for (i = 0; i < 10; i++)
		guest_fails(arm(event, 1), 0);
	/* Mappings would keep it. */
	munmap(queue.control, 4096);
	munmap((void *)queue.doorbell, 4096);
	munmap(queue.ring, 4096 + GUEST_FENCE_VA - GUEST_RING_VA);
	close(fd);
	ck_assert_uint_eq(events(event), 10);
	fd = guest_open(0);
}
END_TEST

/* The eventfd, too, may be closed first. */
START_TEST(eventfd_is_closed)
{
	int event = make_eventfd();

	guest_fails(arm(event, 1), 0);
	close(event);
	fence_write(1);
	guest_fails(guest_wait(&queue, 1, trn_deadline(30 * SECOND)), 0);
}
END_TEST

/* What the word is in may be unbound and closed. */
START_TEST(memory_goes)
{
	struct drm_gem_close gone = { .handle = queue.memory };
	uint64_t size = GUEST_FENCE_VA - GUEST_RING_VA + 4096;
	int event = make_eventfd();

	guest_fails(arm(event, 1), 0);
	guest_fails(guest_unbind(fd, context, GUEST_RING_VA, size), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gone), 0);
	*queue.doorbell = 1;
	no_event(event);
	munmap(queue.ring, size);
	destroy();
	ck_assert_uint_eq(events(event), 1);
}
END_TEST

START_TEST(limit)
{
	int event = make_eventfd(), i;
	uint64_t fired;

	for (i = 0; i < DRM_TRN_EVENTFDS_MAX; i++)
		guest_fails(arm(event, 1 + (uint64_t)i), 0);
	guest_fails(arm(event, 1), -ENOSPC);
	fence_write(1);
	ck_assert_uint_eq(events(event), 1);
	guest_fails(arm(event, 1000), 0);
	guest_fails(arm(event, 1001), -ENOSPC);
	/* One that is reached needs no room. */
	guest_fails(arm(event, 1), 0);
	ck_assert_uint_eq(events(event), 1);
	fence_write(DRM_TRN_EVENTFDS_MAX);
	guest_fails(guest_wait(&queue, DRM_TRN_EVENTFDS_MAX, trn_deadline(30 * SECOND)), 0);
	/* The driver may be at it still. */
	for (fired = 0; fired < DRM_TRN_EVENTFDS_MAX - 1;)
		fired += events(event);
	ck_assert_uint_eq(fired, DRM_TRN_EVENTFDS_MAX - 1);
	no_event(event);
}
END_TEST

START_TEST(arguments)
{
	struct drm_trn_queue_eventfd good = {
		.queue = queue.id,
		.fd = make_eventfd(),
		.va = GUEST_FENCE_VA,
		.value = 1,
	};
	uint32_t hbm = guest_bo(fd, DRM_TRN_BO_HBM, 4096);

#define SPOILED(member, wrong, error)                                                              \
	do {                                                                                       \
		struct drm_trn_queue_eventfd spoiled = good;                                       \
                                                                                                   \
		spoiled.member = wrong;                                                            \
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_EVENTFD, &spoiled), error);        \
	} while (0)

	guest_fails(guest_bind(fd, context, hbm, 0x10000000, 4096), 0);
	SPOILED(queue, 0, -ENOENT);
	SPOILED(queue, 0x7fffffff, -ENOENT);
	SPOILED(queue, guest_kernel_queue(fd, context, 4), -EINVAL);
	SPOILED(fd, -1, -EBADF);
	SPOILED(fd, fd, -EINVAL);
	SPOILED(va, GUEST_FENCE_VA + 4, -EINVAL);
	SPOILED(va, NOWHERE, -ENOENT);
	SPOILED(va, 0x10000000, -EINVAL);
	SPOILED(value, 0, -EINVAL);
	SPOILED(flags, 1, -EINVAL);
	SPOILED(pad, 1, -EINVAL);
	no_event(good.fd);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_EVENTFD, &good), 0);
#undef SPOILED
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("eventfd");
	TCase *cases = tcase_create("eventfd");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, once);
	tcase_add_test(cases, several_values);
	tcase_add_test(cases, wake_ups_arrive);
	tcase_add_test(cases, beside_waits);
	tcase_add_test(cases, queue_stops);
	tcase_add_test(cases, queue_is_destroyed);
	tcase_add_test(cases, file_is_closed);
	tcase_add_test(cases, eventfd_is_closed);
	tcase_add_test(cases, memory_goes);
	tcase_add_test(cases, limit);
	tcase_add_test(cases, arguments);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
