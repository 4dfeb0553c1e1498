/* SPDX-License-Identifier: MIT */
#include "fake.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include <drm/trn_accel.h>
#include <hw/trn_admin.h>
#include <hw/trn_queue.h>
#include <trn/trn.h>

#include "fake_fence.h"

#define PAGE	 4096U
#define MEMORY	 (UINT64_C(256) << 20)
#define OBJECTS	 128
#define RING_MAX 4096U

struct bo {
	bool used;
	uint8_t *memory;
	uint64_t offset; /* in the memfd, 0 = memory is elsewhere */
	uint64_t size;
	uint32_t placement;
	uint32_t stack;
	uint32_t flags;
	bool readonly;
	char name[DRM_TRN_BO_NAME_SIZE];
	ino_t inode; /* of the dma-buf that stands for it, 0 = none */
};

struct binding {
	bool used;
	uint32_t context;
	uint8_t *memory;
	uint32_t flags;
	uint64_t va, size;
};

struct queue {
	bool used;
	uint32_t context, mode, entries;
	uint64_t ring_va, control_offset;
	struct trn_control *control;
	uint32_t *doorbell;
	bool stopped;
	struct drm_trn_queue_error error;
	bool stop; /* ends the thread */
	pthread_t thread;
};

/* A submit to a kernel queue that was not executed yet. */
struct job {
	uint32_t queue;
	uint32_t count;
	struct trn_packet *packets;
	int fence;
};

/* An asynchronous VM_BIND that was not executed yet. */
struct pending_bind {
	bool used;
	uint32_t context, count, waits, signals;
	struct drm_trn_bind_op ops[8];
	int wait[8], signal;
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
	struct {
		unsigned long request;
		unsigned int skip;
		int error; /* 0 = none to come */
	} failure;
	bool context[OBJECTS];
	struct bo bo[OBJECTS];
	struct binding binding[OBJECTS];
	struct queue queue[OBJECTS];
	struct job job[OBJECTS];
	unsigned int jobs;
	struct pending_bind bind;
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER };

void fake_lock(void)
{
	pthread_mutex_lock(&fake.lock);
}

void fake_unlock(void)
{
	pthread_mutex_unlock(&fake.lock);
}

/* ---- the chip -------------------------------------------------------- */

static struct binding *find_binding(uint32_t context, uint64_t va)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		struct binding *b = &fake.binding[i];

		if (b->used && b->context == context && va >= b->va && va - b->va < b->size)
			return b;
	}
	return NULL;
}

/* Memory at an address, NULL if all of it is not one binding with that access. */
static uint8_t *translate(uint32_t context, uint64_t va, uint64_t size, bool write)
{
	struct binding *b = find_binding(context, va);

	if (!b || size > b->size - (va - b->va) || (write && b->flags & DRM_TRN_BIND_READONLY))
		return NULL;
	return b->memory + (va - b->va);
}

static int stop_queue(struct queue *queue, uint32_t reason, uint32_t access, uint64_t address)
{
	queue->error.reason = reason;
	queue->error.access = access;
	queue->error.address = address;
	return reason >= TRN_STOP_FAULT_UNMAPPED && reason <= TRN_STOP_FAULT_RANGE ? -EFAULT : -EIO;
}

/* Moves bytes between @data and addresses, over as many bindings as there are. */
static int transfer(struct queue *queue, uint64_t va, uint8_t *data, uint64_t size, bool write)
{
	uint32_t access = write ? TRN_ACCESS_WRITE : TRN_ACCESS_READ;

	while (size) {
		struct binding *b = find_binding(queue->context, va);
		uint64_t part;

		if (!b)
			return stop_queue(queue, TRN_STOP_FAULT_UNMAPPED, access, va);
		if (write && b->flags & DRM_TRN_BIND_READONLY)
			return stop_queue(queue, TRN_STOP_FAULT_PERMISSION, access, va);
		part = b->size - (va - b->va);
		if (part > size)
			part = size;
		if (write)
			memcpy(b->memory + (va - b->va), data, part);
		else
			memcpy(data, b->memory + (va - b->va), part);
		va += part;
		data += part;
		size -= part;
	}
	return 0;
}

static int copy(struct queue *queue, uint64_t to, uint64_t from, uint64_t size)
{
	uint8_t *data = malloc(size);
	int error = transfer(queue, from, data, size, false);

	if (!error)
		error = transfer(queue, to, data, size, true);
	free(data);
	return error;
}

static int copy_nd(struct queue *queue, const struct trn_packet *packet)
{
	const uint32_t *size = packet->copy_nd.size, *from = packet->copy_nd.source_stride;
	const uint32_t *to = packet->copy_nd.destination_stride;
	uint64_t i, j, k;
	int error = 0;

	if (!size[0] || !size[1] || !size[2] || !size[3])
		return stop_queue(queue, TRN_STOP_BAD_FIELD, 0, 0);
	for (k = 0; k < size[3]; k++)
		for (j = 0; j < size[2]; j++)
			for (i = 0; i < size[1] && !error; i++)
				error = copy(queue,
					     packet->copy_nd.destination + i * to[0] + j * to[1] +
						     k * to[2],
					     packet->copy_nd.source + i * from[0] + j * from[1] +
						     k * from[2],
					     size[0]);
	return error;
}

static int fill(struct queue *queue, const struct trn_packet *packet)
{
	uint64_t size = packet->fill.length, i;
	uint8_t *data = malloc(size);
	int error;

	for (i = 0; i < size; i++)
		data[i] =
			(uint8_t)(packet->fill.pattern >> 8 * (i % (1U << packet->fill.unit_log2)));
	error = transfer(queue, packet->fill.destination, data, size, true);
	free(data);
	return error;
}

/* 0, -EFAULT or -EIO. */
static int execute(struct queue *queue, const struct trn_packet *packet)
{
	uint8_t *to;

	if (fake.break_next) {
		fake.break_next = false;
		return stop_queue(queue, TRN_STOP_FAULT_HOST, TRN_ACCESS_READ, 0x1234000);
	}
	switch (packet->opcode) {
	case TRN_PACKET_NOP:
		return 0;
	case TRN_PACKET_COPY:
		return copy(queue, packet->copy.destination, packet->copy.source,
			    packet->copy.length);
	case TRN_PACKET_COPY_ND:
		return copy_nd(queue, packet);
	case TRN_PACKET_FILL:
		return fill(queue, packet);
	case TRN_PACKET_FENCE_WRITE:
		to = translate(queue->context, packet->fence.address, 8, true);
		if (!to)
			return stop_queue(queue, TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE,
					  packet->fence.address);
		__atomic_store_n((uint64_t *)to, packet->fence.value, __ATOMIC_RELEASE);
		return 0;
	default:
		return stop_queue(queue, TRN_STOP_BAD_OPCODE, 0, 0);
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
		queue->error.packet = *head;
		if (!execute(queue, &packet)) {
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
	*memory = (struct drm_trn_query_memory){
		.stacks = FAKE_STACKS,
		.cpu_visible = FAKE_CPU_VISIBLE,
		.cpu_visible_free = FAKE_CPU_VISIBLE,
		.quota = fake.options.quota ? fake.options.quota : FAKE_STACKS * FAKE_STACK_SIZE,
	};
	for (i = 0; i < FAKE_STACKS; i++)
		memory->stack[i].total = memory->stack[i].free = FAKE_STACK_SIZE;
	for (i = 0; i < OBJECTS; i++) {
		const struct bo *bo = &fake.bo[i];

		if (!bo->used || bo->placement != DRM_TRN_BO_HBM)
			continue;
		memory->stack[bo->stack].free -= bo->size;
		memory->quota_used += bo->size;
		if (bo->flags & DRM_TRN_BO_CPU_VISIBLE)
			memory->cpu_visible_free -= bo->size;
	}
	for (i = 0; i < FAKE_STACKS; i++)
		memory->stack[i].largest = memory->stack[i].free;
	return 0;
}

static struct drm_trn_query_memory memory_use(void)
{
	struct drm_trn_query_memory memory;
	struct drm_trn_query q = { .query = DRM_TRN_QUERY_MEMORY, .pointer = (uintptr_t)&memory };

	query(&q);
	return memory;
}

/* A stack with that much free, or -1. */
static int find_stack(uint32_t wanted, uint64_t size)
{
	struct drm_trn_query_memory memory = memory_use();
	int i;

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

static uint32_t new_bo(const struct bo *bo)
{
	uint32_t i;

	for (i = 1; fake.bo[i].used; i++)
		ck_assert_uint_lt(i, OBJECTS - 1);
	fake.bo[i] = *bo;
	fake.bo[i].used = true;
	return i;
}

static int bo_create(struct drm_trn_bo_create *create)
{
	bool hbm = create->placement == DRM_TRN_BO_HBM;
	bool visible = create->flags & DRM_TRN_BO_CPU_VISIBLE;
	struct drm_trn_query_memory memory = memory_use();
	int stack = 0;
	struct bo bo;

	ck_assert_uint_eq(create->flags & ~(hbm ? DRM_TRN_BO_CPU_VISIBLE : 0), 0);
	create->size = (create->size + PAGE - 1) & -(uint64_t)PAGE;
	if (hbm) {
		if (visible && create->size > memory.cpu_visible_free)
			return -ENOSPC;
		stack = find_stack(visible ? 0 : create->stack, create->size);
		if (stack < 0)
			return -ENOSPC;
		if (create->size > memory.quota - memory.quota_used)
			return -EDQUOT;
	}
	bo = (struct bo){
		.offset = take_memory(create->size),
		.size = create->size,
		.placement = create->placement,
		.stack = (uint32_t)stack,
		.flags = create->flags,
	};
	bo.memory = fake.memory + bo.offset;
	create->handle = new_bo(&bo);
	return 0;
}

static int bo_create_userptr(struct drm_trn_bo_create_userptr *create)
{
	ck_assert_uint_eq(create->flags & ~DRM_TRN_BO_READONLY, 0);
	ck_assert_uint_eq((create->address | create->size) % PAGE, 0);
	ck_assert_uint_ne(create->size, 0);
	create->handle = new_bo(&(struct bo){
		.memory = (uint8_t *)(uintptr_t)create->address,
		.size = create->size,
		.placement = DRM_TRN_BO_HOST,
		.readonly = create->flags & DRM_TRN_BO_READONLY,
	});
	return 0;
}

static int bo_mmap_offset(struct drm_trn_bo_mmap_offset *offset)
{
	const struct bo *bo = &fake.bo[offset->handle];

	if (!bo->offset ||
	    (bo->placement == DRM_TRN_BO_HBM && !(bo->flags & DRM_TRN_BO_CPU_VISIBLE)))
		return -EOPNOTSUPP;
	offset->offset = bo->offset;
	return 0;
}

static int bo_set_name(const struct drm_trn_bo_set_name *name)
{
	ck_assert(fake.bo[name->handle].used);
	ck_assert_ptr_nonnull(memchr(name->name, 0, sizeof(name->name)));
	memcpy(fake.bo[name->handle].name, name->name, sizeof(name->name));
	return 0;
}

static void add_binding(const struct binding *binding)
{
	int i;

	for (i = 0; fake.binding[i].used; i++)
		ck_assert_int_lt(i, OBJECTS - 1);
	fake.binding[i] = *binding;
}

/* The part of a binding from @start to @end, if there is any. */
static void keep_part(const struct binding *whole, uint64_t start, uint64_t end)
{
	struct binding part = *whole;

	if (start >= end)
		return;
	part.memory += start - whole->va;
	part.va = start;
	part.size = end - start;
	add_binding(&part);
}

static void unmap(uint32_t context, uint64_t start, uint64_t end)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		struct binding b = fake.binding[i];

		if (!b.used || b.context != context || b.va >= end || start >= b.va + b.size)
			continue;
		fake.binding[i].used = false;
		keep_part(&b, b.va, start);
		keep_part(&b, end, b.va + b.size);
	}
}

static int apply(uint32_t context, const struct drm_trn_bind_op *op)
{
	const struct bo *bo = &fake.bo[op->handle];
	int i;

	if (op->op != DRM_TRN_BIND_MAP)
		unmap(context, op->va, op->va + op->size);
	if (op->op == DRM_TRN_BIND_UNMAP)
		return 0;
	for (i = 0; i < OBJECTS; i++) {
		const struct binding *b = &fake.binding[i];

		if (b->used && b->context == context && op->va < b->va + b->size &&
		    b->va < op->va + op->size)
			return -EEXIST;
	}
	add_binding(&(struct binding){
		.used = true,
		.context = context,
		.memory = bo->memory + op->offset,
		.flags = op->flags,
		.va = op->va,
		.size = op->size,
	});
	return 0;
}

static int check_op(const struct drm_trn_bind_op *op)
{
	const struct bo *bo = &fake.bo[op->handle];

	ck_assert_uint_eq((op->va | op->size | op->offset) % PAGE, 0);
	ck_assert_uint_ne(op->size, 0);
	if (op->op == DRM_TRN_BIND_UNMAP) {
		ck_assert(!op->handle && !op->offset && !op->flags);
		return 0;
	}
	ck_assert(bo->used);
	ck_assert(op->offset <= bo->size && op->size <= bo->size - op->offset);
	return bo->readonly && !(op->flags & DRM_TRN_BIND_READONLY) ? -EACCES : 0;
}

static int bind_now(struct drm_trn_vm_bind *bind, const struct drm_trn_bind_op *ops)
{
	int error = 0;

	ck_assert_uint_eq(bind->syncs.count, 0);
	while (!error && bind->done < bind->ops.count) {
		error = check_op(&ops[bind->done]);
		if (!error)
			error = apply(bind->context, &ops[bind->done]);
		if (!error)
			bind->done++;
	}
	return error;
}

static int bind_later(const struct drm_trn_vm_bind *bind, const struct drm_trn_bind_op *ops)
{
	const struct drm_trn_sync *sync = (void *)(uintptr_t)bind->syncs.pointer;
	struct pending_bind *pending = &fake.bind;
	uint32_t i;
	int error;

	ck_assert(!pending->used);
	ck_assert_uint_le(bind->ops.count, 8);
	for (i = 0; i < bind->ops.count; i++) {
		error = check_op(&ops[i]);
		if (error)
			return error;
	}
	*pending = (struct pending_bind){
		.used = true,
		.context = bind->context,
		.count = bind->ops.count,
		.signal = fake_fence_new(),
	};
	memcpy(pending->ops, ops, bind->ops.count * sizeof(*ops));
	for (i = 0; i < bind->syncs.count; i++) {
		int fence = pending->signal;

		if (sync[i].flags == DRM_TRN_SYNC_SIGNAL) {
			fake_syncobj_attach(sync[i].handle, sync[i].point, fence);
			continue;
		}
		ck_assert_uint_eq(sync[i].flags, DRM_TRN_SYNC_WAIT);
		fence = fake_syncobj_fence(sync[i].handle, sync[i].point);
		if (fence < 0) {
			pending->used = false;
			return -EINVAL;
		}
		pending->wait[pending->waits++] = fence;
	}
	fake_progress();
	return 0;
}

static int bind(struct drm_trn_vm_bind *bind)
{
	const struct drm_trn_bind_op *ops = (void *)(uintptr_t)bind->ops.pointer;

	ck_assert_uint_eq(bind->ops.stride, sizeof(*ops));
	ck_assert_uint_le(bind->ops.count, DRM_TRN_BIND_OPS_MAX);
	ck_assert_uint_le(bind->syncs.count, DRM_TRN_BIND_SYNCS_MAX);
	ck_assert_uint_eq(bind->done, 0);
	return bind->flags & DRM_TRN_VM_BIND_ASYNC ? bind_later(bind, ops) : bind_now(bind, ops);
}

static void run_pending_bind(void)
{
	struct pending_bind *pending = &fake.bind;
	uint32_t i;
	int error = 0;

	if (!pending->used)
		return;
	for (i = 0; i < pending->waits; i++) {
		if (!fake_fence_signalled(pending->wait[i]))
			return;
		if (!error)
			error = fake_fence_error(pending->wait[i]);
	}
	for (i = 0; !error && i < pending->count; i++)
		error = apply(pending->context, &pending->ops[i]);
	pending->used = false;
	fake_fence_signal(pending->signal, error);
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
	const struct drm_trn_sync *sync = (void *)(uintptr_t)submit->syncs.pointer;
	size_t size = submit->packets.count * sizeof(struct trn_packet);
	struct job *job;

	if (!queue->used)
		return -ENOENT;
	if (queue->stopped)
		return -EIO;
	ck_assert_uint_eq(submit->packets.stride, sizeof(struct trn_packet));
	ck_assert_uint_eq(submit->syncs.count, 1);
	ck_assert_uint_eq(sync->flags, DRM_TRN_SYNC_SIGNAL);
	ck_assert_uint_lt(submit->packets.count, queue->entries);
	ck_assert_uint_lt(fake.jobs, OBJECTS);
	job = &fake.job[fake.jobs++];
	*job = (struct job){
		.queue = submit->queue,
		.count = submit->packets.count,
		.packets = malloc(size),
		.fence = fake_fence_new(),
	};
	memcpy(job->packets, (void *)(uintptr_t)submit->packets.pointer, size);
	fake_syncobj_attach(sync->handle, 0, job->fence);
	fake_progress();
	return 0;
}

static void run_job(struct job *job)
{
	struct queue *queue = &fake.queue[job->queue];
	int error = queue->stopped || !queue->used ? -ECANCELED : 0;
	uint32_t i;

	for (i = 0; i < job->count && !error; i++) {
		queue->error.packet = i;
		error = execute(queue, &job->packets[i]);
	}
	queue->stopped = error;
	free(job->packets);
	fake_fence_signal(job->fence, error);
}

void fake_progress(void)
{
	unsigned int i;

	if (fake.hold)
		return;
	for (i = 0; i < fake.jobs; i++)
		run_job(&fake.job[i]);
	fake.jobs = 0;
	run_pending_bind();
}

static int queue_error(struct drm_trn_queue_error *error)
{
	const struct queue *queue = &fake.queue[error->queue];

	if (!queue->used)
		return -ENOENT;
	if (!queue->stopped)
		return 0;
	*error = queue->error;
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
	if (fake.failure.error && fake.failure.request == request && !fake.failure.skip--) {
		int error = fake.failure.error;

		fake.failure.error = 0;
		return error;
	}
	/* Handles are freed and queues end whatever the chip does. */
	switch (request) {
	case DRM_IOCTL_GEM_CLOSE:
		ck_assert(fake.bo[((struct drm_gem_close *)argument)->handle].used);
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
	case DRM_IOCTL_TRN_BO_CREATE_USERPTR:
		return bo_create_userptr(argument);
	case DRM_IOCTL_TRN_BO_SET_NAME:
		return bo_set_name(argument);
	case DRM_IOCTL_TRN_BO_MMAP_OFFSET:
		return bo_mmap_offset(argument);
	case DRM_IOCTL_TRN_QUEUE_ERROR:
		return queue_error(argument);
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

/* A dma-buf is a memfd, known by its inode. */
static uint32_t find_dma_buf(int fd)
{
	struct stat status;
	uint32_t i;

	if (fstat(fd, &status))
		return 0;
	for (i = OBJECTS - 1; i && (!fake.bo[i].inode || fake.bo[i].inode != status.st_ino); i--)
		;
	return i;
}

int drmPrimeHandleToFD(int fd, uint32_t handle, uint32_t flags, int *prime_fd)
{
	struct bo *bo = &fake.bo[handle];
	struct stat status;
	int error = 0;

	(void)fd;
	ck_assert_uint_eq(flags, DRM_CLOEXEC | DRM_RDWR);
	fake_lock();
	ck_assert(bo->used);
	if (fake.gone) {
		error = -ENODEV;
	} else if (!bo->offset) {
		error = -EOPNOTSUPP;
	} else {
		*prime_fd = memfd_create("dma-buf", MFD_CLOEXEC);
		ck_assert_int_eq(ftruncate(*prime_fd, (off_t)bo->size), 0);
		ck_assert_int_eq(fstat(*prime_fd, &status), 0);
		bo->inode = status.st_ino;
	}
	fake_unlock();
	errno = -error;
	return error ? -1 : 0;
}

int drmPrimeFDToHandle(int fd, int prime_fd, uint32_t *handle)
{
	uint32_t bo;
	int error = 0;

	(void)fd;
	fake_lock();
	bo = find_dma_buf(prime_fd);
	if (fake.gone)
		error = -ENODEV;
	else if (!bo)
		error = -EINVAL;
	else
		fake.bo[bo].used = true;
	*handle = bo;
	fake_unlock();
	errno = -error;
	return error ? -1 : 0;
}

/* ---- control --------------------------------------------------------- */

/* A child must not inherit the lock from a device's thread that it does not have. */
static void survive_fork(void)
{
	pthread_atfork(fake_lock, fake_unlock, fake_unlock);
}

const char *fake_start(const struct fake_options *options)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, survive_fork);
	fake.options = options ? *options : (struct fake_options){ 0 };
	fake.gone = fake.hold = fake.break_next = false;
	fake.memory_used = PAGE; /* offset 0 means none */
	fake.failure.error = 0;
	fake.jobs = 0;
	fake.bind.used = false;
	memset(fake.bo, 0, sizeof(fake.bo));
	memset(fake.binding, 0, sizeof(fake.binding));
	fake_fence_reset();
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
	fake_progress();
	pthread_mutex_unlock(&fake.lock);
}

void fake_fail(unsigned long request, unsigned int skip, int error)
{
	fake_lock();
	fake.failure.request = request;
	fake.failure.skip = skip;
	fake.failure.error = error;
	fake_unlock();
}

const char *fake_name(uint64_t size)
{
	int i;

	for (i = 1; i < OBJECTS; i++)
		if (fake.bo[i].used && fake.bo[i].size == size)
			return fake.bo[i].name;
	return NULL;
}

unsigned int fake_objects(void)
{
	unsigned int count = 0;
	int i;

	fake_lock();
	for (i = 1; i < OBJECTS; i++)
		count += fake.bo[i].used;
	fake_unlock();
	return count;
}

int fake_dma_buf(uint8_t *memory, uint64_t size)
{
	int fd = memfd_create("foreign", MFD_CLOEXEC);
	struct stat status;
	uint32_t handle;

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	fake_lock();
	handle = new_bo(&(struct bo){
		.memory = memory,
		.size = size,
		.placement = DRM_TRN_BO_HOST,
		.inode = status.st_ino,
	});
	fake.bo[handle].used = false; /* until it is imported */
	fake_unlock();
	return fd;
}

unsigned int fake_ioctls(void)
{
	unsigned int count;

	pthread_mutex_lock(&fake.lock);
	count = fake.ioctls;
	pthread_mutex_unlock(&fake.lock);
	return count;
}
