/* SPDX-License-Identifier: MIT */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void guest_pattern(void *memory, uint64_t size, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15 + 1, i;
	uint8_t *byte = memory;

	for (i = 0; i < size; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		byte[i] = (uint8_t)(state >> 24);
	}
}

unsigned int guest_chips(void)
{
	const struct trn_device_list *list;
	unsigned int count;

	guest_ok(trn_device_list(&list));
	count = (unsigned int)list->count;
	trn_device_list_free(list);
	return count;
}

int guest_unload_module(void)
{
	return syscall(SYS_delete_module, "trn", O_NONBLOCK) < 0 ? -errno : 0;
}

int guest_open(unsigned int chip)
{
	const struct trn_device_list *list;
	int fd;

	guest_ok(trn_device_list(&list));
	ck_assert_msg(chip < list->count, "there is no chip %u", chip);
	fd = open(list->entry[chip]->node, O_RDWR | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s: %s", list->entry[chip]->node, strerror(errno));
	trn_device_list_free(list);
	return fd;
}

int guest_ioctl(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static void query(int fd, uint32_t what, void *answer, uint32_t size)
{
	struct drm_trn_query query = {
		.query = what,
		.size = size,
		.pointer = (uintptr_t)answer,
	};

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUERY, &query), 0);
}

struct drm_trn_query_device guest_info(int fd)
{
	struct drm_trn_query_device info = { 0 };

	query(fd, DRM_TRN_QUERY_DEVICE, &info, sizeof(info));
	return info;
}

uint64_t guest_free(int fd)
{
	struct drm_trn_query_memory memory = { 0 };
	uint64_t sum = 0;
	uint32_t i;

	query(fd, DRM_TRN_QUERY_MEMORY, &memory, sizeof(memory));
	for (i = 0; i < memory.stacks; i++)
		sum += memory.stack[i].free;
	return sum;
}

uint32_t guest_context(int fd)
{
	struct drm_trn_context_create create = { 0 };

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_CREATE, &create), 0);
	ck_assert_uint_ne(create.context, 0);
	return create.context;
}

uint32_t guest_bo(int fd, uint32_t placement, uint64_t size)
{
	struct drm_trn_bo_create create = {
		.size = size,
		.placement = placement,
		.stack = placement == DRM_TRN_BO_HBM ? DRM_TRN_STACK_ANY : 0,
	};

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_BO_CREATE, &create), 0);
	return create.handle;
}

void *guest_map(int fd, uint32_t handle, uint64_t size)
{
	struct drm_trn_bo_mmap_offset offset = { .handle = handle };
	void *pointer;

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &offset), 0);
	pointer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset.offset);
	ck_assert_msg(pointer != MAP_FAILED, "mmap: %s", strerror(errno));
	return pointer;
}

static int bind_one(int fd, uint32_t context, struct drm_trn_bind_op *op)
{
	struct drm_trn_vm_bind bind = {
		.context = context,
		.ops = { .stride = sizeof(*op), .count = 1, .pointer = (uintptr_t)op },
	};

	return guest_ioctl(fd, DRM_IOCTL_TRN_VM_BIND, &bind);
}

int guest_bind(int fd, uint32_t context, uint32_t handle, uint64_t va, uint64_t size)
{
	struct drm_trn_bind_op op = {
		.op = DRM_TRN_BIND_MAP,
		.handle = handle,
		.va = va,
		.size = size,
	};

	return bind_one(fd, context, &op);
}

int guest_unbind(int fd, uint32_t context, uint64_t va, uint64_t size)
{
	struct drm_trn_bind_op op = { .op = DRM_TRN_BIND_UNMAP, .va = va, .size = size };

	return bind_one(fd, context, &op);
}

uint32_t guest_kernel_queue(int fd, uint32_t context, uint32_t entries)
{
	struct drm_trn_queue_create create = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = entries,
	};

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), 0);
	ck_assert_uint_ne(create.queue, 0);
	return create.queue;
}

uint32_t guest_syncobj(int fd)
{
	struct drm_syncobj_create create = { 0 };

	guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create), 0);
	return create.handle;
}

int guest_submit(int fd, uint32_t queue, const struct trn_packet *packets, uint32_t count,
		 uint32_t syncobj)
{
	struct drm_trn_sync sync = { .handle = syncobj, .flags = DRM_TRN_SYNC_SIGNAL };
	struct drm_trn_submit submit = {
		.queue = queue,
		.packets = {
			.stride = sizeof(*packets),
			.count = count,
			.pointer = (uintptr_t)packets,
		},
		.syncs = { .stride = sizeof(sync), .count = 1, .pointer = (uintptr_t)&sync },
	};

	return guest_ioctl(fd, DRM_IOCTL_TRN_SUBMIT, &submit);
}

int guest_job(int fd, uint32_t syncobj, int seconds)
{
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&syncobj,
		.count_handles = 1,
		.timeout_nsec = trn_deadline(seconds * SECOND),
	};
	struct drm_syncobj_handle file = {
		.handle = syncobj,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	struct sync_file_info info = { 0 };
	int error = guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);

	if (error)
		return error;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file), 0);
	ck_assert_int_eq(ioctl(file.fd, SYNC_IOC_FILE_INFO, &info), 0);
	close(file.fd);
	return info.status < 0 ? info.status : 0;
}

struct trn_packet guest_copy(uint64_t destination, uint64_t source, uint64_t length)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_COPY,
		.copy = { .source = source, .destination = destination, .length = length },
	};
}

struct trn_packet guest_fill(uint64_t destination, uint64_t length, uint64_t pattern,
			     uint8_t unit_log2)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_FILL,
		.fill = {
			.destination = destination,
			.length = length,
			.pattern = pattern,
			.unit_log2 = unit_log2,
		},
	};
}

static void *map_page(int fd, uint64_t offset)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, (off_t)offset);

	ck_assert_msg(page != MAP_FAILED, "mmap of a queue's page: %s", strerror(errno));
	return page;
}

struct guest_user_queue guest_user_queue(int fd, uint32_t context)
{
	struct guest_user_queue queue = { .fd = fd };
	struct drm_trn_queue_create create = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_USER,
		.ring_entries = GUEST_RING_ENTRIES,
		.ring_va = GUEST_RING_VA,
	};
	uint64_t size = GUEST_FENCE_VA - GUEST_RING_VA + 4096;

	queue.memory = guest_bo(fd, DRM_TRN_BO_HOST, size);
	guest_fails(guest_bind(fd, context, queue.memory, GUEST_RING_VA, size), 0);
	queue.ring = guest_map(fd, queue.memory, size);
	queue.fence = (uint64_t *)((uint8_t *)queue.ring + (GUEST_FENCE_VA - GUEST_RING_VA));
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), 0);
	queue.id = create.queue;
	queue.control = map_page(fd, create.control_offset);
	queue.doorbell = map_page(fd, create.doorbell_offset);
	return queue;
}

void guest_push(struct guest_user_queue *queue, const struct trn_packet *packet)
{
	uint32_t tail = queue->control->tail;

	queue->ring[tail % GUEST_RING_ENTRIES] = *packet;
	__atomic_store_n(&queue->control->tail, tail + 1, __ATOMIC_SEQ_CST);
	*queue->doorbell = 1;
}

struct trn_packet guest_fence_write(uint64_t value)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_FENCE_WRITE,
		.fence = { .address = GUEST_FENCE_VA, .value = value },
	};
}

struct trn_packet guest_fence_wait(uint64_t value)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_FENCE_WAIT,
		.fence = { .address = GUEST_FENCE_VA, .value = value },
	};
}

int guest_wait(struct guest_user_queue *queue, uint64_t value, int64_t deadline)
{
	struct drm_trn_wait wait = {
		.queue = queue->id,
		.va = GUEST_FENCE_VA,
		.value = value,
		.deadline_ns = deadline,
	};

	return guest_ioctl(queue->fd, DRM_IOCTL_TRN_WAIT, &wait);
}
