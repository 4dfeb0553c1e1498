/* SPDX-License-Identifier: MIT */
/* A checked fixture: the first chip, opened, and a mover of that file. */
#ifndef TRN_TESTS_FIRST_CHIP_H
#define TRN_TESTS_FIRST_CHIP_H

#include "guest_memory.h"

extern int fd;
extern struct guest_mover mover;

void start(void);
void stop(void);

#endif /* TRN_TESTS_FIRST_CHIP_H */
