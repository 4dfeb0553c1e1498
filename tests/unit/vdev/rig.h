/* SPDX-License-Identifier: MIT */
/*
 * A server with a chip, fake or real, and, if wanted, a client attached.  Each test ends
 * with rig_end(), which fails it if a descriptor has leaked.
 */
#ifndef TESTS_UNIT_VDEV_RIG_H
#define TESTS_UNIT_VDEV_RIG_H

#include "client.h"
#include "tools/vdev/vfio-user/server.h"

#define RIG_HBM	     (16ULL << 20)
#define RIG_APERTURE (1ULL << 20)

struct rig {
	struct trn_server *server;
	int socket; /* the client's end, -1: none */
	int fds_before;
	int log; /* standard error goes to this file */
	int saved_stderr;
};

/* Makes the server; defects are enum trn_chip_defect. */
void rig_begin(struct rig *rig, unsigned int defects);

/* Attaches a client that has not said anything yet. */
void rig_attach(struct rig *rig);

/* rig_begin() and a client that is through with negotiation. */
void rig_begin_attached(struct rig *rig);

/* Closes the client and waits until the server can take another. */
void rig_detach(struct rig *rig);

void rig_end(struct rig *rig);

/* Lines of the log that have text in them. */
unsigned int rig_log_lines(const struct rig *rig, const char *text);

/* Waits for condition(argument), failing the test after ten seconds. */
void wait_until(bool (*condition)(void *argument), void *argument);

/* A file of size bytes in memory. */
int make_file(size_t size);

int count_fds(void);

#endif /* TESTS_UNIT_VDEV_RIG_H */
