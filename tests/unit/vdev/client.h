/* SPDX-License-Identifier: MIT */
/* A scripted vfio-user client: messages as bytes, with nothing checked for it. */
#ifndef TESTS_UNIT_VDEV_CLIENT_H
#define TESTS_UNIT_VDEV_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/vdev/vfio-user/protocol.h"

struct reply {
	struct vfio_user_header header;
	size_t size;   /* of body */
	uint8_t *body; /* VFIO_USER_MESSAGE_MAX bytes, valid until the next one */
	int fd;	       /* -1: none; the receiver's to close */
};

/* Sends bytes with descriptors.  False when the server has gone. */
bool client_send_raw(int socket, const void *bytes, size_t size, const int *fds,
		     unsigned int fd_count);

/* Sends a request: a header with a new id, and body.  Returns the id. */
uint16_t client_send(int socket, uint16_t command, uint32_t flags, const void *body, size_t size,
		     const int *fds, unsigned int fd_count);

/* Receives one message.  False at the end of the connection. */
bool client_receive(int socket, struct reply *reply);

/* Sends a request and receives its reply, which must be one. */
struct reply client_request(int socket, uint16_t command, const void *body, size_t size,
			    const int *fds, unsigned int fd_count);

/* client_request() without descriptors that must have this errno. */
void client_expect_error(int socket, uint16_t command, const void *body, size_t size, int error);

/* VERSION with QEMU's capabilities. */
void client_negotiate(int socket);

/* Accesses of 1 to 8 bytes that must succeed. */
uint64_t client_read(int socket, uint32_t region, uint64_t offset, uint32_t count);
void client_write(int socket, uint32_t region, uint64_t offset, uint32_t count, uint64_t value);

/* DMA_MAP, DMA_UNMAP; return the reply's errno. */
int client_map(int socket, uint64_t address, uint64_t size, uint32_t flags, int fd,
	       uint64_t offset);
int client_unmap(int socket, uint64_t address, uint64_t size);

#endif /* TESTS_UNIT_VDEV_CLIENT_H */
