/* SPDX-License-Identifier: MIT */
/* What each admin command does. */
#ifndef TRN_VDEV_COMMANDS_H
#define TRN_VDEV_COMMANDS_H

#include <stdint.h>

#include <hw/trn_admin.h>

struct trn_chip;

/* Executes a command; TRN_ADMIN_*.  SUCCESS of an EVENT command means that it waits. */
uint16_t trn_command_execute(struct trn_chip *chip, const struct trn_admin_command *command);

#endif /* TRN_VDEV_COMMANDS_H */
