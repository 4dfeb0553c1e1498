/* SPDX-License-Identifier: MIT */
/*
 * Memory that only the client can reach, another device's BAR say: requests to
 * the client to read and write it.
 *
 * The client may need an answer of ours before it answers: it holds its own lock
 * while it waits for a reply to DMA_UNMAP or DEVICE_RESET.  So whoever is about to
 * wait for the device closes this first; a request then under way fails.
 *
 * Threads: trn_remote_transfer() is the executor's; trn_remote_close() and _open() are
 * anybody's who waits for the device; the rest is the connection's.
 */
#ifndef TRN_VDEV_VFIO_USER_REMOTE_H
#define TRN_VDEV_VFIO_USER_REMOTE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trn_message;

struct trn_remote {
	pthread_mutex_t lock; /* all below */
	pthread_cond_t answered;
	unsigned int closed; /* how often, without an open */
	bool waiting;	     /* for the answer to the request below */
	uint16_t id;
	uint16_t command;
	void *buffer; /* DMA_READ: where the data goes */
	size_t count;
	int error;		/* of the answer: 0 or negative errno */
	unsigned int abandoned; /* requests that failed; their answers are yet to come */
};

/* How a request is sent: 0 or negative errno. */
typedef int (*trn_remote_send)(void *context, uint16_t id, uint16_t command, uint64_t address,
			       uint64_t count, const void *data);

void trn_remote_init(struct trn_remote *remote);
void trn_remote_destroy(struct trn_remote *remote);

/* Before the first message of a new client. */
void trn_remote_start(struct trn_remote *remote);

/* Each close has its open; transfers fail while it is closed. */
void trn_remote_close(struct trn_remote *remote);
void trn_remote_open(struct trn_remote *remote);

/*
 * VFIO_USER_DMA_READ or _WRITE of count bytes, at most what the client takes in one
 * message.  0, or -EFAULT: refused by the client, or closed.
 */
int trn_remote_transfer(struct trn_remote *remote, trn_remote_send send, void *context,
			uint16_t command, uint64_t address, void *buffer, size_t count);

/* A reply has come.  False if it answers no request of ours. */
bool trn_remote_reply(struct trn_remote *remote, const struct trn_message *message);

#endif /* TRN_VDEV_VFIO_USER_REMOTE_H */
