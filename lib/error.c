/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

static _Thread_local char message[1024];

int trn_fail(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return error;
}

int trn_fail_gone(const struct trn_device *device)
{
	return trn_fail(-ENODEV, "%s: the chip is gone: destroy all objects and close the device",
			device->node);
}

int trn_fail_reset(const struct trn_device *device)
{
	return trn_fail(-EIO,
			"%s: the chip was reset and the context lost its queues, its bindings and "
			"what its HBM held: destroy the context and create a new one",
			device->node);
}

const char *trn_error_message(void)
{
	return message;
}
