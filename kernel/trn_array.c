// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/trn_accel.h>

#include "trn_array.h"

/**
 * trn_array_copy() - copy an array of structures from user memory
 * @array: the array as the caller describes it
 * @max_count: most elements
 * @min_stride: size of an element in the first version of the interface
 * @size: size of an element in this version
 *
 * Return: @array->count elements of @size bytes, to be freed by kvfree(), NULL
 * for none; -E2BIG, -EINVAL, -EFAULT or -ENOMEM.
 */
void *trn_array_copy(const struct drm_trn_array *array, u32 max_count, u32 min_stride,
		     size_t size)
{
	const void __user *src = u64_to_user_ptr(array->pointer);
	void *elements;
	u32 i;

	if (!array->count)
		return NULL;
	if (array->count > max_count || array->stride > PAGE_SIZE)
		return ERR_PTR(-E2BIG);
	if (array->stride < min_stride)
		return ERR_PTR(-EINVAL);

	elements = kvcalloc(array->count, size, GFP_KERNEL_ACCOUNT);
	if (!elements)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < array->count; i++) {
		size_t known = min_t(size_t, array->stride, size);
		size_t rest = array->stride - known;

		if (copy_from_user(elements + i * size, src, known)) {
			kvfree(elements);
			return ERR_PTR(-EFAULT);
		}
		if (rest) {
			int zero = check_zeroed_user(src + known, rest);

			if (zero <= 0) {
				kvfree(elements);
				return ERR_PTR(zero ?: -E2BIG);
			}
		}
		src += array->stride;
	}
	return elements;
}
