/* SPDX-License-Identifier: MIT */
#include "client.h"

#include <check.h>
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/socket.h>

static uint16_t next_id;

bool client_send_raw(int socket, const void *bytes, size_t size, const int *fds,
		     unsigned int fd_count)
{
	union {
		struct cmsghdr header;
		uint8_t space[CMSG_SPACE(sizeof(int) * 64)];
	} control = { 0 };
	struct iovec iov = { (void *)bytes, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd_count) {
		ck_assert_uint_le(fd_count, 64);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
	}
	return sendmsg(socket, &msg, MSG_NOSIGNAL) == (ssize_t)size;
}

uint16_t client_send(int socket, uint16_t command, uint32_t flags, const void *body, size_t size,
		     const int *fds, unsigned int fd_count)
{
	static uint8_t message[VFIO_USER_MESSAGE_MAX];
	const struct vfio_user_header header = {
		.id = ++next_id,
		.command = command,
		.size = sizeof(header) + size,
		.flags = flags,
	};

	memcpy(message, &header, sizeof(header));
	if (size)
		memcpy(message + sizeof(header), body, size);
	ck_assert(client_send_raw(socket, message, header.size, fds, fd_count));
	return header.id;
}

static bool receive_all(int socket, void *buffer, size_t size, int *fd)
{
	union {
		struct cmsghdr header;
		uint8_t space[CMSG_SPACE(sizeof(int))];
	} control;
	size_t done = 0;

	while (done < size) {
		struct iovec iov = { (uint8_t *)buffer + done, size - done };
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		ssize_t n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);

		if (n <= 0)
			return false;
		done += n;
		if (CMSG_FIRSTHDR(&msg))
			memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(*fd));
	}
	return true;
}

bool client_receive(int socket, struct reply *reply)
{
	static uint8_t body[VFIO_USER_MESSAGE_MAX];

	reply->fd = -1;
	reply->body = body;
	if (!receive_all(socket, &reply->header, sizeof(reply->header), &reply->fd))
		return false;
	ck_assert_uint_ge(reply->header.size, sizeof(reply->header));
	ck_assert_uint_le(reply->header.size, VFIO_USER_MESSAGE_MAX);
	reply->size = reply->header.size - sizeof(reply->header);
	return receive_all(socket, body, reply->size, &reply->fd);
}

struct reply client_request(int socket, uint16_t command, const void *body, size_t size,
			    const int *fds, unsigned int fd_count)
{
	uint16_t id = client_send(socket, command, 0, body, size, fds, fd_count);
	struct reply reply;

	ck_assert(client_receive(socket, &reply));
	ck_assert_uint_eq(reply.header.id, id);
	ck_assert_uint_eq(reply.header.command, command);
	ck_assert_uint_eq(reply.header.flags & VFIO_USER_TYPE_MASK, VFIO_USER_REPLY);
	if (!(reply.header.flags & VFIO_USER_ERROR)) {
		ck_assert_uint_eq(reply.header.error, 0);
	} else {
		ck_assert_uint_ne(reply.header.error, 0);
		ck_assert_uint_eq(reply.size, 0);
		ck_assert_int_eq(reply.fd, -1);
	}
	return reply;
}

void client_expect_error(int socket, uint16_t command, const void *body, size_t size, int error)
{
	struct reply reply = client_request(socket, command, body, size, NULL, 0);

	ck_assert_int_eq(reply.header.error, error);
}

void client_negotiate(int socket)
{
	static const char capabilities[] =
		"{\"capabilities\": {\"max_msg_fds\": 16, \"max_data_xfer_size\": 1048576, "
		"\"migration\": {\"pgsize\": 4096, \"max_bitmap_size\": 268435456}, "
		"\"pgsizes\": 4096, \"max_dma_maps\": 65535, \"write_multiple\": true}}";
	uint8_t body[sizeof(struct vfio_user_version) + sizeof(capabilities)] = { 0 };
	struct reply reply;

	memcpy(body + sizeof(struct vfio_user_version), capabilities, sizeof(capabilities));
	reply = client_request(socket, VFIO_USER_VERSION, body, sizeof(body), NULL, 0);
	ck_assert_uint_eq(reply.header.error, 0);
}

uint64_t client_read(int socket, uint32_t region, uint64_t offset, uint32_t count)
{
	const struct vfio_user_region_access access = { offset, region, count };
	struct reply reply =
		client_request(socket, VFIO_USER_REGION_READ, &access, sizeof(access), NULL, 0);
	uint64_t value = 0;

	ck_assert_uint_eq(reply.header.error, 0);
	ck_assert_uint_eq(reply.size, sizeof(access) + count);
	ck_assert_int_eq(memcmp(reply.body, &access, sizeof(access)), 0);
	memcpy(&value, reply.body + sizeof(access), count);
	return value;
}

void client_write(int socket, uint32_t region, uint64_t offset, uint32_t count, uint64_t value)
{
	struct {
		struct vfio_user_region_access access;
		uint64_t value;
	} body = { { offset, region, count }, value };
	struct reply reply = client_request(socket, VFIO_USER_REGION_WRITE, &body,
					    sizeof(body.access) + count, NULL, 0);

	ck_assert_uint_eq(reply.header.error, 0);
}

int client_map(int socket, uint64_t address, uint64_t size, uint32_t flags, int fd, uint64_t offset)
{
	const struct vfio_user_dma_map map = {
		.argsz = sizeof(map),
		.flags = flags,
		.offset = offset,
		.address = address,
		.size = size,
	};

	return client_request(socket, VFIO_USER_DMA_MAP, &map, sizeof(map), &fd, fd >= 0)
		.header.error;
}

int client_unmap(int socket, uint64_t address, uint64_t size)
{
	const struct vfio_user_dma_unmap unmap = {
		.argsz = sizeof(unmap),
		.address = address,
		.size = size,
	};

	return client_request(socket, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0)
		.header.error;
}
