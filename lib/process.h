/* SPDX-License-Identifier: MIT */
/*
 * Which process is this?  Objects are useless in a child after fork(): mappings
 * of queues are not there, and ids belong to the parent.  A page that the kernel
 * wipes at fork makes the question one load, for every way to make a child.
 */
#ifndef TRN_PROCESS_H
#define TRN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Hidden, so that position independent code finds it at once. */
extern uint64_t *trn_process_word __attribute__((visibility("hidden")));

/*
 * Writes a number that no parent or child of this process has.  0 or negative errno.
 * Has to be called before trn_process_is().
 */
int trn_process_id(uint64_t *id);

static inline bool trn_process_is(uint64_t id)
{
	return __atomic_load_n(trn_process_word, __ATOMIC_RELAXED) == id;
}

#endif /* TRN_PROCESS_H */
