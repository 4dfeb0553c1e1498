/* SPDX-License-Identifier: MIT */
/* The table of Documentation/recovery.rst, as the test "faults" reads it. */
#ifndef TRN_TESTS_FAULTS_TABLE_H
#define TRN_TESTS_FAULTS_TABLE_H

#include "worker.h"

/* Where nothing is bound in a worker's context. */
#define FAULT_NOWHERE UINT64_C(0x400000000000)

/* What becomes of a queue. */
struct outcome {
	int job;	 /* kernel queue: what the job ends with */
	int wait;	 /* user queue: what WAIT returns */
	uint32_t status; /* of the control page */
};

extern const struct outcome finish, stopped, faulted, slow, reset, gone;

enum rung {
	NONE,
	QUEUE,
	CONTEXT,
	CORE,
	FUNCTION,
	WEDGED
};

/* Who has the fault. */
enum where {
	IN_QUEUE,  /* the queue's next packet */
	IN_VECTOR, /* the queue's interrupt */
	IN_ADMIN,  /* the next admin command */
	IN_CHIP,   /* at once, while the queue has a packet of provoke, if there is one */
	UNPLUGGED, /* at once, and nothing is injected */
	BY_ITSELF, /* nothing is injected: the queue is given such a packet */
};

enum modes {
	BOTH,
	KERNEL,
	USER
};

struct fault {
	const char *name;
	enum where where;
	const char *inject; /* members of the request after chip, queue or vector */
	const struct outcome *guilty, *siblings, *others;
	enum rung rung;
	uint32_t reason;  /* TRN_STOP_* of the guilty's QUEUE_ERROR, 0 = not looked at */
	bool after_limit; /* is noticed when the queue's limit has passed */
	bool exec;	  /* the guilty runs programs */
	enum modes modes; /* of the guilty queue; one is enough for what cannot be undone */
	uint64_t address; /* of QUEUE_ERROR, 0 = any */
	int (*provoke)(struct worker *guilty);
};

extern const struct fault faults[];
extern const int fault_count;

#endif /* TRN_TESTS_FAULTS_TABLE_H */
