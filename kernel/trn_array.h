/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_ARRAY_H
#define _TRN_ARRAY_H

#include <linux/types.h>

struct drm_trn_array;

int trn_array_check(const struct drm_trn_array *array, u32 max_count, u32 min_stride);
int trn_array_read(const struct drm_trn_array *array, u32 index, void *element, size_t size);
int trn_array_read_all(const struct drm_trn_array *array, void *elements, size_t size);
void *trn_array_copy(const struct drm_trn_array *array, u32 max_count, u32 min_stride,
		     size_t size);

#endif /* _TRN_ARRAY_H */
