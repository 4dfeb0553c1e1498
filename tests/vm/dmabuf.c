/* SPDX-License-Identifier: MIT */
/*
 * dma-bufs: between files and chips, into the kernel's vgem and back, from udmabuf.
 * udmabuf and vgem are used if the kernel has them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "first_chip.h"
#include "guest_memory.h"

#define SIZE (300 * KIB)

static void *map_dma_buf(int dma_buf, int protection)
{
	void *pointer = mmap(NULL, SIZE, protection, MAP_SHARED, dma_buf, 0);

	ck_assert_msg(pointer != MAP_FAILED, "mmap of a dma-buf: %s", strerror(errno));
	return pointer;
}

/* The DRM node of a driver, or -1. */
static int open_driver(const char *driver)
{
	char path[32];
	int i;

	for (i = 0; i < 16; i++) {
		char name[32] = "";
		struct drm_version version = { .name_len = sizeof(name) - 1, .name = name };
		int file;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		file = open(path, O_RDWR | O_CLOEXEC);
		if (file < 0)
			continue;
		if (!ioctl(file, DRM_IOCTL_VERSION, &version) && !strcmp(name, driver))
			return file;
		close(file);
	}
	return -1;
}

static int open_vgem(void)
{
	int vgem = open_driver("vgem");

	if (vgem < 0 && !system("modprobe -q vgem"))
		vgem = open_driver("vgem");
	if (vgem < 0)
		fprintf(stderr, "dmabuf: skipped, this kernel has no vgem\n");
	return vgem;
}

/* Before anybody has asked for an offset, and in parts. */
START_TEST(mapped_without_offset)
{
	uint32_t handle = guest_bo(fd, DRM_TRN_BO_HOST, SIZE);
	int dma_buf = guest_export(fd, handle);
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW };
	uint8_t *bytes, *part;

	ck_assert_int_ge(dma_buf, 0);
	bytes = map_dma_buf(dma_buf, PROT_READ | PROT_WRITE);
	guest_fails(guest_ioctl(dma_buf, DMA_BUF_IOCTL_SYNC, &sync), 0);
	guest_pattern(bytes, SIZE, 1);
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
	guest_fails(guest_ioctl(dma_buf, DMA_BUF_IOCTL_SYNC, &sync), 0);
	guest_check_object(&mover, handle, SIZE, 1);

	part = mmap(NULL, 8192, PROT_READ, MAP_SHARED, dma_buf, 4096 * 10);
	ck_assert_ptr_ne(part, MAP_FAILED);
	ck_assert_mem_eq(part, bytes + 4096 * 10, 8192);
	munmap(part, 8192);
	ck_assert_ptr_eq(mmap(NULL, 8192, PROT_READ, MAP_SHARED, dma_buf, SIZE / 4096 * 4096 - 4096),
			 MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, dma_buf, 0),
			 MAP_FAILED);
	munmap(bytes, SIZE);
	close(dma_buf);
}
END_TEST

/* HBM that the CPU can see, without ever mapping it through the node. */
START_TEST(mapped_hbm)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE };
	uint32_t visible, hidden;
	uint8_t *bytes;
	int dma_buf;

	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, SIZE,
				 DRM_TRN_BO_CPU_VISIBLE, &visible),
		    0);
	dma_buf = guest_export(fd, visible);
	ck_assert_int_ge(dma_buf, 0);
	bytes = map_dma_buf(dma_buf, PROT_READ | PROT_WRITE);
	guest_pattern(bytes, SIZE, 2);
	guest_fails(guest_ioctl(dma_buf, DMA_BUF_IOCTL_SYNC, &sync), 0);
	guest_check_object(&mover, visible, SIZE, 2);
	munmap(bytes, SIZE);
	close(dma_buf);

	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, SIZE, &hidden), 0);
	dma_buf = guest_export(fd, hidden);
	ck_assert_int_ge(dma_buf, 0);
	ck_assert_ptr_eq(mmap(NULL, SIZE, PROT_READ, MAP_SHARED, dma_buf, 0), MAP_FAILED);
	ck_assert_int_eq(errno, EOPNOTSUPP);
	close(dma_buf);
}
END_TEST

/* On one chip it is the same object, HBM too; in one file the same handle. */
START_TEST(same_chip)
{
	static const uint32_t placements[] = { DRM_TRN_BO_HOST, DRM_TRN_BO_HBM };
	size_t i;

	for (i = 0; i < 2; i++) {
		uint32_t handle = guest_bo(fd, placements[i], SIZE), again, imported;
		uint64_t before = guest_free(fd);
		int other = guest_open(0), dma_buf;
		struct guest_mover second = guest_mover(other);

		guest_fill_object(&mover, handle, SIZE, 3 + i);
		dma_buf = guest_export(fd, handle);
		ck_assert_int_ge(dma_buf, 0);
		guest_fails(guest_import(fd, dma_buf, &again), 0);
		ck_assert_uint_eq(again, handle);
		guest_fails(guest_import(other, dma_buf, &imported), 0);
		guest_check_object(&second, imported, SIZE, 3 + i);
		guest_fill_object(&second, imported, SIZE, 5 + i);
		ck_assert_uint_eq(guest_free(fd), before);
		guest_fails(guest_close(fd, handle), 0);
		close(dma_buf);
		/* The second file has it still. */
		guest_check_object(&second, imported, SIZE, 5 + i);
		guest_mover_end(&second);
		close(other);
		if (placements[i] == DRM_TRN_BO_HBM)
			ck_assert_uint_ge(guest_free(fd), before + SIZE);
	}
}
END_TEST

START_TEST(other_chip)
{
	uint32_t host = guest_bo(fd, DRM_TRN_BO_HOST, SIZE), imported, hbm;
	struct guest_mover second;
	uint8_t *bytes;
	int other, dma_buf;

	if (guest_chips() < 2) {
		fprintf(stderr, "dmabuf: skipped, there is one chip\n");
		return;
	}
	other = guest_open(1);
	second = guest_mover(other);
	guest_fill_object(&mover, host, SIZE, 11);
	dma_buf = guest_export(fd, host);
	ck_assert_int_ge(dma_buf, 0);
	guest_fails(guest_import(other, dma_buf, &imported), 0);
	guest_check_object(&second, imported, SIZE, 11);
	guest_fill_object(&second, imported, SIZE, 12);
	guest_check_object(&mover, host, SIZE, 12);
	/* Mapped by the importer's own offset. */
	bytes = guest_map(other, imported, SIZE);
	guest_pattern(bytes, SIZE, 13);
	guest_check_object(&mover, host, SIZE, 13);
	munmap(bytes, SIZE);
	/* What is given away again is the same. */
	{
		uint32_t back;
		int again = guest_export(other, imported);

		ck_assert_int_ge(again, 0);
		guest_fails(guest_import(fd, again, &back), 0);
		ck_assert_uint_eq(back, host);
		close(again);
	}
	/* A context of the second chip keeps the first one's memory. */
	guest_fails(guest_bind(other, second.context, imported, 1 << 21, 4096), 0);
	guest_fails(guest_close(other, imported), 0);
	guest_fails(guest_close(fd, host), 0);
	close(dma_buf);
	guest_fails(guest_unbind(other, second.context, 1 << 21, 4096), 0);

	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, SIZE, &hbm), 0);
	dma_buf = guest_export(fd, hbm);
	ck_assert_int_ge(dma_buf, 0);
	guest_fails(guest_import(other, dma_buf, &imported), -EOPNOTSUPP);
	close(dma_buf);
	guest_mover_end(&second);
	close(other);
}
END_TEST

START_TEST(into_vgem_and_back)
{
	uint32_t host = guest_bo(fd, DRM_TRN_BO_HOST, SIZE), in_vgem, hbm, visible, back;
	int vgem = open_vgem(), dma_buf, again;

	if (vgem < 0)
		return;
	guest_fill_object(&mover, host, SIZE, 21);
	dma_buf = guest_export(fd, host);
	ck_assert_int_ge(dma_buf, 0);
	guest_fails(guest_import(vgem, dma_buf, &in_vgem), 0);
	again = guest_export(vgem, in_vgem);
	ck_assert_int_ge(again, 0);
	guest_fails(guest_import(fd, again, &back), 0);
	ck_assert_uint_eq(back, host);
	close(again);
	close(dma_buf);

	/* HBM cannot be had by a driver that knows nothing of it. */
	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, SIZE, &hbm), 0);
	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, SIZE,
				 DRM_TRN_BO_CPU_VISIBLE, &visible),
		    0);
	dma_buf = guest_export(fd, hbm);
	guest_fails(guest_import(vgem, dma_buf, &in_vgem), -EOPNOTSUPP);
	close(dma_buf);
	dma_buf = guest_export(fd, visible);
	guest_fails(guest_import(vgem, dma_buf, &in_vgem), -EOPNOTSUPP);
	close(dma_buf);
	close(vgem);
}
END_TEST

START_TEST(out_of_vgem)
{
	struct drm_mode_create_dumb dumb = { .width = SIZE / 4 / 100, .height = 100, .bpp = 32 };
	int vgem = open_vgem(), dma_buf;
	uint32_t handle;
	uint8_t *bytes;

	if (vgem < 0)
		return;
	guest_fails(guest_ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), 0);
	ck_assert_uint_ge(dumb.size, SIZE);
	dma_buf = guest_export(vgem, dumb.handle);
	ck_assert_int_ge(dma_buf, 0);
	guest_fails(guest_import(fd, dma_buf, &handle), 0);
	guest_fill_object(&mover, handle, SIZE, 22);
	bytes = map_dma_buf(dma_buf, PROT_READ);
	ck_assert_mem_eq(bytes, mover.bytes, SIZE);
	munmap(bytes, SIZE);
	bytes = guest_map(fd, handle, SIZE);
	guest_pattern(bytes, SIZE, 23);
	guest_check_object(&mover, handle, SIZE, 23);
	/* It is the exporter's memory, and stays. */
	close(dma_buf);
	close(vgem);
	guest_check_object(&mover, handle, SIZE, 23);
	guest_fails(guest_close(fd, handle), 0);
	guest_pattern(mover.bytes, SIZE, 23);
	ck_assert_mem_eq(bytes, mover.bytes, SIZE);
	munmap(bytes, SIZE);
}
END_TEST

START_TEST(from_udmabuf)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), memory, dma_buf;
	struct udmabuf_create create = { .size = SIZE };
	uint32_t handle;
	uint8_t *bytes;

	if (device < 0) {
		fprintf(stderr, "dmabuf: skipped, this kernel has no udmabuf\n");
		return;
	}
	memory = memfd_create("udmabuf", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	ck_assert_int_ge(memory, 0);
	ck_assert_int_eq(ftruncate(memory, SIZE), 0);
	ck_assert_int_eq(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	create.memfd = (uint32_t)memory;
	dma_buf = ioctl(device, UDMABUF_CREATE, &create);
	ck_assert_msg(dma_buf >= 0, "UDMABUF_CREATE: %s", strerror(errno));
	bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	ck_assert_ptr_ne(bytes, MAP_FAILED);
	guest_pattern(bytes, SIZE, 31);
	guest_fails(guest_import(fd, dma_buf, &handle), 0);
	close(dma_buf);
	guest_check_object(&mover, handle, SIZE, 31);
	guest_fill_object(&mover, handle, SIZE, 32);
	ck_assert_mem_eq(bytes, mover.bytes, SIZE);
	guest_fails(guest_close(fd, handle), 0);
	munmap(bytes, SIZE);
	close(memory);
	close(device);
}
END_TEST

START_TEST(bad_imports)
{
	uint32_t handle;
	int file = open("/dev/null", O_RDWR | O_CLOEXEC);

	guest_fails(guest_import(fd, file, &handle), -EINVAL);
	guest_fails(guest_import(fd, -1, &handle), -EBADF);
	guest_fails(guest_export(fd, 100000), -ENOENT);
	close(file);
}
END_TEST

static void send_file(int to, int file)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &file, sizeof(int));
	ck_assert_int_eq(sendmsg(to, &message, 0), 1);
}

static int receive_file(int from)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int file;

	ck_assert_int_eq(recvmsg(from, &message, 0), 1);
	ck_assert_ptr_nonnull(CMSG_FIRSTHDR(&message));
	memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return file;
}

/* The exporter makes three objects, hands them over and is killed. */
START_TEST(outlives_its_process)
{
	uint64_t before = guest_free(fd);
	int sockets[2], dma_bufs[3], pid, i;
	uint32_t handles[3];
	uint8_t *bytes;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		int file = guest_open(0);
		struct guest_mover theirs = guest_mover(file);

		guest_fails(guest_create(file, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, SIZE,
					 DRM_TRN_BO_CPU_VISIBLE, &handles[0]),
			    0);
		handles[1] = guest_bo(file, DRM_TRN_BO_HBM, SIZE);
		handles[2] = guest_bo(file, DRM_TRN_BO_HOST, SIZE);
		for (i = 0; i < 3; i++) {
			guest_fill_object(&theirs, handles[i], SIZE, 41 + (uint64_t)i);
			send_file(sockets[1], guest_export(file, handles[i]));
		}
		pause();
	}
	for (i = 0; i < 3; i++)
		dma_bufs[i] = receive_file(sockets[0]);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);

	guest_pattern(mover.bytes, SIZE, 41);
	bytes = map_dma_buf(dma_bufs[0], PROT_READ);
	ck_assert_mem_eq(bytes, mover.bytes, SIZE);
	munmap(bytes, SIZE);
	for (i = 0; i < 3; i++) {
		guest_fails(guest_import(fd, dma_bufs[i], &handles[i]), 0);
		guest_check_object(&mover, handles[i], SIZE, 41 + (uint64_t)i);
		close(dma_bufs[i]);
	}
	for (i = 0; i < 3; i++)
		guest_fails(guest_close(fd, handles[i]), 0);
	ck_assert_uint_eq(guest_free(fd), before);
	close(sockets[0]);
	close(sockets[1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dmabuf");
	TCase *cases = tcase_create("dmabuf");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, mapped_without_offset);
	tcase_add_test(cases, mapped_hbm);
	tcase_add_test(cases, same_chip);
	tcase_add_test(cases, other_chip);
	tcase_add_test(cases, into_vgem_and_back);
	tcase_add_test(cases, out_of_vgem);
	tcase_add_test(cases, from_udmabuf);
	tcase_add_test(cases, bad_imports);
	tcase_add_test(cases, outlives_its_process);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
