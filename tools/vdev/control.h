/* SPDX-License-Identifier: MIT */
/*
 * The control socket: requests and replies are JSON objects, one in a line
 * (Documentation/vdev.rst).
 */
#ifndef TRN_VDEV_CONTROL_H
#define TRN_VDEV_CONTROL_H

#include <stddef.h>

#include "vfio-user/server.h"

#define TRN_CONTROL_LINE_MAX 65536

struct trn_control_chip {
	const char *generation;
	struct trn_server *server;
};

/*
 * Answers one request of length bytes, without its line end.  Returns the reply, a line
 * with its end, for free(); NULL without memory.
 */
char *trn_control_answer(const struct trn_control_chip *chips, unsigned int count,
			 const char *request, size_t length);

struct trn_control;

/*
 * Serves clients of listener, a listening stream socket, in a thread of its own.  Takes
 * listener over; chips must stay until trn_control_stop().  NULL with errno set.
 */
struct trn_control *trn_control_start(int listener, const struct trn_control_chip *chips,
				      unsigned int count);
void trn_control_stop(struct trn_control *control);

#endif /* TRN_VDEV_CONTROL_H */
