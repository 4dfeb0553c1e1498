/* SPDX-License-Identifier: MIT */
/* Devices, buffers and address spaces as an application sees them. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest_memory.h"

#define KIB   UINT64_C(1024)
#define MIB   (KIB * 1024)

#define PAGES 64

static struct trn_device *device;
static struct trn_context *context;

static void start(void)
{
	guest_ok(trn_device_open(0, &device));
	guest_ok(trn_context_create(device, &context));
}

static void stop(void)
{
	guest_ok(trn_context_destroy(context));
	guest_ok(trn_device_close(device));
}

START_TEST(list_and_open_each)
{
	const struct trn_device_list *list;
	uint8_t uuids[64][16];
	size_t i, j;

	guest_ok(trn_device_list(&list));
	ck_assert_uint_ge(list->count, 1);
	ck_assert_uint_le(list->count, 64);
	for (i = 0; i < list->count; i++) {
		const struct trn_device_info *info;
		struct trn_device *each;

		ck_assert_uint_eq(list->entry[i]->index, i);
		if (i)
			ck_assert_int_lt(strcmp(list->entry[i - 1]->pci, list->entry[i]->pci), 0);
		guest_ok(trn_device_open_path(list->entry[i]->node, &each));
		info = trn_device_info(each);
		ck_assert_uint_ge(info->cores, 1);
		ck_assert_uint_ge(info->hbm_stacks, 1);
		ck_assert_uint_gt(info->hbm_stack_size, 0);
		ck_assert_uint_eq(info->architecture_major, 1);
		ck_assert_uint_eq(info->address_bits, 48);
		ck_assert_uint_eq(info->page_size, (uint32_t)sysconf(_SC_PAGESIZE));
		ck_assert_uint_gt(strlen(info->generation), 0);
		ck_assert_uint_gt(strlen(info->serial), 0);
		/* Every chip has its own UUID. */
		memcpy(uuids[i], info->uuid, 16);
		for (j = 0; j < i; j++)
			ck_assert_mem_ne(uuids[i], uuids[j], 16);
		guest_ok(trn_device_close(each));
	}
	trn_device_list_free(list);
}
END_TEST

START_TEST(use_follows_buffers)
{
	unsigned int stacks = trn_device_info(device)->hbm_stacks, i;
	struct trn_memory before[16], during[16], after[16];
	struct trn_buffer *buffer;

	ck_assert_int_eq(trn_device_memory(device, before, 16), (int)stacks);
	for (i = 0; i < stacks; i++) {
		unsigned int j;

		guest_ok(trn_buffer_create(context, TRN_PLACEMENT_HBM, i, 4 * MIB, 0, &buffer));
		guest_ok(trn_device_memory(device, during, 16));
		for (j = 0; j < stacks; j++)
			ck_assert_uint_eq(during[j].free, before[j].free - (i == j ? 4 * MIB : 0));
		guest_ok(trn_buffer_destroy(buffer));
	}
	guest_ok(trn_device_memory(device, after, 16));
	ck_assert_mem_eq(before, after, stacks * sizeof(before[0]));
	for (i = 0; i < stacks; i++) {
		ck_assert_uint_le(before[i].largest, before[i].free);
		ck_assert_uint_le(before[i].free, before[i].total);
	}
}
END_TEST

START_TEST(host_buffers_are_zero_and_shared)
{
	static const uint64_t sizes[] = { 1, 4096, 4097, 3 * MIB + 5 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct trn_buffer *buffer;
		void *pointer;
		uint8_t all = 0;
		uint64_t j;

		guest_ok(trn_buffer_create(context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, sizes[i], 0,
					   &buffer));
		guest_ok(trn_buffer_map(buffer, &pointer));
		for (j = 0; j < sizes[i]; j++)
			all |= ((uint8_t *)pointer)[j];
		ck_assert_uint_eq(all, 0);
		memset(pointer, 0xa5, sizes[i]);
		guest_ok(trn_buffer_destroy(buffer));
	}
}
END_TEST

/* A mapping outlives the handle and the file. */
START_TEST(mapping_outlives_file)
{
	int fd = guest_open(0);
	uint32_t host = guest_bo(fd, DRM_TRN_BO_HOST, 64 * KIB);
	struct drm_gem_close gem_close = { .handle = host };
	uint8_t *pointer = guest_map(fd, host, 64 * KIB);

	pointer[0] = 1;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem_close), 0);
	close(fd);
	ck_assert_uint_eq(pointer[0], 1);
	pointer[64 * KIB - 1] = 2;
	ck_assert_uint_eq(pointer[64 * KIB - 1], 2);
	ck_assert_int_eq(munmap(pointer, 64 * KIB), 0);
}
END_TEST

static int allocate(int fd, uint32_t stack, uint64_t size, uint32_t *handle)
{
	struct drm_trn_bo_create create = {
		.size = size,
		.placement = DRM_TRN_BO_HBM,
		.stack = stack,
	};
	int error = guest_ioctl(fd, DRM_IOCTL_TRN_BO_CREATE, &create);

	*handle = create.handle;
	return error;
}

/*
 * Fills a stack with the largest objects that it says it has room for, asks for more, and
 * gives all of it back.  Nothing is bound: that would take as many entries as pages.
 */
START_TEST(exhaustion)
{
	int fd = guest_open(0);
	struct drm_trn_query_memory before = guest_memory(fd), now, after;
	uint32_t handles[128], count = 0, other;

	guest_fails(allocate(fd, 0, before.stack[0].free + 4096, &other), -ENOSPC);
	for (now = before; now.stack[0].largest; now = guest_memory(fd)) {
		ck_assert_uint_lt(count, 128);
		guest_fails(allocate(fd, 0, now.stack[0].largest, &handles[count]), 0);
		count++;
	}
	ck_assert_uint_eq(now.stack[0].free, 0);
	guest_fails(allocate(fd, 0, 4096, &other), -ENOSPC);
	/* Other stacks are not affected. */
	if (before.stacks > 1)
		guest_fails(allocate(fd, DRM_TRN_STACK_ANY, 4096, &handles[count++]), 0);
	while (count) {
		struct drm_gem_close gem_close = { .handle = handles[--count] };

		guest_fails(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem_close), 0);
	}
	after = guest_memory(fd);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	close(fd);
}
END_TEST

/* libtrn says how much there is and what to do. */
START_TEST(exhaustion_is_explained)
{
	struct trn_memory memory[16];
	struct trn_buffer *buffer;

	guest_ok(trn_device_memory(device, memory, 16));
	guest_fails(
		trn_buffer_create(context, TRN_PLACEMENT_HBM, 0, memory[0].free + 4096, 0, &buffer),
		-ENOSPC);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "stack 0"));
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "free buffers"));
}
END_TEST

/* Contexts until there are no more; closing gives all of them back. */
START_TEST(contexts_run_out)
{
	int fd = guest_open(0), round;
	unsigned int count[2] = { 0, 0 };

	for (round = 0; round < 2; round++) {
		struct drm_trn_context_create create = { 0 };
		int error;

		while (!(error = guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_CREATE, &create)))
			ck_assert_uint_lt(++count[round], 65536);
		guest_fails(error, -ENOSPC);
		close(fd);
		fd = guest_open(0);
	}
	ck_assert_uint_eq(count[0], count[1]);
	ck_assert_uint_ge(count[0], 2);
	close(fd);
}
END_TEST

START_TEST(queues_run_out)
{
	int fd = guest_open(0), round;
	unsigned int count[2] = { 0, 0 };

	for (round = 0; round < 2; round++) {
		struct drm_trn_queue_create create = {
			.context = guest_context(fd),
			.type = TRN_QUEUE_TYPE_DMA,
			.mode = DRM_TRN_QUEUE_KERNEL,
			.ring_entries = 4,
		};
		int error;

		while (!(error = guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create)))
			ck_assert_uint_lt(++count[round], 65536);
		guest_fails(error, -ENOSPC);
		close(fd);
		fd = guest_open(0);
	}
	ck_assert_uint_eq(count[0], count[1]);
	ck_assert_uint_ge(count[0], 1);
	close(fd);
}
END_TEST

/* Objects, parts of them, twice, in one call; then away with all of it. */
START_TEST(many_binds_in_one_call)
{
	int fd = guest_open(0);
	uint64_t before = guest_free(fd), page = guest_info(fd).page_size;
	uint32_t id = guest_context(fd), hbm = guest_bo(fd, DRM_TRN_BO_HBM, PAGES * page);
	struct drm_gem_close gem_close = { .handle = hbm };
	struct drm_trn_context_destroy destroy = { .context = id };
	struct drm_trn_bind_op ops[2 * PAGES] = { { 0 } };
	struct drm_trn_vm_bind bind = {
		.context = id,
		.ops = {
			.stride = sizeof(ops[0]),
			.count = 2 * PAGES,
			.pointer = (uintptr_t)ops,
		},
	};
	int i, round;

	for (round = 0; round < 3; round++) {
		/* Pages in reverse, and every address is 1 GiB after the one before. */
		for (i = 0; i < 2 * PAGES; i++)
			ops[i] = (struct drm_trn_bind_op){
				.op = DRM_TRN_BIND_MAP,
				.flags = i & 1 ? DRM_TRN_BIND_READONLY : 0,
				.handle = hbm,
				.va = (uint64_t)(i + 1) << 30,
				.size = page,
				.offset = (uint64_t)(PAGES - 1 - i / 2) * page,
			};
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), 0);
		ck_assert_uint_eq(bind.done, 2 * PAGES);
		for (i = 0; i < 2 * PAGES; i++)
			ops[i] = (struct drm_trn_bind_op){
				.op = DRM_TRN_BIND_UNMAP,
				.va = (uint64_t)(i + 1) << 30,
				.size = page,
			};
		if (round < 2)
			guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), 0);
	}
	/* The bindings hold the memory until the context goes. */
	guest_fails(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem_close), 0);
	ck_assert_uint_eq(guest_free(fd), before - PAGES * page);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), 0);
	ck_assert_uint_eq(guest_free(fd), before);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *cases = tcase_create("memory");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, list_and_open_each);
	tcase_add_test(cases, use_follows_buffers);
	tcase_add_test(cases, host_buffers_are_zero_and_shared);
	tcase_add_test(cases, mapping_outlives_file);
	tcase_add_test(cases, exhaustion);
	tcase_add_test(cases, exhaustion_is_explained);
	tcase_add_test(cases, contexts_run_out);
	tcase_add_test(cases, queues_run_out);
	tcase_add_test(cases, many_binds_in_one_call);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
