/* SPDX-License-Identifier: MIT */
/* Objects in the address space of a process: what the chip sees of it, and bad requests. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "first_chip.h"
#include "guest_memory.h"

static uint32_t visible(uint64_t size)
{
	uint32_t handle;

	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, size,
				 DRM_TRN_BO_CPU_VISIBLE, &handle),
		    0);
	return handle;
}

/* The CPU and the chip see the same bytes, through the aperture and without it. */
START_TEST(hbm_is_shared)
{
	const uint64_t size = 3 * MIB + 20 * KIB;
	uint32_t handle = visible(size);
	uint8_t *bytes = guest_map(fd, handle, size);
	static uint8_t wanted[GUEST_STAGING];
	uint64_t offset;

	/* Fresh memory is zero for the CPU too. */
	for (offset = 0; offset < size; offset += 8)
		ck_assert_uint_eq(*(volatile uint64_t *)(bytes + offset), 0);
	guest_pattern(wanted, sizeof(wanted), 7);
	for (offset = 0; offset < size; offset += sizeof(wanted))
		memcpy(bytes + offset, wanted,
		       size - offset < sizeof(wanted) ? size - offset : sizeof(wanted));
	/* The submission's own stores drain the write-combining buffers. */
	guest_check_object(&mover, handle, size, 7);

	guest_fill_object(&mover, handle, size, 8);
	guest_pattern(wanted, sizeof(wanted), 8);
	for (offset = 0; offset < size; offset += sizeof(wanted))
		ck_assert_mem_eq(bytes + offset, wanted,
				 size - offset < sizeof(wanted) ? size - offset : sizeof(wanted));
	ck_assert_int_eq(munmap(bytes, size), 0);
}
END_TEST

/* Each page by itself, last one first, and with the protection changed in between. */
START_TEST(pages_in_any_order)
{
	static const uint32_t placements[] = { DRM_TRN_BO_HBM, DRM_TRN_BO_HOST };
	const uint64_t size = 512 * KIB;
	size_t i;

	for (i = 0; i < 2; i++) {
		uint32_t handle = placements[i] == DRM_TRN_BO_HBM ?
					  visible(size) :
					  guest_bo(fd, DRM_TRN_BO_HOST, size);
		volatile uint8_t *bytes = guest_map(fd, handle, size);
		uint64_t page;

		for (page = size / 4096; page--;)
			bytes[page * 4096 + page] = (uint8_t)(page + 1);
		ck_assert_int_eq(mprotect((void *)bytes, size, PROT_READ), 0);
		for (page = 0; page < size / 4096; page++)
			ck_assert_uint_eq(bytes[page * 4096 + page], (uint8_t)(page + 1));
		ck_assert_int_eq(mprotect((void *)bytes, size, PROT_READ | PROT_WRITE), 0);
		bytes[0] = 77;
		guest_fetch(&mover, handle, 0, size);
		ck_assert_uint_eq(mover.bytes[0], 77);
		ck_assert_uint_eq(mover.bytes[4096 + 1], 2);
		ck_assert_int_eq(munmap((void *)bytes, size), 0);
	}
}
END_TEST

/* Holes, pieces, other places, other processes. */
START_TEST(mappings_are_cut_and_moved)
{
	const uint64_t size = 64 * KIB;
	uint32_t handle = visible(size);
	uint8_t *bytes = guest_map(fd, handle, size);
	volatile uint8_t *moved;
	int pid;

	bytes[0] = 1;
	bytes[5 * 4096] = 5;
	bytes[15 * 4096] = 15;
	ck_assert_int_eq(munmap(bytes + 4096, 4096), 0);
	ck_assert_uint_eq(bytes[5 * 4096], 5);
	moved = mremap(bytes + 8 * 4096, 8 * 4096, 8 * 4096, MREMAP_MAYMOVE);
	ck_assert_ptr_ne((void *)moved, MAP_FAILED);
	ck_assert_uint_eq(moved[7 * 4096], 15);
	/* It does not grow over what is not the object's. */
	ck_assert_ptr_eq(mremap((void *)moved, 8 * 4096, 64 * 4096, MREMAP_MAYMOVE), MAP_FAILED);

	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		bytes[0] = 2;
		_exit(moved[7 * 4096] != 15);
	}
	guest_child_passed(pid);
	ck_assert_uint_eq(*(volatile uint8_t *)bytes, 2);
}
END_TEST

static void try_map(size_t size, int flags, uint64_t offset, int error)
{
	void *pointer = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);

	ck_assert_msg(pointer == MAP_FAILED, "mmap of %zu bytes at 0x%llx, flags 0x%x, succeeded",
		      size, (unsigned long long)offset, (unsigned int)flags);
	ck_assert_msg(errno == error, "mmap of %zu bytes at 0x%llx, flags 0x%x: %s", size,
		      (unsigned long long)offset, (unsigned int)flags, strerror(errno));
}

START_TEST(bad_mappings)
{
	const uint64_t size = 64 * KIB;
	uint32_t handles[2] = { visible(size), guest_bo(fd, DRM_TRN_BO_HOST, size) };
	struct drm_trn_bo_mmap_offset bad = { .handle = handles[0], .pad = 1 };
	uint64_t offset, unused;
	void *pointer;
	int i;

	for (i = 0; i < 2; i++) {
		guest_fails(guest_mmap_offset(fd, handles[i], &offset), 0);
		try_map(0, MAP_SHARED, offset, EINVAL);
		try_map(size + 4096, MAP_SHARED, offset, EINVAL);
		try_map(UINT64_C(1) << 46, MAP_SHARED, offset, EINVAL);
		try_map(SIZE_MAX - 8191, MAP_SHARED, offset, ENOMEM);
		try_map(size, MAP_PRIVATE, offset, EINVAL);
		try_map(4096, MAP_SHARED, offset + 1, EINVAL);
		try_map(4096, MAP_SHARED, offset + 4096, EINVAL);
		try_map(4096, MAP_SHARED, offset - 4096, EINVAL);
		/* An odd size is a whole page more of the same object. */
		pointer = mmap(NULL, size - 4095, PROT_READ, MAP_SHARED, fd, (off_t)offset);
		ck_assert_ptr_ne(pointer, MAP_FAILED);
		ck_assert_int_eq(munmap(pointer, size), 0);
	}
	/* Nobody's, DRM's and the queues' ends. */
	try_map(4096, MAP_SHARED, 0, EINVAL);
	try_map(4096, MAP_SHARED, (UINT64_C(1) << 43) - 4096, EINVAL);
	try_map(4096, MAP_SHARED, UINT64_C(1) << 43, EINVAL);
	try_map(4096, MAP_SHARED, UINT64_MAX - 4095, EINVAL);

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &bad), -EINVAL);
	guest_fails(guest_mmap_offset(fd, handles[1] + 1000, &unused), -ENOENT);
	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, size, &handles[0]), 0);
	guest_fails(guest_mmap_offset(fd, handles[0], &unused), -EOPNOTSUPP);
}
END_TEST

/* An offset is of use only to a file that has the object. */
START_TEST(other_files_objects)
{
	uint32_t handle = visible(4 * KIB);
	int other = guest_open(0), mine = fd;
	uint64_t offset;

	guest_fails(guest_mmap_offset(fd, handle, &offset), 0);
	fd = other;
	try_map(4096, MAP_SHARED, offset, EACCES);
	fd = mine;
	close(other);
}
END_TEST

/* Memory stays while it is mapped, and is free when it no longer is. */
START_TEST(mapping_holds_the_object)
{
	struct drm_trn_query_memory before = guest_memory(fd);
	uint32_t handle = visible(MIB);
	volatile uint8_t *bytes = guest_map(fd, handle, MIB);
	int other;

	bytes[MIB - 1] = 9;
	guest_fails(guest_close(fd, handle), 0);
	ck_assert_uint_eq(guest_memory(fd).cpu_visible_free, before.cpu_visible_free - MIB);
	ck_assert_uint_eq(bytes[MIB - 1], 9);
	/* Pages that were never touched. */
	bytes[MIB / 2] = 3;
	ck_assert_uint_eq(bytes[MIB / 2], 3);
	other = guest_open(0);
	close(fd);
	ck_assert_uint_eq(bytes[MIB - 1], 9);
	ck_assert_int_eq(munmap((void *)bytes, MIB), 0);
	guest_mover_end(&mover);
	fd = other;
	ck_assert_uint_eq(guest_memory(fd).cpu_visible_free, before.cpu_visible_free);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_mmap");
	TCase *cases = tcase_create("memory_mmap");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, hbm_is_shared);
	tcase_add_test(cases, pages_in_any_order);
	tcase_add_test(cases, mappings_are_cut_and_moved);
	tcase_add_test(cases, bad_mappings);
	tcase_add_test(cases, other_files_objects);
	tcase_add_test(cases, mapping_holds_the_object);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
