/* SPDX-License-Identifier: MIT */
/*
 * All that a process may have of a chip, in use, for tests of what becomes of it: jobs that
 * run, a user queue whose fence a thread waits for, an asynchronous bind that waits, an object of HBM
 * mapped and exported, and a thread that touches all mappings all the time.
 */
#ifndef TRN_TESTS_VICTIM_H
#define TRN_TESTS_VICTIM_H

#include <pthread.h>

#include "gate.h"
#include "guest_memory.h"

#define VICTIM_SIZE MIB

struct victim {
	int fd;
	uint32_t context;
	uint32_t hbm; /* VICTIM_SIZE bytes, visible to the CPU */
	volatile uint8_t *bytes, *exported_bytes; /* its mappings */
	int dma_buf;
	uint32_t job_queue, job; /* syncobj of the last job */
	uint32_t bind; /* syncobj of the asynchronous bind */
	struct gate gate;
	uint32_t gate_syncobj; /* signals when the gate opens */
	struct guest_user_queue queue;
	pthread_t waiter, toucher;
	int waited; /* what WAIT returned */
	bool stop;
};

/* Not copied: threads use it. */
void victim_start(struct victim *victim, unsigned int chip);
/*
 * The chip was reset (-EIO) or is gone (-ENODEV): everybody has learnt of it, and what is mapped can
 * be touched.
 */
void victim_check(struct victim *victim, int error);
/* The wait in progress ended with told; since then the chip has gone on to error. */
void victim_check_later(struct victim *victim, int told, int error);
/* After -EIO: the same file and the same object, with a new context. */
void victim_works_again(struct victim *victim);
void victim_end(struct victim *victim);

/* A new process's view: a context, a queue and a job on the chip. */
void victim_chip_works(unsigned int chip);

/* Writes a file of sysfs and returns 0, or negative errno. */
int victim_write(const char *path, const char *text);
/* The path of an attribute of a chip's PCI device. */
void victim_attribute(unsigned int chip, const char *name, char *path, size_t size);

#endif /* TRN_TESTS_VICTIM_H */
