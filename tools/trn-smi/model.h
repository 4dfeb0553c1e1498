/* SPDX-License-Identifier: MIT */
/*
 * What trn-smi knows: one data model, filled from the driver's generic-netlink family
 * and described by one table of fields.  Every output format walks the table.
 */
#ifndef TRN_SMI_MODEL_H
#define TRN_SMI_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlmsghdr;

struct smi_device {
	uint64_t present; /* bit n: the driver told field n of smi_fields[] */
	uint32_t index;
	uint32_t minor;
	int32_t numa_node;
	uint32_t state; /* enum trn_device_state */
	uint32_t cores;
	uint64_t hbm_total;
	uint64_t hbm_used;
	uint8_t uuid[16];
	char node[64];
	char pci[64];
	char generation[64];
	char serial[64];
	char firmware[64];
	char driver_version[64];
	char api_version[64];
};

struct smi_model {
	struct smi_device *device; /* sorted by PCI address */
	size_t count;
};

enum smi_kind {
	SMI_STRING, /* char[64] */
	SMI_U32,
	SMI_S32,
	SMI_BYTES, /* uint64_t */
	SMI_UUID,  /* uint8_t[16] */
	SMI_STATE, /* uint32_t */
	SMI_NODE,  /* char[64], a name below /dev/accel */
};

struct smi_field {
	const char *key;     /* in machine formats; has the unit in its name */
	const char *heading; /* in the table; NULL = not shown there */
	enum smi_kind kind;
	uint16_t attribute; /* enum trn_device_attr; 0 = not from the driver */
	size_t offset;	    /* in struct smi_device */
};

extern const struct smi_field smi_fields[];
extern const size_t smi_fields_count;

static inline bool smi_present(const struct smi_device *device, size_t field)
{
	return device->present >> field & 1;
}

static inline const void *smi_value(const struct smi_device *device, size_t field)
{
	return (const char *)device + smi_fields[field].offset;
}

/* Name of a state, "ok"; never NULL. */
const char *smi_state_name(uint32_t state);

/* "9f…-…", 36 characters and a terminator. */
void smi_format_uuid(const uint8_t uuid[16], char text[37]);

/* Adds the chip that a message describes.  0 or negative errno. */
int smi_model_add(struct smi_model *model, struct nlmsghdr *message);

/* Sorts the chips and numbers them. */
void smi_model_sort(struct smi_model *model);

void smi_model_clear(struct smi_model *model);

/*
 * Reads all chips from the driver.  0; -ENODEV: the driver is not loaded; or another negative
 * errno with *error set to a sentence.
 */
int smi_model_read(struct smi_model *model, const char **error);

#endif /* TRN_SMI_MODEL_H */
