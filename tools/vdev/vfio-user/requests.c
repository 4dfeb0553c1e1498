/* SPDX-License-Identifier: MIT */
/*
 * What the client asks for.  A request that is no valid message ends the
 * connection; one that is valid but cannot be fulfilled gets an error reply.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hw/trn_regs.h"
#include "internal.h"
#include "version.h"

/* What becomes of a request. */
struct outcome {
	const char *broken; /* not NULL: the connection ends, for this reason */
	int error;	    /* positive errno for the reply */
	size_t size;	    /* of the body in server->reply */
	int fd;		    /* goes with the reply, -1: none; stays ours */
	bool replied;	    /* the handler has done it itself */
};

/*
 * The body's size is within the command's limits, and the number of
 * descriptors; everything else is the handler's to check.
 */
typedef void (*handler)(struct trn_server *server, struct outcome *outcome);

static void send_reply(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_user_header *request = &server->message.header;
	struct vfio_user_header reply = {
		.id = request->id,
		.command = request->command,
		.flags = VFIO_USER_REPLY | (outcome->error ? VFIO_USER_ERROR : 0),
		.error = outcome->error,
	};
	int err;

	outcome->replied = true;
	if (request->flags & VFIO_USER_NO_REPLY)
		return;
	pthread_mutex_lock(&server->send_lock);
	err = trn_message_send(server->socket, &reply, server->reply,
			       outcome->error ? 0 : outcome->size, NULL, 0,
			       outcome->error ? -1 : outcome->fd);
	pthread_mutex_unlock(&server->send_lock);
	if (err)
		outcome->broken = "reply could not be sent";
}

static void put_reply(struct trn_server *server, struct outcome *outcome, const void *data,
		      size_t size)
{
	memcpy(server->reply + outcome->size, data, size);
	outcome->size += size;
}

static void do_version(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_user_version *theirs = (void *)server->message.body;
	const struct vfio_user_version ours = { VFIO_USER_MAJOR, VFIO_USER_MINOR };
	char *capabilities;

	if (theirs->major != VFIO_USER_MAJOR) {
		outcome->broken = "major version of the protocol is not 0";
		return;
	}
	outcome->broken = trn_version_negotiate((const char *)(theirs + 1),
						server->message.size - sizeof(*theirs),
						&server->client_data_max, &capabilities);
	if (outcome->broken)
		return;
	put_reply(server, outcome, &ours, sizeof(ours));
	if (capabilities)
		put_reply(server, outcome, capabilities, strlen(capabilities) + 1);
	free(capabilities);
	server->negotiated = true;
}

static void do_dma_map(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_user_dma_map *map = (void *)server->message.body;
	int fd = server->message.fd_count ? server->message.fds[0] : -1;

	if (map->flags & ~(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE))
		outcome->error = EINVAL;
	else
		outcome->error = -trn_dma_add(
			&server->dma, map->address, map->size, map->flags & VFIO_DMA_MAP_FLAG_READ,
			map->flags & VFIO_DMA_MAP_FLAG_WRITE, fd, map->offset);
}

static void do_dma_unmap(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_user_dma_unmap *unmap = (void *)server->message.body;
	uint64_t first = unmap->address, last = first + (unmap->size - 1);

	if (unmap->flags == VFIO_DMA_UNMAP_FLAG_ALL && !unmap->address && !unmap->size) {
		last = UINT64_MAX;
	} else if (unmap->flags || !unmap->size || last < first) {
		outcome->error = EINVAL;
		return;
	}
	outcome->error = -trn_server_unmap(server, first, last);
	put_reply(server, outcome, unmap, sizeof(*unmap));
}

static void do_get_info(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_user_device_info *request = (void *)server->message.body;
	const struct vfio_user_device_info info = {
		.argsz = sizeof(info),
		.flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
		.num_regions = VFIO_PCI_NUM_REGIONS,
		.num_irqs = VFIO_PCI_NUM_IRQS,
	};

	if (request->argsz < sizeof(info))
		outcome->error = EINVAL;
	put_reply(server, outcome, &info, sizeof(info));
}

static uint64_t region_size(const struct trn_server *server, uint32_t region)
{
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		return TRN_PCI_CONFIG_SIZE;
	return region < TRN_PCI_BARS ? server->identity.bar_size[region] : 0;
}

static void do_get_region_info(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_region_info *request = (void *)server->message.body;
	struct vfio_region_info info = { .argsz = sizeof(info), .index = request->index };

	if (request->argsz < sizeof(info) || request->index >= VFIO_PCI_NUM_REGIONS) {
		outcome->error = EINVAL;
		return;
	}
	info.size = region_size(server, request->index);
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	if (request->index == TRN_BAR_HBM && info.size) {
		info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
		outcome->fd = trn_chip_hbm_fd(server->chip);
	}
	put_reply(server, outcome, &info, sizeof(info));
}

/* Region descriptors for I/O, dirty pages, migration, and what we have never heard of. */
static void do_not_offered(struct trn_server *server, struct outcome *outcome)
{
	(void)server;
	outcome->error = ENOTSUP;
}

/* Interrupts of a VFIO index; NULL: it has none. */
static struct trn_interrupts *find_interrupts(struct trn_server *server, uint32_t index)
{
	if (index == VFIO_PCI_MSIX_IRQ_INDEX)
		return &server->interrupts;
	/* Never raised, but QEMU warns of a device without it. */
	if (index == VFIO_PCI_ERR_IRQ_INDEX)
		return &server->errors;
	return NULL;
}

static void do_get_irq_info(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_irq_info *request = (void *)server->message.body;
	struct trn_interrupts *interrupts = find_interrupts(server, request->index);
	struct vfio_irq_info info = { .argsz = sizeof(info), .index = request->index };

	if (request->argsz < sizeof(info) || request->index >= VFIO_PCI_NUM_IRQS) {
		outcome->error = EINVAL;
		return;
	}
	if (interrupts) {
		info.flags = VFIO_IRQ_INFO_EVENTFD;
		info.count = interrupts->count;
	}
	put_reply(server, outcome, &info, sizeof(info));
}

/* What is to be done to one interrupt of the set. */
static void set_interrupt(struct trn_server *server, struct trn_interrupts *interrupts,
			  const struct vfio_irq_set *set, uint32_t i)
{
	struct trn_message *message = &server->message;
	int fd = -1;

	switch (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_EVENTFD:
		if (message->fd_count)
			fd = trn_message_take_fd(message, i);
		trn_interrupts_set(interrupts, set->start + i, fd);
		break;
	case VFIO_IRQ_SET_DATA_BOOL:
		if (set->data[i])
			trn_interrupts_raise(interrupts, set->start + i);
		break;
	case VFIO_IRQ_SET_DATA_NONE:
		trn_interrupts_raise(interrupts, set->start + i);
		break;
	}
}

static void do_set_irqs(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_irq_set *set = (void *)server->message.body;
	struct trn_interrupts *interrupts = find_interrupts(server, set->index);
	uint32_t data = set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	uint32_t available = interrupts ? interrupts->count : 0;
	unsigned int fds = server->message.fd_count;

	if (server->message.size - sizeof(*set) !=
	    (data == VFIO_IRQ_SET_DATA_BOOL ? set->count : 0)) {
		outcome->broken = "size does not fit the interrupts named";
		return;
	}
	if (fds && (data != VFIO_IRQ_SET_DATA_EVENTFD || fds != set->count)) {
		outcome->broken = "descriptors do not fit the interrupts named";
		return;
	}
	if (set->index >= VFIO_PCI_NUM_IRQS || set->start > available ||
	    set->count > available - set->start ||
	    set->flags != (data | VFIO_IRQ_SET_ACTION_TRIGGER) ||
	    (data != VFIO_IRQ_SET_DATA_NONE && data != VFIO_IRQ_SET_DATA_BOOL &&
	     data != VFIO_IRQ_SET_DATA_EVENTFD)) {
		outcome->error = EINVAL;
		return;
	}
	for (uint32_t i = 0; i < set->count; i++)
		set_interrupt(server, interrupts, set, i);
	/* VFIO's way to say "disable all of them" */
	if (!set->count && data == VFIO_IRQ_SET_DATA_NONE) {
		for (uint32_t i = 0; i < available; i++)
			trn_interrupts_set(interrupts, i, -1);
	}
}

/* The device's bus takes accesses of 1, 2, 4 and 8 bytes; HBM and configuration any. */
static bool valid_access(const struct trn_server *server,
			 const struct vfio_user_region_access *access)
{
	uint64_t size = region_size(server, access->region);

	if (access->offset >= size || !access->count || access->count > size - access->offset ||
	    access->count > VFIO_USER_DATA_MAX)
		return false;
	if (access->region == VFIO_PCI_CONFIG_REGION_INDEX || access->region == TRN_BAR_HBM)
		return true;
	return access->count == 1 || access->count == 2 || access->count == 4 || access->count == 8;
}

/* Pending bits, whose place in BAR 0 is the server's, not the chip's. */
static bool read_pending(struct trn_server *server, uint64_t offset, uint32_t count,
			 uint64_t *value)
{
	uint64_t byte = offset - TRN_MSIX_PBA_OFFSET;
	uint64_t end = (server->identity.vectors + 63) / 64 * 8;

	if (offset < TRN_MSIX_PBA_OFFSET || byte >= end || byte % count)
		return false;
	*value = trn_interrupts_pending(&server->interrupts, byte / 8 * 64) >> byte % 8 * 8;
	return true;
}

static void read_region(struct trn_server *server, const struct vfio_user_region_access *access,
			uint8_t *data)
{
	uint64_t value = 0;
	ssize_t done;

	if (server->unplugged) {
		memset(data, 0xff, access->count);
		return;
	}
	memset(data, 0, access->count);
	switch (access->region) {
	case VFIO_PCI_CONFIG_REGION_INDEX:
		trn_pci_config_read(&server->config, access->offset, data, access->count);
		break;
	case TRN_BAR_HBM:
		done = pread(trn_chip_hbm_fd(server->chip), data, access->count, access->offset);
		(void)done;
		break;
	case TRN_BAR_REGS:
		trn_count(&server->register_reads);
		if (!read_pending(server, access->offset, access->count, &value))
			value = trn_chip_read_register(server->chip, access->offset, access->count);
		memcpy(data, &value, access->count);
		break;
	}
}

static void write_config(struct trn_server *server, const struct vfio_user_region_access *access,
			 const uint8_t *data)
{
	if (trn_pci_config_write(&server->config, access->offset, data, access->count))
		trn_server_reset_function(server);
	trn_server_update_bus_master(server);
}

static void write_bar(struct trn_server *server, const struct vfio_user_region_access *access,
		      const uint8_t *data)
{
	uint64_t value = 0;
	ssize_t done;

	switch (access->region) {
	case TRN_BAR_HBM:
		done = pwrite(trn_chip_hbm_fd(server->chip), data, access->count, access->offset);
		(void)done;
		break;
	case TRN_BAR_REGS:
		trn_count(&server->register_writes);
		memcpy(&value, data, access->count);
		trn_chip_write_register(server->chip, access->offset, access->count, value);
		break;
	case TRN_BAR_DOORBELL:
		trn_count(&server->doorbells);
		memcpy(&value, data, access->count);
		trn_chip_write_doorbell(server->chip, access->offset, access->count, value);
		break;
	}
}

static void write_region(struct trn_server *server, const struct vfio_user_region_access *access,
			 const uint8_t *data)
{
	pthread_mutex_lock(&server->function_lock);
	if (access->region == VFIO_PCI_CONFIG_REGION_INDEX && !server->unplugged)
		write_config(server, access, data);
	else if (!server->unplugged)
		write_bar(server, access, data);
	pthread_mutex_unlock(&server->function_lock);
}

static void do_region_read(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_user_region_access *access = (void *)server->message.body;

	if (!valid_access(server, access)) {
		outcome->error = EINVAL;
		return;
	}
	put_reply(server, outcome, access, sizeof(*access));
	pthread_mutex_lock(&server->function_lock);
	read_region(server, access, server->reply + outcome->size);
	pthread_mutex_unlock(&server->function_lock);
	outcome->size += access->count;
}

static void do_region_write(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_user_region_access *access = (void *)server->message.body;
	const uint8_t *data = (const uint8_t *)(access + 1);

	if (access->count != server->message.size - sizeof(*access)) {
		outcome->broken = "size does not fit the data announced";
		return;
	}
	if (!valid_access(server, access)) {
		outcome->error = EINVAL;
		return;
	}
	put_reply(server, outcome, access, sizeof(*access));
	/* BARs' writes are posted, and the client waits with its processors stopped: it goes on
	 * first. */
	if (access->region != VFIO_PCI_CONFIG_REGION_INDEX)
		send_reply(server, outcome);
	write_region(server, access, data);
}

static void do_region_write_multi(struct trn_server *server, struct outcome *outcome)
{
	const struct vfio_user_small_write *writes;
	uint64_t count;

	memcpy(&count, server->message.body, sizeof(count));
	writes = (void *)(server->message.body + sizeof(count));
	if (!count || count > VFIO_USER_WRITES_MAX ||
	    server->message.size != sizeof(count) + count * sizeof(*writes)) {
		outcome->broken = "size does not fit the writes announced";
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (writes[i].access.count > sizeof(writes[i].data) ||
		    !valid_access(server, &writes[i].access)) {
			outcome->error = EINVAL;
			return;
		}
	}
	put_reply(server, outcome, &count, sizeof(count));
	for (uint64_t i = 0; i < count; i++)
		write_region(server, &writes[i].access, writes[i].data);
}

static void do_device_reset(struct trn_server *server, struct outcome *outcome)
{
	(void)outcome;
	pthread_mutex_lock(&server->function_lock);
	trn_server_reset_function(server);
	pthread_mutex_unlock(&server->function_lock);
}

static const struct {
	handler handle;
	size_t size_min; /* of the body */
	size_t size_max;
	unsigned int fds_max;
} commands[] = {
	[VFIO_USER_VERSION] = { do_version, sizeof(struct vfio_user_version), 4096, 0 },
	[VFIO_USER_DMA_MAP] = { do_dma_map, sizeof(struct vfio_user_dma_map),
				sizeof(struct vfio_user_dma_map), 1 },
	[VFIO_USER_DMA_UNMAP] = { do_dma_unmap, sizeof(struct vfio_user_dma_unmap),
				  sizeof(struct vfio_user_dma_unmap), 0 },
	[VFIO_USER_DEVICE_GET_INFO] = { do_get_info, sizeof(struct vfio_user_device_info),
					sizeof(struct vfio_user_device_info), 0 },
	[VFIO_USER_DEVICE_GET_REGION_INFO] = { do_get_region_info, sizeof(struct vfio_region_info),
					       sizeof(struct vfio_region_info), 0 },
	[VFIO_USER_DEVICE_GET_IRQ_INFO] = { do_get_irq_info, sizeof(struct vfio_irq_info),
					    sizeof(struct vfio_irq_info), 0 },
	[VFIO_USER_DEVICE_SET_IRQS] = { do_set_irqs, sizeof(struct vfio_irq_set), 4096,
					VFIO_USER_FDS_MAX },
	[VFIO_USER_REGION_READ] = { do_region_read, sizeof(struct vfio_user_region_access),
				    sizeof(struct vfio_user_region_access), 0 },
	[VFIO_USER_REGION_WRITE] = { do_region_write, sizeof(struct vfio_user_region_access),
				     sizeof(struct vfio_user_region_access) + VFIO_USER_DATA_MAX,
				     0 },
	[VFIO_USER_DEVICE_RESET] = { do_device_reset, 0, 0, 0 },
	[VFIO_USER_REGION_WRITE_MULTI] = { do_region_write_multi, sizeof(uint64_t), 8192, 0 },
};

static handler find_handler(struct trn_server *server, const char **broken)
{
	const struct trn_message *message = &server->message;
	unsigned int command = message->header.command;

	if (command >= sizeof(commands) / sizeof(commands[0]) || !commands[command].handle)
		return do_not_offered;
	if (message->size < commands[command].size_min ||
	    message->size > commands[command].size_max)
		*broken = "wrong size for its command";
	else if (message->fd_count > commands[command].fds_max)
		*broken = "too many descriptors for its command";
	return commands[command].handle;
}

const char *trn_server_execute(struct trn_server *server)
{
	const struct vfio_user_header *header = &server->message.header;
	struct outcome outcome = { .fd = -1 };
	handler handle;

	if ((header->flags & VFIO_USER_TYPE_MASK) == VFIO_USER_REPLY)
		return trn_remote_reply(&server->remote, &server->message)
			       ? NULL
			       : "reply to no request of ours";
	if ((header->flags & VFIO_USER_TYPE_MASK) != VFIO_USER_REQUEST)
		return "neither request nor reply";
	if (!server->negotiated && header->command != VFIO_USER_VERSION)
		return "request before the version is negotiated";
	if (server->negotiated && header->command == VFIO_USER_VERSION)
		return "version is negotiated already";

	handle = find_handler(server, &outcome.broken);
	if (!outcome.broken)
		handle(server, &outcome);
	if (!outcome.broken && !outcome.replied)
		send_reply(server, &outcome);
	return outcome.broken;
}
