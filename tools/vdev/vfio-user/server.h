/* SPDX-License-Identifier: MIT */
/*
 * One chip behind the vfio-user protocol: a chip, its configuration space, and at
 * most one client at a time.  A thread of its own serves the client; the chip's
 * executor does the work and reaches the client's memory through it.
 */
#ifndef TRN_VDEV_VFIO_USER_SERVER_H
#define TRN_VDEV_VFIO_USER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/vdev/model/chip.h"
#include "tools/vdev/model/inject.h"

struct trn_server;

/* Since the server was made. */
struct trn_server_stats {
	uint64_t clients;	  /* that attached */
	uint64_t messages;	  /* received */
	uint64_t register_reads;  /* BAR 0 */
	uint64_t register_writes; /* BAR 0 */
	uint64_t doorbells;	  /* BAR 4 writes */
	uint64_t interrupts;	  /* raised by the chip */
	uint64_t resets;	  /* function resets of all kinds */
	uint64_t mappings;	  /* DMA ranges, now */
};

/*
 * Makes the chip and starts its executor.  name is for log lines.  NULL with errno
 * set.
 */
struct trn_server *trn_server_create(const char *name, const struct trn_chip_config *config);

/* Ends the connection, if any, and destroys the chip. */
void trn_server_destroy(struct trn_server *server);

/*
 * Serves the client at the other end of socket, a connected stream socket, until it
 * goes away, breaks the protocol, or trn_server_destroy().  Takes the socket
 * over in any case.  0, -EBUSY (there is a client), or another negative errno.
 * A client that has hung up is no longer there: this waits until nothing of it is.
 * Not for two threads at the same time, nor together with trn_server_destroy().
 */
int trn_server_attach(struct trn_server *server, int socket);

bool trn_server_attached(struct trn_server *server);

/* Open descriptors that this server may come to hold, client's ones among them. */
unsigned int trn_server_descriptors(const struct trn_server *server);

void trn_server_read_stats(struct trn_server *server, struct trn_server_stats *stats);

/* As trn_chip_inject(), or -ENXIO: the chip is unplugged.  Any thread. */
int trn_server_inject(struct trn_server *server, const struct trn_injection *injection);

/*
 * Takes the chip off the bus: registers and configuration space read as ones, and the client
 * is not reached any more.  Plugged in again it is as after power-on.  In between clients may
 * come and go.  0, or -EALREADY: it is off, or on, the bus already.  Any thread.
 */
int trn_server_unplug(struct trn_server *server);
int trn_server_plug(struct trn_server *server);

#endif /* TRN_VDEV_VFIO_USER_SERVER_H */
