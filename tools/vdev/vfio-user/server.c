/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hw/trn_queue.h"
#include "hw/trn_regs.h"
#include "internal.h"
#include "tools/vdev/log.h"

/* struct trn_host_ops: the chip's way to the client's memory and interrupts. */

static int host_map(void *host, uint64_t dma, size_t length, bool write, struct trn_host_map *map)
{
	struct trn_server *server = host;

	if (!atomic_load(&server->bus_master))
		return -EFAULT;
	return trn_dma_hold(&server->dma, dma, length, write, map);
}

static void host_unmap(void *host, struct trn_host_map *map)
{
	struct trn_server *server = host;

	trn_dma_release(&server->dma, map);
}

static int send_dma_request(void *context, uint16_t id, uint16_t command, uint64_t address,
			    uint64_t count, const void *data)
{
	struct vfio_user_header header = { .id = id, .command = command };
	struct vfio_user_dma_access access = { .address = address, .count = count };
	struct trn_server *server = context;
	int err;

	pthread_mutex_lock(&server->send_lock);
	err = trn_message_send(server->socket, &header, &access, sizeof(access), data,
			       data ? count : 0, -1);
	pthread_mutex_unlock(&server->send_lock);
	return err;
}

/* The part of a transfer that one mapping or one message can do. */
static int transfer_some(struct trn_server *server, uint64_t dma, uint8_t *buffer, size_t length,
			 bool write, size_t *done)
{
	struct trn_host_map map;
	int err = host_map(server, dma, length, write, &map);

	if (err == -EOPNOTSUPP) {
		*done = length < server->client_data_max ? length : server->client_data_max;
		return trn_remote_transfer(&server->remote, send_dma_request, server,
					   write ? VFIO_USER_DMA_WRITE : VFIO_USER_DMA_READ, dma,
					   buffer, *done);
	}
	if (err)
		return err;
	*done = map.length;
	if (write)
		memcpy(map.address, buffer, map.length);
	else
		memcpy(buffer, map.address, map.length);
	host_unmap(server, &map);
	return 0;
}

static int transfer(struct trn_server *server, uint64_t dma, uint8_t *buffer, size_t length,
		    bool write)
{
	while (length) {
		size_t done;
		int err = transfer_some(server, dma, buffer, length, write, &done);

		if (err)
			return err;
		dma += done;
		buffer += done;
		length -= done;
	}
	return 0;
}

static int host_read(void *host, uint64_t dma, void *buffer, size_t length)
{
	return transfer(host, dma, buffer, length, false);
}

static int host_write(void *host, uint64_t dma, const void *buffer, size_t length)
{
	return transfer(host, dma, (void *)buffer, length, true);
}

static void host_interrupt(void *host, unsigned int vector)
{
	struct trn_server *server = host;

	if (!atomic_load(&server->bus_master))
		return;
	trn_count(&server->interrupts_raised);
	trn_interrupts_raise(&server->interrupts, vector);
}

static const struct trn_host_ops host_ops = {
	.map = host_map,
	.unmap = host_unmap,
	.read = host_read,
	.write = host_write,
	.interrupt = host_interrupt,
};

/* What the connection's thread does to the device. */

void trn_server_update_bus_master(struct trn_server *server)
{
	atomic_store(&server->bus_master, trn_pci_bus_master(&server->config));
}

void trn_server_silence(struct trn_server *server)
{
	atomic_store(&server->bus_master, false);
	/* A step that waits for the client ends, so that the reset need not wait for it. */
	trn_remote_close(&server->remote);
	trn_chip_reset(server->chip);
	trn_remote_open(&server->remote);
	trn_interrupts_reset(&server->interrupts);
}

void trn_server_reset_function(struct trn_server *server)
{
	if (server->unplugged)
		return;
	trn_count(&server->resets);
	trn_server_silence(server);
	trn_pci_config_reset(&server->config);
}

int trn_server_unmap(struct trn_server *server, uint64_t first, uint64_t last)
{
	struct trn_dma_removal removal;
	bool held;
	int err = trn_dma_begin_removal(&server->dma, first, last, &removal);

	if (err)
		return err;
	/*
	 * Only a step that is under way can hold memory.  If that waits for an
	 * answer of the client, which may not come before ours, it must fail.
	 */
	held = trn_dma_removal_held(&server->dma, &removal);
	if (held)
		trn_remote_close(&server->remote);
	trn_dma_finish_removal(&server->dma, &removal);
	if (held)
		trn_remote_open(&server->remote);
	return 0;
}

/* The client is gone: nothing of it remains. */
static void detach(struct trn_server *server)
{
	/* Ends a send that the client does not take. */
	shutdown(server->socket, SHUT_RDWR);
	trn_count(&server->resets);
	pthread_mutex_lock(&server->function_lock);
	trn_server_silence(server);
	trn_pci_config_init(&server->config, &server->identity);
	pthread_mutex_unlock(&server->function_lock);
	trn_server_unmap(server, 0, UINT64_MAX);
	trn_interrupts_clear(&server->interrupts);
	trn_interrupts_clear(&server->errors);
	server->negotiated = false;
}

/* NULL when the client closed the connection, or why it has to end. */
static const char *serve(struct trn_server *server)
{
	struct trn_message *message = &server->message;
	enum trn_receive_result result;
	const char *reason;

	do {
		result = trn_message_receive(server->socket, message, &reason);
		if (result == TRN_RECEIVED) {
			trn_count(&server->messages);
			reason = trn_server_execute(server);
		}
		trn_message_close_fds(message);
	} while (result == TRN_RECEIVED && !reason);
	return reason;
}

static void set_socket(struct trn_server *server, int socket)
{
	pthread_mutex_lock(&server->lock);
	server->socket = socket;
	pthread_mutex_unlock(&server->lock);
}

static void *connection_thread(void *argument)
{
	struct trn_server *server = argument;
	const char *reason;
	int socket;

	trn_log(server->name, "client attached");
	trn_remote_start(&server->remote);
	reason = serve(server);
	if (reason)
		trn_log(server->name, "connection ended: %s (command %u, %" PRIu32 " bytes)",
			reason, server->message.header.command, server->message.header.size);
	else
		trn_log(server->name, "client detached");
	detach(server);
	socket = server->socket;
	set_socket(server, -1);
	close(socket);
	return NULL;
}

/* There is no client, or it has hung up, or we have: the thread is about to end. */
static bool client_gone(struct trn_server *server)
{
	struct pollfd fd = { .events = POLLRDHUP };
	bool gone;

	pthread_mutex_lock(&server->lock);
	fd.fd = server->socket;
	gone = fd.fd < 0 || (poll(&fd, 1, 0) > 0 && fd.revents & (POLLRDHUP | POLLHUP | POLLERR));
	pthread_mutex_unlock(&server->lock);
	return gone;
}

/* Ends the connection, if any: its thread may wait for a client that does not read. */
static void end_connection(struct trn_server *server)
{
	pthread_mutex_lock(&server->lock);
	if (server->socket >= 0)
		shutdown(server->socket, SHUT_RDWR);
	pthread_mutex_unlock(&server->lock);
	if (server->thread_valid)
		pthread_join(server->thread, NULL);
}

int trn_server_attach(struct trn_server *server, int socket)
{
	int err;

	if (server->thread_valid && !client_gone(server)) {
		close(socket);
		return -EBUSY;
	}
	end_connection(server);
	set_socket(server, socket);
	err = -pthread_create(&server->thread, NULL, connection_thread, server);
	server->thread_valid = !err;
	if (err) {
		set_socket(server, -1);
		close(socket);
		return err;
	}
	trn_count(&server->clients);
	return 0;
}

bool trn_server_attached(struct trn_server *server)
{
	bool attached;

	pthread_mutex_lock(&server->lock);
	attached = server->socket >= 0;
	pthread_mutex_unlock(&server->lock);
	return attached;
}

unsigned int trn_server_descriptors(const struct trn_server *server)
{
	/* One per interrupt, those of a message, the socket, its listener and HBM. */
	return server->identity.vectors + 1 + VFIO_USER_FDS_MAX + 3;
}

int trn_server_inject(struct trn_server *server, const struct trn_injection *injection)
{
	bool unplugged;

	pthread_mutex_lock(&server->function_lock);
	unplugged = server->unplugged;
	pthread_mutex_unlock(&server->function_lock);
	return unplugged ? -ENXIO : trn_chip_inject(server->chip, injection);
}

void trn_server_read_stats(struct trn_server *server, struct trn_server_stats *stats)
{
	*stats = (struct trn_server_stats){
		.clients = atomic_load(&server->clients),
		.messages = atomic_load(&server->messages),
		.register_reads = atomic_load(&server->register_reads),
		.register_writes = atomic_load(&server->register_writes),
		.doorbells = atomic_load(&server->doorbells),
		.interrupts = atomic_load(&server->interrupts_raised),
		.resets = atomic_load(&server->resets),
		.mappings = trn_dma_count(&server->dma),
	};
}

static uint32_t capability(struct trn_server *server, uint64_t offset)
{
	return trn_chip_read_register(server->chip, offset, sizeof(uint32_t));
}

static uint64_t next_power_of_two(uint64_t value)
{
	uint64_t power = TRN_CONTROL_PAGE_SIZE;

	while (power < value)
		power <<= 1;
	return power;
}

static void identify(struct trn_server *server, const struct trn_chip_config *config)
{
	struct trn_pci_identity *identity = &server->identity;
	uint64_t doorbells = (uint64_t)capability(server, TRN_REG_CAP_QUEUES) *
			     capability(server, TRN_REG_CAP_DOORBELL_STRIDE);

	identity->device = config->generation->pci_device;
	identity->vectors = capability(server, TRN_REG_CAP_VECTORS);
	identity->bar_size[TRN_BAR_REGS] = TRN_BAR_REGS_SIZE;
	identity->bar_size[TRN_BAR_HBM] = config->aperture;
	identity->bar_size[TRN_BAR_DOORBELL] = next_power_of_two(doorbells);
	if (config->defects & TRN_DEFECT_NO_APERTURE)
		identity->bar_size[TRN_BAR_HBM] = 0;
	if (config->defects & TRN_DEFECT_SMALL_BAR)
		identity->bar_size[TRN_BAR_DOORBELL] /= 2;
}

static void free_server(struct trn_server *server)
{
	pthread_mutex_destroy(&server->send_lock);
	pthread_mutex_destroy(&server->function_lock);
	pthread_mutex_destroy(&server->lock);
	trn_remote_destroy(&server->remote);
	trn_dma_destroy(&server->dma);
	free(server->reply);
	free(server->message.body);
	free(server);
}

struct trn_server *trn_server_create(const char *name, const struct trn_chip_config *config)
{
	struct trn_server *server = calloc(1, sizeof(*server));
	int err;

	if (!server)
		return NULL;
	snprintf(server->name, sizeof(server->name), "%s", name);
	server->socket = -1;
	trn_dma_init(&server->dma);
	trn_remote_init(&server->remote);
	pthread_mutex_init(&server->lock, NULL);
	pthread_mutex_init(&server->function_lock, NULL);
	pthread_mutex_init(&server->send_lock, NULL);

	err = -ENOMEM;
	server->message.body = malloc(VFIO_USER_MESSAGE_MAX);
	server->reply = malloc(VFIO_USER_MESSAGE_MAX);
	if (!server->message.body || !server->reply)
		goto free_server;
	server->chip = trn_chip_create(config, &host_ops, server);
	if (!server->chip) {
		err = -errno;
		goto free_server;
	}
	identify(server, config);
	trn_pci_config_init(&server->config, &server->identity);
	err = trn_interrupts_init(&server->interrupts, server->identity.vectors);
	if (err)
		goto destroy_chip;
	err = trn_interrupts_init(&server->errors, 1);
	if (err)
		goto destroy_interrupts;
	err = trn_chip_start(server->chip);
	if (err)
		goto destroy_errors;
	return server;

destroy_errors:
	trn_interrupts_destroy(&server->errors);
destroy_interrupts:
	trn_interrupts_destroy(&server->interrupts);
destroy_chip:
	trn_chip_destroy(server->chip);
free_server:
	free_server(server);
	errno = -err;
	return NULL;
}

void trn_server_destroy(struct trn_server *server)
{
	end_connection(server);
	trn_chip_stop(server->chip);
	trn_chip_destroy(server->chip);
	trn_interrupts_destroy(&server->errors);
	trn_interrupts_destroy(&server->interrupts);
	free_server(server);
}
