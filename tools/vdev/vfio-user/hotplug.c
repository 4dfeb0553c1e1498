/* SPDX-License-Identifier: MIT */
/* A chip that leaves the bus without notice, and comes back. */
#include <errno.h>

#include "internal.h"

int trn_server_unplug(struct trn_server *server)
{
	int err = -EALREADY;

	pthread_mutex_lock(&server->function_lock);
	if (!server->unplugged) {
		server->unplugged = true;
		trn_server_silence(server);
		err = 0;
	}
	pthread_mutex_unlock(&server->function_lock);
	return err;
}

int trn_server_plug(struct trn_server *server)
{
	int err = -EALREADY;

	pthread_mutex_lock(&server->function_lock);
	if (server->unplugged) {
		trn_chip_power_on(server->chip);
		trn_pci_config_init(&server->config, &server->identity);
		trn_interrupts_reset(&server->interrupts);
		server->unplugged = false;
		err = 0;
	}
	pthread_mutex_unlock(&server->function_lock);
	return err;
}
