/* SPDX-License-Identifier: MIT */
/* Netlink messages as the driver would send them. */
#ifndef TRN_TESTS_SMI_FIXTURE_H
#define TRN_TESTS_SMI_FIXTURE_H

#include <check.h>
#include <linux/trn_netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <tools/trn-smi/model.h>

static inline struct nl_msg *fixture_message(void)
{
	struct nl_msg *message = nlmsg_alloc();

	ck_assert_ptr_nonnull(genlmsg_put(message, 0, 0, 20, 0, NLM_F_MULTI, TRN_CMD_DEVICE_GET,
					  TRN_FAMILY_VERSION));
	return message;
}

/* Adds what a message describes and frees the message. */
static inline void fixture_add(struct smi_model *model, struct nl_msg *message)
{
	ck_assert_int_eq(smi_model_add(model, nlmsg_hdr(message)), 0);
	nlmsg_free(message);
}

static inline void fixture_add_chip(struct smi_model *model, const char *node, const char *pci)
{
	static const uint8_t uuid[16] = {
		0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x46, 0x77,
		0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
	};
	struct nl_msg *message = fixture_message();

	nla_put_string(message, TRN_A_DEVICE_NODE, node);
	nla_put_u32(message, TRN_A_DEVICE_MINOR, 3);
	nla_put_string(message, TRN_A_DEVICE_PCI, pci);
	nla_put_string(message, TRN_A_DEVICE_GENERATION, "trn2");
	nla_put(message, TRN_A_DEVICE_UUID, sizeof(uuid), uuid);
	nla_put_string(message, TRN_A_DEVICE_SERIAL, "SN 1");
	nla_put_string(message, TRN_A_DEVICE_FIRMWARE, "1.2");
	nla_put_u32(message, TRN_A_DEVICE_STATE, TRN_DEVICE_STATE_OK);
	nla_put_u32(message, TRN_A_DEVICE_CORES, 8);
	nla_put_u64(message, TRN_A_DEVICE_HBM_TOTAL, UINT64_C(96) << 30);
	nla_put_u64(message, TRN_A_DEVICE_HBM_USED, UINT64_C(1536) << 20);
	nla_put_string(message, TRN_A_DEVICE_DRIVER_VERSION, "0.1");
	nla_put_string(message, TRN_A_DEVICE_API_VERSION, "1.0.0");
	nla_put_s32(message, TRN_A_DEVICE_NUMA_NODE, 1);
	fixture_add(model, message);
}

#endif /* TRN_TESTS_SMI_FIXTURE_H */
