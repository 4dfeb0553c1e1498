// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quotas of HBM, contexts and queues by user, so that none can take a chip alone.
 *
 * A file belongs to the user who opened it, whoever uses it later.  An object stays
 * charged to the user who created it until it is freed, whoever else has it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include <drm/trn_accel.h>

#include "trn_device.h"
#include "trn_drv.h"
#include "trn_user.h"

static unsigned int user_hbm_percent = 75;
module_param(user_hbm_percent, uint, 0644);
MODULE_PARM_DESC(user_hbm_percent,
		 "Most HBM of a chip that one user without CAP_SYS_RESOURCE may have, in percent (default 75)");

static unsigned int user_context_percent = 75;
module_param(user_context_percent, uint, 0644);
MODULE_PARM_DESC(user_context_percent,
		 "Most contexts of a chip that one user without CAP_SYS_RESOURCE may have, in percent (default 75)");

static unsigned int user_queue_percent = 75;
module_param(user_queue_percent, uint, 0644);
MODULE_PARM_DESC(user_queue_percent,
		 "Most queues of a chip that one user without CAP_SYS_RESOURCE may have, in percent (default 75)");

static struct trn_user *trn_user_find(struct trn_device *tdev, kuid_t uid)
{
	struct trn_user *user;

	lockdep_assert_held(&tdev->users_lock);

	list_for_each_entry(user, &tdev->users, link) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

/* @file is being opened by the current process. */
int trn_user_open(struct trn_file *file)
{
	struct trn_device *tdev = file->tdev;
	struct trn_user *user, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	new->uid = current_euid();

	spin_lock(&tdev->users_lock);
	user = trn_user_find(tdev, new->uid);
	if (!user) {
		user = new;
		new = NULL;
		list_add(&user->link, &tdev->users);
	}
	user->refs++;
	spin_unlock(&tdev->users_lock);

	kfree(new);
	file->user = user;
	/* Whoever lacks it has done nothing wrong. */
	file->unlimited = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	return 0;
}

static void trn_user_put(struct trn_device *tdev, struct trn_user *user)
{
	lockdep_assert_held(&tdev->users_lock);

	if (--user->refs)
		return;
	list_del(&user->link);
	kfree(user);
}

void trn_user_close(struct trn_file *file)
{
	struct trn_device *tdev = file->tdev;

	spin_lock(&tdev->users_lock);
	trn_user_put(tdev, file->user);
	spin_unlock(&tdev->users_lock);
}

static u64 trn_user_hbm_quota(struct trn_file *file)
{
	u64 total = trn_hbm_total(file->tdev);
	unsigned int percent = READ_ONCE(user_hbm_percent);

	if (file->unlimited || percent >= 100)
		return total;
	return round_down(mul_u64_u32_div(total, percent, 100), PAGE_SIZE);
}

/**
 * trn_user_charge_hbm() - count an object of HBM
 * @file: whose user is to be charged
 * @size: bytes
 * @user: out: who was charged, for trn_user_uncharge_hbm()
 *
 * Return: 0; -EDQUOT; -ENOSPC when all of the chip is the limit.
 */
int trn_user_charge_hbm(struct trn_file *file, u64 size, struct trn_user **user)
{
	struct trn_device *tdev = file->tdev;
	u64 quota = trn_user_hbm_quota(file);
	int ret = 0;

	spin_lock(&tdev->users_lock);
	if (file->user->hbm_used > quota || size > quota - file->user->hbm_used) {
		ret = quota < trn_hbm_total(tdev) ? -EDQUOT : -ENOSPC;
	} else {
		file->user->hbm_used += size;
		file->user->refs++;
		*user = file->user;
	}
	spin_unlock(&tdev->users_lock);
	return ret;
}

void trn_user_uncharge_hbm(struct trn_device *tdev, struct trn_user *user, u64 size)
{
	spin_lock(&tdev->users_lock);
	user->hbm_used -= size;
	trn_user_put(tdev, user);
	spin_unlock(&tdev->users_lock);
}

/* Of the file's user; all that the chip has is no quota. */
static unsigned int trn_user_quota(struct trn_file *file, enum trn_user_kind kind)
{
	const struct trn_caps *caps = &file->tdev->caps;
	unsigned int total, percent;

	/* The driver itself has one of each. */
	switch (kind) {
	case TRN_USER_CONTEXTS:
		total = caps->contexts - 1;
		percent = READ_ONCE(user_context_percent);
		break;
	default:
		total = caps->queues - 1;
		percent = READ_ONCE(user_queue_percent);
	}
	if (file->unlimited || percent >= 100)
		return UINT_MAX;
	return DIV_ROUND_UP(total * percent, 100);
}

/**
 * trn_user_charge() - count a context or queue
 * @file: whose user is to be charged
 * @kind: which
 *
 * Return: 0, for trn_user_uncharge() before the file is closed; -EDQUOT.
 */
int trn_user_charge(struct trn_file *file, enum trn_user_kind kind)
{
	unsigned int quota = trn_user_quota(file, kind);
	int ret = 0;

	spin_lock(&file->tdev->users_lock);
	if (file->user->used[kind] >= quota)
		ret = -EDQUOT;
	else
		file->user->used[kind]++;
	spin_unlock(&file->tdev->users_lock);
	return ret;
}

void trn_user_uncharge(struct trn_file *file, enum trn_user_kind kind)
{
	spin_lock(&file->tdev->users_lock);
	file->user->used[kind]--;
	spin_unlock(&file->tdev->users_lock);
}

void trn_user_query(struct trn_file *file, struct drm_trn_query_memory *query)
{
	struct trn_device *tdev = file->tdev;

	query->quota = trn_user_hbm_quota(file);
	spin_lock(&tdev->users_lock);
	query->quota_used = file->user->hbm_used;
	spin_unlock(&tdev->users_lock);
}
