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
	return trn_fail(-ENODEV,
			"%s: the chip is gone or was reset: destroy all objects and open it again",
			device->node);
}

const char *trn_error_message(void)
{
	return message;
}
