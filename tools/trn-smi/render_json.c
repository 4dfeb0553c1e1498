/* SPDX-License-Identifier: MIT */
/* JSON: numbers are numbers, in the unit that the key names; what is not known is null. */
#include <errno.h>
#include <jansson.h>

#include "render.h"

static json_t *field_value(const struct smi_device *device, size_t field)
{
	const void *value = smi_value(device, field);
	char uuid[37];

	if (!smi_present(device, field))
		return json_null();
	switch (smi_fields[field].kind) {
	case SMI_STRING:
		return json_string(value);
	case SMI_NODE:
		return json_sprintf("/dev/accel/%s", (const char *)value);
	case SMI_U32:
		return json_integer(*(const uint32_t *)value);
	case SMI_S32:
		return json_integer(*(const int32_t *)value);
	case SMI_BYTES:
		return json_integer((json_int_t) * (const uint64_t *)value);
	case SMI_UUID:
		smi_format_uuid(value, uuid);
		return json_string(uuid);
	case SMI_STATE:
		return json_string(smi_state_name(*(const uint32_t *)value));
	}
	return NULL;
}

static json_t *device_object(const struct smi_device *device)
{
	json_t *object = json_object();
	size_t field;

	for (field = 0; field < smi_fields_count; field++) {
		json_t *value = field_value(device, field);

		/* A string that is not UTF-8 makes no value. */
		json_object_set_new(object, smi_fields[field].key, value ? value : json_null());
	}
	return object;
}

/* Writes @document, which may be NULL, and frees it. */
static int write_document(FILE *file, json_t *document)
{
	int result = document ? json_dumpf(document, file, JSON_INDENT(2)) : -1;

	json_decref(document);
	return result || fputc('\n', file) == EOF ? -EIO : 0;
}

static int json_list(FILE *file, const struct smi_model *model, const char *error)
{
	json_t *devices = json_array();
	size_t i;

	for (i = 0; i < model->count; i++)
		json_array_append_new(devices, device_object(&model->device[i]));
	return write_document(file,
			      json_pack("{s:i, s:s?, s:o}", "schema_version", SMI_SCHEMA_VERSION,
					"error", error, "devices", devices));
}

static int json_version(FILE *file, const char *version)
{
	return write_document(file, json_pack("{s:i, s:s}", "schema_version", SMI_SCHEMA_VERSION,
					      "version", version));
}

const struct smi_renderer smi_json = {
	.list = json_list,
	.version = json_version,
};
