/* SPDX-License-Identifier: MIT */
/*
 * Generic-netlink family "trn".  Specification:
 * Documentation/netlink/specs/trn.yaml; a test compares the two.
 */
#ifndef _UAPI_LINUX_TRN_NETLINK_H
#define _UAPI_LINUX_TRN_NETLINK_H

#define TRN_FAMILY_NAME		"trn"
#define TRN_FAMILY_VERSION	1

enum trn_cmd {
	TRN_CMD_DEVICE_GET = 1,		/* dump: one message for each chip */

	__TRN_CMD_MAX,
	TRN_CMD_MAX = (__TRN_CMD_MAX - 1)
};

enum trn_device_attr {
	TRN_A_DEVICE_PAD = 1,
	TRN_A_DEVICE_NODE,		/* string: name below /dev/accel, "accel0" */
	TRN_A_DEVICE_MINOR,		/* u32: minor number of the node */
	TRN_A_DEVICE_PCI,		/* string: PCI address, "0000:01:00.0" */
	TRN_A_DEVICE_GENERATION,	/* string: "trn2" */
	TRN_A_DEVICE_UUID,		/* binary: 16 bytes */
	TRN_A_DEVICE_SERIAL,		/* string */
	TRN_A_DEVICE_FIRMWARE,		/* string */
	TRN_A_DEVICE_STATE,		/* u32: enum trn_device_state */
	TRN_A_DEVICE_CORES,		/* u32: NeuronCores */
	TRN_A_DEVICE_HBM_TOTAL,		/* u64: bytes */
	TRN_A_DEVICE_HBM_USED,		/* u64: bytes */
	TRN_A_DEVICE_DRIVER_VERSION,	/* string: version of trn.ko */
	TRN_A_DEVICE_API_VERSION,	/* string: DRM driver version, "1.0.0" */
	TRN_A_DEVICE_NUMA_NODE,		/* s32: NUMA node, -1 = none */

	__TRN_A_DEVICE_MAX,
	TRN_A_DEVICE_MAX = (__TRN_A_DEVICE_MAX - 1)
};

enum trn_device_state {
	TRN_DEVICE_STATE_OK = 0,
	TRN_DEVICE_STATE_DEAD = 1,	/* no heartbeat */
};

#endif /* _UAPI_LINUX_TRN_NETLINK_H */
