/* SPDX-License-Identifier: MIT */
/* Messages of the vfio-user protocol over a stream socket, with descriptors. */
#ifndef TRN_VDEV_VFIO_USER_TRANSPORT_H
#define TRN_VDEV_VFIO_USER_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct trn_message {
	struct vfio_user_header header;
	uint8_t *body;		    /* the caller's, of VFIO_USER_MESSAGE_MAX bytes */
	size_t size;		    /* of the body received */
	int fds[VFIO_USER_FDS_MAX]; /* -1 where taken */
	unsigned int fd_count;
};

enum trn_receive_result {
	TRN_RECEIVED,
	TRN_RECEIVE_CLOSED, /* the peer went away between two messages */
	TRN_RECEIVE_BROKEN, /* not a message: *reason says why */
};

/*
 * Blocks for one message.  The descriptors are the caller's to close with
 * trn_message_close_fds(), whatever the result.
 */
enum trn_receive_result trn_message_receive(int socket, struct trn_message *message,
					    const char **reason);

/* Takes descriptor index, which must be there, out of the message. */
int trn_message_take_fd(struct trn_message *message, unsigned int index);

void trn_message_close_fds(struct trn_message *message);

/*
 * Sends header, body and data as one message, whose size it fills in, with a
 * descriptor if fd is not -1.  Blocks until the peer has room.  0 or negative errno.
 * Not for two threads at the same time.
 */
int trn_message_send(int socket, struct vfio_user_header *header, const void *body,
		     size_t body_size, const void *data, size_t data_size, int fd);

#endif /* TRN_VDEV_VFIO_USER_TRANSPORT_H */
