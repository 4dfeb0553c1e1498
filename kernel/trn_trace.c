// SPDX-License-Identifier: GPL-2.0-only
#include "trn_queue.h"

#define CREATE_TRACE_POINTS
#include "trn_trace.h"
