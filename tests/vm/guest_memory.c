/* SPDX-License-Identifier: MIT */
#include "guest_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define STAGING_VA UINT64_C(0x100000000000)
#define OBJECT_VA  UINT64_C(0x200000000000)
#define JOB_LIMIT  60 /* seconds */

struct drm_trn_query_memory guest_memory(int fd)
{
	struct drm_trn_query_memory memory = { 0 };
	struct drm_trn_query query = {
		.query = DRM_TRN_QUERY_MEMORY,
		.size = sizeof(memory),
		.pointer = (uintptr_t)&memory,
	};

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUERY, &query), 0);
	return memory;
}

int guest_create(int fd, uint32_t placement, uint32_t stack, uint64_t size, uint32_t flags,
		 uint32_t *handle)
{
	struct drm_trn_bo_create create = {
		.size = size,
		.placement = placement,
		.stack = stack,
		.flags = flags,
	};
	int error = guest_ioctl(fd, DRM_IOCTL_TRN_BO_CREATE, &create);

	*handle = create.handle;
	return error;
}

int guest_hbm(int fd, uint32_t stack, uint64_t size, uint32_t *handle)
{
	return guest_create(fd, DRM_TRN_BO_HBM, stack, size, 0, handle);
}

int guest_userptr(int fd, const void *address, uint64_t size, uint32_t flags, uint32_t *handle)
{
	struct drm_trn_bo_create_userptr create = {
		.address = (uintptr_t)address,
		.size = size,
		.flags = flags,
	};
	int error = guest_ioctl(fd, DRM_IOCTL_TRN_BO_CREATE_USERPTR, &create);

	*handle = create.handle;
	return error;
}

int guest_close(int fd, uint32_t handle)
{
	struct drm_gem_close gem_close = { .handle = handle };

	return guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem_close);
}

int guest_name(int fd, uint32_t handle, const char *name)
{
	struct drm_trn_bo_set_name set_name = { .handle = handle };

	snprintf((char *)set_name.name, sizeof(set_name.name), "%s", name);
	return guest_ioctl(fd, DRM_IOCTL_TRN_BO_SET_NAME, &set_name);
}

int guest_mmap_offset(int fd, uint32_t handle, uint64_t *offset)
{
	struct drm_trn_bo_mmap_offset mmap_offset = { .handle = handle };
	int error = guest_ioctl(fd, DRM_IOCTL_TRN_BO_MMAP_OFFSET, &mmap_offset);

	*offset = mmap_offset.offset;
	return error;
}

int guest_export(int fd, uint32_t handle)
{
	struct drm_prime_handle prime = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int error = guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	return error ? error : prime.fd;
}

int guest_import(int fd, int dma_buf, uint32_t *handle)
{
	struct drm_prime_handle prime = { .fd = dma_buf };
	int error = guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	*handle = prime.handle;
	return error;
}

void guest_child_passed(int pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "the child's status is 0x%x",
		      (unsigned int)status);
}

void guest_pci(unsigned int chip, char *address, size_t size)
{
	const struct trn_device_list *list;

	guest_ok(trn_device_list(&list));
	ck_assert_uint_lt(chip, list->count);
	snprintf(address, size, "%s", list->entry[chip]->pci);
	trn_device_list_free(list);
}

struct guest_mover guest_mover(int fd)
{
	struct guest_mover mover = { .fd = fd };
	uint32_t staging = guest_bo(fd, DRM_TRN_BO_HOST, GUEST_STAGING);

	mover.context = guest_context(fd);
	mover.queue = guest_kernel_queue(fd, mover.context, 16);
	mover.syncobj = guest_syncobj(fd);
	guest_fails(guest_bind(fd, mover.context, staging, STAGING_VA, GUEST_STAGING), 0);
	mover.bytes = guest_map(fd, staging, GUEST_STAGING);
	return mover;
}

void guest_mover_end(struct guest_mover *mover)
{
	ck_assert_int_eq(munmap(mover->bytes, GUEST_STAGING), 0);
}

/* Also for objects that the chip may not write. */
static int bind_object(struct guest_mover *mover, uint32_t handle, uint64_t offset, uint64_t size,
		       uint32_t flags)
{
	struct drm_trn_bind_op op = {
		.op = DRM_TRN_BIND_MAP,
		.flags = flags,
		.handle = handle,
		.va = OBJECT_VA,
		.size = size,
		.offset = offset,
	};
	struct drm_trn_vm_bind bind = {
		.context = mover->context,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};

	return guest_ioctl(mover->fd, DRM_IOCTL_TRN_VM_BIND, &bind);
}

static void run(struct guest_mover *mover, struct trn_packet packet, uint64_t size)
{
	guest_fails(guest_submit(mover->fd, mover->queue, &packet, 1, mover->syncobj), 0);
	guest_fails(guest_job(mover->fd, mover->syncobj, JOB_LIMIT), 0);
	guest_fails(guest_unbind(mover->fd, mover->context, OBJECT_VA, size), 0);
}

void guest_fetch(struct guest_mover *mover, uint32_t handle, uint64_t offset, uint64_t size)
{
	guest_fails(bind_object(mover, handle, offset, size, DRM_TRN_BIND_READONLY), 0);
	run(mover, guest_copy(STAGING_VA, OBJECT_VA, size), size);
}

void guest_store(struct guest_mover *mover, uint32_t handle, uint64_t offset, uint64_t size)
{
	guest_fails(bind_object(mover, handle, offset, size, 0), 0);
	run(mover, guest_copy(OBJECT_VA, STAGING_VA, size), size);
}

static uint64_t piece(uint64_t offset, uint64_t size)
{
	return size - offset < GUEST_STAGING ? size - offset : GUEST_STAGING;
}

void guest_fill_object(struct guest_mover *mover, uint32_t handle, uint64_t size, uint64_t seed)
{
	uint64_t offset;

	guest_pattern(mover->bytes, piece(0, size), seed);
	for (offset = 0; offset < size; offset += GUEST_STAGING)
		guest_store(mover, handle, offset, piece(offset, size));
}

static void check_bytes(struct guest_mover *mover, uint32_t handle, uint64_t size,
			const uint8_t *wanted)
{
	uint64_t offset;

	for (offset = 0; offset < size; offset += GUEST_STAGING) {
		/* Something else than what is wanted, in case nothing is written. */
		memset(mover->bytes, ~wanted[0], GUEST_STAGING);
		guest_fetch(mover, handle, offset, piece(offset, size));
		ck_assert_msg(!memcmp(mover->bytes, wanted, piece(offset, size)),
			      "object %u: wrong bytes in the MiB at offset %llu", handle,
			      (unsigned long long)offset);
	}
}

void guest_check_object(struct guest_mover *mover, uint32_t handle, uint64_t size, uint64_t seed)
{
	static uint8_t wanted[GUEST_STAGING];

	guest_pattern(wanted, piece(0, size), seed);
	check_bytes(mover, handle, size, wanted);
}

void guest_check_zero(struct guest_mover *mover, uint32_t handle, uint64_t size)
{
	static const uint8_t zero[GUEST_STAGING];

	check_bytes(mover, handle, size, zero);
}
