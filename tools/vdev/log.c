/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void trn_log(const char *subject, const char *format, ...)
{
	char line[512];
	va_list arguments;
	size_t length;

	snprintf(line, sizeof(line), "trn-vdev: %s: ", subject);
	length = strlen(line);
	va_start(arguments, format);
	vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
	va_end(arguments);
	length = strlen(line);
	line[length++] = '\n';
	if (write(STDERR_FILENO, line, length) < 0)
		return; /* nowhere left to say so */
}
