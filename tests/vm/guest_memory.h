/* SPDX-License-Identifier: MIT */
/* Memory objects, for tests that must see what the kernel says; as in guest.h. */
#ifndef TRN_TESTS_GUEST_MEMORY_H
#define TRN_TESTS_GUEST_MEMORY_H

#include "guest.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

struct drm_trn_query_memory guest_memory(int fd);
int guest_create(int fd, uint32_t placement, uint32_t stack, uint64_t size, uint32_t flags,
		 uint32_t *handle);
int guest_hbm(int fd, uint32_t stack, uint64_t size, uint32_t *handle);
int guest_userptr(int fd, const void *address, uint64_t size, uint32_t flags, uint32_t *handle);
int guest_close(int fd, uint32_t handle);
int guest_name(int fd, uint32_t handle, const char *name);
int guest_mmap_offset(int fd, uint32_t handle, uint64_t *offset);
/* A dma-buf of the object, or negative errno. */
int guest_export(int fd, uint32_t handle);
int guest_import(int fd, int dma_buf, uint32_t *handle);

/* Waits for a child and fails unless it ended with status 0. */
void guest_child_passed(int pid);

/* The PCI address of a chip. */
void guest_pci(unsigned int chip, char *address, size_t size);

/*
 * Lets the chip move bytes between objects of a file and a staging buffer, GUEST_STAGING
 * bytes at a time.
 */
#define GUEST_STAGING MIB

struct guest_mover {
	int fd;
	uint32_t context, queue, syncobj;
	uint8_t *bytes; /* the staging buffer */
};

struct guest_mover guest_mover(int fd);
/* Unmaps the staging buffer, which holds the file; the rest goes with it. */
void guest_mover_end(struct guest_mover *mover);
/* @size bytes at @offset, both multiples of the page size, to or from the staging buffer. */
void guest_fetch(struct guest_mover *mover, uint32_t handle, uint64_t offset, uint64_t size);
void guest_store(struct guest_mover *mover, uint32_t handle, uint64_t offset, uint64_t size);
/* Fills all of the object with guest_pattern() of @seed, each GUEST_STAGING bytes alike. */
void guest_fill_object(struct guest_mover *mover, uint32_t handle, uint64_t size, uint64_t seed);
/* Fails unless the object has that pattern, or zeroes throughout. */
void guest_check_object(struct guest_mover *mover, uint32_t handle, uint64_t size, uint64_t seed);
void guest_check_zero(struct guest_mover *mover, uint32_t handle, uint64_t size);

#endif /* TRN_TESTS_GUEST_MEMORY_H */
