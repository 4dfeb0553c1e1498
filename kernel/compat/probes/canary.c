// SPDX-License-Identifier: GPL-2.0-only
/* Must compile, or nothing can be said about the other probes. */
#include <linux/module.h>
#include <linux/pci.h>

#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_syncobj.h>

#if !IS_ENABLED(CONFIG_DRM_ACCEL)
#error "this kernel is configured without CONFIG_DRM_ACCEL"
#endif
#if !IS_ENABLED(CONFIG_PCI_MSI)
#error "this kernel is configured without CONFIG_PCI_MSI"
#endif
#if !IS_ENABLED(CONFIG_DRM_BUDDY) && !IS_ENABLED(CONFIG_GPU_BUDDY)
#error "this kernel is configured without CONFIG_DRM_BUDDY"
#endif
#if !IS_ENABLED(CONFIG_DRM_SCHED)
#error "this kernel is configured without CONFIG_DRM_SCHED"
#endif
#if !IS_ENABLED(CONFIG_DRM_GPUVM)
#error "this kernel is configured without CONFIG_DRM_GPUVM"
#endif
#ifndef CONFIG_64BIT
#error "trn needs a 64-bit kernel"
#endif
