/* SPDX-License-Identifier: MIT */
/*
 * libtrn's objects.  Ownership goes down the tree: a device counts its contexts, a
 * context its buffers and queues, so that none outlives what it is made of.
 */
#ifndef TRN_INTERNAL_H
#define TRN_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include <drm/trn_accel.h>
#include <hw/trn_queue.h>
#include <trn/trn.h>

#include "process.h"
#include "ring.h"
#include "va.h"

/* Records the text for trn_error_message() and returns @error, which is negative. */
int trn_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct trn_device {
	int fd;
	uint64_t process;      /* trn_process_id() of the opener */
	unsigned int contexts; /* atomic */
	char node[32];
	struct trn_device_info info;
};

struct trn_context {
	struct trn_device *device;
	uint32_t id;
	unsigned int objects; /* atomic: buffers and queues */
	pthread_mutex_t lock; /* addresses */
	struct trn_va addresses;
};

struct trn_buffer {
	struct trn_context *context;
	enum trn_placement placement;
	uint32_t handle;
	uint64_t size;	    /* as asked for */
	uint64_t allocated; /* whole pages */
	struct trn_va_range *range;
	pthread_mutex_t lock; /* makes the mapping once */
	void *pointer;	      /* atomic; NULL before trn_buffer_map() */
};

struct trn_queue;

/* What differs between the two modes. */
struct trn_queue_ops {
	/* Looks for free packets: returns the new value of trn_queue.limit. */
	uint32_t (*limit)(struct trn_queue *queue);
	/* Does one thing that leads to more free packets: submit or wait. */
	int (*make_room)(struct trn_queue *queue, int64_t deadline);
	/* Submits packets [0, taken), which is not empty. */
	int (*submit)(struct trn_queue *queue);
	/* As trn_queue_poll() and trn_queue_wait(), for a sequence that was submitted. */
	int (*poll)(struct trn_queue *queue, uint64_t sequence);
	int (*wait)(struct trn_queue *queue, uint64_t sequence, int64_t deadline);
	void (*destroy)(struct trn_queue *queue);
};

/* A transfer's staging memory: two buffers, one is filled while the other is copied. */
#define TRN_STAGE_SIZE (UINT64_C(1) << 20)

struct trn_stage {
	struct trn_buffer *buffer;
	uint8_t *pointer;
};

/*
 * Packets [first, next) modulo 2^32 are taken and not yet submitted; packets up to limit may be
 * taken.  packets[] is the ring itself (user) or an array passed to the kernel.
 */
struct trn_queue {
	const struct trn_queue_ops *ops;
	struct trn_packet *packets;
	uint32_t mask;
	uint32_t next;
	uint32_t limit;
	uint32_t first;
	uint32_t capacity;
	uint32_t id;
	uint64_t process;
	uint64_t sequence; /* atomic: of the last submit */
	struct trn_context *context;
	struct trn_stage stage[2];
};

int trn_device_ioctl(struct trn_device *device, unsigned long request, void *argument);

/* -EPERM with a text in a process that does not own the device, else 0. */
int trn_device_check(const struct trn_device *device, const char *what);

int trn_queue_user_create(struct trn_context *context, uint32_t entries, struct trn_queue **queue);
int trn_queue_kernel_create(struct trn_context *context, uint32_t entries,
			    struct trn_queue **queue);
int trn_queue_create_ioctl(struct trn_context *context, struct drm_trn_queue_create *create);
void trn_queue_destroy_ioctl(struct trn_queue *queue);

#endif /* TRN_INTERNAL_H */
