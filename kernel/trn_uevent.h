/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_UEVENT_H
#define _TRN_UEVENT_H

#include <linux/types.h>

struct trn_device;

void trn_uevent_reset(struct trn_device *tdev, const char *what, u64 client_id);
void trn_uevent_wedged(struct trn_device *tdev);

#endif /* _TRN_UEVENT_H */
