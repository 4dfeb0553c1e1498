/* SPDX-License-Identifier: MIT */
/*
 * HBM: which stack and which part of it an object gets, what the queries, debugfs and
 * fdinfo say of it, names, and the quota of a user.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest_memory.h"

static int fd;
static struct drm_trn_query_memory empty;

static void start(void)
{
	fd = guest_open(0);
	empty = guest_memory(fd);
}

static void stop(void)
{
	struct drm_trn_query_memory after;

	close(fd);
	fd = guest_open(0);
	after = guest_memory(fd);
	ck_assert_mem_eq(&empty, &after, sizeof(empty));
	close(fd);
}

static bool aperture_is_small(void)
{
	if (empty.cpu_visible < empty.stack[0].total)
		return true;
	fprintf(stderr, "memory_place: skipped, all of stack 0 is CPU-visible\n");
	return false;
}

START_TEST(stack_asked_for)
{
	uint32_t i, j, handle;

	for (i = 0; i < empty.stacks; i++) {
		struct drm_trn_query_memory now;

		guest_fails(guest_hbm(fd, i, 3 * MIB + 4 * KIB, &handle), 0);
		now = guest_memory(fd);
		for (j = 0; j < empty.stacks; j++)
			ck_assert_uint_eq(now.stack[j].free,
					  empty.stack[j].free - (i == j ? 3 * MIB + 4 * KIB : 0));
		guest_fails(guest_close(fd, handle), 0);
	}
	guest_fails(guest_hbm(fd, empty.stacks, MIB, &handle), -EINVAL);
}
END_TEST

/* "Any" is where most is free. */
START_TEST(any_stack_is_the_emptiest)
{
	uint32_t i, handle;

	if (empty.stacks < 2) {
		fprintf(stderr, "memory_place: skipped, the chip has one stack\n");
		return;
	}
	/* Stack i loses i + 1 MiB, the last one nothing. */
	for (i = 0; i + 1 < empty.stacks; i++)
		guest_fails(guest_hbm(fd, i, (i + 1) * MIB, &handle), 0);
	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, 4 * KIB, &handle), 0);
	ck_assert_uint_eq(guest_memory(fd).stack[i].free, empty.stack[i].free - 4 * KIB);
}
END_TEST

START_TEST(aperture_is_for_those_who_need_it)
{
	uint64_t hidden = empty.stack[0].free - empty.cpu_visible_free;
	uint32_t handle;

	ck_assert_uint_gt(empty.cpu_visible, 0);
	ck_assert_uint_eq(empty.cpu_visible_free, empty.cpu_visible);
	if (!aperture_is_small())
		return;
	/* All of stack 0 but the aperture, then one page more. */
	guest_fails(guest_hbm(fd, 0, hidden - MIB, &handle), 0);
	guest_fails(guest_hbm(fd, 0, MIB, &handle), 0);
	ck_assert_uint_eq(guest_memory(fd).cpu_visible_free, empty.cpu_visible);
	guest_fails(guest_hbm(fd, 0, 4 * KIB, &handle), 0);
	ck_assert_uint_eq(guest_memory(fd).cpu_visible_free, empty.cpu_visible - 4 * KIB);
}
END_TEST

/* An object that is half inside of the aperture, half outside. */
START_TEST(object_across_the_border)
{
	uint64_t hidden = empty.stack[0].free - empty.cpu_visible_free;
	struct guest_mover mover;
	uint32_t filler, handle;
	uint64_t offset;

	if (!aperture_is_small())
		return;
	mover = guest_mover(fd);
	guest_fails(guest_hbm(fd, 0, hidden - 2 * MIB, &filler), 0);
	guest_fails(guest_hbm(fd, 0, 4 * MIB, &handle), 0);
	ck_assert_uint_eq(guest_memory(fd).cpu_visible_free, empty.cpu_visible - 2 * MIB);
	ck_assert_int_eq(guest_mmap_offset(fd, handle, &offset), -EOPNOTSUPP);
	guest_check_zero(&mover, handle, 4 * MIB);
	guest_fill_object(&mover, handle, 4 * MIB, 1);
	guest_check_object(&mover, handle, 4 * MIB, 1);
	guest_mover_end(&mover);
}
END_TEST

START_TEST(visible_objects)
{
	struct drm_trn_query_memory now;
	uint32_t handle;

	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, 2 * MIB,
				 DRM_TRN_BO_CPU_VISIBLE, &handle),
		    0);
	now = guest_memory(fd);
	ck_assert_uint_eq(now.cpu_visible_free, empty.cpu_visible - 2 * MIB);
	ck_assert_uint_eq(now.cpu_visible, empty.cpu_visible);
	/* All that is left, and not a page more. */
	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY,
				 now.cpu_visible_free + 4 * KIB, DRM_TRN_BO_CPU_VISIBLE, &handle),
		    -ENOSPC);
	if (!aperture_is_small())
		return;
	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, 0, now.cpu_visible_free,
				 DRM_TRN_BO_CPU_VISIBLE, &handle),
		    0);
	ck_assert_uint_eq(guest_memory(fd).cpu_visible_free, 0);
	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, 0, 4 * KIB, DRM_TRN_BO_CPU_VISIBLE, &handle),
		    -ENOSPC);
	if (empty.stacks > 1)
		guest_fails(guest_create(fd, DRM_TRN_BO_HBM, 1, 4 * KIB, DRM_TRN_BO_CPU_VISIBLE,
					 &handle),
			    -ENOSPC);
}
END_TEST

/* The line of debugfs of the object with this name: pieces, handles, placement; 0 if there is none. */
static int find_object(const char *name, char *placement, unsigned int *pieces,
		       unsigned int *handles, unsigned long long *size, unsigned long long *owner)
{
	char pci[32], path[128], line[256], found[64];
	FILE *file;
	int count = 0;

	guest_pci(0, pci, sizeof(pci));
	snprintf(path, sizeof(path), "/sys/kernel/debug/accel/%s/objects", pci);
	if (access("/sys/kernel/debug/accel", F_OK))
		ck_assert_int_eq(system("mount -t debugfs none /sys/kernel/debug"), 0);
	file = fopen(path, "r");
	ck_assert_msg(file, "%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llu %31s %u %u %*u %*s %llu %63s", size, placement, pieces,
			   handles, owner, found) == 6 &&
		    !strcmp(found, name)) {
			count = 1;
			break;
		}
	}
	fclose(file);
	return count;
}

static unsigned long long fdinfo(int file, const char *key)
{
	unsigned long long value = ~0ULL;
	char path[64], line[256];
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file);
	info = fopen(path, "r");
	ck_assert_ptr_nonnull(info);
	while (fgets(line, sizeof(line), info)) {
		size_t length = strlen(key);
		char unit[8] = "";

		if (strncmp(line, key, length) || line[length] != ':')
			continue;
		ck_assert_int_ge(sscanf(line + length + 1, "%llu %7s", &value, unit), 1);
		if (!strcmp(unit, "KiB"))
			value <<= 10;
		else if (!strcmp(unit, "MiB"))
			value <<= 20;
	}
	fclose(info);
	ck_assert_msg(value != ~0ULL, "fdinfo has no %s", key);
	return value;
}

/* "largest" is what can be had in one piece; "free" is what can be had. */
START_TEST(largest_and_free)
{
	uint32_t stack = empty.stacks - 1, handles[64], handle, i;
	unsigned long long size, owner;
	struct drm_trn_query_memory now;
	unsigned int pieces, count;
	char placement[32];

	/* Holes of 1 MiB. */
	guest_fails(guest_hbm(fd, stack, empty.stack[stack].free - 64 * MIB, &handle), 0);
	for (i = 0; i < 64; i++)
		guest_fails(guest_hbm(fd, stack, MIB, &handles[i]), 0);
	guest_fails(guest_hbm(fd, stack, 4 * KIB, &handle), -ENOSPC);
	for (i = 0; i < 64; i += 2)
		guest_fails(guest_close(fd, handles[i]), 0);
	now = guest_memory(fd);
	ck_assert_uint_eq(now.stack[stack].free, 32 * MIB);
	ck_assert_uint_ge(now.stack[stack].largest, MIB);
	ck_assert_uint_lt(now.stack[stack].largest, 32 * MIB);

	guest_fails(guest_hbm(fd, stack, now.stack[stack].largest, &handle), 0);
	guest_fails(guest_name(fd, handle, "largest"), 0);
	ck_assert_int_eq(find_object("largest", placement, &pieces, &count, &size, &owner), 1);
	ck_assert_uint_eq(pieces, 1);
	ck_assert_uint_eq(size, now.stack[stack].largest);
	guest_fails(guest_close(fd, handle), 0);

	guest_fails(guest_hbm(fd, stack, 32 * MIB, &handle), 0);
	guest_fails(guest_name(fd, handle, "scattered"), 0);
	ck_assert_int_eq(find_object("scattered", placement, &pieces, &count, &size, &owner), 1);
	ck_assert_uint_gt(pieces, 1);
	now = guest_memory(fd);
	ck_assert_uint_eq(now.stack[stack].free, 0);
	ck_assert_uint_eq(now.stack[stack].largest, 0);
}
END_TEST

START_TEST(objects_are_listed)
{
	char placement[32], wanted[32], longest[DRM_TRN_BO_NAME_SIZE];
	void *memory = aligned_alloc(4096, 64 * KIB);
	unsigned int pieces, handles;
	unsigned long long size, owner;
	uint32_t handle;

	guest_fails(guest_hbm(fd, empty.stacks - 1, 4 * MIB, &handle), 0);
	guest_fails(guest_name(fd, handle, "weights"), 0);
	ck_assert_int_eq(find_object("weights", placement, &pieces, &handles, &size, &owner), 1);
	snprintf(wanted, sizeof(wanted), "hbm%u", empty.stacks - 1);
	ck_assert_str_eq(placement, wanted);
	ck_assert_uint_eq(handles, 1);
	ck_assert_uint_eq(size, 4 * MIB);
	ck_assert_uint_eq(owner, fdinfo(fd, "drm-client-id"));

	guest_fails(guest_name(fd, handle, ""), 0);
	ck_assert_int_eq(find_object("weights", placement, &pieces, &handles, &size, &owner), 0);

	guest_fails(guest_userptr(fd, memory, 64 * KIB, 0, &handle), 0);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	guest_fails(guest_name(fd, handle, longest), 0);
	ck_assert_int_eq(find_object(longest, placement, &pieces, &handles, &size, &owner), 1);
	ck_assert_str_eq(placement, "userptr");
	guest_fails(guest_close(fd, handle), 0);
	free(memory);
}
END_TEST

START_TEST(bad_names)
{
	struct drm_trn_bo_set_name set_name = { 0 };
	uint32_t handle = guest_bo(fd, DRM_TRN_BO_HOST, 4 * KIB);

	guest_fails(guest_name(fd, handle, "a\nb"), -EINVAL);
	guest_fails(guest_name(fd, handle, "caf\xc3\xa9"), -EINVAL);
	guest_fails(guest_name(fd, handle + 1000, "x"), -ENOENT);
	set_name.handle = handle;
	memset(set_name.name, 'x', sizeof(set_name.name));
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_BO_SET_NAME, &set_name), -EINVAL);
	memset(set_name.name, 0, sizeof(set_name.name));
	set_name.pad = 1;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_BO_SET_NAME, &set_name), -EINVAL);
}
END_TEST

START_TEST(fdinfo_counts_by_region)
{
	unsigned long long host = fdinfo(fd, "drm-total-host");
	void *memory = aligned_alloc(4096, 64 * KIB);
	uint32_t handle;
	int dma_buf;

	ck_assert_uint_eq(host, 0);
	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, 4 * MIB, &handle), 0);
	guest_fails(guest_userptr(fd, memory, 64 * KIB, 0, &handle), 0);
	handle = guest_bo(fd, DRM_TRN_BO_HOST, 128 * KIB);
	ck_assert_uint_eq(fdinfo(fd, "drm-total-hbm"), 4 * MIB);
	ck_assert_uint_eq(fdinfo(fd, "drm-resident-hbm"), 4 * MIB);
	ck_assert_uint_eq(fdinfo(fd, "drm-shared-hbm"), 0);
	ck_assert_uint_eq(fdinfo(fd, "drm-total-host"), 192 * KIB);
	ck_assert_uint_eq(fdinfo(fd, "drm-resident-host"), 192 * KIB);
	ck_assert_uint_eq(fdinfo(fd, "drm-shared-host"), 0);
	dma_buf = guest_export(fd, handle);
	ck_assert_int_ge(dma_buf, 0);
	ck_assert_uint_eq(fdinfo(fd, "drm-shared-host"), 128 * KIB);
	ck_assert_uint_eq(fdinfo(fd, "drm-total-host"), 192 * KIB);
	close(dma_buf);
}
END_TEST

START_TEST(bad_objects)
{
	static const struct {
		struct drm_trn_bo_create create;
		int error;
	} cases[] = {
		{ { .size = 0 }, -EINVAL },
		{ { .size = UINT64_MAX }, -EINVAL },
		{ { .size = UINT64_MAX - 4095 }, -EINVAL },
		{ { .size = UINT64_C(1) << 63 }, -ENOSPC },
		{ { .size = 4096, .placement = 2 }, -EINVAL },
		{ { .size = 4096, .flags = 2 }, -EINVAL },
		{ { .size = 4096, .stack = 16 }, -EINVAL },
		{ { .size = 4096, .placement = DRM_TRN_BO_HOST, .flags = DRM_TRN_BO_CPU_VISIBLE },
		  -EINVAL },
		{ { .size = 4096, .placement = DRM_TRN_BO_HOST, .stack = DRM_TRN_STACK_ANY },
		  -EINVAL },
		/* More than an object may have, more than there is. */
		{ { .size = 257 * GIB, .placement = DRM_TRN_BO_HOST }, -EINVAL },
		{ { .size = UINT64_C(1) << 62, .placement = DRM_TRN_BO_HOST }, -EINVAL },
		{ { .size = 200 * GIB, .placement = DRM_TRN_BO_HOST }, -ENOMEM },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct drm_trn_bo_create create = cases[i].create;
		int error = guest_ioctl(fd, DRM_IOCTL_TRN_BO_CREATE, &create);

		ck_assert_msg(error == cases[i].error, "case %zu: %d, not %d", i, error,
			      cases[i].error);
	}
}
END_TEST

/* As another user, who opens the node for itself; the answers are exit statuses. */
static int be_user(uid_t uid, const char *node)
{
	struct drm_trn_query_memory memory;
	uint32_t handle, other;
	int file;

	if (setgid(uid) || setuid(uid))
		return 1;
	file = open(node, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return 2;
	memory = guest_memory(file);
	if (memory.quota_used)
		return 3;
	/* Not everything, but something. */
	if (memory.quota >= empty.quota || !memory.quota)
		return 4;
	if (guest_hbm(file, DRM_TRN_STACK_ANY, memory.quota + 4096, &handle) != -EDQUOT &&
	    memory.quota < memory.stack[0].free)
		return 5;
	/* Up to the quota in pieces of a 16th; then not a page. */
	while (memory.quota_used < memory.quota) {
		uint64_t piece = memory.quota / 16 / 4096 * 4096;

		if (piece > memory.quota - memory.quota_used)
			piece = memory.quota - memory.quota_used;
		if (guest_hbm(file, DRM_TRN_STACK_ANY, piece, &handle))
			return 6;
		memory = guest_memory(file);
	}
	if (guest_hbm(file, DRM_TRN_STACK_ANY, 4096, &other) != -EDQUOT)
		return 7;
	/* Closing gives back. */
	if (guest_close(file, handle) || guest_hbm(file, DRM_TRN_STACK_ANY, 4096, &other))
		return 8;
	return 0;
}

START_TEST(quota_by_user)
{
	const struct trn_device_list *list;
	uint32_t handle;
	int pipes[2], pid;
	char node[64], byte;

	ck_assert_uint_eq(empty.quota_used, 0);
	ck_assert_int_eq(getuid(), 0);
	guest_ok(trn_device_list(&list));
	snprintf(node, sizeof(node), "%s", list->entry[0]->node);
	trn_device_list_free(list);
	ck_assert_int_eq(chmod(node, 0666), 0);
	ck_assert_int_eq(pipe(pipes), 0);

	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		int status = be_user(1000, node);

		if (write(pipes[1], "", 1) != 1)
			_exit(9);
		/* At its quota until the parent is done. */
		pause();
		_exit(status);
	}
	ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
	/* Another user still allocates, as long as there is something. */
	if (guest_free(fd) >= 4096)
		guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, 4096, &handle), 0);
	ck_assert_uint_eq(guest_memory(fd).quota_used, 4096);
	ck_assert_uint_eq(guest_memory(fd).quota, empty.quota);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);

	/* Again, for the answers; a user's memory is free when the process is gone. */
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(be_user(1001, node));
	guest_child_passed(pid);
	guest_fails(guest_close(fd, handle), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_place");
	TCase *cases = tcase_create("memory_place");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, stack_asked_for);
	tcase_add_test(cases, any_stack_is_the_emptiest);
	tcase_add_test(cases, aperture_is_for_those_who_need_it);
	tcase_add_test(cases, object_across_the_border);
	tcase_add_test(cases, visible_objects);
	tcase_add_test(cases, largest_and_free);
	tcase_add_test(cases, objects_are_listed);
	tcase_add_test(cases, bad_names);
	tcase_add_test(cases, fdinfo_counts_by_region);
	tcase_add_test(cases, bad_objects);
	tcase_add_test(cases, quota_by_user);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
