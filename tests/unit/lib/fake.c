/* SPDX-License-Identifier: MIT */
#include "fake.h"

#include <check.h>
#include <errno.h>
#include <linux/sync_file.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xf86drm.h>

#include <drm/trn_accel.h>
#include <hw/trn_queue.h>
#include <trn/trn.h>

#define PAGE	 4096U
#define MEMORY	 (UINT64_C(256) << 20)
#define OBJECTS	 128
#define RING_MAX 4096U

struct bo {
	bool used;
	uint64_t offset; /* in the memfd */
	uint64_t size;
	uint32_t placement;
	uint32_t stack;
};

struct binding {
	bool used;
	uint32_t context;
	uint32_t bo;
	uint32_t flags;
	uint64_t va, size, offset;
};

struct queue {
	bool used;
	uint32_t context, mode, entries;
	uint64_t ring_va, control_offset;
	struct trn_control *control;
	uint32_t *doorbell;
	bool stopped;
	bool stop; /* ends the thread */
	pthread_t thread;
};

struct syncobj {
	bool used;
	bool signalled;
	int error;
};

/* Everything under one lock; the device's threads take it for each packet. */
static struct {
	pthread_mutex_t lock;
	struct fake_options options;
	int fd;
	char path[64];
	uint8_t *memory;
	uint64_t memory_used;
	bool gone, hold, break_next;
	unsigned int ioctls;
	bool context[OBJECTS];
	struct bo bo[OBJECTS];
	struct binding binding[OBJECTS];
	struct queue queue[OBJECTS];
	struct syncobj syncobj[8192];
	int sync_fd_error[256];
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the chip -------------------------------------------------------- */

/* Memory at an address, NULL if all of it is not one binding with that access. */
static uint8_t *translate(uint32_t context, uint64_t va, uint64_t size, bool write)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		struct binding *b = &fake.binding[i];

		if (!b->used || b->context != context || va < b->va || va - b->va >= b->size ||
		    size > b->size - (va - b->va))
			continue;
		if (write && b->flags & DRM_TRN_BIND_READONLY)
			return NULL;
		return fake.memory + fake.bo[b->bo].offset + b->offset + (va - b->va);
	}
	return NULL;
}

/* 0, -EFAULT or -EIO. */
static int execute(uint32_t context, const struct trn_packet *packet)
{
	uint8_t *to, *from;
	uint64_t i;

	if (fake.break_next) {
		fake.break_next = false;
		return -EFAULT;
	}
	switch (packet->opcode) {
	case TRN_PACKET_NOP:
		return 0;
	case TRN_PACKET_COPY:
		to = translate(context, packet->copy.destination, packet->copy.length, true);
		from = translate(context, packet->copy.source, packet->copy.length, false);
		if (!to || !from)
			return -EFAULT;
		memcpy(to, from, packet->copy.length);
		return 0;
	case TRN_PACKET_FILL:
		to = translate(context, packet->fill.destination, packet->fill.length, true);
		if (!to)
			return -EFAULT;
		for (i = 0; i < packet->fill.length; i++)
			to[i] = (uint8_t)(packet->fill.pattern >>
					  8 * (i % (1U << packet->fill.unit_log2)));
		return 0;
	case TRN_PACKET_FENCE_WRITE:
		to = translate(context, packet->fence.address, 8, true);
		if (!to)
			return -EFAULT;
		__atomic_store_n((uint64_t *)to, packet->fence.value, __ATOMIC_RELEASE);
		return 0;
	default:
		return -EIO;
	}
}

/* One packet, if there is one; false if there is not. */
static bool step(struct queue *queue, uint32_t *head)
{
	uint32_t tail = __atomic_load_n(&queue->control->tail, __ATOMIC_ACQUIRE);
	struct trn_packet packet, *ring;

	if (fake.hold || fake.gone || queue->stopped || tail == *head)
		return false;
	ring = (struct trn_packet *)translate(queue->context, queue->ring_va,
					      queue->entries * sizeof(packet), false);
	if (ring && tail - *head <= queue->entries) {
		packet = ring[*head & (queue->entries - 1)];
		if (!execute(queue->context, &packet)) {
			__atomic_store_n(&queue->control->head, ++*head, __ATOMIC_RELEASE);
			return true;
		}
	}
	queue->stopped = true;
	__atomic_store_n(&queue->control->status, TRN_CONTROL_STOPPED, __ATOMIC_RELAXED);
	__atomic_store_n(&queue->control->generation, 2, __ATOMIC_RELEASE);
	return false;
}

static void *run_queue(void *argument)
{
	struct queue *queue = argument;
	struct trn_control *control = queue->control;
	uint32_t head = 0;
	bool more;

	while (!__atomic_load_n(&queue->stop, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&fake.lock);
		more = step(queue, &head);
		pthread_mutex_unlock(&fake.lock);
		if (more)
			continue;
		__atomic_store_n(&control->need_kick, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&control->tail, __ATOMIC_SEQ_CST) == head)
			while (!__atomic_exchange_n(queue->doorbell, 0, __ATOMIC_ACQUIRE) &&
			       !__atomic_load_n(&queue->stop, __ATOMIC_ACQUIRE))
				sched_yield();
		else
			sched_yield(); /* held or stopped */
		__atomic_store_n(&control->need_kick, 0, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* ---- the driver ------------------------------------------------------ */

static int query(struct drm_trn_query *query)
{
	struct drm_trn_query_device *device = (void *)(uintptr_t)query->pointer;
	struct drm_trn_query_memory *memory = (void *)(uintptr_t)query->pointer;
	int i;

	if (query->query == DRM_TRN_QUERY_DEVICE) {
		*device = (struct drm_trn_query_device){
			.uuid = { 1, 2, 3 },
			.generation = "trn9",
			.serial = "S1",
			.firmware = "F1",
			.architecture_version = 1 << 16 | 2,
			.cores = 2,
			.hbm_stacks = FAKE_STACKS,
			.hbm_stack_size = FAKE_STACK_SIZE,
			.va_bits = 48,
			.ring_max = RING_MAX,
			.page_size = PAGE,
		};
		return 0;
	}
	*memory = (struct drm_trn_query_memory){ .stacks = FAKE_STACKS };
	for (i = 0; i < FAKE_STACKS; i++)
		memory->stack[i].total = memory->stack[i].free = FAKE_STACK_SIZE;
	for (i = 0; i < OBJECTS; i++)
		if (fake.bo[i].used && fake.bo[i].placement == DRM_TRN_BO_HBM)
			memory->stack[fake.bo[i].stack].free -= fake.bo[i].size;
	for (i = 0; i < FAKE_STACKS; i++)
		memory->stack[i].largest = memory->stack[i].free;
	return 0;
}

/* A stack with that much free, or -1. */
static int find_stack(uint32_t wanted, uint64_t size)
{
	struct drm_trn_query_memory memory;
	struct drm_trn_query q = { .query = DRM_TRN_QUERY_MEMORY, .pointer = (uintptr_t)&memory };
	int i;

	query(&q);
	for (i = 0; i < FAKE_STACKS; i++)
		if ((wanted == DRM_TRN_STACK_ANY || wanted == (uint32_t)i) &&
		    memory.stack[i].free >= size)
			return i;
	return -1;
}

static uint64_t take_memory(uint64_t size)
{
	uint64_t offset = fake.memory_used;

	ck_assert_uint_le(size, MEMORY - offset);
	fake.memory_used += size;
	return offset;
}

static int bo_create(struct drm_trn_bo_create *create)
{
	int i, stack = 0;

	ck_assert_uint_eq(create->flags, 0);
	create->size = (create->size + PAGE - 1) & -(uint64_t)PAGE;
	if (create->placement == DRM_TRN_BO_HBM) {
		stack = find_stack(create->stack, create->size);
		if (stack < 0)
			return -ENOSPC;
	}
	for (i = 1; fake.bo[i].used; i++)
		ck_assert_int_lt(i, OBJECTS - 1);
	fake.bo[i] = (struct bo){
		.used = true,
		.offset = take_memory(create->size),
		.size = create->size,
		.placement = create->placement,
		.stack = (uint32_t)stack,
	};
	create->handle = (uint32_t)i;
	return 0;
}

static int bind(struct drm_trn_vm_bind *bind)
{
	const struct drm_trn_bind_op *op = (void *)(uintptr_t)bind->ops.pointer;
	int i, place = -1;

	ck_assert_uint_eq(bind->ops.stride, sizeof(*op));
	ck_assert_uint_eq(bind->ops.count, 1);
	for (i = 0; i < OBJECTS; i++) {
		struct binding *b = &fake.binding[i];

		if (!b->used) {
			place = i;
		} else if (b->context == bind->context && op->op == DRM_TRN_BIND_UNMAP &&
			   b->va == op->va && b->size == op->size) {
			b->used = false;
			return 0;
		} else if (b->context == bind->context && op->va < b->va + b->size &&
			   b->va < op->va + op->size) {
			return -EEXIST;
		}
	}
	if (op->op == DRM_TRN_BIND_UNMAP)
		return -ENOENT;
	ck_assert_int_ge(place, 0);
	ck_assert(fake.bo[op->handle].used);
	fake.binding[place] = (struct binding){
		.used = true,
		.context = bind->context,
		.bo = op->handle,
		.flags = op->flags,
		.va = op->va,
		.size = op->size,
		.offset = op->offset,
	};
	return 0;
}

static int context_create(struct drm_trn_context_create *create)
{
	unsigned int i, most = fake.options.contexts ? fake.options.contexts : 8;

	for (i = 1; i <= most && fake.context[i]; i++)
		;
	if (i > most)
		return -ENOSPC;
	fake.context[i] = true;
	create->context = i;
	return 0;
}

static int queue_create(struct drm_trn_queue_create *create)
{
	unsigned int i, most = fake.options.queues ? fake.options.queues : 8;
	struct queue *queue;

	for (i = 1; i <= most && fake.queue[i].used; i++)
		;
	if (i > most)
		return -ENOSPC;
	queue = &fake.queue[i];
	*queue = (struct queue){
		.used = true,
		.context = create->context,
		.mode = create->mode,
		.entries = create->ring_entries,
		.ring_va = create->ring_va,
	};
	create->queue = i;
	if (queue->mode == DRM_TRN_QUEUE_KERNEL)
		return 0;
	create->control_offset = take_memory(PAGE);
	create->doorbell_offset = take_memory(PAGE);
	queue->control = (struct trn_control *)(fake.memory + create->control_offset);
	queue->doorbell = (uint32_t *)(fake.memory + create->doorbell_offset);
	queue->control->need_kick = 1;
	queue->control->generation = 1;
	ck_assert_int_eq(pthread_create(&queue->thread, NULL, run_queue, queue), 0);
	return 0;
}

/* Called with the lock held, which the queue's thread needs to come to its end. */
static int queue_destroy(uint32_t id)
{
	struct queue *queue = &fake.queue[id];

	if (!queue->used)
		return -ENOENT;
	if (queue->mode == DRM_TRN_QUEUE_USER) {
		__atomic_store_n(&queue->stop, true, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&fake.lock);
		pthread_join(queue->thread, NULL);
		pthread_mutex_lock(&fake.lock);
		queue->control->generation = 2;
		queue->control->status = TRN_CONTROL_DESTROYED;
	}
	queue->used = false;
	return 0;
}

static int submit(struct drm_trn_submit *submit)
{
	struct queue *queue = &fake.queue[submit->queue];
	const struct trn_packet *packet = (void *)(uintptr_t)submit->packets.pointer;
	const struct drm_trn_sync *sync = (void *)(uintptr_t)submit->syncs.pointer;
	struct syncobj *syncobj = &fake.syncobj[sync->handle];
	uint32_t i;

	if (!queue->used)
		return -ENOENT;
	if (queue->stopped)
		return -EIO;
	ck_assert_uint_eq(submit->packets.stride, sizeof(*packet));
	ck_assert_uint_eq(submit->syncs.count, 1);
	ck_assert_uint_eq(sync->flags, DRM_TRN_SYNC_SIGNAL);
	ck_assert_uint_lt(submit->packets.count, queue->entries);
	ck_assert(syncobj->used);
	syncobj->error = 0;
	for (i = 0; i < submit->packets.count && !syncobj->error; i++)
		syncobj->error = execute(queue->context, &packet[i]);
	queue->stopped = syncobj->error;
	syncobj->signalled = !fake.hold;
	return 0;
}

static int wait_user(const struct drm_trn_wait *wait)
{
	struct queue *queue = &fake.queue[wait->queue];
	const uint64_t *fence;

	for (;;) {
		if (!queue->used)
			return -ENOENT;
		fence = (const uint64_t *)translate(queue->context, wait->va, 8, false);
		if (!fence)
			return -EINVAL;
		if (__atomic_load_n(fence, __ATOMIC_ACQUIRE) >= wait->value)
			return 0;
		if (fake.gone)
			return -ENODEV;
		if (queue->stopped)
			return -EIO;
		if (trn_deadline(0) >= wait->deadline_ns)
			return -ETIME;
		pthread_mutex_unlock(&fake.lock);
		sched_yield();
		pthread_mutex_lock(&fake.lock);
	}
}

static int dispatch(unsigned long request, void *argument)
{
	fake.ioctls++;
	/* Handles are freed and queues end whatever the chip does. */
	switch (request) {
	case DRM_IOCTL_GEM_CLOSE:
		fake.bo[((struct drm_gem_close *)argument)->handle].used = false;
		return 0;
	case DRM_IOCTL_TRN_QUEUE_DESTROY:
		return queue_destroy(((struct drm_trn_queue_destroy *)argument)->queue);
	case DRM_IOCTL_TRN_CONTEXT_DESTROY:
		fake.context[((struct drm_trn_context_destroy *)argument)->context] = false;
		return 0;
	case DRM_IOCTL_TRN_WAIT:
		return wait_user(argument);
	}
	if (fake.gone)
		return -ENODEV;
	switch (request) {
	case DRM_IOCTL_TRN_QUERY:
		return query(argument);
	case DRM_IOCTL_TRN_CONTEXT_CREATE:
		return context_create(argument);
	case DRM_IOCTL_TRN_BO_CREATE:
		return bo_create(argument);
	case DRM_IOCTL_TRN_BO_MMAP_OFFSET: {
		struct drm_trn_bo_mmap_offset *offset = argument;

		offset->offset = fake.bo[offset->handle].offset;
		return 0;
	}
	case DRM_IOCTL_TRN_VM_BIND:
		return bind(argument);
	case DRM_IOCTL_TRN_QUEUE_CREATE:
		return queue_create(argument);
	case DRM_IOCTL_TRN_SUBMIT:
		return submit(argument);
	}
	ck_abort_msg("unexpected ioctl 0x%lx", request);
	return -ENOTTY;
}

/* ---- in place of libdrm's -------------------------------------------- */

int drmIoctl(int fd, unsigned long request, void *argument)
{
	int error;

	ck_assert_int_ge(fd, 0);
	pthread_mutex_lock(&fake.lock);
	error = dispatch(request, argument);
	pthread_mutex_unlock(&fake.lock);
	errno = -error;
	return error ? -1 : 0;
}

drmVersionPtr drmGetVersion(int fd)
{
	drmVersionPtr version = calloc(1, sizeof(*version));

	(void)fd;
	version->version_major = fake.options.version_major ? fake.options.version_major : 1;
	version->name = strdup(fake.options.driver ? fake.options.driver : "trn");
	return version;
}

void drmFreeVersion(drmVersionPtr version)
{
	free(version->name);
	free(version);
}

int drmSyncobjCreate(int fd, uint32_t flags, uint32_t *handle)
{
	uint32_t i;

	(void)fd;
	(void)flags;
	pthread_mutex_lock(&fake.lock);
	for (i = 1; fake.syncobj[i].used; i++)
		;
	fake.syncobj[i] = (struct syncobj){ .used = true };
	pthread_mutex_unlock(&fake.lock);
	*handle = i;
	return 0;
}

int drmSyncobjDestroy(int fd, uint32_t handle)
{
	(void)fd;
	pthread_mutex_lock(&fake.lock);
	fake.syncobj[handle].used = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

int drmSyncobjWait(int fd, uint32_t *handles, unsigned int count, int64_t deadline,
		   unsigned int flags, uint32_t *first)
{
	struct syncobj *syncobj = &fake.syncobj[handles[0]];
	bool signalled;

	(void)fd;
	(void)flags;
	(void)first;
	ck_assert_uint_eq(count, 1);
	for (;;) {
		pthread_mutex_lock(&fake.lock);
		signalled = syncobj->signalled || !fake.hold;
		pthread_mutex_unlock(&fake.lock);
		if (signalled)
			return 0;
		if (trn_deadline(0) >= deadline)
			return -ETIME;
		sched_yield();
	}
}

int drmSyncobjExportSyncFile(int fd, uint32_t handle, int *sync_fd)
{
	(void)fd;
	*sync_fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_lt(*sync_fd, 256);
	pthread_mutex_lock(&fake.lock);
	fake.sync_fd_error[*sync_fd] = fake.syncobj[handle].error;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

/* In place of libc's: only sync files have one here. */
int ioctl(int fd, unsigned long request, ...)
{
	struct sync_file_info *info;
	va_list arguments;

	va_start(arguments, request);
	info = va_arg(arguments, void *);
	va_end(arguments);
	if (request != SYNC_IOC_FILE_INFO)
		return (int)syscall(SYS_ioctl, fd, request, info);
	pthread_mutex_lock(&fake.lock);
	info->status = fake.sync_fd_error[fd] ? fake.sync_fd_error[fd] : 1;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

/* ---- control --------------------------------------------------------- */

static void lock_all(void)
{
	pthread_mutex_lock(&fake.lock);
}

static void unlock_all(void)
{
	pthread_mutex_unlock(&fake.lock);
}

/* A child must not inherit the lock from a device's thread that it does not have. */
static void survive_fork(void)
{
	pthread_atfork(lock_all, unlock_all, unlock_all);
}

const char *fake_start(const struct fake_options *options)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, survive_fork);
	fake.options = options ? *options : (struct fake_options){ 0 };
	fake.gone = fake.hold = fake.break_next = false;
	fake.memory_used = 0;
	fake.fd = memfd_create("fake", MFD_CLOEXEC);
	ck_assert_int_ge(fake.fd, 0);
	ck_assert_int_eq(ftruncate(fake.fd, MEMORY), 0);
	fake.memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, fake.fd, 0);
	ck_assert_ptr_ne(fake.memory, MAP_FAILED);
	snprintf(fake.path, sizeof(fake.path), "/proc/self/fd/%d", fake.fd);
	return fake.path;
}

void fake_stop(void)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		ck_assert_msg(!fake.queue[i].used, "queue %d was not destroyed", i);
		ck_assert_msg(!fake.bo[i].used, "object %d was not closed", i);
		ck_assert_msg(!fake.context[i], "context %d was not destroyed", i);
		ck_assert_msg(!fake.binding[i].used || fake.gone, "binding %d was left", i);
	}
	munmap(fake.memory, MEMORY);
	close(fake.fd);
}

void fake_kill(void)
{
	pthread_mutex_lock(&fake.lock);
	fake.gone = true;
	pthread_mutex_unlock(&fake.lock);
}

void fake_break_next_packet(void)
{
	pthread_mutex_lock(&fake.lock);
	fake.break_next = true;
	pthread_mutex_unlock(&fake.lock);
}

void fake_hold(bool hold)
{
	pthread_mutex_lock(&fake.lock);
	fake.hold = hold;
	pthread_mutex_unlock(&fake.lock);
}

unsigned int fake_ioctls(void)
{
	unsigned int count;

	pthread_mutex_lock(&fake.lock);
	count = fake.ioctls;
	pthread_mutex_unlock(&fake.lock);
	return count;
}
