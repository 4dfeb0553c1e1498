/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_DEBUGFS_H
#define _TRN_DEBUGFS_H

struct trn_device;

void trn_debugfs_init(struct trn_device *tdev);

#endif /* _TRN_DEBUGFS_H */
