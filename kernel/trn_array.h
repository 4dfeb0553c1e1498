/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_ARRAY_H
#define _TRN_ARRAY_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include <drm/trn_accel.h>

int trn_array_check(const struct drm_trn_array *array, u32 max_count, u32 min_stride);
int trn_array_read_other(const struct drm_trn_array *array, u32 index, void *element,
			 size_t size);
int trn_array_read_all(const struct drm_trn_array *array, void *elements, size_t size);
void *trn_array_copy(const struct drm_trn_array *array, u32 max_count, u32 min_stride,
		     size_t size);

/**
 * trn_array_read() - copy an element from user memory
 * @array: the array, checked
 * @index: of the element
 * @element: out: the element
 * @size: of an element in this version of the interface
 *
 * What the caller's element lacks is zero.  Inline: with a constant size nobody has to look
 * where @element is.
 *
 * Return: 0; -EFAULT; -E2BIG when it has more, which is not zero.
 */
static __always_inline int trn_array_read(const struct drm_trn_array *array, u32 index,
					  void *element, size_t size)
{
	if (unlikely(array->stride != size))
		return trn_array_read_other(array, index, element, size);
	return copy_from_user(element, u64_to_user_ptr(array->pointer) + (u64)index * size,
			      size) ? -EFAULT : 0;
}

#endif /* _TRN_ARRAY_H */
