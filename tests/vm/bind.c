/* SPDX-License-Identifier: MIT */
/* VM_BIND: what is mapped where after any sequence of operations, at once and later. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "gate.h"
#include "guest.h"
#include "probe.h"

#define KIB	UINT64_C(1024)
#define MIB	(KIB * 1024)
#define GIB	(MIB * 1024)
#define VA	(2 * GIB)
#define TAG_VA	(8 * GIB)
#define OPS_MAX 16

static int fd;
static struct drm_trn_query_device info;
static uint32_t context;
static struct probe probe;

static void start(void)
{
	fd = guest_open(0);
	info = guest_info(fd);
	context = guest_context(fd);
	probe_init(&probe, fd, context);
}

static void stop(void)
{
	close(fd);
}

/* ---- calls ----------------------------------------------------------- */

static struct drm_trn_bind_op map_op(uint32_t handle, uint64_t offset, uint64_t va, uint64_t size)
{
	return (struct drm_trn_bind_op){
		.op = DRM_TRN_BIND_MAP,
		.handle = handle,
		.va = va,
		.size = size,
		.offset = offset,
	};
}

static struct drm_trn_bind_op replace_op(uint32_t handle, uint64_t offset, uint64_t va,
					 uint64_t size)
{
	struct drm_trn_bind_op op = map_op(handle, offset, va, size);

	op.op = DRM_TRN_BIND_REPLACE;
	return op;
}

static struct drm_trn_bind_op unmap_op(uint64_t va, uint64_t size)
{
	return (struct drm_trn_bind_op){ .op = DRM_TRN_BIND_UNMAP, .va = va, .size = size };
}

static struct drm_trn_vm_bind vm_bind(const struct drm_trn_bind_op *ops, uint32_t count)
{
	return (struct drm_trn_vm_bind){
		.context = context,
		.ops = { .stride = sizeof(*ops), .count = count, .pointer = (uintptr_t)ops },
	};
}

static int bind_now(const struct drm_trn_bind_op *ops, uint32_t count, uint32_t *done)
{
	struct drm_trn_vm_bind bind = vm_bind(ops, count);
	int result = guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind);

	*done = bind.done;
	return result;
}

static int bind_one(struct drm_trn_bind_op op)
{
	uint32_t done;

	return bind_now(&op, 1, &done);
}

static int bind_later(const struct drm_trn_bind_op *ops, uint32_t count,
		      const struct drm_trn_sync *syncs, uint32_t num_syncs)
{
	struct drm_trn_vm_bind bind = vm_bind(ops, count);
	int result;

	bind.flags = DRM_TRN_VM_BIND_ASYNC;
	bind.syncs = (struct drm_trn_array){
		.stride = sizeof(*syncs),
		.count = num_syncs,
		.pointer = (uintptr_t)syncs,
	};
	result = guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind);
	ck_assert_uint_eq(bind.done, 0);
	return result;
}

static struct drm_trn_sync signal_sync(uint32_t syncobj, uint64_t point)
{
	return (struct drm_trn_sync){ syncobj, DRM_TRN_SYNC_SIGNAL, point };
}

static struct drm_trn_sync wait_sync(uint32_t syncobj, uint64_t point)
{
	return (struct drm_trn_sync){ syncobj, DRM_TRN_SYNC_WAIT, point };
}

static int wait_point(uint32_t syncobj, uint64_t point, int seconds)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&syncobj,
		.points = (uintptr_t)&point,
		.timeout_nsec = trn_deadline(seconds * SECOND),
		.count_handles = 1,
	};

	return guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

static bool is_signalled(uint32_t syncobj)
{
	return !wait_point(syncobj, 0, 0);
}

static void expect_word(uint64_t va, uint64_t expected)
{
	uint64_t word;

	guest_fails(probe_read(&probe, va, &word), 0);
	ck_assert_msg(word == expected, "0x%llx has 0x%llx, not 0x%llx", (unsigned long long)va,
		      (unsigned long long)word, (unsigned long long)expected);
}

static void expect_fault(uint64_t va)
{
	uint64_t word;

	guest_fails(probe_read(&probe, va, &word), -EFAULT);
}

/* Makes every 8 bytes of an object say where they are: @tag + the unit's number. */
static void write_tags(uint32_t handle, unsigned int units, uint64_t unit, uint64_t tag)
{
	struct trn_packet fills[64];
	unsigned int i;

	ck_assert_uint_le(units, 64);
	guest_fails(bind_one(map_op(handle, 0, TAG_VA, units * unit)), 0);
	for (i = 0; i < units; i++)
		fills[i] = guest_fill(TAG_VA + i * unit, unit, tag + i, 3);
	guest_fails(probe_run(&probe, fills, units, NULL), 0);
	guest_fails(bind_one(unmap_op(TAG_VA, units * unit)), 0);
}

static uint32_t tagged_bo(uint32_t placement, unsigned int units, uint64_t unit, uint64_t tag)
{
	uint32_t handle = guest_bo(fd, placement, units * unit);

	write_tags(handle, units, unit, tag);
	return handle;
}

/* ---- any sequence ---------------------------------------------------- */

#define UNITS 64

/* What should be at each unit of the range; tag 0 is nothing. */
struct expected {
	uint64_t tag[UNITS];
	bool readonly[UNITS];
};

static uint32_t random_below(uint32_t limit)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % limit;
}

static bool anything_at(const struct expected *expected, uint32_t start, uint32_t count)
{
	for (; count; count--, start++) {
		if (expected->tag[start])
			return true;
	}
	return false;
}

/* A random operation, and its effect on @expected; false if it has to fail. */
static bool random_op(struct expected *expected, const uint32_t handles[2], uint64_t unit,
		      struct drm_trn_bind_op *op)
{
	uint32_t start = random_below(UNITS), count = 1 + random_below(UNITS - start);
	uint32_t object = random_below(2), kind = random_below(3), first, i;
	bool readonly = random_below(3) == 0;

	if (kind == DRM_TRN_BIND_UNMAP) {
		*op = unmap_op(VA + start * unit, count * unit);
		memset(&expected->tag[start], 0, count * sizeof(expected->tag[0]));
		return true;
	}
	/* Half of them with the alignment that large leaves need. */
	first = random_below(2) ? start : random_below(UNITS - count + 1);
	*op = map_op(handles[object], first * unit, VA + start * unit, count * unit);
	op->op = kind;
	op->flags = readonly ? DRM_TRN_BIND_READONLY : 0;
	if (kind == DRM_TRN_BIND_MAP && anything_at(expected, start, count))
		return false;
	for (i = 0; i < count; i++) {
		expected->tag[start + i] = (object + 1) * 1000 + first + i;
		expected->readonly[start + i] = readonly;
	}
	return true;
}

/* The first and the last word of every unit that is mapped, in one job. */
static void expect_tags(const struct expected *expected, uint64_t unit)
{
	struct trn_packet copies[2 * UNITS];
	uint64_t tags[2 * UNITS];
	uint32_t count = 0, i;

	for (i = 0; i < UNITS; i++) {
		uint64_t va = VA + i * unit;

		if (!expected->tag[i])
			continue;
		tags[count] = expected->tag[i];
		copies[count] = guest_copy(PROBE_VA + count * 8, va, 8);
		count++;
		tags[count] = expected->tag[i];
		copies[count] = guest_copy(PROBE_VA + count * 8, va + unit - 8, 8);
		count++;
	}
	if (!count)
		return;
	guest_fails(probe_run(&probe, copies, count, NULL), 0);
	for (i = 0; i < count; i++)
		ck_assert_msg(probe.memory[i] == tags[i], "0x%llx has %llu, not %llu",
			      (unsigned long long)copies[i].copy.source,
			      (unsigned long long)probe.memory[i], (unsigned long long)tags[i]);
}

static void expect_unit(const struct expected *expected, uint64_t unit, uint32_t i)
{
	uint64_t va = VA + i * unit + random_below((uint32_t)(unit / 8)) * 8;
	struct trn_packet fill = guest_fill(va, 8, expected->tag[i], 3);
	bool writable = expected->tag[i] && !expected->readonly[i];

	if (!expected->tag[i])
		expect_fault(va);
	guest_fails(probe_run(&probe, &fill, 1, NULL), writable ? 0 : -EFAULT);
}

START_TEST(random_changes)
{
	bool later = _i & 1, large = _i & 2;
	uint32_t placement = large ? DRM_TRN_BO_HBM : DRM_TRN_BO_HOST;
	uint64_t unit = large ? 256 * KIB : info.page_size;
	struct expected expected = { 0 };
	uint32_t handles[2], syncobj = guest_syncobj(fd), round, i;

	for (i = 0; i < 2; i++)
		handles[i] = tagged_bo(placement, UNITS, unit, (i + 1) * 1000);
	for (round = 0; round < 60; round++) {
		uint32_t count = 1 + random_below(OPS_MAX), good = 0, done;
		struct drm_trn_sync sync = signal_sync(syncobj, 0);
		struct drm_trn_bind_op ops[OPS_MAX];
		bool ok = true;

		for (i = 0; i < count; i++) {
			struct expected after = expected;

			ok &= random_op(&after, handles, unit, &ops[i]);
			if (!ok)
				continue;
			expected = after;
			good++;
		}
		if (later) {
			guest_fails(bind_later(ops, count, &sync, 1), 0);
			guest_fails(guest_job(fd, syncobj, 30), ok ? 0 : -EEXIST);
		} else {
			guest_fails(bind_now(ops, count, &done), ok ? 0 : -EEXIST);
			ck_assert_uint_eq(done, good);
		}
		expect_tags(&expected, unit);
		expect_unit(&expected, unit, random_below(UNITS));
		expect_unit(&expected, unit, random_below(UNITS));
	}
}
END_TEST

START_TEST(unmap_everything)
{
	uint32_t hbm = guest_bo(fd, DRM_TRN_BO_HBM, MIB);
	uint64_t end = UINT64_C(1) << info.va_bits;

	guest_fails(bind_one(map_op(hbm, 0, 0, MIB)), 0);
	guest_fails(bind_one(map_op(hbm, 0, VA, MIB)), 0);
	guest_fails(bind_one(map_op(hbm, 0, end - MIB, MIB)), 0);
	guest_fails(bind_one(unmap_op(0, end)), 0);
	guest_fails(bind_one(unmap_op(0, end)), 0);
	guest_fails(bind_one(map_op(hbm, 0, end - MIB, MIB)), 0);
	/* The probe's memory too. */
	expect_fault(VA);
}
END_TEST

/* A mapping holds its object: handle or not, split or not. */
START_TEST(mappings_hold_objects)
{
	uint64_t before = guest_free(fd);
	uint32_t hbm = tagged_bo(DRM_TRN_BO_HBM, 4, MIB, 100);
	struct drm_gem_close close_handle = { .handle = hbm };

	guest_fails(bind_one(map_op(hbm, 0, VA, 4 * MIB)), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &close_handle), 0);
	guest_fails(bind_one(unmap_op(VA + MIB, 2 * MIB)), 0);
	ck_assert_uint_eq(guest_free(fd), before - 4 * MIB);
	expect_word(VA, 100);
	expect_word(VA + 4 * MIB - 8, 103);
	guest_fails(bind_one(unmap_op(VA + 3 * MIB, MIB)), 0);
	ck_assert_uint_eq(guest_free(fd), before - 4 * MIB);
	expect_word(VA + 8, 100);
	guest_fails(bind_one(unmap_op(VA, MIB)), 0);
	ck_assert_uint_eq(guest_free(fd), before);
}
END_TEST

/* ---- large leaves ---------------------------------------------------- */

struct leaves {
	uint64_t small, large, huge; /* 4 KiB, 2 MiB, 1 GiB */
};

/* From the driver's debugfs; all address spaces but the kernel's own, or that one alone. */
static struct leaves read_leaves(bool kernel)
{
	struct leaves sum = { 0 };
	unsigned long long asid, small, large, huge, tables;
	const struct trn_device_list *list;
	char path[96], line[128];
	FILE *file;

	guest_ok(trn_device_list(&list));
	snprintf(path, sizeof(path), "/sys/kernel/debug/accel/%s/address_spaces",
		 list->entry[0]->pci);
	trn_device_list_free(list);
	if (access(path, R_OK))
		ck_assert_int_eq(mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL), 0);
	file = fopen(path, "re");
	ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	while (fgets(line, sizeof(line), file)) {
		ck_assert_int_eq(sscanf(line, "%llu %llu %llu %llu %llu", &asid, &small, &large,
					&huge, &tables),
				 5);
		if (kernel != !asid)
			continue;
		sum.small += small;
		sum.large += large;
		sum.huge += huge;
	}
	fclose(file);
	return sum;
}

static void expect_leaves(struct leaves before, uint64_t small, uint64_t large)
{
	struct leaves now = read_leaves(false);

	ck_assert_uint_eq(now.small, before.small + small);
	ck_assert_uint_eq(now.large, before.large + large);
	ck_assert_uint_eq(now.huge, before.huge);
}

START_TEST(large_leaves)
{
	struct leaves before = read_leaves(false);
	uint32_t hbm = tagged_bo(DRM_TRN_BO_HBM, 8, MIB, 500);

	guest_fails(bind_one(map_op(hbm, 0, VA, 8 * MIB)), 0);
	expect_leaves(before, 0, 4);
	/* The third is cut, the fourth goes. */
	guest_fails(bind_one(unmap_op(VA + 5 * MIB, 3 * MIB)), 0);
	expect_leaves(before, 256, 2);
	expect_word(VA + 4 * MIB, 504);
	expect_word(VA + 5 * MIB - 8, 504);
	expect_fault(VA + 5 * MIB);
	guest_fails(bind_one(unmap_op(VA, 8 * MIB)), 0);
	expect_leaves(before, 0, 0);

	/* Neither aligned like the memory nor long enough. */
	guest_fails(bind_one(map_op(hbm, 0, VA + MIB, 4 * MIB)), 0);
	expect_leaves(before, 1024, 0);
	guest_fails(bind_one(map_op(hbm, 0, VA + 8 * MIB, MIB)), 0);
	expect_leaves(before, 1024 + 256, 0);
	/* A table gives way to a leaf. */
	guest_fails(bind_one(replace_op(hbm, 0, VA, 8 * MIB)), 0);
	expect_leaves(before, 256, 4);
	expect_word(VA + 8 * MIB - 8, 507);
}
END_TEST

/* All of HBM, for the driver itself. */
START_TEST(leaves_of_the_kernel)
{
	uint64_t hbm = info.hbm_stacks * info.hbm_stack_size;
	struct leaves kernel = read_leaves(true);

	ck_assert_uint_eq(kernel.huge, hbm / GIB);
	ck_assert_uint_ge(kernel.large, hbm % GIB / (2 * MIB));
}
END_TEST

/* ---- later ----------------------------------------------------------- */

START_TEST(later_in_order)
{
	uint32_t one = tagged_bo(DRM_TRN_BO_HBM, 4, MIB, 100);
	uint32_t two = tagged_bo(DRM_TRN_BO_HBM, 4, MIB, 200);
	uint32_t timeline = guest_syncobj(fd), plain = guest_syncobj(fd);
	struct drm_trn_bind_op first = map_op(one, 0, VA, 4 * MIB);
	struct drm_trn_bind_op second[2] = {
		replace_op(two, 0, VA + MIB, MIB),
		unmap_op(VA + 2 * MIB, MIB),
	};
	struct drm_trn_sync first_syncs[2] = { wait_sync(timeline, 5), signal_sync(timeline, 6) };
	struct drm_trn_sync second_syncs[2] = { signal_sync(timeline, 9), signal_sync(plain, 0) };
	struct gate gate;

	gate_close(&gate, fd, timeline, 5);
	guest_fails(bind_later(&first, 1, first_syncs, 2), 0);
	guest_fails(bind_later(second, 2, second_syncs, 2), 0);
	ck_assert(!is_signalled(plain));
	expect_fault(VA);
	/* A synchronous call does not wait for them. */
	guest_fails(bind_one(map_op(two, 0, VA + 16 * MIB, MIB)), 0);
	expect_word(VA + 16 * MIB, 200);
	ck_assert(!is_signalled(plain));
	expect_fault(VA);

	gate_open(&gate);
	guest_fails(wait_point(timeline, 6, 30), 0);
	guest_fails(wait_point(timeline, 9, 30), 0);
	guest_fails(guest_job(fd, plain, 30), 0);
	expect_word(VA + MIB - 8, 100);
	expect_word(VA + MIB, 200);
	expect_fault(VA + 2 * MIB);
	expect_word(VA + 3 * MIB, 103);
}
END_TEST

/* Several waits, one after the other, in any order of their signals. */
START_TEST(later_waits_for_all)
{
	uint32_t bo = tagged_bo(DRM_TRN_BO_HOST, 1, 4 * KIB, 7);
	uint32_t done = guest_syncobj(fd), waits[3], i;
	struct drm_trn_bind_op op = map_op(bo, 0, VA, 4 * KIB);
	struct drm_trn_sync syncs[4];
	struct gate gates[3];

	for (i = 0; i < 3; i++) {
		waits[i] = guest_syncobj(fd);
		gate_close(&gates[i], fd, waits[i], 0);
		syncs[i] = wait_sync(waits[i], 0);
	}
	syncs[3] = signal_sync(done, 0);
	guest_fails(bind_later(&op, 1, syncs, 4), 0);
	gate_open(&gates[1]);
	ck_assert(!is_signalled(done));
	gate_open(&gates[0]);
	ck_assert(!is_signalled(done));
	expect_fault(VA);
	gate_open(&gates[2]);
	guest_fails(guest_job(fd, done, 30), 0);
	expect_word(VA, 7);
}
END_TEST

START_TEST(later_many)
{
	uint32_t bo = tagged_bo(DRM_TRN_BO_HOST, 64, 4 * KIB, 1000), timeline = guest_syncobj(fd);
	uint32_t i;

	/* Each replaces what the one before it mapped, and waits for it. */
	for (i = 1; i <= 1000; i++) {
		struct drm_trn_bind_op op = replace_op(bo, i % 64 * 4 * KIB, VA, 4 * KIB);
		struct drm_trn_sync syncs[2] = { signal_sync(timeline, i),
						 wait_sync(timeline, i - 1) };

		guest_fails(bind_later(&op, 1, syncs, i > 1 ? 2 : 1), 0);
	}
	guest_fails(wait_point(timeline, 1000, 60), 0);
	expect_word(VA, 1000 + 1000 % 64);
}
END_TEST

/* Operations before the one that fails take effect; the next call is as good as any. */
START_TEST(later_over_a_mapping)
{
	uint32_t bo = tagged_bo(DRM_TRN_BO_HOST, 4, 4 * KIB, 40);
	uint32_t failed = guest_syncobj(fd), next = guest_syncobj(fd);
	struct drm_trn_bind_op ops[3] = {
		map_op(bo, 0, VA, 4 * KIB),
		map_op(bo, 4 * KIB, VA, 4 * KIB),
		map_op(bo, 8 * KIB, VA + 4 * KIB, 4 * KIB),
	};
	struct drm_trn_bind_op more = map_op(bo, 12 * KIB, VA + 8 * KIB, 4 * KIB);
	struct drm_trn_sync sync = signal_sync(failed, 0), sync_next = signal_sync(next, 0);

	guest_fails(bind_later(ops, 3, &sync, 1), 0);
	guest_fails(bind_later(&more, 1, &sync_next, 1), 0);
	guest_fails(guest_job(fd, failed, 30), -EEXIST);
	guest_fails(guest_job(fd, next, 30), 0);
	expect_word(VA, 40);
	expect_fault(VA + 4 * KIB);
	expect_word(VA + 8 * KIB, 43);
}
END_TEST

/* A job that faulted was to be waited for: nothing takes effect. */
START_TEST(later_after_an_error)
{
	uint32_t bo = tagged_bo(DRM_TRN_BO_HOST, 1, 4 * KIB, 9), point;

	for (point = 0; point < 2; point++) {
		uint32_t queue = guest_kernel_queue(fd, context, 4), job = guest_syncobj(fd);
		uint32_t done = guest_syncobj(fd);
		struct drm_trn_bind_op op = map_op(bo, 0, VA, 4 * KIB);
		struct drm_trn_sync syncs[2] = { wait_sync(job, point), signal_sync(done, 0) };
		struct trn_packet bad = guest_fill(VA, 8, 0, 3);
		struct drm_trn_sync job_sync = signal_sync(job, point);
		struct drm_trn_submit submit = {
			.queue = queue,
			.packets = { sizeof(bad), 1, (uintptr_t)&bad },
			.syncs = { sizeof(job_sync), 1, (uintptr_t)&job_sync },
		};

		guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &submit), 0);
		guest_fails(bind_later(&op, 1, syncs, 2), 0);
		guest_fails(guest_job(fd, done, 30), -EFAULT);
		expect_fault(VA);
		guest_fails(bind_later(&op, 1, &syncs[1], 1), 0);
		guest_fails(guest_job(fd, done, 30), 0);
		expect_word(VA, 9);
		guest_fails(bind_one(unmap_op(VA, 4 * KIB)), 0);
	}
}
END_TEST

START_TEST(later_without_operations)
{
	uint32_t done = guest_syncobj(fd);
	struct drm_trn_sync sync = signal_sync(done, 0);

	guest_fails(bind_later(NULL, 0, &sync, 1), 0);
	guest_fails(guest_job(fd, done, 30), 0);
	guest_fails(bind_later(NULL, 0, NULL, 0), 0);
}
END_TEST

START_TEST(refused)
{
	uint32_t bo = guest_bo(fd, DRM_TRN_BO_HBM, MIB);
	uint32_t done = guest_syncobj(fd), empty = guest_syncobj(fd), nothing = 0x7fffffff, i;
	struct drm_trn_bind_op good = map_op(bo, 0, VA, MIB), ops[2] = { good, good };
	struct drm_trn_sync sync = signal_sync(done, 0), many[DRM_TRN_BIND_SYNCS_MAX + 1], bad;
	struct drm_trn_vm_bind bind;

	bind = vm_bind(&good, 1);
	bind.flags = 2;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), -EINVAL);
	bind = vm_bind(&good, 1);
	bind.pad = 1;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), -EINVAL);
	bind = vm_bind(&good, 1);
	bind.syncs = (struct drm_trn_array){ sizeof(sync), 1, (uintptr_t)&sync };
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), -EINVAL);

	for (i = 0; i < DRM_TRN_BIND_SYNCS_MAX + 1; i++)
		many[i] = sync;
	guest_fails(bind_later(&good, 1, many, DRM_TRN_BIND_SYNCS_MAX + 1), -E2BIG);
	for (i = 0; i < 8; i++) {
		bad = sync;
		bad.flags = i;
		if (i != DRM_TRN_SYNC_SIGNAL && i != DRM_TRN_SYNC_WAIT)
			guest_fails(bind_later(&good, 1, &bad, 1), -EINVAL);
	}
	bad = signal_sync(nothing, 0);
	guest_fails(bind_later(&good, 1, &bad, 1), -ENOENT);
	bad = wait_sync(nothing, 0);
	guest_fails(bind_later(&good, 1, &bad, 1), -ENOENT);
	bad = wait_sync(empty, 0);
	guest_fails(bind_later(&good, 1, &bad, 1), -EINVAL);
	bad = wait_sync(empty, 3);
	guest_fails(bind_later(&good, 1, &bad, 1), -EINVAL);

	/* Checked as a whole: the good one has no effect either. */
	ops[1].size = 2 * MIB;
	guest_fails(bind_later(ops, 2, &sync, 1), -EINVAL);
	ops[1] = good;
	ops[1].handle = nothing;
	guest_fails(bind_later(ops, 2, &sync, 1), -ENOENT);
	ops[1] = good;
	ops[1].va = UINT64_C(1) << info.va_bits;
	guest_fails(bind_later(ops, 2, &sync, 1), -EINVAL);
	expect_fault(VA);

	/* The syncobj has got no fence from any of them. */
	bad = wait_sync(done, 0);
	guest_fails(bind_later(&good, 1, &bad, 1), -EINVAL);
}
END_TEST

/* ---- ends ------------------------------------------------------------ */

#define WAITING 3

/* Calls that wait for @gate, each with a syncobj of its own. */
static void leave_waiting(struct gate *gate, uint32_t done[WAITING])
{
	uint32_t bo = guest_bo(fd, DRM_TRN_BO_HBM, 16 * MIB), closed = guest_syncobj(fd), i;

	gate_close(gate, fd, closed, 0);
	for (i = 0; i < WAITING; i++) {
		struct drm_trn_bind_op op = map_op(bo, 0, VA + i * 16 * MIB, 16 * MIB);
		struct drm_trn_sync syncs[2];

		done[i] = guest_syncobj(fd);
		syncs[0] = signal_sync(done[i], 0);
		syncs[1] = wait_sync(closed, 0);
		guest_fails(bind_later(&op, 1, syncs, i ? 1 : 2), 0);
	}
}

/* The chip works and has all its memory, within a bounded time. */
static void expect_all_free(uint64_t before)
{
	int64_t end = trn_deadline(30 * SECOND);

	while (guest_free(fd) != before && trn_deadline(0) < end)
		usleep(10000);
	ck_assert_uint_eq(guest_free(fd), before);
}

START_TEST(destroyed_while_waiting)
{
	struct drm_trn_context_destroy destroy = { .context = context };
	uint64_t before = guest_free(fd);
	struct drm_gem_close close_bo;
	uint32_t done[WAITING], i;
	struct gate gate;

	leave_waiting(&gate, done);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), 0);
	/* The gate is still closed. */
	for (i = 0; i < WAITING; i++)
		guest_fails(guest_job(fd, done[i], 0), -ECANCELED);
	guest_fails(bind_later(NULL, 0, NULL, 0), -ENOENT);
	gate_open(&gate);

	/* The object that was to be mapped is the newest of the file. */
	close_bo.handle = guest_bo(fd, DRM_TRN_BO_HOST, 4 * KIB) - 1;
	close_bo.pad = 0;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &close_bo), 0);
	expect_all_free(before);
}
END_TEST

/* A syncobj of another file sees how the calls of a file that is closed end. */
START_TEST(closed_while_waiting)
{
	uint64_t before = guest_free(fd);
	int other = guest_open(0);
	uint32_t done[WAITING], imported[WAITING], i;
	struct gate gate;

	leave_waiting(&gate, done);
	for (i = 0; i < WAITING; i++) {
		struct drm_syncobj_handle export = { .handle = done[i], .fd = -1 }, import;

		guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export), 0);
		import = (struct drm_syncobj_handle){ .fd = export.fd };
		guest_fails(guest_ioctl(other, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import), 0);
		imported[i] = import.handle;
		close(export.fd);
	}
	/* A mapping would hold the file. */
	munmap(probe.memory, PROBE_SIZE);
	close(fd);
	fd = other;
	for (i = 0; i < WAITING; i++)
		guest_fails(guest_job(fd, imported[i], 5), -ECANCELED);
	gate_open(&gate);
	expect_all_free(before);
}
END_TEST

START_TEST(killed_while_waiting)
{
	uint64_t before = guest_free(fd);
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		uint32_t done[WAITING];
		struct gate gate;

		start();
		leave_waiting(&gate, done);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	expect_all_free(before);
}
END_TEST

static void write_sysfs(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_msg(file >= 0, "%s: %s", path, strerror(errno));
	ck_assert_msg(write(file, text, strlen(text)) == (ssize_t)strlen(text), "%s: %s", path,
		      strerror(errno));
	close(file);
}

START_TEST(unbound_while_waiting)
{
	const struct trn_device_list *list;
	struct drm_trn_bind_op op;
	uint32_t done[WAITING], i;
	int files[WAITING];
	struct gate gate;
	char pci[24];

	guest_ok(trn_device_list(&list));
	snprintf(pci, sizeof(pci), "%s", list->entry[0]->pci);
	trn_device_list_free(list);

	leave_waiting(&gate, done);
	for (i = 0; i < WAITING; i++) {
		struct drm_syncobj_handle file = {
			.handle = done[i],
			.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
			.fd = -1,
		};

		guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file), 0);
		files[i] = file.fd;
	}
	write_sysfs("/sys/bus/pci/drivers/trn/unbind", pci);
	for (i = 0; i < WAITING; i++) {
		struct sync_file_info file = { 0 };

		ck_assert_int_eq(ioctl(files[i], SYNC_IOC_FILE_INFO, &file), 0);
		ck_assert_int_eq(file.status, -ENODEV);
	}
	op = unmap_op(VA, MIB);
	guest_fails(bind_one(op), -ENODEV);
	guest_fails(bind_later(&op, 1, NULL, 0), -ENODEV);
	gate_open(&gate);
	write_sysfs("/sys/bus/pci/drivers/trn/bind", pci);
	/* Fences outlive their chip; nobody knows for how long. */
	for (i = 0; i < WAITING; i++)
		close(files[i]);
	stop();
	start();
	guest_fails(bind_one(map_op(guest_bo(fd, DRM_TRN_BO_HBM, MIB), 0, VA, MIB)), 0);
}
END_TEST

/* Leaves of 4 KiB, 16 times 64 MiB of them. */
static void large_binds(void)
{
	uint32_t bo = guest_bo(fd, DRM_TRN_BO_HBM, 64 * MIB), done, i;
	struct drm_trn_bind_op ops[16], unmap = unmap_op(0, UINT64_C(1) << info.va_bits);

	for (i = 0; i < 16; i++)
		ops[i] = map_op(bo, 0, VA + i * 64 * MIB + 4 * KIB, 64 * MIB);
	for (;;) {
		guest_fails(bind_now(ops, 16, &done), 0);
		guest_fails(bind_one(unmap), 0);
	}
}

START_TEST(killed_in_a_large_bind)
{
	struct leaves before_leaves = read_leaves(false);
	uint64_t before = guest_free(fd);
	uint32_t round;

	for (round = 0; round < 20; round++) {
		int64_t killed;
		int status;
		pid_t child = fork();

		ck_assert_int_ge(child, 0);
		if (!child) {
			start();
			large_binds();
		}
		/* Anywhere will do: the delay only spreads the places. */
		usleep(20000 + random_below(200000));
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		killed = trn_deadline(0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		ck_assert_int_lt(trn_deadline(0) - killed, 10 * SECOND);
	}
	expect_all_free(before);
	expect_leaves(before_leaves, 0, 0);
}
END_TEST

/* A call whose operations come from user memory only after its context was destroyed. */
START_TEST(destroyed_while_copying)
{
	struct drm_trn_bind_op *ops =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_trn_vm_bind bind = {
		.context = context,
		.ops = { .stride = sizeof(*ops), .count = 1, .pointer = (uintptr_t)ops },
	};
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)ops, .len = 4096 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	uint32_t handle = guest_bo(fd, DRM_TRN_BO_HOST, 4096);
	int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC), pid, status;

	ck_assert_ptr_ne(ops, MAP_FAILED);
	ck_assert_msg(faults >= 0, "userfaultfd: %s", strerror(errno));
	ck_assert_int_eq(ioctl(faults, UFFDIO_API, &api), 0);
	ck_assert_int_eq(ioctl(faults, UFFDIO_REGISTER, &range), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		static _Alignas(4096) uint8_t page[4096];
		struct drm_trn_bind_op op = { .handle = handle, .va = 1 << 21, .size = 4096 };
		struct drm_trn_context_destroy destroy = { .context = context };
		struct uffdio_copy copy = {
			.dst = (uintptr_t)ops,
			.src = (uintptr_t)page,
			.len = sizeof(page),
		};
		struct uffd_msg fault;

		memcpy(page, &op, sizeof(op));
		if (read(faults, &fault, sizeof(fault)) != sizeof(fault))
			_exit(1);
		if (guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy))
			_exit(2);
		_exit(ioctl(faults, UFFDIO_COPY, &copy) ? 3 : 0);
	}
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), -ENOENT);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(faults);
	munmap(ops, 4096);
	context = guest_context(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bind");
	TCase *cases = tcase_create("bind");

	tcase_set_timeout(cases, 180);
	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_loop_test(cases, random_changes, 0, 4);
	tcase_add_test(cases, unmap_everything);
	tcase_add_test(cases, mappings_hold_objects);
	tcase_add_test(cases, large_leaves);
	tcase_add_test(cases, leaves_of_the_kernel);
	tcase_add_test(cases, later_in_order);
	tcase_add_test(cases, later_waits_for_all);
	tcase_add_test(cases, later_many);
	tcase_add_test(cases, later_over_a_mapping);
	tcase_add_test(cases, later_after_an_error);
	tcase_add_test(cases, later_without_operations);
	tcase_add_test(cases, refused);
	tcase_add_test(cases, destroyed_while_copying);
	tcase_add_test(cases, destroyed_while_waiting);
	tcase_add_test(cases, closed_while_waiting);
	tcase_add_test(cases, killed_while_waiting);
	tcase_add_test(cases, killed_in_a_large_bind);
	tcase_add_test(cases, unbound_while_waiting);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
