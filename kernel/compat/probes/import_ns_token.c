// SPDX-License-Identifier: GPL-2.0-only
/* Newer kernels take a string, which older ones would quote once more. */
#include <linux/module.h>

MODULE_IMPORT_NS(DMA_BUF);
