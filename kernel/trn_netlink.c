// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic-netlink family "trn": what a management tool wants to know without
 * opening a device.  Answers come from memory; the chip is never asked.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/trn_netlink.h>

#include <net/genetlink.h>

#include <drm/drm_file.h>

#include "trn_device.h"
#include "trn_netlink.h"

/* Protects the list and its generation. */
static DEFINE_MUTEX(trn_netlink_lock);
/* Registered devices, by PCI address. */
static LIST_HEAD(trn_netlink_devices);
static unsigned int trn_netlink_generation;

static struct genl_family trn_netlink_family;

static u64 trn_netlink_key(const struct trn_device *tdev)
{
	const struct pci_dev *pdev = tdev->pdev;

	return (u64)pci_domain_nr(pdev->bus) << 16 | pci_dev_id((struct pci_dev *)pdev);
}

void trn_netlink_add_device(struct trn_device *tdev)
{
	struct trn_device *other;

	mutex_lock(&trn_netlink_lock);
	list_for_each_entry(other, &trn_netlink_devices, netlink_link) {
		if (trn_netlink_key(other) > trn_netlink_key(tdev))
			break;
	}
	list_add_tail(&tdev->netlink_link, &other->netlink_link);
	trn_netlink_generation++;
	mutex_unlock(&trn_netlink_lock);
}

void trn_netlink_remove_device(struct trn_device *tdev)
{
	mutex_lock(&trn_netlink_lock);
	list_del_init(&tdev->netlink_link);
	trn_netlink_generation++;
	mutex_unlock(&trn_netlink_lock);
}

static u32 trn_netlink_state(struct trn_device *tdev)
{
	return trn_device_gone(tdev) ? TRN_DEVICE_STATE_DEAD : TRN_DEVICE_STATE_OK;
}

static int trn_netlink_put_device(struct sk_buff *skb, struct trn_device *tdev)
{
	const struct trn_identity *identity = &tdev->identity;
	u32 index = tdev->drm.accel->index;
	char text[24];

	snprintf(text, sizeof(text), "accel%u", index);
	if (nla_put_string(skb, TRN_A_DEVICE_NODE, text) ||
	    nla_put_u32(skb, TRN_A_DEVICE_MINOR, index) ||
	    nla_put_string(skb, TRN_A_DEVICE_PCI, pci_name(tdev->pdev)) ||
	    nla_put_string(skb, TRN_A_DEVICE_GENERATION, identity->generation) ||
	    nla_put(skb, TRN_A_DEVICE_UUID, sizeof(identity->uuid), identity->uuid) ||
	    nla_put_string(skb, TRN_A_DEVICE_SERIAL, identity->serial) ||
	    nla_put_string(skb, TRN_A_DEVICE_FIRMWARE, identity->firmware) ||
	    nla_put_u32(skb, TRN_A_DEVICE_STATE, trn_netlink_state(tdev)) ||
	    nla_put_u32(skb, TRN_A_DEVICE_CORES, tdev->caps.cores) ||
	    nla_put_u64_64bit(skb, TRN_A_DEVICE_HBM_TOTAL, trn_hbm_total(tdev),
			      TRN_A_DEVICE_PAD) ||
	    nla_put_u64_64bit(skb, TRN_A_DEVICE_HBM_USED, trn_hbm_used(tdev),
			      TRN_A_DEVICE_PAD) ||
	    nla_put_s32(skb, TRN_A_DEVICE_NUMA_NODE, dev_to_node(&tdev->pdev->dev)))
		return -EMSGSIZE;

	snprintf(text, sizeof(text), "%u.%u.%u", TRN_API_MAJOR, TRN_API_MINOR, TRN_API_PATCH);
	if (nla_put_string(skb, TRN_A_DEVICE_DRIVER_VERSION, TRN_DRIVER_VERSION) ||
	    nla_put_string(skb, TRN_A_DEVICE_API_VERSION, text))
		return -EMSGSIZE;
	return 0;
}

static int trn_netlink_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
				struct trn_device *tdev)
{
	void *header;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			     &trn_netlink_family, NLM_F_MULTI, TRN_CMD_DEVICE_GET);
	if (!header)
		return -EMSGSIZE;
	if (trn_netlink_put_device(skb, tdev)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genl_dump_check_consistent(cb, header);
	genlmsg_end(skb, header);
	return 0;
}

/* Continues behind the PCI address it got to: devices may come and go meanwhile. */
static int trn_netlink_dump_devices(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct trn_device *tdev;
	u64 *next = (u64 *)cb->ctx;
	int ret = 0;

	BUILD_BUG_ON(sizeof(*next) > sizeof(cb->ctx));

	mutex_lock(&trn_netlink_lock);
	cb->seq = trn_netlink_generation;
	list_for_each_entry(tdev, &trn_netlink_devices, netlink_link) {
		if (trn_netlink_key(tdev) < *next)
			continue;
		ret = trn_netlink_dump_one(skb, cb, tdev);
		if (ret)
			break;
		*next = trn_netlink_key(tdev) + 1;
	}
	mutex_unlock(&trn_netlink_lock);
	/* A message that is full but not empty is a part of the answer. */
	return skb->len ? skb->len : ret;
}

static const struct genl_small_ops trn_netlink_ops[] = {
	{
		.cmd = TRN_CMD_DEVICE_GET,
		.dumpit = trn_netlink_dump_devices,
	},
};

static struct genl_family trn_netlink_family __ro_after_init = {
	.name = TRN_FAMILY_NAME,
	.version = TRN_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.parallel_ops = true,
	.small_ops = trn_netlink_ops,
	.n_small_ops = ARRAY_SIZE(trn_netlink_ops),
};

int trn_netlink_register(void)
{
	return genl_register_family(&trn_netlink_family);
}

void trn_netlink_unregister(void)
{
	genl_unregister_family(&trn_netlink_family);
}
