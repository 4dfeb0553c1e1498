/* SPDX-License-Identifier: MIT */
/*
 * A 32-bit program on a 64-bit kernel: opens a chip, binds, copies through a kernel
 * queue, compares, closes; and the core's ioctls that must be refused.  It is linked with no
 * library at all, so that it needs no 32-bit ones: the system calls are made here.
 */
#include <stddef.h>
#include <stdint.h>

#include <asm/unistd_32.h>
#include <drm/trn_accel.h>
#include <hw/trn_queue.h>

#define O_RDWR	   2
#define PROT_RW	   3
#define MAP_SHARED 1
#define SIZE	   (64u * 1024)
#define VA	   0x10000000ull
#define MONOTONIC  1
#define DEADLINE_S 60
#define NODES	   64

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	const long rest[] = { d, e, f }, *pointer = rest;
	long result;

	/* The sixth argument goes where the frame pointer is. */
	__asm__ volatile("pushl %%ebp\n\t"
			 "movl 8(%%esi), %%ebp\n\t"
			 "movl 4(%%esi), %%edi\n\t"
			 "movl 0(%%esi), %%esi\n\t"
			 "int $0x80\n\t"
			 "popl %%ebp"
			 : "=a"(result), "+S"(pointer)
			 : "0"(number), "b"(a), "c"(b), "d"(c)
			 : "edi", "memory");
	return result;
}

/* The compiler may call it for assignments of structures. */
void *memset(void *memory, int value, size_t size)
{
	volatile uint8_t *byte = memory;

	while (size--)
		*byte++ = (uint8_t)value;
	return memory;
}

static void say(const char *text)
{
	long length = 0;

	while (text[length])
		length++;
	system_call(__NR_write, 1, (long)text, length, 0, 0, 0);
}

static void leave(int status)
{
	system_call(__NR_exit_group, status, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

static void check(int good, const char *what)
{
	if (good)
		return;
	say("guest32: failed: ");
	say(what);
	say("\n0%: Checks: 1, Failures: 1, Errors: 0\n");
	leave(1);
}

static long do_ioctl(int fd, unsigned long request, void *argument)
{
	return system_call(__NR_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
}

/* Nodes are numbered from 0, but chips may have come and gone. */
static int open_node(void)
{
	char path[] = "/dev/accel/accel00";
	int i;

	for (i = 0; i < NODES; i++) {
		long fd;

		path[16] = (char)('0' + (i < 10 ? i : i / 10));
		path[17] = i < 10 ? 0 : (char)('0' + i % 10);
		fd = system_call(__NR_open, (long)path, O_RDWR, 0, 0, 0, 0);
		if (fd >= 0)
			return (int)fd;
	}
	return -1;
}

static uint32_t make_bo(int fd, uint32_t placement, uint32_t context, uint64_t va)
{
	struct drm_trn_bo_create create = {
		.size = SIZE,
		.placement = placement,
		.stack = placement == DRM_TRN_BO_HBM ? DRM_TRN_STACK_ANY : 0,
	};
	struct drm_trn_bind_op op = { .op = DRM_TRN_BIND_MAP, .va = va, .size = SIZE };
	struct drm_trn_vm_bind bind = {
		.context = context,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};

	check(!do_ioctl(fd, DRM_IOCTL_TRN_BO_CREATE, &create), "BO_CREATE");
	op.handle = create.handle;
	check(!do_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind), "VM_BIND");
	check(bind.done == 1, "VM_BIND done");
	return create.handle;
}

static uint32_t *map_bo(int fd, uint32_t handle)
{
	struct drm_trn_bo_mmap_offset offset = { .handle = handle };
	long pointer;

	check(!do_ioctl(fd, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &offset), "BO_MMAP_OFFSET");
	pointer = system_call(__NR_mmap2, 0, SIZE, PROT_RW, MAP_SHARED, fd,
			      (long)(offset.offset >> 12));
	check((unsigned long)pointer < -4096ul, "mmap");
	return (uint32_t *)pointer;
}

/* DRM takes ns of CLOCK_MONOTONIC. */
static int64_t deadline(void)
{
	struct {
		int64_t seconds, nanoseconds;
	} now = { 0, 0 };

	check(!system_call(__NR_clock_gettime64, MONOTONIC, (long)&now, 0, 0, 0, 0),
	      "clock_gettime64");
	return (now.seconds + DEADLINE_S) * 1000000000 + now.nanoseconds;
}

static struct trn_packet copy(uint64_t destination, uint64_t source)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_COPY,
		.copy = { .source = source, .destination = destination, .length = SIZE },
	};
}

/* host → HBM → other host object, as one job. */
static void copy_and_compare(int fd, uint32_t context)
{
	struct drm_trn_queue_create queue = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = 8,
	};
	uint32_t *source = map_bo(fd, make_bo(fd, DRM_TRN_BO_HOST, context, VA));
	uint32_t *result = map_bo(fd, make_bo(fd, DRM_TRN_BO_HOST, context, VA + 2 * SIZE));
	struct trn_packet packets[2] = { copy(VA + SIZE, VA), copy(VA + 2 * SIZE, VA + SIZE) };
	struct drm_syncobj_create syncobj = { 0 };
	struct drm_trn_sync sync = { .flags = DRM_TRN_SYNC_SIGNAL };
	struct drm_trn_submit submit = {
		.packets = {
			.stride = sizeof(packets[0]),
			.count = 2,
			.pointer = (uintptr_t)packets,
		},
		.syncs = { .stride = sizeof(sync), .count = 1, .pointer = (uintptr_t)&sync },
	};
	struct drm_syncobj_wait wait = { .count_handles = 1 };
	uint32_t i;

	make_bo(fd, DRM_TRN_BO_HBM, context, VA + SIZE);
	check(!do_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &queue), "QUEUE_CREATE");
	submit.queue = queue.queue;
	check(!do_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &syncobj), "SYNCOBJ_CREATE");
	sync.handle = syncobj.handle;

	for (i = 0; i < SIZE / 4; i++) {
		check(result[i] == 0, "new memory is zero");
		source[i] = i * 2654435761u;
	}
	check(!do_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &submit), "SUBMIT");
	wait.handles = (uintptr_t)&syncobj.handle;
	wait.timeout_nsec = deadline();
	check(!do_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait), "SYNCOBJ_WAIT");
	for (i = 0; i < SIZE / 4; i++)
		check(result[i] == i * 2654435761u, "what arrived");
}

/* The kernel aligns the stack otherwise than a call would. */
__attribute__((force_align_arg_pointer)) void start(void) __asm__("_start");
void start(void)
{
	struct drm_trn_context_create context = { 0 };
	struct drm_trn_query_device info = { .cores = 0 };
	struct drm_trn_query query = {
		.query = DRM_TRN_QUERY_DEVICE,
		.size = sizeof(info),
		.pointer = (uintptr_t)&info,
	};
	struct drm_unique unique = { 0 };
	struct drm_auth magic = { 0 };
	int fd;

	fd = open_node();
	check(fd >= 0, "no node below /dev/accel can be opened");
	check(do_ioctl(fd, DRM_IOCTL_GET_UNIQUE, &unique) < 0, "GET_UNIQUE is refused");
	check(do_ioctl(fd, DRM_IOCTL_GET_MAGIC, &magic) < 0, "GET_MAGIC is refused");
	check(!do_ioctl(fd, DRM_IOCTL_TRN_QUERY, &query), "QUERY");
	check(info.cores > 0, "QUERY gives cores");
	check(!do_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_CREATE, &context), "CONTEXT_CREATE");
	copy_and_compare(fd, context.context);
	check(!system_call(__NR_close, fd, 0, 0, 0, 0, 0), "close");
	say("100%: Checks: 1, Failures: 0, Errors: 0\n");
	leave(0);
}
