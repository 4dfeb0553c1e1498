/* SPDX-License-Identifier: MIT */
/*
 * HBM filled to the last page, by large objects and by small ones: the next request is
 * refused and nobody's data suffers.  All of it is written and read: for a chip with
 * little HBM, in a boot of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest_memory.h"

#define TOTAL_MAX GIB
#define OBJECTS	  65536

static struct {
	uint32_t handle;
	uint64_t size;
} objects[OBJECTS];

/* Objects of @size, then of ever smaller sizes, until not a page is free. */
static unsigned int fill(int fd, uint64_t size)
{
	unsigned int count = 0;

	for (; size >= 4096; size = size / 2 / 4096 * 4096) {
		int error;

		while (!(error = guest_hbm(fd, DRM_TRN_STACK_ANY, size, &objects[count].handle))) {
			objects[count].size = size;
			ck_assert_uint_lt(++count, OBJECTS);
		}
		guest_fails(error, -ENOSPC);
	}
	return count;
}

static void check_full(int fd)
{
	struct drm_trn_query_memory memory = guest_memory(fd);
	uint32_t i, handle;

	for (i = 0; i < memory.stacks; i++) {
		ck_assert_uint_eq(memory.stack[i].free, 0);
		ck_assert_uint_eq(memory.stack[i].largest, 0);
		guest_fails(guest_hbm(fd, i, 4096, &handle), -ENOSPC);
	}
	ck_assert_uint_eq(memory.cpu_visible_free, 0);
	guest_fails(guest_hbm(fd, DRM_TRN_STACK_ANY, 4096, &handle), -ENOSPC);
	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, 4096,
				 DRM_TRN_BO_CPU_VISIBLE, &handle),
		    -ENOSPC);
}

START_TEST(full)
{
	static const uint64_t sizes[] = { 24 * MIB, 3 * MIB + 8 * KIB };
	uint64_t size = sizes[_i];
	int fd = guest_open(0);
	struct drm_trn_query_memory before = guest_memory(fd), after;
	struct guest_mover mover = guest_mover(fd);
	unsigned int count, i;

	ck_assert_msg(guest_free(fd) <= TOTAL_MAX, "memory_full: for a chip of 1 GiB or less");
	count = fill(fd, size);
	check_full(fd);
	for (i = 0; i < count; i++)
		guest_fill_object(&mover, objects[i].handle, objects[i].size, i);
	check_full(fd);
	for (i = 0; i < count; i++)
		guest_check_object(&mover, objects[i].handle, objects[i].size, i);
	/* Every second one is freed: the rest stays, and the holes can be had in one. */
	for (i = 0; i < count; i += 2)
		guest_fails(guest_close(fd, objects[i].handle), 0);
	for (i = 0; i < before.stacks; i++) {
		uint64_t free = guest_memory(fd).stack[i].free;
		uint32_t handle;

		if (free)
			guest_fails(guest_hbm(fd, i, free, &handle), 0);
	}
	check_full(fd);
	for (i = 1; i < count; i += 2)
		guest_check_object(&mover, objects[i].handle, objects[i].size, i);
	guest_mover_end(&mover);
	close(fd);

	fd = guest_open(0);
	after = guest_memory(fd);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_full");
	TCase *cases = tcase_create("memory_full");

	tcase_set_timeout(cases, 300);
	tcase_add_loop_test(cases, full, 0, 2);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
