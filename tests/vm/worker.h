/* SPDX-License-Identifier: MIT */
/*
 * A queue that copies and checks its data, by the kernel's way or the user's, by packets that copy
 * or by a program on a core: what tests of recovery have as the guilty and the innocent.  Functions
 * that return int give 0 or negative errno and may be called from threads; the others fail the
 * test.
 */
#ifndef TRN_TESTS_WORKER_H
#define TRN_TESTS_WORKER_H

#include <pthread.h>

#include "guest.h"
#include "image.h"

/* Places for workers in a context; each has addresses of its own. */
#define WORKER_PLACES 32

/* Where a user queue's fence is in a worker's memory. */
#define WORKER_FENCE  4096

struct worker {
	int fd;
	uint32_t context;
	bool user;
	bool exec; /* a queue of type EXEC */
	uint32_t queue;
	uint64_t va; /* of the memory in the context */
	/* the ring, the fence, what is copied */
	uint8_t *memory;
	uint32_t handle, hbm;
	struct trn_control *control; /* user queue */
	volatile uint32_t *doorbell;
	uint32_t syncobj; /* kernel queue */
	uint64_t value;	  /* user queue: of the last submit */
	uint64_t seed;	  /* of the last copy */
	/* of worker_start() */
	pthread_t thread;
	bool stop;	     /* atomic */
	unsigned int rounds; /* atomic: copies checked */
	int error;	     /* atomic */
};

/* A place in a context that workers' memory is bound at, and a queue there. */
void worker_make(struct worker *worker, int fd, uint32_t context, unsigned int place, bool user,
		 uint32_t timeout_ms);
/* The same, of type EXEC. */
void worker_make_exec(struct worker *worker, int fd, uint32_t context, unsigned int place,
		      bool user, uint32_t timeout_ms);
/* A new queue in place of one that has come to its end. */
void worker_renew(struct worker *worker, uint32_t timeout_ms);
/* Unmaps all of it, for mappings have the file open. */
void worker_unmap(struct worker *worker);
/* Destroys the queue: 0 or negative errno. */
int worker_destroy_queue(struct worker *worker);

/* Submits packets, at most 32. */
int worker_submit(struct worker *worker, const struct trn_packet *packets, uint32_t count);
/* Kernel queue: a job that waits for what another worker's last job signals. */
int worker_submit_after(struct worker *worker, const struct worker *first,
			const struct trn_packet *packets, uint32_t count);
/* What the last submit ends with; -ETIME also when the deadline passes. */
int worker_wait(struct worker *worker, int64_t deadline);
/* A packet that runs over the same few bytes of the worker's, so many in all. */
#define WORKER_ENDLESS (UINT64_C(1) << 40)
struct trn_packet worker_long_packet(const struct worker *worker, uint64_t bytes);
/*
 * EXEC: a packet that runs a program of the caller's on any core, one at a time.  Binding 0 is
 * WORKER_BINDING bytes of the worker's, binding 1 as many bytes at an address of the caller's.
 */
#define WORKER_BINDING UINT64_C(16384)
struct trn_packet worker_program(struct worker *worker, const struct image *image,
				 uint64_t address);
/* Packets that copy what is in the worker's memory to HBM and back. */
uint32_t worker_copies(struct worker *worker, struct trn_packet packets[2]);
/* A copy, checked: -EILSEQ if the data is wrong. */
int worker_copy(struct worker *worker, int64_t deadline);

/* Copies in a thread until an error or worker_stop(), which returns the error. */
void worker_start(struct worker *worker);
int worker_stop(struct worker *worker);
/* Until so many more copies were checked: false if there was an error, or none for @ns. */
bool worker_goes_on(struct worker *worker, unsigned int rounds, int64_t ns);

#endif /* TRN_TESTS_WORKER_H */
