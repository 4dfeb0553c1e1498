/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

static _Thread_local char message[512];

int trn_fail(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return error;
}

const char *trn_error_message(void)
{
	return message;
}
