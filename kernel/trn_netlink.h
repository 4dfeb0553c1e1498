/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_NETLINK_H
#define _TRN_NETLINK_H

struct trn_device;

int trn_netlink_register(void);
void trn_netlink_unregister(void);
void trn_netlink_add_device(struct trn_device *tdev);
void trn_netlink_remove_device(struct trn_device *tdev);

#endif /* _TRN_NETLINK_H */
