/* SPDX-License-Identifier: MIT */
/* Every argument that include/uapi/drm/trn_accel.h rules out is refused with the error it names. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest.h"

#define KIB  UINT64_C(1024)
#define MIB  (KIB * 1024)
#define VA   UINT64_C(0x10000000)
#define NONE 0x7fffffffU /* an id or handle that is not there */
#define BAD  ((uint64_t)(uintptr_t)8)

static int fd;
static struct drm_trn_query_device info;
static uint32_t context, host, hbm;

static void start(void)
{
	fd = guest_open(0);
	info = guest_info(fd);
	context = guest_context(fd);
	host = guest_bo(fd, DRM_TRN_BO_HOST, MIB);
	hbm = guest_bo(fd, DRM_TRN_BO_HBM, MIB);
}

static void stop(void)
{
	close(fd);
}

/* Makes a copy of a good argument, spoils one member, and expects an error. */
#define SPOILED(request, good, member, wrong, error)                                               \
	do {                                                                                       \
		__typeof__(good) spoiled = good;                                                   \
                                                                                                   \
		spoiled.member = wrong;                                                            \
		guest_fails(guest_ioctl(fd, request, &spoiled), error);                            \
	} while (0)

/* On stock kernels these two dereference NULL on an accel node. */
START_TEST(core_ioctls)
{
	struct drm_unique unique = { 0 };
	struct drm_auth magic = { 0 };
	char name[64];
	int i;

	for (i = 0; i < 3; i++) {
		ck_assert_int_lt(guest_ioctl(fd, DRM_IOCTL_GET_UNIQUE, &unique), 0);
		ck_assert_int_lt(guest_ioctl(fd, DRM_IOCTL_GET_MAGIC, &magic), 0);
		unique.unique = name;
		unique.unique_len = sizeof(name);
	}
	/* The device is as before. */
	ck_assert_uint_eq(guest_info(fd).cores, info.cores);
}
END_TEST

START_TEST(unknown_ioctls)
{
	uint64_t argument[32] = { 0 };
	unsigned int number;

	for (number = DRM_TRN_WAIT + 1; number < DRM_COMMAND_END - DRM_COMMAND_BASE; number++)
		ck_assert_int_lt(guest_ioctl(fd,
					     _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE,
						  DRM_COMMAND_BASE + number, sizeof(argument)),
					     argument),
				 0);
}
END_TEST

START_TEST(query)
{
	struct {
		struct drm_trn_query_device known;
		uint8_t more[64];
	} large;
	struct drm_trn_query good = {
		.query = DRM_TRN_QUERY_DEVICE,
		.size = sizeof(large),
		.pointer = (uintptr_t)&large,
	};
	uint8_t small[16];
	unsigned int i;

	SPOILED(DRM_IOCTL_TRN_QUERY, good, query, DRM_TRN_QUERY_RECOVERY + 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUERY, good, query, UINT32_MAX, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUERY, good, pointer, BAD, -EFAULT);
	SPOILED(DRM_IOCTL_TRN_QUERY, good, size, DRM_TRN_QUERY_SIZE_MAX + 1, -E2BIG);
	SPOILED(DRM_IOCTL_TRN_QUERY, good, size, UINT32_MAX, -E2BIG);

	/* What the kernel lacks is zeroed; the size comes back. */
	memset(&large, 0xee, sizeof(large));
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUERY, &good), 0);
	ck_assert_uint_eq(good.size, sizeof(large.known));
	ck_assert_mem_eq(&large.known, &info, sizeof(info));
	for (i = 0; i < sizeof(large.more); i++)
		ck_assert_uint_eq(large.more[i], 0);

	/* Of what the caller lacks nothing is written. */
	memset(small, 0xee, sizeof(small));
	good = (struct drm_trn_query){ .size = 8, .pointer = (uintptr_t)small };
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUERY, &good), 0);
	ck_assert_uint_eq(good.size, sizeof(large.known));
	ck_assert_mem_eq(small, info.uuid, 8);
	ck_assert_uint_eq(small[8], 0xee);

	good = (struct drm_trn_query){ .query = DRM_TRN_QUERY_MEMORY };
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUERY, &good), 0);
	ck_assert_uint_eq(good.size, sizeof(struct drm_trn_query_memory));
}
END_TEST

START_TEST(contexts)
{
	struct drm_trn_context_create create = { 0 };
	struct drm_trn_context_destroy destroy = { .context = context };

	SPOILED(DRM_IOCTL_TRN_CONTEXT_CREATE, create, flags, 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_CONTEXT_DESTROY, destroy, context, 0, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_CONTEXT_DESTROY, destroy, context, NONE, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_CONTEXT_DESTROY, destroy, pad, 1, -EINVAL);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), -ENOENT);
}
END_TEST

/* Ids belong to the file: another one's are not there. */
START_TEST(ids_of_another_file)
{
	struct drm_trn_context_destroy destroy = { .context = context };
	struct drm_trn_bo_mmap_offset offset = { .handle = host };
	struct drm_trn_queue_destroy queue = { .queue = guest_kernel_queue(fd, context, 4) };
	int other = guest_open(0);

	guest_fails(guest_ioctl(other, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), -ENOENT);
	guest_fails(guest_ioctl(other, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &offset), -ENOENT);
	guest_fails(guest_ioctl(other, DRM_IOCTL_TRN_QUEUE_DESTROY, &queue), -ENOENT);
	close(other);
}
END_TEST

START_TEST(bo_create)
{
	struct drm_trn_bo_create device = {
		.size = 4096,
		.placement = DRM_TRN_BO_HBM,
		.stack = DRM_TRN_STACK_ANY,
	};
	struct drm_trn_bo_create memory = { .size = 4096, .placement = DRM_TRN_BO_HOST };

	SPOILED(DRM_IOCTL_TRN_BO_CREATE, device, size, 0, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, device, size, UINT64_MAX, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, device, placement, 2, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, device, stack, info.hbm_stacks, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, device, flags, 1U << 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, device, flags, 1U << 31, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, memory, size, 0, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, memory, size, UINT64_MAX - 4095, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, memory, stack, 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, memory, stack, DRM_TRN_STACK_ANY, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_BO_CREATE, memory, flags, 1, -EINVAL);
}
END_TEST

START_TEST(bo_mmap_offset)
{
	struct drm_trn_bo_mmap_offset good = { .handle = host };

	SPOILED(DRM_IOCTL_TRN_BO_MMAP_OFFSET, good, handle, 0, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_BO_MMAP_OFFSET, good, handle, NONE, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_BO_MMAP_OFFSET, good, handle, hbm, -EOPNOTSUPP);
	SPOILED(DRM_IOCTL_TRN_BO_MMAP_OFFSET, good, pad, 1, -EINVAL);
}
END_TEST

static int bind_op(const struct drm_trn_bind_op *op)
{
	struct drm_trn_vm_bind bind = {
		.context = context,
		.ops = { .stride = sizeof(*op), .count = 1, .pointer = (uintptr_t)op },
	};

	return guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind);
}

#define SPOILED_OP(good, member, wrong, error)                                                     \
	do {                                                                                       \
		struct drm_trn_bind_op spoiled = good;                                             \
                                                                                                   \
		spoiled.member = wrong;                                                            \
		guest_fails(bind_op(&spoiled), error);                                             \
	} while (0)

START_TEST(bind_operations)
{
	uint64_t page = info.page_size, end = UINT64_C(1) << info.va_bits;
	struct drm_trn_bind_op map = {
		.op = DRM_TRN_BIND_MAP,
		.handle = hbm,
		.va = VA,
		.size = 2 * page,
		.offset = page,
	};
	struct drm_trn_bind_op unmap = {
		.op = DRM_TRN_BIND_UNMAP,
		.va = VA,
		.size = 2 * page,
	};

	SPOILED_OP(map, op, 3, -EINVAL);
	SPOILED_OP(map, flags, 1U << 1, -EINVAL);
	SPOILED_OP(map, flags, 1U << 31, -EINVAL);
	SPOILED_OP(map, pad, 1, -EINVAL);
	SPOILED_OP(map, handle, 0, -ENOENT);
	SPOILED_OP(map, handle, NONE, -ENOENT);
	SPOILED_OP(map, va, VA + 1, -EINVAL);
	SPOILED_OP(map, va, end, -EINVAL);
	SPOILED_OP(map, va, end - page, -EINVAL);
	SPOILED_OP(map, va, UINT64_MAX - page + 1, -EINVAL);
	SPOILED_OP(map, size, 0, -EINVAL);
	SPOILED_OP(map, size, page + 1, -EINVAL);
	SPOILED_OP(map, size, MIB, -EINVAL);
	SPOILED_OP(map, size, UINT64_MAX - page + 1, -EINVAL);
	SPOILED_OP(map, offset, 1, -EINVAL);
	SPOILED_OP(map, offset, MIB, -EINVAL);
	SPOILED_OP(map, offset, MIB - page, -EINVAL);
	SPOILED_OP(map, offset, UINT64_MAX - page + 1, -EINVAL);
	guest_fails(bind_op(&unmap), 0);

	guest_fails(bind_op(&map), 0);
	guest_fails(bind_op(&map), -EEXIST);
	SPOILED_OP(map, va, VA + page, -EEXIST);
	SPOILED_OP(map, va, VA - page, -EEXIST);
	SPOILED_OP(unmap, handle, hbm, -EINVAL);
	SPOILED_OP(unmap, offset, page, -EINVAL);
	SPOILED_OP(unmap, pad, 1, -EINVAL);
	SPOILED_OP(unmap, flags, DRM_TRN_BIND_READONLY, -EINVAL);
	SPOILED_OP(unmap, va, VA + 1, -EINVAL);
	SPOILED_OP(unmap, va, end - page, -EINVAL);
	SPOILED_OP(unmap, size, 0, -EINVAL);
	SPOILED_OP(unmap, size, page + 1, -EINVAL);
	SPOILED_OP(unmap, size, UINT64_MAX - page + 1, -EINVAL);
	guest_fails(bind_op(&unmap), 0);
	guest_fails(bind_op(&map), 0);
}
END_TEST

START_TEST(bind_array)
{
	uint64_t page = info.page_size;
	struct {
		struct drm_trn_bind_op op;
		uint64_t more;
	} large[3] = {
		{ .op = { .handle = hbm, .va = VA, .size = page } },
		{ .op = { .handle = hbm, .va = VA, .size = page } },
		{ .op = { .handle = hbm, .va = VA + page, .size = page } },
	};
	struct drm_trn_vm_bind good = {
		.context = context,
		.ops = { .stride = sizeof(large[0]), .count = 1, .pointer = (uintptr_t)large },
	};
	struct drm_trn_vm_bind bind = good;

	SPOILED(DRM_IOCTL_TRN_VM_BIND, good, context, 0, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_VM_BIND, good, context, NONE, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_VM_BIND, good, ops.stride, 0, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_VM_BIND, good, ops.stride, sizeof(large[0].op) - 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_VM_BIND, good, ops.count, DRM_TRN_BIND_OPS_MAX + 1, -E2BIG);
	SPOILED(DRM_IOCTL_TRN_VM_BIND, good, ops.count, UINT32_MAX, -E2BIG);
	SPOILED(DRM_IOCTL_TRN_VM_BIND, good, ops.pointer, BAD, -EFAULT);

	/* A longer element is fine as long as what the kernel does not know is 0. */
	large[0].more = 1;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), -E2BIG);
	large[0].more = 0;

	/* The first takes effect, the second fails, the third is not tried. */
	bind.ops.count = 3;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), -EEXIST);
	ck_assert_uint_eq(bind.done, 1);
	guest_fails(guest_bind(fd, context, hbm, VA + page, page), 0);
	guest_fails(guest_bind(fd, context, hbm, VA, page), -EEXIST);

	bind.ops.count = 0;
	bind.ops.pointer = BAD;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), 0);
	ck_assert_uint_eq(bind.done, 0);
}
END_TEST

START_TEST(queue_create)
{
	struct drm_trn_queue_create kernel = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = 16,
	};
	struct drm_trn_queue_create user = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_USER,
		.ring_entries = 16,
		.ring_va = VA,
	};
	struct drm_trn_queue_destroy destroy = { .queue = guest_kernel_queue(fd, context, 4) };

	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, context, 0, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, context, NONE, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, type, 0, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, type, 99, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, mode, 2, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, ring_entries, 0, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, ring_entries, 2, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, ring_entries, 12, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, ring_entries, 2 * info.ring_max, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, ring_va, VA, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, flags, 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, priority, DRM_TRN_PRIORITY_HIGH + 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, kernel, timeout_ms, 10001, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, user, ring_va, VA + 64, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, user, ring_va, UINT64_C(1) << info.va_bits, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, user, flags, 1U << 31, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, user, priority, UINT32_MAX, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_CREATE, user, timeout_ms, UINT32_MAX, -EINVAL);

	SPOILED(DRM_IOCTL_TRN_QUEUE_DESTROY, destroy, queue, 0, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_QUEUE_DESTROY, destroy, queue, NONE, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_QUEUE_DESTROY, destroy, pad, 1, -EINVAL);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy), -ENOENT);
}
END_TEST

/* A good packet with one member spoiled. */
#define SPOILED_PACKET(good, member, wrong)                                                        \
	do {                                                                                       \
		struct trn_packet spoiled = good;                                                  \
                                                                                                   \
		spoiled.member = wrong;                                                            \
		guest_fails(guest_submit(fd, queue, &spoiled, 1, syncobj), -EINVAL);               \
	} while (0)

START_TEST(queue_error)
{
	struct drm_trn_queue_error good = { .queue = guest_kernel_queue(fd, context, 4) };

	SPOILED(DRM_IOCTL_TRN_QUEUE_ERROR, good, queue, 0, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_QUEUE_ERROR, good, queue, NONE, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_QUEUE_ERROR, good, reason, 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_ERROR, good, packet, 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_ERROR, good, access, 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_QUEUE_ERROR, good, address, 1, -EINVAL);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_ERROR, &good), 0);
	ck_assert_uint_eq(good.reason, 0);
}
END_TEST

START_TEST(submit_packets)
{
	static const uint8_t forbidden[] = {
		TRN_PACKET_FENCE_WRITE, TRN_PACKET_FENCE_WAIT, 0x03, 0x12, 0x7f, 0xff
	};
	uint32_t queue = guest_kernel_queue(fd, context, 16), syncobj = guest_syncobj(fd);
	struct trn_packet nop = { 0 }, copy = guest_copy(VA, VA + MIB / 2, 64);
	struct trn_packet fill = guest_fill(VA, 64, 1, 3), batch[15] = { { 0 } };
	size_t i;

	guest_fails(guest_bind(fd, context, hbm, VA, MIB), 0);
	for (i = 0; i < sizeof(forbidden); i++)
		SPOILED_PACKET(nop, opcode, forbidden[i]);
	SPOILED_PACKET(nop, reserved0[6], 1);
	SPOILED_PACKET(nop, body[0], 1);
	SPOILED_PACKET(nop, body[55], 1);
	SPOILED_PACKET(copy, copy.length, 0);
	SPOILED_PACKET(copy, copy.length, TRN_PACKET_LENGTH_MAX + 1);
	SPOILED_PACKET(copy, copy.length, UINT64_MAX);
	SPOILED_PACKET(copy, copy.reserved[0], 1);
	SPOILED_PACKET(copy, copy.reserved[31], 1);
	SPOILED_PACKET(fill, fill.length, 0);
	SPOILED_PACKET(fill, fill.length, 4);
	SPOILED_PACKET(fill, fill.length, TRN_PACKET_LENGTH_MAX + 8);
	SPOILED_PACKET(fill, fill.destination, VA + 4);
	SPOILED_PACKET(fill, fill.unit_log2, 4);
	SPOILED_PACKET(fill, fill.reserved[30], 1);

	/* All or nothing: the good packets before a bad one did not run either. */
	guest_fails(guest_submit(fd, queue, &fill, 1, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 30), 0);
	batch[14].opcode = TRN_PACKET_FENCE_WRITE;
	guest_fails(guest_submit(fd, queue, batch, 15, syncobj), -EINVAL);

	/* The queue goes on. */
	guest_fails(guest_submit(fd, queue, batch, 14, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 30), 0);
}
END_TEST

START_TEST(submit_arguments)
{
	static struct trn_packet packets[DRM_TRN_SUBMIT_PACKETS_MAX + 1];
	static struct drm_trn_sync syncs[DRM_TRN_SUBMIT_SYNCS_MAX + 1];
	struct drm_trn_submit good = {
		.queue = guest_kernel_queue(fd, context, 16),
		.packets = {
			.stride = sizeof(packets[0]),
			.count = 1,
			.pointer = (uintptr_t)packets,
		},
		.syncs = {
			.stride = sizeof(syncs[0]),
			.count = 1,
			.pointer = (uintptr_t)syncs,
		},
	};
	struct guest_user_queue user = guest_user_queue(fd, context);
	size_t i;

	for (i = 0; i <= DRM_TRN_SUBMIT_SYNCS_MAX; i++)
		syncs[i] = (struct drm_trn_sync){
			.handle = guest_syncobj(fd),
			.flags = DRM_TRN_SYNC_SIGNAL,
		};
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, queue, 0, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, queue, NONE, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, queue, user.id, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, flags, 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, packets.stride, 0, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, packets.stride, 63, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, packets.count, 16, -E2BIG);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, packets.count, DRM_TRN_SUBMIT_PACKETS_MAX + 1, -E2BIG);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, packets.count, UINT32_MAX, -E2BIG);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, packets.pointer, BAD, -EFAULT);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, syncs.stride, sizeof(syncs[0]) - 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, syncs.count, DRM_TRN_SUBMIT_SYNCS_MAX + 1, -E2BIG);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, syncs.count, UINT32_MAX, -E2BIG);
	SPOILED(DRM_IOCTL_TRN_SUBMIT, good, syncs.pointer, BAD, -EFAULT);

	syncs[0].flags = 0;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &good), -EINVAL);
	syncs[0].flags = DRM_TRN_SYNC_SIGNAL | DRM_TRN_SYNC_WAIT;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &good), -EINVAL);
	syncs[0].flags = 1U << 2;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &good), -EINVAL);
	/* To wait for: there is no fence, and no such syncobj. */
	syncs[0].flags = DRM_TRN_SYNC_WAIT;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &good), -EINVAL);
	syncs[0].point = 1;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &good), -EINVAL);
	syncs[0].point = 0;
	syncs[0].handle = NONE;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &good), -ENOENT);
	syncs[0].flags = DRM_TRN_SYNC_SIGNAL;
	syncs[0].handle = NONE;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &good), -ENOENT);

	/* As many as allowed. */
	syncs[0].handle = guest_syncobj(fd);
	good.syncs.count = DRM_TRN_SUBMIT_SYNCS_MAX;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &good), 0);
	for (i = 0; i < DRM_TRN_SUBMIT_SYNCS_MAX; i++)
		guest_fails(guest_job(fd, syncs[i].handle, 30), 0);
}
END_TEST

START_TEST(wait_arguments)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	struct drm_trn_wait good = {
		.queue = queue.id,
		.va = GUEST_FENCE_VA,
		.value = 1,
	};

	SPOILED(DRM_IOCTL_TRN_WAIT, good, queue, 0, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_WAIT, good, queue, NONE, -ENOENT);
	SPOILED(DRM_IOCTL_TRN_WAIT, good, queue, guest_kernel_queue(fd, context, 4), -EINVAL);
	SPOILED(DRM_IOCTL_TRN_WAIT, good, flags, 1, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_WAIT, good, va, GUEST_FENCE_VA + 4, -EINVAL);
	SPOILED(DRM_IOCTL_TRN_WAIT, good, value, 0, -EINVAL);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_WAIT, &good), -ETIME);

	/* The fence must be in a host object. */
	guest_fails(guest_bind(fd, context, hbm, VA, MIB), 0);
	good.va = VA;
	ck_assert_int_lt(guest_ioctl(fd, DRM_IOCTL_TRN_WAIT, &good), 0);
	ck_assert_int_ne(guest_ioctl(fd, DRM_IOCTL_TRN_WAIT, &good), -ETIME);
	good.va = VA + MIB;
	ck_assert_int_lt(guest_ioctl(fd, DRM_IOCTL_TRN_WAIT, &good), 0);
	ck_assert_int_ne(guest_ioctl(fd, DRM_IOCTL_TRN_WAIT, &good), -ETIME);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("refuse");
	TCase *cases = tcase_create("refuse");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, core_ioctls);
	tcase_add_test(cases, unknown_ioctls);
	tcase_add_test(cases, query);
	tcase_add_test(cases, contexts);
	tcase_add_test(cases, ids_of_another_file);
	tcase_add_test(cases, bo_create);
	tcase_add_test(cases, bo_mmap_offset);
	tcase_add_test(cases, bind_operations);
	tcase_add_test(cases, bind_array);
	tcase_add_test(cases, queue_create);
	tcase_add_test(cases, queue_error);
	tcase_add_test(cases, submit_packets);
	tcase_add_test(cases, submit_arguments);
	tcase_add_test(cases, wait_arguments);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
