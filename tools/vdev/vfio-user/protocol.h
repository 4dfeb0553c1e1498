/* SPDX-License-Identifier: MIT */
/*
 * The vfio-user protocol on the wire (QEMU: docs/interop/vfio-user.rst).
 * All fields are in the host's byte order; constants that vfio-user takes from
 * VFIO are in <linux/vfio.h>.
 */
#ifndef TRN_VDEV_VFIO_USER_PROTOCOL_H
#define TRN_VDEV_VFIO_USER_PROTOCOL_H

#include <stdint.h>

#define VFIO_USER_MAJOR 0
#define VFIO_USER_MINOR 0

enum vfio_user_command {
	VFIO_USER_VERSION = 1,
	VFIO_USER_DMA_MAP = 2,
	VFIO_USER_DMA_UNMAP = 3,
	VFIO_USER_DEVICE_GET_INFO = 4,
	VFIO_USER_DEVICE_GET_REGION_INFO = 5,
	VFIO_USER_DEVICE_GET_REGION_IO_FDS = 6,
	VFIO_USER_DEVICE_GET_IRQ_INFO = 7,
	VFIO_USER_DEVICE_SET_IRQS = 8,
	VFIO_USER_REGION_READ = 9,
	VFIO_USER_REGION_WRITE = 10,
	VFIO_USER_DMA_READ = 11,  /* server to client */
	VFIO_USER_DMA_WRITE = 12, /* server to client */
	VFIO_USER_DEVICE_RESET = 13,
	VFIO_USER_REGION_WRITE_MULTI = 15,
};

struct vfio_user_header {
	uint16_t id;	  /* the sender's; a reply repeats it */
	uint16_t command; /* enum vfio_user_command */
	uint32_t size;	  /* bytes of the message, this header among them */
	uint32_t flags;
#define VFIO_USER_TYPE_MASK 0xf
#define VFIO_USER_REQUEST   0
#define VFIO_USER_REPLY	    1
#define VFIO_USER_NO_REPLY  (1U << 4)
#define VFIO_USER_ERROR	    (1U << 5)
	uint32_t error; /* errno, in replies with VFIO_USER_ERROR */
};
_Static_assert(sizeof(struct vfio_user_header) == 16, "header is 16 bytes");

/* VERSION: followed by JSON with its terminating NUL, which may be left out. */
struct vfio_user_version {
	uint16_t major;
	uint16_t minor;
};

/* DMA_MAP: one descriptor if the memory can be mapped, else none. */
struct vfio_user_dma_map {
	uint32_t argsz;
	uint32_t flags;	 /* VFIO_DMA_MAP_FLAG_READ, _WRITE */
	uint64_t offset; /* in the descriptor's file */
	uint64_t address;
	uint64_t size;
};
_Static_assert(sizeof(struct vfio_user_dma_map) == 32, "DMA_MAP is 32 bytes");

struct vfio_user_dma_unmap {
	uint32_t argsz;
	uint32_t flags; /* VFIO_DMA_UNMAP_FLAG_ALL */
	uint64_t address;
	uint64_t size;
};
_Static_assert(sizeof(struct vfio_user_dma_unmap) == 24, "DMA_UNMAP is 24 bytes");

/* GET_INFO, GET_REGION_INFO, GET_IRQ_INFO and SET_IRQS carry VFIO's structures. */
struct vfio_user_device_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t num_regions;
	uint32_t num_irqs;
};
_Static_assert(sizeof(struct vfio_user_device_info) == 16, "device info is 16 bytes");

/* REGION_READ, REGION_WRITE */
struct vfio_user_region_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count; /* bytes of data */
};
_Static_assert(sizeof(struct vfio_user_region_access) == 16, "region access is 16 bytes");

/* REGION_WRITE_MULTI: a 64-bit count, then as many of these. */
struct vfio_user_small_write {
	struct vfio_user_region_access access;
	uint8_t data[8];
};
_Static_assert(sizeof(struct vfio_user_small_write) == 24, "write of a list is 24 bytes");
#define VFIO_USER_WRITES_MAX 200

/* DMA_READ, DMA_WRITE */
struct vfio_user_dma_access {
	uint64_t address;
	uint64_t count; /* bytes of data */
};
_Static_assert(sizeof(struct vfio_user_dma_access) == 16, "DMA access is 16 bytes");

/* What this server accepts and announces */
#define VFIO_USER_FDS_MAX      16
#define VFIO_USER_DATA_MAX     (1U << 20)
#define VFIO_USER_MAPPINGS_MAX 65535
#define VFIO_USER_PAGE_SIZE    4096
#define VFIO_USER_MESSAGE_MAX  (VFIO_USER_DATA_MAX + 4096)

#endif /* TRN_VDEV_VFIO_USER_PROTOCOL_H */
