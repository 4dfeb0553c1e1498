/* SPDX-License-Identifier: MIT */
/* Ranges of DMA addresses: what is found, what is refused, and who waits for whom. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/check_run.h"
#include "tools/vdev/vfio-user/dma.h"
#include "tools/vdev/vfio-user/protocol.h"

#define PAGE	  4096ULL
#define FILE_SIZE (64 * PAGE)

static struct trn_dma dma;
static int file;
static uint8_t *content; /* of file */

static void begin(void)
{
	trn_dma_init(&dma);
	file = memfd_create("dma", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(file, FILE_SIZE), 0);
	content = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	for (size_t i = 0; i < FILE_SIZE / PAGE; i++)
		content[i * PAGE] = i;
}

static int add(uint64_t address, uint64_t size, int fd, uint64_t offset)
{
	return trn_dma_add(&dma, address, size, true, true, fd, offset);
}

static int remove_range(uint64_t first, uint64_t last)
{
	struct trn_dma_removal removal;
	int err = trn_dma_begin_removal(&dma, first, last, &removal);

	if (!err)
		trn_dma_finish_removal(&dma, &removal);
	return err;
}

static void end(void)
{
	ck_assert_int_eq(remove_range(0, UINT64_MAX), 0);
	ck_assert_uint_eq(trn_dma_count(&dma), 0);
	ck_assert_ptr_null(dma.files);
	trn_dma_destroy(&dma);
	munmap(content, FILE_SIZE);
	close(file);
}

/* First byte of what address shows, or -1: nothing. */
static int peek(uint64_t address)
{
	struct trn_host_map map;
	int value;

	if (trn_dma_hold(&dma, address, 1, false, &map))
		return -1;
	value = *(uint8_t *)map.address;
	trn_dma_release(&dma, &map);
	return value;
}

START_TEST(shows_the_file_at_its_offset)
{
	struct trn_host_map map;

	ck_assert_int_eq(add(0x10000, 4 * PAGE, file, 8 * PAGE), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, 0x10000 + PAGE + 5, 100, true, &map), 0);
	ck_assert_uint_eq(map.length, 100);
	/* All of the range is held, in one piece. */
	ck_assert_uint_eq(map.first, 0x10000);
	ck_assert_uint_eq(map.last, 0x10000 + 4 * PAGE - 1);
	ck_assert_uint_eq(((uint8_t *)map.address)[2 * PAGE - 5], 11);
	*(uint8_t *)map.address = 0xaa;
	trn_dma_release(&dma, &map);
	ck_assert_uint_eq(content[9 * PAGE + 5], 0xaa);

	/* Clipped at the range's end, never beyond. */
	ck_assert_int_eq(trn_dma_hold(&dma, 0x10000 + 4 * PAGE - 3, SIZE_MAX, false, &map), 0);
	ck_assert_uint_eq(map.length, 3);
	trn_dma_release(&dma, &map);
	ck_assert_int_eq(peek(0x10000 + 4 * PAGE), -1);
	ck_assert_int_eq(peek(0x10000 - 1), -1);
}
END_TEST

START_TEST(end_of_the_address_space)
{
	struct trn_host_map map;

	ck_assert_int_eq(add(UINT64_MAX - PAGE + 1, PAGE, file, 0), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, UINT64_MAX, 8, false, &map), 0);
	ck_assert_uint_eq(map.length, 1);
	ck_assert_uint_eq(map.first, UINT64_MAX - PAGE + 1);
	ck_assert_uint_eq(map.last, UINT64_MAX);
	trn_dma_release(&dma, &map);
	ck_assert_int_eq(remove_range(UINT64_MAX - PAGE + 1, UINT64_MAX), 0);
	ck_assert_int_eq(peek(UINT64_MAX), -1);
}
END_TEST

START_TEST(refuses_what_cannot_be)
{
	int pipe_fds[2];

	ck_assert_int_eq(add(0, 0, file, 0), -EINVAL);
	ck_assert_int_eq(add(1, PAGE, file, 0), -EINVAL);
	ck_assert_int_eq(add(0, PAGE + 1, file, 0), -EINVAL);
	ck_assert_int_eq(add(0, PAGE, file, 1), -EINVAL);
	ck_assert_int_eq(add(UINT64_MAX - PAGE + 1, 2 * PAGE, file, 0), -EINVAL);
	ck_assert_int_eq(add(0, PAGE, file, FILE_SIZE), -EINVAL);
	ck_assert_int_eq(add(0, 2 * PAGE, file, FILE_SIZE - PAGE), -EINVAL);
	ck_assert_int_eq(add(0, 2 * PAGE, file, UINT64_MAX - PAGE + 1), -EINVAL);
	ck_assert_int_eq(pipe(pipe_fds), 0);
	ck_assert_int_eq(add(0, PAGE, pipe_fds[0], 0), -EINVAL);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	ck_assert_uint_eq(trn_dma_count(&dma), 0);
}
END_TEST

START_TEST(refuses_overlap)
{
	ck_assert_int_eq(add(0x10000, 4 * PAGE, file, 0), 0);
	ck_assert_int_eq(add(0x10000, 4 * PAGE, file, 0), -EEXIST);
	ck_assert_int_eq(add(0x10000 + PAGE, PAGE, file, 0), -EEXIST);
	ck_assert_int_eq(add(0x10000 - PAGE, 2 * PAGE, file, 0), -EEXIST);
	ck_assert_int_eq(add(0x10000 + 3 * PAGE, 2 * PAGE, -1, 0), -EEXIST);
	ck_assert_int_eq(add(0x10000 - PAGE, 6 * PAGE, file, 0), -EEXIST);
	ck_assert_int_eq(add(0x10000 - PAGE, PAGE, file, 0), 0);
	ck_assert_int_eq(add(0x10000 + 4 * PAGE, PAGE, file, 0), 0);
	ck_assert_uint_eq(trn_dma_count(&dma), 3);
}
END_TEST

START_TEST(directions_are_kept)
{
	struct trn_host_map map;
	char path[64];
	int read_only;

	ck_assert_int_eq(trn_dma_add(&dma, 0, PAGE, true, false, file, 0), 0);
	ck_assert_int_eq(trn_dma_add(&dma, PAGE, PAGE, false, true, file, 0), 0);
	ck_assert_int_eq(trn_dma_add(&dma, 2 * PAGE, PAGE, false, false, file, 0), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, 0, 1, true, &map), -EFAULT);
	ck_assert_int_eq(trn_dma_hold(&dma, PAGE, 1, false, &map), -EFAULT);
	ck_assert_int_eq(trn_dma_hold(&dma, 2 * PAGE, 1, false, &map), -EFAULT);
	ck_assert_int_eq(peek(0), 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(read_only, 0);
	ck_assert_int_eq(remove_range(0, UINT64_MAX), 0);
	ck_assert_int_eq(add(0, PAGE, read_only, 0), -EACCES);
	ck_assert_int_eq(trn_dma_add(&dma, 0, PAGE, true, false, read_only, 5 * PAGE), 0);
	ck_assert_int_eq(peek(0), 5);
	/* What was mapped for reading serves no writer. */
	ck_assert_int_eq(add(PAGE, PAGE, file, PAGE), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, PAGE, 1, true, &map), 0);
	*(uint8_t *)map.address = 77;
	trn_dma_release(&dma, &map);
	ck_assert_uint_eq(content[PAGE], 77);
	close(read_only);
}
END_TEST

START_TEST(without_descriptor_is_for_messages)
{
	struct trn_host_map map;

	ck_assert_int_eq(add(0, PAGE, -1, 0), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, 8, 8, true, &map), -EOPNOTSUPP);
	ck_assert_int_eq(trn_dma_hold(&dma, PAGE, 8, true, &map), -EFAULT);
}
END_TEST

START_TEST(removal_takes_whole_ranges)
{
	for (unsigned int i = 0; i < 8; i++)
		ck_assert_int_eq(add(i * 2 * PAGE, 2 * PAGE, file, i * 2 * PAGE), 0);
	ck_assert_int_eq(remove_range(PAGE, 8 * PAGE - 1), -EINVAL);
	ck_assert_int_eq(remove_range(0, 7 * PAGE - 1), -EINVAL);
	ck_assert_int_eq(remove_range(PAGE, 2 * PAGE - 1), -EINVAL);
	ck_assert_uint_eq(trn_dma_count(&dma), 8);
	ck_assert_int_eq(remove_range(2 * PAGE, 6 * PAGE - 1), 0);
	ck_assert_uint_eq(trn_dma_count(&dma), 6);
	ck_assert_int_eq(peek(0), 0);
	ck_assert_int_eq(peek(2 * PAGE), -1);
	ck_assert_int_eq(peek(5 * PAGE), -1);
	ck_assert_int_eq(peek(6 * PAGE), 6);
	/* Nothing there: nothing done. */
	ck_assert_int_eq(remove_range(2 * PAGE, 6 * PAGE - 1), 0);
	ck_assert_int_eq(remove_range(1 << 30, UINT64_MAX), 0);
	ck_assert_uint_eq(trn_dma_count(&dma), 6);
}
END_TEST

static unsigned int mappings_of_file(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int count = 0;
	char line[512];

	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "memfd:dma") != NULL;
	fclose(maps);
	return count;
}

START_TEST(file_is_mapped_once)
{
	unsigned int before = mappings_of_file();

	for (unsigned int i = 0; i < 1000; i++) {
		int copy = dup(file);

		ck_assert_int_eq(add(i * PAGE, PAGE, copy, i % 64 * PAGE), 0);
		close(copy);
	}
	ck_assert_uint_eq(mappings_of_file(), before + 1);
	ck_assert_int_eq(peek(70 * PAGE), 6);
	ck_assert_int_eq(remove_range(0, UINT64_MAX), 0);
	ck_assert_uint_eq(mappings_of_file(), before);
}
END_TEST

START_TEST(grown_file_is_mapped_anew)
{
	ck_assert_int_eq(add(0, PAGE, file, 0), 0);
	ck_assert_int_eq(ftruncate(file, 2 * FILE_SIZE), 0);
	ck_assert_int_eq(pwrite(file, "x", 1, FILE_SIZE), 1);
	ck_assert_int_eq(add(PAGE, PAGE, file, FILE_SIZE), 0);
	ck_assert_int_eq(peek(PAGE), 'x');
	ck_assert_int_eq(peek(0), 0);
}
END_TEST

START_TEST(files_are_limited)
{
	int files[65];

	for (unsigned int i = 0; i < 65; i++) {
		files[i] = memfd_create("other", MFD_CLOEXEC);
		ck_assert_int_eq(ftruncate(files[i], PAGE), 0);
		ck_assert_int_eq(add(i * PAGE, PAGE, files[i], 0), i < 64 ? 0 : -ENOSPC);
		close(files[i]);
	}
	ck_assert_int_eq(remove_range(0, PAGE - 1), 0);
	ck_assert_int_eq(add(0, PAGE, file, 0), 0);
}
END_TEST

/* Cut off while it is held, and before. */
START_TEST(truncated_file_is_a_fault)
{
	int other = memfd_create("other", MFD_CLOEXEC);
	struct trn_host_map map;

	ck_assert_int_eq(ftruncate(other, 4 * PAGE), 0);
	ck_assert_int_eq(add(0, 4 * PAGE, other, 0), 0);
	ck_assert_int_eq(add(4 * PAGE, PAGE, file, 3 * PAGE), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, 3 * PAGE, PAGE, true, &map), 0);
	memset(map.address, 0x77, PAGE);
	ck_assert_int_eq(ftruncate(other, PAGE), 0);
	memset(map.address, 0x88, PAGE);
	trn_dma_release(&dma, &map);
	ck_assert_int_eq(trn_dma_hold(&dma, 0, 1, false, &map), -EFAULT);
	/* Other files have nothing to do with it. */
	ck_assert_int_eq(peek(4 * PAGE), 3);
	ck_assert_int_eq(remove_range(0, 4 * PAGE - 1), 0);
	ck_assert_int_eq(add(0, PAGE, other, 0), 0);
	ck_assert_int_eq(peek(0), 0);
	close(other);
}
END_TEST

START_TEST(other_bus_errors_still_kill)
{
	int other = memfd_create("other", MFD_CLOEXEC);
	volatile uint8_t *memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, other, 0);

	ck_assert_int_eq(add(0, PAGE, file, 0), 0);
	ck_assert_uint_eq(memory[0], 1);
}
END_TEST

/* All that the protocol allows, downwards, as an IOMMU's allocator goes. */
START_TEST(many_ranges_are_cheap)
{
	const uint64_t top = 1ULL << 32;
	struct timespec start, stop;
	uint64_t ns;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (uint64_t i = 1; i <= VFIO_USER_MAPPINGS_MAX; i++)
		ck_assert_int_eq(add(top - i * PAGE, PAGE, file, i % 64 * PAGE), 0);
	ck_assert_int_eq(add(top, PAGE, file, 0), -ENOSPC);
	for (uint64_t i = 1; i <= VFIO_USER_MAPPINGS_MAX; i += 97)
		ck_assert_int_eq(peek(top - i * PAGE), i % 64);
	for (uint64_t i = 1; i <= VFIO_USER_MAPPINGS_MAX; i++)
		ck_assert_int_eq(remove_range(top - i * PAGE, top - i * PAGE + PAGE - 1), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &stop);
	ns = (stop.tv_sec - start.tv_sec) * 1000000000ULL + stop.tv_nsec - start.tv_nsec;
	/* Some 2 µs each, ten times that under a sanitizer; a list would take far longer. */
	ck_assert_uint_lt(ns / VFIO_USER_MAPPINGS_MAX, 50000);
}
END_TEST

static atomic_bool removed;

static void *remover(void *argument)
{
	(void)argument;
	ck_assert_int_eq(remove_range(0, 2 * PAGE - 1), 0);
	atomic_store(&removed, true);
	return NULL;
}

START_TEST(removal_waits_for_holders)
{
	struct trn_host_map first, second;
	struct timespec pause = { .tv_nsec = 1000000 };
	pthread_t thread;

	atomic_store(&removed, false);
	ck_assert_int_eq(add(0, PAGE, file, PAGE), 0);
	ck_assert_int_eq(add(PAGE, PAGE, file, 2 * PAGE), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, 0, 8, true, &first), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, PAGE, 8, true, &second), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, remover, NULL), 0);
	/* Gone for newcomers, there for holders. */
	while (peek(0) >= 0)
		nanosleep(&pause, NULL);
	*(uint8_t *)first.address = 0x11;
	trn_dma_release(&dma, &first);
	nanosleep(&pause, NULL);
	ck_assert(!atomic_load(&removed));
	*(uint8_t *)second.address = 0x22;
	trn_dma_release(&dma, &second);
	pthread_join(thread, NULL);
	ck_assert(atomic_load(&removed));
	ck_assert_uint_eq(content[PAGE], 0x11);
	ck_assert_uint_eq(content[2 * PAGE], 0x22);
}
END_TEST

START_TEST(held_range_can_be_replaced)
{
	struct trn_dma_removal removal;
	struct trn_host_map map;

	ck_assert_int_eq(add(0, PAGE, file, PAGE), 0);
	ck_assert_int_eq(trn_dma_hold(&dma, 0, 8, true, &map), 0);
	ck_assert_int_eq(trn_dma_begin_removal(&dma, 0, PAGE - 1, &removal), 0);
	ck_assert(trn_dma_removal_held(&dma, &removal));
	ck_assert_int_eq(add(0, PAGE, file, 2 * PAGE), 0);
	ck_assert_int_eq(peek(0), 2);
	ck_assert_int_eq(*(uint8_t *)map.address, 1);
	trn_dma_release(&dma, &map);
	ck_assert(!trn_dma_removal_held(&dma, &removal));
	trn_dma_finish_removal(&dma, &removal);
	ck_assert_int_eq(peek(0), 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vdev-dma");
	TCase *tests = tcase_create("dma");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, shows_the_file_at_its_offset);
	tcase_add_test(tests, end_of_the_address_space);
	tcase_add_test(tests, refuses_what_cannot_be);
	tcase_add_test(tests, refuses_overlap);
	tcase_add_test(tests, directions_are_kept);
	tcase_add_test(tests, without_descriptor_is_for_messages);
	tcase_add_test(tests, removal_takes_whole_ranges);
	tcase_add_test(tests, file_is_mapped_once);
	tcase_add_test(tests, grown_file_is_mapped_anew);
	tcase_add_test(tests, files_are_limited);
	tcase_add_test(tests, truncated_file_is_a_fault);
	tcase_add_test_raise_signal(tests, other_bus_errors_still_kill, SIGBUS);
	tcase_add_test(tests, many_ranges_are_cheap);
	tcase_add_test(tests, removal_waits_for_holders);
	tcase_add_test(tests, held_range_can_be_replaced);
	suite_add_tcase(suite, tests);
	return check_run(suite);
}
