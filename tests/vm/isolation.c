/* SPDX-License-Identifier: MIT */
/*
 * A context that tries every kind of address gets a fault for each, which names address and
 * access, and what is not its own is as it was.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <hw/trn_admin.h>
#include <hw/trn_mmu.h>
#include <tests/check_run.h>

#include "guest.h"
#include "probe.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define END (UINT64_C(1) << TRN_VA_BITS)
/* Where trn.ko has HBM in its own address space (kernel/trn_kernel_vm.h), rings being below. */
#define KERNEL_HBM_VA (UINT64_C(1) << (TRN_VA_BITS - 1))

/* Of the attacker: two objects with nothing behind them, the second for reading only. */
#define OWN_VA	    (4 * GIB)
#define OWN_SIZE    (4 * MIB)
#define READONLY_VA (5 * GIB)

/* Of the victim, at addresses where the attacker has nothing. */
#define VICTIM_VA	(3 * GIB)
#define VICTIM_HOST_VA	(3 * GIB + 512 * MIB)
#define VICTIM_SIZE	(4 * MIB)
#define VICTIM_SEED	4711

static int victim_fd, fd;
static uint32_t victim_context, context;
static struct probe victim, attacker;
static struct guest_user_queue victim_queue;
static uint8_t *victim_host;
static uint8_t pattern[VICTIM_SIZE];

static void start_victim(void)
{
	struct trn_packet copy = guest_copy(VICTIM_VA, VICTIM_HOST_VA, VICTIM_SIZE);
	uint32_t hbm, host;

	victim_fd = guest_open(0);
	victim_context = guest_context(victim_fd);
	probe_init(&victim, victim_fd, victim_context);
	hbm = guest_bo(victim_fd, DRM_TRN_BO_HBM, VICTIM_SIZE);
	host = guest_bo(victim_fd, DRM_TRN_BO_HOST, VICTIM_SIZE);
	guest_fails(guest_bind(victim_fd, victim_context, hbm, VICTIM_VA, VICTIM_SIZE), 0);
	guest_fails(guest_bind(victim_fd, victim_context, host, VICTIM_HOST_VA, VICTIM_SIZE), 0);
	victim_host = guest_map(victim_fd, host, VICTIM_SIZE);
	guest_pattern(pattern, VICTIM_SIZE, VICTIM_SEED);
	memcpy(victim_host, pattern, VICTIM_SIZE);
	guest_fails(probe_run(&victim, &copy, 1, NULL), 0);
	victim_queue = guest_user_queue(victim_fd, victim_context);
}

static void start(void)
{
	struct drm_trn_bind_op op = {
		.op = DRM_TRN_BIND_MAP,
		.flags = DRM_TRN_BIND_READONLY,
		.va = READONLY_VA,
		.size = OWN_SIZE,
	};
	struct drm_trn_vm_bind bind;

	start_victim();
	fd = guest_open(0);
	context = guest_context(fd);
	probe_init(&attacker, fd, context);
	guest_fails(guest_bind(fd, context, guest_bo(fd, DRM_TRN_BO_HBM, OWN_SIZE), OWN_VA,
			       OWN_SIZE), 0);
	op.handle = guest_bo(fd, DRM_TRN_BO_HBM, OWN_SIZE);
	bind = (struct drm_trn_vm_bind){
		.context = context,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), 0);
}

/* What the victim has is as it was, and it goes on working. */
static void stop(void)
{
	struct trn_packet copy = guest_copy(VICTIM_HOST_VA, VICTIM_VA, VICTIM_SIZE);
	struct trn_packet fence = guest_fence_write(1);
	uint64_t i;

	ck_assert_mem_eq(victim_host, pattern, VICTIM_SIZE);
	ck_assert_uint_eq(*victim_queue.fence, 0);
	memset(victim_host, 0, VICTIM_SIZE);
	guest_fails(probe_run(&victim, &copy, 1, NULL), 0);
	for (i = 0; i < VICTIM_SIZE; i += 4 * KIB)
		ck_assert_mem_eq(victim_host + i, pattern + i, 4 * KIB);
	guest_push(&victim_queue, &fence);
	guest_fails(guest_wait(&victim_queue, 1, trn_deadline(10 * INT64_C(1000000000))), 0);
	close(fd);
	close(victim_fd);
}

static void expect_fault(const struct trn_packet *packet, uint32_t reason, uint32_t access,
			 uint64_t address)
{
	struct drm_trn_queue_error error;

	guest_fails(probe_run(&attacker, packet, 1, &error), -EFAULT);
	ck_assert_uint_eq(error.packet, 0);
	ck_assert_msg(error.address == address, "fault at 0x%llx, not 0x%llx",
		      (unsigned long long)error.address, (unsigned long long)address);
	ck_assert_msg(error.reason == reason, "0x%llx: reason %u, not %u",
		      (unsigned long long)address, error.reason, reason);
	ck_assert_msg(error.access == access, "0x%llx: access %u, not %u",
		      (unsigned long long)address, error.access, access);
}

static void expect_no_access(uint64_t va, uint32_t reason)
{
	struct trn_packet read = guest_copy(PROBE_VA, va, 8), write = guest_copy(va, PROBE_VA, 8);
	struct trn_packet fill = guest_fill(va, 8, UINT64_MAX, 3);

	attacker.memory[0] = 0x1234;
	expect_fault(&read, reason, TRN_ACCESS_READ, va);
	ck_assert_uint_eq(attacker.memory[0], 0x1234);
	expect_fault(&write, reason, TRN_ACCESS_WRITE, va);
	expect_fault(&fill, reason, TRN_ACCESS_WRITE, va);
}

START_TEST(nothing_there)
{
	static const uint64_t addresses[] = {
		0,
		8,
		0x1000,
		OWN_VA - 8,
		OWN_VA + OWN_SIZE,
		READONLY_VA - 8,
		READONLY_VA + OWN_SIZE,
		END / 2 - 8,
		END - 8,
	};
	unsigned int i;

	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		expect_no_access(addresses[i], TRN_STOP_FAULT_UNMAPPED);
}
END_TEST

START_TEST(beyond_the_end)
{
	static const uint64_t addresses[] = {
		END, END + OWN_VA, END + PROBE_VA, END * 2 + OWN_VA,
		UINT64_C(1) << 63, (UINT64_C(1) << 63) + OWN_VA, UINT64_MAX - 7,
	};
	unsigned int i;

	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		expect_no_access(addresses[i], TRN_STOP_FAULT_RANGE);
}
END_TEST

START_TEST(memory_of_another)
{
	static const uint64_t addresses[] = {
		VICTIM_VA,
		VICTIM_VA + VICTIM_SIZE - 8,
		VICTIM_HOST_VA,
		VICTIM_HOST_VA + 4 * KIB,
		GUEST_RING_VA,
		GUEST_FENCE_VA,
	};
	unsigned int i;

	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		expect_no_access(addresses[i], TRN_STOP_FAULT_UNMAPPED);
}
END_TEST

/* Rings and fences of kernel queues are at the start of the kernel's address space. */
START_TEST(memory_of_the_kernel)
{
	uint64_t page = guest_info(fd).page_size, hbm, va;
	struct drm_trn_query_device info = guest_info(fd);

	for (va = page; va < 64 * page; va += 4 * page)
		expect_no_access(va, TRN_STOP_FAULT_UNMAPPED);
	hbm = info.hbm_stacks * info.hbm_stack_size;
	for (va = KERNEL_HBM_VA; va < KERNEL_HBM_VA + hbm; va += hbm / 16)
		expect_no_access(va, TRN_STOP_FAULT_UNMAPPED);
	expect_no_access(KERNEL_HBM_VA + hbm - 8, TRN_STOP_FAULT_UNMAPPED);
}
END_TEST

/* Page tables and everything else of the host's: by its bus addresses, and anywhere. */
START_TEST(memory_of_the_host)
{
	uint64_t state = 2463534242, i;

	for (i = 0; i < 16; i++)
		expect_no_access(MIB + i * 128 * MIB, TRN_STOP_FAULT_UNMAPPED);
	for (i = 0; i < 16; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		/* Behind all that the attacker has. */
		expect_no_access((END / 4 + state % (END / 4)) & ~UINT64_C(7),
				 TRN_STOP_FAULT_UNMAPPED);
	}
}
END_TEST

START_TEST(read_only)
{
	struct trn_packet fill = guest_fill(READONLY_VA, 8, 0, 3);
	struct trn_packet write = guest_copy(READONLY_VA + 3 * MIB, OWN_VA, MIB);
	struct trn_packet read = guest_copy(OWN_VA, READONLY_VA, OWN_SIZE);

	guest_fails(probe_run(&attacker, &read, 1, NULL), 0);
	expect_fault(&fill, TRN_STOP_FAULT_PERMISSION, TRN_ACCESS_WRITE, READONLY_VA);
	expect_fault(&write, TRN_STOP_FAULT_PERMISSION, TRN_ACCESS_WRITE, READONLY_VA + 3 * MIB);

	/* What a hole leaves of it is no more than it was, whatever leaves it is made of. */
	guest_fails(guest_unbind(fd, context, READONLY_VA + MIB, 4 * KIB), 0);
	fill = guest_fill(READONLY_VA + MIB - 8, 8, 0, 3);
	expect_fault(&fill, TRN_STOP_FAULT_PERMISSION, TRN_ACCESS_WRITE, READONLY_VA + MIB - 8);
	expect_no_access(READONLY_VA + MIB, TRN_STOP_FAULT_UNMAPPED);
	expect_no_access(READONLY_VA + MIB + 4 * KIB - 8, TRN_STOP_FAULT_UNMAPPED);
	fill = guest_fill(READONLY_VA + MIB + 4 * KIB, 8, 0, 3);
	expect_fault(&fill, TRN_STOP_FAULT_PERMISSION, TRN_ACCESS_WRITE,
		     READONLY_VA + MIB + 4 * KIB);
}
END_TEST

/* Begins well and runs off the end: the first byte that is not there. */
START_TEST(past_the_end)
{
	uint64_t end = OWN_VA + OWN_SIZE;
	struct trn_packet read = guest_copy(OWN_VA, end - MIB, 2 * MIB);
	struct trn_packet write = guest_copy(end - MIB, OWN_VA, 2 * MIB);
	struct trn_packet fill = guest_fill(end - 16, 32, 0, 3);
	struct trn_packet odd = guest_copy(OWN_VA, end - 3, 5);

	expect_fault(&read, TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_READ, end);
	expect_fault(&write, TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE, end);
	expect_fault(&fill, TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE, end);
	expect_fault(&odd, TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_READ, end);
}
END_TEST

/* What was taken away is gone when the call returns, for queues that have used it too. */
START_TEST(what_was_its_own)
{
	struct trn_packet use = guest_copy(OWN_VA, READONLY_VA, OWN_SIZE);
	uint32_t bo = guest_bo(fd, DRM_TRN_BO_HOST, MIB);

	guest_fails(probe_run(&attacker, &use, 1, NULL), 0);
	guest_fails(guest_unbind(fd, context, OWN_VA + 2 * MIB, 2 * MIB), 0);
	expect_no_access(OWN_VA + 2 * MIB, TRN_STOP_FAULT_UNMAPPED);
	expect_no_access(OWN_VA + OWN_SIZE - 8, TRN_STOP_FAULT_UNMAPPED);
	guest_fails(guest_unbind(fd, context, OWN_VA, 2 * MIB), 0);
	expect_no_access(OWN_VA, TRN_STOP_FAULT_UNMAPPED);

	guest_fails(guest_bind(fd, context, bo, OWN_VA, MIB), 0);
	guest_fails(guest_unbind(fd, context, OWN_VA, MIB), 0);
	expect_no_access(OWN_VA, TRN_STOP_FAULT_UNMAPPED);
}
END_TEST

/* An address space that had another owner before. */
START_TEST(what_was_another_s)
{
	unsigned int round;

	for (round = 0; round < 4; round++) {
		struct drm_trn_context_destroy destroy = { .context = guest_context(fd) };
		uint32_t bo = guest_bo(fd, DRM_TRN_BO_HBM, OWN_SIZE);
		struct trn_packet fill = guest_fill(OWN_VA, OWN_SIZE, 0x77, 0);
		struct probe other;

		/* The same ASID again and again: the lowest that is free. */
		probe_init(&other, fd, destroy.context);
		guest_fails(probe_run(&other, &fill, 1, NULL), -EFAULT);
		guest_fails(guest_bind(fd, destroy.context, bo, OWN_VA, OWN_SIZE), 0);
		guest_fails(probe_run(&other, &fill, 1, NULL), 0);
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), 0);
	}
}
END_TEST

/* The packets of a user queue: its ring and its fences are addresses too. */
START_TEST(user_queue)
{
	static const uint64_t addresses[] = { VICTIM_HOST_VA, 0x1000, KERNEL_HBM_VA, 0 };
	unsigned int i;

	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		uint32_t own = guest_context(fd);
		struct drm_trn_context_destroy destroy = { .context = own };
		struct guest_user_queue queue = guest_user_queue(fd, own);
		struct drm_trn_queue_error error = { .queue = queue.id };
		struct trn_packet write = guest_fence_write(1);

		write.fence.address = addresses[i];
		guest_push(&queue, &write);
		guest_fails(guest_wait(&queue, 1, trn_deadline(10 * INT64_C(1000000000))), -EIO);
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_ERROR, &error), 0);
		ck_assert_uint_eq(error.reason, TRN_STOP_FAULT_UNMAPPED);
		ck_assert_uint_eq(error.address, addresses[i]);
		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("isolation");
	TCase *cases = tcase_create("isolation");

	tcase_set_timeout(cases, 180);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, nothing_there);
	tcase_add_test(cases, beyond_the_end);
	tcase_add_test(cases, memory_of_another);
	tcase_add_test(cases, memory_of_the_kernel);
	tcase_add_test(cases, memory_of_the_host);
	tcase_add_test(cases, read_only);
	tcase_add_test(cases, past_the_end);
	tcase_add_test(cases, what_was_its_own);
	tcase_add_test(cases, what_was_another_s);
	tcase_add_test(cases, user_queue);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
