/* SPDX-License-Identifier: MIT */
#include "nvme.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "error.h"

#define DEFAULT_PEER "/dev/nvme0n1"
#define READ_BYTES   4096
#define OPCODE_FLUSH 0x00

struct nvme {
	int fd;
	uint32_t namespace;
	bool can_poll;
	const char *node;
	void *buffer;
};

/* /sys/class/block/nvme0n1/queue/io_poll */
static bool read_can_poll(const char *node)
{
	const char *slash = strrchr(node, '/');
	char path[256];
	FILE *file;
	int polls = 0;

	snprintf(path, sizeof(path), "/sys/class/block/%s/queue/io_poll", slash ? slash + 1 : node);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%d", &polls) != 1)
		polls = 0;
	fclose(file);
	return polls;
}

static int nvme_open(const char *node, struct nvme **result)
{
	struct nvme *nvme = calloc(1, sizeof(*nvme));
	int namespace, error;

	if (!nvme)
		return bench_fail(-ENOMEM, "no host memory");
	nvme->fd = open(node, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (nvme->fd < 0) {
		error = bench_fail(-errno, "%s: %s", node, strerror(errno));
		goto free_nvme;
	}
	namespace = ioctl(nvme->fd, NVME_IOCTL_ID);
	if (namespace < 0) {
		error = bench_fail(-EINVAL,
				   "%s: is no NVMe disk (%s): name one such as /dev/nvme0n1", node,
				   strerror(errno));
		goto close_file;
	}
	nvme->buffer = aligned_alloc(READ_BYTES, READ_BYTES);
	if (!nvme->buffer) {
		error = bench_fail(-ENOMEM, "no host memory");
		goto close_file;
	}
	nvme->node = node;
	nvme->namespace = (uint32_t)namespace;
	nvme->can_poll = read_can_poll(node);
	*result = nvme;
	return 0;

close_file:
	close(nvme->fd);
free_nvme:
	free(nvme);
	return error;
}

int nvme_open_peer(const char *peer, struct nvme **nvme)
{
	*nvme = NULL;
	if (peer)
		return strcmp(peer, "none") ? nvme_open(peer, nvme) : 0;
	return access(DEFAULT_PEER, R_OK) ? 0 : nvme_open(DEFAULT_PEER, nvme);
}

void nvme_close(struct nvme *nvme)
{
	if (!nvme)
		return;
	close(nvme->fd);
	free(nvme->buffer);
	free(nvme);
}

bool nvme_can_poll(const struct nvme *nvme)
{
	return nvme->can_poll;
}

int nvme_flush(struct nvme *nvme)
{
	struct nvme_passthru_cmd command = {
		.opcode = OPCODE_FLUSH,
		.nsid = nvme->namespace,
	};
	int status = ioctl(nvme->fd, NVME_IOCTL_IO_CMD, &command);

	if (status < 0)
		return bench_fail(-errno, "%s: flush: %s", nvme->node, strerror(errno));
	if (status)
		return bench_fail(-EIO, "%s: flush: NVMe status 0x%x", nvme->node,
				  (unsigned int)status);
	return 0;
}

static int read_block(struct nvme *nvme, int flags)
{
	const struct iovec vector = { .iov_base = nvme->buffer, .iov_len = READ_BYTES };
	ssize_t length = preadv2(nvme->fd, &vector, 1, 0, flags);

	if (length < 0)
		return bench_fail(-errno, "%s: read: %s", nvme->node, strerror(errno));
	if (length != READ_BYTES)
		return bench_fail(-EIO, "%s: read: %zd bytes of %d", nvme->node, length,
				  READ_BYTES);
	return 0;
}

int nvme_read(struct nvme *nvme)
{
	return read_block(nvme, 0);
}

int nvme_read_polled(struct nvme *nvme)
{
	return read_block(nvme, RWF_HIPRI);
}
