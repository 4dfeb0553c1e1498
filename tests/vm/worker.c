/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <errno.h>
#include <linux/sync_file.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define VA_START     UINT64_C(0x1000000000)
#define VA_STEP	     UINT64_C(0x1000000)
#define RING_ENTRIES 64
#define COPY_IMAGE   8192 /* the program that copies, and its bindings */
#define BINDINGS     16384
#define OWN_IMAGE    24576 /* a program of the caller's, and its bindings */
#define OWN_BINDINGS 32768
#define SOURCE	     65536
#define DESTINATION  131072
#define HOST_SIZE    196608
#define HBM	     0x800000
#define COPY_SIZE    16384

static void *map_page(int fd, uint64_t offset)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, (off_t)offset);

	ck_assert_msg(page != MAP_FAILED, "mmap of a queue's page: %s", strerror(errno));
	return page;
}

static void unmap_pages(struct worker *worker)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!worker->control)
		return;
	munmap(worker->control, page);
	munmap((void *)worker->doorbell, page);
	worker->control = NULL;
}

void worker_unmap(struct worker *worker)
{
	unmap_pages(worker);
	munmap(worker->memory, HOST_SIZE);
}

void worker_renew(struct worker *worker, uint32_t timeout_ms)
{
	struct drm_trn_queue_create create = {
		.context = worker->context,
		.type = worker->exec ? TRN_QUEUE_TYPE_EXEC : TRN_QUEUE_TYPE_DMA,
		.mode = worker->user ? DRM_TRN_QUEUE_USER : DRM_TRN_QUEUE_KERNEL,
		.ring_entries = RING_ENTRIES,
		.ring_va = worker->user ? worker->va : 0,
		.timeout_ms = timeout_ms,
	};

	guest_fails(guest_ioctl(worker->fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), 0);
	worker->queue = create.queue;
	worker->value = 0;
	if (!worker->user)
		return;
	*(volatile uint64_t *)(worker->memory + WORKER_FENCE) = 0;
	unmap_pages(worker);
	worker->control = map_page(worker->fd, create.control_offset);
	worker->doorbell = map_page(worker->fd, create.doorbell_offset);
}

/* A program that does what worker_copies() does, through the core's SBUF. */
static void write_copy_program(struct worker *worker)
{
	struct trn_binding *bindings = (struct trn_binding *)(worker->memory + BINDINGS);
	struct image image = { 0 };
	struct trn_instruction *added;
	int i;

	for (i = 0; i < 4; i++) {
		uint8_t opcode = i % 2 ? TRN_OP_DMA_STORE : TRN_OP_DMA_LOAD;
		uint32_t place = i < 2 ? 0 : 4096;

		added = image_transfer(&image, TRN_ENGINE_SYNC, opcode, (uint8_t)((i + 1) / 2), 0,
				       place, TRN_PARTITIONS, COPY_SIZE / TRN_PARTITIONS);
		image_acquire(added, 0, i > 0);
		image_release(added, 0, i < 3);
	}
	image_add(&image, TRN_ENGINE_SYNC, TRN_OP_HALT);
	image_write(&image, worker->memory + COPY_IMAGE);
	bindings[0] = (struct trn_binding){ worker->va + SOURCE, COPY_SIZE };
	bindings[1] = (struct trn_binding){ worker->va + HBM, COPY_SIZE };
	bindings[2] = (struct trn_binding){ worker->va + DESTINATION, COPY_SIZE };
}

static void make(struct worker *worker, int fd, uint32_t context, unsigned int place, bool user,
		 bool exec, uint32_t timeout_ms)
{
	ck_assert_uint_lt(place, WORKER_PLACES);
	*worker = (struct worker){
		.fd = fd,
		.context = context,
		.user = user,
		.exec = exec,
		.va = VA_START + place * VA_STEP,
		.handle = guest_bo(fd, DRM_TRN_BO_HOST, HOST_SIZE),
		.hbm = guest_bo(fd, DRM_TRN_BO_HBM, COPY_SIZE),
		.syncobj = guest_syncobj(fd),
		.seed = place * 1000,
	};
	guest_fails(guest_bind(fd, context, worker->handle, worker->va, HOST_SIZE), 0);
	guest_fails(guest_bind(fd, context, worker->hbm, worker->va + HBM, COPY_SIZE), 0);
	worker->memory = guest_map(fd, worker->handle, HOST_SIZE);
	if (exec)
		write_copy_program(worker);
	worker_renew(worker, timeout_ms);
}

void worker_make(struct worker *worker, int fd, uint32_t context, unsigned int place, bool user,
		 uint32_t timeout_ms)
{
	make(worker, fd, context, place, user, false, timeout_ms);
}

void worker_make_exec(struct worker *worker, int fd, uint32_t context, unsigned int place,
		      bool user, uint32_t timeout_ms)
{
	make(worker, fd, context, place, user, true, timeout_ms);
}

int worker_destroy_queue(struct worker *worker)
{
	struct drm_trn_queue_destroy destroy = { .queue = worker->queue };

	return guest_ioctl(worker->fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy);
}

/* ---- packets --------------------------------------------------------- */

static void push(struct worker *worker, const struct trn_packet *packets, uint32_t count)
{
	struct trn_packet *ring = (struct trn_packet *)worker->memory;
	uint32_t tail = worker->control->tail, i;

	for (i = 0; i < count; i++)
		ring[tail++ % RING_ENTRIES] = packets[i];
	ring[tail++ % RING_ENTRIES] = (struct trn_packet){
		.opcode = TRN_PACKET_FENCE_WRITE,
		.fence = { .address = worker->va + WORKER_FENCE, .value = ++worker->value },
	};
	__atomic_store_n(&worker->control->tail, tail, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&worker->control->need_kick, __ATOMIC_SEQ_CST))
		*worker->doorbell = 1;
}

int worker_submit(struct worker *worker, const struct trn_packet *packets, uint32_t count)
{
	if (!worker->user)
		return guest_submit(worker->fd, worker->queue, packets, count, worker->syncobj);
	push(worker, packets, count);
	return 0;
}

int worker_submit_after(struct worker *worker, const struct worker *first,
			const struct trn_packet *packets, uint32_t count)
{
	struct drm_trn_sync syncs[2] = {
		{ .handle = first->syncobj, .flags = DRM_TRN_SYNC_WAIT },
		{ .handle = worker->syncobj, .flags = DRM_TRN_SYNC_SIGNAL },
	};
	struct drm_trn_submit submit = {
		.queue = worker->queue,
		.packets = {
			.stride = sizeof(*packets),
			.count = count,
			.pointer = (uintptr_t)packets,
		},
		.syncs = { .stride = sizeof(syncs[0]), .count = 2, .pointer = (uintptr_t)syncs },
	};

	return guest_ioctl(worker->fd, DRM_IOCTL_TRN_SUBMIT, &submit);
}

struct trn_packet worker_long_packet(const struct worker *worker, uint64_t bytes)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_COPY_ND,
		.copy_nd = {
			.source = worker->va + SOURCE,
			.destination = worker->va + DESTINATION,
			.size = { 4096, 1024, (uint32_t)(bytes >> 22), 1 },
		},
	};
}

static int wait_user(struct worker *worker, int64_t deadline)
{
	struct drm_trn_wait wait = {
		.queue = worker->queue,
		.va = worker->va + WORKER_FENCE,
		.value = worker->value,
		.deadline_ns = deadline,
	};

	return guest_ioctl(worker->fd, DRM_IOCTL_TRN_WAIT, &wait);
}

static int wait_kernel(struct worker *worker, int64_t deadline)
{
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&worker->syncobj,
		.count_handles = 1,
		.timeout_nsec = deadline,
	};
	struct drm_syncobj_handle file = {
		.handle = worker->syncobj,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	struct sync_file_info info = { 0 };
	int error = guest_ioctl(worker->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);

	if (!error)
		error = guest_ioctl(worker->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file);
	if (error)
		return error;
	error = ioctl(file.fd, SYNC_IOC_FILE_INFO, &info) ? -errno : 0;
	close(file.fd);
	return error ? error : info.status < 0 ? info.status : 0;
}

int worker_wait(struct worker *worker, int64_t deadline)
{
	return worker->user ? wait_user(worker, deadline) : wait_kernel(worker, deadline);
}

static struct trn_packet exec_packet(const struct worker *worker, uint64_t image, uint64_t bindings,
				     uint32_t count)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_EXEC,
		.exec = {
			.program = worker->va + image,
			.bindings = worker->va + bindings,
			.num_bindings = count,
			.core = TRN_CORE_ANY,
		},
	};
}

struct trn_packet worker_program(struct worker *worker, const struct image *image, uint64_t address)
{
	struct trn_binding *bindings = (struct trn_binding *)(worker->memory + OWN_BINDINGS);

	image_write(image, worker->memory + OWN_IMAGE);
	bindings[0] = (struct trn_binding){ worker->va + SOURCE, WORKER_BINDING };
	bindings[1] = (struct trn_binding){ address, WORKER_BINDING };
	return exec_packet(worker, OWN_IMAGE, OWN_BINDINGS, 2);
}

uint32_t worker_copies(struct worker *worker, struct trn_packet packets[2])
{
	if (worker->exec) {
		packets[0] = exec_packet(worker, COPY_IMAGE, BINDINGS, 3);
		return 1;
	}
	packets[0] = guest_copy(worker->va + HBM, worker->va + SOURCE, COPY_SIZE);
	packets[1] = guest_copy(worker->va + DESTINATION, worker->va + HBM, COPY_SIZE);
	return 2;
}

int worker_copy(struct worker *worker, int64_t deadline)
{
	struct trn_packet packets[2];
	uint32_t count = worker_copies(worker, packets);
	int error;

	guest_pattern(worker->memory + SOURCE, COPY_SIZE, ++worker->seed);
	memset(worker->memory + DESTINATION, 0, COPY_SIZE);
	error = worker_submit(worker, packets, count);
	if (!error)
		error = worker_wait(worker, deadline);
	if (error)
		return error;
	return memcmp(worker->memory + SOURCE, worker->memory + DESTINATION, COPY_SIZE) ? -EILSEQ
											: 0;
}

/* ---- threads --------------------------------------------------------- */

static void *work(void *argument)
{
	struct worker *worker = argument;
	int error = 0;

	while (!error && !__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE)) {
		error = worker_copy(worker, trn_deadline(60 * SECOND));
		if (!error)
			__atomic_add_fetch(&worker->rounds, 1, __ATOMIC_RELEASE);
		/* Leaves the processor to the others. */
		usleep(2000);
	}
	__atomic_store_n(&worker->error, error, __ATOMIC_RELEASE);
	return NULL;
}

void worker_start(struct worker *worker)
{
	worker->stop = false;
	ck_assert_int_eq(pthread_create(&worker->thread, NULL, work, worker), 0);
}

int worker_stop(struct worker *worker)
{
	__atomic_store_n(&worker->stop, true, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(worker->thread, NULL), 0);
	return worker->error;
}

bool worker_goes_on(struct worker *worker, unsigned int rounds, int64_t ns)
{
	unsigned int begin = __atomic_load_n(&worker->rounds, __ATOMIC_ACQUIRE);
	int64_t deadline = trn_deadline(ns);

	while (__atomic_load_n(&worker->rounds, __ATOMIC_ACQUIRE) - begin < rounds) {
		if (__atomic_load_n(&worker->error, __ATOMIC_ACQUIRE) || trn_deadline(0) > deadline)
			return false;
		usleep(1000);
	}
	return true;
}
