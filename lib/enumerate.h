/* SPDX-License-Identifier: MIT */
#ifndef TRN_ENUMERATE_H
#define TRN_ENUMERATE_H

#include <trn/trn.h>

/* trn_device_list() for any directory laid out like /sys/class/accel. */
int trn_enumerate(const char *class, const struct trn_device_list **list);

#endif /* TRN_ENUMERATE_H */
