/* SPDX-License-Identifier: MIT */
#include "first_chip.h"

#include <unistd.h>

int fd;
struct guest_mover mover;

void start(void)
{
	fd = guest_open(0);
	mover = guest_mover(fd);
}

void stop(void)
{
	guest_mover_end(&mover);
	close(fd);
}
