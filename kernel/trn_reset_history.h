/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_RESET_HISTORY_H
#define _TRN_RESET_HISTORY_H

#include <linux/jiffies.h>
#include <linux/types.h>

/* More resets of its own accord in a minute do not help a chip. */
#define TRN_RESETS_MAX		4
#define TRN_RESETS_PERIOD	(60 * HZ)

/* When the last ones were. */
struct trn_reset_history {
	unsigned long at[TRN_RESETS_MAX];	/* jiffies; the one @count % MAX is the oldest */
	unsigned int count;
};

/* Whether another reset may be tried at @now. */
static inline bool trn_reset_history_allows(const struct trn_reset_history *history,
					    unsigned long now)
{
	unsigned long oldest = history->at[history->count % TRN_RESETS_MAX];

	return history->count < TRN_RESETS_MAX || time_after(now, oldest + TRN_RESETS_PERIOD);
}

static inline void trn_reset_history_add(struct trn_reset_history *history, unsigned long now)
{
	history->at[history->count % TRN_RESETS_MAX] = now;
	history->count++;
	/* Keeps the place of the oldest, and stays above the maximum. */
	if (history->count == 2 * TRN_RESETS_MAX)
		history->count = TRN_RESETS_MAX;
}

#endif /* _TRN_RESET_HISTORY_H */
