/* SPDX-License-Identifier: MIT */
/* What a queue may ask for, and how many queues and contexts a user may have. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest.h"

#define USER	   65534
#define OTHER_USER 65533
/* Large enough for rounding to matter, small enough to get there soon. */
#define PERCENT	   "3"

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

static int try_queue(int file, struct drm_trn_queue_create create)
{
	create.type = TRN_QUEUE_TYPE_DMA;
	create.ring_entries = 4;
	return guest_ioctl(file, DRM_IOCTL_TRN_QUEUE_CREATE, &create);
}

static uint32_t parameter(const char *name)
{
	char path[80];
	unsigned int value;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/trn/parameters/%s", name);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%u", &value), 1);
	fclose(file);
	return value;
}

static void set_parameter(const char *name, const char *value)
{
	char path[80];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/trn/parameters/%s", name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(value, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

/* Runs @function as @user, who has no capabilities, and returns its result, 0 ... 255. */
static int as_user(uid_t user, int (*function)(void))
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (!child) {
		if (setgid(user) || setuid(user))
			_exit(255);
		_exit(function());
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- priority and time-out --------------------------------------------- */

START_TEST(priorities)
{
	struct drm_trn_queue_create create = { .context = context };
	struct trn_packet nop = { 0 };
	uint32_t syncobj = guest_syncobj(fd);

	for (create.priority = 0; create.priority <= DRM_TRN_PRIORITY_HIGH; create.priority++) {
		create.type = TRN_QUEUE_TYPE_DMA;
		create.ring_entries = 4;
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), 0);
		guest_fails(guest_submit(fd, create.queue, &nop, 1, syncobj), 0);
		guest_fails(guest_job(fd, syncobj, 30), 0);
	}
	create.priority = DRM_TRN_PRIORITY_HIGH + 1;
	guest_fails(try_queue(fd, create), -EINVAL);
	create.priority = UINT32_MAX;
	guest_fails(try_queue(fd, create), -EINVAL);
}
END_TEST

static int priorities_of_a_user(void)
{
	struct drm_trn_queue_create create = { .context = context };

	for (create.priority = 0; create.priority <= DRM_TRN_PRIORITY_HIGH; create.priority++) {
		int error = create.priority == DRM_TRN_PRIORITY_HIGH ? -EACCES : 0;

		if (try_queue(fd, create) != error)
			return 1 + (int)create.priority;
	}
	return 0;
}

START_TEST(priority_needs_capability)
{
	ck_assert_int_eq(as_user(USER, priorities_of_a_user), 0);
}
END_TEST

START_TEST(timeouts)
{
	struct drm_trn_queue_create create = { .context = context };
	uint32_t job = parameter("job_timeout_ms"), packet = parameter("packet_timeout_ms");

	ck_assert_uint_ge(job, 1);
	ck_assert_uint_le(job, 10000);
	create.timeout_ms = 1;
	guest_fails(try_queue(fd, create), 0);
	create.timeout_ms = job;
	guest_fails(try_queue(fd, create), 0);
	create.timeout_ms = job + 1;
	guest_fails(try_queue(fd, create), -EINVAL);
	create.mode = DRM_TRN_QUEUE_USER;
	create.timeout_ms = packet;
	guest_fails(try_queue(fd, create), 0);
	create.timeout_ms = packet + 1;
	guest_fails(try_queue(fd, create), -EINVAL);
	create.timeout_ms = UINT32_MAX;
	guest_fails(try_queue(fd, create), -EINVAL);
}
END_TEST

/* ---- quotas ---------------------------------------------------------- */

static int count_queues(int file, int *error)
{
	struct drm_trn_queue_create create = { .context = guest_context(file) };
	int count = 0;

	while (!(*error = try_queue(file, create)))
		count++;
	return count;
}

static int count_contexts(int file, int *error)
{
	struct drm_trn_context_create create = { 0 };
	int count = 0;

	while (!(*error = guest_ioctl(file, DRM_IOCTL_TRN_CONTEXT_CREATE, &create)))
		count++;
	return count;
}

static int queues_of_a_user(void)
{
	int mine = guest_open(0), second = guest_open(0), error, count, more;
	struct drm_trn_queue_create create = { .context = guest_context(second) };
	struct drm_trn_queue_destroy destroy = { .queue = 1 };

	count = count_queues(mine, &error);
	if (error != -EDQUOT)
		return 0;
	/* Over all files. */
	if (try_queue(second, create) != -EDQUOT)
		return 0;
	if (guest_ioctl(mine, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy) || try_queue(second, create) ||
	    try_queue(second, create) != -EDQUOT)
		return 0;
	/* What a closed file had counts no more. */
	close(mine);
	more = count_queues(second, &error);
	return error == -EDQUOT && more == count - 1 ? count : 0;
}

static int contexts_of_a_user(void)
{
	int mine = guest_open(0), second = guest_open(0), error, count, more;
	struct drm_trn_context_destroy destroy = { .context = 1 };

	count = count_contexts(mine, &error);
	if (error != -EDQUOT || count_contexts(second, &error) || error != -EDQUOT)
		return 0;
	if (guest_ioctl(mine, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy) ||
	    count_contexts(second, &error) != 1 || error != -EDQUOT)
		return 0;
	close(mine);
	more = count_contexts(second, &error);
	return error == -EDQUOT && more == count - 1 ? count : 0;
}

static void open_to_all(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(chmod(path, 0666), 0);
}

static void expect_quota(const char *name, int (*user)(void), int (*count)(int, int *))
{
	int mine, total, quota, error;

	open_to_all();
	set_parameter(name, PERCENT);
	quota = as_user(USER, user);
	/* Another user has as many. */
	ck_assert_int_eq(as_user(OTHER_USER, user), quota);
	/* It does not bind root, whom the chip stops. */
	mine = guest_open(0);
	total = count(mine, &error);
	guest_fails(error, -ENOSPC);
	close(mine);
	set_parameter(name, "75");
	printf("limits: %s: %d of %d\n", name, quota, total);
	/* The driver's own and this test's are not in the total. */
	ck_assert_int_ge(quota, 2);
	ck_assert_int_ge(quota * 100, total * atoi(PERCENT));
	ck_assert_int_le((quota - 1) * 100, (total + 2) * atoi(PERCENT));
}

START_TEST(queues)
{
	expect_quota("user_queue_percent", queues_of_a_user, count_queues);
}
END_TEST

START_TEST(contexts)
{
	expect_quota("user_context_percent", contexts_of_a_user, count_contexts);
}
END_TEST

/* Nothing of them is left. */
START_TEST(again)
{
	struct trn_packet nop = { 0 };
	uint32_t syncobj = guest_syncobj(fd);

	guest_fails(guest_submit(fd, guest_kernel_queue(fd, context, 4), &nop, 1, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 30), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("limits");
	TCase *cases = tcase_create("limits");

	tcase_set_timeout(cases, 180);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, priorities);
	tcase_add_test(cases, priority_needs_capability);
	tcase_add_test(cases, timeouts);
	tcase_add_test(cases, queues);
	tcase_add_test(cases, contexts);
	tcase_add_test(cases, again);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
