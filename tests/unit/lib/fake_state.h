/* SPDX-License-Identifier: MIT */
/* What the parts of the driver and chip of fake.c share. */
#ifndef TRN_TESTS_FAKE_STATE_H
#define TRN_TESTS_FAKE_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include <drm/trn_accel.h>
#include <hw/trn_queue.h>

#include "fake.h"

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
	/* QUEUE_EVENTFD calls that wait */
	unsigned int notifies;
	struct {
		uint64_t va, value;
		int fd;
	} notify[4];
	bool stop; /* ends the thread */
	pthread_t thread;
};

/* A submit to a kernel queue that was not executed yet. */
struct job {
	uint32_t queue;
	uint32_t count, waits;
	struct trn_packet *packets;
	int wait[8], fence;
};

/* An asynchronous VM_BIND that was not executed yet. */
struct pending_bind {
	bool used;
	uint32_t context, count, waits, signals;
	struct drm_trn_bind_op ops[8];
	int wait[8], signal;
};

/* Everything under one lock; the device's threads take it for each packet. */
struct fake {
	pthread_mutex_t lock;
	struct fake_options options;
	int fd;
	char path[64];
	uint8_t *memory;
	uint64_t memory_used;
	bool gone, hold;
	uint32_t stop_next;			 /* TRN_STOP_*, 0 = none to come */
	uint32_t exception, engine, instruction; /* what it says of a program */
	uint64_t resets;
	struct drm_trn_queue_create last_queue;
	struct trn_packet exec[FAKE_EXECS];
	unsigned int execs;
	struct trn_exec_result result;
	unsigned int ioctls;
	struct {
		unsigned long request;
		unsigned int skip;
		int error; /* 0 = none to come */
	} failure;
	bool context[OBJECTS];
	bool lost[OBJECTS]; /* contexts */
	struct bo bo[OBJECTS];
	struct binding binding[OBJECTS];
	struct queue queue[OBJECTS];
	struct job job[OBJECTS];
	unsigned int jobs;
	struct pending_bind bind;
};
extern struct fake fake;

/* ---- fake_chip.c, fake_memory.c, fake_jobs.c: all with the lock held -------------- */

uint8_t *fake_translate(uint32_t context, uint64_t va, uint64_t size, bool write);
int fake_execute(struct queue *queue, const struct trn_packet *packet);
/* A user queue's thread, which takes the lock. */
void *fake_run_queue(void *argument);
/* Stops a user queue, and its control page tells TRN_CONTROL_*. */
void fake_end_queue(struct queue *queue, uint32_t status);

uint64_t fake_take_memory(uint64_t size);
void fake_query_memory(struct drm_trn_query_memory *memory);
int fake_bo_create(struct drm_trn_bo_create *create);
int fake_bo_create_userptr(struct drm_trn_bo_create_userptr *create);
int fake_bo_mmap_offset(struct drm_trn_bo_mmap_offset *offset);
int fake_bo_set_name(const struct drm_trn_bo_set_name *name);
int fake_bind(struct drm_trn_vm_bind *bind);
void fake_run_pending_bind(void);

int fake_queue_create(struct drm_trn_queue_create *create);
int fake_queue_destroy(uint32_t id);
int fake_submit(struct drm_trn_submit *submit);
bool fake_run_jobs(void);
int fake_queue_eventfd(const struct drm_trn_queue_eventfd *call);
int fake_queue_error(struct drm_trn_queue_error *error);
int fake_wait_user(const struct drm_trn_wait *wait);

#endif /* TRN_TESTS_FAKE_STATE_H */
