/* SPDX-License-Identifier: MIT */
#include "document.h"

#include <errno.h>
#include <stdio.h>

void set(struct object *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new(object->json, key, value))
		object->failed = true;
}

void set_known(struct object *object, const char *key, double value)
{
	set(object, key, value > 0 ? json_real(value) : json_null());
}

struct object new_document(const char *key)
{
	struct object document = { .json = json_object() };

	set(&document, "schema_version", json_integer(1));
	set(&document, key, json_array());
	return document;
}

void append(struct object *document, const char *key, struct object element)
{
	if (element.failed ||
	    json_array_append_new(json_object_get(document->json, key), element.json))
		document->failed = true;
}

int write_document(struct object *document)
{
	int error = document->failed ? -ENOMEM : 0;

	if (!error && json_dumpf(document->json, stdout, JSON_INDENT(2)))
		error = -EIO;
	if (!error)
		putchar('\n');
	json_decref(document->json);
	return error ? error : flush_text();
}

int flush_text(void)
{
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

void print_known(int width, int digits, double value)
{
	if (value > 0)
		printf("  %*.*f", width, digits, value);
	else
		printf("  %*s", width, "-");
}
