/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <errno.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/pci_address.h>
#include <linux/trn_netlink.h>

#define FIELD(key, heading, kind, attribute, member)                                               \
	{ key, heading, kind, attribute, offsetof(struct smi_device, member) }

const struct smi_field smi_fields[] = {
	FIELD("index", "INDEX", SMI_U32, 0, index),
	FIELD("node", "NODE", SMI_NODE, TRN_A_DEVICE_NODE, node),
	FIELD("minor", NULL, SMI_U32, TRN_A_DEVICE_MINOR, minor),
	FIELD("pci_address", "PCI ADDRESS", SMI_STRING, TRN_A_DEVICE_PCI, pci),
	FIELD("numa_node", "NUMA", SMI_S32, TRN_A_DEVICE_NUMA_NODE, numa_node),
	FIELD("generation", "GEN", SMI_STRING, TRN_A_DEVICE_GENERATION, generation),
	FIELD("uuid", "UUID", SMI_UUID, TRN_A_DEVICE_UUID, uuid),
	FIELD("serial", NULL, SMI_STRING, TRN_A_DEVICE_SERIAL, serial),
	FIELD("firmware_version", NULL, SMI_STRING, TRN_A_DEVICE_FIRMWARE, firmware),
	FIELD("state", "STATE", SMI_STATE, TRN_A_DEVICE_STATE, state),
	FIELD("cores", "CORES", SMI_U32, TRN_A_DEVICE_CORES, cores),
	FIELD("hbm_total_bytes", "HBM", SMI_BYTES, TRN_A_DEVICE_HBM_TOTAL, hbm_total),
	FIELD("hbm_used_bytes", "HBM USED", SMI_BYTES, TRN_A_DEVICE_HBM_USED, hbm_used),
	FIELD("driver_version", "DRIVER", SMI_STRING, TRN_A_DEVICE_DRIVER_VERSION, driver_version),
	FIELD("api_version", "API", SMI_STRING, TRN_A_DEVICE_API_VERSION, api_version),
};

const size_t smi_fields_count = sizeof(smi_fields) / sizeof(smi_fields[0]);

const char *smi_state_name(uint32_t state)
{
	switch (state) {
	case TRN_DEVICE_STATE_OK:
		return "ok";
	case TRN_DEVICE_STATE_DEAD:
		return "dead";
	default:
		return "unknown";
	}
}

void smi_format_uuid(const uint8_t uuid[16], char text[37])
{
	int i, length = 0;

	for (i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text[length++] = '-';
		length += sprintf(text + length, "%02x", uuid[i]);
	}
}

/* Stores an attribute in its field; false if it has not the size that it must have. */
static bool store(struct smi_device *device, const struct smi_field *field,
		  struct nlattr *attribute)
{
	char *value = (char *)device + field->offset;
	size_t length = (size_t)nla_len(attribute);

	switch (field->kind) {
	case SMI_STRING:
	case SMI_NODE:
		nla_strlcpy(value, attribute, sizeof(device->node));
		return true;
	case SMI_U32:
	case SMI_STATE:
	case SMI_S32:
		if (length != sizeof(uint32_t))
			return false;
		break;
	case SMI_BYTES:
		if (length != sizeof(uint64_t))
			return false;
		break;
	case SMI_UUID:
		if (length != sizeof(device->uuid))
			return false;
		break;
	}
	memcpy(value, nla_data(attribute), length);
	return true;
}

/* A machine without NUMA says -1: to us that is no node at all. */
static bool told(const struct smi_device *device, const struct smi_field *field)
{
	return field->attribute != TRN_A_DEVICE_NUMA_NODE || device->numa_node >= 0;
}

int smi_model_add(struct smi_model *model, struct nlmsghdr *message)
{
	struct nlattr *attributes[TRN_A_DEVICE_MAX + 1];
	struct smi_device *device, *more;
	size_t i;

	if (genlmsg_parse(message, 0, attributes, TRN_A_DEVICE_MAX, NULL) < 0)
		return -EBADMSG;
	more = realloc(model->device, (model->count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	model->device = more;
	device = &more[model->count];
	memset(device, 0, sizeof(*device));

	for (i = 0; i < smi_fields_count; i++) {
		const struct smi_field *field = &smi_fields[i];
		struct nlattr *attribute = field->attribute ? attributes[field->attribute] : NULL;

		if (!field->attribute ||
		    (attribute && store(device, field, attribute) && told(device, field)))
			device->present |= UINT64_C(1) << i;
	}
	model->count++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct smi_device *left = a, *right = b;
	uint64_t l = trn_pci_order(left->pci), r = trn_pci_order(right->pci);

	return l < r ? -1 : l > r;
}

void smi_model_sort(struct smi_model *model)
{
	size_t i;

	if (model->count)
		qsort(model->device, model->count, sizeof(*model->device), compare);
	for (i = 0; i < model->count; i++)
		model->device[i].index = (uint32_t)i;
}

void smi_model_clear(struct smi_model *model)
{
	free(model->device);
	*model = (struct smi_model){ 0 };
}

struct reader {
	struct smi_model *model;
	int error;
};

static int on_message(struct nl_msg *message, void *data)
{
	struct reader *reader = data;
	int error = smi_model_add(reader->model, nlmsg_hdr(message));

	if (error && !reader->error)
		reader->error = error;
	return NL_OK;
}

/* One dump from request to end.  0 or a libnl error. */
static int dump(struct nl_sock *socket, int family, struct smi_model *model)
{
	struct reader reader = { .model = model };
	struct nl_msg *request;
	int error;

	request = nlmsg_alloc();
	if (!request)
		return -NLE_NOMEM;
	if (!genlmsg_put(request, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_DUMP,
			 TRN_CMD_DEVICE_GET, TRN_FAMILY_VERSION)) {
		nlmsg_free(request);
		return -NLE_NOMEM;
	}
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, on_message, &reader);
	error = nl_send_auto(socket, request);
	nlmsg_free(request);
	if (error < 0)
		return error;
	error = nl_recvmsgs_default(socket);
	if (error >= 0 && reader.error)
		return reader.error == -ENOMEM ? -NLE_NOMEM : -NLE_PARSE_ERR;
	return error < 0 ? error : 0;
}

/* A dump during which chips came or went is repeated; how often does that happen in a row? */
#define ATTEMPTS 20

int smi_model_read(struct smi_model *model, const char **error)
{
	struct nl_sock *socket = nl_socket_alloc();
	int family, result = -NLE_NOMEM, attempt;

	if (!socket)
		goto out;
	result = genl_connect(socket);
	if (result < 0)
		goto free_socket;
	family = genl_ctrl_resolve(socket, TRN_FAMILY_NAME);
	if (family < 0) {
		result = family;
		if (family == -NLE_OBJ_NOTFOUND) {
			nl_socket_free(socket);
			return -ENODEV;
		}
		goto free_socket;
	}
	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		smi_model_clear(model);
		result = dump(socket, family, model);
		if (result != -NLE_DUMP_INTR)
			break;
	}
	smi_model_sort(model);

free_socket:
	nl_socket_free(socket);
out:
	if (!result)
		return 0;
	*error = nl_geterror(result);
	return result == -NLE_NOMEM ? -ENOMEM : -EIO;
}
