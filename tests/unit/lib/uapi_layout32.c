/* SPDX-License-Identifier: MIT */
/* The layout that a 32-bit program has: this object's read-only data is the table. */
#include "uapi_layout.h"

const uint32_t uapi_layout32[] = UAPI_LAYOUT_VALUES;
