/* SPDX-License-Identifier: MIT */
#include "version.h"

#include <jansson.h>
#include <string.h>

#include "protocol.h"

/* Puts name into ours, if the client's has it. */
static void answer(json_t *ours, const json_t *theirs, const char *name, json_t *value)
{
	if (json_object_get(theirs, name))
		json_object_set(ours, name, value);
	json_decref(value);
}

static char *our_capabilities(const json_t *theirs)
{
	json_t *ours = json_object(), *root;
	char *text;

	answer(ours, theirs, "max_msg_fds", json_integer(VFIO_USER_FDS_MAX));
	answer(ours, theirs, "max_data_xfer_size", json_integer(VFIO_USER_DATA_MAX));
	answer(ours, theirs, "max_dma_maps", json_integer(VFIO_USER_MAPPINGS_MAX));
	answer(ours, theirs, "pgsizes", json_integer(VFIO_USER_PAGE_SIZE));
	answer(ours, theirs, "write_multiple", json_true());
	root = json_pack("{s:o}", "capabilities", ours);
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

static const char *read_data_max(const json_t *capabilities, uint64_t *data_max)
{
	const json_t *value = json_object_get(capabilities, "max_data_xfer_size");
	json_int_t number;

	*data_max = VFIO_USER_DATA_MAX;
	if (!value)
		return NULL;
	number = json_integer_value(value);
	if (number <= 0)
		return "max_data_xfer_size is not a positive number";
	if ((uint64_t)number < *data_max)
		*data_max = number;
	return NULL;
}

const char *trn_version_negotiate(const char *data, size_t size, uint64_t *data_max, char **reply)
{
	const json_t *capabilities;
	const char *problem;
	json_t *root;

	*reply = NULL;
	*data_max = VFIO_USER_DATA_MAX;
	if (!size)
		return NULL;
	if (strnlen(data, size) != size - 1)
		return "version data does not end with its first NUL";
	root = json_loads(data, 0, NULL);
	if (!root)
		return "version data is not JSON";
	problem = "version data is not an object";
	if (!json_is_object(root))
		goto free_root;
	capabilities = json_object_get(root, "capabilities");
	problem = "capabilities is not an object";
	if (capabilities && !json_is_object(capabilities))
		goto free_root;
	problem = read_data_max(capabilities, data_max);
	if (problem)
		goto free_root;
	*reply = our_capabilities(capabilities);
	if (!*reply)
		problem = "no memory";
free_root:
	json_decref(root);
	return problem;
}
