/* SPDX-License-Identifier: MIT */
#include "fake.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include <hw/trn_admin.h>
#include <hw/trn_isa.h>

#include "fake_fence.h"
#include "fake_state.h"

struct fake fake = { .lock = PTHREAD_MUTEX_INITIALIZER };

void fake_lock(void)
{
	pthread_mutex_lock(&fake.lock);
}

void fake_unlock(void)
{
	pthread_mutex_unlock(&fake.lock);
}

/* ---- the driver ------------------------------------------------------ */

static int query(struct drm_trn_query *query)
{
	struct drm_trn_query_device *device = (void *)(uintptr_t)query->pointer;
	struct drm_trn_query_memory *memory = (void *)(uintptr_t)query->pointer;
	struct drm_trn_query_recovery *recovery = (void *)(uintptr_t)query->pointer;

	if (query->query == DRM_TRN_QUERY_DEVICE) {
		*device = (struct drm_trn_query_device){
			.uuid = { 1, 2, 3 },
			.generation = "trn9",
			.serial = "S1",
			.firmware = "F1",
			.architecture_version = 1 << 16 | 2,
			.cores = 2,
			.dtypes = FAKE_DTYPES,
			.hbm_stacks = FAKE_STACKS,
			.hbm_stack_size = FAKE_STACK_SIZE,
			.va_bits = 48,
			.ring_max = RING_MAX,
			.page_size = PAGE,
		};
		return 0;
	}
	if (query->query == DRM_TRN_QUERY_RECOVERY) {
		*recovery = (struct drm_trn_query_recovery){
			.queue_stops = 1,
			.queue_resets = 2,
			.context_resets = 3,
			.function_resets = fake.resets,
			.contexts_lost = 5,
			.core_resets = 6,
		};
		return 0;
	}
	fake_query_memory(memory);
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
	fake.lost[i] = false;
	create->context = i;
	return 0;
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
		return fake_queue_destroy(((struct drm_trn_queue_destroy *)argument)->queue);
	case DRM_IOCTL_TRN_CONTEXT_DESTROY:
		fake.context[((struct drm_trn_context_destroy *)argument)->context] = false;
		return 0;
	case DRM_IOCTL_TRN_WAIT:
		return fake_wait_user(argument);
	}
	if (fake.gone)
		return -ENODEV;
	switch (request) {
	case DRM_IOCTL_TRN_QUERY:
		return query(argument);
	case DRM_IOCTL_TRN_CONTEXT_CREATE:
		return context_create(argument);
	case DRM_IOCTL_TRN_BO_CREATE:
		return fake_bo_create(argument);
	case DRM_IOCTL_TRN_BO_CREATE_USERPTR:
		return fake_bo_create_userptr(argument);
	case DRM_IOCTL_TRN_BO_SET_NAME:
		return fake_bo_set_name(argument);
	case DRM_IOCTL_TRN_BO_MMAP_OFFSET:
		return fake_bo_mmap_offset(argument);
	case DRM_IOCTL_TRN_QUEUE_EVENTFD:
		return fake_queue_eventfd(argument);
	case DRM_IOCTL_TRN_QUEUE_ERROR:
		return fake_queue_error(argument);
	case DRM_IOCTL_TRN_VM_BIND:
		return fake_bind(argument);
	case DRM_IOCTL_TRN_QUEUE_CREATE:
		return fake_queue_create(argument);
	case DRM_IOCTL_TRN_SUBMIT:
		return fake_submit(argument);
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
	fake.gone = fake.hold = false;
	fake.stop_next = 0;
	fake.resets = 0;
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
	int i;

	fake_lock();
	fake.gone = true;
	for (i = 0; i < OBJECTS; i++)
		if (fake.queue[i].used)
			fake_end_queue(&fake.queue[i], TRN_CONTROL_GONE);
	fake_unlock();
}

void fake_break_next_packet(void)
{
	fake_stop_at_next_packet(TRN_STOP_FAULT_HOST);
}

void fake_stop_at_next_packet(uint32_t reason)
{
	fake_lock();
	fake.stop_next = reason;
	fake.exception = fake.engine = fake.instruction = 0;
	fake_unlock();
}

void fake_fail_next_program(uint32_t exception, uint32_t engine, uint32_t instruction)
{
	bool fault = exception == TRN_EXCEPTION_MEMORY;

	fake_lock();
	fake.stop_next = fault ? TRN_STOP_FAULT_UNMAPPED : TRN_STOP_PROGRAM;
	fake.exception = exception;
	fake.engine = engine;
	fake.instruction = instruction;
	fake_unlock();
}

void fake_reset(void)
{
	int i;

	fake_lock();
	fake.resets++;
	for (i = 0; i < OBJECTS; i++) {
		if (fake.queue[i].used)
			fake_end_queue(&fake.queue[i], TRN_CONTROL_RESET);
		fake.lost[i] = fake.context[i];
	}
	/* What is bound is lost, and unmapping it fails. */
	for (i = 0; i < OBJECTS; i++)
		if (fake.lost[fake.binding[i].context])
			fake.binding[i].used = false;
	fake_progress();
	fake_unlock();
}

struct trn_packet fake_earlier_exec(unsigned int back)
{
	struct trn_packet packet;

	fake_lock();
	ck_assert_uint_lt(back, fake.execs);
	ck_assert_uint_lt(back, FAKE_EXECS);
	packet = fake.exec[(fake.execs - 1 - back) % FAKE_EXECS];
	fake_unlock();
	return packet;
}

struct trn_packet fake_last_exec(void)
{
	return fake_earlier_exec(0);
}

void fake_set_result(const struct trn_exec_result *result)
{
	fake_lock();
	fake.result = *result;
	fake_unlock();
}

void fake_peek(uint64_t va, void *data, uint64_t size, bool readonly)
{
	uint8_t *memory;

	fake_lock();
	memory = fake_translate(1, va, size, false);
	ck_assert_msg(memory != NULL, "0x%llx is not bound", (unsigned long long)va);
	memcpy(data, memory, size);
	ck_assert_int_eq(!fake_translate(1, va, size, true), readonly);
	fake_unlock();
}

struct drm_trn_queue_create fake_last_queue(void)
{
	return fake.last_queue;
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

unsigned int fake_ioctls(void)
{
	unsigned int count;

	pthread_mutex_lock(&fake.lock);
	count = fake.ioctls;
	pthread_mutex_unlock(&fake.lock);
	return count;
}
