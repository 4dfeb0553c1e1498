/* SPDX-License-Identifier: MIT */
#include "inject.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void inject(const char *request, ...)
{
	char text[192], command[256];
	va_list arguments;

	va_start(arguments, request);
	vsnprintf(text, sizeof(text), request, arguments);
	va_end(arguments);
	snprintf(command, sizeof(command), "trn-vmctl vdev '%s' >/dev/null", text);
	ck_assert_msg(!system(command), "%s", text);
}
