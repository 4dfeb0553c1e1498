/* SPDX-License-Identifier: MIT */
#include "transport.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Takes over the descriptors that came with a piece of a message. */
static const char *collect_fds(struct trn_message *message, struct msghdr *msg)
{
	const char *reason =
		msg->msg_flags & MSG_CTRUNC ? "too many descriptors in one message" : NULL;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		int *fds = (int *)CMSG_DATA(c);
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			if (message->fd_count < VFIO_USER_FDS_MAX) {
				message->fds[message->fd_count++] = fds[i];
			} else {
				close(fds[i]);
				reason = "too many descriptors in one message";
			}
		}
	}
	return reason;
}

/* Returns the bytes received, fewer than length if the peer closed. */
static size_t receive_all(int socket, struct trn_message *message, void *buffer, size_t length,
			  const char **reason)
{
	union {
		struct cmsghdr header;
		uint8_t space[CMSG_SPACE(sizeof(int) * VFIO_USER_FDS_MAX)];
	} control;
	size_t done = 0;

	while (done < length) {
		struct iovec iov = { (uint8_t *)buffer + done, length - done };
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		ssize_t n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += n;
		*reason = collect_fds(message, &msg);
		if (*reason)
			break;
	}
	return done;
}

enum trn_receive_result trn_message_receive(int socket, struct trn_message *message,
					    const char **reason)
{
	struct vfio_user_header *header = &message->header;
	size_t received;

	message->fd_count = 0;
	message->size = 0;
	*reason = NULL;
	received = receive_all(socket, message, header, sizeof(*header), reason);
	if (*reason)
		return TRN_RECEIVE_BROKEN;
	if (!received)
		return TRN_RECEIVE_CLOSED;
	if (received < sizeof(*header)) {
		*reason = "closed within a header";
		return TRN_RECEIVE_BROKEN;
	}
	if (header->size < sizeof(*header)) {
		*reason = "message smaller than its header";
		return TRN_RECEIVE_BROKEN;
	}
	if (header->size > VFIO_USER_MESSAGE_MAX) {
		*reason = "message too large";
		return TRN_RECEIVE_BROKEN;
	}
	message->size = header->size - sizeof(*header);
	received = receive_all(socket, message, message->body, message->size, reason);
	if (*reason)
		return TRN_RECEIVE_BROKEN;
	if (received < message->size) {
		*reason = "closed within a message";
		return TRN_RECEIVE_BROKEN;
	}
	return TRN_RECEIVED;
}

int trn_message_take_fd(struct trn_message *message, unsigned int index)
{
	int fd = message->fds[index];

	message->fds[index] = -1;
	return fd;
}

void trn_message_close_fds(struct trn_message *message)
{
	for (unsigned int i = 0; i < message->fd_count; i++) {
		if (message->fds[i] >= 0)
			close(message->fds[i]);
	}
	message->fd_count = 0;
}

/* Drops what has been sent from the front of the list. */
static void advance(struct msghdr *msg, size_t sent)
{
	while (msg->msg_iovlen && sent >= msg->msg_iov->iov_len) {
		sent -= msg->msg_iov->iov_len;
		msg->msg_iov++;
		msg->msg_iovlen--;
	}
	if (msg->msg_iovlen) {
		msg->msg_iov->iov_base = (uint8_t *)msg->msg_iov->iov_base + sent;
		msg->msg_iov->iov_len -= sent;
	}
}

int trn_message_send(int socket, struct vfio_user_header *header, const void *body,
		     size_t body_size, const void *data, size_t data_size, int fd)
{
	union {
		struct cmsghdr header;
		uint8_t space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov[] = {
		{ header, sizeof(*header) },
		{ (void *)body, body_size },
		{ (void *)data, data_size },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };

	header->size = sizeof(*header) + body_size + data_size;
	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	while (msg.msg_iovlen) {
		ssize_t n = sendmsg(socket, &msg, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		advance(&msg, n);
		msg.msg_control = NULL;
		msg.msg_controllen = 0;
	}
	return 0;
}
