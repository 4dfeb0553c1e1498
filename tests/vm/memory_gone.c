/* SPDX-License-Identifier: MIT */
/*
 * memory_gone unbind|death: what a process has of a chip when the driver is unbound from it,
 * or when it dies: mappings of objects and dma-bufs, in this process and another.  Nothing
 * raises a signal, host memory stays as it is, HBM becomes zeroed memory of the object's own.
 *
 * After death the guest is spoiled: that has a boot of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest_memory.h"

#define SIZE (256 * KIB)
#define LIMIT INT64_C(10000000000)

static bool death;
static char pci[32];

static void driver(const char *action)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/trn/%s", action);
	file = open(path, O_WRONLY);
	ck_assert_msg(file >= 0, "%s: %s", path, strerror(errno));
	ck_assert_msg(write(file, pci, strlen(pci)) > 0, "%s: %s", path, strerror(errno));
	close(file);
}

static void take_away(int fd)
{
	int64_t deadline = trn_deadline(LIMIT);
	uint32_t handle;

	if (!death) {
		driver("unbind");
		return;
	}
	ck_assert_int_eq(system("trn-vmctl vm kill-vdev >/dev/null"), 0);
	/* Requests fail at once or when the driver has noticed. */
	while (guest_hbm(fd, DRM_TRN_STACK_ANY, 4096, &handle) != -ENODEV)
		ck_assert_int_lt(trn_deadline(0), deadline);
}

/* Waits for the mapping to become a dummy: until then it may be what the bus answers. */
static void check_dummy(volatile uint8_t *bytes)
{
	int64_t deadline = trn_deadline(LIMIT);
	uint64_t i;

	for (;;) {
		uint8_t any = 0;

		for (i = 0; i < SIZE; i++)
			any |= bytes[i];
		if (!any)
			break;
		ck_assert_int_lt(trn_deadline(0), deadline);
	}
	bytes[100] = 42;
	ck_assert_uint_eq(bytes[100], 42);
}

static void check_bytes(const uint8_t *bytes, uint64_t seed)
{
	static uint8_t wanted[SIZE];

	guest_pattern(wanted, SIZE, seed);
	ck_assert_mem_eq(bytes, wanted, SIZE);
}

static void *map(int file, uint64_t offset)
{
	void *pointer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);

	ck_assert_msg(pointer != MAP_FAILED, "mmap: %s", strerror(errno));
	return pointer;
}

START_TEST(mappings_stay)
{
	uint32_t hbm, other_hbm, host, user, unused, vgem_handle;
	int fd = guest_open(0), hbm_dma_buf, host_dma_buf, pipes[2], pid, vgem = -1;
	void *memory = aligned_alloc(4096, SIZE);
	volatile uint8_t *hbm_bytes, *dma_buf_bytes, *other_bytes;
	uint8_t *host_bytes, *host_dma_buf_bytes;
	char byte = 0;

	guest_pci(0, pci, sizeof(pci));
	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, SIZE,
				 DRM_TRN_BO_CPU_VISIBLE, &hbm),
		    0);
	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, SIZE,
				 DRM_TRN_BO_CPU_VISIBLE, &other_hbm),
		    0);
	host = guest_bo(fd, DRM_TRN_BO_HOST, SIZE);
	guest_fails(guest_userptr(fd, memory, SIZE, 0, &user), 0);
	guest_fails(guest_bind(fd, guest_context(fd), user, 1 << 21, SIZE), 0);

	hbm_bytes = guest_map(fd, hbm, SIZE);
	other_bytes = guest_map(fd, other_hbm, SIZE);
	host_bytes = guest_map(fd, host, SIZE);
	hbm_dma_buf = guest_export(fd, hbm);
	host_dma_buf = guest_export(fd, host);
	ck_assert_int_ge(hbm_dma_buf, 0);
	ck_assert_int_ge(host_dma_buf, 0);
	dma_buf_bytes = map(hbm_dma_buf, 0);
	memset((void *)hbm_bytes, 1, SIZE);
	memset((void *)other_bytes, 1, SIZE / 2);
	guest_pattern(host_bytes, SIZE, 1);
	ck_assert_uint_eq(dma_buf_bytes[SIZE - 1], 1);

	/* Another driver has it, if there is one. */
	if (!system("modprobe -q vgem"))
		vgem = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	if (vgem >= 0)
		guest_fails(guest_import(vgem, host_dma_buf, &vgem_handle), 0);

	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (read(pipes[0], &byte, 1) != 1)
			_exit(1);
		hbm_bytes[5] = 5;
		check_bytes(host_bytes, 1);
		_exit(0);
	}
	take_away(fd);

	check_dummy(hbm_bytes);
	/* Pages that nobody has seen yet. */
	check_dummy(other_bytes);
	/* The same object is the same memory still, another one is not. */
	ck_assert_uint_eq(dma_buf_bytes[100], 42);
	hbm_bytes[200] = 43;
	ck_assert_uint_eq(other_bytes[200], 0);
	ck_assert_int_eq(write(pipes[1], &byte, 1), 1);
	guest_child_passed(pid);
	check_bytes(host_bytes, 1);
	/* New mappings of what was exported. */
	host_dma_buf_bytes = map(host_dma_buf, 0);
	check_bytes(host_dma_buf_bytes, 1);
	ck_assert_uint_eq(((volatile uint8_t *)map(hbm_dma_buf, 0))[200], 43);

	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, 4096, &unused), -ENODEV);
	guest_fails(guest_userptr(fd, memory, SIZE, 0, &unused), -ENODEV);
	guest_fails(guest_name(fd, hbm, "x"), -ENODEV);
	/* DRM itself knows that the file has it already, as long as the driver is bound. */
	guest_fails(guest_import(fd, host_dma_buf, &unused), death ? 0 : -ENODEV);

	/* The dma-buf outlives its file. */
	close(fd);
	munmap((void *)hbm_bytes, SIZE);
	munmap((void *)other_bytes, SIZE);
	munmap(host_bytes, SIZE);
	free(memory);
	check_bytes(host_dma_buf_bytes, 1);
	host_dma_buf_bytes[0] ^= 1;
	if (vgem >= 0) {
		int again = guest_export(vgem, vgem_handle);

		ck_assert_int_ge(again, 0);
		ck_assert_uint_eq(((uint8_t *)map(again, 0))[0], host_dma_buf_bytes[0]);
		close(again);
		close(vgem);
	}
	close(hbm_dma_buf);
	close(host_dma_buf);
	munmap(host_dma_buf_bytes, SIZE);
	if (death)
		return;

	/* The chip can be had again, with all of its memory. */
	driver("bind");
	fd = guest_open(0);
	ck_assert_uint_eq(guest_memory(fd).quota_used, 0);
	ck_assert_uint_eq(guest_free(fd), guest_memory(fd).quota);
	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, 4096, &unused), 0);
	close(fd);
}
END_TEST

/* An import from another chip does not hold up the unbinding of either. */
START_TEST(imports_are_let_go)
{
	int fd, other, dma_buf;
	struct guest_mover mover;
	uint32_t host, imported, unused;
	uint8_t *bytes;

	if (death || guest_chips() < 2) {
		fprintf(stderr, "memory_gone: skipped, for two chips and unbind\n");
		return;
	}
	guest_pci(0, pci, sizeof(pci));
	fd = guest_open(0);
	other = guest_open(1);
	mover = guest_mover(other);
	host = guest_bo(other, DRM_TRN_BO_HOST, SIZE);
	dma_buf = guest_export(other, host);
	guest_fails(guest_import(fd, dma_buf, &imported), 0);
	bytes = guest_map(fd, imported, SIZE);
	guest_fill_object(&mover, host, SIZE, 3);
	driver("unbind");
	check_bytes(bytes, 3);
	guest_fails(guest_export(fd, imported), -ENODEV);
	guest_fill_object(&mover, host, SIZE, 4);
	check_bytes(bytes, 4);
	close(fd);
	check_bytes(bytes, 4);
	munmap(bytes, SIZE);
	driver("bind");

	/* The exporter goes, and the importer works on. */
	fd = guest_open(0);
	guest_fails(guest_import(fd, dma_buf, &imported), 0);
	close(dma_buf);
	guest_mover_end(&mover);
	mover = guest_mover(fd);
	guest_pci(1, pci, sizeof(pci));
	driver("unbind");
	close(other);
	guest_check_object(&mover, imported, SIZE, 4);
	guest_fails(guest_close(fd, imported), 0);
	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, 4096, &unused), 0);
	driver("bind");
	guest_mover_end(&mover);
	close(fd);
}
END_TEST

/* User memory that comes only when the driver is unbound does not hold up the unbinding. */
START_TEST(user_memory_comes_late)
{
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)memory, .len = SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int faults, fd, pid;
	uint32_t unused;

	if (death) {
		fprintf(stderr, "memory_gone: skipped, for unbind\n");
		return;
	}
	ck_assert_ptr_ne(memory, MAP_FAILED);
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	ck_assert_msg(faults >= 0, "userfaultfd: %s", strerror(errno));
	ck_assert_int_eq(ioctl(faults, UFFDIO_API, &api), 0);
	ck_assert_int_eq(ioctl(faults, UFFDIO_REGISTER, &range), 0);
	guest_pci(0, pci, sizeof(pci));
	fd = guest_open(0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct uffdio_zeropage zero = { .range = range.range };
		struct uffd_msg fault;

		/* The call waits for the page. */
		if (read(faults, &fault, sizeof(fault)) != sizeof(fault))
			_exit(1);
		driver("unbind");
		_exit(ioctl(faults, UFFDIO_ZEROPAGE, &zero) ? 2 : 0);
	}
	guest_fails(guest_userptr(fd, memory, SIZE, 0, &unused), -ENODEV);
	guest_child_passed(pid);
	close(fd);
	close(faults);
	munmap(memory, SIZE);
	driver("bind");
	fd = guest_open(0);
	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, 4096, &unused), 0);
	close(fd);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("memory_gone");
	TCase *cases = tcase_create("memory_gone");

	if (argc != 2 || (strcmp(argv[1], "unbind") && strcmp(argv[1], "death"))) {
		fprintf(stderr, "memory_gone: one argument: unbind or death\n");
		return 2;
	}
	death = !strcmp(argv[1], "death");
	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, mappings_stay);
	tcase_add_test(cases, imports_are_let_go);
	tcase_add_test(cases, user_memory_comes_late);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
