/* SPDX-License-Identifier: MIT */
/* What server.c and requests.c share. */
#ifndef TRN_VDEV_VFIO_USER_INTERNAL_H
#define TRN_VDEV_VFIO_USER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dma.h"
#include "interrupts.h"
#include "remote.h"
#include "server.h"
#include "tools/vdev/pci/config.h"
#include "transport.h"

struct trn_server {
	char name[32];
	struct trn_chip *chip;
	struct trn_pci_identity identity;
	struct trn_dma dma;
	struct trn_interrupts interrupts; /* MSI-X */
	struct trn_interrupts errors;	  /* VFIO_PCI_ERR_IRQ_INDEX, one */
	struct trn_remote remote;

	/* The executor may reach the client: bus master enabled, no reset going on. */
	atomic_bool bus_master;

	/* Those of trn_server_attach() and trn_server_destroy(). */
	bool thread_valid; /* thread is to be joined */
	pthread_t thread;

	pthread_mutex_t lock; /* changes of socket */
	int socket;	      /* -1: no client */

	/*
	 * Guards this group; held for each access of the client's to the function, each reset,
	 * unplug and plug.  Whoever waits for the chip with it closes remote first.
	 */
	pthread_mutex_t function_lock;
	struct trn_pci_config config;
	bool unplugged;

	/* The connection's thread only. */
	bool negotiated; /* VERSION is done */
	struct trn_message message;
	uint8_t *reply; /* VFIO_USER_MESSAGE_MAX bytes */

	/* Constant once negotiated. */
	uint64_t client_data_max; /* bytes of data in one message */

	pthread_mutex_t send_lock; /* one message at a time on the socket */

	atomic_ullong clients;
	atomic_ullong messages;
	atomic_ullong register_reads;
	atomic_ullong register_writes;
	atomic_ullong doorbells;
	atomic_ullong interrupts_raised;
	atomic_ullong resets;
};

static inline void trn_count(atomic_ullong *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/*
 * Executes the request in server->message and replies to it.  NULL, or why the
 * connection has to end.
 */
const char *trn_server_execute(struct trn_server *server);

/* Those that follow are called with function_lock. */

/* Resets the function: chip, configuration space, pending interrupts. */
void trn_server_reset_function(struct trn_server *server);

/* Resets the chip; from then on it does not reach the client. */
void trn_server_silence(struct trn_server *server);

/* Takes Bus Master Enable over from the configuration space. */
void trn_server_update_bus_master(struct trn_server *server);

/*
 * Removes all ranges within first … last.  0, or -EINVAL if one is there in part
 * only.  Returns when the device is done with them.  Without function_lock.
 */
int trn_server_unmap(struct trn_server *server, uint64_t first, uint64_t last);

#endif /* TRN_VDEV_VFIO_USER_INTERNAL_H */
