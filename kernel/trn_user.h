/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_USER_H
#define _TRN_USER_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid_types.h>

struct drm_trn_query_memory;
struct trn_device;
struct trn_file;

/* What is counted by pieces. */
enum trn_user_kind {
	TRN_USER_CONTEXTS,
	TRN_USER_QUEUES,
	TRN_USER_KINDS
};

/* What a user has on one chip, in all files and in objects that outlive them. */
struct trn_user {
	struct list_head link;		/* trn_device.users */
	kuid_t uid;
	/* Protected by trn_device.users_lock. */
	unsigned int refs;
	u64 hbm_used;
	unsigned int used[TRN_USER_KINDS];
};

int trn_user_open(struct trn_file *file);
void trn_user_close(struct trn_file *file);
int trn_user_charge_hbm(struct trn_file *file, u64 size, struct trn_user **user);
void trn_user_uncharge_hbm(struct trn_device *tdev, struct trn_user *user, u64 size);
int trn_user_charge(struct trn_file *file, enum trn_user_kind kind);
void trn_user_uncharge(struct trn_file *file, enum trn_user_kind kind);
void trn_user_query(struct trn_file *file, struct drm_trn_query_memory *query);

#endif /* _TRN_USER_H */
