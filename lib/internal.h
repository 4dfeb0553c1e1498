/* SPDX-License-Identifier: MIT */
/*
 * libtrn's objects.  Ownership goes down the tree: a device counts its contexts and timelines, a
 * context its buffers, ranges and queues, so that none outlives what it is made of.
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
	unsigned int children; /* atomic: contexts and timelines */
	pthread_mutex_t lock;  /* handle_users, and what changes whether a handle is in use */
	uint32_t *handle_users;
	uint32_t handle_room; /* elements of handle_users */
	char node[32];
	struct trn_device_info info;
};

struct trn_context {
	struct trn_device *device;
	uint32_t id;
	unsigned int objects; /* atomic: buffers, ranges and queues */
	pthread_mutex_t lock; /* addresses */
	struct trn_va addresses;
};

struct trn_buffer {
	struct trn_context *context;
	uint32_t handle;
	bool cpu_copies;	    /* trn_write() and trn_read() need no device: cached memory */
	bool own_mapping;	    /* pointer is from mmap() */
	bool cpu_readonly;	    /* user memory that perhaps the process may not write */
	bool readonly;		    /* the device may not write at its address */
	bool destroyed;		    /* atomic: only those who hold it have it yet */
	unsigned int holders;	    /* atomic: the application, until destroyed, and tensor sets */
	uint64_t size;		    /* as asked for */
	uint64_t allocated;	    /* whole pages */
	struct trn_va_range *range; /* NULL = TRN_BUFFER_UNBOUND */
	pthread_mutex_t lock;	    /* makes the mapping once */
	void *pointer;		    /* atomic; NULL before trn_buffer_map() */
};

struct trn_range {
	struct trn_context *context;
	struct trn_va_range *range;
};

struct trn_timeline {
	struct trn_device *device;
	uint32_t syncobj;
};

struct trn_queue;

/* What differs between the two modes. */
struct trn_queue_ops {
	/* Looks for free packets: returns the new value of trn_queue.limit. */
	uint32_t (*limit)(struct trn_queue *queue);
	/* Does one thing that leads to more free packets: submit or wait. */
	int (*make_room)(struct trn_queue *queue, int64_t deadline);
	/* Submits the packets taken, of which there is one at least. */
	int (*submit)(struct trn_queue *queue);
	/* As trn_queue_submit_syncs(). */
	int (*submit_syncs)(struct trn_queue *queue, const struct trn_sync *syncs, uint32_t count);
	/* As trn_queue_poll() and trn_queue_wait(), for a sequence that was submitted. */
	int (*poll)(struct trn_queue *queue, uint64_t sequence);
	int (*wait)(struct trn_queue *queue, uint64_t sequence, int64_t deadline);
	/* As trn_queue_notify(), for a sequence that was submitted. */
	int (*notify)(struct trn_queue *queue, uint64_t sequence, int eventfd);
	/* As trn_queue_export_fence(), for a sequence that was submitted, or 0. */
	int (*export_fence)(struct trn_queue *queue, uint64_t sequence, int *fd);
	void (*destroy)(struct trn_queue *queue);
};

/* Staging memory of transfers: two buffers, one is filled while the other is copied. */
#define TRN_STAGES     2
#define TRN_STAGE_SIZE (UINT64_C(1) << 20)

struct trn_stage {
	struct trn_buffer *buffer;
	uint8_t *pointer;
	uint64_t sequence; /* of the last submit that used it */
};

/* User memory that asynchronous transfers up to a sequence use. */
struct trn_pin {
	struct trn_buffer *buffer;
	uint64_t sequence;
	struct trn_pin *next;
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
	enum trn_queue_type type;
	uint64_t process;
	uint64_t sequence; /* atomic: of the last submit */
	struct trn_context *context;
	struct trn_stage stage[TRN_STAGES];
	pthread_mutex_t pin_lock; /* pins, changed by whoever waits */
	struct trn_pin *pins;	  /* atomic */
};

/* Keeps the structure, though not the memory, after trn_buffer_destroy(). */
void trn_buffer_hold(struct trn_buffer *buffer);
void trn_buffer_release(struct trn_buffer *buffer);
/* From now on the device cannot write to a buffer at its address, as with TRN_BUFFER_READONLY. */
int trn_buffer_protect(struct trn_buffer *buffer);

int trn_device_ioctl(struct trn_device *device, unsigned long request, void *argument);

/* -EPERM with a text in a process that does not own the device, else 0. */
int trn_device_check(const struct trn_device *device, const char *what);

/* Addresses of a context, with a text on failure; @start 0 = anywhere. */
int trn_context_take(struct trn_context *context, uint64_t start, uint64_t size, uint64_t alignment,
		     struct trn_va_range **range);
void trn_context_give(struct trn_context *context, struct trn_va_range *range);
/* VM_BIND, with a text on failure. */
int trn_context_bind(struct trn_context *context, struct drm_trn_vm_bind *bind);
int trn_context_unmap(struct trn_context *context, uint64_t address, uint64_t size);

/* Checks points, and makes of them the array for the kernel; @what begins the text. */
int trn_sync_translate(const struct trn_device *device, const char *what,
		       const struct trn_sync *syncs, uint32_t count, struct drm_trn_sync *result);

int trn_queue_user_create(struct trn_context *context,
			  const struct trn_queue_attributes *attributes, struct trn_queue **queue);
int trn_queue_kernel_create(struct trn_context *context,
			    const struct trn_queue_attributes *attributes,
			    struct trn_queue **queue);
/* QUEUE_CREATE, with a text on failure; the caller has set what is of one mode only. */
int trn_queue_create_ioctl(struct trn_context *context,
			   const struct trn_queue_attributes *attributes,
			   struct drm_trn_queue_create *create);
void trn_queue_destroy_ioctl(struct trn_queue *queue);

/* Records why an eventfd cannot be told of the queue; returns @error. */
int trn_queue_fail_notify(struct trn_queue *queue, int error, int eventfd);
/* Records that the queue stopped, and why, after "NODE: queue N: @what"; returns @error. */
int trn_queue_fail_stopped(struct trn_queue *queue, int error, const char *what);
/* Whether the chip or a time limit has stopped the queue, or the chip was reset; no text. */
bool trn_queue_has_stopped(struct trn_queue *queue);
/* Records that the chip is gone; returns -ENODEV. */
int trn_fail_gone(const struct trn_device *device);
/* Records that a context was lost to a reset of the chip; returns -EIO. */
int trn_fail_reset(const struct trn_device *device);

/* Makes user memory a buffer that lives until the submits up to the next one are done. */
int trn_queue_pin(struct trn_queue *queue, const void *memory, uint64_t size, bool readonly,
		  struct trn_pin **pin);
/* The last submit that uses the memory has been made, or none was. */
void trn_queue_pin_until(struct trn_queue *queue, struct trn_pin *pin, uint64_t sequence);
/* Lets go of the memory of all submits up to a sequence. */
void trn_queue_unpin(struct trn_queue *queue, uint64_t sequence);

#endif /* TRN_INTERNAL_H */
