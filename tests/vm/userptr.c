/* SPDX-License-Identifier: MIT */
/* Memory of the process as an object: what can be used, and what may be done to it meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "first_chip.h"
#include "guest_memory.h"

#define SIZE (256 * KIB)
#define HUGE (2 * MIB)

static void *map(size_t size, int protection, int flags, int file)
{
	void *pointer = mmap(NULL, size, protection, flags, file, 0);

	ck_assert_msg(pointer != MAP_FAILED, "mmap: %s", strerror(errno));
	return pointer;
}

/* A file of @size bytes in the working directory that has no name any more. */
static int temporary(size_t size)
{
	char path[] = "userptr.XXXXXX";
	int file;

	file = mkstemp(path);
	ck_assert_msg(file >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(ftruncate(file, (off_t)size), 0);
	return file;
}

/* Bytes go both ways between the memory and HBM. */
static void check_both_ways(uint8_t *memory, uint64_t size)
{
	uint8_t *wanted = malloc(size);
	uint32_t handle, hbm = guest_bo(fd, DRM_TRN_BO_HBM, size);
	uint64_t offset, piece;

	ck_assert_ptr_nonnull(wanted);
	guest_pattern(memory, size, 1);
	memcpy(wanted, memory, size);
	guest_fails(guest_userptr(fd, memory, size, 0, &handle), 0);
	for (offset = 0; offset < size; offset += piece) {
		piece = size - offset < GUEST_STAGING ? size - offset : GUEST_STAGING;
		guest_fetch(&mover, handle, offset, piece);
		ck_assert_mem_eq(mover.bytes, wanted + offset, piece);
		guest_store(&mover, hbm, offset, piece);
		guest_pattern(mover.bytes, piece, 2 + offset);
		guest_store(&mover, handle, offset, piece);
		ck_assert_mem_eq(memory + offset, mover.bytes, piece);
	}
	guest_fails(guest_close(fd, handle), 0);
	guest_fails(guest_close(fd, hbm), 0);
	free(wanted);
}

START_TEST(anonymous)
{
	void *memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	check_both_ways(memory, SIZE);
	munmap(memory, SIZE);
}
END_TEST

START_TEST(shared_anonymous)
{
	void *memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);

	check_both_ways(memory, SIZE);
	munmap(memory, SIZE);
}
END_TEST

START_TEST(huge_page)
{
	uint8_t *memory = map(2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint8_t *aligned = (uint8_t *)(((uintptr_t)memory + HUGE - 1) & ~(HUGE - 1));

	if (madvise(aligned, HUGE, MADV_HUGEPAGE))
		fprintf(stderr, "userptr: no transparent huge pages: small ones it is\n");
	check_both_ways(aligned, HUGE);
	munmap(memory, 2 * HUGE);
}
END_TEST

START_TEST(hugetlb)
{
	void *memory;

	if (system("echo 4 > /proc/sys/vm/nr_hugepages")) {
		fprintf(stderr, "userptr: skipped, no hugetlb\n");
		return;
	}
	memory = map(HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
	check_both_ways(memory, HUGE);
	munmap(memory, HUGE);
	ck_assert_int_eq(system("echo 0 > /proc/sys/vm/nr_hugepages"), 0);
}
END_TEST

START_TEST(shmem_file)
{
	int file = memfd_create("userptr", MFD_CLOEXEC);
	void *memory;

	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(ftruncate(file, SIZE), 0);
	memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file);
	check_both_ways(memory, SIZE);
	/* The file goes away under the pages. */
	{
		uint32_t handle;

		guest_pattern(memory, SIZE, 3);
		guest_fails(guest_userptr(fd, memory, SIZE, 0, &handle), 0);
		ck_assert_int_eq(ftruncate(file, 0), 0);
		guest_check_object(&mover, handle, SIZE, 3);
		guest_fails(guest_close(fd, handle), 0);
	}
	munmap(memory, SIZE);
	close(file);
}
END_TEST

/* What the process may not write can only be a source. */
START_TEST(read_only)
{
	uint8_t *memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct drm_trn_bind_op op = { .op = DRM_TRN_BIND_MAP, .va = 1 << 21, .size = SIZE };
	struct drm_trn_vm_bind bind = {
		.context = mover.context,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};
	uint32_t handle;

	guest_pattern(memory, SIZE, 4);
	ck_assert_int_eq(mprotect(memory, SIZE, PROT_READ), 0);
	guest_fails(guest_userptr(fd, memory, SIZE, 0, &handle), -EFAULT);
	guest_fails(guest_userptr(fd, memory, SIZE, DRM_TRN_BO_READONLY, &handle), 0);
	guest_check_object(&mover, handle, SIZE, 4);
	op.handle = handle;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), -EACCES);
	guest_fails(guest_close(fd, handle), 0);

	/* Without any right, and memory that was never touched. */
	ck_assert_int_eq(mprotect(memory, SIZE, PROT_NONE), 0);
	guest_fails(guest_userptr(fd, memory, SIZE, DRM_TRN_BO_READONLY, &handle), -EFAULT);
	munmap(memory, SIZE);
	memory = map(SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	guest_fails(guest_userptr(fd, memory, SIZE, DRM_TRN_BO_READONLY, &handle), 0);
	guest_check_zero(&mover, handle, SIZE);
	guest_fails(guest_close(fd, handle), 0);
	munmap(memory, SIZE);
}
END_TEST

/*
 * The chip would write behind the back of a file system that writes dirty pages to disk, which
 * that of the work tree does (9p).  A private mapping of the same file has pages of its own.
 */
START_TEST(files)
{
	int file = temporary(SIZE);
	uint32_t handle;
	void *memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file);

	guest_fails(guest_userptr(fd, memory, SIZE, 0, &handle), -EFAULT);
	guest_fails(guest_userptr(fd, memory, SIZE, DRM_TRN_BO_READONLY, &handle), 0);
	guest_check_zero(&mover, handle, SIZE);
	guest_fails(guest_close(fd, handle), 0);
	munmap(memory, SIZE);
	memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file);
	check_both_ways(memory, SIZE);
	munmap(memory, SIZE);
	close(file);
}
END_TEST

START_TEST(bad_requests)
{
	uint8_t *memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint32_t handle, host = guest_bo(fd, DRM_TRN_BO_HOST, SIZE);
	uint64_t offset;
	void *mapped;

	guest_fails(guest_userptr(fd, memory, 0, 0, &handle), -EINVAL);
	guest_fails(guest_userptr(fd, memory, 4095, 0, &handle), -EINVAL);
	guest_fails(guest_userptr(fd, memory + 8, 4096, 0, &handle), -EINVAL);
	guest_fails(guest_userptr(fd, memory, 4096, 2, &handle), -EINVAL);
	guest_fails(guest_userptr(fd, memory, UINT64_MAX - 4095, 0, &handle), -EINVAL);
	guest_fails(guest_userptr(fd, memory, UINT64_C(1) << 60, 0, &handle), -EFAULT);
	guest_fails(guest_userptr(fd, NULL, 4096, 0, &handle), -EFAULT);
	/* The kernel's half. */
	guest_fails(guest_userptr(fd, (void *)0xffff888000000000, 4096, 0, &handle), -EFAULT);
	/* A hole in the middle. */
	ck_assert_int_eq(munmap(memory + SIZE / 2, 4096), 0);
	guest_fails(guest_userptr(fd, memory, SIZE, 0, &handle), -EFAULT);
	/* A mapping of the driver's. */
	mapped = guest_map(fd, host, SIZE);
	guest_fails(guest_userptr(fd, mapped, SIZE, 0, &handle), -EFAULT);
	munmap(mapped, SIZE);

	guest_fails(guest_userptr(fd, memory, 4096, 0, &handle), 0);
	guest_fails(guest_mmap_offset(fd, handle, &offset), -EOPNOTSUPP);
	guest_fails(guest_export(fd, handle), -EOPNOTSUPP);
	guest_fails(guest_close(fd, handle), 0);
	munmap(memory, SIZE);
}
END_TEST

/* The object goes on having the pages that it was made of. */
START_TEST(unmapped_and_moved)
{
	uint8_t *memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint8_t *moved;
	uint32_t handle;

	guest_pattern(memory, SIZE, 5);
	guest_fails(guest_userptr(fd, memory, SIZE, 0, &handle), 0);
	moved = mremap(memory, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, memory + 64 * MIB);
	ck_assert_ptr_ne(moved, MAP_FAILED);
	guest_fill_object(&mover, handle, SIZE, 6);
	ck_assert_mem_eq(moved, mover.bytes, SIZE);
	ck_assert_int_eq(munmap(moved, SIZE), 0);
	guest_check_object(&mover, handle, SIZE, 6);
	/* Something else at the same address is something else. */
	ck_assert_ptr_eq(mmap(moved, SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 moved);
	memset(moved, 0x55, SIZE);
	guest_check_object(&mover, handle, SIZE, 6);
	guest_fails(guest_close(fd, handle), 0);
	munmap(moved, SIZE);
}
END_TEST

/* After fork() the parent and the chip share, the child has a copy. */
START_TEST(forked)
{
	uint8_t *memory = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int pipes[2], pid;
	uint32_t handle;
	char byte = 0;

	ck_assert_int_eq(pipe(pipes), 0);
	guest_pattern(memory, SIZE, 7);
	guest_fails(guest_userptr(fd, memory, SIZE, 0, &handle), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		static uint8_t wanted[SIZE];

		/* The parent and the chip have written by now. */
		if (read(pipes[0], &byte, 1) != 1)
			_exit(1);
		guest_pattern(wanted, SIZE, 7);
		if (memcmp(memory, wanted, SIZE))
			_exit(2);
		memset(memory, 0, SIZE);
		_exit(0);
	}
	memory[0] ^= 1;
	guest_fetch(&mover, handle, 0, SIZE);
	ck_assert_mem_eq(mover.bytes, memory, SIZE);
	guest_fill_object(&mover, handle, SIZE, 8);
	ck_assert_mem_eq(mover.bytes, memory, SIZE);
	ck_assert_int_eq(write(pipes[1], &byte, 1), 1);
	guest_child_passed(pid);
	ck_assert_mem_eq(mover.bytes, memory, SIZE);
	guest_check_object(&mover, handle, SIZE, 8);
	guest_fails(guest_close(fd, handle), 0);
	munmap(memory, SIZE);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

static int limited(uint64_t limit)
{
	struct rlimit memlock = { .rlim_cur = limit, .rlim_max = limit };
	uint8_t *memory = mmap(NULL, 2 * limit, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t handle, more;

	if (memory == MAP_FAILED || setrlimit(RLIMIT_MEMLOCK, &memlock))
		return 1;
	/* Who may lock as much as it likes has no limit. */
	if (guest_userptr(fd, memory, 2 * limit, 0, &handle) || guest_close(fd, handle))
		return 2;
	if (setgid(1002) || setuid(1002))
		return 3;
	if (guest_userptr(fd, memory, limit + 4096, 0, &handle) != -ENOMEM)
		return 4;
	if (guest_userptr(fd, memory, limit, 0, &handle))
		return 5;
	if (guest_userptr(fd, memory, 4096, 0, &more) != -ENOMEM)
		return 6;
	/* What failed was not counted, what is closed is not any more. */
	if (guest_close(fd, handle) || guest_userptr(fd, memory, limit, 0, &handle))
		return 7;
	if (guest_close(fd, handle) || guest_userptr(fd, NULL, limit, 0, &handle) != -EFAULT)
		return 8;
	return guest_userptr(fd, memory, limit, 0, &handle) ? 9 : 0;
}

/* The second child has what the first did not give back itself. */
START_TEST(memlock_limit)
{
	int i;

	for (i = 0; i < 2; i++) {
		int pid = fork();

		ck_assert_int_ge(pid, 0);
		if (!pid) {
			fd = guest_open(0);
			_exit(limited(64 * KIB));
		}
		guest_child_passed(pid);
	}
}
END_TEST

/* A process that pins a lot can be killed on the way. */
START_TEST(killed)
{
	const size_t size = 512 * MIB;
	int i;

	for (i = 0; i < 3; i++) {
		int pid = fork(), status;
		int64_t began;

		ck_assert_int_ge(pid, 0);
		if (!pid) {
			void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			uint32_t handle;

			for (;;) {
				guest_fails(guest_userptr(fd, memory, size, 0, &handle), 0);
				guest_fails(guest_close(fd, handle), 0);
				madvise(memory, size, MADV_DONTNEED);
			}
		}
		usleep((useconds_t)(20000 + i * 30000));
		began = trn_deadline(0);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		ck_assert_msg(trn_deadline(0) - began < INT64_C(5000000000), "it took %lld ms",
			      (long long)(trn_deadline(0) - began) / 1000000);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("userptr");
	TCase *cases = tcase_create("userptr");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, anonymous);
	tcase_add_test(cases, shared_anonymous);
	tcase_add_test(cases, huge_page);
	tcase_add_test(cases, hugetlb);
	tcase_add_test(cases, shmem_file);
	tcase_add_test(cases, read_only);
	tcase_add_test(cases, files);
	tcase_add_test(cases, bad_requests);
	tcase_add_test(cases, unmapped_and_moved);
	tcase_add_test(cases, forked);
	tcase_add_test(cases, memlock_limit);
	tcase_add_test(cases, killed);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
