/* SPDX-License-Identifier: MIT */
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define VA	  UINT64_C(0x10000000)
#define BIND_VA	  UINT64_C(0x20000000)
#define COPY_VA	  UINT64_C(0x40000000)
#define NOWHERE	  UINT64_C(0x400000000000)
#define COPIES	  16
#define COPY_SIZE (16 * MIB)

int victim_write(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (file < 0)
		return -errno;
	if (write(file, text, strlen(text)) < 0)
		error = -errno;
	close(file);
	return error;
}

void victim_attribute(unsigned int chip, const char *name, char *path, size_t size)
{
	char pci[32];

	guest_pci(chip, pci, sizeof(pci));
	snprintf(path, size, "/sys/bus/pci/devices/%s/%s", pci, name);
}

static void *wait_for_fence(void *argument)
{
	struct victim *victim = argument;

	victim->waited = guest_wait(&victim->queue, 1000, trn_deadline(120 * SECOND));
	return NULL;
}

/* A signal would end the test. */
static void *touch(void *argument)
{
	struct victim *victim = argument;
	uint64_t i;

	for (i = 0; !__atomic_load_n(&victim->stop, __ATOMIC_RELAXED); i++) {
		victim->bytes[i * 4096 % VICTIM_SIZE] = (uint8_t)i;
		victim->exported_bytes[i * 8192 % VICTIM_SIZE] = (uint8_t)i;
		*victim->queue.doorbell = 1;
		(void)*(volatile uint32_t *)&victim->queue.control->status;
	}
	return NULL;
}

/* Copies, some of them in progress, and behind them a job that waits until the gate opens. */
static void start_jobs(struct victim *victim)
{
	uint32_t memory = guest_bo(victim->fd, DRM_TRN_BO_HBM, 2 * COPY_SIZE), i;
	struct trn_packet copies[COPIES];
	struct drm_trn_sync syncs[2] = {
		{ .handle = victim->gate_syncobj, .flags = DRM_TRN_SYNC_WAIT },
		{ .flags = DRM_TRN_SYNC_SIGNAL },
	};
	struct drm_trn_submit last = {
		.packets = { .stride = sizeof(*copies), .count = 1, .pointer = (uintptr_t)copies },
		.syncs = { .stride = sizeof(*syncs), .count = 2, .pointer = (uintptr_t)syncs },
	};

	victim->job_queue = guest_kernel_queue(victim->fd, victim->context, 64);
	victim->job = guest_syncobj(victim->fd);
	guest_fails(guest_bind(victim->fd, victim->context, memory, COPY_VA, 2 * COPY_SIZE), 0);
	for (i = 0; i < COPIES; i++)
		copies[i] = guest_copy(COPY_VA, COPY_VA + COPY_SIZE, COPY_SIZE);
	for (i = 0; i < 3; i++)
		guest_fails(
			guest_submit(victim->fd, victim->job_queue, copies, COPIES, victim->job),
			0);
	last.queue = victim->job_queue;
	syncs[1].handle = victim->job;
	guest_fails(guest_ioctl(victim->fd, DRM_IOCTL_TRN_SUBMIT, &last), 0);
}

/* It waits until the gate opens. */
static void start_bind(struct victim *victim)
{
	struct drm_trn_sync syncs[2] = {
		{ .handle = victim->gate_syncobj, .flags = DRM_TRN_SYNC_WAIT },
		{ .flags = DRM_TRN_SYNC_SIGNAL },
	};
	struct drm_trn_bind_op op = {
		.op = DRM_TRN_BIND_MAP,
		.handle = victim->hbm,
		.va = BIND_VA,
		.size = VICTIM_SIZE,
	};
	struct drm_trn_vm_bind bind = {
		.context = victim->context,
		.flags = DRM_TRN_VM_BIND_ASYNC,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
		.syncs = { .stride = sizeof(*syncs), .count = 2, .pointer = (uintptr_t)syncs },
	};

	victim->bind = guest_syncobj(victim->fd);
	syncs[1].handle = victim->bind;
	guest_fails(guest_ioctl(victim->fd, DRM_IOCTL_TRN_VM_BIND, &bind), 0);
}

void victim_start(struct victim *victim, unsigned int chip)
{
	struct trn_packet wait = guest_fence_wait(1), done = guest_fence_write(2);

	*victim = (struct victim){ .fd = guest_open(chip) };
	victim->context = guest_context(victim->fd);
	guest_fails(guest_create(victim->fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, VICTIM_SIZE,
				 DRM_TRN_BO_CPU_VISIBLE, &victim->hbm),
		    0);
	guest_fails(guest_bind(victim->fd, victim->context, victim->hbm, VA, VICTIM_SIZE), 0);
	victim->bytes = guest_map(victim->fd, victim->hbm, VICTIM_SIZE);
	victim->dma_buf = guest_export(victim->fd, victim->hbm);
	ck_assert_int_ge(victim->dma_buf, 0);
	victim->exported_bytes =
		mmap(NULL, VICTIM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, victim->dma_buf, 0);
	ck_assert_ptr_ne((void *)victim->exported_bytes, MAP_FAILED);
	victim->gate_syncobj = guest_syncobj(victim->fd);
	gate_close(&victim->gate, victim->fd, victim->gate_syncobj, 0);
	start_bind(victim);
	victim->queue = guest_user_queue(victim->fd, victim->context);
	guest_push(&victim->queue, &wait);
	guest_push(&victim->queue, &done);
	start_jobs(victim);
	ck_assert_int_eq(pthread_create(&victim->waiter, NULL, wait_for_fence, victim), 0);
	ck_assert_int_eq(pthread_create(&victim->toucher, NULL, touch, victim), 0);
}

/* Calls that name the context or its queues. */
static void check_calls(struct victim *victim, int error)
{
	struct drm_trn_queue_create create = {
		.context = victim->context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = 16,
	};
	struct drm_trn_queue_error why = { .queue = victim->job_queue };
	struct trn_packet nop = { 0 };

	guest_fails(
		guest_bind(victim->fd, victim->context, victim->hbm, VA + VICTIM_SIZE, VICTIM_SIZE),
		error);
	guest_fails(guest_unbind(victim->fd, victim->context, VA, VICTIM_SIZE), error);
	guest_fails(guest_ioctl(victim->fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), error);
	guest_fails(guest_submit(victim->fd, victim->job_queue, &nop, 1, victim->job), error);
	guest_fails(guest_ioctl(victim->fd, DRM_IOCTL_TRN_QUEUE_ERROR, &why), error);
	guest_fails(guest_wait(&victim->queue, 1000, TRN_FOREVER), error);
}

void victim_check(struct victim *victim, int error)
{
	victim_check_later(victim, error, error);
}

void victim_check_later(struct victim *victim, int told, int error)
{
	struct trn_packet fence = guest_fence_write(77);

	ck_assert_int_eq(pthread_join(victim->waiter, NULL), 0);
	guest_fails(victim->waited, told);
	guest_fails(guest_job(victim->fd, victim->job, 30), error);
	guest_fails(guest_job(victim->fd, victim->bind, 30), error);
	ck_assert_uint_eq(victim->queue.control->status,
			  error == -EIO ? TRN_CONTROL_RESET : TRN_CONTROL_GONE);
	ck_assert_uint_ne(victim->queue.control->generation, 0);
	check_calls(victim, error);

	__atomic_store_n(&victim->stop, true, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_join(victim->toucher, NULL), 0);
	/* A queue that is lost stays so. */
	guest_push(&victim->queue, &fence);
	usleep(10000);
	ck_assert_uint_lt(*victim->queue.fence, 77);
}

static void run_job(int fd, uint32_t queue, const struct trn_packet *packets, uint32_t count)
{
	uint32_t syncobj = guest_syncobj(fd);
	struct drm_syncobj_destroy destroy = { .handle = syncobj };

	guest_fails(guest_submit(fd, queue, packets, count, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 60), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy), 0);
}

void victim_works_again(struct victim *victim)
{
	struct drm_trn_queue_destroy queue = { .queue = victim->job_queue };
	struct drm_trn_context_destroy context = { .context = victim->context };
	uint32_t next = guest_context(victim->fd), next_queue;
	struct trn_packet fill = guest_fill(VA, VICTIM_SIZE, 0x5a, 0), fence = guest_fence_write(5);
	struct trn_packet bad = guest_fill(NOWHERE, 8, 0, 0);
	uint32_t failed = guest_syncobj(victim->fd);
	static uint8_t wanted[VICTIM_SIZE];
	struct guest_user_queue user;

	guest_fails(guest_bind(victim->fd, next, victim->hbm, VA, VICTIM_SIZE), 0);
	next_queue = guest_kernel_queue(victim->fd, next, 16);
	run_job(victim->fd, next_queue, &fill, 1);
	/* The old mappings show HBM, not what they showed meanwhile. */
	memset(wanted, 0x5a, VICTIM_SIZE);
	ck_assert_mem_eq((void *)victim->bytes, wanted, VICTIM_SIZE);
	ck_assert_mem_eq((void *)victim->exported_bytes, wanted, VICTIM_SIZE);
	user = guest_user_queue(victim->fd, next);
	guest_push(&user, &fence);
	guest_fails(guest_wait(&user, 5, trn_deadline(60 * SECOND)), 0);
	/* The chip tells of events again. */
	guest_fails(guest_submit(victim->fd, next_queue, &bad, 1, failed), 0);
	guest_fails(guest_job(victim->fd, failed, 30), -EFAULT);

	/* The lost ones can be given back, and their ids are gone then. */
	guest_fails(guest_ioctl(victim->fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &queue), 0);
	guest_fails(guest_ioctl(victim->fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &queue), -ENOENT);
	guest_fails(guest_ioctl(victim->fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &context), 0);
	guest_fails(guest_ioctl(victim->fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &context), -ENOENT);
	guest_fails(guest_wait(&victim->queue, 1000, TRN_FOREVER), -ENOENT);
}

void victim_end(struct victim *victim)
{
	gate_open(&victim->gate);
	munmap((void *)victim->bytes, VICTIM_SIZE);
	munmap((void *)victim->exported_bytes, VICTIM_SIZE);
	munmap(victim->queue.ring, GUEST_FENCE_VA - GUEST_RING_VA + 4096);
	munmap(victim->queue.control, 4096);
	munmap((void *)victim->queue.doorbell, 4096);
	close(victim->dma_buf);
	close(victim->fd);
}

void victim_chip_works(unsigned int chip)
{
	int fd = guest_open(chip);
	uint32_t context = guest_context(fd), queue = guest_kernel_queue(fd, context, 16);
	uint32_t hbm = guest_bo(fd, DRM_TRN_BO_HBM, MIB), host = guest_bo(fd, DRM_TRN_BO_HOST, MIB);
	struct trn_packet packets[2] = {
		guest_fill(VA, MIB, 0x5a, 0),
		guest_copy(VA + MIB, VA, MIB),
	};
	uint8_t *bytes = guest_map(fd, host, MIB);
	static uint8_t wanted[MIB];

	guest_fails(guest_bind(fd, context, hbm, VA, MIB), 0);
	guest_fails(guest_bind(fd, context, host, VA + MIB, MIB), 0);
	run_job(fd, queue, packets, 2);
	memset(wanted, 0x5a, MIB);
	ck_assert_mem_eq(bytes, wanted, MIB);
	munmap(bytes, MIB);
	close(fd);
}
